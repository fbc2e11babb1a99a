"""Output that moves the cursor, as the lines that a person saw.

A screen draws it, starting from its state when the output began. Lines that were only printed are taken from the spool,
and long stretches of them are not drawn, because what is drawn after them does not depend on them.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from vantage.terminal.output.blocks import ByteRange
from vantage.terminal.output.movement import RULE
from vantage.terminal.output.reading import Line, Source, fold, plain_lines
from vantage.terminal.output.spool import Spool, SpoolState
from vantage.terminal.screen.screen import Screen
from vantage.terminal.screen.transcript import Transcript

_MOVES = re.compile(
    rb"\x1b(?:\[[0-9;:]*[A-JLMPSTXZ@`a-frsu]|\[\?(?:[0-9]*;)*(?:3|6|7|40|47|69|1047|1048|1049)(?:;[0-9;]*)?[hl]"
    rb"|\[4[hl]|\[!p|[78DEMc]|#8)"
)
"""Moves the cursor, or changes other lines of the screen. CR, BS and EL stay in their line: they are folded."""
_STAYS = re.compile(rb"\x1b(?:\[[0-9;]*r|\[(?:4|20)h|\[\?(?:[0-9]*;)*(?:6|69)h|\[\?7l|[()][^B]|H|\[[0-9]*g)|\x0e")
"""May change how later lines are drawn: margins, modes, character sets, tab stops."""
_SEQUENCE = 64
"""Bytes of the longest sequence that is looked for."""
_CHUNK = 1 << 16
"""Two chunks of this size without movement are worth not drawing."""
_ALIGNED = 1 << 18
"""Bytes of the spool, from either end of a drawn part, whose lines are compared with what was drawn."""


def moves(data: bytes, *, folds: bool = False) -> bool:
    """Whether the data move the cursor. Without `folds`, lines that are overwritten many times count too."""
    if b"\x1b" in data and _MOVES.search(data):
        return True
    return not folds and data.count(b"\r") > 2 * data.count(b"\n") + 16


class _Stretch(NamedTuple):
    """A part of the bytes, from the start of a line on."""

    start: int
    end: int
    drawn: bool


class Own(NamedTuple):
    """Output: its bytes without our marks, and the sizes (columns, rows) that the terminal got at offsets in them."""

    data: bytes
    sizes: list[tuple[int, int, int]]


def drawn(screen: Screen, own: Own, spool: Source, span: ByteRange, limit: int, *, goes_on: bool = False) -> list[Line]:
    """The lines of output that is in a range of the spool.

    `screen` is in the state before the output, and is changed. `goes_on` is for output of a program that was there
    before. Of printed lines that are more than `limit` characters from the ends of their stretch, only the size is
    returned.
    """
    stretches = _stretches(own.data, screen.rows_count)
    spans = _spans(own.data, stretches, span)
    if spans is None:
        stretches, spans = [_Stretch(0, len(own.data), drawn=True)], [span]
    lines: list[Line] = []
    for stretch, part in zip(stretches, spans, strict=True):
        if stretch.drawn or screen.alt_screen:
            shown = _transcript(screen, own, stretch, goes_on=goes_on and not stretch.start)
            lines += _aligned(shown, spool, part)
        else:
            lines += plain_lines(spool(*part), limit)
    return lines


def _stretches(data: bytes, rows: int) -> list[_Stretch]:
    """The data cut into parts that must be drawn and parts that need not be.

    A drawn part begins so many lines earlier that they fill the screen, and ends so many lines later that all of it has
    left the screen: the parts between then make no difference.
    """
    found: list[_Stretch] = []
    begun = 0
    for start, end in _unmoved(data):
        left, back = _after_lines(data, start, end, 2 * rows + 2), _before_lines(data, start, end, rows + 2)
        if left is not None and back is not None and left < back:
            found += [_Stretch(begun, left, drawn=True), _Stretch(left, back, drawn=False)]
            begun = back
    if found and _STAYS.search(data):
        return [_Stretch(0, len(data), drawn=True)]
    return [*found, _Stretch(begun, len(data), drawn=True)]


def _unmoved(data: bytes) -> Iterator[tuple[int, int]]:
    """Runs of at least two chunks without movement."""
    begun = None
    for start in range(0, len(data) + _CHUNK, _CHUNK):
        moved = start >= len(data) or moves(data[start : start + _CHUNK + _SEQUENCE])
        if begun is None and not moved:
            begun = start
        elif begun is not None and moved:
            if start - begun >= 2 * _CHUNK:
                yield begun, min(start, len(data))
            begun = None


def _after_lines(data: bytes, start: int, end: int, lines: int) -> int | None:
    """Where the line begins that follows so many line ends."""
    for _ in range(lines):
        start = data.find(b"\r\n", start, end) + 2
        if start < 2:
            return None
    return start


def _before_lines(data: bytes, start: int, end: int, lines: int) -> int | None:
    """Where a line begins that is followed by so many line ends."""
    for _ in range(lines + 1):
        end = data.rfind(b"\r\n", start, end)
        if end < 0:
            return None
    return end + 2


def _spans(data: bytes, stretches: list[_Stretch], spool: ByteRange) -> list[ByteRange] | None:
    """Where each part is in the spool; None when that is not known: the spool has followed another rule."""
    if len(stretches) == 1:
        return [spool]
    spooler, at, spans = Spool(SpoolState(rule=RULE)), spool.start, []
    for stretch in stretches:
        size = len(spooler.add(data[stretch.start : stretch.end]))
        spans.append(ByteRange(at, at + size))
        at += size
    return spans if at + len(spooler.settle()) == spool.end else None


def _transcript(screen: Screen, own: Own, stretch: _Stretch, *, goes_on: bool) -> list[str]:
    """The screen's lines for a part of the data. Sizes from before the part hold in it, too."""
    for at, cols, rows in own.sizes:
        if at <= stretch.start:
            screen.resize(cols, rows)
    transcript, at = Transcript(screen, goes_on=goes_on), stretch.start
    for place, cols, rows in own.sizes:
        if stretch.start < place <= stretch.end:
            transcript.feed(own.data[at:place])
            transcript.resize(cols, rows)
            at = place
    transcript.feed(own.data[at : stretch.end])
    return transcript.lines()


