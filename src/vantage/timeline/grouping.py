"""Which row an event belongs to: the one place that decides which event begins, continues and ends a row.

`Timeline` draws the groups as rows, the search index keeps their text, and an export learns which event is the last of
each. The caller passes a function that makes an entry; the entry then takes every event of its group, the first
included. The state is `Open`: the entries that later events may still name. Stored and restored, it continues a log
where an earlier reader stopped.
"""

from collections.abc import Callable
from typing import Any, Generic, Literal, Protocol, TypeVar

import msgspec

from vantage import events as ev
from vantage.events import Agent, Event

_RUN_TOOLS = ("pty_exec_block", "pty_exec_interactive")
"""Our tools that run a command; agents put words before the names."""

EntryKind = Literal["user", "message", "reasoning", "tool", "command", "request", "notice", "event"]

MESSAGES: dict[type[Event], EntryKind] = {
    ev.UserMessage: "user",
    ev.AssistantText: "message",
    ev.AssistantDelta: "message",
    ev.AssistantReasoning: "reasoning",
    ev.ReasoningDelta: "reasoning",
}


class Grouped(Protocol):
    """What a row is made from: the entry of one group of events."""

    agent: Agent | None
    open: bool
    """A message without an id is continued only while it is open."""

    def take(self, event: Any) -> None:
        """Takes the next event of the group."""

    def close(self, event: Event | None) -> None:
        """Another event, or the end of the stream, ended the message."""


E = TypeVar("E", bound=Grouped)


class Open(msgspec.Struct, Generic[E]):
    """Entries that later events may name, by the name that those events use."""

    calls: dict[str, E] = {}
    messages: dict[str, E] = {}
    commands: dict[str, E] = {}
    runs: dict[str, str] = {}
    """Calls of our own tools whose command has not begun yet → that command."""
    requests: dict[str, E] = {}
    """Answered ones too, until the turn ends: an answer may have come too late."""
    answered: list[str] = []
    """The requests among them that have an answer."""


class Grouping(Generic[E]):
    def __init__(
        self, begin: Callable[[Event, EntryKind], E], opened: Open[E] | None = None, limit: int | None = None
    ) -> None:
        self.begin = begin
        self.opened: Open[E] = opened if opened is not None else Open()
        self.closed: list[E] = []
        """Messages that the last event ended, besides its own entry."""
        self._limit = limit
        """Open entries of a kind that are kept at most: beyond that, the oldest is dropped."""

    def add(self, event: Event) -> E | None:
        """The entry that the event began, continued or ended; `None` for an event that belongs to no row."""
        if self.closed:
            self.closed = []
        find = _BY_TYPE.get(type(event))
        entry: E | None = find(self, event) if find is not None else None
        if entry is None:
            return None
        entry.take(event)
        if self.opened.messages:
            self._close_messages(entry, event)
        return entry

    def finish(self, event: Event | None = None) -> None:
        """Ends every streaming message."""
        for message in self.opened.messages.values():
            self._close(message, event)
        self.opened.messages.clear()

    def keep(self, opened: dict[str, E], name: str, entry: E) -> E:
        """Keeps a new entry open under a name, replacing an earlier one of that name."""
        opened[name] = entry
        if self._limit is not None and len(opened) > self._limit:
            del opened[next(iter(opened))]
        return entry

    def _close_messages(self, newest: E, event: Event) -> None:
        """An agent's event of another kind ends its message, even if the whole text is still to come."""
        for message in self.opened.messages.values():
            if message is not newest and message.open and message.agent == newest.agent:
                self._close(message, event)

    def _close(self, message: E, event: Event | None) -> None:
        if message.open:
            message.close(event)
            self.closed.append(message)


def message_name(kind: EntryKind, message_id: str | None) -> str:
    return f"{kind} {message_id or ''}"


def _whole(grouping: Grouping[E], event: ev.UserMessage | ev.AssistantText | ev.AssistantReasoning) -> E | None:
    kind = MESSAGES[type(event)]
    message_id = None if isinstance(event, ev.UserMessage) else event.message_id
    entry = grouping.opened.messages.pop(message_name(kind, message_id), None) if message_id else None
    pictures = event.attachments if isinstance(event, ev.UserMessage) else None
    if entry is None and (event.text.strip() or pictures):
        entry = grouping.begin(event, kind)
    return entry


def _delta(grouping: Grouping[E], event: ev.AssistantDelta | ev.ReasoningDelta) -> E:
    kind = MESSAGES[type(event)]
    name = message_name(kind, event.message_id)
    messages = grouping.opened.messages
    entry = messages.get(name)
    if entry is None or (not event.message_id and not entry.open):
        entry = grouping.keep(messages, name, grouping.begin(event, kind))
    entry.open = True
    return entry


