"""Draws another terminal's screen into this window: the part that fits, and a status line below it.

Pure: a screen, a state and a size in, the bytes to write out. Only lines that changed are written.
"""

from typing import Any

import msgspec

from vantage.export.screen.ansi import styled_lines
from vantage.terminal.engines.values import Cursor
from vantage.terminal.screen.frames import Region, ScreenDelta, ScreenSnapshot, apply
from vantage.text.sanitize import one_line
from vantage.text.width import truncate, width

# Alternate screen, no wrapping at the margin, pastes in brackets. The window keeps its title: a program in the agent's
# terminal must not name the viewer's window.
ENTER = "\x1b[?1049h\x1b[?7l\x1b[?2004h\x1b[2J"
LEAVE = "\x1b[0m\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[0 q\x1b[?1049l"
_SYNC, _SYNCED = "\x1b[?2026h", "\x1b[?2026l"
_SHAPES = {"block": 2, "underline": 4, "bar": 6}


class Viewport:
    def __init__(self, columns: int, lines: int) -> None:
        self._screen = ScreenSnapshot(
            rows=(), cursor=Cursor(), title="", alt_screen=False, cols=0, rows_count=0, ts=0, runs=()
        )
        self._row = self._col = 0
        """The top left corner of the part that is shown."""
        self._drawn: list[str] = []
        self.resize(columns, lines)

    def resize(self, columns: int, lines: int) -> None:
        """Sets the size of the window. The next frame draws everything."""
        self._columns, self._lines = max(columns, 1), max(lines, 1)
        self._drawn = []
        self._follow()

    def apply(self, delta: dict[str, Any]) -> None:
        """A `screen_delta` as it travels."""
        self._screen = apply(self._screen, msgspec.convert(delta, ScreenDelta))
        self._follow()

    @property
    def size(self) -> str:
        return f"{self._screen.cols}x{self._screen.rows_count}"

    @property
    def part(self) -> str:
        """Which part is shown; empty if it is the whole screen."""
        room = self._room
        if self._screen.rows_count <= room and self._screen.cols <= self._columns:
            return ""
        last = min(self._row + room, self._screen.rows_count)
        rows = f"rows {self._row + 1}-{last}"
        if self._screen.cols <= self._columns:
            return rows
        return f"{rows}, columns {self._col + 1}-{min(self._col + self._columns, self._screen.cols)}"

    @property
    def _room(self) -> int:
        """Lines for the screen; the last one of the window is the bar's."""
        return max(self._lines - 1, 1)

    def _follow(self) -> None:
        """Moves the shown part as little as necessary, so that a visible cursor is in it."""
        screen = self._screen
        row, col = (screen.cursor.row, screen.cursor.col) if screen.cursor.visible else (self._row, self._col)
        self._row = _moved(self._row, self._room, row, screen.rows_count)
        self._col = _moved(self._col, self._columns, col, screen.cols)

    def frame(self, bar: str, *, alarm: bool = False) -> str:
        """The bytes that make the window show the screen and the bar."""
        region = Region(self._row, self._col, self._room, self._columns)
        shown = self._screen.crop(region) if self._screen.rows_count else self._screen
        lines = styled_lines(shown)
        lines += [""] * (self._room - len(lines))
        if self._lines > 1:
            lines.append(_bar(bar, self._columns, alarm=alarm))
        parts = []
        for number, line in enumerate(lines):
            if not self._drawn or self._drawn[number] != line:
                parts.append(f"\x1b[{number + 1};1H\x1b[0m\x1b[K{line}\x1b[0m")
        self._drawn = lines
        cursor = shown.cursor
        parts.append(f"\x1b[{cursor.row + 1};{cursor.col + 1}H")
        parts.append(f"\x1b[{_SHAPES[cursor.shape]} q\x1b[?25h" if cursor.visible else "\x1b[?25l")
        return f"{_SYNC}\x1b[?25l{''.join(parts)}{_SYNCED}"


def _moved(first: int, room: int, wanted: int, count: int) -> int:
    """The first of `room` items to show out of `count`, so that `wanted` is shown and the start moves as little as
    possible.
    """
    if wanted < first:
        first = wanted
    elif wanted >= first + room:
        first = wanted - room + 1
    return max(min(first, count - room), 0)


def _bar(text: str, columns: int, *, alarm: bool) -> str:
    text = truncate(f" {one_line(text)} ", columns)
    return f"\x1b[{'1;7;35' if alarm else '7'}m{text}{' ' * (columns - width(text))}\x1b[0m"
