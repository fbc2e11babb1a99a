"""Input of the person at a socket: the keyboard is taken, typed on, and given back."""

from contextlib import suppress

from vantage.conversation.bus import Bus
from vantage.errors import VantageError
from vantage.server.ws.identity import Identity
from vantage.server.ws.inbox import Inbox
from vantage.server.ws.messages import Input


class Keyboard:
    def __init__(self, bus: Bus, identity: Identity, inbox: Inbox) -> None:
        self._bus = bus
        self._identity = identity
        self._inbox = inbox

    async def take(self, conversation_id: str) -> None:
        self._identity.must_write()
        await self._bus.request(conversation_id, "take_keyboard", **self._identity.named)

    async def release(self, conversation_id: str) -> None:
        self._identity.must_write()
        await self._bus.request(conversation_id, "release_keyboard", **self._identity.named)

    async def type(self, message: Input) -> None:
        self._identity.must_write()
        given = message.given()
        if not message.interrupts and self._inbox.is_interrupted(message.conversation_id):
            given["hold"] = False
        await self._bus.request(message.conversation_id, "type", **self._identity.named, **given)

    async def interrupt(self, message: Input) -> None:
        """A Ctrl-C was read, and is not handled yet: input before it that is held for a prompt is dropped."""
        self._inbox.interrupt(message.conversation_id)
        if self._inbox.handled is not None and self._identity.scope == "full":
            with suppress(VantageError):  # the Ctrl-C itself is answered with the error
                await self._bus.request(message.conversation_id, "drop_held", **self._identity.named)
