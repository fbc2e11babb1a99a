"""Claude Code: `claude -p --output-format stream-json --verbose [--include-partial-messages]`, and its session files.

One message arrives as several `assistant` lines with the same id, each with the blocks that are new. With partial
messages on, the API's own events come before them: blocks are told apart by message, kind and their number in it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from vantage import events as ev
from vantage.agents.adapter import Adapter, Known, nothing, silent, unknown
from vantage.agents.streams.claude_typed import typed
from vantage.agents.tools import Native, mcp_tool, native
from vantage.agents.values import Object, content_text, message_of, moment, number, obj, objects, text
from vantage.events import Agent, Event, Json, compact_json

TOOLS = {
    "NotebookEdit": Native("edit", {"notebook_path": "file_path", "new_source": "new_string"}),
    "NotebookRead": Native("read_file", {"notebook_path": "file_path"}),
}
_SILENT = (
    "rate_limit_event", "conversation_reset", "control_request", "control_response", "control_cancel_request",
    "keep_alive", "tool_progress", "tool_use_summary", "prompt_suggestion", "auth_status", "summary",
    "file-history-snapshot", "queue-operation", "last-prompt", "custom-title", "ai-title", "progress",
)  # fmt: skip
_SILENT_SESSION = (
    "mode", "permission-mode", "agent-name", "agent-color", "agent-setting", "tag", "pr-link", "worktree-state",
    "content-replacement",
)  # fmt: skip
"""Messages of session files only, with types that other agents' streams may have too."""
_SILENT_SYSTEM = (
    "init", "status", "thinking_tokens", "task_progress", "task_updated", "task_summary", "hook_started",
    "hook_progress", "hook_response", "compact_boundary", "microcompact_boundary", "session_state_changed",
    "files_persisted", "file_snapshot", "local_command", "stop_hook_summary", "turn_starting", "turn_duration",
    "away_summary", "post_turn_summary", "background_tasks_changed", "commands_changed", "elicitation_complete",
    "memory_recall", "memory_saved", "plugin_install", "permission_denied", "permission_retry", "bridge_state",
    "bridge_status", "mirror_error", "scheduled_task_fire", "worker_shutting_down",
)  # fmt: skip
_NOTICES = (
    "api_error", "informational", "notification", "model_fallback", "model_consent_fallback",
    "model_refusal_fallback", "model_refusal_no_fallback", "agents_killed",
)  # fmt: skip
_DETAILS = ("filePath", "structuredPatch", "interrupted", "backgroundTaskId")
"""The fields of a tool's own result that are kept. The others hold whole files."""
_EXIT = re.compile(r"(?:Error: )?Exit code (-?\d+)\n?")
_WRAPPED = re.compile(r"\s*<tool_use_error>(.*)</tool_use_error>\s*", re.DOTALL)
_SAVED = "<persisted-output>"
"""How a result begins that was too long for the model: it names the file that has all of it."""
_NO_OUTPUT = re.compile(r"\s*\(Bash completed with no output\)\s*")
_INTERRUPTED = "[Request interrupted by user"
_SYNTHETIC = ("isSynthetic", "isMeta", "isVisibleInTranscriptOnly", "isCompactSummary")
_NOT_DONE = ("failed", "stopped", "killed")
_SPAWNS = ("Task", "Agent")


