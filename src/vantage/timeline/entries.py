"""The content of a row while it grows: one entry per group of events.

An entry only collects what events say. Its `Row` is made when it is read, and kept until the next event.
"""

import re
from abc import ABC, abstractmethod
from typing import Any, Literal, NamedTuple

from vantage import events as ev
from vantage.events import Json, compact_json
from vantage.text.spans import Line, Span
from vantage.text.style import ACCENT, ALARM, ITALIC, RED
from vantage.timeline.calls import ToolCall, answer, arguments, failure
from vantage.timeline.present import present
from vantage.timeline.row import (
    Block,
    ImageBlock,
    Kind,
    MarkdownBlock,
    OutputBlock,
    Row,
    Status,
    TerminalBlock,
    TextBlock,
    head,
)
from vantage.timeline.specs.model import RenderSpec
from vantage.timeline.tools import Presentation
from vantage.timeline.tools.registry import ToolRegistry

MessageEvent = ev.UserMessage | ev.AssistantText | ev.AssistantReasoning | ev.AssistantDelta | ev.ReasoningDelta

_SUMMARY = re.compile(r"\s*\*\*([^*\n]+)\*\*[ \t]*(?:\n|\Z)")
"""Reasoning that begins with a bold line: the line is its summary."""


class Pieces:
    """Text that comes in pieces, joined when it is read."""

    __slots__ = ("_parts",)

    def __init__(self, text: str = "") -> None:
        self._parts = [text] if text else []

    def add(self, text: str) -> None:
        self._parts.append(text)

    def set(self, text: str) -> None:
        self._parts = [text]

    def __str__(self) -> str:
        if len(self._parts) != 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0]


class Entry(ABC):
    """The id, the place and the drawn row of an entry; each kind adds what it collects and how it is drawn."""

    __slots__ = ("_row", "_ts", "agent", "begin", "open", "row_id", "seq")

    kind: Kind

    def __init__(self, row_id: str, event: ev.Event) -> None:
        self.row_id = row_id
        self.agent = event.agent
        self.open = False
        """More events are expected."""
        self.begin = self.seq = event.seq
        """The number of the first event, and of the last that changed the row."""
        self._ts = event.ts
        self._row: Row | None = None

    def take(self, event: Any) -> None:
        """Takes an event of the entry's group, the first included. The row is drawn again when it is next read."""
        self.seq, self._ts = event.seq, event.ts
        self.agent = event.agent or self.agent
        self._row = None

    def close(self, event: ev.Event | None) -> None:
        """No more events are expected, because of an event of another group or the end of the stream."""
        self.open = False
        self._row = None
        if event is not None:
            self.seq = event.seq

    @property
    def row(self) -> Row:
        if self._row is None:
            self._row = self._draw()
        return self._row

    @abstractmethod
    def _draw(self) -> Row:
        """The present row."""

    def _make(
        self,
        *,
        status: Status = "none",
        title: list[Span] | None = None,
        blocks: list[Block] | None = None,
        icon: str = "",
        icon_color: str = "",
        trailing: str = "",
        cut_title: str = "",
        by: str = "",
        tool: str = "",
        duration_ms: float | None = None,
        diagnostics: list[str] | None = None,
    ) -> Row:
        return Row(
            id=self.row_id,
            kind=self.kind,
            status=status,
            title=title or [],
            blocks=blocks or [],
            depth=max(self.agent.depth, 0) if self.agent else 0,
            agent=(self.agent.name or self.agent.id) if self.agent else "",
            by=by,
            icon=icon,
            icon_color=icon_color,
            trailing=trailing,
            cut_title=cut_title,
            begin=self.begin,
            seq=self.seq,
            ts=self._ts,
            tool=tool,
            duration_ms=round(duration_ms) if duration_ms is not None else None,
            diagnostics=diagnostics or [],
        )


