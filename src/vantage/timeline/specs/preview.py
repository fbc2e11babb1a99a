"""A call drawn as its render spec describes it, for authors of specs."""

from typing import NamedTuple

import msgspec

from vantage.events import Json
from vantage.timeline.fold import Timeline
from vantage.timeline.row import Row
from vantage.timeline.tools.registry import ToolRegistry


class Sample(NamedTuple):
    """A call to draw a spec with."""

    args: Json = None
    output: Json = None
    details: Json = None
    error: str | None = None
    duration_ms: float | None = None
    running: bool = False


def preview_row(tool: str, value: Json, sample: Sample) -> tuple[Row, list[str]]:
    """The row of a call that brings its spec along, and remarks about it."""
    row = _row(tool, value, sample)
    if ToolRegistry().presenter_for(tool) is None:
        return msgspec.structs.replace(row, diagnostics=[]), row.diagnostics
    # a presenter of our own may take precedence over a spec, but not over that of an MCP server's tool
    described = msgspec.structs.replace(_row(f"mcp__preview__{tool}", value, sample), tool=tool)
    notes = described.diagnostics
    if described != row:
        notes = [f"a call of {tool!r} with such arguments is drawn by its own presenter, not by a spec", *notes]
    return msgspec.structs.replace(described, diagnostics=[]), notes


def _row(tool: str, value: Json, sample: Sample) -> Row:
    timeline = Timeline()
    call = {"toolCallId": "preview"}
    timeline.add({"type": "tool_start", "tool": tool, "args": sample.args, "renderSpec": value, **call})
    if sample.running:
        if sample.output is not None:
            timeline.add({"type": "tool_output", "output": sample.output, **call})
    else:
        end: dict[str, Json] = {"output": sample.output, "details": sample.details, "durationMs": sample.duration_ms}
        if sample.error is not None:
            end |= {"isError": True, "error": sample.error}
        timeline.add({"type": "tool_end", **{key: item for key, item in end.items() if item is not None}, **call})
    (row,) = timeline.rows
    return row
