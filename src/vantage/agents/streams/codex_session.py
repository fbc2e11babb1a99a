"""Codex's session files, `~/.codex/sessions/…/rollout-*.jsonl`: what went to the model and what came back.

Texts and calls are taken from the model's items. What people typed, the changed lines of a patch and the end of a turn
are taken from the events between them, which repeat everything else. The oldest files (until summer 2025) have only the
model's items, without an envelope.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from vantage import events as ev
from vantage.agents.adapter import Adapter, Known, nothing, silent, unknown
from vantage.agents.streams.codex_usage import Total
from vantage.agents.tools import mcp_tool
from vantage.agents.values import Object, content_text, message_of, moment, number, obj, objects, text
from vantage.events import Event, Json
from vantage.timeline.calls import parse_json

_SILENT = ("session_meta", "turn_context", "world_state", "token_usage_record", "compacted", "ghost_snapshot")
_SILENT_EVENTS = (
    "task_started", "thread_settings_applied", "agent_message", "agent_reasoning", "agent_reasoning_raw_content",
    "agent_reasoning_section_break", "item_started", "exec_command_begin", "exec_command_end", "patch_apply_begin",
    "patch_apply_end", "mcp_tool_call_begin", "mcp_tool_call_end", "web_search_begin", "web_search_end", "plan_update",
    "turn_diff", "context_compacted", "thread_name_updated", "thread_rolled_back", "view_image_tool_call",
)  # fmt: skip
_PREAMBLE = re.compile(r"Wall time: [\d.]+ seconds\nOutput:\n")
_FAILED = re.compile(
    r"Exit code: [1-9]|unsupported (?:custom tool )?call: |patch rejected|approval policy is |aborted by user|"
    r"rejected by user|execution error|failed to parse function arguments|"
    r"(?:exec_command|write_stdin|shell|apply_patch(?: verification)?) failed(?: for `|: )"
)
"""How an answer begins when a call was not carried out."""
_PATCHES = ("apply_patch",)
_BARE_PARTS = ("input_text", "output_text", "input_image")
_SURROUNDINGS = ("<environment_context>", "<user_instructions>", "<ENVIRONMENT_CONTEXT>", "# AGENTS.md instructions")
"""How messages begin that look like a prompt, and that Codex put before it."""
Handler = Callable[[Object, int | None], Iterable[Event]]


class CodexSession:
    """Handlers of a session file's lines. Calls and texts are shared with the handlers of the stream."""

    def __init__(self, stream: Adapter) -> None:
        self._stream = stream
        self.known = {
            "response_item": Known(self._item, ("payload",)),
            "event_msg": Known(self._event, ("payload",)),
            "bare item": Known(self._bare_item),
            "bare record": Known(nothing),
            **{kind: Known(nothing, ("payload",)) for kind in silent(*_SILENT)},
        }
        self._items: dict[str, Handler] = {
            "message": self._message,
            "reasoning": self._reasoning,
            "function_call": self._call,
            "custom_tool_call": self._call,
            "local_shell_call": self._call,
            "function_call_output": self._answer,
            "custom_tool_call_output": self._answer,
            "web_search_call": self._search,
        }
        self._events: dict[str, Handler] = {
            "user_message": self._typed,
            "item_completed": self._completed,
            "token_count": self._count,
            "task_complete": self._turn_over,
            "turn_aborted": self._aborted,
            "error": lambda event, ts: [ev.Error(message=message_of(event), ts=ts)],
            "stream_error": lambda event, ts: [ev.Warning(message=message_of(event), ts=ts)],
            "warning": lambda event, ts: [ev.Warning(message=message_of(event), ts=ts)],
            **dict.fromkeys(_SILENT_EVENTS, lambda _event, _ts: ()),
        }
        self._patches: dict[str, str] = {}
        self._total = Total()

    def _item(self, message: Object) -> Iterator[Event]:
        yield from self._by(self._items, message)

    def _event(self, message: Object) -> Iterator[Event]:
        yield from self._by(self._events, message)

    def bare(self, message: Object) -> str:
        """The table's key for a line of the oldest session files; empty for any other line."""
        kind = text(message, "type")
        if kind == "message":
            is_item = any(text(part, "type") in _BARE_PARTS for part in objects(message, "content"))
        elif kind == "reasoning":
            is_item = isinstance(message.get("summary"), list)
        else:
            is_item = kind in self._items and ("call_id" in message or "action" in message)
        if is_item:
            return "bare item"
        is_record = not kind and ("record_type" in message or {"id", "timestamp", "instructions"} <= message.keys())
        return "bare record" if is_record else ""

    def _bare_item(self, message: Object) -> Iterable[Event]:
        said = content_text(message.get("content"))
        if text(message, "role") == "user" and not said.lstrip().startswith(_SURROUNDINGS):
            return [ev.UserMessage(text=said)]
        return self._items[text(message, "type")](message, None)

    def _by(self, table: dict[str, Handler], message: Object) -> Iterable[Event]:
        payload = obj(message, "payload")
        handle = table.get(text(payload, "type"))
        if handle is None:
            return [unknown(f"{text(message, 'type')}/{text(payload, 'type')}", message)]
        return handle(payload, moment(message, "timestamp"))

    # the model's items

    def _message(self, item: Object, ts: int | None) -> Iterable[Event]:
        if text(item, "role") != "assistant":  # instructions and context of a prompt; the prompt itself is an event
            return ()
        return self._stream.speech.whole(text(item, "id"), content_text(item.get("content")), ts=ts)

    def _reasoning(self, item: Object, ts: int | None) -> Iterable[Event]:
        said = "\n\n".join(content_text(part) for part in objects(item, "summary"))
        return self._stream.speech.whole(text(item, "id"), said, reasoning=True, ts=ts)

    def _call(self, item: Object, ts: int | None) -> Iterable[Event]:
        tool = mcp_tool(text(item, "namespace").removeprefix("mcp__"), text(item, "name") or "shell")
        args: Json = item.get("arguments") or item.get("input") or obj(item, "action") or None
        return self._stream.calls.start(text(item, "call_id"), tool, args, ts=ts)

    def _answer(self, item: Object, ts: int | None) -> Iterable[Event]:
        call_id, output = text(item, "call_id"), content_text(item.get("output"))
        patch = self._patches.pop(call_id, "")
        call = self._stream.calls.open.get(call_id)
        failed = _FAILED.match(output) is not None
        if call is not None and call.tool in _PATCHES and isinstance(answer := parse_json(output), dict):
            output, failed = text(answer, "output"), bool(number(obj(answer, "metadata"), "exit_code"))
        elif call is not None and call.tool not in _PATCHES and output.startswith("Exit code:"):
            failed = False  # the output of a command: the command's own event has it
        return self._stream.calls.end(
            call_id,
            _PREAMBLE.sub("", output, count=1) if output.startswith("Wall time") else output,
            is_error=failed,
            details={"diff": patch} if patch else None,
            ts=ts,
        )

    def _search(self, item: Object, ts: int | None) -> Iterator[Event]:
        tool, args = looked_for(item)
        yield from self._stream.calls.start(text(item, "id"), tool, args, ts=ts)
        yield from self._stream.calls.end(text(item, "id"), ts=ts)

    # the events between them

    def _typed(self, event: Object, ts: int | None) -> Iterable[Event]:
        return [ev.UserMessage(text=text(event, "message"), ts=ts)]

    def _completed(self, event: Object, ts: int | None) -> Iterable[Event]:
        item = obj(event, "item")
        if text(item, "type") == "UserMessage":
            return [ev.UserMessage(text=content_text(item.get("content")), ts=ts)]
        if text(item, "type") == "FileChange":
            self._patches[text(item, "id")] = patch_of(obj(item, "changes"))
        return ()

    def _count(self, event: Object, ts: int | None) -> Iterable[Event]:  # noqa: ARG002
        self._total.count(event)
        return ()

    def _turn_over(self, event: Object, ts: int | None) -> Iterable[Event]:
        usage = self._total.turn()
        duration = number(event, "duration_ms")
        usage |= {} if duration is None else {"duration_ms": duration}
        said = message_of(event["error"]) if event.get("error") else ""
        over = ev.TurnComplete(finish="failed" if said else "completed", usage=usage or None, ts=ts)
        return [ev.Error(message=said, ts=ts), over] if said else [over]

    def _aborted(self, event: Object, ts: int | None) -> Iterable[Event]:
        return [ev.Canceled(message=text(event, "reason"), ts=ts)]


