"""Which clients are present in which conversations. A client stays present for `linger_s` after its last socket closed.

After that the conversation drops the client's context, and takes the keyboard from it. A client belongs to its owner (a
token): a client of the same name with another token does not keep it present.
"""

import asyncio
from contextlib import suppress

from vantage.conversation.bus import Bus
from vantage.conversation.store.clock import now_ms
from vantage.errors import VantageError

_Key = tuple[str, str, str]
"""Owner, client, conversation."""


class Presence:
    def __init__(self, bus: Bus, linger_s: float = 30.0) -> None:
        self._bus = bus
        self.linger_s = linger_s
        self._sockets: dict[_Key, int] = {}
        """→ how many sockets it has open."""
        self._leaving: dict[_Key, asyncio.TimerHandle] = {}
        self._left: dict[_Key, int] = {}
        """→ when its last socket closed, while it lingers."""
        self._tasks: set[asyncio.Task[None]] = set()

    def came(self, owner: str, client_id: str, conversation_id: str) -> None:
        key = (owner, client_id, conversation_id)
        self._sockets[key] = self._sockets.get(key, 0) + 1
        self._left.pop(key, None)
        if timer := self._leaving.pop(key, None):
            timer.cancel()

    def left(self, owner: str, client_id: str, conversation_id: str) -> None:
        key = (owner, client_id, conversation_id)
        self._sockets[key] -= 1
        if not self._sockets[key]:
            del self._sockets[key]
            loop = asyncio.get_running_loop()
            self._leaving[key] = loop.call_later(self.linger_s, self._gone, key)
            self._left[key] = now_ms()

    def connected(self, client_id: str, conversation_id: str) -> bool:
        """Whether the client has a socket open, with any token."""
        return any(key[1:] == (client_id, conversation_id) for key in self._sockets)

    def left_at(self, client_id: str, conversation_id: str) -> int | None:
        """When the client's last socket closed, in milliseconds since the epoch; None if it does not linger."""
        return max((when for key, when in self._left.items() if key[1:] == (client_id, conversation_id)), default=None)

    def _gone(self, key: _Key) -> None:
        del self._leaving[key]
        self._left.pop(key, None)
        task = asyncio.get_running_loop().create_task(self._drop(*key))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _drop(self, owner: str, client_id: str, conversation_id: str) -> None:
        with suppress(VantageError):  # the client or the conversation may be gone already
            await self._bus.request(conversation_id, "drop_client", client_id=client_id, owner=owner)
