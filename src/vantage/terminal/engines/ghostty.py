"""The engine on libghostty-vt, through the C interface that pyghostty carries.

Feeding is one call into the library for each piece of input. Rows are read as the library's own array of 64-bit cells,
whose layout is asked of the library once instead of being assumed. Native memory is freed by `close`, or with the object.
"""

import re
import weakref
from itertools import groupby
from typing import Any

import msgspec
import pyghostty  # type: ignore[import-untyped]
from pyghostty._ffi import union_fn  # type: ignore[import-untyped]
from pyghostty.core import init_sized  # type: ignore[import-untyped]

from vantage.errors import VantageError
from vantage.terminal.engines.values import (
    ATTRS,
    UNDERLINES,
    CheckpointError,
    ColorRef,
    Cursor,
    Drained,
    Modes,
    Row,
    Run,
)

ffi: Any = pyghostty.ffi
lib: Any = pyghostty.lib

HISTORY_BYTES = 2 << 20
"""What the library may keep of lines that left the screen. They are drained well before it drops them."""
UNFINISHED_BYTES = 1 << 16
"""The longest unfinished sequence that a checkpoint can hold."""
REPLY_BYTES = 1 << 16
"""Replies nobody takes are not collected without end: a program that asks more is not answered."""
PIECE = 1 << 16
_LONG_LINE = 64
"""Rows after which a line that has left the screen and still goes on is handed over as far as it has come."""

_IDENTITY = b"vantage"
_FOREGROUND, _BACKGROUND = (229, 229, 229), (0, 0, 0)
# DECXCPR, which the library leaves unanswered. ESC starts a sequence wherever it stands, so these bytes are always one.
_EXTENDED_POSITION = re.compile(rb"\x1b\[\?0*6n")
# Entering the alternate screen hides the main one's history: what is in it is drained before.
_ALTERNATE = re.compile(rb"\x1b\[\?[0-9;]*(?:47|1049)[0-9;]*h")
_EXTENDED_START = re.compile(rb"\x1b(?:\[(?:\?(?:0{0,6}6?)?)?)?\Z")

_ACTIVE, _SCREEN = lib.GHOSTTY_POINT_TAG_ACTIVE, lib.GHOSTTY_POINT_TAG_SCREEN
_grid_ref = union_fn("ghostty_terminal_grid_ref", "GhosttyResult(*)(GhosttyTerminal, GhosttyPointS, GhosttyGridRef*)")
_grid_track = union_fn(
    "ghostty_terminal_grid_ref_track", "GhosttyResult(*)(GhosttyTerminal, GhosttyPointS, GhosttyTrackedGridRef*)"
)
_grid_move = union_fn(
    "ghostty_tracked_grid_ref_set", "GhosttyResult(*)(GhosttyTrackedGridRef, GhosttyTerminal, GhosttyPointS)"
)


def _check(result: int, what: str) -> None:
    if result:
        raise VantageError(f"the terminal engine could not {what} (libghostty-vt answered {result})")


def _shift(get: Any, key: int, kind: str) -> int:
    """At which bit of a cell or row the library keeps a value: the lowest bit that makes it 1."""
    out = ffi.new(f"{kind}*")
    for bit in range(64):
        out[0] = 0
        if get(1 << bit, key, out) == 0 and int(out[0]) == 1:
            return bit
    raise ImportError("libghostty-vt keeps its cells in a way that this version of Vantage cannot read")


_CODEPOINT = _shift(lib.ghostty_cell_get, lib.GHOSTTY_CELL_DATA_CODEPOINT, "uint32_t")
_TAG = _shift(lib.ghostty_cell_get, lib.GHOSTTY_CELL_DATA_CONTENT_TAG, "GhosttyCellContentTag")
_STYLE = _shift(lib.ghostty_cell_get, lib.GHOSTTY_CELL_DATA_STYLE_ID, "uint16_t")
_WIDE = _shift(lib.ghostty_cell_get, lib.GHOSTTY_CELL_DATA_WIDE, "GhosttyCellWide")
_LINK = _shift(lib.ghostty_cell_get, lib.GHOSTTY_CELL_DATA_HAS_HYPERLINK, "bool")
_WRAP = _shift(lib.ghostty_row_get, lib.GHOSTTY_ROW_DATA_WRAP, "bool")