class Fixed(Entry):
    """A row that is complete from the start: an error, a gap, an event of an unknown type."""

    __slots__ = ("_event", "kind")

    def __init__(self, row_id: str, event: ev.Event, kind: Literal["notice", "event"]) -> None:
        super().__init__(row_id, event)
        self.kind = kind
        self._event = event

    def _draw(self) -> Row:
        match self._event:
            case ev.PtyGap() as gap:
                return self._make(status="warning", title=_gap_title(gap))
            case ev.UnknownEvent() as unknown:
                return self._make(title=_unknown_title(unknown))
            case ev.AgentState() as state:
                return self._make(status="error", title=[Span("Agent exited", ALARM), Span(f": {state.error}", RED)])
            case ev.Error() | ev.Warning() | ev.Canceled() as notice:
                status: Status = "warning" if isinstance(notice, ev.Warning) else "error"
                return self._make(status=status, title=_notice_title(notice))
            case other:
                raise TypeError(f"expected an event that is a row by itself, got {other.type}")


def _notice_title(event: ev.Error | ev.Warning | ev.Canceled) -> Line:
    word = event.type.title()
    message = re.sub(rf"\A\s*{word}:\s*", "", event.message, flags=re.IGNORECASE).strip()
    return [Span(word, ALARM), Span(f": {message}" if message else "", RED)]


def _gap_title(event: ev.PtyGap) -> Line:
    why = f" ({event.why})" if event.why else ""
    said = f": terminal output from byte {event.start} to {event.end} is no longer kept{why}"
    return [Span("Gap", ALARM), Span(said, RED)]


def _unknown_title(event: ev.UnknownEvent) -> Line:
    said = event.said
    return head("Event", event.name, Span(compact_json(said) if said else "", ACCENT))


class Message(Entry):
    """A message or reasoning, whole or in deltas."""

    __slots__ = ("_attachments", "_by", "_text", "kind")

    def __init__(self, row_id: str, event: ev.Event, kind: Literal["user", "message", "reasoning"]) -> None:
        super().__init__(row_id, event)
        self.kind = kind
        self._text = Pieces()
        self._by = ""
        self._attachments: list[str] = []

    def take(self, event: MessageEvent) -> None:
        super().take(event)
        if isinstance(event, ev.AssistantDelta | ev.ReasoningDelta):
            self._text.add(event.text)
        else:
            self._text.set(event.text)
            self.open = False
        if isinstance(event, ev.UserMessage):
            self._by = event.by or ""
            self._attachments = _attachments(event.attachments)

    def _draw(self) -> Row:
        text = str(self._text)
        status: Status = "running" if self.open else "none"
        if self.kind == "user":
            pictures: list[Block] = [ImageBlock(name, name) for name in self._attachments]
            words: list[Block] = [TextBlock(text.strip("\n"))] if text.strip() else []
            return self._make(blocks=[*words, *pictures], by=self._by)
        if self.kind == "reasoning" and (match := _SUMMARY.match(text)):
            return self._make(status=status, title=[Span(match[1].strip(), ITALIC)])
        return self._make(status=status, blocks=[MarkdownBlock(text, self.kind == "reasoning", self.open)])


def _attachments(given: Json) -> list[str]:
    """The ids of assets, which are pictures; an object has its id in `id`."""
    if not isinstance(given, list):
        return []
    named = [each.get("id") if isinstance(each, dict) else each for each in given]
    return [each for each in named if isinstance(each, str) and each]


BlockEvent = ev.AgentBlockBegin | ev.AgentBlockDelta | ev.AgentBlockEnd


class CallStyle(NamedTuple):
    """What a call is drawn with: decided when its row begins."""

    tools: ToolRegistry
    spec: RenderSpec | None = None
    notes: tuple[str, ...] = ()
    """What to know about the spec."""

    def present(self, call: ToolCall) -> tuple[Presentation, list[str]]:
        """The call as it looks, and why it does not look otherwise."""
        shown, notes = present(call, self.tools.presenter_for(call.tool), self.spec)
        return shown, [*self.notes, *notes]


