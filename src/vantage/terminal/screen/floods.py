"""Which part of a flood a screen can skip: plain lines that scroll through it and out of what it remembers.

After more plain lines than screen and scrollback hold, nothing on the screen depends on earlier output but the number
of lines that have left it. So only the last lines of a flood are drawn.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

LEAST = 1 << 15
"""Bytes below which checking is not worth it."""
_MARGINS = re.compile(rb"\x1b(?:\[([0-9;]*)r|\[\?([0-9;]*)([hl])|(c)|\[(!)p)")


_OPEN = re.compile(rb"\x1b(?:\[[?!]?[0-9;]{0,64})?")


class Flood(NamedTuple):
    """The output before, how many lines are skipped, and the output after them, from the start of a line on."""

    before: bytes
    lines: int
    after: bytes


def passable(plain: Sequence[bytes], keep: int) -> Flood | None:
    """Plain pieces of output of which the last `keep` lines must be drawn; None when skipping is not worth it."""
    if sum(map(len, plain)) < LEAST:
        return None
    first = plain[0].find(b"\n") + 1  # the line that was begun before is shown as it is
    if not first:
        return None
    lines, index = 0, len(plain)
    while lines <= keep:
        index -= 1
        if index < 0:
            return None
        lines += plain[index].count(b"\n")
    piece = plain[index]
    cut = _line_start(piece, _cut(piece, lines - keep), first if index == 0 else 0)
    passed = sum(one.count(b"\n") for one in plain[:index]) + piece.count(b"\n", 0, cut) - 1  # without the first line's
    if cut == 0 or passed <= 1:
        return None
    return Flood(plain[0][:first], passed, piece[cut:] + b"".join(plain[index + 1 :]))


def _cut(piece: bytes, spare: int) -> int:
    """A place in a piece before which at most `spare` of its lines end, and about as many: found in a few steps."""
    size = len(piece)
    while size and piece.count(b"\n", 0, size) > spare:
        size = size * 3 // 4
    return size


def _line_start(plain: bytes, end: int, least: int) -> int:
    """After the last CRLF before `end` that is followed by a character that stays in its line; 0 when there is none.

    There the cursor is in column 0. A combining mark would join a character of the line before, a backspace may move
    back to it.
    """
    while (end := plain.rfind(b"\r\n", least, end)) > 0:
        if end + 2 < len(plain) and _stays(plain[end + 2 : end + 6]):
            return end + 2
    return 0


def _stays(following: bytes) -> bool:
    first = following[0]
    if first < 0x80:
        return first >= 0x20 or first in b"\r\n\t"
    return following.decode("utf-8", "replace")[0].isalnum()


def open_sequence(data: bytes) -> bytes:
    """The beginning of a sequence at the end of the data that may set margins."""
    last = data.rfind(b"\x1b")
    return data[last:] if last >= 0 and _OPEN.fullmatch(data, last) else b""


def margins_set(data: bytes, before: bool) -> bool:
    """Whether the program scrolls within margins after this: then lines do not simply leave at the top."""
    for found in _MARGINS.finditer(data):
        if found[4] or found[5]:
            before = False
        elif found[3]:
            before = before or (found[3] == b"h" and b"69" in found[2].split(b";"))
        else:
            before = bool(found[1].strip(b";"))
    return before
