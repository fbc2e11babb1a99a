"""A pyte screen that tells what left it, knows which rows wrap, and draws cells of our own kind.

pyte does the moving and erasing; what it leaves out or does in its own way stands here: wide characters at the right
edge, clusters, erasing with the background colour, palette numbers, links, scrolling by SU and SD, a resize that keeps
the rows around the cursor.
"""

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

import msgspec
from pyte import charsets, modes
from pyte.screens import Cursor as _Cursor
from pyte.screens import Margins, Savepoint
from pyte.screens import Screen as PyteScreen
from wcwidth import wcwidth

from vantage.terminal.engines.values import ATTRS, UNDERLINES, ColorRef, Row, Run

PyteCursor: Any = _Cursor

_LONGEST_CLUSTER = 16
"""Marks that pile up on one character beyond this are dropped: a cell is not a place to keep a text."""


class Cell(NamedTuple):
    data: str = " "
    """A character with the marks on it; empty for the second half of a wide one."""
    fg: ColorRef | None = None
    bg: ColorRef | None = None
    attrs: frozenset[str] = frozenset()
    link: str | None = None

    @property
    def plain(self) -> bool:
        return self.fg is None and self.bg is None and not self.attrs and self.link is None


BLANK_CELL = Cell()

_SWITCHED_ON = {
    1: "bold", 2: "dim", 3: "italic", 4: "underline", 5: "blink", 6: "blink", 7: "reverse", 8: "hidden", 9: "strike",
    53: "overline",
}  # fmt: skip
_ALL_UNDERLINES = ("underline", *UNDERLINES)
_SWITCHED_OFF: dict[int, tuple[str, ...]] = {
    22: ("bold", "dim"), 23: ("italic",), 24: _ALL_UNDERLINES, 25: ("blink",), 27: ("reverse",), 28: ("hidden",),
    29: ("strike",), 55: ("overline",),
}  # fmt: skip


class _Pen(msgspec.Struct, array_like=True):
    x: int
    y: int
    hidden: bool
    cell: Cell


class _Saved(msgspec.Struct, array_like=True):
    pen: _Pen
    drawing: tuple[bool, bool]
    charset: int
    origin: bool
    wrap: bool


class GridState(msgspec.Struct, array_like=True):
    rows: dict[int, dict[int, Cell]]
    wrapped: list[int]
    pen: _Pen
    mode: list[int]
    margins: tuple[int, int] | None
    drawing: tuple[bool, bool]
    """Whether G0 and G1 are the line drawing set."""
    charset: int
    tabs: list[int]
    saved: list[_Saved]


class Grid(PyteScreen):
    cursor: Any  # pyte's types know only cells of its own
    buffer: Any

    def __init__(self, columns: int, lines: int, leave: Callable[[str, bool], None] | None) -> None:
        self._leave = leave
        """Told the text of every row that leaves at the top, and whether the next one continues it."""
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
        """What is left of a wide character when one half of it is overwritten is a blank."""
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
        """A row leaves. One that goes on in the next is whole, blanks at its end included."""
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
        """Rows from the cursor to the end of the region move, and blank ones come in."""
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
        """A new size: rows below the cursor go first, then those at the top leave. Nothing is laid out anew."""
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

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:  # noqa: ARG002 -- as pyte has it
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
        pen = self.cursor.attrs
        rest = iter(parameters or (0,))
        for code in rest:
            if code == 0:
                pen = Cell(link=pen.link)
            elif code in _SWITCHED_ON:
                pen = pen._replace(attrs=pen.attrs | {_SWITCHED_ON[code]})
            elif code == 21 or code < 0:  # a kind of underline, as `numbers_of` writes it
                kind = UNDERLINES[-code - 2 if code < 0 else 0]
                pen = pen._replace(attrs=pen.attrs.difference(_ALL_UNDERLINES) | {"underline", kind})
            elif code in _SWITCHED_OFF:
                pen = pen._replace(attrs=pen.attrs.difference(_SWITCHED_OFF[code]))
            elif code in (38, 48, 58):
                color = _extended_color(rest)
                if code != 58 and color is not None:
                    pen = pen._replace(**{"fg" if code == 38 else "bg": color})
            elif code in (39, 49):
                pen = pen._replace(**{"fg" if code == 39 else "bg": None})
            elif 30 <= code <= 37 or 90 <= code <= 97:
                pen = pen._replace(fg=code - 30 if code < 90 else code - 82)
            elif 40 <= code <= 47 or 100 <= code <= 107:
                pen = pen._replace(bg=code - 40 if code < 100 else code - 92)
        self.cursor.attrs = pen

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
                runs.append(Run(start, length, fg, bg, _ordered(attrs), link))
            start += length
        return Row(self.text(y), tuple(runs), y in self.wrapped)

    # Checkpoints

    def _drawing(self, g0: str, g1: str) -> tuple[bool, bool]:
        return g0 is charsets.VT100_MAP, g1 is charsets.VT100_MAP

    def state(self) -> GridState:
        saved = [
            _Saved(_pen(one.cursor), self._drawing(one.g0_charset, one.g1_charset), one.charset, one.origin, one.wrap)
            for one in self.savepoints
        ]
        return GridState(
            {y: dict(line) for y, line in self.buffer.items() if line},
            sorted(self.wrapped),
            _pen(self.cursor),
            sorted(self.mode),
            (self.margins.top, self.margins.bottom) if self.margins else None,
            self._drawing(self.g0_charset, self.g1_charset),
            self.charset,
            sorted(self.tabstops),
            saved,
        )

    def restore(self, state: GridState) -> None:
        for y, line in state.rows.items():
            self.buffer[y].update(line)
        self.wrapped = set(state.wrapped)
        self.cursor = _unpen(state.pen)
        self.mode = set(state.mode)
        self.margins = Margins(*state.margins) if state.margins else None
        self.g0_charset, self.g1_charset = _maps(state.drawing)
        self.charset = state.charset
        self.tabstops = set(state.tabs)
        self.savepoints = [
            Savepoint(_unpen(one.pen), *_maps(one.drawing), one.charset, one.origin, one.wrap) for one in state.saved
        ]


def _maps(drawing: tuple[bool, bool]) -> tuple[str, str]:
    g0, g1 = (charsets.VT100_MAP if one else charsets.LAT1_MAP for one in drawing)
    return g0, g1


def _pen(cursor: PyteCursor) -> _Pen:
    return _Pen(cursor.x, cursor.y, cursor.hidden, cursor.attrs)


def _unpen(pen: _Pen) -> PyteCursor:
    cursor = PyteCursor(pen.x, pen.y, pen.cell)
    cursor.hidden = pen.hidden
    return cursor


def _ordered(attrs: frozenset[str]) -> tuple[str, ...]:
    names: list[str] = []
    for name in ATTRS:
        if name in attrs:
            names.append(name)
            if name == "underline":
                names += [kind for kind in UNDERLINES if kind in attrs]
    return tuple(names)


def _extended_color(rest: Iterator[int]) -> ColorRef | None:
    """What follows 38 or 48: `5;n` or `2;r;g;b`."""
    kind = next(rest, None)
    if kind == 5:
        number = next(rest, 256)
        return number if number <= 255 else None
    if kind == 2:
        rgb = [min(next(rest, 0), 255) for _ in range(3)]
        return "#{:02x}{:02x}{:02x}".format(*rgb)
    return None
