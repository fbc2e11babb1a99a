"""Looks backwards in a journal for the last record of a kind.

It searches for beginnings of lines, since there may be millions: all of them are the host's own writing, `t` first, and
a line end inside of a value is escaped.
"""

import contextlib
import json
import mmap
from typing import Any


class Records:
    """The lines of a journal, mapped from its file while they are looked at."""

    __slots__ = ("_lines",)

    def __init__(self, lines: mmap.mmap | bytes) -> None:
        self._lines = lines

    def last(self, kind: bytes, after: int = 0) -> int:
        """Where the last record of a kind begins, -1 when there is none from `after` on."""
        found = self._lines.rfind(b'\n{"t":"%s",' % kind, max(after - 1, 0))
        if found >= 0:
            return found + 1
        return 0 if after <= 0 and self._lines[: len(kind) + 8] == b'{"t":"%s",' % kind else -1

    def fields(self, position: int) -> dict[str, Any]:
        """The record that begins at a position; empty for a position of -1, and for what is no record."""
        if position < 0:
            return {}
        with contextlib.suppress(ValueError):
            record = json.loads(self._lines[position : self._lines.find(b"\n", position)])
            if isinstance(record, dict):
                return record
        return {}

    def final(self) -> dict[str, Any]:
        """The last record of all."""
        return self.fields(self._lines.rfind(b"\n", 0, -1) + 1)

    def unfinished(self, start: int) -> bool:
        """Whether the process of the record that begins at `start` has neither ended nor been declared lost."""
        return self.last(b"exit", start) < 0 and self.last(b"lost", start) < 0
