"""Codex's app-server: notifications with a `method`, told as the items and turns that `codex exec --json` prints.

Messages and reasoning come in deltas and then whole; the text with which a message begins is left to its deltas. Items
of other threads are those of sub-agents.
"""

from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from vantage import events as ev
from vantage.agents.adapter import Adapter, Known, nothing, silent, unknown
from vantage.agents.streams.codex import Codex
from vantage.agents.streams.codex_session import patch_of
from vantage.agents.streams.codex_usage import usage_of
from vantage.agents.values import Object, content_text, message_of, number, obj, objects, text
from vantage.events import Agent, Event

_ITEMS = {
    "agentMessage": "agent_message",
    "plan": "agent_message",
    "reasoning": "reasoning",
    "commandExecution": "command_execution",
    "fileChange": "file_change",
    "mcpToolCall": "mcp_tool_call",
    "webSearch": "web_search",
    "collabAgentToolCall": "collab_tool_call",
}
"""Kinds of items that `codex exec` has too."""
_SILENT_ITEMS = (
    "hookPrompt", "functionCallOutput", "subAgentActivity", "sleep", "enteredReviewMode", "exitedReviewMode",
    "contextCompaction", "userMessage",
)  # fmt: skip
_SPOKEN = ("agent_message", "reasoning")
_SILENT = (
    "thread/started", "thread/status/changed", "thread/readState/changed", "thread/name/updated", "thread/archived",
    "thread/unarchived", "thread/closed", "thread/settings/updated", "thread/queue/changed", "thread/compacted",
    "thread/goal/updated", "thread/goal/cleared", "thread/prediction/updated", "thread/environment/connected",
    "thread/environment/disconnected", "thread/project/updated", "thread/attachment/updated", "project/changed",
    "skills/changed", "turn/diff/updated", "turn/moderationMetadata", "hook/started", "hook/completed",
    "item/plan/delta", "item/reasoning/textDelta", "item/reasoning/summaryPartAdded", "item/fileChange/outputDelta",
    "item/fileChange/patchUpdated", "item/commandExecution/terminalInteraction", "item/mcpToolCall/progress",
    "item/autoApprovalReview/started", "item/autoApprovalReview/completed", "serverRequest/resolved",
    "mcpServer/oauthLogin/completed", "account/updated", "account/rateLimits/updated", "account/login/completed",
    "app/list/updated", "remoteControl/status/changed", "fs/changed", "model/rerouted", "model/verification",
    "model/safetyBuffering/updated", "modelProvider/authRecoveryStarted", "modelProvider/authRecoveryCompleted",
)  # fmt: skip
_STEPS = {"inProgress": "in_progress"}


