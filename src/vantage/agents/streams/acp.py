"""Agent Client Protocol: `session/update` notifications, alone or within a log of the whole JSON-RPC traffic.

A call is told piece by piece: its name and arguments may follow its announcement, so it begins here when it is known
what it does. Version 1 ends a turn with the answer to the prompt, version 2 with a `state_update`.
"""

import base64
import binascii
from collections.abc import Iterator
from typing import Any, Literal

from vantage import events as ev
from vantage.agents.adapter import Adapter, Known, silent, unknown
from vantage.agents.streams.acp_calls import described, details_of, exit_code, output_of
from vantage.agents.values import Object, content_text, message_of, number, obj, objects, text, whole_number
from vantage.events import Agent, Event, Json

_UPDATE = "session/update"
_SILENT = (
    "available_commands_update", "current_mode_update", "config_option_update", "session_info_update", "mode_update",
)  # fmt: skip
_REASONING = ("agent_thought_chunk", "agent_thought")
_USAGE = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cachedReadTokens": "cached_input_tokens",
    "thoughtTokens": "reasoning_tokens",
}
_ENDED = ("completed", "failed", "cancelled", "canceled")
_PROMPT, _PERMISSION = "session/prompt", "session/request_permission"
_OF_CLIENTS = ("fs/", "terminal/")
_OF_TERMINALS = ("terminal/output", "terminal/wait_for_exit")