class Call(Entry):
    """A tool call, from its start to its end; with the command of the agent's terminal that it runs, where it does."""

    __slots__ = ("_command", "_end", "_output", "_start", "_style")

    kind = "tool"

    def __init__(self, row_id: str, event: ev.Event, style: CallStyle) -> None:
        super().__init__(row_id, event)
        self.open = True
        self._style = style
        self._start: ev.ToolStart | None = None
        self._output = Pieces()
        self._end: ev.ToolEnd | None = None
        self._command: TerminalCommand | None = None

    def take(self, event: ev.ToolStart | ev.ToolOutput | ev.ToolEnd | BlockEvent) -> None:
        super().take(event)
        match event:
            case ev.AgentBlockBegin() | ev.AgentBlockDelta() | ev.AgentBlockEnd():
                self._command = self._command or TerminalCommand(self.row_id, event)
                self._command.take(event)
            case ev.ToolStart():
                self._start = event
            case ev.ToolOutput():
                text, _, _ = answer(event.output)
                (self._output.set if event.mode == "replace" else self._output.add)(text)
            case ev.ToolEnd():
                self._end = event
        self.open = self._end is None or (self._command is not None and self._command.open)

    def _draw(self) -> Row:
        call = self._call()
        if self._command is not None and not call.failed:
            ran = self._command.row
            return self._make(
                status=ran.status, title=ran.title, blocks=ran.blocks, tool=call.tool, duration_ms=ran.duration_ms
            )
        shown, notes = self._style.present(call)
        status: Status = "running" if not call.done else "error" if call.failed else shown.status or "ok"
        return self._make(
            status=status,
            title=shown.title,
            blocks=shown.blocks,
            icon=shown.icon,
            icon_color=shown.icon_color,
            trailing=shown.trailing,
            cut_title=shown.cut_title,
            tool=call.tool,
            duration_ms=self._duration(),
            diagnostics=notes,
        )

    def _call(self) -> ToolCall:
        start, end = self._start, self._end
        tool = (start.tool if start else "") or (end.tool if end else "") or ""
        given: Json = start.args if start and start.args is not None else end.args if end else None
        args, raw = arguments(given)
        render_call = (start.render_call if start else "") or ""
        if end is None:
            return ToolCall(tool=tool, args=args, raw_args=raw, output=str(self._output), render_call=render_call)
        output, data, unpacked = answer(end.output if end.output is not None else str(self._output))
        failed, message = failure(output, data, end.error, is_error=end.is_error)
        return ToolCall(
            tool=tool,
            args=args,
            raw_args=raw,
            done=True,
            output=output,
            data=data,
            unpacked=unpacked,
            failed=failed,
            error=message,
            details=end.details,
            duration_ms=end.duration_ms,
            render_call=render_call,
            render_result=end.render_result or "",
        )

    def _duration(self) -> float | None:
        end, started = self._end, self._start.ts if self._start else None
        if end is None or end.duration_ms is not None:
            return end.duration_ms if end else None
        return max(end.ts - started, 0) if end.ts is not None and started is not None else None


class TerminalCommand(Entry):
    """A command of the agent's terminal, shown like one that a shell tool ran."""

    __slots__ = ("_block_id", "_command", "_end", "_output")

    kind = "tool"

    def __init__(self, row_id: str, event: ev.Event) -> None:
        super().__init__(row_id, event)
        self.open = True
        self._command = self._block_id = ""
        self._output = Pieces()
        self._end: ev.AgentBlockEnd | None = None

    def take(self, event: BlockEvent) -> None:
        super().take(event)
        self._block_id = event.block_id
        match event:
            case ev.AgentBlockBegin():
                self._command = event.cmd
            case ev.AgentBlockDelta():
                self._output.add(event.text)
            case ev.AgentBlockEnd():
                self._end = event
                self.open = False

    def _draw(self) -> Row:
        end = self._end
        output = str(self._output)
        blocks: list[Block] = [OutputBlock(output)] if output.strip() else []
        if not output and (end is None or end.bytes):
            blocks = [TerminalBlock(self._block_id)]  # its text is in the terminal's files
        if end is not None and end.done_because not in (None, "mark"):
            blocks.append(TextBlock(f"ended: {end.done_because}", "accent"))
        return self._make(
            status="running" if end is None else "error" if end.exit_code else "ok",
            title=head("Running" if end is None else "Ran", self._command),
            blocks=blocks,
            tool="terminal",
            duration_ms=end.duration_ms if end else None,
        )
