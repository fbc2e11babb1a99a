"""The main and the alternate screen of the pyte engine, two grids of which one is shown."""

from collections.abc import Callable
from copy import copy

from vantage.terminal.engines.pyte.cells import BLANK_CELL
from vantage.terminal.engines.pyte.grid import Grid


class Grids:
    def __init__(self, cols: int, rows: int, leave: Callable[[str, bool], None]) -> None:
        """`leave` gets the rows that leave the main screen; those of the alternate screen are not kept."""
        self.main = Grid(cols, rows, leave)
        self.alternate = Grid(cols, rows, None)
        self.shown = self.main

    def reset(self) -> None:
        self.main.reset()
        self.alternate.reset()
        self.shown = self.main

    def fit(self, cols: int, rows: int) -> None:
        for grid in (self.main, self.alternate):
            grid.fit(cols, rows)

    def show(self, mode: int, alternate: bool) -> None:
        """Switches between the screens; the cursor and the pen stay. 1049 saves the cursor and erases."""
        target = self.alternate if alternate else self.main
        source = self.shown
        if target is source:
            if mode == 1049 and not alternate:
                restore_cursor(self.main)
            return
        if mode == 1049 and alternate:
            save_cursor(source)
        if mode == 1047 and not alternate:
            source.erase_in_display(2)
        target.cursor = copy(source.cursor)
        target.mode, target.margins, target.tabstops = set(source.mode), source.margins, set(source.tabstops)
        target.g0_charset, target.g1_charset, target.charset = source.g0_charset, source.g1_charset, source.charset
        self.shown = target
        if mode == 1049 and alternate:
            target.buffer.clear()
            target.wrapped.clear()
        elif mode == 1049:
            restore_cursor(target)
        target.dirty.update(range(target.lines))


def save_cursor(grid: Grid) -> None:
    """DECSC: there is one saved cursor, and no stack of them as in pyte."""
    grid.savepoints.clear()
    grid.save_cursor()


def restore_cursor(grid: Grid) -> None:
    """DECRC: what was saved stays saved."""
    saved = grid.savepoints[-1] if grid.savepoints else None
    hidden = grid.cursor.hidden
    grid.restore_cursor()
    if saved:
        grid.savepoints.append(saved)
        grid.cursor = copy(saved.cursor)
        grid.ensure_hbounds()
    else:
        grid.cursor.attrs = BLANK_CELL
    grid.cursor.hidden = hidden
