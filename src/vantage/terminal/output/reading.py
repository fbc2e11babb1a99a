"""Output as a person saw it: spool text with its carriage returns and backspaces carried out, head and tail of it.

The spool lacks "erase to the end of the line" (`ESC [ K`), which most progress bars use. So the raw bytes are read
again with the erasures kept, and used line by line, as long as they give the spool's own text.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

import msgspec

from vantage.terminal.output.blocks import ByteRange
from vantage.terminal.output.movement import RULE
from vantage.terminal.output.spool import PROMPT, Spool, SpoolState
from vantage.text.chunks import continued, unfinished
from vantage.text.width import cells as clusters
from vantage.text.width import one_cell_each

Source = Callable[[int, int], bytes]
"""Reads bytes of a file from an offset up to another."""
Part = Literal["head", "tail", "both"]

# Erasures of a line as characters that no text has (Unicode noncharacters): to its end, to its start, all of it.
_TO_END, _TO_START, _ALL = _ERASURES = "\ufdd0\ufdd1\ufdd2"
_ERASED = {b"": _TO_END, b"0": _TO_END, b"1": _TO_START, b"2": _ALL, None: _ALL}
# Leaving the alternate screen removes what was drawn there, as far as it is in the line.
_ERASURE = re.compile(rb"\x1b\[([012]?)K|\x1b\[\?(?:47|1047|1049)l")
_NO_ERASURE = dict.fromkeys(map(ord, _ERASURES))
_UNKNOWN = dict.fromkeys(map(ord, _ERASURES), "\ufffd")
_MOVES = re.compile(f"[\r\b{_ERASURES}]")
_PARTS = re.compile(f"([\r\b\t{_ERASURES}])")
_PROMPT = PROMPT.decode()
_TAB = 8

_REST_OF_LINE = 256
"""Bytes after a match in which the end of its line is looked for."""
MIN_FILLER = 8
"""Equal rows of a screen that show nothing and are counted instead."""
_WHOLE = 1 << 20
"""Up to so many bytes are folded before it is decided what to leave out."""


def fold(text: str) -> str:
    """Lines as they were when the next one began: CR returns to the start, BS moves one back, text overwrites."""
    if _PROMPT in text:
        text = text.replace(_PROMPT, "")
    if _MOVES.search(text) is None:
        return text
    return "\n".join(map(_fold_line, text.translate(_UNKNOWN).split("\n")))


def _fold_line(line: str) -> str:
    """A line with its moves and erasures carried out, cell by cell; the cost is that of its length."""
    line = line.lstrip("\r")  # it is there already; fish prints this before every command's output
    if _MOVES.search(line) is None:
        return line
    cells: list[str] = []
    at = blank = (
        0  # the first `blank` cells are erased, whatever is in `cells`: erasing them one by one would be quadratic
    )
    for part in _PARTS.split(line):
        if part == "\r":
            at = 0
        elif part == "\b":
            at = max(at - 1, 0)
        elif part == "\t":
            at += _TAB - at % _TAB
            cells.extend(" " * (at - len(cells)))
        elif part == _TO_START:
            blank = max(blank, min(at + 1, len(cells)))
        elif part in (_TO_END, _ALL):
            _split_wide(cells, at)
            del cells[at:]
            blank = at if part == _ALL else min(blank, at)
        elif part:
            written = list(part) if one_cell_each(part) else _written(part)
            end = at + len(written)
            _split_wide(cells, at)
            _split_wide(cells, end)
            cells[at:end] = written
            if at < blank:
                cells[end:blank] = " " * (blank - end)
                blank = at
            at = end
    text = " " * blank + "".join(cells[blank:])
    kept = at == len(cells) > blank  # blanks after the cursor were written to erase
    return text if kept else text.rstrip(" ")


def _written(text: str) -> list[str]:
    """The content of each cell: a wide character has an empty second one, a character without width joins the last."""
    written: list[str] = []
    for cluster, width in clusters(text):
        if width or not written:
            written += [cluster, *[""] * (width - 1)]
        else:
            written[-1] += cluster
    return written


def _split_wide(cells: list[str], at: int) -> None:
    """Half of a wide character is a blank."""
    if at < len(cells) and not cells[at]:
        cells[at - 1] = cells[at] = " "


class Reading(msgspec.Struct, frozen=True):
    """Output as text, and which bytes of the spool are not in it."""

    text: str
    omitted: ByteRange | None = None

    @property
    def omitted_bytes(self) -> int:
        return self.omitted.size if self.omitted else 0


class Line(NamedTuple):
    text: str
    """As a person saw it, with its line end."""
    size: int
    """In the spool."""
    plain: bool
    """Whether its text is exactly what is in the spool, so that it can be cut."""
    left_out: bool = False
    """Stands for lines that are too many to be returned: neither a head nor a tail goes beyond it."""


def read_output(
    spool: Source,
    span: ByteRange,
    limit: int,
    part: Part = "both",
    *,
    raw: Source | None = None,
    raw_span: ByteRange | None = None,
) -> Reading:
    """Output of at most `limit` characters: whole when it fits, else its head, its tail or both, cut between lines.

    A line is cut only when it is too long for its share. The remark on what is left out is added to the limit.
    """
    if not span.size:
        return Reading("")
    reach = max(_WHOLE, 4 * limit)
    whole = span.size <= reach
    data = spool(span.start, min(span.start + reach, span.end))
    if not whole:
        data = data[: len(data) - unfinished(data)]
    lines = _up_to(limit, _lines(data, _raw_lines(raw, raw_span, 2 * reach, from_end=False)))
    if whole and sum(len(line.text) for line in lines) <= limit:
        return Reading("".join(line.text for line in lines))
    shares = _shares(limit, part)
    first, size = _head(lines, shares[0])
    start = span.start + size
    data = spool(max(span.end - reach, start), span.end)
    data = data[continued(data) :]
    last, size = _tail(_lines(data, _raw_lines(raw, raw_span, 2 * reach, from_end=True), from_end=True), shares[1])
    return _cut(first, last, ByteRange(start, span.end - size))


def read_lines(lines: Sequence[Line], span: ByteRange, limit: int, part: Part = "both") -> Reading:
    """The same for lines that were read already: they come from a range of the spool, and `omitted` is a range of it
    too.
    """
    if sum(len(line.text) for line in lines) <= limit and not any(line.left_out for line in lines):
        return Reading("".join(line.text for line in lines))
    shares = _shares(limit, part)
    first, head = _head(lines, shares[0])
    last, tail = _tail(reversed(lines), shares[1])
    return _cut(first, last, ByteRange(span.start + head, max(span.end - tail, span.start + head)), cut=True)


def plain_lines(data: bytes, limit: int) -> list[Line]:
    """Whole lines of the spool; of lines that are more than `limit` characters from either end, only their size."""
    if len(data) <= 8 * limit:
        return list(_spooled(data))
    head = data.rfind(b"\n", 0, 4 * limit) + 1
    tail = data.find(b"\n", len(data) - 4 * limit) + 1
    if not head or not tail:  # a line that is longer than that
        return list(_spooled(data))
    return [*_spooled(data[:head]), Line("", tail - head, plain=False, left_out=True), *_spooled(data[tail:])]


def _spooled(data: bytes) -> Iterator[Line]:
    lines = data.split(b"\n")
    for number, line in enumerate(lines):
        end = "\n" if number < len(lines) - 1 else ""
        if line or end:
            yield Line(fold(line.decode("utf-8", "replace")) + end, len(line) + len(end), plain=True)


def _shares(limit: int, part: Part) -> tuple[int, int]:
    """How many characters the head and the tail may have."""
    return {"head": (limit, 0), "tail": (0, limit), "both": (limit - limit // 2, limit // 2)}[part]


def _cut(first: str, last: str, omitted: ByteRange, *, cut: bool = False) -> Reading:
    """Head and tail with a remark between them on what is left out; with `cut`, something certainly is."""
    if not (omitted.size or cut):
        return Reading(first + last)
    gap = f"… {omitted.size:,} bytes left out (spool {omitted.start}–{omitted.end}) …"
    above = "\n" if first and not first.endswith("\n") else ""
    below = "\n" if last else ""
    return Reading(first + above + gap + below + last, omitted)


def _raw_lines(raw: Source | None, span: ByteRange | None, most: int, *, from_end: bool) -> list[str]:
    """Lines of the raw output with erasures; none when it has none, or when its text contains the placeholders."""
    if raw is None or span is None:
        return []
    size = min(span.size, most)
    data = raw(span.end - size, span.end) if from_end else raw(span.start, span.start + size)
    if _ERASURE.search(data) is None or any(mark.encode() in data for mark in _ERASURES):
        return []
    # An erasure ends an unfinished sequence, as the ST in its place does.
    text = (
        Spool(SpoolState(rule=RULE))
        .add(_ERASURE.sub(lambda found: b"\x1b\\" + _ERASED[found[1]].encode(), data))
        .decode()
    )
    lines = text.split("\n")
    return lines[1:] if from_end and size < span.size else lines


def _lines(data: bytes, marked: list[str], *, from_end: bool = False) -> Iterator[Line]:
    """The lines of a part of the spool, from its start or its end, with erasures as far as the raw output agrees."""
    spooled = data.decode("utf-8", "replace").split("\n")
    last = len(spooled) - 1
    if from_end:
        spooled.reverse()
        marked.reverse()
    agree = True
    for number, line in enumerate(spooled):
        agree = agree and number < len(marked) and _same(line, marked[number])
        text = _fold_line(marked[number]) if agree else fold(line)
        end = "" if number == (0 if from_end else last) else "\n"
        yield Line(text + end, len(line.encode()) + len(end), text == line)


def _up_to(limit: int, lines: Iterator[Line]) -> list[Line]:
    """The lines with so many characters in all, and the one that exceeds them."""
    kept: list[Line] = []
    for line in lines:
        kept.append(line)
        limit -= len(line.text)
        if limit < 0:
            break
    return kept


def _same(line: str, marked: str) -> bool:
    """Whether a line of the spool equals that of the raw output; the spool lacks a CR before an erasure at its end."""
    return line.rstrip("\r") == marked.translate(_NO_ERASURE).rstrip("\r")


def _head(lines: Iterable[Line], limit: int) -> tuple[str, int]:
    """Lines from the start, and their bytes in the spool."""
    kept, size = _fitting(lines, limit, lambda text, left: text[:left])
    return "".join(kept), size


def _tail(lines: Iterable[Line], limit: int) -> tuple[str, int]:
    """Lines up to the end, which come last one first, and their bytes in the spool."""
    kept, size = _fitting(lines, limit, lambda text, left: text[-left:])
    return "".join(reversed(kept)), size


def _fitting(lines: Iterable[Line], limit: int, cut: Callable[[str, int], str]) -> tuple[list[str], int]:
    kept: list[str] = []
    size, left = 0, limit
    for line in lines:
        if line.left_out:
            break
        if len(line.text) > left:
            if left and line.plain and len(line.text) > limit:
                kept.append(cut(line.text, left))
                size += len(kept[-1].encode())
            break
        kept.append(line.text)
        size += line.size
        left -= len(line.text)
    return kept, size


def around(spool: Source, span: ByteRange, match: ByteRange, limit: int, *, before: int, after: int) -> str:
    """The lines up to and including a match, and those after it, in at most `limit` characters.

    `before` and `after` limit the two parts. The rest of the matched line is read together with its beginning, so that
    its carriage returns are carried out.
    """
    rest = spool(match.end, min(match.end + _REST_OF_LINE, span.end))
    line_end = rest.find(b"\n")
    middle = match.end if line_end < 0 else match.end + line_end + 1
    first = read_output(spool, ByteRange(span.start, middle), min(limit, before), "tail").text
    left = max(limit - len(first), 0)
    return first + read_output(spool, ByteRange(middle, span.end), min(left, after), "head").text


def without_filler(screen: str) -> str:
    """The rows of a screen, where many that show nothing are counted: blank ones, the `~` of vim, an empty column."""
    rows: list[str] = []
    for row, run in groupby(screen.split("\n")):
        count = sum(1 for _ in run)
        if count < MIN_FILLER or any(map(str.isalnum, row)):
            rows += [row] * count
        else:
            rows += [row, f"… {count - 1} more rows like this …"]
    return "\n".join(rows)


def shortened(text: str, limit: int) -> str:
    """A text of at most `limit` characters: its head and its tail, with a mark between them that counts the rest."""
    if len(text) <= limit:
        return text
    tail = limit // 2
    gap = f"… {len(text) - limit:,} characters left out …"
    return "\n".join(filter(None, [text[: limit - tail], gap, text[len(text) - tail :]]))


def tail(data: bytes, lines: int, characters: int = 4000) -> str:
    """The last lines of spool text, for the error of a wait that timed out."""
    text = fold(data[continued(data) :].decode("utf-8", "ignore"))
    return "\n".join(text.rstrip("\n").split("\n")[-lines:])[-characters:]
