"""What a row is made from while it grows: one entry per thing that happened.

An entry takes in events cheaply (deltas are only collected) and is drawn up as a `Row` when somebody looks.
"""

import re
from abc import ABC, abstractmethod

from vantage import events as ev
from vantage.events import Json
from vantage.text.spans import Span
from vantage.text.style import ITALIC
from vantage.timeline.calls import ToolCall, answer, arguments, failure
from vantage.timeline.present import present
from vantage.timeline.row import Block, Kind, MarkdownBlock, OutputBlock, Row, Status, TerminalBlock, TextBlock, head
from vantage.timeline.specs.model import RenderSpec

_SUMMARY = re.compile(r"\s*\*\*([^*\n]+)\*\*[ \t]*(?:\n|\Z)")
"""Reasoning that opens with a line in bold: the line says what it is about."""


class Pieces:
    """Text that comes in pieces, joined when it is read."""

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
    """Where the row's id, place and cache are; the rest is each kind's own."""

    kind: Kind

    def __init__(self, row_id: str, event: ev.Event) -> None:
        self.row_id = row_id
        self.agent = event.agent
        self.open = False
        """More is expected."""
        self._event = event
        self._row: Row | None = None

    def touch(self, event: ev.Event) -> None:
        """Something came: the row must be drawn up again."""
        self._event = event
        self.agent = event.agent or self.agent
        self._row = None

    def close(self) -> None:
        if self.open:
            self.open = False
            self._row = None

    @property
    def row(self) -> Row:
        if self._row is None:
            self._row = self._draw()
        return self._row

    @abstractmethod
    def _draw(self) -> Row:
        """The row as things stand."""

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
            icon=icon,
            icon_color=icon_color,
            trailing=trailing,
            cut_title=cut_title,
            seq=self._event.seq,
            ts=self._event.ts,
            tool=tool,
            duration_ms=round(duration_ms) if duration_ms is not None else None,
            diagnostics=diagnostics or [],
        )


class Fixed(Entry):
    """A row that is whole from the start."""

    def __init__(self, row_id: str, event: ev.Event, kind: Kind, title: list[Span], status: Status = "none") -> None:
        super().__init__(row_id, event)
        self.kind = kind
        self._title = title
        self._status = status

    def _draw(self) -> Row:
        return self._make(status=self._status, title=self._title)


class Message(Entry):
    """What somebody said, whole or in deltas."""

    def __init__(self, row_id: str, event: ev.Event, kind: Kind) -> None:
        super().__init__(row_id, event)
        self.kind = kind
        self.text = Pieces()

    def _draw(self) -> Row:
        text = str(self.text)
        status: Status = "running" if self.open else "none"
        if self.kind == "user":
            return self._make(blocks=[TextBlock(text.strip("\n"))])
        if self.kind == "reasoning" and (match := _SUMMARY.match(text)):
            return self._make(status=status, title=[Span(match[1].strip(), ITALIC)])
        return self._make(status=status, blocks=[MarkdownBlock(text, italic=self.kind == "reasoning")])


class Call(Entry):
    """A tool call, from its start to its end."""

    kind = "tool"

    def __init__(
        self, row_id: str, event: ev.Event, spec: RenderSpec | None = None, notes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(row_id, event)
        self.open = True
        self.spec = spec
        self._spec_notes = notes
        self.start: ev.ToolStart | None = event if isinstance(event, ev.ToolStart) else None
        self.output = Pieces()
        self.end: ev.ToolEnd | None = None

    def finish(self, event: ev.ToolEnd) -> None:
        self.end = event
        self.close()
        self.touch(event)

    def _draw(self) -> Row:
        call = self._call()
        shown, notes = present(call, self.spec)
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
            diagnostics=[*self._spec_notes, *notes],
        )

    def _call(self) -> ToolCall:
        start, end = self.start, self.end
        tool = (start.tool if start else "") or (end.tool if end else "") or ""
        given: Json = start.args if start and start.args is not None else end.args if end else None
        args, raw = arguments(given)
        render_call = (start.render_call if start else "") or ""
        if end is None:
            return ToolCall(tool=tool, args=args, raw_args=raw, output=str(self.output), render_call=render_call)
        output, data, unpacked = answer(end.output if end.output is not None else str(self.output))
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
        if self.end is None or self.end.duration_ms is not None:
            return self.end.duration_ms if self.end else None
        started = self.start.ts if self.start else None
        return max(self.end.ts - started, 0) if self.end.ts is not None and started is not None else None


class TerminalCommand(Entry):
    """A command of the agent's terminal: it reads as one that a shell tool ran."""

    kind = "tool"

    def __init__(self, row_id: str, event: ev.Event) -> None:
        super().__init__(row_id, event)
        self.open = True
        self.command = event.cmd if isinstance(event, ev.AgentBlockBegin) else ""
        self.block_id: str = getattr(event, "block_id", "")
        self.output = Pieces()
        self.end: ev.AgentBlockEnd | None = None

    def finish(self, event: ev.AgentBlockEnd) -> None:
        self.end = event
        self.close()
        self.touch(event)

    def _draw(self) -> Row:
        end = self.end
        output = str(self.output)
        blocks: list[Block] = [OutputBlock(output)] if output.strip() else []
        if not output and (end is None or end.bytes):
            blocks = [TerminalBlock(self.block_id)]  # whoever has the terminal's files can say what it printed
        if end is not None and end.done_because not in (None, "mark"):
            blocks.append(TextBlock(f"ended: {end.done_because}", "accent"))
        return self._make(
            status="running" if end is None else "error" if end.exit_code else "ok",
            title=head("Running" if end is None else "Ran", self.command),
            blocks=blocks,
            tool="terminal",
            duration_ms=end.duration_ms if end else None,
        )