class Acp(Adapter):
    """One method for each kind of message, listed in `known`, hence their number."""

    def __init__(self) -> None:
        super().__init__()
        self.known = {
            _UPDATE: Known(self._update),
            _PROMPT: Known(self._prompt),
            _PERMISSION: Known(self._permission),
            **dict.fromkeys(_OF_TERMINALS, Known(self._asked_terminal)),
            "response": Known(self._response),
            "request": Known(self._request),
        }
        self._updates: dict[str, Known] = {
            "user_message_chunk": Known(self._user),
            "user_message": Known(self._user),
            "agent_message_chunk": Known(self._chunk),
            "agent_thought_chunk": Known(self._chunk),
            "agent_message": Known(self._whole),
            "agent_thought": Known(self._whole),
            "tool_call": Known(self._call),
            "tool_call_update": Known(self._call),
            "tool_call_content_chunk": Known(self._call_chunk),
            "terminal_output_chunk": Known(self._terminal),
            "plan": Known(self._plan),
            "plan_update": Known(self._plan),
            "usage_update": Known(self._usage_update),
            "state_update": Known(self._state),
            **silent(*_SILENT),
        }
        self._speaking = ""
        self._count = 0
        self._heard: list[str] = []
        """What the user is saying, chunk by chunk; an event when something else comes."""
        self._prompted = ""
        self._pending: dict[str, Object] = {}
        """Calls and all that is known of them."""
        self._terminals: dict[str, str] = {}
        """Terminal → the call that has it."""
        self._asked: dict[str, str] = {}
        """Request → the terminal whose output or end it asks for."""
        self._prompts: set[str] = set()
        """Prompts that are not answered yet."""
        self._client_asked: set[str] = set()
        """What agents ask of their clients, and is not answered yet: both sides count their requests from the start."""
        self._permissions: dict[str, tuple[str, list[str]]] = {}
        """Request → the call that asks for leave, and which answers refuse it."""
        self._codes: dict[str, int] = {}
        """Terminal → how its command ended."""
        self._steps: list[Object] | None = None
        self._usage: dict[str, Any] = {}
        self._idle = True

    def kind(self, message: Object) -> str:
        if any(
            "sessionUpdate" in place for place in (obj(message, "params", "update"), obj(message, "update"), message)
        ):
            return _UPDATE
        if method := text(message, "method"):
            if "jsonrpc" not in message:
                return ""
            return method if method in self.known else "request"
        answers = "jsonrpc" in message and "id" in message and ("result" in message or "error" in message)
        return "response" if answers else ""

    def finish(self) -> list[Event]:
        shown = [event for call_id, call in self._pending.items() for event in self._begin(call_id, call, sure=True)]
        return [*self._user_said(), *shown]

    # JSON-RPC

    def _update(self, message: Object) -> Iterator[Event]:
        params = obj(message, "params") or message
        update = obj(params, "update") or params
        kind = text(update, "sessionUpdate")
        known = self._updates.get(kind)
        if not kind.startswith("user_message"):
            yield from self._user_said()
        if known is None:
            yield unknown(kind or _UPDATE, message)
        else:
            yield from known.handle(update)

    def _prompt(self, message: Object) -> Iterator[Event]:
        self._prompted = content_text(obj(message, "params").get("prompt"))
        self._idle = False
        self._prompts.add(str(message.get("id")))
        if self._prompted:
            yield ev.UserMessage(text=self._prompted)

    def _request(self, message: Object) -> tuple[Event, ...]:
        if text(message, "method").startswith(_OF_CLIENTS):
            self._client_asked.add(str(message.get("id")))
        return ()

    def _asked_terminal(self, message: Object) -> tuple[Event, ...]:
        self._asked[str(message.get("id"))] = text(message.get("params"), "terminalId")
        return self._request(message)

    def _permission(self, message: Object) -> Iterator[Event]:
        """Whether a call may be made. It may say more of the call than was said before, or be the first word of it."""
        params = obj(message, "params")
        call, options = obj(params, "toolCall"), objects(params, "options")
        refusals = [text(one, "optionId") for one in options if text(one, "kind").startswith("reject")]
        self._client_asked.add(str(message.get("id")))
        if call_id := text(call, "toolCallId"):
            self._permissions[str(message.get("id"))] = (call_id, refusals)
            yield from self._call({"sessionUpdate": "tool_call", **call})

    def _response(self, message: Object) -> Iterator[Event]:
        number_of = str(message.get("id"))
        if message.get("error"):
            yield ev.Error(message=words_of_error(message["error"]))
            if number_of in self._client_asked:
                self._client_asked.discard(number_of)
            elif number_of in self._prompts:
                self._prompts.discard(number_of)
                yield from self._turn_over("error")
            return
        result = obj(message, "result")
        reason, outcome = text(result, "stopReason"), obj(result, "outcome")
        if not reason:
            self._client_asked.discard(number_of)
        if reason:
            self._prompts.discard(number_of)
            self._usage |= _usage(result)
            yield from self._turn_over(reason)
        elif outcome and number_of in self._permissions:
            call_id, refusals = self._permissions.pop(number_of)
            if call_id in self._pending and text(outcome, "optionId") in refusals:
                self._pending[call_id]["_refused"] = True
        elif number_of in self._asked and ("output" in result or "exitCode" in result):
            yield from self._terminal_said(self._asked.pop(number_of), result)

    def _terminal_said(self, terminal: str, result: Object) -> Iterator[Event]:
        code = whole_number(result, "exitCode")
        code = whole_number(result.get("exitStatus"), "exitCode") if code is None else code
        if code is not None:
            self._codes[terminal] = code
        yield from self._printed(self._terminals.get(terminal, ""), text(result, "output"), "replace")

    def _turn_over(self, reason: str) -> Iterator[Event]:
        yield from self.finish()
        is_cancelled = reason in ("cancelled", "canceled")
        for call_id, call in list(self._pending.items()):  # some agents say no more of a call that was not made
            if is_cancelled or call.get("_refused"):
                printed = [] if call.get("content") == call.get("_announced") else call.get("content")
                status = "cancelled" if is_cancelled else "failed"
                yield from self._end(call_id, {**call, "content": printed, "status": status})
        self._speaking, self._idle, self._steps = "", True, None
        if is_cancelled:
            yield ev.Canceled(message="the turn was cancelled")
        usage, self._usage = self._usage, {}
        yield ev.TurnComplete(finish=reason or None, usage=usage or None)

    # messages

    def _user(self, update: Object) -> tuple[Event, ...]:
        self._speaking = ""
        self._heard.append(content_text(update.get("content")))
        return ()

    def _user_said(self) -> Iterator[Event]:
        said, self._heard = "".join(self._heard), []
        if said and said != self._prompted:
            yield ev.UserMessage(text=said)

    def _message(self, update: Object) -> tuple[str, bool]:
        """Which message a chunk belongs to: the one it names, or the one that is being said."""
        self._idle = False
        reasoning = text(update, "sessionUpdate") in _REASONING
        name = text(update, "messageId")
        if not name:
            agent = _agent(update)
            kind = ("thought " if reasoning else "message ") + (agent.id if agent else "")
            if self._speaking != f"{kind}#{self._count}":
                self._count += 1
            name = f"{kind}#{self._count}"
        self._speaking = name if not text(update, "messageId") else ""
        return name, reasoning

    def _chunk(self, update: Object) -> Iterator[Event]:
        name, reasoning = self._message(update)
        said = content_text(update.get("content"))
        yield from self.speech.delta(name, said, reasoning=reasoning, agent=_agent(update))

    def _whole(self, update: Object) -> Iterator[Event]:
        name, reasoning = self._message(update)
        self._speaking = ""
        said = content_text(update.get("content"))
        yield from self.speech.whole(name, said, reasoning=reasoning, agent=_agent(update))

    # calls

    def _call(self, update: Object) -> Iterator[Event]:
        self._speaking, self._idle = "", False
        call_id, ended = text(update, "toolCallId"), text(update, "status") in _ENDED
        call = self._pending.get(call_id)
        if call is None:
            call = self._pending[call_id] = {"_first_title": text(update, "title")}
        said = {key: value for key, value in update.items() if value is not None and key != "_meta"}
        if text(update, "sessionUpdate") == "tool_call" and not ended:
            call["_announced"] = [part for part in objects(said, "content") if text(part, "type") == "content"]
        meta = obj(update, "_meta")
        call |= {**said, "_meta": {**obj(call, "_meta"), **meta}}
        for part in objects(call, "content"):
            if terminal := text(part, "terminalId"):
                self._terminals[terminal] = call_id
        yield from self._begin(call_id, call)
        if printed := text(meta.get("terminal_output"), "data"):
            yield from self._printed(call_id, printed)
        if text(call, "status") in _ENDED:
            yield from self._end(call_id, call)
        elif "content" in said and call.get("_announced") != said["content"] and (output := output_of(update)):
            yield from self._begin(call_id, call, sure=True)
            yield from self.calls.output(call_id, output, "replace")

    def _begin(self, call_id: str, call: Object, *, sure: bool = False) -> Iterator[Event]:
        tool, args = described(call)
        if sure or args is not None or text(call, "status") in _ENDED:
            yield from self.calls.start(call_id, tool, args, agent=_agent(call))

    def _end(self, call_id: str, call: Object) -> Iterator[Event]:
        self._pending.pop(call_id, None)
        terminals = [terminal for terminal, one in self._terminals.items() if one == call_id]
        ended = [self._codes[terminal] for terminal in terminals if terminal in self._codes]
        call = {**call, "_exit_code": ended[-1]} if ended else call
        status, output = text(call, "status"), output_of(call)
        failed = status != "completed" and not exit_code(call)
        said = message_of(call.get("rawOutput")) if failed and not output else ""
        said = said or ("it was refused" if failed and not output and call.get("_refused") else "")
        yield from self.calls.end(
            call_id,
            output or None,
            args=described(call)[1],
            is_error=failed,
            error="cancelled" if status.startswith("cancel") else said or None,
            details=details_of(call),
        )

    def _call_chunk(self, update: Object) -> Iterator[Event]:
        call_id = text(update, "toolCallId")
        if said := output_of({"content": [update.get("content")]}):
            yield from self._printed(call_id, said)

    def _terminal(self, update: Object) -> Iterator[Event]:
        try:
            printed = base64.b64decode(text(update, "data"), validate=True).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            printed = text(update, "data")
        yield from self._printed(self._terminals.get(text(update, "terminalId"), ""), printed)

    def _printed(self, call_id: str, printed: str, mode: Literal["append", "replace"] = "append") -> Iterator[Event]:
        if call_id in self._pending and printed:
            yield from self._begin(call_id, self._pending[call_id], sure=True)
            yield from self.calls.output(call_id, printed, mode)

    # the rest

    def _plan(self, update: Object) -> Iterator[Event]:
        self._speaking = ""
        steps = [
            {"step": content_text(one.get("content")), "status": text(one, "status")}
            for one in objects(update, "entries") or objects(obj(update, "plan"), "entries")
        ]
        if steps and steps != self._steps:
            self._steps = steps
            self._count += 1
            yield from self.calls.whole(f"plan {self._count}", "update_plan", {"plan": steps})

    def _usage_update(self, update: Object) -> tuple[Event, ...]:
        stated: dict[str, Json] = {
            "context_tokens": number(update, "used"),
            "context_window": number(update, "size"),
            "cost_usd": number(obj(update, "cost"), "amount"),
        }
        self._usage |= {name: value for name, value in stated.items() if value is not None}
        return ()

    def _state(self, update: Object) -> Iterator[Event]:
        """Idle after work: the turn is over."""
        if text(update, "state") == "running":
            self._idle = False
        elif text(update, "state") == "idle" and not self._idle:
            yield from self._turn_over(text(update, "stopReason") or "end_turn")


