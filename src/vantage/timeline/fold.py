"""Events → rows: which entry an event belongs to.

The fold remembers what is open: calls without an end, messages that stream, commands that run. The same events give
the same rows, however their text is cut into deltas.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vantage import events as ev
from vantage.events import Event, Json, compact_json
from vantage.text.spans import Span
from vantage.text.style import ACCENT, ALARM, RED
from vantage.timeline.calls import answer
from vantage.timeline.entries import Call, Entry, Fixed, Message, TerminalCommand
from vantage.timeline.row import Kind, Row, head
from vantage.timeline.tools import discover, load_families, presenter_for

if TYPE_CHECKING:
    from vantage.timeline.specs.model import RenderSpec
    from vantage.timeline.specs.registry import SpecRegistry

_MESSAGE_KINDS: dict[type[Event], Kind] = {
    ev.UserMessage: "user",
    ev.AssistantText: "message",
    ev.AssistantDelta: "message",
    ev.AssistantReasoning: "reasoning",
    ev.ReasoningDelta: "reasoning",
}


_NOT_SHOWN = ("type", "seq", "ts", "conversation_id")
"""What an event says of itself and not of what happened."""


class Timeline:
    """Events in, rows out, in the order in which they began; a row that changes keeps its place and its id."""

    def __init__(self, specs: "SpecRegistry | None" = None) -> None:
        self._specs = specs
        """The conversation's render specs; made when the first one comes."""
        self._entries: dict[str, Entry] = {}
        self.closed: list[str] = []
        """Rows that the last event brought to their end, besides the one that it was about."""
        self._count = 0
        self._calls: dict[str, Call] = {}
        self._messages: dict[tuple[Kind, str], Message] = {}
        self._commands: dict[str, TerminalCommand] = {}

    @property
    def rows(self) -> list[Row]:
        return [entry.row for entry in self._entries.values()]

    def row(self, row_id: str) -> Row:
        return self._entries[row_id].row

    def is_open(self, row_id: str) -> bool:
        """Whether more is expected to come to a row."""
        return self._entries[row_id].open

    def add(self, event: Event | bytes | str | dict[str, Json]) -> str | None:
        """Takes an event, or the JSON of one. Returns the id of the row it added or changed, if any."""
        if isinstance(event, (bytes, str, dict)):
            event = ev.decode_event(event)
        if self.closed:
            self.closed = []
        handler = _HANDLERS.get(type(event))
        entry = handler(self, event) if handler else None
        if entry is None:
            return None
        if self._messages:
            self._close_messages(entry)
        self._entries[entry.row_id] = entry
        return entry.row_id

    def forget(self, row_id: str) -> None:
        """Drops a row that nobody will ask for again. What is still open stays."""
        entry = self._entries.get(row_id)
        if entry is not None and not entry.open:
            del self._entries[row_id]

    def _close_messages(self, newest: Entry) -> None:
        """An agent that goes on to something else has ended its message, even if the whole text is still to come."""
        for message in self._messages.values():
            if message is not newest and message.open and message.agent == newest.agent:
                self._close(message)

    def _close(self, message: Message) -> None:
        if message.open:
            message.close()
            self.closed.append(message.row_id)

    def _id(self) -> str:
        self._count += 1
        return f"r{self._count}"

    def _whole(self, event: ev.UserMessage | ev.AssistantText | ev.AssistantReasoning) -> Entry | None:
        kind = _MESSAGE_KINDS[type(event)]
        name = None if isinstance(event, ev.UserMessage) else event.message_id
        message = self._messages.pop((kind, name), None) if name else None
        if message is None:
            if not event.text.strip():
                return None
            message = Message(self._id(), event, kind)
        message.text.set(event.text)
        message.close()
        message.touch(event)
        return message

    def _delta(self, event: ev.AssistantDelta | ev.ReasoningDelta) -> Entry:
        kind = _MESSAGE_KINDS[type(event)]
        key = (kind, event.message_id or "")
        message = self._messages.get(key)
        if message is None or (not event.message_id and not message.open):
            message = self._messages[key] = Message(self._id(), event, kind)
        message.open = True
        message.text.add(event.text)
        message.touch(event)
        return message

    def _turn_complete(self, event: ev.TurnComplete) -> None:  # noqa: ARG002
        for message in self._messages.values():
            self._close(message)
        self._messages.clear()

    def _tool_start(self, event: ev.ToolStart) -> Entry:
        spec, notes = self._spec_of(event)
        call = self._calls[event.tool_call_id or ""] = Call(self._id(), event, spec, notes)
        return call

    @property
    def specs(self) -> "SpecRegistry":
        """The render specs that this conversation knows, above those that all of them do."""
        if self._specs is None:
            from vantage.timeline.specs.registry import COMMON, SpecRegistry  # noqa: PLC0415

            load_families()
            self._specs = SpecRegistry(COMMON)
        return self._specs

    def _spec_of(self, event: ev.ToolStart) -> "tuple[RenderSpec | None, tuple[str, ...]]":
        """The spec a call is drawn with, for good: one that is registered later does not redraw history."""
        if event.render_spec is not None:
            from vantage.timeline.specs.check import SpecError  # noqa: PLC0415

            try:
                self.specs.register(event.tool, event.render_spec)
            except SpecError as error:
                return self.specs.find(event.tool), (str(error),)
        if event.spec_hash and (known := self.specs.find(event.tool, event.spec_hash)) is not None:
            return known, ()
        found = self.specs.find(event.tool)
        if found is not None:
            return found, ()
        problems = discover() if presenter_for(event.tool) is None else None
        if problems is not None:
            found = self.specs.find(event.tool)
        refusal = self.specs.refusal(event.tool) if found is None else ""
        return found, (*(problems or ()), *((refusal,) if refusal else ()))

    def _tool_output(self, event: ev.ToolOutput) -> Entry:
        key = event.tool_call_id or ""
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = Call(self._id(), event)
        text, _, _ = answer(event.output)
        (call.output.set if event.mode == "replace" else call.output.add)(text)
        call.touch(event)
        return call

    def _tool_end(self, event: ev.ToolEnd) -> Entry:
        call = self._calls.pop(event.tool_call_id or "", None)
        if call is None:
            call = Call(self._id(), event, self.specs.find(event.tool or ""))
        call.finish(event)
        return call

    def _notice(self, event: ev.Error | ev.Warning | ev.Canceled) -> Entry:
        word = event.type.title()
        message = re.sub(rf"\A\s*{word}:\s*", "", event.message, flags=re.IGNORECASE).strip()
        title = [Span(word, ALARM), Span(f": {message}" if message else "", RED)]
        return Fixed(self._id(), event, "notice", title, "warning" if isinstance(event, ev.Warning) else "error")

    def _gap(self, event: ev.PtyGap) -> Entry:
        why = f" ({event.why})" if event.why else ""
        said = f": terminal output from byte {event.start} to {event.end} is no longer kept{why}"
        return Fixed(self._id(), event, "notice", [Span("Gap", ALARM), Span(said, RED)], "warning")

    def _unknown(self, event: ev.UnknownEvent) -> Entry:
        shown = {key: value for key, value in event.data.items() if key not in _NOT_SHOWN}
        title = head("Event", event.name, Span(compact_json(shown) if shown else "", ACCENT))
        return Fixed(self._id(), event, "event", title)

    def _command(self, event: ev.AgentBlockBegin | ev.AgentBlockDelta) -> Entry:
        command = self._commands.get(event.block_id)
        if command is None or isinstance(event, ev.AgentBlockBegin):
            command = self._commands[event.block_id] = TerminalCommand(self._id(), event)
        if isinstance(event, ev.AgentBlockDelta):
            command.output.add(event.text)
            command.touch(event)
        return command

    def _command_end(self, event: ev.AgentBlockEnd) -> Entry:
        command = self._commands.pop(event.block_id, None) or TerminalCommand(self._id(), event)
        command.finish(event)
        return command


