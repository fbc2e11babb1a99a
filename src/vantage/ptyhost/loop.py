"""The event loop of the host: ready descriptors, and timers. Nothing in it blocks."""

import heapq
import itertools
import select
import sys
import time
import traceback
from collections.abc import Callable
from typing import Final

READ: Final = select.EPOLLIN
WRITE: Final = select.EPOLLOUT
HANGUP: Final = select.EPOLLHUP | select.EPOLLERR

_MAX_REPORTS = 1000
"""At most so many unexpected errors are logged: an error that repeats for ever must not fill the disk."""


class Timer:
    """A call to be made later."""

    __slots__ = ("_call",)

    def __init__(self, call: Callable[[], None]) -> None:
        self._call: Callable[[], None] | None = call

    def cancel(self) -> None:
        self._call = None

    @property
    def pending(self) -> bool:
        return self._call is not None

    def fire(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            call()


class Loop:
    """Calls handlers of ready descriptors, then timers that are due. An error in one is reported and ends nothing."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._handlers: dict[int, Callable[[int], None]] = {}
        self._timers: list[tuple[float, int, Timer]] = []
        self._count = itertools.count()
        self._reports = 0

    def watch(self, descriptor: int, events: int, handler: Callable[[int], None]) -> None:
        self._handlers[descriptor] = handler
        self._epoll.register(descriptor, events)

    def change(self, descriptor: int, events: int) -> None:
        self._epoll.modify(descriptor, events)

    def unwatch(self, descriptor: int) -> None:
        if self._handlers.pop(descriptor, None) is not None:
            self._epoll.unregister(descriptor)

    def after(self, seconds: float, call: Callable[[], None]) -> Timer:
        timer = Timer(call)
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._count), timer))
        return timer

    def turn(self) -> None:
        """Waits for something to do, and does it."""
        while self._timers and not self._timers[0][2].pending:
            heapq.heappop(self._timers)
        timeout = max(self._timers[0][0] - time.monotonic(), 0) if self._timers else None
        for descriptor, events in self._epoll.poll(timeout):
            # An earlier handler of this turn may have closed it.
            handler = self._handlers.get(descriptor)
            if handler is not None:
                try:
                    handler(events)
                except Exception:  # noqa: BLE001 - shells depend on this process
                    self.report()
        if self._timers:
            now = time.monotonic()
            while self._timers and self._timers[0][0] <= now:
                try:
                    heapq.heappop(self._timers)[2].fire()
                except Exception:  # noqa: BLE001
                    self.report()

    def report(self) -> None:
        """Writes the error being handled to the log."""
        self._reports += 1
        if self._reports <= _MAX_REPORTS:
            print(time.strftime("%Y-%m-%d %H:%M:%S"), traceback.format_exc(), file=sys.stderr, flush=True)
