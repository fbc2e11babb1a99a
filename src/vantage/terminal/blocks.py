"""Blocks: one command, where its output is, and how it ended."""

from collections.abc import Iterator
from typing import Literal

import msgspec

Origin = Literal["exec", "interactive", "typed"]
Reason = Literal["mark", "incomplete", "exit", "ended", "reset", "lost"]
"""Why a block is over: the shell said so; it asked for more and was cancelled; it is gone; `end_session`; `reset`; the
host died."""


class Span(msgspec.Struct, frozen=True, array_like=True):
    """Bytes from `start` up to `end`; a pair for those who take it apart."""

    start: int
    end: int

    def __iter__(self) -> Iterator[int]:
        return iter((self.start, self.end))

    def __getitem__(self, index: int) -> int:
        return (self.start, self.end)[index]

    @property
    def size(self) -> int:
        return self.end - self.start


class Block(msgspec.Struct, omit_defaults=False):
    """One command of a conversation's terminal."""

    block_id: str
    seq: int
    cmd: str
    cwd: str | None
    origin: Origin
    ts_begin: int
    spool: Span
    raw: Span
    """Where its output is. `end` grows while it runs."""
    shell_id: str
    session_id: str | None = None
    ts_end: int | None = None
    exit_code: int | None = None
    done_because: Reason | None = None
    duration_ms: float | None = None
    alt_screen: bool = False
    """Whether it drew on the alternate screen."""
    exec_id: str | None = None
    """The request that ran it."""
    marks: list[Span] = []
    """Marks of ours inside its raw span: they are not its output."""

    @property
    def running(self) -> bool:
        return self.done_because is None

    @property
    def size(self) -> int:
        """Bytes that it printed."""
        return self.raw.size - sum(span.size for span in self.marks)


MOST_MARKS = 10_000
"""Marks of ours that a block remembers; a script in a line editor prints one for each of its commands."""


def block_id(seq: int) -> str:
    return f"b{seq}"