_CODEPOINT_BITS = 0x1FFFFF
# What groups cells into runs: the style's number, the link flag, and for cells that are only background, their colour.
_LOOK = 0xFFFF << _STYLE | 1 << _LINK
_BACKGROUND_ONLY = 2 << _TAG
_CONTENT = 0xFFFFFF << _CODEPOINT | 3 << _TAG
_TAIL = 2 << _WIDE

_SHAPES = {
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_BAR: "bar",
    lib.GHOSTTY_RENDER_STATE_CURSOR_VISUAL_STYLE_UNDERLINE: "underline",
}
_STYLE_FIELDS = {  # of GhosttyStyle, by our names
    "bold": "bold", "dim": "faint", "italic": "italic", "underline": "underline", "blink": "blink",
    "reverse": "inverse", "hidden": "invisible", "strike": "strikethrough", "overline": "overline",
}  # fmt: skip
_FLAGS = {
    "application_cursor": 1, "application_keypad": 66, "backarrow_sends_backspace": 67, "newline": 20 | 1 << 15,
    "bracketed_paste": 2004, "focus_events": 1004, "synchronized": 2026, "reverse_video": 5,
}  # fmt: skip
_MOUSE = (("any", 1003), ("button", 1002), ("normal", 1000), ("x10", 9))
_MOUSE_ENCODINGS = (("sgr_pixels", 1016), ("sgr", 1006), ("urxvt", 1015), ("utf8", 1005))


def _build() -> str:
    text = ffi.new("GhosttyString*")
    lib.ghostty_build_info(lib.GHOSTTY_BUILD_INFO_VERSION_STRING, text)
    return f"pyghostty {pyghostty.__version__}, libghostty-vt {_text(text)}"


def _text(string: Any) -> str:
    return bytes(ffi.buffer(string.ptr, string.len)).decode("utf-8", "replace") if string.len else ""


_StyleParts = tuple[ColorRef | None, ColorRef | None, tuple[str, ...]]
# Styles by the bytes of the library's struct: taking those apart field by field is what costs.
_STYLES: dict[bytes, _StyleParts] = {}
_MOST_STYLES = 4096


class _Mailbox:
    """What the library's callbacks write to. Not the engine itself, so that nothing keeps that alive."""

    __slots__ = ("bell", "cols", "replies", "rows")

    def __init__(self, cols: int, rows: int) -> None:
        self.cols, self.rows = cols, rows
        self.replies = bytearray()
        self.bell = False


@ffi.callback("GhosttyTerminalWritePtyFn")  # type: ignore[untyped-decorator]
def _on_reply(terminal: Any, box: Any, data: Any, length: int) -> None:
    replies = ffi.from_handle(box).replies
    if len(replies) + length <= REPLY_BYTES:
        replies += ffi.buffer(data, length)
    else:
        lib.ghostty_terminal_set(terminal, lib.GHOSTTY_TERMINAL_OPT_WRITE_PTY, ffi.NULL)


@ffi.callback("GhosttyTerminalBellFn")  # type: ignore[untyped-decorator]
def _on_bell(terminal: Any, box: Any) -> None:
    ffi.from_handle(box).bell = True
    lib.ghostty_terminal_set(terminal, lib.GHOSTTY_TERMINAL_OPT_BELL, ffi.NULL)  # once rung, a flood costs nothing


@ffi.callback("GhosttyTerminalSizeFn")  # type: ignore[untyped-decorator]
def _on_size(_terminal: Any, box: Any, size: Any) -> bool:
    mailbox = ffi.from_handle(box)
    size.columns, size.rows, size.cell_width, size.cell_height = mailbox.cols, mailbox.rows, 8, 16
    return True


_NAME = ffi.new("GhosttyString*", {"ptr": ffi.from_buffer("uint8_t[]", _IDENTITY), "len": len(_IDENTITY)})


@ffi.callback("GhosttyTerminalXtversionFn")  # type: ignore[untyped-decorator]
def _on_version(_terminal: Any, _box: Any) -> Any:
    return _NAME[0]


