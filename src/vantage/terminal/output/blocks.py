"""Blocks: one command, where its output is, and how it ended."""

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Origin = Literal["exec", "interactive", "typed"]
Reason = Literal["mark", "incomplete", "exit", "ended", "reset", "lost"]
"""Why a block is over. In order: the shell reported it; it was incomplete and was cancelled; the shell is gone;
`end_session`; `reset`; the host died, or the shell's hooks no longer run.
"""


class ByteRange(msgspec.Struct, frozen=True, array_like=True):
    """Bytes from `start` up to `end`; it unpacks as a pair."""

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

    block_id: Annotated[str, Meta(description="Which command")]
    seq: Annotated[int, Meta(description="The number of the command")]
    cmd: Annotated[str, Meta(description="The command as it was given")]
    cwd: Annotated[str | None, Meta(description="The working directory")]
    origin: Annotated[Origin, Meta(description="`exec`, `interactive` or `typed`")]
    ts_begin: Annotated[int, Meta(description="When it began, in milliseconds since the epoch")]
    spool: Annotated[
        ByteRange, Meta(description="Where its output is in the spool: from, to. The end grows while it runs")
    ]
    raw: Annotated[ByteRange, Meta(description="Where it is in the raw output: from, to. The end grows while it runs")]
    shell_id: Annotated[str, Meta(description="Which shell: a reset or an exit brings another")]
    session_id: Annotated[str | None, Meta(description="Which interactive program")] = None
    ts_end: Annotated[int | None, Meta(description="When it ended, in milliseconds since the epoch")] = None
    exit_code: Annotated[int | None, Meta(description="Of the command; null when the shell did not report it")] = None
    done_because: Annotated[
        Reason | None, Meta(description="Why it ended: `mark`, `incomplete`, `exit`, `ended`, `reset` or `lost`")
    ] = None
    duration_ms: Annotated[float | None, Meta(description="How long it took")] = None
    alt_screen: Annotated[bool, Meta(description="Whether it drew on the alternate screen")] = False
    exec_id: Annotated[str | None, Meta(description="The request that ran it")] = None
    marks: Annotated[
        list[ByteRange], Meta(description="Marks of ours inside its raw output, which are not its own")
    ] = []

    @property
    def running(self) -> bool:
        return self.done_because is None

    @property
    def size(self) -> int:
        """Bytes that it printed."""
        return self.raw.size - sum(span.size for span in self.marks)


MAX_MARKS = 10_000
"""The most marks of ours that a block remembers; a script in a line editor prints one for each of its commands."""


def block_id(seq: int) -> str:
    return f"b{seq}"
