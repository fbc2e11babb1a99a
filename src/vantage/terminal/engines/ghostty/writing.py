"""Writes to the library without losing a row of the history.

The library drops the oldest rows that left the screen when they take too much room. So bytes are written in pieces, and
rows are taken (`HistoryTap`) before a piece that may push out more than the library keeps.
"""

import re

from vantage.terminal.engines.ghostty.history import HistoryTap, budget
from vantage.terminal.engines.ghostty.native import Mailbox
from vantage.terminal.engines.ghostty.rows import RowReader
from vantage.terminal.engines.ghostty.sequences import CAN, SCROLLS
from vantage.terminal.engines.ghostty.terminal import VtTerminal
from vantage.text.chunks import unfinished

FORGET_HISTORY = b"\x1b[3J"
_PIECE = 1 << 14
"""Bytes that are written at once: with most output, they push out no more rows than the library keeps."""
_SMALL_PIECE = 32
"""Bytes that are written at once, however many rows they may push out."""


class Writer:
    def __init__(self, vt: VtTerminal, mailbox: Mailbox, rows: RowReader, history: HistoryTap) -> None:
        self._vt, self._mailbox, self._rows, self._history = vt, mailbox, rows, history
        self.has_marks = False
        """Non-ASCII text was written since the rows were last read."""
        self.uncollected = False
        """The terminal changed since rows were last taken."""
        self._pushed = 0
        """An upper estimate of the rows that left the screen since they were last taken."""

    def write(self, data: bytes, *, escapes: bool = True) -> None:
        """Writes in pieces small enough that no row is dropped. Without `escapes` its only sequences are colours."""
        start = 0
        while len(data) - start > _PIECE:
            end = _character_start(data, start + _PIECE)
            self._write_piece(data[start:end], escapes)
            start = end
        self._write_piece(data[start:] if start else data, escapes)

    def _write_piece(self, data: bytes, escapes: bool) -> None:
        cols = self._mailbox.cols
        most = budget(cols)
        pushes = data.count(b"\n") + len(data) // cols
        if escapes:
            pushes += sum(self._scrolled(found) for found in SCROLLS.finditer(data))
        if pushes > most and len(data) > _SMALL_PIECE:
            half = _character_start(data, len(data) // 2)
            self._write_piece(data[:half], escapes)
            self._write_piece(data[half:], escapes)
            return
        if self._pushed + pushes > most:
            self.collect()
        self._pushed += pushes
        self.uncollected = True
        self.has_marks = self.has_marks or not data.isascii()
        self._vt.write(data)

    def _scrolled(self, sequence: "re.Match[bytes]") -> int:
        """The most rows that a sequence pushes out: a screen, by SU, ED 22 or REP."""
        size = self._mailbox
        return max(size.rows, 999 // size.cols) if sequence[1] == b"b" else size.rows

    def collect(self) -> None:
        """Takes the rows that left the screen; the library forgets them."""
        if not self.uncollected or self._vt.alt_screen():
            return
        self._pushed = 0
        self.uncollected = False
        if self._history.collect(self._mailbox.cols) and self._write_aside(FORGET_HISTORY):
            self._history.forgotten()
            # the remaining rows have moved within the library, which does not report all of them as changed
            self._rows.forget()

    def _write_aside(self, sequence: bytes) -> bool:
        """Writes a sequence in the middle of another one; not inside one that is longer than the library keeps."""
        vt = self._vt
        begun = b""
        if not vt.at_ground():
            begun = vt.unfinished()
            if not begun.startswith(b"\x1b"):
                return False
            replies = self._mailbox.replies
            before = len(replies)
            vt.write(CAN)
            del replies[before:]  # it ends the open query, whose rest is still to come
        vt.write(sequence)
        vt.write(begun)
        return True


def _character_start(data: bytes, at: int) -> int:
    """The last place up to `at` that is not in the middle of a character."""
    return at - unfinished(data[max(at - 3, 0) : at])