def _turn_complete(grouping: Grouping[E], event: ev.TurnComplete) -> None:
    grouping.finish(event)
    for name in grouping.opened.answered:
        grouping.opened.requests.pop(name, None)
    grouping.opened.answered.clear()


def _tool_start(grouping: Grouping[E], event: ev.ToolStart) -> E:
    command = event.args.get("command") if isinstance(event.args, dict) else None
    if isinstance(command, str) and event.tool.lower().endswith(_RUN_TOOLS):
        grouping.opened.runs[event.tool_call_id or ""] = command
    return grouping.keep(grouping.opened.calls, event.tool_call_id or "", grouping.begin(event, "tool"))


def _tool_output(grouping: Grouping[E], event: ev.ToolOutput) -> E:
    calls, name = grouping.opened.calls, event.tool_call_id or ""
    return calls.get(name) or grouping.keep(calls, name, grouping.begin(event, "tool"))


def _tool_end(grouping: Grouping[E], event: ev.ToolEnd) -> E:
    grouping.opened.runs.pop(event.tool_call_id or "", None)
    return grouping.opened.calls.pop(event.tool_call_id or "", None) or grouping.begin(event, "tool")


def _command_begin(grouping: Grouping[E], event: ev.AgentBlockBegin) -> E:
    """A command that a call of our tools runs is in the call's row: an agent that Vantage runs shows both."""
    opened = grouping.opened
    call = next((name for name, command in opened.runs.items() if command == event.cmd), None)
    entry = opened.calls.get(call) if call is not None and event.origin != "typed" else None
    if call is not None and entry is not None:
        del opened.runs[call]
    return grouping.keep(opened.commands, event.block_id, entry or grouping.begin(event, "command"))


def _command_delta(grouping: Grouping[E], event: ev.AgentBlockDelta) -> E:
    commands = grouping.opened.commands
    return commands.get(event.block_id) or grouping.keep(commands, event.block_id, grouping.begin(event, "command"))


def _command_end(grouping: Grouping[E], event: ev.AgentBlockEnd) -> E:
    return grouping.opened.commands.pop(event.block_id, None) or grouping.begin(event, "command")


def _request(grouping: Grouping[E], event: ev.Request) -> E:
    if event.request_id in grouping.opened.answered:
        grouping.opened.answered.remove(event.request_id)
    return grouping.keep(grouping.opened.requests, event.request_id, grouping.begin(event, "request"))


def _answer(grouping: Grouping[E], event: ev.Answer) -> E | None:
    """An answer to a request that is not known is no row: it cannot say what was asked."""
    entry = grouping.opened.requests.get(event.request_id)
    if entry is not None and event.request_id not in grouping.opened.answered:
        grouping.opened.answered.append(event.request_id)
    return entry


def _request_closed(grouping: Grouping[E], event: ev.RequestClosed) -> E | None:
    return grouping.opened.requests.pop(event.request_id, None)


def _agent_state(grouping: Grouping[E], event: ev.AgentState) -> E | None:
    """What an agent does at the moment is no row. Its exit ends its messages, and is one where something went wrong."""
    if event.state != "exited":
        return None
    grouping.finish(event)
    return grouping.begin(event, "notice") if event.error else None


def _notice(grouping: Grouping[E], event: Event) -> E:
    return grouping.begin(event, "notice")


def _unknown(grouping: Grouping[E], event: ev.UnknownEvent) -> E:
    return grouping.begin(event, "event")


_BY_TYPE: dict[type[Event], Callable[[Grouping[Any], Any], Any]] = {
    ev.UserMessage: _whole,
    ev.AssistantText: _whole,
    ev.AssistantReasoning: _whole,
    ev.AssistantDelta: _delta,
    ev.ReasoningDelta: _delta,
    ev.ToolStart: _tool_start,
    ev.ToolOutput: _tool_output,
    ev.ToolEnd: _tool_end,
    ev.Error: _notice,
    ev.Warning: _notice,
    ev.Canceled: _notice,
    ev.TurnComplete: _turn_complete,
    ev.AgentBlockBegin: _command_begin,
    ev.AgentBlockDelta: _command_delta,
    ev.AgentBlockEnd: _command_end,
    ev.PtyGap: _notice,
    ev.Request: _request,
    ev.Answer: _answer,
    ev.RequestClosed: _request_closed,
    ev.AgentState: _agent_state,
    ev.UnknownEvent: _unknown,
}
