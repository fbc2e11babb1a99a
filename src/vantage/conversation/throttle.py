"""Calls a function at most once per interval. The leading and the trailing edge are both delivered.

A request calls the function at once if the interval since the last call is over; otherwise it sets one timer for that
moment, and further requests until then share that call.
"""

import asyncio
from collections.abc import Callable


class Throttle:
    def __init__(self, call: Callable[[], None], interval_s: float) -> None:
        self._call = call
        self._interval_s = interval_s
        self._not_before = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def request(self) -> None:
        """Calls now, or once the interval is over."""
        if self._timer is not None:
            return
        loop = asyncio.get_running_loop()
        if loop.time() >= self._not_before:
            self.flush()
        else:
            self._timer = loop.call_at(self._not_before, self.flush)

    def flush(self) -> None:
        """Calls now, whenever the last call was. A pending call is dropped."""
        self.cancel()
        self._not_before = asyncio.get_running_loop().time() + self._interval_s
        self._call()

    def cancel(self) -> None:
        """Drops a pending call."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
