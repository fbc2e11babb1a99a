"""A tool call, from arguments to answer, over every transport: its conversation, its time limit, its note.

Calls are short and can be repeated: a call waits `mcp_wait` seconds at most, and a wait that timed out has lost
nothing. A call with an id may be sent again after a restart of the server, and is not executed twice.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from vantage.conversation.verbs.table import TERMINAL_VERBS
from vantage.conversation.verbs.terminal.calls import interrupted, take_call
from vantage.conversation.verbs.terminal.params import DEFAULT_TIMEOUT_MS
from vantage.errors import (
    Conflict,
    Do,
    InputError,
    NotFound,
    ReadOnly,
    VantageError,
    did_you_mean,
    to_wire,
)
from vantage.server.mcp import words
from vantage.server.mcp.asking import REQUEST as ASK
from vantage.server.mcp.asking import ask
from vantage.server.mcp.lean import lean
from vantage.server.mcp.tools import TOOLS, Set, Tool
from vantage.server.security.scoped import Reach
from vantage.server.security.tokens import Scope
from vantage.server.services import Services
from vantage.terminal.output.match import CONDITIONS

PROGRESS_S = 3.0
"""Seconds between two progress messages of a call that waits."""
SO_FAR = 4000
"""Characters of the output of a command that has not ended."""

CALL_ID = "dev.vantage/callId"
CALL_AGE = "dev.vantage/callAgeMs"
"""The fields in `_meta` of a request: the call's id, and how long ago it was first sent if it is sent again."""

Progress = Callable[[float, float, str], Awaitable[None]]
"""Called while a call waits, with the seconds gone, the seconds at most and a message."""


class Answer(msgspec.Struct, frozen=True):
    text: str
    fields: dict[str, Any] | None = None
    """The structured content that the tool's schema promises; None for an error."""
    error: dict[str, Any] | None = None
    """`code`, `message`, `hint`; `steps` where there are any."""


class Outcome(NamedTuple):
    """A verb's result, with the facts that the note needs."""

    fields: dict[str, Any]
    nothing_runs: bool = False
    """A wait ended without a match, and nothing runs."""


@dataclass(slots=True)
class Caller:
    """Who calls: an agent's process, or a client over HTTP."""

    services: Services
    tools: Set = "core"
    scope: Scope = "full"
    reach: Reach | None = None
    """The conversations that the caller's token reaches; None: all."""
    conversation: str | None = None
    """The caller's conversation. None: one is made when it is needed."""
    remembers: bool = True
    """Whether the caller keeps a conversation that is made: its calls share this object."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings of conversations that are made for the caller: directory and environment."""
    name: str = ""
    """The name of those conversations."""
    known: set[str] = field(default_factory=set)
    """Conversations that are known to exist."""
    told: set[str] = field(default_factory=set)
    """Conversations whose id and address the caller was told."""

    def may(self, tool: Tool) -> bool:
        return self.scope != "read" or tool.reads


async def answer(
    caller: Caller,
    name: str,
    arguments: dict[str, Any],
    progress: Progress | None = None,
    meta: Mapping[str, Any] | None = None,
) -> Answer:
    """Executes a tool call. Errors are answers; only an unknown tool is raised. `meta` may have the call's id."""
    tool = find(name)
    given = {key: value for key, value in arguments.items() if value is not None}
    try:
        if not caller.may(tool):
            steps = [Do("read_screen"), Do("status"), Do("read_block")]
            raise ReadOnly(f"{name} changes something, and this token may only read", do=steps)
        stated = given.pop("conversation_id", None)
        conversation_id, made = await _conversation(caller, stated, looks=tool.needs_terminal)
        call = _call(tool, meta or {})
        given = _lenient(tool.request, given)
        if tool.request == ASK:
            outcome = await _asked(caller, conversation_id, given, (meta or {}).get(CALL_ID), progress)
        else:
            outcome = await _do(caller, conversation_id, tool.request, given, call, progress)
    except VantageError as error:
        return Answer(words.error_text(error), error={**to_wire(error), "hint": words.hint_of(error)})
    result = outcome.fields
    lines = [words.text_of(tool.request, result), words.selected_text(result)]
    slips = [words.slip_note(each) for each in result.get("notes", ())]
    notes = [result.get("note", ""), *slips, *result.get("warnings", ())]
    if outcome.nothing_runs:
        notes.append(words.nothing_runs_note(result))
    else:
        notes.append(words.next_step(tool.request, result))
    if made and not caller.remembers:
        notes.append(f'This terminal is new: pass conversation_id="{conversation_id}" to go on in it.')
    shown = lean(tool.request, given, result)
    shown.pop("note", None)
    if note := words.joined(notes):
        lines.append(note)
        shown["note"] = note
    first = conversation_id not in caller.told
    if (made or first) and conversation_id != stated:
        shown["conversation_id"] = conversation_id
    if first:
        caller.told.add(conversation_id)
        shown["watch"] = caller.services.url
        lines.append(f"People can watch this at {caller.services.url} (conversation {conversation_id}).")
    return Answer("\n".join(filter(None, lines)), shown)


