"""Who watches which conversation: feeds, kept while somebody looks and a little longer, and the views on them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from vantage.conversation.bus import Bus
from vantage.conversation.drawings import Drawings, Look
from vantage.conversation.feed import INTERVAL_S, Feed
from vantage.conversation.telling import Channels, Position, Telling, Told

LINGER_S = 30.0
"""A feed that nobody looks at is kept for so long: whoever reloads a page comes back at once."""


class Hub:
    def __init__(self, bus: Bus, *, linger_s: float = LINGER_S, interval_s: float = INTERVAL_S) -> None:
        self.bus = bus
        self._interval_s = interval_s
        self._linger_s = linger_s
        self._drawings = Drawings()
        self._feeds: dict[str, tuple[Feed, asyncio.Task[None]]] = {}
        """Each with its start: many may wait for it, and any of them may leave meanwhile."""
        self._timers: dict[str, asyncio.TimerHandle] = {}

    async def feed(self, conversation_id: str) -> Feed:
        """The feed of a conversation, from its first event on."""
        while True:
            feed, started = self._feeds.get(conversation_id) or self._begin(conversation_id)
            try:
                await asyncio.shield(started)
            except BaseException:
                if started.done():
                    self._drop(conversation_id, feed)
                raise
            if self._has(conversation_id, feed):  # it may have been deleted while we were woken
                self._linger(conversation_id)
                return feed

    def _begin(self, conversation_id: str) -> "tuple[Feed, asyncio.Task[None]]":
        feed = Feed(
            self.bus,
            conversation_id,
            drawings=self._drawings,
            interval_s=self._interval_s,
            on_deleted=lambda: self._drop(conversation_id, feed),
        )
        begun = self._feeds[conversation_id] = (feed, asyncio.get_running_loop().create_task(feed.start()))
        self._linger(conversation_id)
        return begun

    def _has(self, conversation_id: str, feed: Feed) -> bool:
        return self._feeds.get(conversation_id, (None,))[0] is feed

    def _linger(self, conversation_id: str) -> None:
        if timer := self._timers.pop(conversation_id, None):
            timer.cancel()
        loop = asyncio.get_running_loop()
        self._timers[conversation_id] = loop.call_later(self._linger_s, self._left, conversation_id)

    def _left(self, conversation_id: str) -> None:
        feed, started = self._feeds[conversation_id]
        if feed.watched or not started.done():
            self._linger(conversation_id)
        else:
            self._drop(conversation_id, feed)

    def _drop(self, conversation_id: str, feed: Feed) -> None:
        feed.stop()
        if self._has(conversation_id, feed):
            del self._feeds[conversation_id]
            self._timers.pop(conversation_id).cancel()

    def close(self) -> None:
        for conversation_id, (feed, _) in tuple(self._feeds.items()):
            self._drop(conversation_id, feed)


class View:
    """One subscriber's view of one conversation: a snapshot or the tail, then whatever changes."""

    def __init__(self, feed: Feed, look: Look, channels: Channels, wake: Callable[[], None]) -> None:
        self.feed = feed
        self.look = look
        self.channels = channels
        self.gone = False
        """The conversation was deleted."""
        self._telling: Telling | None = None
        self._wake = wake
        self._news = False
        self._since: Position | None = None
        """What was shown; nothing yet, or nothing that still holds."""
        self._resume: tuple[str | None, int | None] = (None, None)
        self._screen = -1
        self._state: dict[str, Any] | None = None

    async def open(self, epoch: str | None = None, after: int | None = None) -> None:
        """Begins. With the epoch and the number of the last event that the subscriber has, only what is newer comes."""
        if "screen" in self.channels:
            await self.feed.want_screen()
        self._resume = (epoch, after)
        self._telling = self.feed.join(self, self._rows_as)
        self.gone = self.feed.stopped
        self.wake()

    def close(self) -> None:
        self.feed.leave(self, self._rows_as)

    @property
    def _rows_as(self) -> Look | None:
        return self.look if "rows" in self.channels else None

    @property
    def behind(self) -> bool:
        """Whether there is something that was not shown."""
        return self._since is None or self._since.version < self.feed.version

    def wake(self) -> None:
        if not self._news:
            self._news = True
            self._wake()

    def deleted(self) -> None:
        self.gone = True
        self.wake()

    def relook(self, look: Look) -> None:
        """The display has changed: everything is shown again."""
        if look != self.look:
            self.feed.leave(self, self._rows_as)
            self.look = look
            self._since, self._resume = None, (None, None)
            self._telling = self.feed.join(self, self._rows_as)
            self.wake()

    async def messages(self) -> AsyncIterator[str]:
        """What is new since the last time, as it travels. Rows say up to where all is told: they come after blocks."""
        if not self._news:
            return
        self._news = False
        told, others = self._take()
        for message in told if isinstance(told, list) else await told.messages():
            yield message
        for message in others:
            yield message

    def _take(self) -> tuple[Told, list[str]]:
        """All of it is about one moment, also what is made later."""
        feed, telling, channels = self.feed, self._telling, self.channels
        assert telling is not None, "not open yet"
        since, self._since = self._since, feed.now
        told = telling.resumed(channels, *self._resume) if since is None else telling.changes(channels, since)
        others: list[str] = []
        if told is None:
            told = telling.snapshot(channels)
            if "screen" in channels:
                self._screen = feed.screen.number
        if "screen" in channels and (shown := telling.screen(self._screen)) is not None:
            self._screen = feed.screen.number
            others.append(shown)
        if self._state is not feed.state:
            if self._state != feed.state:
                others.append(telling.message("pty_state", **feed.state))
            self._state = feed.state
        return told, others
