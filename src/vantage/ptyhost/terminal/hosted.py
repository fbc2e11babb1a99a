"""One terminal of the host: its two files, the connections that watch it, and the process that runs in it.

Writes keep one order: time record, bytes, other records, and only then the event. While the files cannot be written
nothing is read, told or answered that would run ahead of them.
"""

import signal
from collections.abc import Callable, Mapping
from typing import Any

from vantage.ptyhost import processes
from vantage.ptyhost.loop import Loop
from vantage.ptyhost.protocol import Happening
from vantage.ptyhost.shared.child import Inherited, Reaped, explain
from vantage.ptyhost.shared.journal import Journal
from vantage.ptyhost.shared.killing import Killing
from vantage.ptyhost.shared.output_events import OutputEvents
from vantage.ptyhost.shared.stall import Stall
from vantage.ptyhost.shared.watchers import Watcher, Watchers
from vantage.ptyhost.terminal.calls import Calls
from vantage.ptyhost.terminal.past import read_past
from vantage.ptyhost.terminal.pty import Program, spawn
from vantage.ptyhost.terminal.running import Running


class HostedTerminal:
    """Lives from the first request that names it until it is forgotten; processes come and go."""

    def __init__(self, loop: Loop, name: str, folder: str) -> None:
        self.loop = loop
        self.name = name
        self.folder = folder
        self.log = Journal(folder)
        past = read_past(self.log)
        self.answered = past.answered
        self.cols, self.rows = past.cols, past.rows
        self.running: Running | None = None
        """The process, until its exit is in the journal."""
        self.pid: int | None = None
        """Pid of the last process, while a process of its session lives."""
        self.state: dict[str, Any] = {}
        """The value that was journaled last."""
        self.calls = Calls()
        self.watchers: Watchers = Watchers(self)
        self.stall = Stall(loop, self.log, began=self._stalled, resumed=self._resumed, settled=self._settled)
        self.events = OutputEvents(loop, self.log, watched=lambda: bool(self.watchers), tell=self.watchers.tell)
        self.killing = Killing(
            loop,
            self._members,
            ended=lambda: self.running is None and not self.log.stalled,
            signals=(signal.SIGHUP, signal.SIGTERM, signal.SIGCONT),
        )
        if past.unfinished:
            self.record({"t": "lost"})
        self.rest()

    @property
    def busy(self) -> bool:
        """Whether a process runs, is being ended, or has output that is still to be written."""
        return self.running is not None or self.log.stalled or self.killing.active

    def start(self, program: Program, record: Mapping[str, Any], inherited: Inherited) -> None:
        """Starts a process and journals it. Raises OSError."""
        self.log.open()
        pty = spawn(program, inherited)
        self.pid = pty.pid
        self.cols, self.rows = program.cols, program.rows
        self.state = {}
        # Queries from before this point came from a program that has ended.
        self.answered = self.log.offset
        secret = record.get("secret")
        self.running = Running(
            self.loop,
            pty,
            self.log,
            secret if isinstance(secret, str) else "",
            events=self.events,
            stall=self.stall,
            paused=lambda: self.watchers.pause_at(self.log.offset),
        )
        self.record(
            {**record, "t": "shell", "pid": pty.pid, "cols": pty.cols, "rows": pty.rows, "cwd": program.command.cwd}
        )
        self.running.listening.update()

    def watch(self, watcher: Watcher, window: int | None) -> None:
        """Tells a watcher of output, and reads no further than its window. Called again, it moves the window."""
        self.watchers.add(watcher, window)
        self._listen()

    def unwatch(self, watcher: Watcher) -> None:
        """Ends what `watch` began."""
        self.watchers.discard(watcher)
        self._listen()

    def event(self, what: Happening) -> dict[str, Any]:
        event: dict[str, Any] = {"event": what, "terminal": self.name}
        if what in (Happening.OUTPUT, Happening.EXIT):
            event["offset"], event["journal"] = self.log.offset, self.log.journal
        elif what is Happening.STALLED:
            event["why"] = self.log.why
        return event

    def record(self, fields: Mapping[str, Any]) -> bool:
        """Appends to the journal; false while it cannot be written, then it will be."""
        written = self.log.record(fields)
        if written:
            self.events.changed()
        else:
            self.stall.begin()
        return written

    def look_again(self) -> None:
        """The files of a terminal without a process may have been replaced."""
        if not self.busy:
            self.log.measure()

    def rest(self) -> None:
        """An idle terminal without a process keeps no files open."""
        if self.running is None:
            self.log.close()

    def kill(self, grace: float, done: Callable[[list[int]], None]) -> None:
        """Kills every process of the terminal. After the exit is journaled, `done` gets those that still live."""
        self.killing.begin(grace, done, first=self.pid)

    def reap(self, found: Reaped) -> None:
        """Looks whether its process is among those that have ended or were stopped."""
        running = self.running
        if running is not None:
            if running.pty.pid in found.stopped:
                running.stopped()
            if running.pty.pid in found.ended:
                running.status = found.ended[running.pty.pid]
                self._finish(running)
        self.killing.check()

    def _finish(self, running: Running) -> None:
        """Ends a reaped process: reads what is left, journals the exit, hangs up. Repeats after a stall."""
        if running.status is None or self.log.stalled or not running.drain():
            return
        status, number = explain(running.status)
        written = self.log.record({"t": "exit", "status": status, "signal": number})
        running.close()
        self.running = None
        if not written:
            self.stall.begin()
        self.stall.when_written(self._ended)

    def _ended(self) -> None:
        self.events.stop()
        self.watchers.tell(Happening.EXIT)
        self.rest()
        # The kernel does not reuse a session's number while a process is in it, but it may do so afterwards.
        if self.pid is not None and not processes.of_session(self.pid, 0):
            self.pid = None
        self.killing.check()

    def _listen(self) -> None:
        if self.running is not None:
            self.running.listening.update()

    def _stalled(self) -> None:
        self._listen()
        self.watchers.tell(Happening.STALLED)

    def _resumed(self) -> None:
        self._listen()
        self.watchers.tell(Happening.RESUMED)
        self.events.changed()

    def _settled(self) -> None:
        if self.running is not None:
            self.running.input.pump()
            self._finish(self.running)
        self.rest()

    def _members(self, known: dict[int, int]) -> dict[int, int]:
        """Living processes of the terminal as pid and start, also those that have left its session."""
        return processes.of_terminal(self.pid, self.running.pty.tty if self.running is not None else 0, known)
