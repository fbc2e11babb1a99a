"""Lines of spool text that contain a text or match an expression, each with its number and the lines around it.

The text is fed piece by piece; the same lines are found however it is cut, and memory holds one line and the context at
most. A line is matched as it reads, with carriage returns carried out. A piece without any is searched as a whole, and
only lines that are returned are cut out of it. A line longer than `MAX_LINE` is searched in parts that overlap.
"""

import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from vantage.terminal.output.match import compile_pattern
from vantage.terminal.output.reading import fold

MAX_LINE = 1 << 20
"""Bytes of a line that are searched at once."""
MAX_TEXT = 500
"""Characters of a line that are shown: around the match, with a mark where it was cut."""
_OVERLAP = 1 << 12
_BEFORE_HIT = 100
_MOVES = (b"\r", b"\b", b"\x1e")
"""Bytes that make a line read differently than it is stored."""
_OF_WHOLE_TEXT = re.compile(r"\\[AzZ]|\(\?")
"""Parts of an expression that mean something else in a text of several lines."""


class Line(NamedTuple):
    number: int
    """From 1."""
    offset: int
    """Where it begins in the spool."""
    text: str
    hit: bool


class _Place(NamedTuple):
    """A line in a piece, from `start` up to its end without the LF."""

    number: int
    start: int
    end: int


