"""What a screen need not be shown of a flood: plain lines that scroll through it and out of what it remembers.

Behind more plain lines than screen and scrollback hold, nothing on the screen depends on what came before them but the
number of lines that have left it. So a flood costs a screen its last lines only.
"""

import re
from typing import NamedTuple

LEAST = 1 << 15
"""Bytes below which it is not worth looking."""
_PLAIN = bytes([0x09, 0x0A, 0x0D, *range(0x20, 0x7F), *range(0x80, 0x100)])
_SPECIAL = re.compile(rb"[^\t\n\r\x20-\x7e\x80-\xff]|\xc2[\x80-\x9f]")
_MARGINS = re.compile(rb"\x1b(?:\[([0-9;]*)r|\[\?([0-9;]*)([hl])|(c)|\[(!)p)")


class Flood(NamedTuple):
    """Bytes from `start` to `end` that may be passed over; they have `lines` line ends, the last one at their end."""

    start: int
    end: int
    lines: int


def passable(data: bytes, keep: int) -> Flood | None:
    """What may be passed over when the last `keep` lines are shown; None when it is not worth it."""
    if len(data) < LEAST:
        return None
    start = data.rfind(b"\x1b") + 1
    if start:
        start = data.find(b"\n", start) + 1  # behind the line of the last sequence, wherever that ends
        if not start:
            return None
    plain = data[start:]
    if plain.translate(None, _PLAIN) or (b"\xc2" in plain and _SPECIAL.search(plain)):
        return None
    end = len(plain)
    for _ in range(keep):
        end = plain.rfind(b"\n", 0, end)
        if end < 0:
            return None
    end = _line_start(plain, end)
    head = plain[:end]
    return Flood(start, start + end, head.count(b"\n")) if end > LEAST // 2 else None


def _line_start(plain: bytes, end: int) -> int:
    """Behind the last CRLF before `end` that an ASCII character follows: there the cursor is surely in column 0."""
    while (end := plain.rfind(b"\r\n", 0, end)) > 0:
        if 0x20 <= plain[end + 2] < 0x7F:
            return end + 2
    return 0


def margins_set(data: bytes, before: bool) -> bool:
    """Whether the program scrolls within margins of its own after this: then lines do not simply leave at the top."""
    for found in _MARGINS.finditer(data):
        if found[4] or found[5]:
            before = False
        elif found[3]:
            before = before or (found[3] == b"h" and b"69" in found[2].split(b";"))
        else:
            before = bool(found[1].strip(b";"))
    return before
