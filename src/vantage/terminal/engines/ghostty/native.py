"""The C library of the ghostty engine: what is loaded, and its callbacks."""

from typing import Any

import pyghostty
from pyghostty._ffi import union_fn
from pyghostty.core import init_sized

from vantage.errors import VantageError

__all__ = ["ffi", "init_sized", "lib"]

ffi: Any = pyghostty.ffi
lib: Any = pyghostty.lib

REPLY_BYTES = 1 << 16
"""The most bytes of replies that wait to be taken. A query beyond that is not answered."""
_IDENTITY = b"vantage"

# The same symbol with a struct in place of a union, which cffi cannot pass by value.
grid_ref = union_fn("ghostty_terminal_grid_ref", "GhosttyResult(*)(GhosttyTerminal, GhosttyPointS, GhosttyGridRef*)")


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
    """The size that the callbacks report, and the buffers that they write to.

    It does not refer to the engine, because the library's handle of it would keep the engine alive.
    """

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
