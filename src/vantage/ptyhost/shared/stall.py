"""A journal that the disk does not take: tries to write it again, and keeps the calls that have to wait for it.

The order on the way out is fixed: reading is resumed, then the calls are made in their order, then it settles.
"""

from collections.abc import Callable
from typing import Final, Protocol

from vantage.ptyhost.fields import Refused
from vantage.ptyhost.loop import Loop
from vantage.ptyhost.protocol import Code

RETRY_S: Final = 0.25
"""Seconds between tries to write to a full disk."""


class Flushes(Protocol):
    """A journal, as far as a stall is concerned."""

    @property
    def stalled(self) -> bool: ...

    @property
    def why(self) -> str: ...

    def flush(self) -> bool: ...


class Stall:
    """Active from a write that failed until everything behind it is written."""

    __slots__ = ("_began", "_log", "_loop", "_resumed", "_settled", "_waiting", "active")

    def __init__(
        self,
        loop: Loop,
        log: Flushes,
        *,
        began: Callable[[], None],
        resumed: Callable[[], None],
        settled: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._log = log
        self._began = began
        self._resumed = resumed
        """Called before the calls that wait."""
        self._settled = settled
        """Called after them."""
        self._waiting: list[Callable[[], None]] = []
        self.active = False

    def begin(self) -> None:
        """A write has failed. Does nothing while one is being tried again."""
        if self.active:
            return
        self.active = True
        self._began()
        self._loop.after(RETRY_S, self._retry)

    def when_written(self, call: Callable[[], None]) -> None:
        """Calls `call` once everything appended so far is written, which is usually now."""
        if self._log.stalled:
            self._waiting.append(call)
        else:
            call()

    def _retry(self) -> None:
        if not self._log.flush():
            self._loop.after(RETRY_S, self._retry)
            return
        self.active = False
        self._resumed()
        calls, self._waiting = self._waiting, []
        for call in calls:
            call()
        self._settled()


def refuse_while_stalled(log: Flushes) -> None:
    """Raises Refused while the log cannot be written."""
    if log.stalled:
        raise Refused(Code.STALLED, f"the log cannot be written ({log.why}): make room. Nothing was done")
