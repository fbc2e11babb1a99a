"""Rows as they are drawn for those who look, once for all who look the same way; kept while there is room."""

import asyncio
import json
from collections import OrderedDict
from typing import Any, NamedTuple

import msgspec

from vantage.presentation import PresentationContext, profile
from vantage.surfaces import SURFACES, draw
from vantage.timeline.row import Row

ROOM = 64 << 20
"""Characters of drawn rows that are kept, of all conversations together."""
DRAWN_ASIDE = 1 << 15
"""A row with more text than this is drawn in a thread: others need not wait for it."""
DRAWN_AS = {"html": "html", "telegram": "messages", "slack": "messages"}
"""Surface → the field its drawing travels in; text for the others."""

assert set(DRAWN_AS) < set(SURFACES)


class Look(NamedTuple):
    """How somebody sees rows: for which surface they are drawn, and what it can show."""

    surface: str
    context: PresentationContext

    @classmethod
    def of(cls, surface: str, width: int | None = None) -> "Look":
        """A surface as it usually is."""
        base = _USUAL.get(surface)
        context = profile("web" if surface == "html" else surface) if base is None else base
        return cls(surface, context if width is None else msgspec.structs.replace(context, content_width=width))


_USUAL = {
    "terminal": PresentationContext(),
    "plain": PresentationContext(client_type="plain", color_depth=0),
}


class Key(NamedTuple):
    """Which row of whose feed, how it is looked at."""

    feed: object
    row_id: str
    look: Look


class Drawings:
    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._kept: OrderedDict[Key, tuple[int, str]] = OrderedDict()
        self._size = 0

    def find(self, key: Key, version: int) -> str | None:
        """The drawing of a row as it was in a version."""
        known = self._kept.get(key)
        if known is None or known[0] != version:
            return None
        self._kept.move_to_end(key)
        return known[1]

    def keep(self, key: Key, version: int, drawing: str) -> None:
        self._drop(key)
        self._kept[key] = (version, drawing)
        self._size += len(drawing)
        while self._size > self._room:
            self._drop(next(iter(self._kept)))

    def forget(self, feed: object) -> None:
        """Nobody looks at it any more."""
        for key in [key for key in self._kept if key.feed is feed]:
            self._drop(key)

    def _drop(self, key: Key) -> None:
        known = self._kept.pop(key, None)
        if known is not None:
            self._size -= len(known[1])


async def draw_row(row: Row, look: Look, outline: dict[str, Any]) -> str:
    """The part of a row's message that says nothing of when: `"row": …, "html": …}`."""
    size = sum(len(getattr(block, "content", "")) for block in row.blocks)
    if size > DRAWN_ASIDE:
        return await asyncio.to_thread(_drawing, row, look, outline)
    return _drawing(row, look, outline)


def _drawing(row: Row, look: Look, outline: dict[str, Any]) -> str:
    drawn = draw([row], look.context, look.surface)
    message = {"row": outline, DRAWN_AS.get(look.surface, "text"): drawn.output}
    return as_json(message)[1:]


def as_json(value: Any) -> str:
    """A message as it travels. Half of a surrogate pair, which JSON can say and UTF-8 cannot, is replaced."""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        said = json.dumps(msgspec.to_builtins(value), ensure_ascii=False)
        return said.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
