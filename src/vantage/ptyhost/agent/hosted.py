"""One agent of the host: its three files, the connections that watch it, and the process that runs.

A message is in the journal as `sent` before its first byte is written to the process. So one that is not in the journal
has not reached it, and one that is there is never sent again.
"""

import signal
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from vantage.ptyhost import processes
from vantage.ptyhost.agent.files import AgentFiles
from vantage.ptyhost.agent.past import Past, read_past
from vantage.ptyhost.agent.running import RunningAgent, spawn
from vantage.ptyhost.loop import Loop
from vantage.ptyhost.protocol import Happening
from vantage.ptyhost.shared.child import Command, Inherited
from vantage.ptyhost.shared.hosted import Hosted

LOST_GRACE_S: Final = 1.0
"""Seconds that processes get whose host was killed."""


class HostedAgent(Hosted[RunningAgent]):
    def __init__(self, loop: Loop, name: str, folder: str, *, spared: Callable[[], Collection[int]]) -> None:
        """`spared` gives processes that are never ended with the agent."""
        self.files = AgentFiles(folder)
        super().__init__(loop, name, folder, self.files, (signal.SIGTERM, signal.SIGCONT))
        past = read_past(self.files.log)
        self.run = past.run
        self.sent = past.sent
        """The number of the last message of the run whose record is written."""
        self._spared = spared
        self._pipes: processes.Pipes = frozenset()
        if past.unfinished:
            self.record({"t": "lost"})
            self._end_survivors(past)
        self.rest()

    def start(self, command: Command, run: str, record: Mapping[str, Any], inherited: Inherited) -> None:
        """Starts a run and journals it. Raises OSError."""
        self.files.open()
        process = spawn(command, inherited)
        self.session, self._pipes = process.pid, process.pipes()
        self.run, self.sent = run, 0
        self.running = RunningAgent(self.loop, process, self.files, stall=self.stall, events=self.events)
        facts = {
            "pid": process.pid,
            "started": processes.started(process.pid),
            "boot": processes.boot(),
            "cwd": command.cwd,
            "stderr": self.files.errors.length,
        }
        self.record({**record, "t": "start", "run": run, **facts})
        self.running.listen()

    def write(self, n: int, data: bytes, text: str, record: Mapping[str, Any], done: Callable[[], None]) -> None:
        """Journals the next message, then writes it, then calls `done`. The journal must not be stalled."""
        running = self.running

        def journaled() -> None:
            self.sent = n
            if running is not None:
                running.input.write(data)
            done()

        self.record({"t": "sent", "n": n, "data": text, **record})
        self.stall.when_written(journaled)

    def event(self, what: Happening) -> dict[str, Any]:
        why = {"why": self.files.why} if what is Happening.STALLED else {}
        return {"event": what, "agent": self.name, **self.files.lengths(), **why}

    def members(self, known: dict[int, int]) -> dict[int, int]:
        return processes.of_agent(self.session, self._pipes, known, self._spared())

    def _end_survivors(self, past: Past) -> None:
        """Ends what a killed host has left of a run, unless the number of its process belongs to another one by now."""
        if past.pid and past.boot == processes.boot() and processes.started(past.pid) in (None, past.started):
            self.session = past.pid
            self.kill(LOST_GRACE_S, lambda _left: None)
