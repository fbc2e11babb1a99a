"""A pyte screen that reports rows that left it, knows which rows wrap, and draws cells of our own kind.

pyte moves and erases; this module adds or replaces: wide characters at the right edge, clusters, erasing with the
background colour, palette numbers, links, scrolling by SU and SD, a resize that keeps the rows around the cursor.
"""

from collections.abc import Callable
from itertools import groupby
from typing import Any

from pyte import charsets, modes
from pyte.screens import Cursor as _Cursor
from pyte.screens import Margins
from pyte.screens import Screen as PyteScreen
from wcwidth import wcwidth

from vantage.terminal.engines.pyte.cells import BLANK_CELL, Cell, ordered, pen_after
from vantage.terminal.engines.values import Row, Run

PyteCursor: Any = _Cursor

_LONGEST_CLUSTER = 16
"""The most marks on one character; further ones are dropped, because a cell is not a place to store text."""


class Grid(PyteScreen):
    """The cells of one screen, the cursor among them, and the rows that wrap.

    It has more than 20 methods, because pyte is adapted by overriding: each of pyte's operations that differs is a
    method of that name, which pyte's other methods call.
    """

    cursor: Any  # pyte's types know only cells of its own
    buffer: Any

    def __init__(self, columns: int, lines: int, leave: Callable[[str, bool], None] | None) -> None:
        self._leave = leave
        """Gets the text of every row that leaves at the top, and whether the next row continues it."""
        self.wrapped: set[int] = set()
        super().__init__(columns, lines)

    @property
    def default_char(self) -> Any:
        return BLANK_CELL

    def reset(self) -> None:
        super().reset()
        self.wrapped.clear()
        self.savepoints.clear()
        self.cursor = PyteCursor(0, 0, BLANK_CELL)
        self.g0_charset, self.g1_charset = charsets.LAT1_MAP, charsets.LAT1_MAP

    def draw(self, data: str) -> None:
        cursor = self.cursor
        if (charset := self.g1_charset if self.charset else self.g0_charset) is not charsets.LAT1_MAP:
            data = data.translate(charset)
        for char in data:
            width = 1 if " " <= char <= "~" else wcwidth(char)
            if width <= 0:
                self._add_mark(char)
                continue
            if width > self.columns:
                continue
            if cursor.x + width > self.columns:
                if modes.DECAWM in self.mode:
                    self.dirty.add(cursor.y)
                    self.wrapped.add(cursor.y)
                    cursor.x = 0
                    self.index()
                else:
                    cursor.x = self.columns - width
            if modes.IRM in self.mode:
                self.insert_characters(width)
            line = self.buffer[cursor.y]
            self._part(line, cursor.x, cursor.x + width)
            line[cursor.x] = cursor.attrs._replace(data=char)
            if width == 2:
                line[cursor.x + 1] = cursor.attrs._replace(data="")
            cursor.x += width
        self.dirty.add(cursor.y)

    def _part(self, line: Any, start: int, end: int) -> None:
        """Replaces a wide character by a blank when one half of it is overwritten."""
        if line[start].data == "" and start:
            line[start - 1] = line[start - 1]._replace(data=" ")
        if end < self.columns and line[end].data == "":
            line[end] = line[end]._replace(data=" ")

    def _add_mark(self, mark: str) -> None:
        line, x = self.buffer[self.cursor.y], self.cursor.x - 1
        if x >= 0 and line[x].data == "":
            x -= 1
        if x >= 0 and len(line[x].data) <= _LONGEST_CLUSTER and mark >= "\u0300":
            line[x] = line[x]._replace(data=line[x].data + mark)

    # Rows come and go

    def index(self) -> None:
        top, bottom = self.margins or Margins(0, self.lines - 1)
        if self.cursor.y == bottom:
            if top == 0:
                self._go(0)
            self._shift(top + 1, bottom, -1)
        super().index()

    def _go(self, y: int) -> None:
        """Reports a row that leaves. A wrapped row is reported whole, with the blanks at its end."""
        wrapped = y in self.wrapped
        line = self.buffer[y]
        end = self.columns - (self.columns - 1 not in line)  # a wide character did not fit into its last cell
        text = "".join([line[x].data for x in range(end)]) if wrapped else self.text(y)
        if self._leave:
            self._leave(text, wrapped)

    def reverse_index(self) -> None:
        top, bottom = self.margins or Margins(0, self.lines - 1)
        if self.cursor.y == top:
            self._shift(top, bottom - 1, 1)
        super().reverse_index()

    def _shift(self, first: int, last: int, by: int) -> None:
        """Which rows wrap, when those from `first` to `last` move."""
        edge = range(min(first, first + by), max(last, last + by) + 1)
        moved = {y + by for y in self.wrapped if first <= y <= last}
        self.wrapped = {y for y in self.wrapped if y not in edge} | moved

    def scroll(self, count: int) -> None:
        """SU, or SD when it is negative: the region moves, the cursor stays."""
        top, bottom = self.margins or Margins(0, self.lines - 1)
        y = self.cursor.y
        self.cursor.y = bottom if count > 0 else top
        for _ in range(min(abs(count), self.lines)):
            self.index() if count > 0 else self.reverse_index()
        self.cursor.y = y

    def insert_lines(self, count: int | None = None) -> None:
        self._slide(count or 1)

    def delete_lines(self, count: int | None = None) -> None:
        self._slide(-(count or 1))

    def _slide(self, by: int) -> None:
        """Moves the rows from the cursor to the end of the region, and inserts blank ones."""
        first = self.cursor.y
        top, last = self.margins or Margins(0, self.lines - 1)
        if not top <= first <= last:
            return
        rows = {y: self.buffer.pop(y) for y in range(first, last + 1) if y in self.buffer}
        self.buffer.update({y + by: row for y, row in rows.items() if first <= y + by <= last})
        self.wrapped = {y for y in self.wrapped if not first <= y <= last}
        self.dirty.update(range(first, last + 1))
        self.cursor.x = 0

    def cursor_position(self, line: int | None = None, column: int | None = None) -> None:
        top, bottom = 0, self.lines - 1
        if self.margins is not None and modes.DECOM in self.mode:
            top, bottom = self.margins
        self.cursor.x = min((column or 1) - 1, self.columns - 1)
        self.cursor.y = min(top + (line or 1) - 1, bottom)

    def cursor_to_line(self, line: int | None = None) -> None:
        self.cursor_position(line, min(self.cursor.x, self.columns - 1) + 1)

    def fit(self, columns: int, lines: int) -> None:
        """Changes the size: rows below the cursor are removed first, then those at the top leave. Lines are not wrapped
        anew.
        """
        y = self.cursor.y
        leaving = max(y - lines + 1, 0)
        for number in range(leaving):
            self._go(number)
        rows = {number - leaving: line for number, line in self.buffer.items() if leaving <= number < leaving + lines}
        for line in rows.values():
            for x in [x for x in line if x >= columns]:
                del line[x]
            if line[columns - 1].data and wcwidth(line[columns - 1].data[0]) == 2:
                line[columns - 1] = line[columns - 1]._replace(data=" ")
        self.buffer.clear()
        self.buffer.update(rows)
        self.wrapped = {number - leaving for number in self.wrapped if leaving <= number < leaving + lines}
        if columns != self.columns:
            self.wrapped.clear()
            self.tabstops = set(range(8, columns, 8))
        self.columns, self.lines = columns, lines
        self.margins = None
        self.cursor.x, self.cursor.y = min(self.cursor.x, columns - 1), min(y - leaving, lines - 1)
        self.dirty = set(range(lines))

    # Erasing leaves nothing but the background

    def _erase(self, erase: Callable[[], None]) -> None:
        pen = self.cursor.attrs
        self.cursor.attrs = Cell(bg=pen.bg)
        pending = self.cursor.x == self.columns
        self.cursor.x -= pending
        try:
            erase()
        finally:
            self.cursor.attrs = pen
            self.cursor.x += pending

    def erase_characters(self, count: int | None = None) -> None:
        self._erase(lambda: super(Grid, self).erase_characters(count))

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:  # noqa: ARG002 -- pyte's signature
        if how in (0, 1, 2):
            self._erase(lambda: super(Grid, self).erase_in_line(how))
            if how != 1:
                self.wrapped.discard(self.cursor.y)

    def erase_in_display(self, how: int = 0, *_: int, **__: bool) -> None:
        y = self.cursor.y
        interval = {0: range(y + 1, self.lines), 1: range(y), 2: range(self.lines)}.get(how)
        if interval is None:
            return
        blank = Cell(bg=self.cursor.attrs.bg)
        self.dirty.update(interval)
        self.wrapped.difference_update(interval)
        for number in interval:
            self.buffer.pop(number, None)
            if blank.bg is not None:
                self.buffer[number].update(dict.fromkeys(range(self.columns), blank))
        if how != 2:
            self.erase_in_line(how)

    def delete_characters(self, count: int | None = None) -> None:
        self._erase(lambda: super(Grid, self).delete_characters(count))

    def insert_characters(self, count: int | None = None) -> None:
        self._erase(lambda: super(Grid, self).insert_characters(count))
        self.buffer[self.cursor.y].pop(self.columns, None)

    def alignment_display(self) -> None:
        self.dirty.update(range(self.lines))
        for y in range(self.lines):
            self.buffer[y].update(dict.fromkeys(range(self.columns), Cell("E")))

    def select_graphic_rendition(self, *parameters: int, **_: bool) -> None:
        self.cursor.attrs = pen_after(self.cursor.attrs, parameters)

    # What is read from it

    def text(self, y: int) -> str:
        line = self.buffer[y]
        return "".join([line[x].data for x in range(self.columns)]).rstrip(" ")

    def row(self, y: int) -> Row:
        line = self.buffer[y]
        runs = []
        start = 0
        for look, group in groupby([line[x] for x in range(self.columns)], lambda cell: cell[1:]):
            length = len(list(group))
            fg, bg, attrs, link = look
            if fg is not None or bg is not None or attrs or link is not None:
                runs.append(Run(start, length, fg, bg, ordered(attrs), link))
            start += length
        return Row(self.text(y), tuple(runs), y in self.wrapped)
