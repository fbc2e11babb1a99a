"""Trying again: how long a client pauses between two tries, and until when it goes on.

retry = Retry(timeout_s=20.0)
while not reachable():
if not retry.pause():
raise NoServer(...)
"""

import time
from typing import Final

RETRY_S: Final = 0.25
"""Seconds between two tries to reach a server that has gone, and between two looks at a state that changes rarely."""
SOON_S: Final = 0.05
"""Seconds between two looks at a process that is about to be ready."""


class Retry:
    """Pauses between tries. The timeout begins with the object; without one, it never ends."""

    __slots__ = ("_deadline", "_pause_s")

    def __init__(self, timeout_s: float | None = None, *, pause_s: float = RETRY_S) -> None:
        self._deadline = None if timeout_s is None else time.monotonic() + timeout_s
        self._pause_s = pause_s

    def pause(self) -> bool:
        """Sleeps until the next try. False, without sleeping, when the timeout is over."""
        if self._over():
            return False
        time.sleep(self._pause_s)
        return True

    async def pause_async(self) -> bool:
        """The same on an event loop."""
        import asyncio  # the command line pauses without one

        if self._over():
            return False
        await asyncio.sleep(self._pause_s)
        return True

    def _over(self) -> bool:
        return self._deadline is not None and time.monotonic() >= self._deadline
