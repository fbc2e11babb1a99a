"""One terminal of the library: reading from it, setting it, and the native memory that must be freed."""

from collections.abc import Iterator
from typing import Any

from vantage.terminal.engines.ghostty import native
from vantage.terminal.engines.ghostty.native import check, ffi, grid_ref, init_sized, lib, text_of

UNFINISHED_BYTES = 1 << 16
"""The longest unfinished sequence that a checkpoint can contain."""
HISTORY_BYTES = 64 << 20
"""Limit of the rows that left the screen and stay in the library. They are nearly always taken long before.

The library drops whole pages of rows, and the pages of a decoded terminal are small. So a full page may contain a row
that has just left the screen.
"""
ACTIVE, SCREEN = lib.GHOSTTY_POINT_TAG_ACTIVE, lib.GHOSTTY_POINT_TAG_SCREEN
_FOREGROUND, _BACKGROUND = (229, 229, 229), (0, 0, 0)
_MAX_LINES = 1 << 40
"""No limit: dropping rows by lines is slow, and `HISTORY_BYTES` limits them."""
_write = lib.ghostty_terminal_vt_write
_read = lib.ghostty_terminal_get
_AT_GROUND = lib.GHOSTTY_TERMINAL_DATA_VT_GROUND


class VtTerminal:
    """The library's terminal and the objects that draw it, freed together and once.

    `native` is the handle that the library's functions take; `replace` puts another one in its place.
    """

    __slots__ = (
        "_begun", "_flag", "_mode", "_number", "_screen", "_short", "_text", "cells", "iterator", "native", "render",
    )  # fmt: skip

    def __init__(self, terminal: Any) -> None:
        self.native = terminal
        self.render: Any = None
        self.iterator: Any = None
        self.cells: Any = None
        self._flag, self._short, self._number = ffi.new("bool*"), ffi.new("uint16_t*"), ffi.new("size_t*")
        self._text = ffi.new("GhosttyString*")
        self._mode = ffi.new("GhosttyTerminalModeConfig*")
        self._screen = ffi.new("GhosttyTerminalScreen*")
        self._begun = ffi.new("uint8_t[]", 256)

    def replace(self, terminal: Any) -> None:
        self.free()
        self.native = terminal

    def free(self) -> None:
        self.free_render()
        if self.native:
            lib.ghostty_terminal_free(self.native)
        self.native = ffi.NULL

    def free_render(self) -> None:
        if self.render:
            lib.ghostty_render_state_row_cells_free(self.cells[0])
            lib.ghostty_render_state_row_iterator_free(self.iterator[0])
            lib.ghostty_render_state_free(self.render)
        self.render = self.iterator = self.cells = None

    # Input

    def write(self, data: bytes) -> None:
        _write(self.native, data, len(data))

    def resize(self, cols: int, rows: int) -> None:
        check(lib.ghostty_terminal_resize(self.native, cols, rows, 8, 16), f"resize to {cols} by {rows}")

    def set(self, option: int, value: Any) -> None:
        check(lib.ghostty_terminal_set(self.native, option, value), f"set option {option}")

    def set_mode(self, mode: int, on: bool) -> None:
        self._mode.mode, self._mode.value = mode, on
        self.set(lib.GHOSTTY_TERMINAL_OPT_MODE, self._mode)

    # State

    def get(self, key: int, out: Any) -> Any:
        check(_read(self.native, key, out), "tell its state")
        return out[0]

    def short(self, key: int) -> int:
        return int(self.get(key, self._short))

    def flag(self, key: int) -> bool:
        return bool(self.get(key, self._flag))

    def text(self, key: int) -> str:
        return text_of(self.get(key, self._text))

    def is_set(self, mode: int) -> bool:
        self._mode.mode = mode
        return bool(_read(self.native, lib.GHOSTTY_TERMINAL_DATA_MODE, self._mode) == 0 and self._mode.value)

    def position(self) -> tuple[int, int]:
        """The cursor's row and column."""
        row = self.short(lib.GHOSTTY_TERMINAL_DATA_CURSOR_Y)
        return row, self.short(lib.GHOSTTY_TERMINAL_DATA_CURSOR_X)

    def alt_screen(self) -> bool:
        shown = self.get(lib.GHOSTTY_TERMINAL_DATA_ACTIVE_SCREEN, self._screen)
        return bool(shown == lib.GHOSTTY_TERMINAL_SCREEN_ALTERNATE)

    def at_ground(self) -> bool:
        """Whether no sequence and no character is open."""
        flag = self._flag
        if result := _read(self.native, _AT_GROUND, flag):
            check(result, "tell its state")
        return bool(flag[0])

    def unfinished(self) -> bytes:
        """The open sequence, without the controls in it; empty if it is longer than the library keeps."""
        length = self._number
        while True:
            result = lib.ghostty_terminal_continuation_buf(self.native, self._begun, len(self._begun), length)
            if result != lib.GHOSTTY_OUT_OF_SPACE:
                return b"" if result else bytes(ffi.buffer(self._begun, length[0]))
            self._begun = ffi.new("uint8_t[]", length[0])


