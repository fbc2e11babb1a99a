"""The way to a conversation's owner: requests to it, and messages from it.

The owner is the process that has the conversation's files and its terminal. Other code sends it requests (`request`)
and follows its messages (`subscribe`), and never holds the conversation itself. `LocalBus` is for one process; another
implementation would carry the same operations over a network without a change to its callers.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec

from vantage.errors import Conflict, Unavailable
from vantage.events import Event
from vantage.terminal.screen.frames import ScreenDelta
from vantage.timeline.specs.registry import SpecSet

PAGE = 500
"""How many events are read at once to catch up. Between two reads, the event loop runs other tasks."""

_log = logging.getLogger(__name__)


class ScreenChanged(msgspec.Struct, frozen=True):
    """A change of the screen, numbered as in `screen.jsonl`."""

    number: int
    delta: ScreenDelta


class Deleted(msgspec.Struct, frozen=True):
    """The conversation was deleted."""


class Listed(msgspec.Struct, frozen=True):
    """Something has changed that lists of conversations show. Published to `HOME`."""

    conversation_id: str


HOME = ""
"""What is for all conversations is asked for, and published, under this id. It has no log."""

Message = Event | ScreenChanged | SpecSet | Deleted | Listed
"""Events with a `seq` are in the log, and come in order and without gaps; others reach only current followers."""

Listener = Callable[[Sequence[Message]], None]


class Owner(Protocol):
    """Answers requests about its conversations, and reads their logs."""

    async def handle(self, conversation_id: str, name: str, fields: dict[str, Any]) -> dict[str, Any]:
        """The answer, as JSON values."""

    def read_log(self, conversation_id: str, after: int, limit: int) -> list[Event]:
        """Events after a number, in order."""


class Lease(Protocol):
    """The ownership of a conversation, until it is released."""

    def release(self) -> None: ...


class Following(Protocol):
    def end(self) -> None: ...


class Bus(Protocol):
    async def request(self, conversation_id: str, name: str, /, **fields: Any) -> dict[str, Any]:
        """Sends the owner a request, and raises its errors. A request without an id is for the home."""

    def publish(self, conversation_id: str, messages: Sequence[Message]) -> None:
        """Sends messages of the owner to its followers."""

    async def subscribe(self, conversation_id: str, after: int, listener: Listener) -> Following:
        """Calls the listener with everything after an event, first from the log and then live."""

    def followed(self, conversation_id: str) -> bool:
        """Whether there is a follower. Without one, messages that are not logged need not be made."""

    def hold(self, conversation_id: str, owner: Owner) -> Lease:
        """Makes `owner` the conversation's owner. Raises Conflict while it has one."""


class LocalBus:
    """The bus of one process."""

    def __init__(self) -> None:
        self._home: Owner | None = None
        self._owners: dict[str, Owner] = {}
        self._listeners: dict[str, list[Listener]] = {}

    def serve(self, owner: Owner) -> None:
        """Sets the owner of conversations without one."""
        self._home = owner

    def _owner(self, conversation_id: str) -> Owner:
        owner = self._owners.get(conversation_id, self._home)
        if owner is None:
            raise Unavailable("no owner serves conversations", hint="the server is about to end: connect again")
        return owner

    async def request(self, conversation_id: str, name: str, /, **fields: Any) -> dict[str, Any]:
        return await self._owner(conversation_id).handle(conversation_id, name, fields)

    def publish(self, conversation_id: str, messages: Sequence[Message]) -> None:
        for listener in tuple(self._listeners.get(conversation_id, ())):
            try:
                listener(messages)
            except Exception:  # noqa: BLE001 -- a follower that fails must affect neither the owner nor other followers
                _log.exception("a follower of %s failed", conversation_id)

    async def subscribe(self, conversation_id: str, after: int, listener: Listener) -> "_Following":
        following = _Following(self, conversation_id, after, listener)
        self._listeners.setdefault(conversation_id, []).append(following.pass_on)
        try:
            await following.catch_up(self._owner(conversation_id))
        except BaseException:
            following.end()
            raise
        return following

    def followed(self, conversation_id: str) -> bool:
        return conversation_id in self._listeners

    def hold(self, conversation_id: str, owner: Owner) -> "_Held":
        if conversation_id in self._owners:
            raise Conflict(f"{conversation_id} has an owner already", hint="ask that one")
        self._owners[conversation_id] = owner
        return _Held(self._owners, conversation_id)

    def leave(self, conversation_id: str, listener: Listener) -> None:
        listeners = [each for each in self._listeners.pop(conversation_id, []) if each != listener]
        if listeners:
            self._listeners[conversation_id] = listeners


class _Held:
    def __init__(self, owners: dict[str, Owner], conversation_id: str) -> None:
        self._owners: dict[str, Owner] | None = owners
        self._id = conversation_id

    def release(self) -> None:
        """Only the first call has an effect: later, another owner may hold the conversation."""
        if self._owners is not None:
            del self._owners[self._id]
            self._owners = None


class _Following:
    """Reads the log to its end, then passes live messages on. Each event is passed on once."""

    def __init__(self, bus: LocalBus, conversation_id: str, after: int, listener: Listener) -> None:
        self._bus = bus
        self._id = conversation_id
        self._seq = after
        self._listener = listener
        self._live = False

    async def catch_up(self, owner: Owner) -> None:
        while events := owner.read_log(self._id, self._seq, PAGE):
            self._seq = events[-1].seq or self._seq
            self._listener(events)
            await asyncio.sleep(0)
        self._live = True

    def pass_on(self, messages: Sequence[Message]) -> None:
        if fresh := [message for message in messages if self._is_new(message)]:
            self._listener(fresh)

    def _is_new(self, message: Message) -> bool:
        if isinstance(message, SpecSet | Deleted | Listed):
            return True
        if not self._live:  # the log has it, or it is about a moment that is over by then
            return False
        if isinstance(message, ScreenChanged) or message.seq is None:
            return True
        if message.seq <= self._seq:
            return False
        self._seq = message.seq
        return True

    def end(self) -> None:
        self._bus.leave(self._id, self.pass_on)
