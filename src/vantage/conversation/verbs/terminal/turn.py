"""A turn: a verb that types or starts something, and the wait for what comes of it, as one call.

`asked` reads the wait before anything is typed, so that a call with a wrong `wait_for` does nothing. `acted` runs the
first half. `waited` calls the wait verb's own function, with the cursor that the first half returned. The result has
the fields of both.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import msgspec

from vantage.conversation.verbs.fields import read_params, unknown_fields
from vantage.conversation.verbs.terminal.params import (
    DEFAULT_TIMEOUT_MS,
    ExecBlock,
    ExecInteractive,
    Keys,
    Send,
    WaitFor,
)
from vantage.conversation.verbs.terminal.pty_terminal import PtyTerminal
from vantage.conversation.verbs.terminal.results import Turned
from vantage.conversation.verbs.terminal.wait import wait_on
from vantage.errors import Invalid
from vantage.terminal.output.match import condition

A = TypeVar("A")
T = TypeVar("T", bound=Turned)

_BESIDE_A_CONDITION = frozenset({"timeout_ms", "from_cursor", "session_id", "max_bytes", "max_output"})
"""Fields of a wait that may be given beside a condition: `{"text": "ready", "timeout_ms": 5000}`."""


async def asked(terminal: PtyTerminal, params: ExecBlock | ExecInteractive | Keys | Send) -> WaitFor | None:
    """The wait that a call asks for; raises if it is impossible. Its own limits take precedence over the call's."""
    if params.wait_for is None:
        return None
    of_the_call = {"timeout_ms": params.timeout_ms or DEFAULT_TIMEOUT_MS, "max_output": params.max_output}
    fields = {**of_the_call, **_fields(params.wait_for)}
    if unknown := unknown_fields(WaitFor, fields):
        raise Invalid(f"`wait_for`: {unknown[0]}", hint="it takes a condition, or an object with `match`")
    wait, _ = read_params(WaitFor, fields)
    condition(wait.match, 0, regex=wait.regex)
    if wait.from_cursor is not None:
        await terminal.live.join_host()
        terminal.valid_cursor(wait.from_cursor)
    if wait.session_id is not None:
        terminal.block_of(wait.session_id)
    return wait


def _fields(wait_for: str | dict[str, Any]) -> dict[str, Any]:
    """The fields of a wait, from a condition or from an object with `match`."""
    if isinstance(wait_for, str) or not wait_for:
        return {"match": wait_for}
    if "match" in wait_for:
        return wait_for
    beside = {name: value for name, value in wait_for.items() if name in _BESIDE_A_CONDITION}
    return {"match": {name: value for name, value in wait_for.items() if name not in beside}, **beside}


async def acted(wait: WaitFor | None, act: Coroutine[Any, Any, A]) -> A:
    """Runs the first half of a turn. A caller that leaves cancels the wait, and never half of what is typed."""
    return await (act if wait is None else asyncio.shield(act))


async def waited(terminal: PtyTerminal, wait: WaitFor | None, done: T, block_id: str | None) -> T:
    """The result of a turn: `done` with the fields of a wait. The end of the command `block_id` ends the wait."""
    if wait is None:
        return done
    if wait.session_id is not None:
        block_id = terminal.block_of(wait.session_id)
    if wait.from_cursor is None:
        wait = msgspec.structs.replace(wait, from_cursor=done.cursor)
    facts = msgspec.structs.asdict(await wait_on(terminal, wait, block_id, ends=block_id is not None))
    del facts["ok"]
    return msgspec.structs.replace(done, **facts)
