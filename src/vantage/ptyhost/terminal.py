"""One terminal of the host: its process, its two files, its input, and who is told of it.

Order is everything here: time record, bytes, other records, and only then the event. While the files cannot be written
nothing is read, told or answered that would run ahead of them.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from vantage.ptyhost import processes
from vantage.ptyhost.inputs import Input, InputQueue
from vantage.ptyhost.journal import Journal
from vantage.ptyhost.loop import HANGUP, READ, WRITE, Loop, Timer
from vantage.ptyhost.protocol import Happening
from vantage.ptyhost.pty import Inherited, Program, Pty, explain, spawn

CHUNK: Final = 65536
TURN: Final = 16384
"""Bytes read in one turn of the loop: four reads, some 0.3 ms, so that a flood does not keep others waiting."""
SHORT: Final = 256
"""A read that brings less has emptied the terminal, most likely: asking again would cost more than it brings."""
DRAIN: Final = 1024 * 1024
"""Bytes read at most to get to the end: the kernel keeps far less, but a program may print as fast as we read."""
EVENT_PAUSE: Final = 0.002
FLOOD: Final = 16 * 1024
"""Bytes within a pause that make it a flood: then one event a pause is enough. What is less is told at once."""
RETRY: Final = 0.25
"""Seconds between tries to write to a full disk, and to read a terminal that nobody has open."""
INPUT_RETRY: Final = 0.05
"""Seconds: the kernel does not always say when a terminal takes input again (it looks before room has been made)."""
KILL_CHECK: Final = 0.05
STUCK: Final = 5.0
"""Seconds after SIGKILL when a process counts as one that cannot be ended."""


class Watcher(Protocol):
    """Who is told; a connection."""

    def tell(self, terminal: "Terminal", what: Happening) -> None: ...


class Terminal:
    """Lives from the first request that names it until it is forgotten; processes come and go."""

    def __init__(self, loop: Loop, name: str, folder: str) -> None:
        self.loop = loop
        self.name = name
        self.folder = folder
        self.log = Journal(folder)
        past = self.log.look()
        self.answered = past.answered
        self.cols, self.rows = past.cols, past.rows
        self.pty: Pty | None = None
        """The process, until its exit is in the journal."""
        self.pid: int | None = None
        """Of the last process, as long as somebody of its session lives."""
        self.watchers: set[Watcher] = set()
        self.state: dict[str, Any] = {}
        """The last one journaled."""
        self._status: int | None = None
        self._inputs = InputQueue()
        self._input_timer: Timer | None = None
        self._interest = 0
        self._hung = False
        self._stalled = False
        self._when_written: list[Callable[[], None]] = []
        self._next_event = 0.0
        self._told = 0
        """How long the output was when the current pause began."""
        self._event_timer: Timer | None = None
        self._hush = b""
        """Nobody is told of output before this is in it, or the pause is over."""
        self._kills: list[Callable[[list[int]], None]] = []
        self._kill_at = 0.0
        self._kill_timer: Timer | None = None
        self._doomed: dict[int, int] = {}
        """Whom the kill is for, as pid and start: with the terminal closed nothing else says that they were in it."""
        if past.unfinished:
            self.record({"t": "lost"})
        self.rest()

    @property
    def busy(self) -> bool:
        """Something is running, being ended or still to be written."""
        return self.pty is not None or self.log.stalled or bool(self._kills)

    @property
    def stalled(self) -> bool:
        return self.log.stalled

    def start(self, program: Program, record: Mapping[str, Any], inherited: Inherited) -> None:
        """Starts a process and journals it. Raises OSError."""
        self.log.open()
        pty = spawn(program, inherited)
        self.pty, self.pid = pty, pty.pid
        self.cols, self.rows = program.cols, program.rows
        self.state = {}
        self._status = None
        self._hung = False
        # Whatever was asked before was asked by a program that is gone.
        self.answered = self.log.offset
        self.record({**record, "t": "shell", "pid": pty.pid, "cols": pty.cols, "rows": pty.rows, "cwd": program.cwd})
        self._listen()

    def reaped(self, status: int) -> None:
        """The process has ended."""
        self._status = status
        self._finish()

    def _finish(self) -> None:
        """Reads what is left, journals the exit, hangs up. Comes again after a stall."""
        if self.pty is None or self._status is None or self.log.stalled or not self.drain():
            return
        status, number = explain(self._status)
        written = self.log.record({"t": "exit", "status": status, "signal": number})
        self.loop.unwatch(self.pty.master)
        self._interest = 0
        self.pty.close()
        self.pty = None
        self._inputs.drop("ended")
        if written:
            self._ended()
        else:
            self._stall()
            self._when_written.append(self._ended)

    def _ended(self) -> None:
        if self._event_timer is not None:
            self._event_timer.cancel()
            self._event_timer = None
        self._tell(Happening.EXIT)
        self.rest()
        # The number of a session is not given out again while somebody is in it; after that it means others.
        if not self.session():
            self.pid = None
        self.check_kill()

    def look_again(self) -> None:
        """The files of a terminal without a process may have been replaced."""
        if not self.busy:
            self.log.measure()

    def rest(self) -> None:
        """An idle terminal without a process keeps no files open."""
        if self.pty is None:
            self.log.close()

    def _ready(self, events: int) -> None:
        pty = self.pty
        if pty is None:
            return
        if events & WRITE:
            self.pump()
        if events & READ:
            self._read(pty.master)
        elif events & HANGUP:
            if self._interest & READ:
                self._read(pty.master)
            else:
                self._hang()

    def _read(self, master: int) -> None:
        """One turn's worth of output: read in the kernel's small pieces, written in one."""
        pieces: list[bytes] = []
        left = TURN
        try:
            while left > 0:
                data = os.read(master, CHUNK)
                if not data:
                    self._hang()
                    break
                pieces.append(data)
                left -= len(data)
                if len(data) < SHORT:
                    break
        except BlockingIOError:
            pass
        except OSError:
            self._hang()
        if pieces:
            data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
            if self._hush and self._hush in data:
                self._speak()
            if not self.log.raw(data):
                self._stall()
                return
        self.changed()

    def drain(self) -> bool:
        """Reads to the end of what the terminal has now; false when it cannot be written."""
        if self.pty is None:
            return True
        left = DRAIN
        got = False
        try:
            while left > 0:
                data = os.read(self.pty.master, CHUNK)
                if not data:
                    break
                got = True
                left -= len(data)
                if not self.log.raw(data):
                    self._stall()
                    return False
        except OSError:  # nothing more, now or ever
            pass
        if got:
            self.changed()
        return True

    def _hang(self) -> None:
        """Nobody has the terminal open, though the process lives: epoll would say so for ever. Somebody may open it."""
        if not self._hung:
            self._hung = True
            self._listen()
            self.loop.after(RETRY, self._unhang)

    def _unhang(self) -> None:
        self._hung = False
        self._listen()

    def _listen(self) -> None:
        """Asks the loop for what is wanted now."""
        if self.pty is None:
            return
        wanted = 0 if self._hung else (0 if self._stalled else READ) | (WRITE if self._inputs else 0)
        if wanted == self._interest:
            return
        if not wanted:
            self.loop.unwatch(self.pty.master)
        elif self._interest:
            self.loop.change(self.pty.master, wanted)
        else:
            self.loop.watch(self.pty.master, wanted, self._ready)
        self._interest = wanted

    def changed(self) -> None:
        """Tells that the files have grown: at once, or soon when it was told just now."""
        if self.log.stalled or not self.watchers or self._event_timer is not None:
            return
        now = time.monotonic()
        if now >= self._next_event:
            self._next_event = now + EVENT_PAUSE
            self._told = self.log.offset
            self._tell(Happening.OUTPUT)
        elif self.log.offset - self._told < FLOOD:
            self._tell(Happening.OUTPUT)
        else:
            self._event_timer = self.loop.after(self._next_event - now, self._trailing)

    def _trailing(self) -> None:
        self._speak()
        self.changed()

    def _speak(self) -> None:
        """Whatever kept events back is over."""
        if self._event_timer is not None:
            self._event_timer.cancel()
        self._event_timer = None
        self._hush = b""
        self._next_event = 0.0

    def hush(self, until: bytes) -> None:
        """Whoever types expects something: what comes before it is told together with it, if it comes soon."""
        if self._event_timer is None:
            self._hush = until
            self._event_timer = self.loop.after(EVENT_PAUSE, self._trailing)

    def _tell(self, what: Happening) -> None:
        for watcher in tuple(self.watchers):
            watcher.tell(self, what)

    def record(self, fields: Mapping[str, Any]) -> bool:
        """Appends to the journal; false while it cannot be written, then it will be."""
        written = self.log.record(fields)
        if written:
            self.changed()
        else:
            self._stall()
        return written

    def when_written(self, call: Callable[[], None]) -> None:
        """Calls once everything so far is written: now, as a rule."""
        if self.log.stalled:
            self._when_written.append(call)
        else:
            call()

    def _stall(self) -> None:
        if self._stalled:
            return
        self._stalled = True
        self._listen()
        self._tell(Happening.STALLED)
        self.loop.after(RETRY, self._retry)

    def _retry(self) -> None:
        if not self.log.flush():
            self.loop.after(RETRY, self._retry)
            return
        self._stalled = False
        self._listen()
        self._tell(Happening.RESUMED)
        self.changed()
        calls, self._when_written = self._when_written, []
        for call in calls:
            call()
        self.pump()
        self._finish()
        self.rest()

    def accepts(self, size: int) -> bool:
        return self._inputs.fits(size)

    @property
    def idle_input(self) -> bool:
        """Nothing waits to be typed."""
        return not self._inputs

    def type(self, item: Input) -> None:
        self._inputs.add(item)
        if self._input_timer is not None:  # its deadline may be nearer
            self._input_timer.cancel()
            self._input_timer = None
        self.pump()

    def pump(self) -> None:
        """Writes what the terminal takes and keeps the clock on the rest."""
        if self.pty is not None:
            before = self.log.journal
            self._inputs.pump(self.pty, self.log)
            if self.log.stalled:
                self._stall()
            elif self.log.journal != before:
                self.changed()
        if self._inputs and self._input_timer is None:
            pause = min(INPUT_RETRY, self._inputs.next_deadline() - time.monotonic())
            self._input_timer = self.loop.after(max(pause, 0), self._input_due)
        self._listen()

    def _input_due(self) -> None:
        self._input_timer = None
        self._inputs.expire()
        self.pump()

    def interrupt(self) -> tuple[str, int]:
        """Ctrl-C that gets through: how, and the bytes that were dropped before it."""
        assert self.pty is not None
        dropped = self._inputs.drop("interrupted")
        self._listen()
        self.pty.discard_input()
        with contextlib.suppress(OSError):
            if os.write(self.pty.master, b"\x03"):
                return "typed", dropped
        group = self.pty.foreground()
        if group is not None and self.pty.modes().isig:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGINT)
                return "signal", dropped
        return "failed", dropped

    def session(self) -> list[int]:
        """Living processes of the last process's session."""
        if self.pty is not None:
            return self.pty.members()
        return processes.of_session(self.pid, 0) if self.pid is not None else []

    def _doom(self) -> list[int]:
        """Living processes of the terminal, also those that have left its session."""
        tty = self.pty.tty if self.pty is not None else 0
        self._doomed = processes.of_terminal(self.pid, tty, self._doomed)
        return list(self._doomed)

    def kill(self, grace: float, done: Callable[[list[int]], None]) -> None:
        """Ends all that runs in it; `done` gets the processes that could not be ended, when the exit is journaled."""
        now = time.monotonic()
        self._kill_at = min(self._kill_at, now + grace) if self._kills else now + grace
        self._kills.append(done)
        # The shell first: one that sees its program end would say so, as if nobody had reset it.
        members = sorted(self._doom(), key=lambda pid: pid != self.pid)
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGCONT):
            processes.send(members, number)
        self.check_kill()

    def check_kill(self) -> None:
        """Looks whether a killed session is gone. Called when a child ended, and now and then."""
        if not self._kills:
            return
        now = time.monotonic()
        members = self._doom()
        if members and now >= self._kill_at:
            processes.send(members, signal.SIGKILL)
        stuck = now >= self._kill_at + STUCK
        if (self.pty is not None or members or self.log.stalled) and not (stuck and members):
            if self._kill_timer is None:
                pause = self._kill_at - now if now < self._kill_at else KILL_CHECK
                self._kill_timer = self.loop.after(max(min(pause, KILL_CHECK), 0.001), self._kill_due)
            return
        kills, self._kills = self._kills, []
        self._doomed = {}
        for done in kills:
            done(members)

    def _kill_due(self) -> None:
        self._kill_timer = None
        self.check_kill()
