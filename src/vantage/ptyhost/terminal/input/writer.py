"""Writes the queued input of one process: now, when the terminal takes more, and again before the next deadline.

A record that comes with an input is in the journal before its first byte is written.
"""

import time
from collections.abc import Callable
from typing import Final

from vantage.ptyhost.loop import Loop, Timer
from vantage.ptyhost.shared.journal import Journal
from vantage.ptyhost.terminal.input.answers import Answers
from vantage.ptyhost.terminal.input.queue import Input, InputQueue
from vantage.ptyhost.terminal.input.replies import CHECK_S
from vantage.ptyhost.terminal.output.noticed import Noticed
from vantage.ptyhost.terminal.pty import Pty

RETRY_S: Final = 0.05
"""Seconds: the kernel does not always say when a terminal takes input again (it looks before room has been made)."""


class InputWriter:
    """The input queue of one process, and its clock."""

    __slots__ = (
        "_answers",
        "_catch_up",
        "_log",
        "_loop",
        "_noticed",
        "_pty",
        "_pumped",
        "_queue",
        "_recorded",
        "_timer",
    )

    def __init__(
        self,
        loop: Loop,
        pty: Pty,
        log: Journal,
        noticed: Noticed,
        answers: Answers,
        *,
        catch_up: Callable[[], object],
        recorded: Callable[[], None],
        pumped: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._pty = pty
        self._log = log
        self._noticed = noticed
        self._answers = answers
        self._catch_up = catch_up
        """Reads everything that was printed so far."""
        self._recorded = recorded
        """Called when a record was appended, whether it could be written or not."""
        self._pumped = pumped
        """Called when `wants_to_write` may have changed."""
        self._queue = InputQueue()
        self._timer: Timer | None = None

    @property
    def waiting(self) -> bool:
        """Whether something waits to be typed."""
        return bool(self._queue)

    @property
    def wants_to_write(self) -> bool:
        """Whether something waits until the terminal takes more."""
        return self._queue.wants_to_write

    def accepts(self, size: int) -> bool:
        return self._queue.fits(size)

    def type(self, item: Input) -> None:
        self._queue.add(item)
        self._stop_clock()  # the deadline of the new one may be nearer
        self.pump()

    def pump(self) -> None:
        """Writes what the terminal takes and keeps the clock on the rest."""
        if self._queue:
            self._answers.make_way()
            if self._queue.waits_with_secret:
                self._catch_up()
        before = self._log.journal
        unread = self._queue.pump(self._pty, self._log, self._noticed)
        if unread is not None:
            self._answers.watch(unread)
            self._answers.look()
        if self._log.stalled or self._log.journal != before:
            self._recorded()
        if self._queue and self._timer is None:
            retry = CHECK_S if self._queue.waits_for_reader else RETRY_S
            pause = min(retry, self._queue.next_deadline() - time.monotonic())
            self._timer = self._loop.after(max(pause, 0), self._due)
        self._pumped()

    def drop(self, why: str) -> int:
        """Drops everything; returns how many bytes will not be typed."""
        self._stop_clock()
        dropped = self._queue.drop(why)
        self._pumped()
        return dropped

    def _due(self) -> None:
        self._timer = None
        self._queue.expire()
        self.pump()

    def _stop_clock(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
