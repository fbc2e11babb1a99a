"""Messages of a feed for subscribers with one render target: each is made once for all subscribers at the same
position.
"""

import asyncio
from collections import deque
from collections.abc import Coroutine
from typing import Any, NamedTuple

import msgspec

from vantage.conversation.feed.drawing import RenderTarget, as_json
from vantage.conversation.feed.replica import Replica
from vantage.conversation.feed.row_renderer import RowRenderer
from vantage.conversation.requests.ledger import Entry, as_fields
from vantage.events import event_to_dict

SNAPSHOT_ROWS = 200
SNAPSHOT_SIZE = 4 << 20
"""Characters of rows in a snapshot. Earlier rows are read over HTTP, as are those before the 200th from the end."""
_SHARED = 16
"""How many encoded answers are kept, one for each position and set of channels."""

Channels = frozenset[str]
"""Of `rows`, `screen`, `blocks`, `events` and `requests`."""


class Position(NamedTuple):
    """What a subscriber has been sent: rows and block events up to a version, events up to a number."""

    rows: int
    blocks: int
    seq: int

    @classmethod
    def of(cls, replica: Replica) -> "Position":
        return cls(replica.rows.version, replica.blocks.version, replica.rows.seq)


class Pending:
    """Messages that are being drawn. Several tasks may await one, and a waiter that leaves cancels nothing."""

    def __init__(self, making: Coroutine[Any, Any, list[str]]) -> None:
        self._making = asyncio.get_running_loop().create_task(making)

    async def messages(self) -> list[str]:
        return await asyncio.shield(self._making)


Messages = list[str] | Pending


class FeedEncoder:
    def __init__(self, replica: Replica, renderer: RowRenderer, target: RenderTarget) -> None:
        self._replica = replica
        self._renderer = renderer
        self._target = target
        self._made: dict[object, Messages | None] = {}
        self._screens: dict[int, str] = {}

    def outdate(self) -> None:
        """The replica has changed: the messages that were made are no longer the newest."""
        self._made.clear()
        self._screens.clear()

    def changes(self, channels: Channels, since: Position) -> Messages | None:
        """Block events and rows after a position; None when a snapshot is shorter, or the window lacks events."""
        key = (channels, since)
        if key not in self._made:
            self._keep(key, self._changes(channels, since))
        return self._made[key]

    def _changes(self, channels: Channels, since: Position) -> Messages | None:
        rows, blocks = self._replica.rows, self._replica.blocks
        changed = rows.newer(since.rows, SNAPSHOT_ROWS + 1) if "rows" in channels else []
        messages: list[str] = []
        if "blocks" in channels:
            if since.blocks < blocks.dropped_version:
                return None
            messages = blocks.newer(since.blocks)
        return None if len(changed) > SNAPSHOT_ROWS else self._with_rows(messages, changed, since.seq)

    def resumed(self, channels: Channels, epoch: str | None, after: int | None) -> Messages | None:
        """The messages after an event; None when a snapshot is needed.

        Output has no number, so the rows of running commands are sent again.
        """
        replica, rows, blocks = self._replica, self._replica.rows, self._replica.blocks
        if after is None or epoch != replica.epoch or after > rows.seq:
            return None
        changed = rows.after(after) if "rows" in channels else []
        messages = [self._message("resumed", epoch=epoch, seq=after)]
        if "blocks" in channels:
            if after < blocks.dropped_seq:
                return None
            messages += blocks.after(after)
        if len(changed) > SNAPSHOT_ROWS:
            return None
        if "rows" in channels:
            changed = rows.in_order({*changed, *rows.running})
        return self._with_rows(messages, changed, after)

    def _with_rows(self, before: list[str], rows: list[str], since: int) -> Messages:
        """Only the last row carries the new `seq`: a client that is cut off before it gets all rows again."""
        now = self._replica.rows.seq
        drawings = [self._renderer.known(row_id, self._target) for row_id in rows]
        known = [each for each in drawings if each is not None]
        if len(known) == len(rows):
            return before + self._row_messages(known, since, now)
        return Pending(self._draw(before, rows, since, now))

    async def _draw(self, before: list[str], rows: list[str], since: int, now: int) -> list[str]:
        drawings = [await self._renderer.drawing(row_id, self._target) for row_id in rows]
        return before + self._row_messages(drawings, since, now)

    def _row_messages(self, drawings: list[str], since: int, now: int) -> list[str]:
        head = f'{{"type":"row","conversation_id":"{self._replica.id}","seq":'
        return [f"{head}{since},{each}" for each in drawings[:-1]] + [f"{head}{now},{each}" for each in drawings[-1:]]

    def snapshot(self, channels: Channels) -> Messages:
        """The whole state, in one message."""
        key = ("snapshot", channels)
        made = self._made.get(key)
        if made is None:
            made = Pending(self._snapshot(channels))
            self._keep(key, made)
        return made

    async def _snapshot(self, channels: Channels) -> list[str]:
        replica, rows = self._replica, self._replica.rows
        about: dict[str, Any] = {"epoch": replica.epoch, "seq": rows.seq, "state": replica.status.status}
        about["screen"] = replica.screen.since(-1) if "screen" in channels else None
        if "blocks" in channels:
            about["blocks"] = [event_to_dict(event) for event in replica.blocks.running]
        shown: deque[str] = deque()
        size, first = 0, None
        for row_id in reversed(rows.last(SNAPSHOT_ROWS)) if "rows" in channels else ():
            row = (await self._renderer.message(row_id, self._target)).decode()
            size += len(row)
            if shown and size > SNAPSHOT_SIZE:
                break
            shown.appendleft(row)
            first = rows.begin(row_id)
        head = self._message("snapshot", **about, first=first)
        return [f'{head[:-1]},"rows":[{",".join(shown)}]}}']

    def screen(self, number: int) -> str | None:
        """All that changed on the screen after a delta."""
        known = self._screens.get(number)
        if known is None and (delta := self._replica.screen.since(number)) is not None:
            known = self._screens[number] = as_json(delta)
        return known

    def request(self, entry: Entry) -> str:
        """How a request stands: the question while it is open, then its answer or its end."""
        if entry.closed is not None:
            return self._message("request_closed", **as_fields(entry.closed))
        if entry.answer is not None:
            return self._message("answer", answer=as_fields(entry.answer))
        return self._message("request", request=as_fields(entry.request))

    def event(self, event: dict[str, Any]) -> str:
        return self._message("event", event=event)

    def status(self) -> str:
        return self._message("pty_state", **msgspec.structs.asdict(self._replica.status.status))

    def _message(self, kind: str, **fields: Any) -> str:
        return as_json({"type": kind, "conversation_id": self._replica.id, **fields})

    def _keep(self, key: object, made: Messages | None) -> None:
        if len(self._made) >= _SHARED:
            self._made.clear()
        self._made[key] = made
