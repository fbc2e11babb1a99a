"""One subscriber's position in one feed: a snapshot or the tail first, then what changes, as messages."""

from collections.abc import AsyncIterator, Callable

from vantage.conversation.feed.drawing import RenderTarget
from vantage.conversation.feed.encoder import Channels, FeedEncoder, Messages, Position
from vantage.conversation.feed.feed import Feed
from vantage.conversation.feed.status import Status
from vantage.conversation.requests.ledger import Entry

EVENTS_AT_ONCE = 200


class Subscription:
    def __init__(self, feed: Feed, target: RenderTarget, channels: Channels, wake: Callable[[], None]) -> None:
        """`wake` is called when `messages` has something: once, until `messages` was called."""
        self.target = target
        self.channels = channels
        self.gone = False
        """The conversation was deleted."""
        self._feed = feed
        self._encoder: FeedEncoder | None = None
        self._wake = wake
        self._woken = False
        self._sent: Position | None = None
        """None: the next messages begin with a snapshot, or with the changes after `_resume`."""
        self._resume: tuple[str | None, int | None] = (None, None)
        self._screen = -1
        self._requests: int | None = None
        """The version of the requests that was sent."""
        self._events: int | None = None
        """The number of the last event that was sent."""
        self._status: Status | None = None

    async def open(self, epoch: str | None = None, after: int | None = None) -> None:
        """Begins. With the epoch and the number of the subscriber's last event, only what is newer is sent."""
        if "screen" in self.channels:
            await self._feed.want_screen()
        self._resume = (epoch, after)
        self._encoder = self._feed.join(self, self._row_target)
        self.gone = self._feed.stopped
        self.wake()

    def close(self) -> None:
        self._feed.leave(self, self._row_target)

    @property
    def _row_target(self) -> RenderTarget | None:
        return self.target if "rows" in self.channels else None

    @property
    def behind(self) -> bool:
        """Whether the feed has messages that were not returned yet."""
        replica = self._feed.replica
        return (
            self._sent is None
            or self._sent[:2] != Position.of(replica)[:2]
            or ("screen" in self.channels and self._screen < replica.screen.number)
            or self._status != replica.status.status
        )

    def wake(self) -> None:
        if not self._woken:
            self._woken = True
            self._wake()

    def deleted(self) -> None:
        self.gone = True
        self.wake()

    def retarget(self, target: RenderTarget) -> None:
        """The display has changed: everything is drawn and sent again."""
        if target != self.target:
            self._feed.leave(self, self._row_target)
            self.target = target
            self._sent, self._resume = None, (None, None)
            self._encoder = self._feed.join(self, self._row_target)
            self.wake()

    async def messages(self) -> AsyncIterator[str]:
        """What is new since the last call. Blocks come before rows, because a row's `seq` covers both."""
        if not self._woken:
            return
        self._woken = False
        first, others = self._take()
        for message in first if isinstance(first, list) else await first.messages():
            yield message
        for message in others:
            yield message
        if "events" in self.channels:
            async for message in self._new_events():
                yield message

    async def _new_events(self) -> AsyncIterator[str]:
        """Events as logged, read from the log: none is skipped, and none is kept for a slow subscriber."""
        assert self._encoder is not None
        while found := await self._feed.events(self._events or 0, EVENTS_AT_ONCE):
            for event in found:
                yield self._encoder.event(event)
                self._events = event["seq"]

    def _take(self) -> tuple[Messages, list[str]]:
        """Messages about one moment, including those that are still being drawn."""
        encoder, replica, channels = self._encoder, self._feed.replica, self.channels
        assert encoder is not None, "messages before open"
        sent, self._sent = self._sent, Position.of(replica)
        first = encoder.resumed(channels, *self._resume) if sent is None else encoder.changes(channels, sent)
        others: list[str] = []
        resumed = first is not None
        if first is None:
            first = encoder.snapshot(channels)
            if "screen" in channels:
                self._screen = replica.screen.number
        after = self._resume[1] if resumed else None
        if self._events is None:
            self._events = replica.rows.seq if after is None else after
        if "screen" in channels and (changed := encoder.screen(self._screen)) is not None:
            self._screen = replica.screen.number
            others.append(changed)
        if "requests" in channels and self._requests != replica.requests.version:
            others += [encoder.request(entry) for entry in self._new_requests(after)]
            self._requests = replica.requests.version
        if self._status != replica.status.status:
            self._status = replica.status.status
            others.append(encoder.status())
        return first, others

    def _new_requests(self, after: int | None) -> list[Entry]:
        """At first the open ones and, where the subscriber resumes after an event, those that changed since."""
        requests = self._feed.replica.requests
        if self._requests is not None:
            return requests.newer(self._requests)
        ended = [] if after is None else [entry for entry in requests.after(after) if entry.state != "open"]
        return [*ended, *requests.open()]
