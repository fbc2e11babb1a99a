"""One terminal of the host: its two files, the connections that watch it, and the process that runs in it."""

import signal
from collections.abc import Mapping
from typing import Any

from vantage.ptyhost import processes
from vantage.ptyhost.loop import Loop
from vantage.ptyhost.protocol import Happening
from vantage.ptyhost.shared.child import Inherited, Reaped
from vantage.ptyhost.shared.hosted import Hosted
from vantage.ptyhost.shared.journal import Journal
from vantage.ptyhost.terminal.calls import Calls
from vantage.ptyhost.terminal.past import read_past
from vantage.ptyhost.terminal.pty import Program, spawn
from vantage.ptyhost.terminal.running import Running


class HostedTerminal(Hosted[Running]):
    def __init__(self, loop: Loop, name: str, folder: str) -> None:
        self.log = Journal(folder)
        super().__init__(loop, name, folder, self.log, (signal.SIGHUP, signal.SIGTERM, signal.SIGCONT))
        past = read_past(self.log)
        self.answered = past.answered
        self.cols, self.rows = past.cols, past.rows
        self.state: dict[str, Any] = {}
        """The value that was journaled last."""
        self.calls = Calls()
        if past.unfinished:
            self.record({"t": "lost"})
        self.rest()

    def start(self, program: Program, record: Mapping[str, Any], inherited: Inherited) -> None:
        """Starts a process and journals it. Raises OSError."""
        self.log.open()
        pty = spawn(program, inherited)
        self.session = pty.pid
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
        size = {"cols": pty.cols, "rows": pty.rows}
        self.record({**record, "t": "shell", "pid": pty.pid, **size, "cwd": program.command.cwd})
        self.running.listen()

    def event(self, what: Happening) -> dict[str, Any]:
        event: dict[str, Any] = {"event": what, "terminal": self.name}
        if what in (Happening.OUTPUT, Happening.EXIT):
            event["offset"], event["journal"] = self.log.offset, self.log.journal
        elif what is Happening.STALLED:
            event["why"] = self.log.why
        return event

    def reap(self, found: Reaped) -> None:
        """Looks whether its process is among those that have ended or were stopped."""
        if self.running is not None and self.running.pid in found.stopped:
            self.running.stopped()
        super().reap(found)

    def members(self, known: dict[int, int]) -> dict[int, int]:
        return processes.of_terminal(self.session, self.running.pty.tty if self.running is not None else 0, known)