class Claude(Adapter):
    """It has one method for each kind of message, listed in `known`, hence their number."""

    def __init__(self) -> None:
        super().__init__()
        self.known = {
            "system": Known(self._system, ("subtype",)),
            "assistant": Known(self._assistant, ("message",)),
            "user": Known(self._user, ("message",)),
            "stream_event": Known(self._stream_event, ("event",)),
            "result": Known(self._result, ("subtype",)),
            "attachment": Known(self._attachment),
            **silent(*_SILENT),
            **dict.fromkeys(_SILENT_SESSION, Known(nothing, ("sessionId",))),
        }
        self._systems: dict[str, Callable[[Object], Any]] = {
            "task_started": self._task_started,
            "task_notification": self._task_notification,
            "api_retry": self._retry,
            **dict.fromkeys(_NOTICES, self._notice),
            **dict.fromkeys(_SILENT_SYSTEM, nothing),
        }
        self._blocks: dict[str, Callable[[Object, str, Agent | None, int | None], Iterator[Event]]] = {
            "text": self._text,
            "thinking": self._text,
            "tool_use": self._tool_use,
            "server_tool_use": self._tool_use,
            "mcp_tool_use": self._tool_use,
            "redacted_thinking": lambda *_: iter(()),
        }
        self._streamed: dict[str, Streamed] = {}
        """Parent call → the streaming message of that call's agent."""
        self._joins = 0
        self._counts: Counter[tuple[str, str]] = Counter()
        self._lines: dict[str, list[int]] = {}
        """Message → a hash for each of its blocks that were read, to tell new blocks from repeated ones."""
        self._agents: dict[str, Agent] = {}
        self._prompts: dict[str, str] = {}
        self._tasks: dict[str, Object] = {}
        self._over: set[tuple[str, str]] = set()
        """Background tasks and results that were emitted: a task may continue and end again."""
        self._list = TaskList()
        self._said = ""
        """The last text of the root agent."""
        self._spoke = False
        """Whether the root agent has said anything in this turn."""

    # the speaker

    def _agent(self, message: Object) -> Agent | None:
        parent = text(message, "parent_tool_use_id")
        if parent:
            return self._agents.setdefault(parent, Agent(id=parent, depth=1))
        if message.get("isSidechain") is True:
            return Agent(id=text(message, "agentId"), depth=1)
        return None

    # messages

    def _assistant(self, message: Object) -> Iterator[Event]:
        inner, agent, ts = obj(message, "message"), self._agent(message), moment(message, "timestamp")
        key = text(inner, "id") or text(message, "uuid")
        for block in self._new(key, _blocks(inner)):
            kind = text(block, "type")
            if kind == "text" and message.get("error"):
                yield from self._failed(text(block, "text") or message_of(message["error"]), agent)
            elif kind.endswith("tool_result"):
                yield from self._tool_result(block, {}, agent, ts)
            elif (handle := self._blocks.get(kind)) is not None:
                yield from handle(block, key, agent, ts)
            else:
                yield unknown(f"assistant/{kind}", block)

    def _failed(self, said: str, agent: Agent | None = None) -> Iterator[Event]:
        """An error message. The result of the turn repeats it."""
        said = message_of(said)
        if said != self._said:
            self._said = said
            yield ev.Error(message=said, agent=agent)

    def _new(self, key: str, blocks: list[Object]) -> list[Object]:
        """The blocks of a line that no earlier line of the message had. Lines either continue the message or start it
        again.
        """
        if not key:
            return blocks
        seen = self._lines.setdefault(key, [])
        marks = [hash(compact_json(block)) for block in blocks]
        repeated = len(seen) if seen and marks[: len(seen)] == seen else 0
        seen += marks[repeated:]
        return blocks[repeated:]

    def _text(self, block: Object, key: str, agent: Agent | None, ts: int | None) -> Iterator[Event]:
        kind = text(block, "type")
        said = text(block, kind)
        if agent is None and kind == "text":
            self._said, self._spoke = said, True
        self._counts[key, kind] += 1
        name = _name(key, kind, self._counts[key, kind])
        streamed = self._streamed.get(agent.id if agent else "")
        if streamed is not None and (joined := streamed.joined.pop(kind, None)):
            name = joined  # the deltas came before the message with its id
        yield from self.speech.whole(name, said, reasoning=kind == "thinking", agent=agent, ts=ts)

    def _tool_use(self, block: Object, key: str, agent: Agent | None, ts: int | None) -> Iterator[Event]:  # noqa: ARG002
        call_id, name, given = text(block, "id"), text(block, "name"), block.get("input")
        tool, args = native(TOOLS, mcp_tool(text(block, "server_name"), name), given)
        if name in _SPAWNS:
            depth = (agent.depth if agent else 0) + 1
            self._agents[call_id] = Agent(id=call_id, depth=depth, name=text(given, "subagent_type"))
            self._prompts[call_id] = text(given, "prompt").strip()
        if name in TaskList.TOOLS:
            self._list.begin(call_id, name, obj(block, "input"))
            return
        yield from self.calls.start(call_id, tool, args, agent=agent, ts=ts)

    def _user(self, message: Object) -> Iterator[Event]:
        inner, agent, ts = obj(message, "message"), self._agent(message), moment(message, "timestamp")
        blocks = _blocks(inner)
        results = [block for block in blocks if text(block, "type").endswith("tool_result")]
        own = message.get("tool_use_result", message.get("toolUseResult")) if len(results) == 1 else None
        for block in results:
            yield from self._tool_result(block, own, agent, ts)
        said = content_text([block for block in blocks if block not in results]).strip()
        if said.startswith(_INTERRUPTED):
            yield ev.Canceled(message=said.strip("[]"), agent=agent, ts=ts)
        elif said and not any(message.get(key) is True for key in _SYNTHETIC) and not self._is_order(said, message):
            yield from self._typed(said, agent, ts)

    def _attachment(self, message: Object) -> Iterator[Event]:
        """Attachments. Only text that a person typed while the agent worked is a message."""
        added = obj(message, "attachment")
        if text(added, "type") == "queued_command":
            yield from self._typed(content_text(added.get("prompt")), None, moment(message, "timestamp"))

    def _typed(self, said: str, agent: Agent | None, ts: int | None) -> Iterator[Event]:
        told = typed(said)
        if told.said:
            yield ev.UserMessage(text=told.said, agent=agent, ts=ts)
        if told.command is not None:
            yield from self.calls.start("", "bash", {"command": told.command}, agent=agent, ts=ts)
        if told.printed is not None:
            yield from self.calls.end("", told.printed, ts=ts)
        if told.answered:
            yield from self.calls.whole("", "local_command", None, told.answered)
        if told.task is not None:
            of = {key: told.task.get(key, "") for key in ("status", "summary", "result")}
            yield from self._task_over(told.task.get("task-id", ""), **of)

    def _is_order(self, said: str, message: Object) -> bool:
        """Whether a sub-agent's message only repeats the prompt of the call that started it."""
        return said == self._prompts.get(text(message, "parent_tool_use_id"))

    def _tool_result(self, block: Object, own: Json, agent: Agent | None, ts: int | None) -> Iterator[Event]:
        call_id, output = text(block, "tool_use_id"), content_text(block.get("content"))
        is_error = block.get("is_error") is True or text(block.get("content"), "type").endswith("_error")
        details: Object = {key: own[key] for key in _DETAILS if key in own} if isinstance(own, dict) else {}
        if is_error and (match := _EXIT.match(output)):
            is_error, output, details = False, output[match.end() :], {**details, "exit_code": int(match[1])}
        elif match := _WRAPPED.fullmatch(output):
            output = match[1]
        elif call_id in self._agents and isinstance(own, dict) and own.get("agentId"):
            went_on = text(own, "status") == "async_launched"
            output = _WENT_ON if went_on else content_text(own.get("content")) or output  # or a notice for the model
        elif output.startswith(_SAVED) and text(own, "stdout"):
            output = _beginning(obj(own))
        elif _NO_OUTPUT.fullmatch(output):
            output = ""
        if (begun := self._list.open.pop(call_id, None)) is not None:
            if is_error:
                yield from self.calls.start(call_id, begun[0], begun[1], agent=agent, ts=ts)
            else:
                yield from self._plan(call_id, begun, obj(own, "task"))
                return
        yield from self.calls.end(
            call_id,
            output,
            is_error=is_error,
            details=details or None,
            duration_ms=number(own, "durationMs", "totalDurationMs"),
            agent=agent,
            ts=ts,
        )

    def _plan(self, call_id: str, begun: tuple[str, Object], task: Object) -> Iterator[Event]:
        """The to-do list, emitted once all changes of a message are applied."""
        self._list.change(*begun, task)
        if not self._list.open:
            yield from self.calls.whole(call_id, "update_plan", {"plan": self._list.steps})

    def finish(self) -> list[Event]:
        begun, self._list.open = self._list.open, {}
        return [event for call_id, call in begun.items() for event in self.calls.start(call_id, *call)]

    # the API's events

    def _stream_event(self, message: Object) -> Iterator[Event]:
        event, agent = obj(message, "event"), self._agent(message)
        parent, kind = text(message, "parent_tool_use_id"), text(event, "type")
        streamed = self._streamed.get(parent)
        if kind == "message_start" or streamed is None:
            key = text(event.get("message"), "id")
            self._joins += not key
            streamed = self._streamed[parent] = Streamed(key or f"joined {self._joins}", is_known=bool(key))
        if kind == "content_block_start":
            streamed.begin(event)
        elif kind == "content_block_delta":
            name, piece, block = streamed.piece(event)
            self._spoke = self._spoke or (block == "text" and agent is None and bool(piece))
            yield from self.speech.delta(name, piece, reasoning=block == "thinking", agent=agent)

    # the rest

    def _system(self, message: Object) -> Iterator[Event]:
        handle = self._systems.get(text(message, "subtype"))
        if handle is None:
            yield unknown(f"system/{text(message, 'subtype')}", message)
        else:
            yield from handle(message)

    def _retry(self, message: Object) -> Iterator[Event]:
        why = message_of(message.get("error")) or text(message, "error_message")
        attempt, most = number(message, "attempt"), number(message, "max_retries")
        count = f" ({attempt} of {most})" if attempt and most else ""
        yield ev.Warning(message=f"retrying{count}: {why}" if why else f"retrying{count}")

    def _notice(self, message: Object) -> Iterator[Event]:
        said = text(message, "content", "message", "text") or message_of(message.get("error"))
        if said and text(message, "level") not in ("info", "suggestion"):
            yield ev.Warning(message=said)

    def _task_started(self, message: Object) -> tuple[Event, ...]:
        self._tasks[text(message, "task_id")] = message
        return ()

    def _task_notification(self, message: Object) -> Iterator[Event]:
        """A task's end ends its call, unless the call has ended already and the task went on in the background."""
        task_id = text(message, "task_id")
        began = self._tasks.pop(task_id, {})
        call_id = text(message, "tool_use_id") or text(began, "tool_use_id")
        summary, status, description = text(message, "summary"), text(message, "status"), text(began, "description")
        if call_id not in self.calls.open and (status in _NOT_DONE or (summary and began and summary != description)):
            yield from self._task_over(task_id, status=status, summary=description or summary, result=summary)

    def _task_over(self, task_id: str, *, status: str, summary: str, result: str) -> Iterator[Event]:
        if (task_id, result) in self._over:
            return
        self._over.add((task_id, result))
        if status in _NOT_DONE:
            yield ev.Warning(message=f"task {status}: {result or summary}")
        else:
            yield from self.calls.whole(f"task:{task_id}:{len(self._over)}", "task", {"description": summary}, result)

    def _result(self, message: Object) -> Iterator[Event]:
        said, subtype = text(message, "result").strip(), text(message, "subtype")
        failed = message.get("is_error") is True or subtype.startswith("error")
        if failed:
            stated = message.get("errors")
            for error in stated if isinstance(stated, list) and stated else [said or subtype]:
                yield from self._failed(message_of(error))
        elif said and not self._spoke:
            yield ev.AssistantText(text=said)
        self._said, self._spoke = "", False
        yield ev.TurnComplete(finish=text(message, "stop_reason") or subtype or None, usage=_usage(message) or None)