def _aligned(drawn: list[str], spool: Source, span: ByteRange) -> list[Line]:
    """The drawn lines. From either end, lines that were only printed are replaced by those of the spool."""
    head = _split(spool(span.start, min(span.end, span.start + _ALIGNED)))
    tail = _split(spool(max(span.start, span.end - _ALIGNED), span.end))
    if span.size > _ALIGNED:
        head.pop()
        tail.pop(0)
    most = min(len(drawn), len(head))
    same = next((number for number in range(most) if not _same(head[number], drawn[number])), most)
    most = min(len(drawn) - same, len(tail) - (same if span.size <= _ALIGNED else 0))
    last = next((number for number in range(most) if not _same(tail[-1 - number], drawn[-1 - number])), most)
    lines = [_printed(line) for line in head[:same]]
    ending = [_printed(line) for line in tail[len(tail) - last :]]
    middle = drawn[same : len(drawn) - last]
    size = max(span.size - sum(line.size for line in (*lines, *ending)), 0)
    share = size // len(middle) if middle else 0
    lines += [Line(f"{text}\n", share, plain=False) for text in middle]
    lines += ending
    if lines:  # the last one has no line end: it is empty if the output ended its last line
        text = lines[-1].text.removesuffix("\n")
        lines[-1] = lines[-1]._replace(text=text, size=max(lines[-1].size - 1, 0))
    return [line for line in lines if line.text]


def _split(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").split("\n")


def _printed(line: str) -> Line:
    return Line(f"{fold(line)}\n", len(line.encode()) + 1, plain=True)


def _same(spooled: str, drawn: str) -> bool:
    return fold(spooled).expandtabs(8).rstrip(" ") == drawn.rstrip(" ")
