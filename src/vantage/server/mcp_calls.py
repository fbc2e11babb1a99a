"""A tool call, from arguments to answer, whatever carries it: whose terminal, how long, what to say.

Calls are short and can be issued again: one waits `mcp_wait` seconds at most, and what it waited for is there still.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec

from vantage.conversation.verbs import DEFAULT_TIMEOUT_MS
from vantage.errors import Busy, Conflict, InputError, NotFound, ReadOnly, SecretPrompt, VantageError, nearest_word
from vantage.server import mcp_words as words
from vantage.server.mcp_tools import TOOLS, Set, Tool, without_plumbing
from vantage.server.services import Services
from vantage.server.tokens import Scope

PROGRESS_S = 3.0
"""Between two words about a call that waits."""
SO_FAR = 4000
"""Characters of what a command printed that has not ended."""

CONDITIONS = frozenset(
    {"text", "regex", "prompt", "eof", "screen", "screen_gone", "title", "quiet_ms", "secret_prompt", "foreground"}
    | {"any", "all"}
)

Progress = Callable[[float, float, str], Awaitable[None]]
"""Told while a call waits: seconds gone, seconds at most, a sentence."""


class UnknownTool(NotFound):
    pass


class Answer(msgspec.Struct, frozen=True):
    text: str
    fields: dict[str, Any] | None = None
    """What the tool's schema promises; None for an error."""
    error: dict[str, str] | None = None
    """`code`, `message`, `hint`."""


@dataclass(slots=True)
class Caller:
    """Who calls: an agent's process, or whoever speaks HTTP."""

    services: Services
    tools: Set = "core"
    scope: Scope = "full"
    conversation: str | None = None
    """Theirs. None: a new one is made when it is needed."""
    remembers: bool = True
    """What is made for them stays theirs: calls come one after the other from the same one."""
    settings: dict[str, Any] = field(default_factory=dict)
    """How conversations are made for them: their directory and environment."""
    name: str = ""
    """What people see of who it is."""
    known: set[str] = field(default_factory=set)
    """Conversations that are there."""
    told: set[str] = field(default_factory=set)
    """Conversations of which it was said where they can be watched."""

    def may(self, tool: Tool) -> bool:
        return self.scope == "full" or tool.reads


async def answer(caller: Caller, name: str, arguments: dict[str, Any], progress: Progress | None = None) -> Answer:
    """Does what a tool says. Errors are answers; only a tool that nobody knows is raised."""
    tool = find(name)
    given = {key: value for key, value in arguments.items() if value is not None}
    conversation_id = ""
    try:
        if not caller.may(tool):
            raise ReadOnly(f"{name} changes something, and this token may only look")
        conversation_id, made = await _conversation(caller, given.pop("conversation_id", None))
        result = await _do(caller, conversation_id, tool.request, _lenient(tool.request, given), progress)
    except VantageError as error:
        return await _refusal(caller, conversation_id, error)
    result["conversation_id"] = conversation_id
    lines = [words.TEXTS[tool.request](result)]
    if tool.request == "read_screen" and "rows" in result and not given.get("cursor"):
        result.pop("text", None)  # the same once more
    notes = [result.get("note", ""), *result.get("warnings", ())]
    if tool.request in words.NOTES:
        notes.append(words.NOTES[tool.request](result))
    if made and not caller.remembers:
        notes.append(f'This terminal is new: pass conversation_id="{conversation_id}" to go on in it.')
    if note := words.joined(notes):
        lines.append(note)
        result["note"] = note
    if conversation_id not in caller.told:
        caller.told.add(conversation_id)
        result["watch"] = caller.services.url
        lines.append(f"People can watch this at {caller.services.url} (conversation {conversation_id}).")
    return Answer("\n".join(filter(None, lines)), result)


def find(name: str) -> Tool:
    tool = TOOLS.get(name)
    if tool is None:
        near = nearest_word(name, TOOLS)
        raise UnknownTool(f"there is no tool {name!r}", hint=f"did you mean {near}?" if near else "list the tools")
    return tool


async def look(caller: Caller, conversation_id: str | None, request: str) -> tuple[str, str]:
    """A conversation's id, and its text of one kind: `instructions`, or `read_screen`."""
    found, _ = await _conversation(caller, conversation_id)
    return found, str((await _ask(caller, found, request, {})).get("text") or "")


# whose terminal


async def _conversation(caller: Caller, stated: Any) -> tuple[str, bool]:
    """The conversation that is meant, and whether it was made just now."""
    if stated is not None and not isinstance(stated, str):
        raise InputError(f"conversation_id is a text, not {type(stated).__name__}", hint="leave it out for your own")
    wanted = stated or caller.conversation
    if wanted in caller.known:
        return str(wanted), False
    if caller.scope == "read":
        if not wanted:
            raise InputError("conversation_id is missing", hint="this token may only look: say at which conversation")
        await caller.services.bus.request(wanted, "describe")
        return wanted, False
    found = await _make(caller, wanted)
    if found is None:
        caller.known.add(str(wanted))
        return str(wanted), False
    caller.known.add(found)
    if not stated and caller.remembers:
        caller.conversation = found
    return found, True


