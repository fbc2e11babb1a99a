"""When the watchers of a terminal or an agent are told that its files have grown.

At once, unless it floods: then one event a pause is enough, and the last one is always sent.
"""

import time
from collections.abc import Callable
from typing import Final, Protocol

from vantage.ptyhost.loop import Loop, Timer
from vantage.ptyhost.protocol import Happening

EVENT_PAUSE: Final = 0.002
FLOOD: Final = 16 * 1024
"""Bytes within a pause that make it a flood. What is less is told at once."""


class Printed(Protocol):
    """Files that grow by what is printed. A journal is one."""

    @property
    def stalled(self) -> bool: ...

    @property
    def printed(self) -> int:
        """Bytes that were printed and may be told."""
        ...


class OutputEvents:
    def __init__(
        self, loop: Loop, log: Printed, *, watched: Callable[[], bool], tell: Callable[[Happening], None]
    ) -> None:
        self._loop = loop
        self._log = log
        self._watched = watched
        self._tell = tell
        self._next_event = 0.0
        self._told = 0
        """How long the output was when the current pause began."""
        self._timer: Timer | None = None
        self._expected = b""
        """No event is sent until these bytes are in the output, or the pause is over."""

    def changed(self) -> None:
        """Tells that the files have grown: at once, or soon when it was told just now."""
        if self._log.stalled or not self._watched() or self._timer is not None:
            return
        now = time.monotonic()
        if now >= self._next_event:
            self._next_event = now + EVENT_PAUSE
            self._told = self._log.printed
            self._tell(Happening.OUTPUT)
        elif self._log.printed - self._told < FLOOD:
            self._tell(Happening.OUTPUT)
        else:
            self._timer = self._loop.after(self._next_event - now, self._pause_over)

    def coalesce_until(self, expected: bytes) -> None:
        """Coalesces output until the expected bytes are in it, at most for one pause."""
        if self._timer is None:
            self._expected = expected
            self._timer = self._loop.after(EVENT_PAUSE, self._pause_over)

    def printed(self, data: bytes) -> None:
        """Something was printed, which is not yet in its file."""
        if self._expected and self._expected in data:
            self._release()

    def stop(self) -> None:
        """Cancels an event that waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _pause_over(self) -> None:
        self._release()
        self.changed()

    def _release(self) -> None:
        """Ends the pause: the next change is told at once."""
        self.stop()
        self._expected = b""
        self._next_event = 0.0
