"""Calls with an id, which may be sent again: after a restart of the server, or twice at once. Nothing is done twice.

A caller gives a call its own id (`call_id`), and sends it again with the same id when no answer came. While the call
runs in this process, both callers get the result of the one execution (`RunningCalls`). After a restart the verb looks
up what is known of it: the id of a command is in the journal and in its block; the ids of inputs are known to the PTY
host, which outlives the server. If neither knows the id, and something may have been done, the answer is `Interrupted`.

The running verb reads its call with `current`: the call is not among the parameters, because it does not change what a
verb does.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from vantage.conversation.verbs.fields import read_params
from vantage.conversation.verbs.verb import Params
from vantage.errors import Conflict, Do, HostSilent, Interrupted, Unavailable

if TYPE_CHECKING:
    from vantage.conversation.verbs.terminal.pty_terminal import PtyTerminal

R = TypeVar("R")


class Call(Params, frozen=True):
    """The identity of a call. Its fields are sent beside those of a verb."""

    call_id: Annotated[str, Meta(min_length=8, max_length=100, pattern=r"^[\w.:-]+\Z")]
    call_age_ms: Annotated[int, Meta(ge=0)] | None = None
    """How long ago the call was first sent; None if it was not sent before."""

    @property
    def repeated(self) -> bool:
        return self.call_age_ms is not None


class Earlier(msgspec.Struct, frozen=True):
    """What the PTY host knows of a call that was begun before."""

    facts: dict[str, Any] = {}
    """What was kept when the call began."""
    taken: int = 0
    size: int = 0
    """How much of the call's input was written, and how much there is."""
    why: str | None = None
    """Why the rest was not written."""

    @property
    def complete(self) -> bool:
        """Whether everything was written."""
        return 0 < self.size == self.taken


_current: ContextVar[Call | None] = ContextVar("call", default=None)


def current() -> Call | None:
    """The call that the running verb executes."""
    return _current.get()


def repeated() -> bool:
    """Whether the call of the running verb was sent before."""
    call = current()
    return call is not None and call.repeated


def take_call(fields: dict[str, Any]) -> Call | None:
    """Takes the call's fields out of the verb's fields."""
    given = {name: fields.pop(name) for name in Call.__struct_fields__ if name in fields}
    return read_params(Call, given)[0] if given.get("call_id") is not None else None


def interrupted() -> Interrupted:
    return Interrupted(
        "the Vantage server ended during this call, and how far the call came is not known",
        do=[Do("status", "shows what the terminal does now"), Do("read_screen", "shows what was typed")],
    )


async def typed_earlier(terminal: "PtyTerminal") -> Earlier | None:
    """The state of this call's input in the host; None if nothing of it was written.

    Raises `Interrupted` for a repeated call if its shell is gone or its host does not remember calls.
    """
    if (call := current()) is None:
        return None
    await terminal.live.join_host()
    if not terminal.live.alive and not call.repeated:
        return None
    said = await _remember(terminal, call)
    _check_known(call, said)
    earlier = msgspec.convert(said or {}, Earlier)
    return earlier if earlier.taken or earlier.why else None


async def begun_with(terminal: "PtyTerminal", *, certain: bool = False, **facts: Any) -> dict[str, Any]:
    """The facts with which this call began: those that were kept the first time, else these, which are kept now.

    With `certain`, raises `Interrupted` if it is not certain that a repeated call has not begun before.
    """
    if (call := current()) is None:
        return facts
    try:
        said = await _remember(terminal, call, facts)
    except HostSilent:
        if certain:
            raise
        return facts
    if certain:
        _check_known(call, said)
    return said["facts"] if said is not None else facts


def _check_known(call: Call, said: dict[str, Any] | None) -> None:
    """Raises for a repeated call that the host may have known: an earlier version, or one that has ended since."""
    if call.call_age_ms is None or (said is not None and said["known"]):
        return
    shell_age_ms = said["age_ms"] if said is not None else None
    if shell_age_ms is None or shell_age_ms < call.call_age_ms:
        raise interrupted()


async def keep(terminal: "PtyTerminal", **facts: Any) -> None:
    """Replaces the facts that are kept with this call."""
    if (call := current()) is not None:
        with contextlib.suppress(Unavailable):
            await _remember(terminal, call, facts, replace=True)


async def _remember(
    terminal: "PtyTerminal", call: Call, facts: Mapping[str, Any] | None = None, **how: bool
) -> dict[str, Any] | None:
    """The host's record of a call; None for a host of an earlier version, which keeps none."""
    if not (await terminal.live.link.host()).remembers:
        return None
    kept = {"facts": facts} if facts is not None else {}
    return await terminal.live.ask("remember", call=call.call_id, **kept, **how)


class _Running:
    __slots__ = ("asked", "callers", "task")

    def __init__(self, asked: object, task: "asyncio.Future[Any]") -> None:
        self.asked = asked
        self.task = task
        self.callers = 0


class RunningCalls:
    """The running calls of one terminal."""

    def __init__(self) -> None:
        self._running: dict[str, _Running] = {}

    async def run(self, call: Call | None, asked: object, act: Callable[[], Awaitable[R]]) -> R:
        """Runs `act` once for all callers of the same call; `asked` is the request, which must be the same.

        It is cancelled when its last caller is.
        """
        if call is None:
            return await act()
        running = self._running.get(call.call_id)
        if running is None:
            running = self._running[call.call_id] = _Running(asked, asyncio.ensure_future(_as(call, act)))
            running.task.add_done_callback(lambda _: self._running.pop(call.call_id))
        elif running.asked != asked:
            raise Conflict(f"call {call.call_id} runs already, and asks for something else", hint="use another call_id")
        running.callers += 1
        try:
            result: R = await asyncio.shield(running.task)
        finally:
            running.callers -= 1
            if not running.callers and not running.task.done():
                running.task.cancel()
        return result


async def _as(call: Call, act: Callable[[], Awaitable[R]]) -> R:
    _current.set(call)  # of this task
    return await act()