class TaskList:
    """A to-do list that calls add to or change one entry of. Every change emits it as a plan."""

    TOOLS = ("TaskCreate", "TaskUpdate")

    def __init__(self) -> None:
        self.open: dict[str, tuple[str, Object]] = {}
        self._tasks: dict[str, Object] = {}

    @property
    def steps(self) -> list[Object]:
        return [dict(task) for task in self._tasks.values()]

    def begin(self, call_id: str, tool: str, args: Object) -> None:
        self.open[call_id] = (tool, args)

    def change(self, tool: str, args: Object, made: Object) -> None:
        task_id = text(made, "id") or text(args, "taskId") or str(len(self._tasks) + 1)
        if text(args, "status") == "deleted":
            self._tasks.pop(task_id, None)
            return
        task = self._tasks.setdefault(task_id, {"step": f"Task {task_id}", "status": "pending"})
        if tool == "TaskCreate" or text(args, "subject"):
            task["step"] = text(args, "subject") or task["step"]
        if text(args, "status"):
            task["status"] = text(args, "status")


class Streamed:
    """A message that streams: the names of its blocks, by their index."""

    def __init__(self, key: str, *, is_known: bool) -> None:
        self._key = key
        self._is_known = is_known
        self._counts: Counter[str] = Counter()
        self._names: dict[Any, tuple[str, str]] = {}
        self.joined: dict[str, str] = {}
        """Kind → name of a block of a message without an id: the next whole block of this kind is the same one."""

    def begin(self, event: Object) -> None:
        self._begin(number(event, "index"), text(event.get("content_block"), "type"))

    def _begin(self, index: Json, kind: str) -> None:
        self._counts[kind] += 1
        name = _name(self._key, kind, self._counts[kind])
        self._names[index] = (name, kind)
        if not self._is_known:
            self.joined[kind] = name

    def piece(self, event: Object) -> tuple[str, str, str]:
        """The block's name, the new text, the block's kind."""
        delta, index = obj(event, "delta"), number(event, "index")
        if index not in self._names:
            self._begin(index, text(delta, "type").removesuffix("_delta"))
        return self._names[index][0], text(delta, "text", "thinking"), self._names[index][1]


_WENT_ON = "It works in the background."


def _beginning(own: Object) -> str:
    """The output that the stream has, and the path of the file with all of it."""
    size, place = number(own, "persistedOutputSize"), text(own, "persistedOutputPath")
    whole = f"{size:,} bytes in all" if size is not None else "cut off here"
    return text(own, "stdout").rstrip("\n") + f"\n… {whole}" + (f": {place}" if place else "")


def _name(key: str, kind: str, count: int) -> str:
    return f"{key}/{kind}{count}"


def _blocks(message: Object) -> list[Object]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else objects(message, "content")


_USAGE = {
    "output_tokens": ("output_tokens",),
    "cached_input_tokens": ("cache_read_input_tokens",),
    "input_tokens": ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
}


def _usage(message: Object) -> Object:
    """All input is counted as input: the API counts input from the cache separately."""
    stated = obj(message, "usage")
    usage = {ours: sum(number(stated, key) or 0 for key in keys) for ours, keys in _USAGE.items()} if stated else {}
    for ours, key in (("cost_usd", "total_cost_usd"), ("duration_ms", "duration_ms"), ("turns", "num_turns")):
        if (value := number(message, key)) is not None:
            usage[ours] = value
    return usage
