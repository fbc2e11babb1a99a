"""pi: `pi --mode json`, both forms of its updates (deltas, and the message so far), and its session files."""

import re
from collections.abc import Callable, Iterable, Iterator

from vantage import events as ev
from vantage.agents.adapter import Adapter, Known, nothing, silent, unknown
from vantage.agents.tools import native
from vantage.agents.values import Object, content_text, message_of, moment, number, obj, objects, text
from vantage.events import Event, Json, text_of_value

_SILENT = (
    "agent_start", "agent_settled", "turn_start", "queue_update", "compaction_start", "auto_compaction_start",
    "auto_compaction_end", "auto_retry_end", "session_info", "model_change", "thinking_level_change", "compaction",
    "branch_summary", "label", "custom", "session_info_changed", "thinking_level_changed", "model_changed",
    "bash_execution_update", "entry_appended", "summarization_retry_scheduled", "summarization_retry_attempt_start",
    "summarization_retry_finished", "context_edit",
)  # fmt: skip
_SILENT_ROLES = ("system", "branchSummary", "compactionSummary")
_BLOCKS = {"text": "text", "thinking": "thinking"}
"""Kinds of blocks with text → the field with the text."""
_NUMBERED = re.compile(r"([ +-])\s*(\d+) ?(.*)")
_USAGE = {"input": "input_tokens", "output": "output_tokens", "cacheRead": "cached_input_tokens"}
_INPUT = ("cacheRead", "cacheWrite")


