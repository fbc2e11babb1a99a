"""Drawn rows of all conversations, in memory: bounded, the least recently used one is dropped first."""

from collections import OrderedDict
from typing import NamedTuple

from vantage.conversation.feed.drawing import RenderTarget

CACHE_SIZE = 64 << 20
"""The most characters of drawn rows that are kept, of all conversations together."""


class Key(NamedTuple):
    rows: object
    """The `RowLog` that the row is of."""
    row_id: str
    target: RenderTarget


class RowCache:
    def __init__(self, size: int = CACHE_SIZE) -> None:
        self._limit = size
        self._kept: OrderedDict[Key, tuple[int, str]] = OrderedDict()
        self._size = 0

    def find(self, key: Key, version: int) -> str | None:
        """The drawing of a version of a row."""
        known = self._kept.get(key)
        if known is None or known[0] != version:
            return None
        self._kept.move_to_end(key)
        return known[1]

    def keep(self, key: Key, version: int, drawing: str) -> None:
        self._drop(key)
        self._kept[key] = (version, drawing)
        self._size += len(drawing)
        while self._size > self._limit:
            self._drop(next(iter(self._kept)))

    def forget(self, rows: object) -> None:
        """Drops the drawings of one conversation."""
        for key in [key for key in self._kept if key.rows is rows]:
            self._drop(key)

    def _drop(self, key: Key) -> None:
        known = self._kept.pop(key, None)
        if known is not None:
            self._size -= len(known[1])
