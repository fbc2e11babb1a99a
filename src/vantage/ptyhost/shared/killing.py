"""Ends all processes of a terminal or an agent: politely, then with SIGKILL, and says which are left."""

import signal
import time
from collections.abc import Callable
from typing import Final, Protocol

from vantage.ptyhost import processes
from vantage.ptyhost.connection import Request
from vantage.ptyhost.loop import Loop, Timer
from vantage.ptyhost.protocol import Code

CHECK_S: Final = 0.05
STUCK_S: Final = 5.0
"""Seconds after SIGKILL when a process counts as one that cannot be ended."""


class Killing:
    """The end of a terminal's or an agent's processes. Requests that come while it is under way join it."""

    def __init__(
        self,
        loop: Loop,
        find: Callable[[dict[int, int]], dict[int, int]],
        *,
        ended: Callable[[], bool],
        signals: tuple[signal.Signals, ...],
    ) -> None:
        self._loop = loop
        self._find = find
        """Living processes that are to end as pid and start, given those that were known."""
        self._ended = ended
        """Whether the exit of the leading process is in the journal."""
        self._signals = signals
        """What they get first, in this order."""
        self._requests: list[Callable[[list[int]], None]] = []
        self._kill_at = 0.0
        self._timer: Timer | None = None
        self._known: dict[int, int] = {}
        """Processes to kill, as pid and start: once terminal or pipes are closed, nothing says that they had them."""

    @property
    def active(self) -> bool:
        return bool(self._requests)

    def begin(self, grace: float, done: Callable[[list[int]], None], *, first: int | None) -> None:
        """Signals all processes; `done` gets those that could not be ended.

        The leading process is signalled `first`: a shell would report the end of its program as if there were no reset.
        """
        now = time.monotonic()
        self._kill_at = min(self._kill_at, now + grace) if self._requests else now + grace
        self._requests.append(done)
        members = sorted(self._living(), key=lambda pid: pid != first)
        for number in self._signals:
            processes.send(members, number)
        self.check()

    def check(self) -> None:
        """Looks whether all processes are gone. Called when a child ended, and now and then."""
        if not self._requests:
            return
        now = time.monotonic()
        members = self._living()
        if members and now >= self._kill_at:
            processes.send(members, signal.SIGKILL)
        stuck = now >= self._kill_at + STUCK_S
        if (not self._ended() or members) and not (stuck and members):
            if self._timer is None:
                pause = self._kill_at - now if now < self._kill_at else CHECK_S
                self._timer = self._loop.after(max(min(pause, CHECK_S), 0.001), self._due)
            return
        requests, self._requests = self._requests, []
        self._known = {}
        for done in requests:
            done(members)

    def _due(self) -> None:
        self._timer = None
        self.check()

    def _living(self) -> list[int]:
        self._known = self._find(self._known)
        return list(self._known)


class Lengths(Protocol):
    """A journal, as far as the answer to a kill is concerned."""

    @property
    def offset(self) -> int: ...

    @property
    def journal(self) -> int: ...


def answer_killed(request: Request, log: Lengths) -> Callable[[list[int]], None]:
    """Answers a request to kill, once it is called with the processes that could not be ended."""

    def done(left: list[int]) -> None:
        if left:
            request.refuse(
                Code.STILL_RUNNING,
                f"processes {', '.join(map(str, left))} did not end by SIGKILL: they belong to another user, or "
                "hang in the kernel",
                pids=left,
            )
        else:
            request.answer(offset=log.offset, journal=log.journal)

    return done
