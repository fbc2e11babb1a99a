"""Callers that wait for a condition on a terminal. Each waiter is checked after every change.

While `stale` says that the terminal is being derived again from a checkpoint, no waiter is checked, because it would
see the past.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol


class Waiter(Protocol):
    def look(self) -> bool:
        """Whether the wait is over."""

    def give_up(self) -> None:
        """The terminal is closed: no further change will be seen."""


class Waiters:
    def __init__(self, stale: Callable[[], bool]) -> None:
        self._stale = stale
        self._waiting: list[Waiter] = []

    async def until(self, holds: Callable[[], bool], timeout: float | None = None) -> bool:
        """Returns True once `holds()` is true, False when the timeout is over or the terminal is closed."""
        if holds():
            return True
        waiter = _Until(holds)
        self._waiting.append(waiter)
        loop = asyncio.get_running_loop()
        timer = loop.call_later(timeout, waiter.give_up) if timeout is not None else None
        try:
            return await waiter.future
        finally:
            if timer is not None:
                timer.cancel()
            self.leave(waiter)

    def join(self, waiter: Waiter) -> None:
        self._waiting.append(waiter)

    def leave(self, waiter: Waiter) -> None:
        if waiter in self._waiting:
            self._waiting.remove(waiter)

    def wake(self) -> None:
        """Something that waiters depend on may have changed."""
        if self._waiting and not self._stale():
            self._waiting = [waiter for waiter in self._waiting if not waiter.look()]

    def close(self) -> None:
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            waiter.give_up()


class _Until:
    def __init__(self, holds: Callable[[], bool]) -> None:
        self._holds = holds
        self.future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def look(self) -> bool:
        if not self.future.done():
            try:
                if self._holds():
                    self.future.set_result(True)
            except Exception as error:  # noqa: BLE001 -- the error belongs to this waiter; the terminal and other waiters continue
                self.future.set_exception(error)
        return self.future.done()

    def give_up(self) -> None:
        if not self.future.done():
            self.future.set_result(False)
