"""Bytes that were written for one program: watched until it has read them, discarded when it ends before that.

What a program leaves unread is read by the next one, usually the shell: a secret would become a command line, and an
answer to a query would be typed into the line editor.

A secret's unfinished line does not reach the terminal at all. In canonical mode no program could read it before its
end, so it waits here.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

from vantage.ptyhost.terminal.output.noticed import Noticed
from vantage.ptyhost.terminal.pty import Pty

LINE_ENDS: Final = b"\r\n\x04"
ARRIVAL_S: Final = 0.05
"""Seconds after which a written byte can be counted: the kernel must first move it to the line discipline."""

Outcome = Literal["read", "gone", "waiting"]


@dataclass(frozen=True, slots=True)
class Asker:
    """The program that has the terminal at one moment."""

    group: int | None
    offset: int
    """How long the output was."""
    secret: bool
    """It asks for a secret: the prompt ends when the terminal echoes again."""

    def is_gone(self, pty: Pty, noticed: Noticed) -> bool:
        if noticed.marked > self.offset:
            return True
        return not pty.modes().secret if self.secret else pty.foreground() != self.group


@dataclass(slots=True, eq=False)
class Unread:
    """Bytes that were written for an asker. `done` is called once with the outcome, or at the deadline with the news
    that they still wait.
    """

    asker: Asker
    done: Callable[[Outcome], None] | None = None
    deadline: float = 0.0
    began: float = field(default_factory=time.monotonic, init=False)
    arrived: bool = field(default=False, init=False)

    def look(self, pty: Pty, noticed: Noticed) -> Outcome:
        """Whether it was read. Unread bytes are discarded when the asker has gone, wherever they are in the kernel."""
        gone, unread = self.asker.is_gone(pty, noticed), pty.unread()
        self.arrived = self.arrived or unread > 0 or time.monotonic() - self.began > ARRIVAL_S
        if gone and (unread or not self.arrived):
            pty.discard_input()
        if not unread and (gone or self.arrived):
            return "read"
        return "gone" if gone else "waiting"

    def tell(self, outcome: Outcome) -> None:
        done, self.done = self.done, None
        if done is not None:
            done(outcome)


class SecretLine:
    """The beginning of a secret's line, held until the rest of the line is typed."""

    __slots__ = ("_asker", "_held")

    def __init__(self) -> None:
        self._held = b""
        self._asker: Asker | None = None

    @property
    def began(self) -> bool:
        return bool(self._held)

    def outdated(self, pty: Pty, noticed: Noticed) -> bool:
        """Whether the program that the beginning was typed for has gone; then the beginning is dropped."""
        if self._asker is None or not self._asker.is_gone(pty, noticed):
            return False
        self.forget()
        return True

    def hold(self, data: bytes, asker: Asker) -> None:
        self._held += data
        if self._asker is None:
            self._asker = asker

    def take(self) -> bytes:
        held = self._held
        self.forget()
        return held

    def forget(self) -> None:
        self._held, self._asker = b"", None


def line_end(data: bytes) -> int:
    """Where the last finished line of a text ends; 0 when there is none."""
    return max(data.rfind(LINE_ENDS[at : at + 1]) for at in range(len(LINE_ENDS))) + 1
