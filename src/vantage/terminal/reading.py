"""What a person would have seen: spool text with its carriage returns and backspaces carried out, head and tail of it.

The spool knows nothing of "erase to the end of the line" (`ESC [ K`), which most progress bars use. So the raw bytes
are read again with the erasures kept; when they do not give the spool's own bytes, the spool's text serves alone.
"""

import re
from collections.abc import Callable
from typing import Literal

import msgspec

from vantage.terminal.blocks import Span
from vantage.terminal.spool import PROMPT, Spool

Source = Callable[[int, int], bytes]
"""Reads bytes of a file from an offset up to another."""
Part = Literal["head", "tail", "both"]

# Erasures of a line as characters that no text has (Unicode noncharacters): to its end, to its start, all of it.
_TO_END, _TO_START, _ALL = "\ufdd0", "\ufdd1", "\ufdd2"
_ERASED = {b"": _TO_END, b"0": _TO_END, b"1": _TO_START, b"2": _ALL}
_ERASURE = re.compile(rb"\x1b\[([012]?)K")
_MOVES = re.compile(f"[\r\b{_TO_END}{_TO_START}{_ALL}]")
_PARTS = re.compile(f"([\r\b{_TO_END}{_TO_START}{_ALL}])")
_PROMPT = PROMPT.decode()

_WHOLE = 1 << 20
"""Up to so many bytes are folded before it is decided what to leave out."""


def fold(text: str) -> str:
    """Lines as they stood when the next one began: CR goes back to the start, BS one back, text is written over."""
    if _PROMPT in text:
        text = text.replace(_PROMPT, "")
    if _MOVES.search(text) is None:
        return text
    return "\n".join(map(_fold_line, text.split("\n")))


def _fold_line(line: str) -> str:
    if _MOVES.search(line) is None:
        return line
    cells: list[str] = []
    at = 0
    for part in _PARTS.split(line):
        if part == "\r":
            at = 0
        elif part == "\b":
            at = max(at - 1, 0)
        elif part == _TO_END:
            del cells[at:]
        elif part == _TO_START:
            cells[: at + 1] = " " * min(at + 1, len(cells))
        elif part == _ALL:
            cells.clear()
        elif part:
            cells.extend(" " * (at - len(cells)))
            cells[at : at + len(part)] = part
            at += len(part)
    text = "".join(cells)
    return text if at == len(cells) else text.rstrip(" ")  # blanks behind the cursor were written to erase


class Reading(msgspec.Struct, frozen=True):
    """Text for somebody to read, and which bytes of the spool are not in it."""

    text: str
    omitted: Span | None = None


class _Window(msgspec.Struct, frozen=True):
    """A part of the spool: `spooled` are its bytes, `marked` its text with erasures."""

    start: int
    spooled: bytes
    marked: str

    @property
    def end(self) -> int:
        return self.start + len(self.spooled)


