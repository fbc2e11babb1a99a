"""The engine on libghostty-vt, through the C interface that pyghostty carries.

Feeding is one call into the library for each piece of input. Native memory is freed by `close`, or with the object.
"""

import re
import weakref
from collections.abc import Iterator
from typing import Any

import msgspec

from vantage.terminal.engines import _ghostty_native as native
from vantage.terminal.engines._ghostty_history import HistoryTap, budget, room
from vantage.terminal.engines._ghostty_native import Cells, Mailbox, Native, check, ffi, init_sized, lib, text_of
from vantage.terminal.engines._ghostty_rows import RowReader
from vantage.terminal.engines.values import CheckpointError, Cursor, Drained, Modes, Row

UNFINISHED_BYTES = 1 << 16
"""The longest unfinished sequence that a checkpoint can hold."""
_PIECE = 1 << 14
"""Bytes handed to the library at once: of most output, no more rows leave the screen with them than it keeps."""
_FOREGROUND, _BACKGROUND = (229, 229, 229), (0, 0, 0)

# Sequences before which something is to be done. ESC begins one wherever it stands, so these bytes are always one.
_STOP = re.compile(
    rb"\x1b(?:\[(?:\?0*(?:(?P<position>6n)"  # DECXCPR, which the library leaves unanswered
    rb"|(?:[0-9;]*;)?(?:47|1047|1049)[0-9;]*h)"  # entering the alternate screen hides the main one's history
    rb"|!(?P<reset>p)"  # DECSTR, which it does not know
    rb"|(?:[0-9]*;)?0*3J)|(?P<start_over>c))"  # ED 3 and RIS erase history: its lines are counted before
)
_RIS = re.compile(rb"\x1bc")
"""Sought by an expression: among many escapes that takes half the time that `in` does."""
_START_OF_STOP = re.compile(rb"\x1b(?:\[(?:!|\??[0-9;]{0,48})?)?\Z")
# Insert and origin mode off, wrapping and cursor on, ordinary keys, no margins, plain text; the cursor stays.
_SOFT_RESET = b"\x1b[4l\x1b[?6l\x1b[?7;25h\x1b[?1l\x1b>\x1b7\x1b[r\x1b8\x1b[m\x1b(B\x0f"

_SHAPES = {
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_BAR: "bar",
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_UNDERLINE: "underline",
}
_FLAGS = {
    "application_cursor": 1, "application_keypad": 66, "backarrow_sends_backspace": 67, "newline": 20 | 1 << 15,
    "bracketed_paste": 2004, "focus_events": 1004, "synchronized": 2026, "reverse_video": 5,
}  # fmt: skip
_MOUSE = (("any", 1003), ("button", 1002), ("normal", 1000), ("x10", 9))
_MOUSE_ENCODINGS = (("sgr_pixels", 1016), ("sgr", 1006), ("urxvt", 1015), ("utf8", 1005))


