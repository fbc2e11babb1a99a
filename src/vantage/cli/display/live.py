"""The last lines of a terminal, redrawn while things run, with finished text printed above them.

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
        """Widths of the lines that are drawn now; a narrower window has wrapped them."""

    def print(self, text: str) -> None:
        """Prints finished text above the region, which is gone until it is drawn again."""
        self._send(self._erase() + text + "\n")
        self._widths, self._text = [], ""

    def reprint(self, printed: list[str], texts: list[str]) -> None:
        """Redraws the last printed texts with other content, in place.

        Only texts that may be in the window are redrawn: what has scrolled away is history. When a terminal got
        narrower, it may have wrapped their lines or cut them. Erasing assumes that it wrapped them, which takes more
        rows; choosing assumes that it cut them. So no other text is erased.
        """
        columns, lines = shutil.get_terminal_size()
        kept = height = 0
        while kept < len(printed) and sum(text.count("\n") + 1 for text in printed[len(printed) - kept :]) < lines:
            kept += 1
            height += _height(_widths(printed[-kept].split("\n")), columns)
        above = f"\x1b[{height}F\x1b[J" if height else ""
        self._send(self._erase() + above + "".join(f"{text}\n" for text in texts[len(texts) - kept :]))
        self._widths, self._text = [], ""

    def draw(self, text: str, *, gap: bool = False) -> None:
        """Draws the running rows. What does not fit into the window is cut off at the top."""
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
        self._widths = _widths(lines)

    def close(self) -> None:
        self._send(self._erase())
        self._widths, self._text = [], ""

    def _erase(self) -> str:
        if not self._widths:
            return ""
        return f"\x1b[{_height(self._widths, shutil.get_terminal_size().columns)}F\x1b[J"

    def _send(self, text: str) -> None:
        if text:
            self._stream.write(f"{_SYNC}{_HIDE}{text}{_SHOW}{_SYNCED}")
            self._stream.flush()


def _widths(lines: list[str]) -> list[int]:
    """The cells that each line takes."""
    return [width_of(parse_ansi(line)[0]) for line in lines]


def _height(widths: list[int], columns: int) -> int:
    """The rows that lines take in a window, where lines that are wider than it are wrapped."""
    return sum(max(-(-width // max(columns, 1)), 1) for width in widths)
