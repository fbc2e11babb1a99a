"""One agent of the host: its files, the connections that watch it, and the process that runs, from start to exit.

A message is in the journal as `sent` before its first byte is written to the process. So one that is not in the journal
has not reached it, and one that is there is never sent again.
"""

import signal
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from vantage.ptyhost import processes
from vantage.ptyhost.agent.files import AgentFiles
from vantage.ptyhost.agent.past import Past, read_past
from vantage.ptyhost.agent.pipes import InputPipe, OutputPipe, Process, spawn
from vantage.ptyhost.loop import Loop
from vantage.ptyhost.protocol import Happening
from vantage.ptyhost.shared.child import Command, Inherited, Reaped, explain
from vantage.ptyhost.shared.killing import Killing
from vantage.ptyhost.shared.output_events import OutputEvents
from vantage.ptyhost.shared.stall import Stall
from vantage.ptyhost.shared.watchers import Watcher, Watchers

LOST_GRACE_S: Final = 1.0
"""Seconds that processes get whose host was killed."""


class RunningAgent:
    """A process and its pipes."""

    def __init__(self, loop: Loop, process: Process, files: AgentFiles, *, stall: Stall, events: OutputEvents) -> None:
        self.pid = process.pid
        self.status: int | None = None
        """The wait status, once the process has been reaped."""
        self.input = InputPipe(loop, process.stdin)
        self._outputs = (
            OutputPipe(loop, process.stdout, files.log.raw, stall=stall, changed=events.changed),
            OutputPipe(loop, process.stderr, files.errors.append, stall=stall, changed=events.changed),
        )

    def listen(self) -> None:
        for output in self._outputs:
            output.listen()

    def drain(self) -> bool:
        """Reads what the process has printed so far; false when it cannot be written."""
        return all(output.drain() for output in self._outputs)

    def close(self) -> None:
        self.input.close()
        for output in self._outputs:
            output.close()


class HostedAgent:
    """Lives from the first request that names it until it is forgotten; runs come and go."""

    def __init__(self, loop: Loop, name: str, folder: str, *, spared: Callable[[], Collection[int]]) -> None:
        self.loop = loop
        self.name = name
        self.folder = folder
        self.files = AgentFiles(folder)
        past = read_past(self.files.log)
        self.run = past.run
        self.sent = past.sent
        """The number of the last message of the run whose record is written."""
        self.running: RunningAgent | None = None
        """The process, until its exit is in the journal."""
        self._spared = spared
        """Processes that are never ended with the agent."""
        self._session: int | None = None
        """The session of the last process, while it may have members."""
        self._pipes: processes.Pipes = frozenset()
        self.watchers = Watchers(self)
        self.stall = Stall(loop, self.files, began=self._stalled, resumed=self._resumed, settled=self._settled)
        self.events = OutputEvents(loop, self.files, watched=lambda: bool(self.watchers), tell=self.watchers.tell)
        self.killing = Killing(
            loop,
            self._members,
            ended=lambda: self.running is None and not self.files.stalled,
            signals=(signal.SIGTERM, signal.SIGCONT),
        )
        if past.unfinished:
            self.record({"t": "lost"})
            self._end_survivors(past)
        self.rest()

    @property
    def pid(self) -> int | None:
        """The process that runs."""
        return self.running.pid if self.running is not None else None

    @property
    def busy(self) -> bool:
        """Whether a process runs, is being ended, or has output that is still to be written."""
        return self.running is not None or self.files.stalled or self.killing.active

    def start(self, command: Command, run: str, record: Mapping[str, Any], inherited: Inherited) -> None:
        """Starts a run and journals it. Raises OSError."""
        self.files.open()
        process = spawn(command, inherited)
        self._session, self._pipes = process.pid, process.pipes()
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

    def watch(self, watcher: Watcher) -> None:
        self.watchers.add(watcher, None)

    def unwatch(self, watcher: Watcher) -> None:
        self.watchers.discard(watcher)

    def event(self, what: Happening) -> dict[str, Any]:
        why = {"why": self.files.why} if what is Happening.STALLED else {}
        return {"event": what, "agent": self.name, **self.files.lengths(), **why}

    def record(self, fields: Mapping[str, Any]) -> bool:
        """Appends to the journal; false while it cannot be written, then it will be."""
        written = self.files.log.record(fields)
        if written:
            self.events.changed()
        else:
            self.stall.begin()
        return written

    def look_again(self) -> None:
        """The files of an agent without a process may have been replaced."""
        if not self.busy:
            self.files.measure()

    def rest(self) -> None:
        """Without a process no files are kept open."""
        if self.running is None:
            self.files.close()

    def kill(self, grace: float, done: Callable[[list[int]], None]) -> None:
        """Kills every process of the agent. After the exit is journaled, `done` gets those that still live."""
        self.killing.begin(grace, done, first=self._session)

    def reap(self, found: Reaped) -> None:
        """Looks whether its process is among those that have ended."""
        if self.running is not None and self.running.pid in found.ended:
            self.running.status = found.ended[self.running.pid]
            self._finish(self.running)
        self.killing.check()

    def _finish(self, running: RunningAgent) -> None:
        """Ends a reaped process: reads what is left, journals the exit, closes the pipes. Repeats after a stall."""
        if running.status is None or self.files.stalled or not running.drain():
            return
        status, number = explain(running.status)
        written = self.files.log.record({"t": "exit", "status": status, "signal": number})
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
        if self._session is not None and not processes.of_session(self._session, 0):
            self._session = None
        self.killing.check()

    def _end_survivors(self, past: Past) -> None:
        """Ends what a killed host has left of a run, unless the number of its process belongs to another one by now."""
        if past.pid and past.boot == processes.boot() and processes.started(past.pid) in (None, past.started):
            self._session = past.pid
            self.kill(LOST_GRACE_S, lambda _left: None)

    def _listen(self) -> None:
        if self.running is not None:
            self.running.listen()

    def _stalled(self) -> None:
        self._listen()
        self.watchers.tell(Happening.STALLED)

    def _resumed(self) -> None:
        self._listen()
        self.watchers.tell(Happening.RESUMED)
        self.events.changed()

    def _settled(self) -> None:
        if self.running is not None:
            self._finish(self.running)
        self.rest()

    def _members(self, known: dict[int, int]) -> dict[int, int]:
        """Living processes of the agent as pid and start, also those that have left its session."""
        return processes.of_agent(self._session, self._pipes, known, self._spared())
