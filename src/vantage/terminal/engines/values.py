"""The parts of a screen: rows with runs of style, the cursor, the modes that a program has set. Values only."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from vantage.errors import VantageError

ColorRef = int | str
"""A palette number from 0 to 255, or `#rrggbb`."""

ATTRS = ("bold", "dim", "italic", "underline", "blink", "reverse", "hidden", "strike", "overline")
"""Names of a run's attributes, in the order in which they are listed. What kind of underline it is stands behind
`underline`, one of `UNDERLINES`, unless it is a single line."""
UNDERLINES = ("double", "curly", "dotted", "dashed")


class CheckpointError(VantageError):
    """The engine cannot make or read a checkpoint. The way out is always to feed the bytes again."""

    code = "checkpoint"
    status = 409


class Run(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Neighbouring cells of a row with the same style, which is not the default one."""

    start: Annotated[int, Meta(description="The first cell, from 0")]
    len: Annotated[int, Meta(description="How many cells")]
    fg: Annotated[ColorRef | None, Meta(description="Foreground: a number of the palette, or #rrggbb")] = None
    bg: Annotated[ColorRef | None, Meta(description="Background: a number of the palette, or #rrggbb")] = None
    attrs: Annotated[tuple[str, ...], Meta(description="bold, italic, underline, …")] = ()
    link: Annotated[
        str | None, Meta(description="Where the text leads (OSC 8), as the program gave it: the scheme is not checked")
    ] = None


class Row(msgspec.Struct, frozen=True, gc=False):
    text: str
    """Without the blanks at its end. A wide character is one character and two cells."""
    runs: tuple[Run, ...] = ()
    wrapped: bool = False
    """Whether the next row continues this one."""


BLANK = Row("")


class Cursor(msgspec.Struct, frozen=True, gc=False):
    row: Annotated[int, Meta(description="Row, from 0")] = 0
    col: Annotated[
        int, Meta(description="The column it stands on, from 0; at the end of a full row, that of its last character")
    ] = 0
    visible: Annotated[bool, Meta(description="Whether the cursor is shown")] = True
    shape: Annotated[Literal["block", "underline", "bar"], Meta(description="How the cursor looks")] = "block"


class Modes(msgspec.Struct, frozen=True, gc=False):
    """What a program has asked of keyboard, mouse and display: everything that encoding input depends on."""

    application_cursor: bool = False
    """DECCKM, 1"""
    application_keypad: bool = False
    """DECNKM, 66, or ESC ="""
    backarrow_sends_backspace: bool = False
    """DECBKM, 67"""
    newline: bool = False
    """LNM, 20: Enter sends CR LF"""
    bracketed_paste: bool = False
    """2004"""
    focus_events: bool = False
    """1004"""
    synchronized: bool = False
    """2026"""
    modify_other_keys: int = 0
    """0 or 2"""
    kitty_flags: int = 0
    mouse: Literal["none", "x10", "normal", "button", "any"] = "none"
    """9, 1000, 1002, 1003: which events are reported"""
    mouse_encoding: Literal["x10", "utf8", "sgr", "urxvt", "sgr_pixels"] = "x10"
    """default, 1005, 1006, 1015, 1016: how they are encoded"""
    reverse_video: bool = False
    """DECSCNM, 5"""


class Drained(msgspec.Struct, frozen=True, gc=False):
    """Logical lines that left the screen at its top."""

    text: bytes = b""
    """UTF-8, lines separated by LF."""
    lines: int = 0
    """How many lines; one that is still open at the end is not counted."""
    open: bool = False
    """The last line is open: the next drain continues it."""
    erased: bool = False
    """Everything that was drained before was then erased by the program (ED 3, RIS), before these lines came."""
    skipped: int = 0
    """Lines that were erased before they could be drained: their numbers are used up."""