def words_of_error(error: Json) -> str:
    """JSON-RPC's own words say little ("Internal error"): what there is besides is in the data."""
    said = text(error, "message")
    more = message_of(error.get("data")) if said and isinstance(error, dict) and error.get("data") else ""
    details = text(error.get("data"), "details") if isinstance(error, dict) else ""
    more = details or (more if isinstance(more, str) and not more.startswith("{") else "")
    return f"{said}: {more}" if more and more not in said else said or message_of(error)


def _usage(result: Object) -> dict[str, Json]:
    """What a turn used. All input is counted as input, whether it was in the cache or not."""
    stated, gemini = obj(result, "usage"), obj(result, "_meta", "quota", "token_count")
    usage: dict[str, Json] = {ours: value for key, ours in _USAGE.items() if (value := number(stated, key)) is not None}
    whole, output = number(stated, "totalTokens"), number(stated, "outputTokens")
    if whole is not None and output is not None:
        usage["input_tokens"] = max(whole - output - (number(stated, "thoughtTokens") or 0), 0)
    return usage or {key: value for key, value in gemini.items() if isinstance(value, int)}


def _agent(update: Object) -> Agent | None:
    """The agent that a message is from: agents with sub-agents name the call that started one."""
    for one in obj(update, "_meta").values():
        if parent := text(one, "parentToolUseId", "parentToolCallId"):
            return Agent(id=parent, depth=1)
    return None