_HANDLERS: dict[type[Event], Callable[[Timeline, Any], Entry | None]] = {
    ev.UserMessage: Timeline._whole,  # noqa: SLF001 -- the table is part of the class
    ev.AssistantText: Timeline._whole,  # noqa: SLF001
    ev.AssistantReasoning: Timeline._whole,  # noqa: SLF001
    ev.AssistantDelta: Timeline._delta,  # noqa: SLF001
    ev.ReasoningDelta: Timeline._delta,  # noqa: SLF001
    ev.ToolStart: Timeline._tool_start,  # noqa: SLF001
    ev.ToolOutput: Timeline._tool_output,  # noqa: SLF001
    ev.ToolEnd: Timeline._tool_end,  # noqa: SLF001
    ev.Error: Timeline._notice,  # noqa: SLF001
    ev.Warning: Timeline._notice,  # noqa: SLF001
    ev.Canceled: Timeline._notice,  # noqa: SLF001
    ev.TurnComplete: Timeline._turn_complete,  # noqa: SLF001
    ev.AgentBlockBegin: Timeline._command,  # noqa: SLF001
    ev.AgentBlockDelta: Timeline._command,  # noqa: SLF001
    ev.AgentBlockEnd: Timeline._command_end,  # noqa: SLF001
    ev.PtyGap: Timeline._gap,  # noqa: SLF001
    ev.UnknownEvent: Timeline._unknown,  # noqa: SLF001
}
