"""How much is derived at once: slices small enough that other conversations do not wait long."""

import time
from collections.abc import Callable

from vantage.conversation.store.derived.replay import SLICE

FIRST_SLICE, LEAST_SLICE = 1 << 13, 1 << 9
SLOW_S = 0.02
"""A slice that took longer is followed by smaller ones, because other conversations wait meanwhile."""


class Pace:
    """The size of the next slice, from how long the slices before it took.

    What counts is processor time: on a busy machine a slice may last long and have done little. Reading it costs a
    system call, so it is read only after a slice that lasted long.
    """

    def __init__(self) -> None:
        self.slice = FIRST_SLICE
        self._clock: Callable[[], float] = time.monotonic
        self._began = 0.0

    def begin(self) -> None:
        """A slice begins."""
        self._began = self._clock()

    def end(self) -> None:
        """A slice has ended: quarters the next one while slices take long, and doubles it when they do not."""
        took = self._clock() - self._began
        if self._clock is time.monotonic:
            if took > SLOW_S:
                self._clock = time.thread_time
        elif took > SLOW_S:
            self.slice = max(self.slice // 4, LEAST_SLICE)
        else:
            self._clock = time.monotonic
        if took < SLOW_S / 4:
            self.slice = min(self.slice * 2, SLICE)
