"""Answers to programs' terminal queries: written while the program that asked can read them, else never.

An answer has no line end, so only a program that has switched canonical mode off can read it. A program may ask first
and switch right after, and it may ask and leave without reading: the answer waits until a process is seen waiting for
input. It is dropped when the program no longer has the terminal, when the shell has printed a mark since the query, or
at its deadline. Otherwise a shell would find it in its line editor.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

from vantage.ptyhost.terminal.input.readers import reads
from vantage.ptyhost.terminal.output.noticed import Noticed
from vantage.ptyhost.terminal.pty import Pty

WAIT_S: Final = 0.5
"""How long an answer waits for its program to read single characters."""
UNREAD_S: Final = 0.2
"""After so long an answer is written even if no process is seen waiting: a program may poll for it."""
CHECK_S: Final = 0.003
"""Seconds between two looks at the terminal; also how long the shell's own modes must have lasted before it is
answered: its end mark may still be on its way through the kernel.
"""
MAX_WAITING: Final = 64

Verdict = Literal["write", "wait", "drop"]


@dataclass(slots=True, eq=False)
class Reply:
    """One answer."""

    query: int
    """Offset in the output at which the query ended."""
    data: bytes
    by_shell: bool
    """The shell itself asked, at its prompt, and reads answers there (fish): its own marks do not outdate them."""
    done: Callable[[bool], None]
    """Called once: whether it was written."""
    deadline: float = field(default_factory=lambda: time.monotonic() + WAIT_S, init=False)
    settled: bool = field(default=False, init=False)
    """An earlier check saw the shell in the foreground with canonical mode off."""


class Replies:
    """The answers that wait for one terminal, in order."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: deque[Reply] = deque()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, reply: Reply) -> None:
        if len(self._waiting) == MAX_WAITING:
            reply.done(False)
        else:
            self._waiting.append(reply)

    def clear(self) -> None:
        while self._waiting:
            self._waiting.popleft().done(False)

    def pump(self, pty: Pty, noticed: Noticed, write: Callable[[bytes], bool]) -> None:
        """Writes and drops answers that can be decided now. All output so far must have been noticed."""
        while self._waiting:
            verdict = _verdict(self._waiting[0], pty, noticed)
            if verdict == "wait":
                return
            reply = self._waiting.popleft()
            reply.done(verdict == "write" and write(reply.data))


def _verdict(reply: Reply, pty: Pty, noticed: Noticed) -> Verdict:
    if time.monotonic() >= reply.deadline or (noticed.marked > reply.query and not reply.by_shell):
        return "drop"
    group, asked = pty.foreground(), noticed.group_at(reply.query)
    if group is None or (group != pty.pid and (reply.by_shell or group != asked)):
        return "drop"
    if pty.modes().canonical:
        return "wait"
    if group == pty.pid and noticed.has_marks and not reply.settled:
        reply.settled = True
        return "wait"
    if time.monotonic() < reply.deadline - WAIT_S + UNREAD_S and reads(group, pty.tty) == "no":
        return "wait"
    return "write"
