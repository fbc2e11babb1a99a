"""What one socket follows (conversations, and the list of them), what its client can show, where it is present."""

import asyncio
from typing import Any

from vantage.conversation.feed.drawing import RenderTarget
from vantage.conversation.feed.subscription import Subscription
from vantage.conversation.throttle import Throttle
from vantage.errors import TooMany, VantageError
from vantage.server.services import Services
from vantage.server.ws.connection import Connection
from vantage.server.ws.conversation_list import ConversationList
from vantage.server.ws.identity import Identity
from vantage.server.ws.limits import Limits
from vantage.server.ws.messages import Subscribe
from vantage.timeline.contexts import Contexts


class Subscriptions:
    def __init__(self, services: Services, limits: Limits, connection: Connection, identity: Identity) -> None:
        self._bus = services.bus
        self._hub = services.hub
        self._presence = services.presence
        self._limit = limits.subscriptions
        self._connection = connection
        self._identity = identity
        self._displays = Contexts()
        """This client's display; empty until it declares one."""
        self._subscriptions: dict[str, Subscription] = {}
        self._list: ConversationList | None = None
        self._list_s = limits.list_s
        self._present: set[str] = set()
        """Conversations in which the client is present through this socket."""
        self._news = asyncio.Event()
        self._redraw = Throttle(self._retarget, limits.redraw_s)

    @property
    def only(self) -> str | None:
        """The subscription of a followed conversation, else an error."""
        return next(iter(self._subscriptions)) if len(self._subscriptions) == 1 else None

    async def add(self, message: Subscribe) -> None:
        """Follows a conversation; a second call starts again."""
        conversation_id = message.conversation_id
        if conversation_id not in self._subscriptions and len(self._subscriptions) >= self._limit:
            said = f"a socket carries at most {self._limit} conversations"
            raise TooMany(said, hint="unsubscribe, or open another socket")
        await self._bus.request(conversation_id, "claim_client", **self._identity.named)
        self.come(conversation_id)
        feed = await self._hub.feed(conversation_id)
        target = self._target(message.surface)
        if "rows" in message.channels:
            await self._declare(conversation_id, target)
        self._drop(conversation_id)
        subscription = Subscription(feed, target, frozenset(message.channels), self._news.set)
        self._subscriptions[conversation_id] = subscription
        await subscription.open(message.epoch, message.after)

    def remove(self, conversation_id: str) -> None:
        self._drop(conversation_id)
        if conversation_id in self._present:
            self._present.discard(conversation_id)
            self._presence.left(self._identity.owner, self._identity.client_id, conversation_id)

    def _drop(self, conversation_id: str) -> None:
        subscription = self._subscriptions.pop(conversation_id, None)
        if subscription is not None:
            subscription.close()

    def hears_requests(self, conversation_id: str) -> bool:
        """Whether the socket is sent the requests of a conversation, and how they end."""
        known = self._subscriptions.get(conversation_id)
        return known is not None and "requests" in known.channels

    async def follow_list(self) -> None:
        """Follows the list of conversations; a second time, it begins again."""
        self.leave_list()
        self._list = ConversationList(self._bus, self._identity.reach, self._news.set, self._list_s)
        await self._list.open()

    def leave_list(self) -> None:
        if self._list is not None:
            self._list.close()
            self._list = None

    def come(self, conversation_id: str) -> None:
        """The client is present in a conversation until the socket closes or unsubscribes."""
        if conversation_id not in self._present:
            self._present.add(conversation_id)
            self._presence.came(self._identity.owner, self._identity.client_id, conversation_id)

    # what the client can show

    def set_display(self, *, terminal_width: int | None, presentation: dict[str, Any] | None) -> None:
        self._displays = self._displays.apply(
            self._identity.client_id, terminal_width=terminal_width, presentation=presentation
        )

    async def declare(self, primary: bool | None) -> None:
        """Declares the client's display in the followed conversations, and draws their rows again for it."""
        for conversation_id, subscription in tuple(self._subscriptions.items()):
            if "rows" in subscription.channels:
                await self._declare(conversation_id, self._target(subscription.target.surface), primary)
        self._redraw.request()

    async def _declare(self, conversation_id: str, target: RenderTarget, primary: bool | None = None) -> None:
        """Declares the client's display in a conversation that it gets rows of, because it counts for their width."""
        said: dict[str, Any] = {**self._identity.named, "presentation": target.context.to_dict()}
        if self._identity.scope == "read":
            said["read_only"] = True
        if primary is not None:
            said["primary"] = primary
        await self._bus.request(conversation_id, "set_client", **said)

    def _target(self, surface: str) -> RenderTarget:
        context = self._displays.clients.get(self._identity.client_id)
        return RenderTarget.of(surface) if context is None else RenderTarget(surface, context)

    def _retarget(self) -> None:
        for subscription in self._subscriptions.values():
            subscription.retarget(self._target(subscription.target.surface))

    # what is new

    async def send_news(self) -> None:
        """Writes what is new in each conversation, as long as the socket is open."""
        while True:
            await self._news.wait()
            self._news.clear()
            self._identity.check()
            await self._send_list()
            for conversation_id, subscription in tuple(self._subscriptions.items()):
                await self._send(conversation_id, subscription)

    async def _send_list(self) -> None:
        changes = await self._list.changes() if self._list is not None else None
        if changes is not None:
            await self._connection.say("conversations", **changes)

    async def _send(self, conversation_id: str, subscription: Subscription) -> None:
        try:
            if not subscription.gone:
                async for message in subscription.messages():
                    await self._connection.write(message)
                return
            error = VantageError(f"conversation {conversation_id!r} was deleted", hint="it is not followed any more")
            error.code = "deleted"
        except VantageError as failed:
            error = failed
        if self._subscriptions.get(conversation_id) is subscription:
            self._drop(conversation_id)
        await self._connection.complain(error, conversation_id=conversation_id)

    def close(self) -> None:
        self._redraw.cancel()
        self.leave_list()
        for subscription in self._subscriptions.values():
            subscription.close()
        for conversation_id in self._present:
            self._presence.left(self._identity.owner, self._identity.client_id, conversation_id)
