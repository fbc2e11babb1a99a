"""A conversation, followed live: bus messages go into a replica, and subscribers are woken.

Nothing is queued for a subscriber. It remembers its position in the replica, and is sent what is newer when it can next
be written to, so a slow one skips what was in between and costs nothing. Each subscriber is woken at most once per
interval.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from vantage.conversation.bus import Bus, Deleted, Following, Message
from vantage.conversation.feed.drawing import RenderTarget
from vantage.conversation.feed.encoder import SNAPSHOT_ROWS, FeedEncoder
from vantage.conversation.feed.replica import Replica
from vantage.conversation.feed.row_cache import RowCache
from vantage.conversation.feed.row_log import RowLog
from vantage.conversation.feed.row_renderer import RowRenderer
from vantage.conversation.throttle import Throttle
from vantage.errors import NotFound, VantageError
from vantage.timeline.specs.registry import SpecSet
from vantage.timeline.tools.registry import ToolRegistry

OUTPUT_SHOWN = 20_000
"""Characters of a command's output in its row. All of it is in its block."""
INTERVAL_S = 0.05
RETRY_S = 1.0


class Subscriber(Protocol):
    def wake(self) -> None:
        """The replica is newer than it was."""

    def deleted(self) -> None:
        """The conversation was deleted."""


@dataclass(slots=True)
class _Group:
    """The subscribers with one render target."""

    encoder: FeedEncoder
    subscribers: set[Subscriber] = field(default_factory=set)
    drawing: asyncio.Task[None] | None = None

    def wake(self) -> None:
        for subscriber in tuple(self.subscribers):
            subscriber.wake()


class Feed:
    def __init__(
        self,
        bus: Bus,
        conversation_id: str,
        *,
        cache: RowCache | None = None,
        tools: ToolRegistry | None = None,
        interval_s: float = INTERVAL_S,
        on_deleted: Callable[[], None] = lambda: None,
    ) -> None:
        self.id = conversation_id
        self.replica = Replica(conversation_id, tools)
        self.renderer = RowRenderer(self.replica.rows, cache or RowCache(), self._read_output)
        self.stopped = False
        self._bus = bus
        self._on_deleted = on_deleted
        self._groups: dict[RenderTarget | None, _Group] = {}
        """None: subscribers that are sent no rows."""
        self._throttle = Throttle(self._wake_all, interval_s)
        self._woken = 0
        """The version of the rows for which subscribers were last woken."""
        self._following: Following | None = None
        self._loading: asyncio.Task[None] | None = None
        """The screen is followed once a subscriber wants it."""
        self._retry: asyncio.TimerHandle | None = None

    @property
    def rows(self) -> RowLog:
        return self.replica.rows

    async def start(self) -> None:
        """Folds the log, and follows from there."""
        replica = self.replica
        specs = (await self._bus.request(self.id, "specs"))["tools"]
        for spec in specs:
            replica.apply(msgspec.convert(spec, SpecSet))
        following = await self._bus.subscribe(self.id, replica.rows.seq, self.receive)
        if self.stopped:
            following.end()
            raise NotFound(f"conversation {self.id!r} was deleted meanwhile", hint="list them, or create it")
        self._following = following
        about = await self._bus.request(self.id, "describe")
        replica.epoch = about["epoch"]
        with suppress(VantageError):  # rows are served without the terminal
            about = await self._bus.request(self.id, "status")
        replica.status.load(about)
        self._woken = replica.rows.version

    def stop(self) -> None:
        self.stopped = True
        if self._following is not None:
            self._following.end()
            self._following = None
        for running in (self._retry, self._loading, *(group.drawing for group in self._groups.values())):
            if running is not None:
                running.cancel()
        self._throttle.cancel()
        self.renderer.close()

    # from the bus

    def receive(self, messages: Sequence[Message]) -> None:
        before = self.replica.versions
        for message in messages:
            self.replica.apply(message)
        if self.replica.screen.incomplete and self._loading is not None and self._loading.done():
            self._load_again()
        if any(isinstance(message, Deleted) for message in messages):
            self._on_deleted()
            for group in self._groups.values():
                for subscriber in tuple(group.subscribers):
                    subscriber.deleted()
        if self.replica.versions != before:
            self._changed()

    async def want_screen(self) -> None:
        """From now on the screen is followed too. Where it cannot be read yet, it is read when it can be."""
        if self._loading is None:
            self._loading = asyncio.get_running_loop().create_task(self._load_screen())
        await asyncio.shield(self._loading)

    async def _load_screen(self) -> None:
        try:
            self.replica.screen.load(await self._bus.request(self.id, "read_screen", style=True))
        except VantageError:
            self._load_later()
            return
        if self.replica.screen.incomplete:  # the answer is older than a delta that came before it
            self._load_later()
        self._changed()

    def _load_later(self) -> None:
        self._retry = asyncio.get_running_loop().call_later(RETRY_S, self._load_again)

    def _load_again(self) -> None:
        if self._following is not None:
            self._loading = asyncio.get_running_loop().create_task(self._load_screen())

    async def _read_output(self, block_id: str) -> str:
        read = await self._bus.request(self.id, "read_block", block_id=block_id, max_output=OUTPUT_SHOWN)
        text: str = read.get("screen") or read["output"]
        return text

    async def events(self, after: int, limit: int) -> list[dict[str, Any]]:
        """Events of the log after a number, as they travel."""
        found: list[dict[str, Any]] = (await self._bus.request(self.id, "events", after=after, limit=limit))["events"]
        return found

    # to subscribers

    def join(self, subscriber: Subscriber, target: RenderTarget | None) -> FeedEncoder:
        group = self._groups.get(target)
        if group is None:
            encoder = FeedEncoder(self.replica, self.renderer, target or RenderTarget.of("plain"))
            group = self._groups[target] = _Group(encoder)
        group.subscribers.add(subscriber)
        return group.encoder

    def leave(self, subscriber: Subscriber, target: RenderTarget | None) -> None:
        group = self._groups.get(target)
        if group is not None:
            group.subscribers.discard(subscriber)
            if not group.subscribers:
                del self._groups[target]

    @property
    def followed(self) -> bool:
        return bool(self._groups)

    def _changed(self) -> None:
        for group in self._groups.values():
            group.encoder.outdate()
        if self._groups:
            self._throttle.request()

    def _wake_all(self) -> None:
        """A group whose rows are not drawn yet is woken when they are, since its subscribers would all wait for
        them.
        """
        rows, self._woken = self.rows.newer(self._woken, SNAPSHOT_ROWS), self.rows.version
        for target, group in tuple(self._groups.items()):
            if target is None or all(self.renderer.known(row_id, target) is not None for row_id in rows):
                group.wake()
            elif group.drawing is None:
                group.drawing = asyncio.get_running_loop().create_task(self._draw(group, target, rows))

    async def _draw(self, group: _Group, target: RenderTarget, rows: list[str]) -> None:
        try:
            with suppress(VantageError):  # a subscriber that asks for them gets the error
                for row_id in rows:
                    await self.renderer.drawing(row_id, target)
        finally:
            group.drawing = None
            group.wake()