class CodexServer(Adapter):
    """One method for each kind of notification, listed in `known`, hence their number."""

    def __init__(self) -> None:
        super().__init__()
        self.thread = ""
        """The thread whose turns are those of the conversation; empty until it is known."""
        self._codex = Codex()
        self.calls, self.speech = self._codex.calls, self._codex.speech
        self.known = {
            "turn/started": Known(self._turn_started),
            "turn/completed": Known(self._turn_completed),
            "turn/plan/updated": Known(self._plan),
            "thread/tokenUsage/updated": Known(self._usage),
            "item/started": Known(self._item),
            "item/completed": Known(self._item),
            "item/agentMessage/delta": Known(self._delta),
            "item/reasoning/summaryTextDelta": Known(self._delta),
            "item/commandExecution/outputDelta": Known(self._printed),
            "error": Known(self._error),
            "mcpServer/startupStatus/updated": Known(self._server_started),
            **dict.fromkeys(("warning", "guardianWarning", "configWarning", "deprecationNotice"), Known(self._warning)),
            **silent(*_SILENT),
        }
        self._others: dict[str, Callable[[Object], Iterable[Event]]] = {
            "imageView": lambda item: self.calls.whole(text(item, "id"), "read_file", {"path": text(item, "path")}),
            "dynamicToolCall": self._dynamic_call,
            **dict.fromkeys(_SILENT_ITEMS, nothing),
        }
        self._plans = 0
        self._parts: dict[str, int | float | None] = {}
        """Reasoning → the part of its summary that streams."""
        self._total: Object = {}
        self._before: Object | None = None
        """What the thread had used before the turn; not known until it says what it uses."""

    def kind(self, message: Object) -> str:
        return text(message, "method")

    def feed(self, message: Object) -> list[Event]:
        events = super().feed(message)
        if self._is_of_the_thread(message):
            return events
        agent = Agent(id=text(message.get("params"), "threadId"), depth=1)
        return [replace(event, agent=agent) for event in events if not isinstance(event, ev.TurnComplete)]

    def finish(self) -> list[Event]:
        return self._codex.finish()

    # turns

    def _is_of_the_thread(self, message: Object) -> bool:
        return text(message.get("params"), "threadId") in ("", self.thread) or not self.thread

    def _turn_started(self, message: Object) -> tuple[Event, ...]:
        if self._total and self._is_of_the_thread(message):
            self._before = self._total
        return ()

    def _turn_completed(self, message: Object) -> Iterable[Event]:
        turn = obj(message, "params", "turn")
        match text(turn, "status"):
            case "failed":
                return self._codex.feed({"type": "turn.failed", "error": turn.get("error")})
            case "interrupted":
                return self._interrupted(turn)
            case status:
                return [self._over(status or "completed", turn)]

    def _interrupted(self, turn: Object) -> Iterator[Event]:
        """Calls that an interrupt ends are not told as completed."""
        for call_id in list(self.calls.open):
            yield from self.calls.end(call_id, is_error=True, error="interrupted")
        yield ev.Canceled(message="the turn was interrupted")
        yield self._over("interrupted", turn)

    def _over(self, finish: str, turn: Object) -> Event:
        usage = usage_of(self._total, self._before)
        if (duration := number(turn, "durationMs")) is not None:
            usage["duration_ms"] = duration
        return ev.TurnComplete(finish=finish, usage=usage or None)

    def _usage(self, message: Object) -> tuple[Event, ...]:
        if not self._is_of_the_thread(message):
            return ()
        stated = obj(message, "params", "tokenUsage")
        self._total = _snaked(obj(stated, "total"))
        if self._before is None:
            last = _snaked(obj(stated, "last"))
            self._before = {key: (number(self._total, key) or 0) - (number(last, key) or 0) for key in last}
        return ()

    def _plan(self, message: Object) -> Iterator[Event]:
        steps = [
            {"step": text(one, "step"), "status": _STEPS.get(text(one, "status"), text(one, "status"))}
            for one in objects(message.get("params"), "plan")
        ]
        self._plans += 1
        said = {"explanation": text(message.get("params"), "explanation"), "plan": steps}
        args = {key: value for key, value in said.items() if value}
        yield from self.calls.whole(f"plan update {self._plans}", "update_plan", args)

    # items

    def _item(self, message: Object) -> Iterable[Event]:
        item = obj(message, "params", "item")
        kind, complete = text(item, "type"), text(message, "method") == "item/completed"
        if kind in _ITEMS:
            if not complete and _ITEMS[kind] in _SPOKEN:
                return ()
            return self._codex.feed({"type": f"item.{'completed' if complete else 'started'}", "item": exec_item(item)})
        handle = self._others.get(kind)
        if handle is None:
            return [unknown(f"{text(message, 'method')}/{kind}", message)] if complete else ()
        return handle(item) if complete else ()

    def _dynamic_call(self, item: Object) -> Iterable[Event]:
        return self.calls.whole(
            text(item, "id"), text(item, "tool"), item.get("arguments"), content_text(item.get("contentItems"))
        )

    def _delta(self, message: Object) -> Iterator[Event]:
        params = obj(message, "params")
        item_id, piece = text(params, "itemId"), text(params, "delta")
        reasoning = text(message, "method") != "item/agentMessage/delta"
        part = number(params, "summaryIndex")
        if reasoning and self._parts.setdefault(item_id, part) != part:
            self._parts[item_id] = part
            piece = f"\n\n{piece}"
        yield from self.speech.delta(item_id, piece, reasoning=reasoning)

    def _printed(self, message: Object) -> Iterable[Event]:
        params = obj(message, "params")
        return self.calls.output(text(params, "itemId"), text(params, "delta"))

    # notices

    def _error(self, message: Object) -> Iterable[Event]:
        params = obj(message, "params")
        said = message_of(params.get("error"))
        if params.get("willRetry") is True:
            return [ev.Warning(message=said)]
        return self._codex.feed({"type": "error", "message": said})

    def _warning(self, message: Object) -> Iterator[Event]:
        params = obj(message, "params")
        said = [text(params, "summary", "message"), text(params, "details")]
        yield ev.Warning(message="\n".join(filter(None, said)))

    def _server_started(self, message: Object) -> Iterator[Event]:
        params = obj(message, "params")
        if text(params, "status") == "failed":
            why = message_of(params.get("error")) or text(params, "failureReason")
            yield ev.Warning(message=f"the MCP server {text(params, 'name')} did not start: {why}")


def exec_item(item: Object) -> Object:
    """An item as `codex exec --json` has it."""
    said = _snaked(item)
    kind = text(item, "type")
    said["type"] = _ITEMS.get(kind, kind)
    status = text(item, "status")
    said["status"] = _STEPS.get(status, status)
    match kind:
        case "reasoning":
            said["text"] = "\n\n".join(_texts(item.get("summary")) or _texts(item.get("content")))
        case "fileChange":
            said["changes"] = [{**one, "kind": _kind(one), "diff": diff_of([one])} for one in objects(item, "changes")]
        case "webSearch":
            action = obj(item, "action")
            said["action"] = {**action, "type": _snake(text(action, "type"))}
        case "collabAgentToolCall":
            said["tool"] = _snake(text(item, "tool"))
    return said


def diff_of(changes: list[Object]) -> str:
    """What changes do to their files: of a file that is added the app-server gives its content."""
    stated = {
        text(one, "path"): {
            "type": _kind(one),
            "content": text(one, "diff"),
            "unified_diff": text(one, "diff"),
            "move_path": text(one.get("kind"), "move_path", "movePath"),
        }
        for one in changes
    }
    return patch_of(stated)


def _kind(change: Object) -> str:
    return text(change.get("kind"), "type") or text(change, "kind") or "update"


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str) and one] if isinstance(value, list) else []


def _snake(name: str) -> str:
    return "".join(f"_{one.lower()}" if one.isupper() else one for one in name)


def _snaked(value: Object) -> Object:
    """The object with its keys, and none below them, in the other spelling."""
    return {_snake(key): one for key, one in value.items()}