class _Native:
    """The library's objects of one engine, freed together and once."""

    __slots__ = ("cells", "iterator", "refs", "render", "terminal")

    def __init__(self, terminal: Any) -> None:
        self.terminal = terminal
        self.refs: list[Any] = []
        self.render = self.iterator = self.cells = None

    def free(self) -> None:
        for ref in self.refs:
            lib.ghostty_tracked_grid_ref_free(ref)
        self.refs = []
        if self.render:
            lib.ghostty_render_state_row_cells_free(self.cells[0])
            lib.ghostty_render_state_row_iterator_free(self.iterator[0])
            lib.ghostty_render_state_free(self.render)
        self.render = self.iterator = self.cells = None
        if self.terminal:
            lib.ghostty_terminal_free(self.terminal)
        self.terminal = None


class GhosttyEngine:
    name = "ghostty"
    build = _build()

    def __init__(self, cols: int, rows: int, /, *, _terminal: Any = None) -> None:
        self.cols, self.rows = cols, rows
        if _terminal is None:
            out = ffi.new("GhosttyTerminal*")
            _check(lib.ghostty_terminal_new(ffi.NULL, out, cols, rows), f"make a screen of {cols} by {rows}")
            _terminal = out[0]
            self._set("SCROLLBACK_MAX_LINES", ffi.new("size_t*", 1 << 40), _terminal)
            self._set("SCROLLBACK_MAX_BYTES", ffi.new("size_t*", HISTORY_BYTES), _terminal)
            self._set("CONTINUATION_MAX_BYTES", ffi.new("size_t*", UNFINISHED_BYTES), _terminal)
        self._native = _Native(_terminal)
        self._t = _terminal
        self._free = weakref.finalize(self, self._native.free)
        self._box = _Mailbox(cols, rows)
        self._handle = ffi.new_handle(self._box)
        self._set("USERDATA", self._handle)
        for option, callback in (
            ("SIZE", _on_size),
            ("XTVERSION", _on_version),
            ("WRITE_PTY", _on_reply),
            ("BELL", _on_bell),
        ):
            self._set(option, callback)
        self._set("KITTY_IMAGE_STORAGE_LIMIT", ffi.new("uint64_t*", 0))  # nobody draws them
        for option, color in (("FOREGROUND", _FOREGROUND), ("BACKGROUND", _BACKGROUND), ("CURSOR", _FOREGROUND)):
            self._set(f"COLOR_{option}", ffi.new("GhosttyColorRgb*", color))
        self._point = ffi.new("GhosttyPointS*")
        self._number = ffi.new("size_t*")
        self._mode = ffi.new("GhosttyTerminalModeConfig*")
        self._string = ffi.new("GhosttyString*")
        self._found = init_sized("GhosttyGridRef")
        self._short = ffi.new("uint16_t*")
        self._raw = ffi.new("GhosttyRow*")
        self._view = ffi.new("GhosttyCellsView*")
        self._screen = ffi.new("GhosttyTerminalScreen*")
        self._cursor = init_sized("GhosttyRenderStateCursor")
        self._style_out = init_sized("GhosttyStyle")
        self._style_bytes = ffi.buffer(self._style_out)
        self._unfinished = b""
        self._pushed = 0
        # Two places that move with their rows: the first line not handed over, and the row before it.
        self._native.refs = [self._track(0, 0, _ACTIVE), self._track(0, 0, _ACTIVE)]
        self._has_before = False
        self._later: tuple[int, int] | None = None
        self._drained: Drained | None = None
        self._selection = init_sized("GhosttySelection")
        self._options = init_sized("GhosttyTerminalSelectionFormatOptions")
        self._buffer = ffi.new("uint8_t[]", 4096)

    def _set(self, option: str, value: Any, terminal: Any = None) -> None:
        key = getattr(lib, f"GHOSTTY_TERMINAL_OPT_{option}")
        _check(lib.ghostty_terminal_set(terminal or self._t, key, value), f"set {option}")

    # Input

    def feed(self, data: bytes) -> None:
        if self._unfinished:
            data = self._finish(data)
            if not data:
                return
        if b"6n" in data:
            start = 0
            for query in _EXTENDED_POSITION.finditer(data):
                self._write(data[start : query.start()])
                self._extended_position()
                start = query.end()
            data = data[start:]
        escape = data.rfind(b"\x1b", -12)
        self._unfinished = data[escape:] if escape >= 0 and _EXTENDED_START.match(data, escape) else b""
        if b"\x1b[?" in data and (b"47" in data or b"49" in data):
            start = 0
            for entry in _ALTERNATE.finditer(data):
                self._write(data[start : entry.start()])
                if self._pushed:
                    self._collect()
                start = entry.start()
            data = data[start:]
        for start in range(0, len(data), PIECE):
            self._write(data[start : start + PIECE] if len(data) > PIECE else data)

    def _finish(self, data: bytes) -> bytes:
        """A query of ours that began in earlier input, of which the library has already seen the beginning."""
        joined = self._unfinished + data[:12]
        query = _EXTENDED_POSITION.match(joined)
        if query:
            end = query.end() - len(self._unfinished)
            self._write(data[:end])
            self._extended_position()
            self._unfinished = b""
            return data[end:]
        if _EXTENDED_START.match(joined) and len(data) <= 12:
            self._write(data)
            self._unfinished = joined
            return b""
        return data

    def _extended_position(self) -> None:
        """Ask the library for the position in the form that it knows, and answer in the other."""
        replies = self._box.replies
        before = len(replies)
        self._write(b"\x1b[6n")
        if bytes(replies[before : before + 2]) == b"\x1b[":
            replies[before + 2 : before + 2] = b"?"

    def _write(self, data: bytes) -> None:
        """Into the library, in pieces small enough that no line is dropped from its history before it was drained."""
        budget = HISTORY_BYTES // (self.cols * 8 + 64) // 3
        pushes = data.count(b"\n") + len(data) // self.cols
        if pushes > budget and len(data) > budget:
            step = max(len(data) * budget // (pushes + pushes // 8), budget)
            for start in range(0, len(data), step):
                self._write(data[start : start + step])
            return
        if self._pushed + pushes > budget:
            self._collect()
        self._pushed += pushes
        lib.ghostty_terminal_vt_write(self._t, data, len(data))

    def resize(self, cols: int, rows: int) -> None:
        self._collect()
        _check(lib.ghostty_terminal_resize(self._t, cols, rows, 8, 16), f"resize to {cols} by {rows}")
        self.cols, self.rows = self._box.cols, self._box.rows = cols, rows

    def take_replies(self) -> bytes:
        replies = self._box.replies
        if not replies:
            return b""
        taken = bytes(replies)
        replies.clear()
        self._set("WRITE_PTY", _on_reply)
        return taken

    def take_bell(self) -> bool:
        if not self._box.bell:
            return False
        self._box.bell = False
        self._set("BELL", _on_bell)
        return True

    # State

    def _get(self, key: int, out: Any) -> Any:
        _check(lib.ghostty_terminal_get(self._t, key, out), "tell its state")
        return out[0]

    def _is(self, mode: int) -> bool:
        self._mode.mode = mode
        return lib.ghostty_terminal_get(self._t, lib.GHOSTTY_TERMINAL_DATA_MODE, self._mode) == 0 and self._mode.value

    def cursor(self) -> Cursor:
        state = self._render()
        cursor, number = self._cursor, self._short
        _check(lib.ghostty_render_state_get(state, lib.GHOSTTY_RENDER_STATE_DATA_CURSOR, cursor), "tell its cursor")
        row = self._get(lib.GHOSTTY_TERMINAL_DATA_CURSOR_Y, number)
        col = self._get(lib.GHOSTTY_TERMINAL_DATA_CURSOR_X, number)
        return Cursor(row, col, bool(cursor.visible), _SHAPES.get(cursor.visual_style, "block"))  # type: ignore[arg-type]

    def title(self) -> str:
        return _text(self._get(lib.GHOSTTY_TERMINAL_DATA_TITLE, self._string))

    def cwd(self) -> str:
        return _text(self._get(lib.GHOSTTY_TERMINAL_DATA_PWD, self._string))

    def alt_screen(self) -> bool:
        shown = self._get(lib.GHOSTTY_TERMINAL_DATA_ACTIVE_SCREEN, self._screen)
        return bool(shown == lib.GHOSTTY_TERMINAL_SCREEN_ALTERNATE)

    def synchronized(self) -> bool:
        return self._is(2026)

    def modes(self) -> Modes:
        return Modes(
            **{name: self._is(number) for name, number in _FLAGS.items()},  # type: ignore[arg-type]
            kitty_flags=self._get(lib.GHOSTTY_TERMINAL_DATA_KITTY_KEYBOARD_FLAGS, ffi.new("uint8_t*")),
            modify_other_keys=2 if self._modifies_other_keys() else 0,
            mouse=next((name for name, number in _MOUSE if self._is(number)), "none"),  # type: ignore[arg-type]
            mouse_encoding=next((name for name, number in _MOUSE_ENCODINGS if self._is(number)), "x10"),  # type: ignore[arg-type]
        )

    def _modifies_other_keys(self) -> bool:
        """The library does not tell this mode, but its key encoder knows it: Ctrl-I is a tab only without it."""
        encoder, event = ffi.new("GhosttyKeyEncoder*"), ffi.new("GhosttyKeyEvent*")
        _check(lib.ghostty_key_encoder_new(ffi.NULL, encoder), "encode keys")
        _check(lib.ghostty_key_event_new(ffi.NULL, event), "encode keys")
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
            return result == 0 and ffi.buffer(out, self._number[0])[:5] == b"\x1b[27;"
        finally:
            lib.ghostty_key_event_free(event[0])
            lib.ghostty_key_encoder_free(encoder[0])

    # Rows

    def _render(self) -> Any:
        """The library's picture of the screen, brought up to date. It lives with the first look at it."""
        native = self._native
        if native.render is None:
            render = ffi.new("GhosttyRenderState*")
            native.iterator, native.cells = (
                ffi.new("GhosttyRenderStateRowIterator*"),
                ffi.new("GhosttyRenderStateRowCells*"),
            )
            _check(lib.ghostty_render_state_new(ffi.NULL, render), "draw")
            _check(lib.ghostty_render_state_row_iterator_new(ffi.NULL, native.iterator), "draw")
            _check(lib.ghostty_render_state_row_cells_new(ffi.NULL, native.cells), "draw")
            native.render = render[0]
        _check(lib.ghostty_render_state_update(native.render, self._t), "draw")
        return native.render

    def dirty(self) -> list[tuple[int, Row]]:
        state, iterator = self._render(), self._native.iterator
        lib.ghostty_render_state_get(state, lib.GHOSTTY_RENDER_STATE_DATA_ROW_ITERATOR, iterator)
        number, raw, view = self._short, self._raw, self._view
        rows = []
        while lib.ghostty_render_state_row_iterator_next_dirty(iterator[0], number):
            lib.ghostty_render_state_row_get(iterator[0], lib.GHOSTTY_RENDER_STATE_ROW_DATA_RAW, raw)
            lib.ghostty_render_state_row_get(iterator[0], lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS_RAW, view)
            rows.append((number[0], self._row(number[0], raw[0], ffi.buffer(view.ptr, view.len * 8))))
        lib.ghostty_render_state_clean(state)
        return rows

    def _row(self, y: int, flags: int, cells: Any) -> Row:
        wrapped = bool(flags >> _WRAP & 1)
        every = _every_cell(len(cells) // 8)
        bits = int.from_bytes(cells, "little")
        if not bits & every.special:  # no wide characters, no clusters, no cells of mere background
            codepoints = (bits >> _CODEPOINT) & every.codepoint
            text = (
                codepoints.to_bytes(len(cells), "little")
                .decode("utf-32-le", "replace")[::2]
                .replace("\0", " ")
                .rstrip(" ")
            )
        else:
            text = self._odd_text(cells)
        return Row(text, self._runs(y, cells) if bits & every.look else (), wrapped)

    def _odd_text(self, cells: Any) -> str:
        pieces = []
        opened = False
        for x, cell in enumerate(memoryview(cells).cast("Q")):
            tag = cell >> _TAG & 3
            if cell & _TAIL:  # the second half of a wide character, or the gap before one that did not fit
                if cell & (1 << _WIDE):
                    pieces.append(" ")
            elif tag == 1:
                opened = opened or self._open_cells()
                pieces.append(self._cluster(x))
            else:
                pieces.append(
                    chr(cell >> _CODEPOINT & _CODEPOINT_BITS)
                    if tag == 0 and cell >> _CODEPOINT & _CODEPOINT_BITS
                    else " "
                )
        return "".join(pieces).rstrip(" ")

    def _open_cells(self) -> bool:
        native = self._native
        key = lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS
        _check(lib.ghostty_render_state_row_get(native.iterator[0], key, native.cells), "read a row")
        return True

    def _cluster(self, x: int) -> str:
        cells = self._native.cells[0]
        lib.ghostty_render_state_row_cells_select(cells, x)
        length = ffi.new("uint32_t*")
        lib.ghostty_render_state_row_cells_get(cells, lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_GRAPHEMES_LEN, length)
        codepoints = ffi.new("uint32_t[]", max(length[0], 1))
        lib.ghostty_render_state_row_cells_get(cells, lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_GRAPHEMES_BUF, codepoints)
        return "".join(map(chr, codepoints[0 : length[0]]))

    def _runs(self, y: int, cells: Any) -> tuple[Run, ...]:
        runs: list[Run] = []
        known: dict[int, _StyleParts] = {}
        opened = False
        start = 0
        for look, group in groupby(memoryview(cells).cast("Q"), _look):
            length = sum(1 for _ in group)
            if look:
                opened = opened or self._open_cells()
                key = look & ~(1 << _LINK)
                if key not in known:
                    known[key] = self._style(start, look)
                self._add_runs(runs, y, start, length, known[key], linked=bool(look >> _LINK & 1))
            start += length
        return tuple(runs)

    def _add_runs(self, runs: list[Run], y: int, start: int, length: int, style: _StyleParts, *, linked: bool) -> None:
        if not linked:
            if any(style):
                runs.append(Run(start, length, *style))
            return
        for link, group in groupby(
            range(start, start + length), lambda x: self._link(x, y)
        ):  # neighbours may lead elsewhere
            columns = list(group)
            runs.append(Run(columns[0], len(columns), *style, link or None))

    def _style(self, x: int, look: int) -> _StyleParts:
        tag = look >> _TAG & 3
        content = look >> _CODEPOINT & 0xFFFFFF
        if tag == 2:
            return None, content & 0xFF, ()
        if tag == 3:
            return None, f"#{content & 0xFF:02x}{content >> 8 & 0xFF:02x}{content >> 16:02x}", ()
        cells = self._native.cells[0]
        lib.ghostty_render_state_row_cells_select(cells, x)
        lib.ghostty_render_state_row_cells_get(cells, lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_STYLE, self._style_out)
        known = bytes(self._style_bytes)
        if known not in _STYLES:
            if len(_STYLES) > _MOST_STYLES:
                _STYLES.clear()
            _STYLES[known] = _style(self._style_out)
        return _STYLES[known]

    def _link(self, x: int, y: int) -> str:
        ref = self._ref(x, y, _ACTIVE)
        lib.ghostty_grid_ref_hyperlink_uri(ref, ffi.NULL, 0, self._number)
        buffer = ffi.new("uint8_t[]", max(self._number[0], 1))
        if lib.ghostty_grid_ref_hyperlink_uri(ref, buffer, len(buffer), self._number):
            return ""
        return bytes(ffi.buffer(buffer, self._number[0])).decode("utf-8", "replace")

    # Lines that left the screen

    def _at(self, x: int, y: int, tag: int) -> Any:
        self._point.tag, self._point.value.x, self._point.value.y = tag, x, y
        return self._point[0]

    def _ref(self, x: int, y: int, tag: int) -> Any:
        _check(_grid_ref(self._t, self._at(x, y, tag), self._found), "find a cell")
        return self._found

    def _track(self, x: int, y: int, tag: int) -> Any:
        out = ffi.new("GhosttyTrackedGridRef*")
        _check(_grid_track(self._t, self._at(x, y, tag), out), "follow a row")
        return out[0]

    def _where(self, ref: Any, tag: int = _SCREEN) -> tuple[int, int] | None:
        out = ffi.new("GhosttyPointCoordinate*")
        return (out.x, out.y) if lib.ghostty_tracked_grid_ref_point(ref, tag, out) == 0 else None

    def drain(self, *, everything: bool) -> Drained | None:
        if everything:
            self._collect()
        drained, self._drained = self._drained, None
        return drained

    def _collect(self) -> None:
        """Take what has left the screen. The alternate screen has no history, and hides that of the main one."""
        if self.alt_screen():
            return
        self._pushed = 0
        if self._later is not None:
            self._move(0, self._later)
            self._later = None
        place = self._where(self._native.refs[0])
        if place is None or (self._has_before and place == self._where(self._native.refs[1])):
            self._drained = Drained(erased=True)  # dropped (RIS, or too much at once), or fallen together (ED 3)
            self._has_before = False
            place = (0, 0)
            self._move(0, place)
        history = self._get(lib.GHOSTTY_TERMINAL_DATA_SCROLLBACK_ROWS, self._number)
        x, y = place
        end = history
        while end > y and history - end < _LONG_LINE and self._wraps(end - 1):
            end -= 1
        unfinished = end < history and (end <= y or self._wraps(end - 1))
        if unfinished and history - y >= _LONG_LINE:
            end = history
        elif end <= y:
            return
        else:
            unfinished = False
        self._hand_over(x, y, end - 1, unfinished=unfinished)
        self._move(1, (0, end - 1))
        self._move(0, (0, end))
        self._has_before = True

    def _hand_over(self, x: int, y: int, last: int, *, unfinished: bool) -> None:
        blank = 0 if unfinished else self._blank_tail(y, last)
        text = self._format(x, y, last - blank, trim=not unfinished) if last - blank >= y else b""
        lines = text.count(b"\n") + (last - blank >= y)
        if last - blank < y:
            text, blank = b"", blank - 1  # only blank lines: joined by as many line feeds as there are between them
            lines = 1
        text += b"\n" * blank
        piece = Drained(text, lines + blank - unfinished, unfinished)
        self._drained = piece if self._drained is None else _joined(self._drained, piece)

    def _wraps(self, y: int) -> bool:
        _check(lib.ghostty_grid_ref_row(self._ref(0, y, _SCREEN), self._raw), "read a row")
        return bool(self._raw[0] >> _WRAP & 1)

    def _blank_tail(self, first: int, last: int) -> int:
        """How many rows at the end are blank: the library's text does not end in line feeds."""
        low, high = first - 1, last  # low is not blank (or before the first), all rows behind high are
        if self._format(0, last, last):
            return 0
        while high - low > 1:
            middle = (low + high) // 2
            if self._format(0, middle, last):
                low = middle
            else:
                high = middle
        if high == low + 1 and high >= first and self._format(0, high, last):
            low = high
        return last - low

    def _format(self, x: int, y: int, last: int, *, trim: bool = True) -> bytes:
        """The rows as text, wrapped ones joined."""
        options, selection = self._options, self._selection
        selection.start = self._ref(x, y, _SCREEN)[0]
        selection.end = self._ref(self.cols - 1, last, _SCREEN)[0]
        options.emit, options.unwrap, options.trim = lib.GHOSTTY_FORMATTER_FORMAT_PLAIN, True, trim
        options.selection = selection
        while True:
            result = lib.ghostty_terminal_selection_format_buf(
                self._t, options[0], self._buffer, len(self._buffer), self._number
            )
            if result != lib.GHOSTTY_OUT_OF_SPACE:
                _check(result, "read its history")
                return bytes(ffi.buffer(self._buffer, self._number[0]))
            self._buffer = ffi.new("uint8_t[]", self._number[0])

    def _move(self, index: int, place: tuple[int, int]) -> None:
        if _grid_move(self._native.refs[index], self._t, self._at(*place, _SCREEN)):
            lib.ghostty_tracked_grid_ref_free(self._native.refs[index])
            self._native.refs[index] = self._track(0, 0, _ACTIVE)

    def returned(self) -> int:
        place = None if self.alt_screen() else self._where(self._native.refs[0], _ACTIVE)
        if place is None:
            return 0
        top = self._get(lib.GHOSTTY_TERMINAL_DATA_SCROLLBACK_ROWS, self._number)
        return sum(not self._wraps(top + y) for y in range(place[1]))

    # Checkpoints

    def encode(self) -> bytes:
        out = ffi.new("uint8_t**")
        if lib.ghostty_snapshot_encode_alloc(self._t, ffi.NULL, out, self._number):
            raise CheckpointError(
                "a checkpoint cannot be made inside of a sequence this long",
                hint=f"make it later, or feed the bytes again (an unfinished sequence may have {UNFINISHED_BYTES} bytes)",
            )
        size = self._number[0]
        snapshot = bytes(ffi.buffer(out[0], size))
        lib.ghostty_free(ffi.NULL, out[0], size)
        place = self._later or self._where(self._native.refs[0])
        return msgspec.msgpack.encode([snapshot, self._unfinished, place, self._has_before])

    @classmethod
    def decode(cls, data: bytes, cols: int, rows: int, /) -> "GhosttyEngine":
        snapshot, unfinished, place, has_before = msgspec.msgpack.decode(
            data, type=tuple[bytes, bytes, tuple[int, int] | None, bool]
        )
        decoder, terminal = ffi.new("GhosttySnapshotDecoder*"), ffi.new("GhosttyTerminal*")
        _check(
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
                _check(lib.ghostty_snapshot_decoder_set(decoder[0], option, value), "set up the decoder")
            if result := lib.ghostty_snapshot_decoder_decode(decoder[0], terminal):
                raise CheckpointError(
                    f"the checkpoint is damaged (libghostty-vt answered {result})", hint="feed the bytes again"
                )
        finally:
            lib.ghostty_snapshot_decoder_free(decoder[0])
        engine = cls(cols, rows, _terminal=terminal[0])
        engine._unfinished = unfinished
        engine._later = place
        engine._has_before = has_before
        if not engine.alt_screen() and place is not None:
            engine._move(0, place)
            engine._move(1, (0, max(place[1] - 1, 0)))
            engine._later = None
        return engine

    def close(self) -> None:
        self._free()
        self._t = ffi.NULL


def _joined(first: Drained, second: Drained) -> Drained:
    if second.erased:
        return second
    between = b"" if first.open or not (first.lines or first.text) else b"\n"
    return Drained(first.text + between + second.text, first.lines + second.lines, second.open, first.erased)


class _Every:
    """Masks over a whole row of cells at once."""

    __slots__ = ("codepoint", "look", "special")

    def __init__(self, cells: int) -> None:
        ones = int.from_bytes(b"\1\0\0\0\0\0\0\0" * cells, "little")
        self.codepoint = ones * _CODEPOINT_BITS
        self.special = ones * (3 << _WIDE | 3 << _TAG)
        self.look = ones * (_LOOK | _BACKGROUND_ONLY)


_MASKS: dict[int, _Every] = {}


def _every_cell(cells: int) -> _Every:
    masks = _MASKS.get(cells)
    if masks is None:
        masks = _MASKS[cells] = _Every(cells)
    return masks


def _look(cell: int) -> int:
    return cell & _LOOK if not cell & _BACKGROUND_ONLY else cell & (_CONTENT | 1 << _LINK)


def _style(style: Any) -> _StyleParts:
    attrs = [name for name in ATTRS if getattr(style, _STYLE_FIELDS[name])]
    if style.underline > 1:
        attrs.insert(attrs.index("underline") + 1, UNDERLINES[min(style.underline, 5) - 2])
    return _color(style.fg_color), _color(style.bg_color), tuple(attrs)


def _color(color: Any) -> ColorRef | None:
    if color.tag == lib.GHOSTTY_STYLE_COLOR_PALETTE:
        return int(color.value.palette)
    if color.tag == lib.GHOSTTY_STYLE_COLOR_RGB:
        rgb = color.value.rgb
        return f"#{rgb.r:02x}{rgb.g:02x}{rgb.b:02x}"
    return None
