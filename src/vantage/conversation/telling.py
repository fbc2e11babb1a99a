"""What those who look at a feed in the same way are told, made once for all of them who have seen the same."""

import asyncio
from collections import deque
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from vantage.conversation.drawings import Look, as_json
from vantage.events import event_to_dict

if TYPE_CHECKING:
    from vantage.conversation.feed import Feed

SNAPSHOT_ROWS = 200
SNAPSHOT_SIZE = 4 << 20
"""Characters of rows in a snapshot: earlier ones are asked for, as they are behind the 200th."""
_SHARED = 16
"""Messages of one moment that are kept: for so many groups of watchers each is made once."""

Channels = frozenset[str]
"""Of `rows`, `screen` and `blocks`."""


class Position(NamedTuple):
    """What somebody has been shown: changes up to a version, events up to a number."""

    version: int
    seq: int


class Later:
    """Messages that are still being made; many may wait for them, and any of them may leave meanwhile."""

    def __init__(self, making: Coroutine[Any, Any, list[str]]) -> None:
        self._making = asyncio.get_running_loop().create_task(making)

    async def messages(self) -> list[str]:
        return await asyncio.shield(self._making)


Told = list[str] | Later


class Watcher(Protocol):
    """Somebody who is shown a feed."""

    def wake(self) -> None:
        """There is something new to be taken."""

    def deleted(self) -> None:
        """There will be nothing any more."""


class Telling:
    def __init__(self, feed: "Feed", look: Look) -> None:
        self.watchers: set[Watcher] = set()
        self._feed = feed
        self._look = look
        self._made: dict[object, Told | None] = {}
        self._screens: dict[int, str] = {}

    def outdated(self) -> None:
        """Something has changed: what was made is not the newest any more."""
        self._made.clear()
        self._screens.clear()

    def message(self, kind: str, **fields: Any) -> str:
        return as_json({"type": kind, "conversation_id": self._feed.id, **fields})

    def changes(self, channels: Channels, since: Position) -> Told | None:
        """What commands did and which rows are newer; None when it is so much that all is better told anew."""
        key = (channels, since)
        if key not in self._made:
            self._keep(key, self._changes(channels, since))
        return self._made[key]

    def _changes(self, channels: Channels, since: Position) -> Told | None:
        feed = self._feed
        rows = feed.newer(since.version, SNAPSHOT_ROWS + 1) if "rows" in channels else []
        blocks: list[str] = []
        if "blocks" in channels:
            if since.version < feed.block_events.dropped_version:
                return None
            blocks = feed.block_events.messages(since.version)
        return None if len(rows) > SNAPSHOT_ROWS else self._tell(blocks, rows, since.seq)

    def resumed(self, channels: Channels, epoch: str | None, after: int | None) -> Told | None:
        """What came after an event. Output has no number: the rows of what runs are told again."""
        feed = self._feed
        if after is None or epoch != feed.epoch or after > feed.seq:
            return None
        rows = feed.after(after) if "rows" in channels else []
        told = [self.message("resumed", epoch=epoch, seq=after)]
        if "blocks" in channels:
            if after < feed.block_events.dropped_seq:
                return None
            told += feed.block_events.messages_after(after)
        if len(rows) > SNAPSHOT_ROWS:
            return None
        if "rows" in channels:
            rows = feed.in_order({*rows, *feed.running})
        return self._tell(told, rows, after)

    def _tell(self, before: list[str], rows: list[str], since: int) -> Told:
        """Only the last row says up to where all is told now: whoever is cut off before it gets all of them again."""
        drawings = [self._feed.known_drawing(row_id, self._look) for row_id in rows]
        known = [each for each in drawings if each is not None]
        if len(known) == len(rows):
            return before + self._rows(known, since, self._feed.seq)
        return Later(self._draw(before, rows, since, self._feed.seq))

    async def _draw(self, before: list[str], rows: list[str], since: int, now: int) -> list[str]:
        return before + self._rows([await self._feed.drawing(row_id, self._look) for row_id in rows], since, now)

    def _rows(self, drawings: list[str], since: int, now: int) -> list[str]:
        head = f'{{"type":"row","conversation_id":"{self._feed.id}","seq":'
        return [f"{head}{since},{each}" for each in drawings[:-1]] + [f"{head}{now},{each}" for each in drawings[-1:]]

    def snapshot(self, channels: Channels) -> Told:
        """All that there is."""
        key = ("snapshot", channels)
        made = self._made.get(key)
        if made is None:
            made = Later(self._snapshot(channels))
            self._keep(key, made)
        return made

    async def _snapshot(self, channels: Channels) -> list[str]:
        feed = self._feed
        about: dict[str, Any] = {"epoch": feed.epoch, "seq": feed.seq, "state": feed.state}
        about["screen"] = feed.screen.since(-1) if "screen" in channels else None
        if "blocks" in channels:
            about["blocks"] = [event_to_dict(event) for event in feed.begun]
        shown: deque[str] = deque()
        size, first = 0, None
        for row_id in reversed(feed.last(SNAPSHOT_ROWS)) if "rows" in channels else ():
            row = (await feed.drawn(row_id, self._look)).decode()
            size += len(row)
            if shown and size > SNAPSHOT_SIZE:
                break
            shown.appendleft(row)
            first = feed.begin(row_id)
        said = self.message("snapshot", **about, first=first)
        return [f'{said[:-1]},"rows":[{",".join(shown)}]}}']

    def screen(self, number: int) -> str | None:
        """All that changed on the screen behind a number."""
        known = self._screens.get(number)
        if known is None and (delta := self._feed.screen.since(number)) is not None:
            known = self._screens[number] = as_json(delta)
        return known

    def _keep(self, key: object, made: Told | None) -> None:
        if len(self._made) >= _SHARED:
            self._made.clear()
        self._made[key] = made
