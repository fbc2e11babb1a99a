"""The last lines of a terminal, drawn over and over while things run, with finished text printed above them.

Only relative movement is used, and never above the top of the window: what has scrolled away is history.
"""

import shutil
from typing import TextIO

from vantage.text.sgr import parse_ansi
from vantage.text.spans import width_of

_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"
_SYNC, _SYNCED = "\x1b[?2026h", "\x1b[?2026l"


class LiveRegion:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._text = ""
        self._widths: list[int] = []
        """Cells of the lines now drawn below; a window that got narrower has wrapped them."""

    def print(self, text: str) -> None:
        """Prints finished text above the region, which is gone until it is drawn again."""
        self._send(self._erase() + text + "\n")
        self._widths, self._text = [], ""

    def draw(self, text: str, *, gap: bool = False) -> None:
        """Draws what is running. What does not fit into the window is cut at its top."""
        lines = text.split("\n") if text else []
        if lines and gap:
            lines.insert(0, "")
        room = max(shutil.get_terminal_size().lines - 1, 1)
        if len(lines) > room:
            lines = lines[-room:]
        drawn = "\n".join(lines)
        if drawn == self._text:
            return
        self._send(self._erase() + (drawn + "\n" if lines else ""))
        self._text = drawn
        self._widths = [width_of(parse_ansi(line)[0]) for line in lines]

    def close(self) -> None:
        self._send(self._erase())
        self._widths, self._text = [], ""

    def _erase(self) -> str:
        if not self._widths:
            return ""
        columns = max(shutil.get_terminal_size().columns, 1)
        height = sum(max(-(-width // columns), 1) for width in self._widths)
        return f"\x1b[{height}F\x1b[J"

    def _send(self, text: str) -> None:
        if text:
            self._stream.write(f"{_SYNC}{_HIDE}{text}{_SHOW}{_SYNCED}")
            self._stream.flush()