class GhosttyEngine:
    name = "ghostty"
    build = native.build()

    def __init__(self, cols: int, rows: int, /, *, _terminal: Any = None) -> None:
        self.cols, self.rows = cols, rows
        self._t = _terminal or _new_terminal(cols, rows)
        self._native = Native(self._t)
        self._free = weakref.finalize(self, self._native.free)
        self._box = Mailbox(cols, rows)
        self._handle = ffi.new_handle(self._box)
        for option, value in (
            ("USERDATA", self._handle),
            ("SIZE", native.on_size),
            ("XTVERSION", native.on_version),
            ("WRITE_PTY", native.on_reply),
            ("BELL", native.on_bell),
            ("KITTY_IMAGE_STORAGE_LIMIT", ffi.new("uint64_t*", 0)),  # nobody draws them
            ("COLOR_FOREGROUND", ffi.new("GhosttyColorRgb*", _FOREGROUND)),
            ("COLOR_BACKGROUND", ffi.new("GhosttyColorRgb*", _BACKGROUND)),
            ("COLOR_CURSOR", ffi.new("GhosttyColorRgb*", _FOREGROUND)),
        ):
            self._set(option, value)
        cells = Cells(self._t)
        self._rows = RowReader(self._native, cells)
        self._history = HistoryTap(self._native, cells)
        self._number, self._short = ffi.new("size_t*"), ffi.new("uint16_t*")
        self._mode = ffi.new("GhosttyTerminalModeConfig*")
        self._string = ffi.new("GhosttyString*")
        self._screen = ffi.new("GhosttyTerminalScreen*")
        self._cursor = init_sized("GhosttyRenderStateCursor")
        self._has_marks = False
        """Something beyond ASCII came since the rows were last read."""
        self._unfinished = b""
        """The last bytes fed, where they may be the beginning of a sequence in `_STOP`."""
        self._pushed = 0
        """About so many rows may have left the screen since they were last taken."""
        self._uncollected = False
        """Something was fed since then."""

    def _set(self, option: str, value: Any) -> None:
        _set(self._t, option, value)

    # Input

    def feed(self, data: bytes) -> None:
        if b"\x7f" in data:  # which terminals ignore, and the library draws
            data = data.translate(None, b"\x7f")
        if self._unfinished:
            data = self._finish(data)
        if b"\x1b" in data:
            data = self._up_to_the_last_stop(data)
        escape = data.rfind(b"\x1b", -52)
        self._write(data)
        if escape >= 0 and _START_OF_STOP.match(data, escape):
            self._unfinished = data[escape:]
            if self._uncollected:
                self._collect()

    def _up_to_the_last_stop(self, data: bytes) -> bytes:
        start = 0
        for stop in _stops(data):
            self._write(data[start : stop.start()])
            start = stop.start()
            if stop["position"] or stop["reset"]:
                self._instead(stop)
                start = stop.end()
            else:
                self._before(stop)
        return data[start:] if start else data

    def _finish(self, data: bytes) -> bytes:
        """Go on where the bytes before ended, perhaps in the middle of a query of ours; what is left of `data`."""
        joined = self._unfinished + data[:52]
        fed = len(self._unfinished)
        self._unfinished = b""
        stop = _STOP.match(joined)
        if stop and (stop["position"] or stop["reset"]):
            self._write(b"\x18")  # CAN: the library forgets the beginning that it has seen
            self._instead(stop)
            return data[stop.end() - fed :]
        if stop:
            self._before(stop)
        if _START_OF_STOP.match(joined) and len(data) <= 52:
            self._write(data)
            self._unfinished = joined
            return b""
        return data

    def _before(self, stop: "re.Match[bytes]") -> None:
        if self._uncollected:
            self._collect()
        if stop["start_over"]:
            self._history.start_over()

    def _instead(self, stop: "re.Match[bytes]") -> None:
        if stop["reset"]:
            self._write(_SOFT_RESET)
        else:
            self._answer_position()

    def _answer_position(self) -> None:
        """Ask the library for the position in the form that it knows, and answer in the other."""
        replies = self._box.replies
        before = len(replies)
        self._write(b"\x1b[6n")
        if bytes(replies[before : before + 2]) == b"\x1b[":
            replies[before + 2 : before + 2] = b"?"

    def _write(self, data: bytes) -> None:
        """Into the library, in pieces small enough that it drops no row before it was taken."""
        if len(data) > _PIECE:
            for start in range(0, len(data), _PIECE):
                self._write(data[start : start + _PIECE])
            return
        most = budget(self.cols)
        pushes = data.count(b"\n") + len(data) // self.cols
        if pushes > most and len(data) > most:
            step = max(len(data) * most // (pushes + pushes // 8), most)
            for start in range(0, len(data), step):
                self._write(data[start : start + step])
            return
        if self._pushed + pushes > most:
            self._collect()
        self._pushed += pushes
        self._uncollected = True
        self._has_marks = self._has_marks or not data.isascii()
        lib.ghostty_terminal_vt_write(self._t, data, len(data))

    def _collect(self) -> None:
        if not self.alt_screen():
            self._pushed = 0
            self._uncollected = False
            self._history.collect(self.cols)

    def resize(self, cols: int, rows: int) -> None:
        self._collect()
        self._set("SCROLLBACK_MAX_BYTES", ffi.new("size_t*", room(cols, rows)))
        check(lib.ghostty_terminal_resize(self._t, cols, rows, 8, 16), f"resize to {cols} by {rows}")
        self.cols, self.rows = self._box.cols, self._box.rows = cols, rows

    def take_replies(self) -> bytes:
        replies = self._box.replies
        if not replies:
            return b""
        taken = bytes(replies)
        replies.clear()
        self._set("WRITE_PTY", native.on_reply)
        return taken

    def take_bell(self) -> bool:
        if not self._box.bell:
            return False
        self._box.bell = False
        self._set("BELL", native.on_bell)
        return True

    # State

    def _get(self, key: int, out: Any) -> Any:
        check(lib.ghostty_terminal_get(self._t, key, out), "tell its state")
        return out[0]

    def _is(self, mode: int) -> bool:
        self._mode.mode = mode
        return bool(
            lib.ghostty_terminal_get(self._t, lib.GHOSTTY_TERMINAL_DATA_MODE, self._mode) == 0 and self._mode.value
        )

    def cursor(self) -> Cursor:
        state = self._rows.update()
        cursor, number = self._cursor, self._short
        check(lib.ghostty_render_state_get(state, lib.GHOSTTY_RENDER_STATE_DATA_CURSOR, cursor), "tell its cursor")
        row = self._get(lib.GHOSTTY_TERMINAL_DATA_CURSOR_Y, number)
        col = self._get(lib.GHOSTTY_TERMINAL_DATA_CURSOR_X, number)
        return Cursor(row, col, bool(cursor.visible), _SHAPES.get(cursor.visual_style, "block"))  # type: ignore[arg-type]

    def title(self) -> str:
        return text_of(self._get(lib.GHOSTTY_TERMINAL_DATA_TITLE, self._string))

    def cwd(self) -> str:
        return text_of(self._get(lib.GHOSTTY_TERMINAL_DATA_PWD, self._string))

    def alt_screen(self) -> bool:
        shown = self._get(lib.GHOSTTY_TERMINAL_DATA_ACTIVE_SCREEN, self._screen)
        return bool(shown == lib.GHOSTTY_TERMINAL_SCREEN_ALTERNATE)

    def synchronized(self) -> bool:
        return self._is(2026)

    def modes(self) -> Modes:
        return Modes(
            **{name: self._is(number) for name, number in _FLAGS.items()},
            kitty_flags=self._get(lib.GHOSTTY_TERMINAL_DATA_KITTY_KEYBOARD_FLAGS, ffi.new("uint8_t*")),
            modify_other_keys=2 if self._modifies_other_keys() else 0,
            mouse=next((name for name, number in _MOUSE if self._is(number)), "none"),  # type: ignore[misc]
            mouse_encoding=next((name for name, number in _MOUSE_ENCODINGS if self._is(number)), "x10"),  # type: ignore[misc]
        )

    def _modifies_other_keys(self) -> bool:
        """The library does not tell this mode, but its key encoder knows it: Ctrl-I is a tab only without it."""
        encoder, event = ffi.new("GhosttyKeyEncoder*"), ffi.new("GhosttyKeyEvent*")
        check(lib.ghostty_key_encoder_new(ffi.NULL, encoder), "encode keys")
        check(lib.ghostty_key_event_new(ffi.NULL, event), "encode keys")
        try:
            lib.ghostty_key_encoder_setopt_from_terminal(encoder[0], self._t)
            lib.ghostty_key_encoder_setopt(encoder[0], lib.GHOSTTY_KEY_ENCODER_OPT_KITTY_FLAGS, ffi.new("uint8_t*", 0))
            lib.ghostty_key_event_set_action(event[0], lib.GHOSTTY_KEY_ACTION_PRESS)
            lib.ghostty_key_event_set_key(event[0], lib.GHOSTTY_KEY_H)
            lib.ghostty_key_event_set_mods(event[0], 1 | 2)  # Shift and Ctrl
            lib.ghostty_key_event_set_utf8(event[0], b"H", 1)
            lib.ghostty_key_event_set_unshifted_codepoint(event[0], ord("h"))
            out = ffi.new("char[32]")
            result = lib.ghostty_key_encoder_encode(encoder[0], event[0], out, 32, self._number)
            return bool(result == 0 and ffi.buffer(out, self._number[0])[:5] == b"\x1b[27;")
        finally:
            lib.ghostty_key_event_free(event[0])
            lib.ghostty_key_encoder_free(encoder[0])

    def dirty(self) -> list[tuple[int, Row]]:
        rows = self._rows.dirty()
        if self._has_marks:
            # A mark added to a character that was there before does not make the library call its row changed.
            self._has_marks = False
            x = self._get(lib.GHOSTTY_TERMINAL_DATA_CURSOR_X, self._short)
            y = self._get(lib.GHOSTTY_TERMINAL_DATA_CURSOR_Y, self._short)
            if self._rows.is_stale(y, x, self._history.row_text(y, self.cols)):
                self._rows.forget()
                rows = self._rows.dirty()
        return rows

    def drain(self, *, everything: bool) -> Drained | None:
        if everything:
            self._collect()
        return self._history.take()

    def returned(self) -> int:
        return 0 if self.alt_screen() else self._history.returned()

    # Checkpoints

    def encode(self) -> bytes:
        out = ffi.new("uint8_t**")
        if lib.ghostty_snapshot_encode_alloc(self._t, ffi.NULL, out, self._number):
            raise CheckpointError(
                "a checkpoint cannot be made inside of a sequence this long",
                hint=f"make it later, or feed the bytes again (it may hold {UNFINISHED_BYTES} bytes of a sequence)",
            )
        size = self._number[0]
        snapshot = bytes(ffi.buffer(out[0], size))
        lib.ghostty_free(ffi.NULL, out[0], size)
        return msgspec.msgpack.encode([snapshot, self._unfinished, *self._history.place()])

    @classmethod
    def decode(cls, data: bytes, cols: int, rows: int, /) -> "GhosttyEngine":
        snapshot, unfinished, place, has_before = msgspec.msgpack.decode(
            data, type=tuple[bytes, bytes, tuple[int, int] | None, bool]
        )
        decoder, terminal = ffi.new("GhosttySnapshotDecoder*"), ffi.new("GhosttyTerminal*")
        check(
            lib.ghostty_snapshot_decoder_new_buf(
                ffi.NULL, decoder, ffi.from_buffer("uint8_t[]", snapshot), len(snapshot)
            ),
            "read",
        )
        try:
            for option, value in (
                (lib.GHOSTTY_SNAPSHOT_DECODER_OPT_MAX_CONTINUATION_BYTES, ffi.new("size_t*", UNFINISHED_BYTES)),
                (lib.GHOSTTY_SNAPSHOT_DECODER_OPT_RETAIN_CONTINUATION, ffi.new("bool*", True)),
            ):
                check(lib.ghostty_snapshot_decoder_set(decoder[0], option, value), "set up the decoder")
            if result := lib.ghostty_snapshot_decoder_decode(decoder[0], terminal):
                raise CheckpointError(
                    f"the checkpoint is damaged (libghostty-vt answered {result})", hint="feed the bytes again"
                )
        finally:
            lib.ghostty_snapshot_decoder_free(decoder[0])
        engine = cls(cols, rows, _terminal=terminal[0])
        engine._unfinished = unfinished
        engine._history.restore(place, has_before=has_before, visible=not engine.alt_screen())
        return engine

    def close(self) -> None:
        self._free()
        self._t = ffi.NULL


def _stops(data: bytes) -> Iterator["re.Match[bytes]"]:
    """Looked for by single bytes first, which is quick: most output has none of them."""
    if (b"J" in data and b"3J" in data) or _RIS.search(data) or (b"!" in data and b"\x1b[!" in data):
        yield from _STOP.finditer(data)
    elif b"?" in data:
        start = data.find(b"\x1b[?")
        while start >= 0:
            if stop := _STOP.match(data, start):
                yield stop
            start = data.find(b"\x1b[?", start + 3)


def _set(terminal: Any, option: str, value: Any) -> None:
    check(lib.ghostty_terminal_set(terminal, getattr(lib, f"GHOSTTY_TERMINAL_OPT_{option}"), value), f"set {option}")


def _new_terminal(cols: int, rows: int) -> Any:
    out = ffi.new("GhosttyTerminal*")
    check(lib.ghostty_terminal_new(ffi.NULL, out, cols, rows), f"make a screen of {cols} by {rows}")
    _set(out[0], "SCROLLBACK_MAX_LINES", ffi.new("size_t*", 1 << 40))  # dropping by lines is slow; bytes bound it
    _set(out[0], "SCROLLBACK_MAX_BYTES", ffi.new("size_t*", room(cols, rows)))
    _set(out[0], "CONTINUATION_MAX_BYTES", ffi.new("size_t*", UNFINISHED_BYTES))
    return out[0]