def read_output(
    spool: Source,
    span: Span,
    limit: int,
    part: Part = "both",
    *,
    raw: Source | None = None,
    raw_span: Span | None = None,
) -> Reading:
    """Output of at most `limit` characters: whole when it fits, else its head, its tail or both, cut between lines."""
    if span.size <= _WHOLE:
        window = _window(spool, span, raw, raw_span, from_end=False)
        text = fold(window.marked)
        if len(text) <= limit:
            return Reading(text)
        head = tail = window
    else:
        head = _window(spool, Span(span.start, span.start + _WHOLE), raw, raw_span, from_end=False)
        tail = _window(spool, Span(span.end - _WHOLE, span.end), raw, raw_span, from_end=True)
    shares = {"head": (limit, 0), "tail": (0, limit), "both": (limit - limit // 2, limit // 2)}[part]
    first, start = _head(head, shares[0]) if shares[0] else ("", span.start)
    last, end = _tail(tail, shares[1]) if shares[1] else ("", span.end)
    omitted = Span(start, max(start, end))
    gap = f"… {omitted.size:,} bytes left out (spool {omitted.start}–{omitted.end}) …"
    return Reading("\n".join(piece for piece in (first, gap, last) if piece), omitted)


def _window(spool: Source, span: Span, raw: Source | None, raw_span: Span | None, *, from_end: bool) -> _Window:
    spooled = spool(span.start, span.end)
    if raw is not None and raw_span is not None:
        size = min(raw_span.size, 2 * _WHOLE)
        data = raw(raw_span.end - size, raw_span.end) if from_end else raw(raw_span.start, raw_span.start + size)
        if _ERASURE.search(data) is not None and (window := _with_erasures(spooled, span, data, from_end=from_end)):
            return window
    if from_end:
        spooled = spooled[_first_character(spooled) :]
    return _Window(span.end - len(spooled) if from_end else span.start, spooled, spooled.decode("utf-8", "ignore"))


def _with_erasures(spooled: bytes, span: Span, data: bytes, *, from_end: bool) -> _Window | None:
    """The lines that both the spool and the raw bytes have whole; None when the two disagree."""
    if any(mark.encode() in data for mark in (_TO_END, _TO_START, _ALL)):
        return None
    if from_end:
        data = data[data.find(b"\n") + 1 :]
    plain = Spool()
    ours = plain.add(data) + plain.settle()
    common = min(len(ours), len(spooled))
    marking = Spool()
    marked = marking.add(_ERASURE.sub(lambda found: _ERASED[found[1]].encode(), data)) + marking.settle()
    lines = marked.decode().split("\n")
    if from_end:
        ours, spooled = ours[-common:], spooled[-common:]
        cut = 0 if common == span.size else ours.find(b"\n") + 1
        ours = ours[cut:]
        matches = spooled.endswith(ours)
        start = span.end - len(ours)
        kept = lines[-1 - ours.count(b"\n") :]
    else:
        cut = common if common == span.size else ours.rfind(b"\n", 0, common) + 1
        ours = ours[:cut]
        matches = spooled.startswith(ours)
        start = span.start
        kept = lines[: ours.count(b"\n") + 1]
        if cut != common:
            kept[-1] = ""
    return _Window(start, ours, "\n".join(kept)) if matches else None


def _first_character(data: bytes) -> int:
    """Where the first whole character of UTF-8 begins."""
    at = 0
    while at < min(4, len(data)) and data[at] & 0xC0 == 0x80:
        at += 1
    return at


def _head(window: _Window, limit: int) -> tuple[str, int]:
    """Whole lines from the start, the last one cut when it alone is too long; and where in the spool they end."""
    kept: list[str] = []
    left, at = limit, window.start
    for marked, spooled in zip(window.marked.split("\n"), window.spooled.split(b"\n"), strict=False):
        line = fold(marked)
        if len(line) > left:
            if not kept and _MOVES.search(marked) is None:
                kept.append(line[:left])
                at += len(line[:left].encode())
            break
        kept.append(line)
        left -= len(line) + 1
        at = min(at + len(spooled) + 1, window.end)
    return "\n".join(kept), at


def _tail(window: _Window, limit: int) -> tuple[str, int]:
    """Whole lines up to the end, the first one cut when it alone is too long; and where in the spool they begin."""
    kept: list[str] = []
    left, at = limit, window.end
    pairs = list(zip(window.marked.split("\n"), window.spooled.split(b"\n"), strict=False))
    for place, (marked, spooled) in enumerate(reversed(pairs)):
        line = fold(marked)
        if len(line) > left:
            if not "".join(kept) and _MOVES.search(marked) is None:
                cut = line[len(line) - left :]
                kept.append(cut)
                at -= len(cut.encode()) + (place > 0)
            break
        kept.append(line)
        left -= len(line) + 1
        at -= len(spooled) + (place > 0)
    return "\n".join(reversed(kept)), max(at, window.start)


def tail(data: bytes, lines: int, characters: int = 4000) -> str:
    """The last lines of spool text, for somebody who wonders why a wait timed out."""
    text = fold(data[_first_character(data) :].decode("utf-8", "ignore"))
    return "\n".join(text.rstrip("\n").split("\n")[-lines:])[-characters:]
