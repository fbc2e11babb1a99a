"""What the host answers to "does the foreground wait for input?", as values."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from vantage.errors import VantageError
from vantage.ptyhost.protocol import Op

Awaiting = Literal["secret", "line", "key"]


class Because(msgspec.Struct, frozen=True, omit_defaults=True):
    """The evidence that a program waits for input."""

    process: Annotated[str | None, Meta(description="The program that waits")] = None
    pid: Annotated[int | None, Meta(description="Its process")] = None
    call: Annotated[
        str, Meta(description="The system call on the terminal that it waits in; empty when it may not be looked at")
    ] = ""
    echo: Annotated[bool, Meta(description="Whether the terminal shows what is typed")] = False
    canonical: Annotated[bool, Meta(description="Whether the terminal gives the program whole lines")] = False
    line_editor: Annotated[bool, Meta(description="Whether the program has loaded a library that edits lines")] = False


class HostAnswer(msgspec.Struct, frozen=True):
    waits: Literal["yes", "no", "unknown"]
    why: str
    offset: int
    """How long the raw output was: longer output outdates the answer."""
    what: Awaiting | None
    because: Because


UNKNOWN = HostAnswer("unknown", "host", -1, None, Because())


async def ask_awaits(ask: Callable[..., Awaitable[dict[str, Any]]], **fields: int) -> HostAnswer:
    """Asks the host. The answer is unknown if the host is of an earlier version or the shell ended just now."""
    try:
        answer = await ask(Op.AWAITS, **fields)
    except VantageError:
        return UNKNOWN
    because = Because(
        process=answer["process"],
        pid=answer["pid"],
        call=answer["call"],
        echo=bool(answer["echo"]),
        canonical=bool(answer["canonical"]),
        line_editor=answer["line_editor"],
    )
    return HostAnswer(answer["waits"], answer["why"], answer["offset"], answer["what"], because)
