"""The engine on libghostty-vt: its parts put together behind the `Engine` protocol.

`Feeder` takes a program's bytes, `Stops` carries out sequences that need more than the library does, `Writer` hands
bytes to the library, `HistoryTap` takes the lines that leave the screen, `RowReader` reads the rows that changed.
Native memory is freed by `close`, or with the engine.
"""

import weakref
from contextlib import suppress

import msgspec

from vantage.terminal.engines.ghostty import native
from vantage.terminal.engines.ghostty.feeding import Feeder
from vantage.terminal.engines.ghostty.history import HistoryTap
from vantage.terminal.engines.ghostty.modes import SYNCHRONIZED, modes_of
from vantage.terminal.engines.ghostty.native import Mailbox, check, ffi, init_sized, lib
from vantage.terminal.engines.ghostty.rows import RowReader
from vantage.terminal.engines.ghostty.snapshot import decode_snapshot, encode_snapshot
from vantage.terminal.engines.ghostty.stops import Stops
from vantage.terminal.engines.ghostty.terminal import Cells, VtTerminal, connect, new_terminal
from vantage.terminal.engines.ghostty.writing import Writer
from vantage.terminal.engines.values import CheckpointError, Cursor, Drained, Modes, Row

_SHAPES = {
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_BAR: "bar",
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_UNDERLINE: "underline",
}


class _Checkpoint(msgspec.Struct, frozen=True, array_like=True):
    snapshot: bytes
    partial: bytes
    """The beginning of an unfinished character."""
    allows_columns: bool


class GhosttyEngine:
    name = "ghostty"
    build = native.build()

    def __init__(self, cols: int, rows: int, /, *, checkpoint: _Checkpoint | None = None) -> None:
        self.cols, self.rows = cols, rows
        self._mailbox = Mailbox(cols, rows)
        self._handle = ffi.new_handle(self._mailbox)
        self.vt = VtTerminal(decode_snapshot(checkpoint.snapshot) if checkpoint else new_terminal(cols, rows))
        self._free = weakref.finalize(self, self.vt.free)
        connect(self.vt, self._handle)
        cells = Cells(self.vt)
        self._rows = RowReader(self.vt, cells)
        self._history = HistoryTap(self.vt, cells)
        self._writer = Writer(self.vt, self._mailbox, self._rows, self._history)
        self._stops = Stops(self.vt, self._mailbox, self._rows, self._history, self._writer)
        self._feeder = Feeder(
            self.vt, self._mailbox, self._writer, self._stops, checkpoint.partial if checkpoint else b""
        )
        self._cursor = init_sized("GhosttyRenderStateCursor")
        if checkpoint:
            self._stops.allows_columns = checkpoint.allows_columns
            self._writer.uncollected = True

    # Input

    def feed(self, data: bytes) -> None:
        self._feeder.feed(data)

    def resize(self, cols: int, rows: int) -> None:
        self._writer.collect()
        self._renew()
        self.vt.resize(cols, rows)
        self.cols, self.rows = self._mailbox.cols, self._mailbox.rows = cols, rows
        self._writer.uncollected = True

    def _renew(self) -> None:
        """Replaces the library's terminal by what a checkpoint has of it.

        A resize would show state that is in no checkpoint: rows with room for more columns grow in place and stay
        wrapped, others are copied and do not; a saved cursor may be below the last row; rows that were hidden by the
        alternate screen count as written. In a state that cannot be checkpointed, nothing is replaced.
        """
        with suppress(CheckpointError):
            self.vt.replace(decode_snapshot(encode_snapshot(self.vt, self.cols)))
            connect(self.vt, self._handle)
            self._rows.forget()
            self._history.forgotten()

    def take_replies(self) -> bytes:
        replies = self._mailbox.replies
        if not replies:
            return b""
        taken = bytes(replies)
        replies.clear()
        self.vt.set(lib.GHOSTTY_TERMINAL_OPT_WRITE_PTY, native.on_reply)
        return taken

    def take_bell(self) -> bool:
        if not self._mailbox.bell:
            return False
        self._mailbox.bell = False
        self.vt.set(lib.GHOSTTY_TERMINAL_OPT_BELL, native.on_bell)
        return True

    # State

    def cursor(self) -> Cursor:
        state = self._rows.update()
        cursor = self._cursor
        check(lib.ghostty_render_state_get(state, lib.GHOSTTY_RENDER_STATE_DATA_CURSOR, cursor), "tell its cursor")
        row, col = self.vt.position()
        return Cursor(row, col, bool(cursor.visible), _SHAPES.get(cursor.visual_style, "block"))  # type: ignore[arg-type]

    def title(self) -> str:
        return self.vt.text(lib.GHOSTTY_TERMINAL_DATA_TITLE)

    def cwd(self) -> str:
        return self.vt.text(lib.GHOSTTY_TERMINAL_DATA_PWD)

    def alt_screen(self) -> bool:
        return self.vt.alt_screen()

    def synchronized(self) -> bool:
        return self.vt.is_set(SYNCHRONIZED)

    def modes(self) -> Modes:
        return modes_of(self.vt)

    def dirty(self) -> list[tuple[int, Row]]:
        rows = self._rows.dirty()
        if self._rows.has_stale_gap(rows):
            self._rows.forget()
            rows = self._rows.dirty()
        if self._writer.has_marks:
            # the library does not count a row as changed when a mark is added to an earlier character
            self._writer.has_marks = False
            y, x = self.vt.position()
            if self._rows.is_stale(y, x, self._history.row_text(y, self.cols)):
                self._rows.forget()
                rows = self._rows.dirty()
        return rows

    def drain(self, *, everything: bool) -> Drained | None:
        if everything:
            self._writer.collect()
        return self._history.take()

    # Checkpoints

    def encode(self) -> bytes:
        snapshot = encode_snapshot(self.vt, self.cols)
        return msgspec.msgpack.encode(_Checkpoint(snapshot, self._feeder.partial, self._stops.allows_columns))

    @classmethod
    def decode(cls, data: bytes, cols: int, rows: int, /) -> "GhosttyEngine":
        return cls(cols, rows, checkpoint=msgspec.msgpack.decode(data, type=_Checkpoint))

    def close(self) -> None:
        self._free()
