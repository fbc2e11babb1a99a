"""Lines that have left the screen: logical lines with permanent numbers.

A line that was wrapped is one line, so its number survives a resize. Numbers are never reused: `first` is that of the
oldest kept line, and the oldest lines are dropped when there are more than `lines` of them, or more than `size` bytes.
"""

import re
from collections import deque

import msgspec

from vantage.terminal.engines.values import Drained

BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""These characters take no cell and a terminal ignores them; a browser would reorder the line. So they are removed."""
LONGEST = 1 << 20
"""Bytes after which a line without an end is cut into several, so that no single line takes unbounded memory."""


class HistoryState(msgspec.Struct, frozen=True, array_like=True):
    first: int
    text: bytes
    """The lines, each with its LF."""
    open: bytes


class History:
    __slots__ = ("_blocks", "_bytes", "_max_bytes", "_max_lines", "_open", "first", "total")

    def __init__(self, lines: int, size: int) -> None:
        self._max_lines, self._max_bytes = lines, size
        self._blocks: deque[tuple[bytes, int]] = deque()
        """Lines in blocks as they were drained, each line with its LF, and how many they are."""
        self._bytes = 0
        self._open = b""
        self.first = 0
        self.total = 0
        """The number of the next line, which is how many there ever were."""

    def take(self, drained: Drained) -> None:
        if drained.erased:
            self._blocks.clear()
            self.total += drained.skipped
            self._bytes, self._open, self.first = 0, b"", self.total
        text = self._open + drained.text
        self._open = b""
        if drained.open:
            whole, _, self._open = text.rpartition(b"\n")
            self._add(whole + b"\n" if drained.lines else b"", drained.lines)
            if len(self._open) > LONGEST:
                self._add(self._open + b"\n", 1)
                self._open = b""
        elif drained.lines:
            self._add(text + b"\n", drained.lines)

    @property
    def open(self) -> str:
        """The part of a line that left the screen before the rest of it."""
        return BIDI.sub("", self._open.decode("utf-8", "replace"))

    def pass_over(self, lines: int) -> None:
        """Numbers lines without keeping them. The lines kept before them are dropped before the next read."""
        self.total += lines
        self.first += lines

    def _add(self, block: bytes, lines: int) -> None:
        if lines:
            self._blocks.append((block, lines))
            self._bytes += len(block)
            self.total += lines
        while self._blocks:  # whole blocks that are beyond the limits; `trim` drops the rest before a read
            oldest, count = self._blocks[0]
            if self.total - self.first - count < self._max_lines and self._bytes - len(oldest) < self._max_bytes:
                break
            self._blocks.popleft()
            self.first += count
            self._bytes -= len(oldest)

    def trim(self) -> None:
        """Drops exactly the lines that are too many, however they came in blocks."""
        while self._bytes > self._max_bytes or self.total - self.first > self._max_lines:
            block, count = self._blocks.popleft()
            cut = 0
            lines = self.total - self.first - self._max_lines
            if lines > 0:
                cut = len(block) - len(block.split(b"\n", lines)[-1]) if lines < count else len(block)
            over = self._bytes - self._max_bytes
            if over > cut:
                cut = block.find(b"\n", over - 1) + 1 if over <= len(block) else len(block)
            gone = block.count(b"\n", 0, cut)
            self.first += gone
            self._bytes -= cut
            if gone < count:
                self._blocks.appendleft((block[cut:], count - gone))

    def read(self, first: int, end: int) -> list[str]:
        """The lines from number `first` up to `end`; dropped ones are left out."""
        self.trim()
        lines: list[bytes] = []
        number = self.first
        for block, count in self._blocks:
            if number >= end:
                break
            if number + count > first:
                lines += block.split(b"\n")[max(first - number, 0) : min(end - number, count)]
            number += count
        return [BIDI.sub("", line.decode("utf-8", "replace")).rstrip(" ") for line in lines]

    def state(self) -> HistoryState:
        self.trim()
        return HistoryState(self.first, b"".join(block for block, _ in self._blocks), self._open)

    def forget(self) -> HistoryState:
        """The state without the lines: their numbers stay used."""
        return HistoryState(self.total, b"", b"")

    def restore(self, state: HistoryState) -> None:
        self.first = self.total = state.first
        self._open = state.open
        self._add(state.text, state.text.count(b"\n"))
