"""Messages of one socket that were read and are not handled yet: in order, bounded in bytes.

Input may be held until a shell shows its prompt, and a Ctrl-C is never held. So the socket is read ahead: a Ctrl-C
drops the held input before it as soon as it is read, and is then handled in its turn.
"""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from vantage.server.ws.messages import ClientMessage, Input, NotUnderstood


class Inbox:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._messages: deque[tuple[ClientMessage | NotUnderstood, int, list[str]]] = deque()
        self._bytes = 0
        self._changed = asyncio.Condition()
        self._interrupts: Counter[str] = Counter()
        """Conversation → its Ctrl-Cs that were read and are not handled yet."""
        self.handled: ClientMessage | NotUnderstood | None = None
        """The message that is being handled."""
        self.ignored: list[str] = []
        """A sentence for every unknown field of that message."""

    def interrupt(self, conversation_id: str) -> None:
        """Counts a Ctrl-C that was read, before it is `put`."""
        self._interrupts[conversation_id] += 1

    def is_interrupted(self, conversation_id: str) -> bool:
        """Whether a Ctrl-C for this conversation waits."""
        return self._interrupts[conversation_id] > 0

    async def put(self, message: ClientMessage | NotUnderstood, size: int, ignored: list[str]) -> None:
        """Waits while the inbox is full."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._bytes < self._limit)
            self._messages.append((message, size, ignored))
            self._bytes += size
            self._changed.notify_all()

    @asynccontextmanager
    async def next(self) -> AsyncIterator[ClientMessage | NotUnderstood]:
        """The next message, while it is handled."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._messages)
            message, size, self.ignored = self._messages.popleft()
            self.handled = message
        yield message
        async with self._changed:
            self.handled = None
            self._bytes -= size
            if isinstance(message, Input) and message.interrupts:
                self._interrupts[message.conversation_id] -= 1
                self._interrupts += Counter()  # without the zeros
            self._changed.notify_all()

    async def empty(self) -> None:
        """Waits until all messages are handled."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._messages and self.handled is None)