class Needle:
    """What to search for: a text, or with `regex` an RE2 expression."""

    def __init__(self, query: str, *, regex: bool = False) -> None:
        self._pattern = compile_pattern(query) if regex else None
        self._text = query.encode("utf-8", "replace")
        self.by_line = regex and _OF_WHOLE_TEXT.search(query) is not None
        """Whether each line must be searched separately."""
        self._signs = frozenset(query.replace(" ", "").encode("utf-8", "replace")) if not regex else frozenset()
        self.overlap = _OVERLAP if regex else min(len(self._text) - 1, MAX_LINE // 2)

    def is_in(self, line: bytes) -> bool:
        """Whether a line as it reads contains it."""
        if not _moves(line):
            return self.find(line) >= 0
        # moves write characters over each other and make blanks, but no other characters
        return all(sign in line for sign in self._signs) and self.find(_seen(line).encode()) >= 0

    def find(self, data: bytes, start: int = 0) -> int:
        """The offset of the first match, or -1. A match that continues in the next line does not count."""
        if self._pattern is None:
            return data.find(self._text, start)
        found = self._pattern.search(data, start)
        return -1 if found is None else int(found.start())


class LineSearch:
    """The lines with a match, with `context` lines around them; the text begins at `offset`."""

    def __init__(self, needle: Needle, *, offset: int = 0, context: int = 0) -> None:
        self._needle = needle
        self._context = context
        self._offset = offset
        self._number = 1
        self._rest = b""
        self._before: deque[Line] = deque(maxlen=context)
        self._due = 0
        """Context lines that are still to come after the last match."""
        self._returned = 0
        """The number of the last line that was returned."""
        self._last_hit = 0
        self.counting = False
        """Whether matches are returned without their texts and without context, because they will not be shown."""

    def feed(self, data: bytes, *, last: bool = False) -> list[Line]:
        """The lines that `data` completes, in order, each once. The last data end the last line."""
        data = self._rest + data
        end = len(data) if last else data.rfind(b"\n") + 1
        keep = end
        if not end and len(data) > MAX_LINE:
            end = len(data)
            keep = end - self._needle.overlap
        self._rest = data[keep:]
        piece = data[:end]
        found = list(self._search(piece)) if piece else []
        self._number += piece.count(b"\n")
        self._offset += keep
        return found

    def _search(self, piece: bytes) -> Iterator[Line]:
        here = _Place(self._number, 0, -1)  # the lines after it were not returned
        for hit in self._hits(piece):
            if self.counting:
                if hit.number > self._last_hit:
                    self._last_hit = self._returned = hit.number
                    yield Line(hit.number, self._offset + hit.start, "", hit=True)
                continue
            yield from self._after(piece, here, hit.start)
            yield from self._lines_before(piece, hit)
            if hit.number > self._last_hit:  # otherwise: another part of a very long line
                self._last_hit = hit.number
                yield self._line(piece, hit, hit=True)
            here, self._due = hit, self._context
        if self.counting:
            return
        yield from self._after(piece, here, len(piece))
        self._keep_context(piece)

    def _hits(self, piece: bytes) -> Iterator[_Place]:
        if self._needle.by_line or _moves(piece):
            for place in _places(piece, 0, self._number):
                if self._needle.is_in(piece[place.start : place.end]):
                    yield place
            return
        at = counted = 0
        number = self._number
        while at < len(piece) and (found := self._needle.find(piece, at)) >= 0:
            start = piece.rfind(b"\n", 0, found) + 1
            if start >= len(piece):
                return
            end = _end(piece, start)
            number += piece.count(b"\n", counted, start)
            counted, at = start, end + 1
            if self._needle.find(piece[start:end]) >= 0:
                yield _Place(number, start, end)

    # Context

    def _after(self, piece: bytes, here: _Place, limit: int) -> Iterator[Line]:
        """Lines after the last match, up to the next."""
        if not self._due:
            return
        number = here.number + (here.end >= 0)
        for place in _places(piece, here.end + 1, number):
            if place.start >= limit or not self._due:
                return
            if place.number > self._returned:
                self._due -= 1
                yield self._line(piece, place)

    def _lines_before(self, piece: bytes, hit: _Place) -> Iterator[Line]:
        """Lines before a match that were not returned: of this piece, and of the one before it."""
        found: deque[_Place] = deque()
        at, number = hit.start, hit.number
        while at and len(found) < self._context and number - 1 > self._returned:
            end = at - 1
            at, number = piece.rfind(b"\n", 0, end) + 1, number - 1
            found.appendleft(_Place(number, at, end))
        wanted = self._context - len(found)
        kept = [line for line in self._before if self._returned < line.number < number] if not at else []
        for line in kept[len(kept) - min(wanted, len(kept)) :]:
            self._returned = line.number
            yield line
        for place in found:
            yield self._line(piece, place)

    def _keep_context(self, piece: bytes) -> None:
        at, number = len(piece), self._number + piece.count(b"\n")
        if piece.endswith(b"\n"):
            at -= 1
            number -= 1
        found: deque[_Place] = deque()
        end = at
        while end >= 0 and len(found) < self._context:
            start = piece.rfind(b"\n", 0, end) + 1
            found.appendleft(_Place(number, start, end))
            end, number = start - 1, number - 1
        self._before.extend(self._shown(piece, place) for place in found)

    def _line(self, piece: bytes, place: _Place, *, hit: bool = False) -> Line:
        self._returned = place.number
        return self._shown(piece, place, hit=hit)

    def _shown(self, piece: bytes, place: _Place, *, hit: bool = False) -> Line:
        text = _seen(piece[place.start : place.end])
        if len(text) > MAX_TEXT:
            text = _cut(text, self._needle.find(text.encode()) if hit else 0)
        return Line(place.number, self._offset + place.start, text, hit)


class Excerpt:
    """Lines in the form of `grep -n -C`, at most `limit` characters: the first ones, or with `tail` the last ones."""

    def __init__(self, limit: int, *, tail: bool = False) -> None:
        self._limit = limit
        self._tail = tail
        self._lines: deque[Line] = deque()
        self._size = 0
        self.full = False
        """No further line is shown."""
        self.found = 0
        """Lines with a match, shown or not."""

    def add(self, line: Line) -> None:
        self.found += line.hit
        self.full = self.full or (not self._tail and self._size + _length(line) > self._limit)
        if self.full:
            return
        self._lines.append(line)
        self._size += _length(line)
        while self._size > self._limit:
            self._size -= _length(self._lines.popleft())

    @property
    def omitted(self) -> int:
        """Lines with a match that are not shown."""
        return self.found - sum(line.hit for line in self._lines)

    def text(self) -> str:
        """`12-before`, `13:the line`, `--` between parts. The number of omitted matches is added to the limit."""
        rows: list[str] = []
        before = 0
        for line in self._lines:
            if before and line.number > before + 1:
                rows.append("--")
            rows.append(f"{line.number}{':' if line.hit else '-'}{line.text}")
            before = line.number
        if self.omitted:
            rows.insert(0 if self._tail else len(rows), f"… {self.omitted:,} more lines have it …")
        return "".join(f"{row}\n" for row in rows)


def _length(line: Line) -> int:
    return len(line.text) + len(str(line.number)) + len(":\n--\n")


def _places(piece: bytes, at: int, number: int) -> Iterator[_Place]:
    """The lines from an offset on, the first of which has this number."""
    while at < len(piece):
        end = _end(piece, at)
        yield _Place(number, at, end)
        at, number = end + 1, number + 1


def _end(piece: bytes, start: int) -> int:
    """The end of the line that begins at `start`."""
    end = piece.find(b"\n", start)
    return end if end >= 0 else len(piece)


def _moves(data: bytes) -> bool:
    return any(sign in data for sign in _MOVES)


def _seen(line: bytes) -> str:
    return fold(line.decode("utf-8", "replace"))


def _cut(text: str, at: int) -> str:
    """A part of a long line, from a little before byte `at`."""
    start = max(len(text.encode()[:at].decode("utf-8", "ignore")) - _BEFORE_HIT, 0)
    start = max(min(start, len(text) - MAX_TEXT), 0)
    end = start + MAX_TEXT
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")
