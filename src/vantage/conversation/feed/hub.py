"""The feeds of a server, by conversation: each is kept while it has followers, and a little longer."""

import asyncio

from vantage.conversation.bus import Bus
from vantage.conversation.feed.feed import INTERVAL_S, Feed
from vantage.conversation.feed.row_cache import RowCache
from vantage.timeline.tools.registry import ToolRegistry

LINGER_S = 30.0
"""Seconds that a feed without subscribers is kept, for a page that is reloaded."""


class Hub:
    def __init__(
        self,
        bus: Bus,
        *,
        tools: ToolRegistry | None = None,
        linger_s: float = LINGER_S,
        interval_s: float = INTERVAL_S,
    ) -> None:
        self.bus = bus
        self._tools = tools
        """The tools that all conversations know; None for the built-in ones."""
        self._interval_s = interval_s
        self._linger_s = linger_s
        self._cache = RowCache()
        self._feeds: dict[str, tuple[Feed, asyncio.Task[None]]] = {}
        """Feeds with the task that starts each: several callers may await it, and one that leaves does not cancel
        it.
        """
        self._timers: dict[str, asyncio.TimerHandle] = {}

    async def feed(self, conversation_id: str) -> Feed:
        """The feed of a conversation, which follows it from its first event."""
        while True:
            feed, started = self._feeds.get(conversation_id) or self._begin(conversation_id)
            try:
                await asyncio.shield(started)
            except BaseException:
                if started.done():
                    self._drop(conversation_id, feed)
                raise
            if self._has(conversation_id, feed):  # false if it was deleted before this task was resumed
                self._linger(conversation_id)
                return feed

    def _begin(self, conversation_id: str) -> tuple[Feed, asyncio.Task[None]]:
        feed = Feed(
            self.bus,
            conversation_id,
            cache=self._cache,
            tools=self._tools,
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
        self._timers[conversation_id] = loop.call_later(self._linger_s, self._expire, conversation_id)

    def _expire(self, conversation_id: str) -> None:
        feed, started = self._feeds[conversation_id]
        if feed.followed or not started.done():
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
