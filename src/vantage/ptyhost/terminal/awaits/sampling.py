"""Looks at a terminal's foreground several times: it waits for input when every look says so and nothing happens.

Between two looks nothing is printed or typed, the thread that waits does not run, and the processes of the group use
next to no CPU time. The first look that says otherwise ends the sampling. The looks are timers of the host's loop.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from vantage.ptyhost import processes
from vantage.ptyhost.loop import Loop
from vantage.ptyhost.shared.journal import Journal
from vantage.ptyhost.terminal.awaits.evidence import Look, Use, Waits, has_line_editor, look, use
from vantage.ptyhost.terminal.pty import Modes
from vantage.ptyhost.terminal.running import Running

SAMPLES: Final = 4
EVERY_MS: Final = 100
CPU_SHARE: Final = 0.05
"""Share of the time that other threads of the foreground may use: interpreters wake up now and then."""

Awaited = Literal["secret", "line", "key"]


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether the foreground waits for input, for what, and the evidence."""

    waits: Waits
    why: str
    offset: int
    """How long the output was. Longer output outdates the answer."""
    what: Awaited | None = None
    process: str | None = None
    pid: int | None = None
    call: str = ""
    echo: bool | None = None
    canonical: bool | None = None
    line_editor: bool = False
    """It reads keys, and has loaded a library that makes lines of them."""

    def fields(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Sample:
    look: Look
    modes: Modes
    thread: Use
    group: int


class Sampling:
    """Takes samples until one says no, or all have said yes; then `done` is called once."""

    def __init__(
        self, loop: Loop, running: Running, log: Journal, samples: int, every: float, done: Callable[[Answer], None]
    ) -> None:
        self._loop = loop
        self._running = running
        self._log = log
        self._left = samples
        self._every = every
        self._done = done
        self._offset = log.offset
        self._before: _Sample | None = None

    def take(self) -> None:
        """Takes a sample now, and the others in time."""
        why = self._happened()
        if why:
            self._done(Answer("no", why, self._offset))
            return
        sample = self._sample()
        if sample.look.waits != "yes" or (self._before is not None and not self._rests(self._before, sample)):
            waits: Waits = sample.look.waits if sample.look.waits != "yes" else "no"
            why = sample.look.why if sample.look.waits != "yes" else "works"
            self._done(self._answer(sample, waits, why))
            return
        self._before = sample
        self._left -= 1
        if self._left <= 0:
            self._done(self._answer(sample, "yes", sample.look.why))
        else:
            self._loop.after(self._every, self.take)

    def _happened(self) -> str:
        """What happened since the first sample, or is about to happen."""
        pty = self._running.pty
        if pty.master < 0:
            return "ended"
        if self._log.offset != self._offset or pty.unread_output():
            return "output"
        return "input" if self._running.input.waiting or pty.has_unread_input() else ""

    def _sample(self) -> _Sample:
        pty = self._running.pty
        modes, group = pty.modes(), pty.foreground()
        found, members = Look("no", "ended"), list[int]()
        if group is not None:
            found, members = look(group, pty.pid, pty.tty, canonical=modes.canonical)
        if found.why == "opaque" and modes.secret:
            # No program but one that asks for a secret leaves the terminal like this.
            found = Look("yes", "settings", found.pid)
        thread = use(found.pid, found.thread) if found.pid is not None and found.waits == "yes" else Use(0, 0)
        total = sum(use(pid).nanoseconds for pid in members) if found.waits == "yes" else 0
        return _Sample(found, modes, thread, total)

    def _rests(self, before: _Sample, now: _Sample) -> bool:
        """Whether the same thread waits without having run, in a group that does nothing."""
        same = (before.look, before.modes, before.thread.runs) == (now.look, now.modes, now.thread.runs)
        return same and now.group - before.group <= self._every * CPU_SHARE * 1e9

    def _answer(self, sample: _Sample, waits: Waits, why: str) -> Answer:
        modes, found = sample.modes, sample.look
        awaited: Awaited = "secret" if modes.secret else "line" if modes.canonical else "key"
        return Answer(
            waits,
            why,
            self._offset,
            what=awaited if waits == "yes" else None,
            process=processes.name_of(found.pid) if found.pid is not None else None,
            pid=found.pid,
            call=found.call,
            echo=modes.echo,
            canonical=modes.canonical,
            line_editor=waits == "yes" and not modes.canonical and found.pid is not None and has_line_editor(found.pid),
        )