class Cells:
    """Finds a cell of one terminal."""

    __slots__ = ("_found", "_point", "_vt")

    def __init__(self, vt: VtTerminal) -> None:
        self._vt = vt
        self._point = ffi.new("GhosttyPointS*")
        self._found = init_sized("GhosttyGridRef")

    def ref(self, x: int, y: int, tag: int) -> Any:
        """Valid until the next call."""
        point = self._point
        point.tag, point.value.x, point.value.y = tag, x, y
        if result := grid_ref(self._vt.native, point[0], self._found):
            check(result, "find a cell")
        return self._found


def new_terminal(cols: int, rows: int) -> Any:
    """A handle for `VtTerminal`."""
    out = ffi.new("GhosttyTerminal*")
    check(lib.ghostty_terminal_new(ffi.NULL, out, cols, rows), f"make a screen of {cols} by {rows}")
    for option, value in (
        (lib.GHOSTTY_TERMINAL_OPT_SCROLLBACK_MAX_LINES, _MAX_LINES),
        (lib.GHOSTTY_TERMINAL_OPT_SCROLLBACK_MAX_BYTES, HISTORY_BYTES),
        (lib.GHOSTTY_TERMINAL_OPT_CONTINUATION_MAX_BYTES, UNFINISHED_BYTES),
    ):
        check(lib.ghostty_terminal_set(out[0], option, ffi.new("size_t*", value)), f"set option {option}")
    return out[0]


def connect(vt: VtTerminal, mailbox: Any) -> None:
    """Sets the callbacks, which write to the mailbox (a handle of it), and the queries that programs may send."""
    for option, value in _connections(mailbox):
        vt.set(option, value)


def _connections(mailbox: Any) -> Iterator[tuple[int, Any]]:
    yield lib.GHOSTTY_TERMINAL_OPT_USERDATA, mailbox
    yield lib.GHOSTTY_TERMINAL_OPT_SIZE, native.on_size
    yield lib.GHOSTTY_TERMINAL_OPT_XTVERSION, native.on_version
    yield lib.GHOSTTY_TERMINAL_OPT_WRITE_PTY, native.on_reply
    yield lib.GHOSTTY_TERMINAL_OPT_BELL, native.on_bell
    yield lib.GHOSTTY_TERMINAL_OPT_KITTY_IMAGE_STORAGE_LIMIT, ffi.new("uint64_t*", 0)  # no surface draws images
    yield lib.GHOSTTY_TERMINAL_OPT_COLOR_FOREGROUND, ffi.new("GhosttyColorRgb*", _FOREGROUND)
    yield lib.GHOSTTY_TERMINAL_OPT_COLOR_BACKGROUND, ffi.new("GhosttyColorRgb*", _BACKGROUND)
    yield lib.GHOSTTY_TERMINAL_OPT_COLOR_CURSOR, ffi.new("GhosttyColorRgb*", _FOREGROUND)