class Pi(Adapter):
    """It has one method for each kind of message, listed in `known`, hence their number."""

    def __init__(self) -> None:
        super().__init__()
        self.known = {
            "session": Known(nothing, ("version", "id")),
            "message_start": Known(self._message_start, ("message",)),
            "message_update": Known(self._message_update),
            "message_end": Known(self._message_end, ("message",)),
            "message": Known(self._entry, ("message",)),
            "turn_end": Known(self._turn_end, ("message",)),
            "agent_end": Known(self._agent_end),
            "tool_execution_start": Known(self._tool_start, ("toolCallId",)),
            "tool_execution_update": Known(self._tool_update, ("toolCallId",)),
            "tool_execution_end": Known(self._tool_end, ("toolCallId",)),
            "auto_retry_start": Known(self._retry),
            "compaction_end": Known(self._compaction_end),
            "extension_error": Known(self._extension_error),
            **silent(*_SILENT),
        }
        self._roles: dict[str, Callable[[Object], Iterable[Event]]] = {
            "user": self._user,
            "assistant": self._assistant,
            "toolResult": self._tool_result,
            "bashExecution": self._typed_command,
            **dict.fromkeys(_SILENT_ROLES, nothing),
        }
        self._count = 0
        self._ended = True
        """Whether the last counted message is whole."""
        self._unnumbered: set[str] = set()
        """Kinds of blocks of this message whose deltas named no block."""
        self._usage: dict[str, int | float] = {}
        self._failed: list[Event] = []
        """The error that ended a message. If a retry follows, it is the reason of the retry."""
        self._began: int | None = None
        self._last: int | None = None

    def feed(self, message: Object) -> list[Event]:
        kind = self.kind(message)
        goes_on = kind in ("turn_end", "auto_retry_start") or (kind == "agent_end" and message.get("willRetry") is True)
        return [*([] if goes_on else self.finish()), *super().feed(message)]

    def finish(self) -> list[Event]:
        failed, self._failed = self._failed, []
        return failed

    # messages

    def _name(self, index: Json) -> str:
        return f"message {self._count}/{index}"

    def _message_start(self, message: Object) -> tuple[Event, ...]:
        self._count += 1
        self._ended = False
        self._clock(obj(message, "message"))
        return ()

    def _message_update(self, message: Object) -> Iterator[Event]:
        if self._ended:  # its beginning was missed
            self._count += 1
            self._ended = False
        update = obj(message, "assistantMessageEvent")
        kind, _, stage = text(update, "type").partition("_")
        if stage == "delta" and "delta" in update:
            if kind in _BLOCKS:
                index = number(update, "contentIndex")
                if index is None:
                    self._unnumbered.add(kind)
                name = self._name(kind if index is None else index)
                yield from self.speech.delta(name, text(update, "delta"), reasoning=kind == "thinking")
        elif not update:
            yield from self._blocks(obj(message, "message"), self.speech.so_far)

    def _message_end(self, message: Object) -> Iterator[Event]:
        inner = obj(message, "message")
        if self._ended:
            self._count += 1
        self._ended = True
        self._clock(inner)
        handle = self._roles.get(text(inner, "role"))
        if handle is None:
            yield unknown(f"message/{text(inner, 'role')}", message)
        else:
            yield from handle(inner)

    def _entry(self, message: Object) -> Iterator[Event]:
        """A whole message of a session file."""
        self._ended = True
        yield from self._message_end(message)

    def _clock(self, message: Object) -> None:
        at = moment(message, "timestamp")
        self._began = at if self._began is None else self._began
        self._last = at if at is not None else self._last

    def _user(self, message: Object) -> Iterator[Event]:
        yield ev.UserMessage(text=content_text(message.get("content")), ts=moment(message, "timestamp"))

    def _typed_command(self, message: Object) -> Iterator[Event]:
        """A command that the user ran between the messages."""
        yield from self.calls.start("", "bash", {"command": text(message, "command")}, ts=moment(message, "timestamp"))
        yield from self.calls.end("", text(message, "output"), details={"exit_code": number(message, "exitCode")})

    def _assistant(self, message: Object) -> Iterator[Event]:
        yield from self._blocks(message, self.speech.whole)
        for block in objects(message, "content"):
            if text(block, "type") == "toolCall":
                yield from self._begin(text(block, "id"), text(block, "name"), block.get("arguments"))
        self._count_usage(obj(message, "usage"))
        reason, said = text(message, "stopReason"), message_of(message.get("errorMessage"))
        if reason == "aborted":
            yield ev.Canceled(message=said)
        elif reason == "error" or said:
            self._failed = [ev.Error(message=said)]

    def _blocks(self, message: Object, say: Callable[..., Iterator[Event]]) -> Iterator[Event]:
        """Emits the texts of a message with `say`."""
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else objects(message, "content")
        for index, block in enumerate(blocks):
            kind = text(block, "type")
            if kind in _BLOCKS:
                name = self._name(kind if kind in self._unnumbered else index)
                self._unnumbered.discard(kind)
                yield from say(name, text(block, _BLOCKS[kind]), reasoning=kind == "thinking")

    # calls

    def _begin(self, call_id: str, name: str, given: Json, ts: int | None = None) -> Iterator[Event]:
        tool, args = native({}, name, given)
        yield from self.calls.start(call_id, tool, args, ts=ts)

    def _tool_start(self, message: Object) -> Iterator[Event]:
        yield from self._begin(text(message, "toolCallId"), text(message, "toolName"), message.get("args"))

    def _tool_update(self, message: Object) -> Iterator[Event]:
        """The output of a tool so far."""
        yield from self.calls.output(text(message, "toolCallId"), _said(message.get("partialResult")), "replace")

    def _tool_end(self, message: Object) -> Iterator[Event]:
        yield from self._end(text(message, "toolCallId"), message.get("result"), message.get("isError") is True)

    def _tool_result(self, message: Object) -> Iterator[Event]:
        yield from self._end(text(message, "toolCallId"), message, message.get("isError") is True)

    def _end(self, call_id: str, result: Json, failed: bool) -> Iterator[Event]:
        output, details = _said(result), obj(result, "details")
        tool = self.calls.open[call_id].tool if call_id in self.calls.open else ""
        kept: Object = {}
        if failed and tool == "bash" and (code := _EXIT.search(output)):
            failed, output, kept = False, output[: code.start()].rstrip("\n"), {"exit_code": int(code[1])}
        elif isinstance(details.get("patch"), str):
            kept = {"patch": details["patch"]}
        elif isinstance(details.get("diff"), str) and (hunks := numbered_hunks(details["diff"])):
            kept = {"structuredPatch": hunks}
        yield from self.calls.end(call_id, output, is_error=failed, details=kept or None)

    # the turn

    def _count_usage(self, usage: Object) -> None:
        counted = [(ours, number(usage, theirs)) for theirs, ours in _USAGE.items()]
        counted += [("input_tokens", number(usage, key)) for key in _INPUT]
        counted.append(("cost_usd", number(obj(usage, "cost"), "total")))
        for name, value in counted:
            if value is not None:
                self._usage[name] = self._usage.get(name, 0) + value

    def _turn_end(self, message: Object) -> Iterator[Event]:
        """Repeats the results of calls. They are new only if the stream was joined late."""
        for result in objects(message, "toolResults"):
            if text(result, "toolCallId") in self.calls.open:
                yield from self._tool_result(result)

    def _agent_end(self, message: Object) -> Iterator[Event]:
        if message.get("willRetry") is True:
            return
        if self._began is not None and self._last is not None:
            self._usage["duration_ms"] = max(self._last - self._began, 0)
        last = next((one for one in reversed(objects(message, "messages")) if text(one, "role") == "assistant"), {})
        usage, self._usage, self._began = self._usage, {}, None
        yield ev.TurnComplete(finish=text(last, "stopReason") or None, usage=usage or None)

    def _retry(self, message: Object) -> Iterator[Event]:
        attempt, most = number(message, "attempt"), number(message, "maxAttempts")
        why = message_of(message.get("errorMessage"))
        self._failed = []
        yield ev.Warning(message=f"retrying ({attempt} of {most}): {why}")

    def _compaction_end(self, message: Object) -> Iterator[Event]:
        if said := message_of(message.get("errorMessage")):
            yield ev.Warning(message=said)

    def _extension_error(self, message: Object) -> Iterator[Event]:
        yield ev.Warning(message=message_of(message.get("error")))


def _said(result: Json) -> str:
    """A result's text: a content of parts, or plainly a text."""
    if not isinstance(result, dict):
        return text_of_value(result)
    return content_text(result.get("content")) or text(result, "output")


_EXIT = re.compile(r"\n*Command exited with code (-?\d+)\s*\Z")


def numbered_hunks(diff: str) -> list[Object]:
    """Diffs of pi's own kind (signed lines with their numbers) as hunks, separated by `...`."""
    hunks: list[Object] = []
    shift = 0
    lines: list[str] = []
    for line in diff.split("\n"):
        match = _NUMBERED.fullmatch(line)
        if match is None:
            lines = []
            continue
        sign, at = match[1], int(match[2])
        if not lines:
            old, new = (at - shift, at) if sign == "+" else (at, at + shift)
            hunks.append({"oldStart": old, "newStart": new, "lines": lines})
        lines.append(sign + match[3])
        shift += {"+": 1, "-": -1}.get(sign, 0)
    return hunks
