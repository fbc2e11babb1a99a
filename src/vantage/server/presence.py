"""Which clients are where. One that has gone is still there for a while: whoever comes back finds all as it was.

When that time is over, the conversation forgets what the client could show, and takes the keyboard from it.
"""

import asyncio
from contextlib import suppress

from vantage.conversation.bus import Bus
from vantage.errors import VantageError


class Presence:
    def __init__(self, bus: Bus, linger_s: float) -> None:
        self._bus = bus
        self._linger_s = linger_s
        self._sockets: dict[tuple[str, str], int] = {}
        """client and conversation → how many of its sockets are there."""
        self._leaving: dict[tuple[str, str], asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def came(self, client_id: str, conversation_id: str) -> None:
        key = (client_id, conversation_id)
        self._sockets[key] = self._sockets.get(key, 0) + 1
        if timer := self._leaving.pop(key, None):
            timer.cancel()

    def left(self, client_id: str, conversation_id: str) -> None:
        key = (client_id, conversation_id)
        self._sockets[key] -= 1
        if not self._sockets[key]:
            del self._sockets[key]
            loop = asyncio.get_running_loop()
            self._leaving[key] = loop.call_later(self._linger_s, self._gone, key)

    def _gone(self, key: tuple[str, str]) -> None:
        del self._leaving[key]
        task = asyncio.get_running_loop().create_task(self._drop(*key))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _drop(self, client_id: str, conversation_id: str) -> None:
        with suppress(VantageError):  # it may be gone, and the conversation too
            await self._bus.request(conversation_id, "drop_client", client_id=client_id)