def _call(tool: Tool, meta: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a verb that say which call it is. Looking, and what is no verb of a terminal, needs none."""
    if tool.request == ASK:
        return {}  # the request's id is made of the call's
    if tool.request not in TERMINAL_VERBS:
        if meta.get(CALL_AGE) is not None and not tool.read_only:
            raise interrupted()
        return {}
    if TERMINAL_VERBS[tool.request].reads:
        return {}
    call = take_call({"call_id": meta.get(CALL_ID), "call_age_ms": meta.get(CALL_AGE)})
    return call.given() if call is not None else {}


def find(name: str) -> Tool:
    tool = TOOLS.get(name)
    if tool is None:
        raise NotFound(f"there is no tool {name!r}", hint=did_you_mean(name, TOOLS, otherwise="list the tools"))
    return tool


async def look(caller: Caller, conversation_id: str | None, request: str) -> tuple[str, str]:
    """A conversation's id, and its text of one kind: from `instructions`, or from `read_screen`."""
    found, _ = await _conversation(caller, conversation_id, looks=True)
    return found, str((await _ask(caller, found, request, {})).get("text") or "")


# the conversation


async def _conversation(caller: Caller, stated: Any, *, looks: bool) -> tuple[str, bool]:
    """The conversation's id, and whether it was made just now. `looks` makes none: there must be one."""
    if stated is not None and not isinstance(stated, str):
        raise InputError(f"conversation_id is a text, not {type(stated).__name__}", hint="leave it out for your own")
    wanted = stated or caller.conversation
    if wanted and caller.reach is not None and await _is_there(caller, wanted):
        caller.reach.check(wanted)
    if wanted in caller.known:
        return str(wanted), False
    if caller.scope == "read" and not wanted:
        raise InputError("conversation_id is missing", hint="a read-only token makes no conversation: name one")
    if caller.scope == "read" or looks:
        await _exists(caller, wanted)
        return str(wanted), False
    found = await _make(caller, wanted)
    if found is None:
        caller.known.add(str(wanted))
        return str(wanted), False
    caller.known.add(found)
    if not stated and caller.remembers:
        caller.conversation = found
    return found, True


async def _is_there(caller: Caller, conversation_id: str) -> bool:
    try:
        await caller.services.bus.request(conversation_id, "describe")
    except NotFound:
        return False
    return True


async def _exists(caller: Caller, wanted: str | None) -> None:
    """Raises unless the conversation exists."""
    try:
        if wanted:
            await caller.services.bus.request(wanted, "describe")
            return
    except NotFound:
        pass
    steps = [Do("exec_block", "starts one"), Do("exec_interactive", "starts one")]
    raise NotFound(f"there is no terminal {wanted!r}" if wanted else "there is no terminal yet", do=steps)


async def _make(caller: Caller, wanted: str | None) -> str | None:
    """The id of a new conversation with the caller's settings; None when `wanted` exists."""
    named = {"id": wanted} if wanted else {}
    if caller.name:
        named["name"] = caller.name
    if caller.reach is not None:
        named["created_by"] = caller.reach.conversation
    try:
        made = await caller.services.bus.request("", "create", **named, **caller.settings)
    except Conflict:
        return None
    return str(made["id"])


async def _ask(caller: Caller, conversation_id: str, request: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Sends the conversation's owner a request; a conversation that was deleted meanwhile is made again."""
    bus = caller.services.bus
    try:
        return await bus.request(conversation_id, request, **fields)
    except NotFound:
        if caller.scope == "read" or await _make(caller, conversation_id) is None:
            raise
        return await bus.request(conversation_id, request, **fields)


# the request


def _lenient(request: str, given: dict[str, Any]) -> dict[str, Any]:
    """Corrects what models sometimes write: an object or a list as a text, one event without a list around it."""
    for name, is_meant in (_WRITTEN_AS_TEXT.get(request, ("", bool)), ("wait_for", _is_wait)):
        said = given.get(name)
        if isinstance(said, str) and said[:1] in ("{", "["):
            with suppress(ValueError):
                read = json.loads(said)
                if is_meant(read):
                    given[name] = read
    if request == "append" and isinstance(given.get("events"), dict):
        given["events"] = [given["events"]]
    return given


def _is_condition(read: Any) -> bool:
    return isinstance(read, dict) and len(read) == 1 and read.keys() <= CONDITIONS


def _is_wait(read: Any) -> bool:
    return isinstance(read, dict) and ("match" in read or not read.keys().isdisjoint(CONDITIONS))


def _is_list(read: Any) -> bool:
    return isinstance(read, list)


_WRITTEN_AS_TEXT: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "wait_for": ("match", _is_condition),
    "keys": ("keys", _is_list),
    "append": ("events", lambda read: isinstance(read, (list, dict))),
    ASK: ("options", _is_list),
}


async def _asked(
    caller: Caller, conversation_id: str, given: dict[str, Any], call_id: Any, progress: Progress | None
) -> Outcome:
    longest = caller.services.config.mcp_wait
    async with _Reporting(progress, longest):
        return Outcome(await ask(caller, conversation_id, given, call_id, longest))


async def _do(
    caller: Caller,
    conversation_id: str,
    request: str,
    given: dict[str, Any],
    call: dict[str, Any],
    progress: Progress | None,
) -> Outcome:
    if request == "wait_for" and not await _has_shell(caller, conversation_id):
        given["timeout_ms"] = 0  # only output from before can be found
    longest = _bounded(request, given, caller.services.config.mcp_wait, call.get("call_age_ms") or 0)
    async with _Reporting(progress if longest else None, longest):
        result = await _ask(caller, conversation_id, request, {**given, **call})
    if "matched" in result:
        return await _waited(caller, conversation_id, result)
    if request == "exec_block" and result.get("running"):
        await _add_output_so_far(caller, conversation_id, result, given.get("max_output", SO_FAR))
    return Outcome(result)


def _bounded(request: str, given: dict[str, Any], longest: float, waited_ms: int) -> float:
    """Bounds the wait of a call; returns how many seconds it waits at most, 0 if it does not wait.

    `waited_ms` is how long a call that is sent again has waited already; its client counts from there.
    """
    wait = given.get("wait_for")
    if wait is None and request not in ("exec_block", "wait_for"):
        return 0
    where = given
    if isinstance(wait, dict) and "timeout_ms" in wait:
        where = given["wait_for"] = dict(wait)
    if type(asked := where.get("timeout_ms", DEFAULT_TIMEOUT_MS)) is not int:  # the verb refuses it
        return longest
    bounded = min(asked, round(longest * 1000))
    if bounded > 0:
        bounded = max(bounded - waited_ms, 1)
    where["timeout_ms"] = bounded
    return bounded / 1000


async def _has_shell(caller: Caller, conversation_id: str) -> bool:
    status = await _ask(caller, conversation_id, "status", {})
    return status["shell_id"] is not None and status["mode"] != "exited"


async def _add_output_so_far(caller: Caller, conversation_id: str, result: dict[str, Any], limit: int) -> None:
    """A command that has not ended has its output so far; one that draws on the screen has `screen`."""
    bus = caller.services.bus
    status = await bus.request(conversation_id, "status") if "awaiting" not in result else {}
    _tell_secret(result, status)
    if not result.get("screen"):
        block = {"block_id": result["block_id"], "part": "tail", "max_output": min(limit, SO_FAR)}
        result["output"] = (await bus.request(conversation_id, "read_block", **block))["output"]


async def _waited(caller: Caller, conversation_id: str, result: dict[str, Any]) -> Outcome:
    """A wait for an end has how it ended."""
    if result.get("output") is not None:
        result.pop("tail", None)  # the end of `output`
    if result["matched"] and result["reason"] not in ("prompt", "eof"):
        return Outcome(result)
    bus = caller.services.bus
    status = await bus.request(conversation_id, "status")
    if result["matched"]:
        if status["mode"] == "idle" and status["last_exit_code"] is not None and "exit_code" not in result:
            result["last_exit_code"] = status["last_exit_code"]
        return Outcome(result)
    _tell_secret(result, status)
    return Outcome(result, nothing_runs=status["mode"] in ("idle", "exited") and result["reason"] == "timeout")


def _tell_secret(result: dict[str, Any], status: dict[str, Any]) -> None:
    """Sets `awaiting_secret`: the program waits for a secret, or the terminal is set up for one."""
    if result.get("awaiting") == "secret" or status.get("awaiting_secret"):
        result["awaiting_secret"] = True


class _Reporting:
    """Reports progress while a call waits."""

    def __init__(self, progress: Progress | None, longest: float) -> None:
        self._progress = progress
        self._longest = longest
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        if self._progress is not None:
            self._task = asyncio.get_running_loop().create_task(self._report(self._progress))

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _report(self, progress: Progress) -> None:
        waited = 0.0
        while True:
            await asyncio.sleep(PROGRESS_S)
            waited += PROGRESS_S
            await progress(waited, self._longest, f"waiting, {waited:.0f} of {self._longest:.0f} s")