async def _make(caller: Caller, wanted: str | None) -> str | None:
    """A conversation of the caller's kind; None when there is one of that name."""
    named = {"id": wanted} if wanted else {}
    if caller.name:
        named["name"] = caller.name
    try:
        made = await caller.services.bus.request("", "create", **named, **caller.settings)
    except Conflict:
        return None
    return str(made["id"])


async def _ask(caller: Caller, conversation_id: str, request: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Asks its owner; a conversation that was deleted meanwhile is made anew."""
    bus = caller.services.bus
    try:
        return await bus.request(conversation_id, request, **fields)
    except NotFound:
        if caller.scope == "read" or await _make(caller, conversation_id) is None:
            raise
        return await bus.request(conversation_id, request, **fields)


# what is asked


def _lenient(request: str, given: dict[str, Any]) -> dict[str, Any]:
    """Models write an object or a list as a text now and then, and one event without a list around it."""
    name, is_meant = _WRITTEN_AS_TEXT.get(request, ("", bool))
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
    return isinstance(read, dict) and len(read) == 1 and next(iter(read)) in CONDITIONS


def _is_list(read: Any) -> bool:
    return isinstance(read, list)


_WRITTEN_AS_TEXT: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "wait_for": ("match", _is_condition),
    "keys": ("keys", _is_list),
    "append": ("events", lambda read: isinstance(read, (list, dict))),
}


async def _do(
    caller: Caller, conversation_id: str, request: str, given: dict[str, Any], progress: Progress | None
) -> dict[str, Any]:
    if request in ("exec_block", "wait_for"):
        if request == "wait_for" and not await _has_shell(caller, conversation_id):
            given["timeout_ms"] = 0  # only what was printed before can be found
        longest = caller.services.config.mcp_wait
        if type(asked := given.get("timeout_ms", DEFAULT_TIMEOUT_MS)) is int:  # else it is refused
            given["timeout_ms"] = min(asked, longest * 1000)
            longest = given["timeout_ms"] / 1000
        async with _Telling(progress, longest):
            result = await _ask(caller, conversation_id, f"pty_{request}", given)
        return await _completed(caller, conversation_id, request, result)
    if request in ("append", "instructions"):
        return await _ask(caller, conversation_id, request, given)
    if request == "keys":
        return await _press(caller, conversation_id, given)
    return without_plumbing(request, await _ask(caller, conversation_id, f"pty_{request}", given))


async def _has_shell(caller: Caller, conversation_id: str) -> bool:
    status = await _ask(caller, conversation_id, "status", {})
    return status["shell_id"] is not None and status["mode"] != "exited"


async def _completed(caller: Caller, conversation_id: str, request: str, result: dict[str, Any]) -> dict[str, Any]:
    """With what somebody needs to see who waited: for an end, how it ended; in vain, what there is instead."""
    bus = caller.services.bus
    if request == "exec_block" and not result.get("running"):
        return result
    if request == "wait_for" and result["matched"] and result["reason"] not in ("prompt", "eof"):
        return result
    status = await bus.request(conversation_id, "status")
    if request == "wait_for" and result["matched"]:
        if status["mode"] == "idle" and status["last_exit_code"] is not None:
            result["last_exit_code"] = status["last_exit_code"]
        return result
    if status["awaiting_secret"]:
        result["awaiting_secret"] = True
    if request == "wait_for" and status["mode"] in ("idle", "exited") and result["reason"] == "timeout":
        result["note"] = words.nothing_runs_note(result)
    if request == "exec_block":
        block = {"block_id": result["block_id"], "part": "tail", "max_output": SO_FAR}
        result["output"] = (await bus.request(conversation_id, "read_block", **block))["output"]
    elif status["alt_screen"]:
        result["screen"] = (await bus.request(conversation_id, "read_screen")).get("text") or ""
    return result


async def _press(caller: Caller, conversation_id: str, given: dict[str, Any]) -> dict[str, Any]:
    """Keys; where a prompt for a secret takes none, Ctrl-C and Ctrl-D leave it all the same."""
    try:
        return await _ask(caller, conversation_id, "pty_keys", given)
    except SecretPrompt:
        keys = given.get("keys")
        pressed = keys[0] if isinstance(keys, list) and len(keys) == 1 else keys
        verb = {"C-c": "pty_ctrl_c", "C-d": "pty_ctrl_d"}.get(pressed) if isinstance(pressed, str) else None
        if verb is None:
            raise
        session = {name: given[name] for name in ("session_id",) if name in given}
        return await _ask(caller, conversation_id, verb, session)


async def _refusal(caller: Caller, conversation_id: str, error: VantageError) -> Answer:
    hint = words.way_out(error)
    if isinstance(error, Busy):
        with suppress(VantageError):
            hint = words.busy_way_out(await caller.services.bus.request(conversation_id, "status"))
    said = {"code": error.code, "message": error.message, "hint": hint}
    return Answer(words.error_text(**said), error=said)


class _Telling:
    """While a call waits, its caller hears now and then that it does."""

    def __init__(self, progress: Progress | None, longest: float) -> None:
        self._progress = progress
        self._longest = longest
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        if self._progress is not None:
            self._task = asyncio.get_running_loop().create_task(self._tell(self._progress))

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _tell(self, progress: Progress) -> None:
        waited = 0.0
        while True:
            await asyncio.sleep(PROGRESS_S)
            waited += PROGRESS_S
            await progress(waited, self._longest, f"waiting, {waited:.0f} of {self._longest:.0f} s")
