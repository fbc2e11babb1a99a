"""The engine on pyte behind the `Engine` protocol: `Parser` splits the bytes into operations, `Interpreter` executes
them.
"""

from importlib.metadata import version

import msgspec
from pyte import modes as pyte_modes

from vantage.terminal.engines.pyte.grid_state import GridState, restore_grid, state_of
from vantage.terminal.engines.pyte.interpreter import Interpreter
from vantage.terminal.engines.pyte.parsing import Parser
from vantage.terminal.engines.values import Cursor, Drained, Modes, Row

_MOUSE = ((1003, "any"), (1002, "button"), (1000, "normal"), (9, "x10"))
_MOUSE_ENCODINGS = ((1016, "sgr_pixels"), (1006, "sgr"), (1015, "urxvt"), (1005, "utf8"))
_SHAPES = {0: "block", 1: "block", 2: "block", 3: "underline", 4: "underline", 5: "bar", 6: "bar"}


class _Checkpoint(msgspec.Struct, array_like=True):
    main: GridState
    alternate: GridState
    on_alternate: bool
    set: list[int]
    title: str
    cwd: str
    shape: int
    last: str
    pending: str
    decoder: tuple[bytes, int]
    string: tuple[str, str] | None
    answers: bytes


class PyteEngine:
    name = "pyte"
    build = f"pyte {version('pyte')}, 1"

    def __init__(self, cols: int, rows: int, /) -> None:
        self.cols, self.rows = cols, rows
        self._terminal = Interpreter(cols, rows)
        self._parser = Parser(self._terminal.run, self._terminal.answers.string)

    def feed(self, data: bytes) -> None:
        self._parser.feed(data)

    def resize(self, cols: int, rows: int) -> None:
        self._terminal.resize(cols, rows)
        self.cols, self.rows = cols, rows

    def take_replies(self) -> bytes:
        return self._terminal.answers.take()

    def take_bell(self) -> bool:
        rung, self._terminal.bell = self._terminal.bell, False
        return rung

    def cursor(self) -> Cursor:
        cursor = self._terminal.grid.cursor
        shape = _SHAPES.get(self._terminal.shape, "block")
        return Cursor(cursor.y, min(cursor.x, self.cols - 1), not cursor.hidden, shape)  # type: ignore[arg-type]

    def title(self) -> str:
        return self._terminal.title

    def cwd(self) -> str:
        return self._terminal.cwd

    def alt_screen(self) -> bool:
        return self._terminal.alt_screen()

    def synchronized(self) -> bool:
        return 2026 in self._terminal.on

    def modes(self) -> Modes:
        on, keyboard = self._terminal.on, self._terminal.answers.keyboard
        return Modes(
            application_cursor=1 in on,
            application_keypad=66 in on,
            backarrow_sends_backspace=67 in on,
            newline=pyte_modes.LNM in self._terminal.grid.mode,
            bracketed_paste=2004 in on,
            focus_events=1004 in on,
            synchronized=2026 in on,
            modify_other_keys=keyboard.modify_other_keys,
            kitty_flags=keyboard.flags(),
            mouse=next((name for mode, name in _MOUSE if mode in on), "none"),  # type: ignore[misc]
            mouse_encoding=next((name for mode, name in _MOUSE_ENCODINGS if mode in on), "x10"),  # type: ignore[misc]
            reverse_video=5 in on,
        )

    def dirty(self) -> list[tuple[int, Row]]:
        grid = self._terminal.grid
        rows = [(y, grid.row(y)) for y in sorted(grid.dirty) if y < self.rows]
        grid.dirty.clear()
        return rows

    def drain(self, *, everything: bool) -> Drained | None:  # noqa: ARG002 -- everything is at hand
        return self._terminal.left.take()

    def close(self) -> None:
        """There is nothing to free."""

    # Checkpoints

    def encode(self) -> bytes:
        terminal, parser = self._terminal, self._parser
        checkpoint = _Checkpoint(
            state_of(terminal.grids.main),
            state_of(terminal.grids.alternate),
            terminal.alt_screen(),
            sorted(terminal.on),
            terminal.title,
            terminal.cwd,
            terminal.shape,
            terminal.last,
            parser.pending,
            parser.decoder.getstate(),
            parser.string,
            terminal.answers.encode(),
        )
        return msgspec.msgpack.encode(checkpoint)

    @classmethod
    def decode(cls, data: bytes, cols: int, rows: int, /) -> "PyteEngine":
        engine = cls(cols, rows)
        engine._restore(msgspec.msgpack.decode(data, type=_Checkpoint))
        return engine

    def _restore(self, checkpoint: _Checkpoint) -> None:
        terminal, parser = self._terminal, self._parser
        grids = terminal.grids
        restore_grid(grids.main, checkpoint.main)
        restore_grid(grids.alternate, checkpoint.alternate)
        grids.shown = grids.alternate if checkpoint.on_alternate else grids.main
        terminal.on = set(checkpoint.set)
        terminal.title, terminal.cwd = checkpoint.title, checkpoint.cwd
        terminal.shape, terminal.last = checkpoint.shape, checkpoint.last
        parser.pending, parser.string = checkpoint.pending, checkpoint.string
        parser.decoder.setstate(checkpoint.decoder)
        terminal.answers.decode(checkpoint.answers)
