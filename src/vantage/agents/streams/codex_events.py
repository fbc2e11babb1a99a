"""The events of Codex's core, `{"id": …, "msg": {"type": …}}`, as `codex exec --json` printed them until autumn 2025.

Codex's MCP server (`codex/event`) still sends them. Calls begin and end with their own events. Messages come whole,
preceded by deltas if those are turned on.
"""

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator

from vantage import events as ev
from vantage.agents.adapter import Adapter, Known, nothing, unknown
from vantage.agents.streams.codex_session import patch_of
from vantage.agents.streams.codex_usage import Total
from vantage.agents.tools import mcp_tool
from vantage.agents.values import Object, content_text, message_of, number, obj, text
from vantage.events import Event

_SILENT = (
    "task_started", "turn_started", "session_configured", "agent_reasoning_section_break", "turn_diff",
    "agent_reasoning_raw_content", "agent_reasoning_raw_content_delta", "user_message", "mcp_list_tools_response",
    "mcp_startup_update", "mcp_startup_complete", "shutdown_complete", "background_event", "item_started",
    "item_completed", "raw_response_item", "context_compacted", "exec_approval_request", "apply_patch_approval_request",
    "agent_message_content_delta", "reasoning_content_delta", "reasoning_raw_content_delta",
)  # fmt: skip


class CodexEvents:
    """Handlers of the core's events. Calls and texts are shared with the handlers of the stream."""

    def __init__(self, stream: Adapter) -> None:
        self._stream = stream
        self.known = {
            "core event": Known(self._event),
            "core settings": Known(nothing),
            "core prompt": Known(lambda message: [ev.UserMessage(text=text(message, "prompt"))], None),
        }
        self._events: dict[str, Callable[[Object], Iterable[Event]]] = {
            "agent_message": self._message,
            "agent_reasoning": self._message,
            "agent_message_delta": self._delta,
            "agent_reasoning_delta": self._delta,
            "exec_command_begin": self._command,
            "exec_command_output_delta": self._printed,
            "exec_command_end": self._command_end,
            "patch_apply_begin": self._patch,
            "patch_apply_end": self._patch_end,
            "mcp_tool_call_begin": self._mcp,
            "mcp_tool_call_end": self._mcp_end,
            "web_search_begin": nothing,
            "web_search_end": self._web,
            "view_image_tool_call": lambda event: self._stream.calls.whole(
                text(event, "call_id"), "read_file", {"path": text(event, "path")}
            ),
            "plan_update": self._plan,
            "token_count": self._count,
            "task_complete": self._over,
            "turn_complete": self._over,
            "turn_aborted": lambda event: [ev.Canceled(message=text(event, "reason"))],
            "error": lambda event: [ev.Error(message=message_of(event))],
            "stream_error": lambda event: [ev.Warning(message=message_of(event))],
            "warning": lambda event: [ev.Warning(message=message_of(event))],
        }
        self._events = {**dict.fromkeys(_SILENT, nothing), **self._events}
        self._texts = 0
        self._plans = 0
        self._total = Total()

    def kind(self, message: Object) -> str:
        """The table's key for a message; empty for one of another dialect."""
        if text(_core(message), "type") and ("id" in message or text(message, "method") == "codex/event"):
            return "core event"
        if "type" in message:
            return ""
        if {"workdir", "model", "provider"} <= message.keys():
            return "core settings"
        return "core prompt" if message.keys() == {"prompt"} else ""

    def _event(self, message: Object) -> Iterable[Event]:
        event = _core(message)
        handle = self._events.get(text(event, "type"))
        return [unknown(f"msg/{text(event, 'type')}", message)] if handle is None else handle(event)

    def _name(self) -> str:
        return f"text {self._texts}"

    def _message(self, event: Object) -> Iterator[Event]:
        reasoning = text(event, "type") == "agent_reasoning"
        yield from self._stream.speech.whole(self._name(), text(event, "message", "text"), reasoning=reasoning)
        self._texts += 1

    def _delta(self, event: Object) -> Iterable[Event]:
        reasoning = text(event, "type") == "agent_reasoning_delta"
        return self._stream.speech.delta(self._name(), text(event, "delta"), reasoning=reasoning)

    # calls

    def _command(self, event: Object) -> Iterable[Event]:
        return self._stream.calls.start(text(event, "call_id"), "shell", {"command": event.get("command")})

    def _printed(self, event: Object) -> Iterable[Event]:
        return self._stream.calls.output(text(event, "call_id"), _decoded(event.get("chunk")))

    def _command_end(self, event: Object) -> Iterable[Event]:
        streams = "\n".join(said.rstrip("\n") for key in ("stdout", "stderr") if (said := text(event, key)))
        code = number(event, "exit_code")
        return self._stream.calls.end(
            text(event, "call_id"),
            text(event, "aggregated_output") or streams,
            details=None if code is None else {"exit_code": code},
            duration_ms=_milliseconds(event),
        )

    def _patch(self, event: Object) -> Iterable[Event]:
        args = {"patch": patch_of(obj(event, "changes"))}
        return self._stream.calls.start(text(event, "call_id"), "apply_patch", args)

    def _patch_end(self, event: Object) -> Iterable[Event]:
        failed = event.get("success") is False
        said = text(event, "stderr", "stdout")
        return self._stream.calls.end(text(event, "call_id"), said, is_error=failed)

    def _mcp(self, event: Object) -> Iterable[Event]:
        called = obj(event, "invocation")
        tool = mcp_tool(text(called, "server"), text(called, "tool"))
        return self._stream.calls.start(text(event, "call_id"), tool, called.get("arguments"))

    def _mcp_end(self, event: Object) -> Iterator[Event]:
        yield from self._mcp(event)
        answer = obj(event, "result", "Ok") or obj(event, "result")
        error = message_of(obj(event, "result").get("Err")) or None
        failed = error is not None or answer.get("isError") is True or answer.get("is_error") is True
        yield from self._stream.calls.end(
            text(event, "call_id"),
            content_text(answer.get("content")) if not error else None,
            is_error=failed,
            error=error,
            duration_ms=_milliseconds(event),
        )

    def _web(self, event: Object) -> Iterable[Event]:
        return self._stream.calls.whole(text(event, "call_id"), "web_search", {"query": text(event, "query")})

    def _plan(self, event: Object) -> Iterable[Event]:
        self._plans += 1
        args = {key: event[key] for key in ("explanation", "plan") if event.get(key)}
        return self._stream.calls.whole(f"core plan {self._plans}", "update_plan", args)

    # the turn

    def _count(self, event: Object) -> tuple[Event, ...]:
        self._total.count(event)
        return ()

    def _over(self, event: Object) -> Iterable[Event]:  # noqa: ARG002
        return [ev.TurnComplete(finish="completed", usage=self._total.turn() or None)]


def _core(message: Object) -> Object:
    return obj(message, "msg") or obj(message, "params", "msg")


def _decoded(chunk: object) -> str:
    """Output that comes while a command runs: base64, or a list of bytes."""
    try:
        data = bytes(chunk) if isinstance(chunk, list) else base64.b64decode(str(chunk or ""), validate=True)
    except (ValueError, TypeError, binascii.Error):
        return ""
    return data.decode("utf-8", "replace")


def _milliseconds(event: Object) -> float | None:
    spent = obj(event, "duration")
    seconds, rest = number(spent, "secs"), number(spent, "nanos")
    return None if seconds is None else seconds * 1000 + (rest or 0) / 1e6
