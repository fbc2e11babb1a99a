"""Which sequences need more than the library does with them, and what each of them needs."""

import re
from enum import StrEnum

STOP = re.compile(
    rb"\x1b[\x00-\x17\x19\x1c-\x1f]*+(?:(?P<escape>[7c])|\[(?P<body>[^@-~\x18\x1a\x1b]*+)(?P<final>[Jbhlnprs]))"
)
"""A sequence that may need more, up to its last byte.

ESC begins a sequence anywhere, and controls inside a sequence are executed at once and do not end it. So the matched
bytes are always one sequence.
"""
NO_COLOUR = re.compile(rb"\x1b(?!\[[0-9;:]*+m)")
"""The beginning of any sequence other than SGR. Most output has none, and is written without further checks."""
SCROLLS = re.compile(rb"\x1b\[[0-9;]*+([SbJ])")
"""A sequence that pushes rows out of the screen."""
ALTERNATE = frozenset({47, 1047, 1049})
"""Modes that show the alternate screen."""
SAVES = frozenset({1048, 1049})
"""Modes that save the cursor when they are set."""
CAN = b"\x18"
"""Cancels the sequence that was begun."""

_HISTORY = re.compile(rb"\??0*3;?")
_COMPLETE = re.compile(rb"\??0*22;?")
_CLEAN = re.compile(rb"[ -?]*")
_BEGUN = re.compile(rb"\x1b[\x00-\x17\x19\x1c-\x1f\x80-\xff]*+(?:\[[^@-~\x18\x1a\x1b]*+)?")
"""An escape or control sequence without its last byte."""
_BEYOND_ASCII = bytes(range(0x80, 0x100))
_COLUMNS = frozenset({3, 40})
_MAX_PARAMETERS = 24
"""The library ignores a sequence with more parameters."""


class Action(StrEnum):
    """The treatment of a sequence."""

    ASK = "ask"
    """There are other bytes in it: only the library knows what it is."""
    START_OVER = "start over"
    ERASE_HISTORY = "erase history"
    SCROLL_AWAY = "scroll away"
    HIDE = "hide"
    SWITCH_COLUMNS = "switch columns"
    SOFT_RESET = "soft reset"
    REPEAT = "repeat"
    ANSWER_POSITION = "answer position"
    SAVE_CURSOR = "save cursor"


_ESCAPES = {b"c": Action.START_OVER, b"7": Action.SAVE_CURSOR}


def action_of(stop: "re.Match[bytes]") -> Action | None:
    """The treatment of a match of `STOP`; none for most of them."""
    if stop["escape"]:
        return _ESCAPES[stop["escape"]]
    body, final = stop["body"], stop["final"]
    if not _CLEAN.fullmatch(body):
        return Action.ASK
    if final == b"b":
        return Action.REPEAT if len(body) > 3 and body.isdigit() else None
    if final == b"J":
        if _HISTORY.fullmatch(body):
            return Action.ERASE_HISTORY
        return Action.SCROLL_AWAY if _COMPLETE.fullmatch(body) else None
    if final == b"p":
        return Action.SOFT_RESET if body == b"!" else None
    if final == b"s":
        return None if body else Action.SAVE_CURSOR
    if body[:1] != b"?":
        return None
    if final == b"n":
        return Action.ANSWER_POSITION if body[1:].lstrip(b"0") == b"6" else None
    if final == b"r":
        return Action.HIDE
    modes = modes_of(body)
    if not _COLUMNS.isdisjoint(modes):
        return Action.SWITCH_COLUMNS
    if final != b"h":
        return None
    if not ALTERNATE.isdisjoint(modes):
        return Action.HIDE
    return None if SAVES.isdisjoint(modes) else Action.SAVE_CURSOR


def modes_of(body: bytes) -> list[int]:
    """`?1;25` as numbers. A body that is no list of numbers sets no mode."""
    parts = body[1:].split(b";")
    if any(part and not part.isdigit() for part in parts) or len(parts) > _MAX_PARAMETERS:
        return []
    return [int(part.lstrip(b"0")[:6] or b"0") for part in parts]


def without_characters(begun: bytes, data: bytes) -> bytes:
    """The data after the beginning of a sequence, without non-ASCII characters inside sequences.

    The library would read their bytes as C1 controls. A string (a title, for example) may contain them.
    """
    whole = _BEGUN.sub(lambda sequence: sequence[0].translate(None, _BEYOND_ASCII), begun + data)
    return whole[len(begun) :]
