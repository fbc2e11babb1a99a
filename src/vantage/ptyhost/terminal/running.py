"""A process of a terminal with its input and its output, from its start until its exit is in the journal.

Wires one object for each job: `OutputReader` reads, `InputWriter` types, `Answers` answers queries, and `Listening`
asks the loop. Each is made for one process and ends with it.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from vantage.ptyhost import processes
from vantage.ptyhost.loop import HANGUP, READ, WRITE, Loop
from vantage.ptyhost.shared.journal import Journal
from vantage.ptyhost.shared.listening import Listening
from vantage.ptyhost.shared.output_events import OutputEvents
from vantage.ptyhost.shared.stall import Stall
from vantage.ptyhost.terminal.input.answers import Answers
from vantage.ptyhost.terminal.input.writer import InputWriter
from vantage.ptyhost.terminal.output.noticed import Noticed
from vantage.ptyhost.terminal.output.reader import OutputReader
from vantage.ptyhost.terminal.pty import Pty

STOPPED_CHECK_S: Final = 0.05


class Interrupted(NamedTuple):
    how: str
    to: int | None
    """The process group that got it."""
    dropped: int
    """Bytes of queued input."""


class Running:
    """One process that runs."""

    def __init__(
        self,
        loop: Loop,
        pty: Pty,
        log: Journal,
        secret: str,
        *,
        events: OutputEvents,
        stall: Stall,
        paused: Callable[[], bool],
    ) -> None:
        self.pty = pty
        self.began = time.monotonic()
        self.status: int | None = None
        """The wait status, once the process has been reaped."""
        self._loop = loop
        self._log = log
        self._events = events
        self._stall = stall
        self._paused = paused
        """Whether the output has reached the window of a watcher."""
        self._closed = False
        self.listening = Listening(loop, pty.master, wanted=self._wanted, ready=self._ready)
        noticed = Noticed(secret, log.offset)
        self._reader = OutputReader(pty, log, noticed, events, stall=stall.begin, hung=self.listening.hang)
        self.answers = Answers(loop, pty, log, noticed, catch_up=self._catch_up, typing=lambda: self.input.waiting)
        self.input = InputWriter(
            loop,
            pty,
            log,
            noticed,
            self.answers,
            catch_up=self.drain,
            recorded=self._recorded,
            pumped=self.listening.update,
        )

    @property
    def pid(self) -> int:
        return self.pty.pid

    def listen(self) -> None:
        """Asks the loop for what is wanted now."""
        self.listening.update()

    def resumed(self) -> None:
        """The files can be written again: input that comes with a record is typed."""
        self.input.pump()

    def drain(self) -> bool:
        """Reads to the end of what the terminal has now; false when it cannot be written."""
        return self._reader.drain()

    def interrupt(self) -> Interrupted:
        """Delivers a Ctrl-C and drops queued input."""
        self.answers.clear("waiting")
        dropped = self.input.drop("interrupted")
        self.pty.discard_input()
        how, to = self.pty.interrupt()
        return Interrupted(how, to, dropped)

    def stopped(self, *, again: bool = True) -> None:
        """Continues a shell that has stopped itself (`suspend`): there is no shell above it that could.

        A shell that is stopped while a program has the terminal was stopped by another process, which will continue it.
        That program may be the `kill` that stopped it, so the foreground is checked twice.
        """
        if self._closed:
            return
        group = self.pty.foreground()
        programs = (process.group for process in processes.living()) if group != self.pty.pid else ()
        if group not in programs:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pty.pid, signal.SIGCONT)
        elif again:
            self._loop.after(STOPPED_CHECK_S, lambda: self.stopped(again=False))

    def close(self) -> None:
        """Hangs up, and ends what waits to be read or typed."""
        self._closed = True
        self.listening.close()
        self.pty.close()
        self.answers.clear("gone")
        self.input.drop("ended")

    def _ready(self, events: int) -> None:
        if events & WRITE:
            self.input.pump()
        if events & READ:
            self._read()
        elif events & HANGUP:
            if self.listening.reads:
                self._read()
            else:
                self.listening.hang()

    def _read(self) -> None:
        if self._reader.turn():
            self.listening.update()
            self.answers.look()

    def _wanted(self) -> int:
        """The events of the master that are wanted now."""
        reads = not self._stall.active and not self._paused()
        return (READ if reads else 0) | (WRITE if self.input.wants_to_write else 0)

    def _catch_up(self) -> bool:
        return not self._paused() and self.drain()

    def _recorded(self) -> None:
        """Input was journaled: tells it, or waits for the disk."""
        if self._log.stalled:
            self._stall.begin()
        else:
            self._events.changed()