def looked_for(item: Object) -> tuple[str, Json]:
    """A web search, or a page that was opened or searched; `None` when that is not known yet."""
    action = obj(item, "action")
    query, pattern = text(item, "query") or text(action, "query"), text(action, "pattern")
    address = text(action, "url") or query
    if text(action, "type") in ("open_page", "find_in_page") and address:
        return "web_fetch", {"url": f"{address} ({pattern})" if pattern else address}
    return "web_search", {"query": query} if query else None


def patch_of(changes: Object) -> str:
    """What a change did to each file, with line numbers."""
    parts = []
    for path, stated in changes.items():
        kind = text(stated, "type") or next(iter(obj(stated)), "")
        change = stated if text(stated, "type") else obj(stated, kind)  # older: the kind is the name of the field
        diff, content = text(change, "unified_diff"), text(change, "content")
        lines = content.removesuffix("\n").split("\n") if content else []
        match kind:
            case "add":
                parts.append(f"--- /dev/null\n+++ {path}\n@@ -0,0 +1,{len(lines)} @@")
                parts += [f"+{line}" for line in lines]
            case "delete":
                parts.append(f"--- {path}\n+++ /dev/null\n@@ -1,{len(lines)} +0,0 @@")
                parts += [f"-{line}" for line in lines]
            case _:
                parts.append(f"--- {path}\n+++ {text(change, 'move_path') or path}\n{diff}".rstrip("\n"))
    return "\n".join(parts)
