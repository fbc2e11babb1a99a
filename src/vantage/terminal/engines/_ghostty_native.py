"""The C library of the ghostty engine: what is loaded, its callbacks, and the objects that must be freed."""

from typing import Any

import pyghostty
from pyghostty._ffi import union_fn
from pyghostty.core import init_sized

from vantage.errors import VantageError

__all__ = ["ffi", "init_sized", "lib"]

ffi: Any = pyghostty.ffi
lib: Any = pyghostty.lib

REPLY_BYTES = 1 << 16
"""Replies nobody takes are not collected without end: a program that asks more is not answered."""
_IDENTITY = b"vantage"

ACTIVE, SCREEN = lib.GHOSTTY_POINT_TAG_ACTIVE, lib.GHOSTTY_POINT_TAG_SCREEN
# The same symbols with a struct in place of a union, which cffi cannot pass by value.
grid_ref = union_fn("ghostty_terminal_grid_ref", "GhosttyResult(*)(GhosttyTerminal, GhosttyPointS, GhosttyGridRef*)")
grid_track = union_fn(
    "ghostty_terminal_grid_ref_track", "GhosttyResult(*)(GhosttyTerminal, GhosttyPointS, GhosttyTrackedGridRef*)"
)
grid_move = union_fn(
    "ghostty_tracked_grid_ref_set", "GhosttyResult(*)(GhosttyTrackedGridRef, GhosttyTerminal, GhosttyPointS)"
)


def check(result: int, what: str) -> None:
    if result:
        raise VantageError(f"the terminal engine could not {what} (libghostty-vt answered {result})")


def text_of(string: Any) -> str:
    return bytes(ffi.buffer(string.ptr, string.len)).decode("utf-8", "replace") if string.len else ""


def build() -> str:
    text = ffi.new("GhosttyString*")
    lib.ghostty_build_info(lib.GHOSTTY_BUILD_INFO_VERSION_STRING, text)
    return f"pyghostty {pyghostty.__version__}, libghostty-vt {text_of(text)}"


class Mailbox:
    """What the library's callbacks write to. Not the engine itself, so that nothing keeps that alive."""

    __slots__ = ("bell", "cols", "replies", "rows")

    def __init__(self, cols: int, rows: int) -> None:
        self.cols, self.rows = cols, rows
        self.replies = bytearray()
        self.bell = False


@ffi.callback("GhosttyTerminalWritePtyFn")  # type: ignore[untyped-decorator]
def on_reply(terminal: Any, box: Any, data: Any, length: int) -> None:
    replies = ffi.from_handle(box).replies
    if len(replies) + length <= REPLY_BYTES:
        replies += ffi.buffer(data, length)
    else:
        lib.ghostty_terminal_set(terminal, lib.GHOSTTY_TERMINAL_OPT_WRITE_PTY, ffi.NULL)


@ffi.callback("GhosttyTerminalBellFn")  # type: ignore[untyped-decorator]
def on_bell(terminal: Any, box: Any) -> None:
    ffi.from_handle(box).bell = True
    lib.ghostty_terminal_set(terminal, lib.GHOSTTY_TERMINAL_OPT_BELL, ffi.NULL)  # once rung, a flood costs nothing


@ffi.callback("GhosttyTerminalSizeFn")  # type: ignore[untyped-decorator]
def on_size(_terminal: Any, box: Any, size: Any) -> bool:
    mailbox = ffi.from_handle(box)
    size.columns, size.rows, size.cell_width, size.cell_height = mailbox.cols, mailbox.rows, 8, 16
    return True


_NAME = ffi.new("GhosttyString*", {"ptr": ffi.from_buffer("uint8_t[]", _IDENTITY), "len": len(_IDENTITY)})


@ffi.callback("GhosttyTerminalXtversionFn")  # type: ignore[untyped-decorator]
def on_version(_terminal: Any, _box: Any) -> Any:
    return _NAME[0]


class Native:
    """The library's objects of one engine, freed together and once."""

    __slots__ = ("cells", "iterator", "refs", "render", "terminal")

    def __init__(self, terminal: Any) -> None:
        self.terminal = terminal
        self.refs: list[Any] = []
        """Places that move with their rows."""
        self.render: Any = None
        self.iterator: Any = None
        self.cells: Any = None

    def free(self) -> None:
        for ref in self.refs:
            lib.ghostty_tracked_grid_ref_free(ref)
        self.refs = []
        self.free_render()
        if self.terminal:
            lib.ghostty_terminal_free(self.terminal)
        self.terminal = None

    def free_render(self) -> None:
        if self.render:
            lib.ghostty_render_state_row_cells_free(self.cells[0])
            lib.ghostty_render_state_row_iterator_free(self.iterator[0])
            lib.ghostty_render_state_free(self.render)
        self.render = self.iterator = self.cells = None


class Cells:
    """How to name a cell of one terminal, and to learn where a followed one is now."""

    __slots__ = ("_found", "_point", "_where", "terminal")

    def __init__(self, terminal: Any) -> None:
        self.terminal = terminal
        self._point = ffi.new("GhosttyPointS*")
        self._found = init_sized("GhosttyGridRef")
        self._where = ffi.new("GhosttyPointCoordinate*")

    def _at(self, x: int, y: int, tag: int) -> Any:
        point = self._point
        point.tag, point.value.x, point.value.y = tag, x, y
        return point[0]

    def ref(self, x: int, y: int, tag: int) -> Any:
        """Good until the next call."""
        check(grid_ref(self.terminal, self._at(x, y, tag), self._found), "find a cell")
        return self._found

    def track(self, x: int, y: int, tag: int) -> Any:
        out = ffi.new("GhosttyTrackedGridRef*")
        check(grid_track(self.terminal, self._at(x, y, tag), out), "follow a row")
        return out[0]

    def move(self, ref: Any, x: int, y: int) -> bool:
        return bool(grid_move(ref, self.terminal, self._at(x, y, SCREEN)) == 0)

    def where(self, ref: Any, tag: int = SCREEN) -> tuple[int, int] | None:
        """Column and row, or nothing when the row is gone (or, for `ACTIVE`, not on the screen)."""
        out = self._where
        return (out.x, out.y) if lib.ghostty_tracked_grid_ref_point(ref, tag, out) == 0 else None
