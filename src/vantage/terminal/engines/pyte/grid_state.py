"""A grid as a value of a checkpoint, and back."""

import msgspec
from pyte import charsets
from pyte.screens import Margins, Savepoint

from vantage.terminal.engines.pyte.cells import Cell
from vantage.terminal.engines.pyte.grid import Grid, PyteCursor


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


def _drawing(g0: str, g1: str) -> tuple[bool, bool]:
    return g0 is charsets.VT100_MAP, g1 is charsets.VT100_MAP


def state_of(grid: Grid) -> GridState:
    saved = [
        _Saved(_pen(one.cursor), _drawing(one.g0_charset, one.g1_charset), one.charset, one.origin, one.wrap)
        for one in grid.savepoints
    ]
    return GridState(
        {y: dict(line) for y, line in grid.buffer.items() if line},
        sorted(grid.wrapped),
        _pen(grid.cursor),
        sorted(grid.mode),
        (grid.margins.top, grid.margins.bottom) if grid.margins else None,
        _drawing(grid.g0_charset, grid.g1_charset),
        grid.charset,
        sorted(grid.tabstops),
        saved,
    )


def restore_grid(grid: Grid, state: GridState) -> None:
    for y, line in state.rows.items():
        grid.buffer[y].update(line)
    grid.wrapped = set(state.wrapped)
    grid.cursor = _unpen(state.pen)
    grid.mode = set(state.mode)
    grid.margins = Margins(*state.margins) if state.margins else None
    grid.g0_charset, grid.g1_charset = _maps(state.drawing)
    grid.charset = state.charset
    grid.tabstops = set(state.tabs)
    grid.savepoints = [
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
