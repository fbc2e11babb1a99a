"""Serialises the verbs that change a conversation's shell: start, command, reset, close.

`reset` and `close` overrule: a verb that holds the lock sees `overruled` and gives up, so they need not wait for it to
finish.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable


class ShellLock:
    def __init__(self, *, check_open: Callable[[], None], wake: Callable[[], None]) -> None:
        """`check_open` raises when the conversation was closed; `wake` lets the holder of the lock see `overruled`."""
        self._check_open = check_open
        self._wake = wake
        self._lock = asyncio.Lock()
        self._enders = 0

    @property
    def overruled(self) -> bool:
        """Whether a verb that ends the shell waits for the lock."""
        return self._enders > 0

    @contextlib.asynccontextmanager
    async def keeping(self) -> AsyncIterator[None]:
        """Within it the shell is started or given a command; no other verb changes it."""
        async with self._lock:
            self._check_open()
            yield

    @contextlib.asynccontextmanager
    async def ending(self) -> AsyncIterator[None]:
        """Within it the shell is ended. The verb that holds the lock is overruled first."""
        self._enders += 1
        self._wake()
        try:
            await self._lock.acquire()
        finally:
            self._enders -= 1
        try:
            self._check_open()
            yield
        finally:
            self._lock.release()
