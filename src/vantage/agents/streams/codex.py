"""Codex: `codex exec --json`, also as of 2025, and its session files.

Items begin, change and complete; messages come whole, at their completion. The stream does not say which lines a file
change changed: the files and the kind of change are shown. An interrupted turn has no end.
"""

from collections.abc import Callable, Iterator

from vantage import events as ev
from vantage.agents.adapter import Adapter, Calls, Known, Speech, nothing, unknown
from vantage.agents.streams.codex_events import CodexEvents
from vantage.agents.streams.codex_session import CodexSession, looked_for
from vantage.agents.streams.codex_usage import usage_of
from vantage.agents.tools import mcp_tool
from vantage.agents.values import Object, content_text, message_of, number, obj, objects, text
from vantage.events import Event, Json

Item = Callable[[Object, bool], Iterator[Event]]
"""A handler of an item: the item, and whether it is complete."""

_VERBS = {"add": "Add", "delete": "Delete", "update": "Update"}


class Codex(Adapter):
    def __init__(self) -> None:
        super().__init__()
        self.known = {
            "thread.started": Known(self._thread_started),
            "turn.started": Known(nothing),
            "turn.completed": Known(self._turn_completed),
            "turn.failed": Known(self._turn_failed),
            "item.started": Known(self._item, ("item",)),
            "item.updated": Known(self._item, ("item",)),
            "item.completed": Known(self._item, ("item",)),
            "error": Known(self._error, None),
        }
        self._session, self._core = CodexSession(self), CodexEvents(self)
        self.known |= {**self._session.known, **self._core.known}
        self._items: dict[str, Item] = {
            "agent_message": self._message,
            "assistant_message": self._message,
            "reasoning": self._message,
            "error": self._warning,
            "todo_list": self._plan,
            "command_execution": self._command,
            "file_change": self._file_change,
            "mcp_tool_call": self._mcp,
            "collab_tool_call": self._collaboration,
            "web_search": self._web,
        }
        self._plans: dict[str, list[Object]] = {}
        self._plan_count = 0
        self._searching: dict[str, Object] = {}
        self._last_error = ""

    def kind(self, message: Object) -> str:
        kind = text(message, "type")
        if kind in self.known:
            return kind
        return self._core.kind(message) or self._session.bare(message) or kind

    def _thread_started(self, message: Object) -> tuple[Event, ...]:  # noqa: ARG002
        self.calls, self.speech, self._plans = Calls(), Speech(), {}  # items are numbered from 0 again
        return ()

    def _turn_completed(self, message: Object) -> Iterator[Event]:
        usage = usage_of(obj(message, "usage"))
        self._plans.clear()
        yield ev.TurnComplete(finish="completed", usage=usage or None)

    def _turn_failed(self, message: Object) -> Iterator[Event]:
        yield from self._say_error(message_of(message.get("error")))
        yield ev.TurnComplete(finish="failed")

    def _error(self, message: Object) -> Iterator[Event]:
        yield from self._say_error(message_of(message))

    def _say_error(self, said: str) -> Iterator[Event]:
        """A turn fails with the error that was just reported."""
        if said != self._last_error:
            self._last_error = said
            notice = ev.Warning if said.startswith("Reconnecting") else ev.Error
            yield notice(message=said)

    # items

    def _item(self, message: Object) -> Iterator[Event]:
        item = obj(message, "item")
        kind = text(item, "type", "item_type")
        handle = self._items.get(kind)
        if handle is None:
            yield unknown(f"{text(message, 'type')}/{kind}", message)
        elif text(item, "id") or text(message, "type") == "item.completed":  # else its end says it
            yield from handle(item, text(message, "type") == "item.completed")

    def _message(self, item: Object, complete: bool) -> Iterator[Event]:
        say = self.speech.whole if complete else self.speech.so_far
        yield from say(text(item, "id"), text(item, "text"), reasoning=text(item, "type") == "reasoning")

    def _warning(self, item: Object, complete: bool) -> Iterator[Event]:
        if complete:
            yield ev.Warning(message=message_of(item.get("message")))

    def _plan(self, item: Object, complete: bool) -> Iterator[Event]:  # noqa: ARG002
        """Every state of a list is a new plan. The end of the turn changes no plan."""
        steps = [
            {"step": text(one, "text"), "status": "completed" if one.get("completed") is True else "pending"}
            for one in objects(item, "items")
        ]
        if steps != self._plans.get(text(item, "id")):
            self._plans[text(item, "id")] = steps
            self._plan_count += 1
            yield from self.calls.whole(f"plan {self._plan_count}", "update_plan", {"plan": steps})

    def _command(self, item: Object, complete: bool) -> Iterator[Event]:
        call_id, code = text(item, "id"), number(item, "exit_code")
        yield from self.calls.start(call_id, "shell", {"command": item.get("command")})
        output = text(item, "aggregated_output")
        if complete:
            refused = text(item, "status") == "declined"
            yield from self.calls.end(
                call_id,
                output,
                is_error=refused or (text(item, "status") == "failed" and code is None),
                error="declined" if refused else None,
                details=None if code is None else {"exit_code": code},
            )
        else:
            yield from self.calls.output(call_id, output, "replace")

    def _file_change(self, item: Object, complete: bool) -> Iterator[Event]:
        call_id = text(item, "id")
        yield from self.calls.start(call_id, "apply_patch", {"patch": _patch(objects(item, "changes"))})
        if complete:
            failed = text(item, "status") in ("failed", "declined")
            error = message_of(item.get("error")) or "the patch was not applied" if failed else None
            yield from self.calls.end(call_id, is_error=failed, error=error)

    def _mcp(self, item: Object, complete: bool) -> Iterator[Event]:
        call_id, tool = text(item, "id"), mcp_tool(text(item, "server"), text(item, "tool"))
        yield from self.calls.start(call_id, tool, item.get("arguments"))
        if complete:
            output, details = _mcp_answer(obj(item, "result"), text(item, "tool"))
            error = message_of(item.get("error")) or None
            failed = text(item, "status") == "failed" or obj(item, "result").get("isError") is True
            yield from self.calls.end(call_id, output, is_error=failed, error=error, details=details)

    def _collaboration(self, item: Object, complete: bool) -> Iterator[Event]:
        """Work with other agents: a spawned agent is a task, and the states of the agents have its report."""
        call_id, name = text(item, "id"), text(item, "tool")
        args = {"prompt": text(item, "prompt")} if text(item, "prompt") else None
        tool = "task" if name == "spawn_agent" else name or "collaborate"
        yield from self.calls.start(call_id, tool, args)
        if complete:
            states = [one for one in obj(item, "agents_states").values() if isinstance(one, dict)]
            report = "\n\n".join(said for one in states if (said := text(one, "message")))
            yield from self.calls.end(call_id, report, is_error=text(item, "status") == "failed")

    def _web(self, item: Object, complete: bool) -> Iterator[Event]:
        """The query, and therefore the tool, is often known only at the end."""
        call_id = text(item, "id")
        tool, args = looked_for(item)
        if args is None and not complete:
            self._searching[call_id] = item
            return
        self._searching.pop(call_id, None)
        yield from self.calls.start(call_id, tool, args)
        if complete:
            yield from self.calls.end(call_id)

    def finish(self) -> list[Event]:
        held, self._searching = self._searching, {}
        return [event for call_id in held for event in self.calls.start(call_id, "web_search", None)]


def _patch(changes: list[Object]) -> str:
    """The files of a change as a patch, with the changed lines where the item has them."""
    stated = [text(change, "diff", "unified_diff") for change in changes]
    if changes and all("@@" in diff for diff in stated):
        return "\n".join(_unified(text(change, "path"), diff) for change, diff in zip(changes, stated, strict=True))
    lines = [f"*** {_VERBS.get(_kind(change), 'Update')} File: {text(change, 'path')}" for change in changes]
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


def _unified(path: str, diff: str) -> str:
    return diff if diff.startswith(("---", "diff ")) else f"--- {path}\n+++ {path}\n{diff}"


def _kind(change: Object) -> str:
    """The kind of a change: a word, or an object with the word as its type."""
    return text(change, "kind") or text(change.get("kind"), "type")


def _mcp_answer(result: Object, tool: str) -> tuple[Json, Json]:
    """The answer of an MCP tool, and its details: our own tools say more in their structured content than in their
    text.
    """
    data = result.get("structured_content", result.get("structuredContent"))
    said = content_text(result.get("content"))
    if isinstance(data, dict) and (tool.startswith("pty_") or not said):
        return data, None
    return said, data
