"""A terminal or an agent of the host: its files, the connections that watch it, and its process, from start to exit.

Writes keep one order: time record, bytes, other records, and only then the event. While the files cannot be written
nothing is read, told or answered that would run ahead of them.
"""

import signal
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

from vantage.ptyhost import processes
from vantage.ptyhost.loop import Loop
from vantage.ptyhost.protocol import Happening
from vantage.ptyhost.shared.child import Reaped, explain
from vantage.ptyhost.shared.killing import Killing
from vantage.ptyhost.shared.output_events import OutputEvents
from vantage.ptyhost.shared.stall import Stall
from vantage.ptyhost.shared.watchers import Watcher, Watchers


class Files(Protocol):
    """A journal, or a journal and other files."""

    @property
    def stalled(self) -> bool: ...

    @property
    def why(self) -> str: ...

    @property
    def printed(self) -> int: ...

    def record(self, fields: Mapping[str, Any]) -> bool: ...

    def flush(self) -> bool: ...

    def measure(self) -> None: ...

    def close(self) -> None: ...


class Process(Protocol):
    """A process that runs, and what connects it with the host."""

    status: int | None
    """The wait status, once the process has been reaped."""

    @property
    def pid(self) -> int: ...

    def listen(self) -> None:
        """Asks the loop for what is wanted now."""
        ...

    def drain(self) -> bool:
        """Reads what was printed so far; false when it cannot be written."""
        ...

    def resumed(self) -> None:
        """The files can be written again."""
        ...

    def close(self) -> None: ...


Running = TypeVar("Running", bound=Process)


class Hosted(ABC, Generic[Running]):
    """Lives from the first request that names it until it is forgotten; processes come and go."""

    def __init__(self, loop: Loop, name: str, folder: str, files: Files, signals: tuple[signal.Signals, ...]) -> None:
        """`signals` are what its processes get when they are to end."""
        self.loop = loop
        self.name = name
        self.folder = folder
        self.running: Running | None = None
        """The process, until its exit is in the journal."""
        self.session: int | None = None
        """The session of the last process, while a process of it lives."""
        self.watchers = Watchers(self)
        self.stall = Stall(loop, files, began=self._stalled, resumed=self._resumed, settled=self._settled)
        self.events = OutputEvents(loop, files, watched=lambda: bool(self.watchers), tell=self.watchers.tell)
        self.killing = Killing(
            loop, self.members, ended=lambda: self.running is None and not files.stalled, signals=signals
        )
        self._files = files

    @abstractmethod
    def event(self, what: Happening) -> dict[str, Any]:
        """The event that says what happened, with what is true now."""

    @abstractmethod
    def members(self, known: dict[int, int]) -> dict[int, int]:
        """Its living processes as pid and start, also those that have left its session, given those that were known."""

    @property
    def pid(self) -> int | None:
        """The process that runs."""
        return self.running.pid if self.running is not None else None

    @property
    def busy(self) -> bool:
        """Whether a process runs, is being ended, or has output that is still to be written."""
        return self.running is not None or self._files.stalled or self.killing.active

    def watch(self, watcher: Watcher, window: int | None = None) -> None:
        """Tells a watcher of output, and reads no further than its window. Called again, it moves the window."""
        self.watchers.add(watcher, window)
        self._listen()

    def unwatch(self, watcher: Watcher) -> None:
        """Ends what `watch` began."""
        self.watchers.discard(watcher)
        self._listen()

    def record(self, fields: Mapping[str, Any]) -> bool:
        """Appends to the journal; false while it cannot be written, then it will be."""
        written = self._files.record(fields)
        if written:
            self.events.changed()
        else:
            self.stall.begin()
        return written

    def look_again(self) -> None:
        """The files of one without a process may have been replaced."""
        if not self.busy:
            self._files.measure()

    def rest(self) -> None:
        """Without a process no files are kept open."""
        if self.running is None:
            self._files.close()

    def kill(self, grace: float, done: Callable[[list[int]], None]) -> None:
        """Kills all its processes. After the exit is journaled, `done` gets those that still live."""
        self.killing.begin(grace, done, first=self.session)

    def reap(self, found: Reaped) -> None:
        """Looks whether its process is among those that have ended."""
        if self.running is not None and self.running.pid in found.ended:
            self.running.status = found.ended[self.running.pid]
            self._finish(self.running)
        self.killing.check()

    def _finish(self, running: Running) -> None:
        """Ends a reaped process: reads what is left, journals the exit, hangs up. Repeats after a stall."""
        if running.status is None or self._files.stalled or not running.drain():
            return
        status, number = explain(running.status)
        written = self._files.record({"t": "exit", "status": status, "signal": number})
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
        if self.session is not None and not processes.of_session(self.session, 0):
            self.session = None
        self.killing.check()

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
            self.running.resumed()
            self._finish(self.running)
        self.rest()
