"""Gemini CLI: `gemini --output-format stream-json`. Thoughts are not in its stream; messages come in deltas."""

import re
from collections.abc import Iterator

from vantage import events as ev
from vantage.agents.adapter import Adapter, Known, nothing
from vantage.agents.tools import Native, native
from vantage.agents.values import Object, content_text, message_of, moment, number, obj, text
from vantage.events import Event
from vantage.timeline.calls import parse_json

TOOLS = {
    "read_many_files": Native("read_file", {"include": "path", "paths": "path"}),
    "save_memory": Native("remember", {"fact": "text"}),
    "codebase_investigator": Native("task", {"objective": "prompt"}),
    "generalist": Native("task", {"request": "prompt"}),
    "invoke_agent": Native("task", {"agent_name": "subagent_type"}),
    "delegate_to_agent": Native("task", {"agent_name": "subagent_type", "objective": "prompt"}),
}
_EXIT = re.compile(r"^Exit Code: (-?\d+)$", re.MULTILINE)
_MCP_ERROR = re.compile(
    r"MCP tool '.*?' reported tool error for function call: .* with response: (\[.*\])\Z", re.DOTALL
)
_USAGE = {
    "input_tokens": "input_tokens",
    "cached": "cached_input_tokens",
    "output_tokens": "output_tokens",
    "duration_ms": "duration_ms",
}


class Gemini(Adapter):
    def __init__(self) -> None:
        super().__init__()
        self.known = {
            "init": Known(nothing, ("session_id", "model")),
            "message": Known(self._message, ("role", "content")),
            "tool_use": Known(self._tool_use, ("tool_name", "tool_id")),
            "tool_result": Known(self._tool_result, ("tool_id", "status")),
            "error": Known(self._error, ("severity", "message")),
            "result": Known(self._result, ("status",)),
        }
        self._count = 0
        self._speaking = False

    def feed(self, message: Object) -> list[Event]:
        if self.kind(message) != "message":
            self._speaking = False
        return super().feed(message)

    def _message(self, message: Object) -> Iterator[Event]:
        said, ts = text(message, "content"), moment(message, "timestamp")
        if text(message, "role") == "user":
            self._speaking = False
            yield ev.UserMessage(text=said, ts=ts)
            return
        if not self._speaking or message.get("delta") is not True:
            self._count += 1
        self._speaking = message.get("delta") is True
        say = self.speech.delta if self._speaking else self.speech.whole
        yield from say(f"message {self._count}", said, ts=ts)

    def _tool_use(self, message: Object) -> Iterator[Event]:
        tool, args = native(TOOLS, text(message, "tool_name"), message.get("parameters"))
        yield from self.calls.start(text(message, "tool_id"), tool, args, ts=moment(message, "timestamp"))

    def _tool_result(self, message: Object) -> Iterator[Event]:
        failed = text(message, "status") == "error"
        output = text(message, "output")
        code = _EXIT.search(output)
        yield from self.calls.end(
            text(message, "tool_id"),
            output,
            is_error=failed,
            error=_said_by_tool(message_of(message.get("error"))) or None if failed else None,
            details={"exit_code": int(code[1])} if code else None,
            ts=moment(message, "timestamp"),
        )

    def _error(self, message: Object) -> Iterator[Event]:
        notice = ev.Warning if text(message, "severity") == "warning" else ev.Error
        yield notice(message=message_of(text(message, "message")), ts=moment(message, "timestamp"))

    def _result(self, message: Object) -> Iterator[Event]:
        status, ts, stats = text(message, "status"), moment(message, "timestamp"), obj(message, "stats")
        if message.get("error"):
            yield ev.Error(message=message_of(message["error"]), ts=ts)
        usage = {ours: value for theirs, ours in _USAGE.items() if (value := number(stats, theirs)) is not None}
        yield ev.TurnComplete(finish=status or None, usage=usage or None, ts=ts)


def _said_by_tool(error: str) -> str:
    """The error message of an MCP server's tool, without the JSON of call and answer around it."""
    match = _MCP_ERROR.match(error)
    answers = parse_json(match[1]) if match else None
    if not isinstance(answers, list):
        return error
    return content_text([obj(one, "functionResponse", "response").get("content") for one in answers]) or error
