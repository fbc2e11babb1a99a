"""Writes answers to queries when their programs can read them, and watches what was written until it is read.

One thing at a time is watched: the last answer or the last secret. When its program leaves without reading it, the
kernel's copy is thrown away.
"""

import os
import time
from collections.abc import Callable
from typing import Final

from vantage.ptyhost.loop import Loop, Timer
from vantage.ptyhost.shared.journal import Journal
from vantage.ptyhost.terminal.input.replies import CHECK_S, Replies, Reply
from vantage.ptyhost.terminal.input.unread import Asker, Outcome, Unread
from vantage.ptyhost.terminal.output.noticed import Noticed
from vantage.ptyhost.terminal.pty import Pty

UNREAD_S: Final = 0.5
UNREAD_CHECK_S: Final = 0.02
"""Seconds between checks of input that has been unread for more than `UNREAD_S` seconds."""


class Answers:
    """The answers of one process, and what it has not read yet."""

    __slots__ = ("_catch_up", "_log", "_loop", "_noticed", "_pty", "_replies", "_timer", "_typing", "_unread")

    def __init__(
        self,
        loop: Loop,
        pty: Pty,
        log: Journal,
        noticed: Noticed,
        *,
        catch_up: Callable[[], bool],
        typing: Callable[[], bool],
    ) -> None:
        self._loop = loop
        self._pty = pty
        self._log = log
        self._noticed = noticed
        self._catch_up = catch_up
        """Reads everything that was printed so far; false when that is not possible now."""
        self._typing = typing
        """Whether typed input waits to be written."""
        self._replies = Replies()
        self._unread: Unread | None = None
        self._timer: Timer | None = None

    def add(self, reply: Reply) -> None:
        """Answers a program, now or as soon as it can read the answer."""
        self._replies.add(reply)
        self.look()

    def watch(self, unread: Unread) -> None:
        """Watches what was just written for a program, instead of what was written before it."""
        if self._unread is not None:
            self._unread.tell("waiting")
        self._unread = unread

    def make_way(self) -> None:
        """Input is about to be typed. It would be thrown away with an answer that is still watched."""
        if self._unread is not None:
            self.look()
        if self._unread is not None and not self._unread.asker.secret:
            self._unread = None

    def look(self) -> None:
        """Writes answers whose program can read them, and throws away what a program has left unread."""
        if self._unread is not None:
            outcome = self._unread.look(self._pty, self._noticed)
            if outcome != "waiting":
                self._unread.tell(outcome)
                self._unread = None
            elif time.monotonic() >= self._unread.deadline:
                self._unread.tell(outcome)
        if self._replies and self._catch_up():
            self._replies.pump(self._pty, self._noticed, self._write)
        if (self._replies or self._unread is not None) and self._timer is None:
            late = not self._replies and self._unread and time.monotonic() - self._unread.began > UNREAD_S
            self._timer = self._loop.after(UNREAD_CHECK_S if late else CHECK_S, self._due)

    def clear(self, outcome: Outcome) -> None:
        """Drops the answers that wait, and watches no longer: what was written last ends with this outcome."""
        self._replies.clear()
        if self._unread is not None:
            self._unread.tell(outcome)
            self._unread = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _due(self) -> None:
        self._timer = None
        self.look()

    def _write(self, data: bytes) -> bool:
        if self._typing():  # the program does not read: an answer in the middle of typed input is worse than none
            return False
        asker = Asker(self._pty.foreground(), self._log.offset, secret=False)
        try:
            written = os.write(self._pty.master, data)
        except OSError:
            return False
        self.watch(Unread(asker))
        return written == len(data)
