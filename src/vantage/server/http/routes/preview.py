"""A render spec drawn on every surface, for the gallery: `vantage spec preview` over HTTP."""

import asyncio
import dataclasses
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from vantage.conversation.verbs.fields import read_params
from vantage.conversation.verbs.verb import Params, Result
from vantage.presentation import PresentationContext, profile
from vantage.server.http.route import Call
from vantage.surfaces import draw
from vantage.surfaces.html import row_html
from vantage.timeline.row import AnsiBlock, Row
from vantage.timeline.specs.check import check_spec
from vantage.timeline.specs.preview import Sample, preview_row


class Preview(Params, frozen=True):
    spec: Annotated[Any, Meta(description="The render spec, right or wrong")]
    tool: Annotated[str, Meta(min_length=1, max_length=200, description="The tool's name")] = "preview"
    args: Annotated[Any, Meta(description="Arguments of the call to draw")] | UnsetType = UNSET
    output: Annotated[Any, Meta(description="The call's output")] | UnsetType = UNSET
    details: Annotated[Any, Meta(description="The call's details, for templates")] | UnsetType = UNSET
    error: Annotated[str, Meta(description="The call failed with this message")] | UnsetType = UNSET
    durationMs: (  # noqa: N815 -- as it is called in events
        Annotated[float, Meta(description="How long the call took")] | UnsetType
    ) = UNSET
    running: Annotated[bool, Meta(description="The call has not ended")] = False
    width: Annotated[int, Meta(ge=20, le=300, description="Columns, instead of each surface's own")] | UnsetType = UNSET


class Drawn(msgspec.Struct, frozen=True):
    surface: Annotated[str, Meta(description="The surface that the call is drawn for")]
    form: Annotated[str, Meta(description="`html` or `text`: the format of `collapsed` and `expanded`")]
    collapsed: Annotated[str, Meta(description="The row without its blocks")]
    expanded: Annotated[str, Meta(description="The row with its blocks")]


class SpecProblem(msgspec.Struct, frozen=True):
    path: Annotated[str, Meta(description="Where in the spec")]
    message: Annotated[str, Meta(description="What is wrong")]
    hint: Annotated[str, Meta(description="The way out")]
    fatal: Annotated[bool, Meta(description="Whether the spec is refused for it")]


class Drawings(Result):
    problems: Annotated[list[SpecProblem], Meta(description="What is wrong with the spec")]
    notes: Annotated[list[str], Meta(description="Remarks about the drawings")]
    drawings: Annotated[list[Drawn], Meta(description="One for each surface; empty when the spec is refused")]


class _Display(NamedTuple):
    surface: str
    context: PresentationContext
    form: str = "text"


_DISPLAYS = (
    _Display("html", profile("web"), "html"),
    _Display("terminal", PresentationContext(content_width=72), "html"),
    _Display("plain", PresentationContext(content_width=72, color_depth=0)),
    _Display("telegram", profile("telegram")),
    _Display("slack", profile("slack")),
)


async def preview_spec(call: Call) -> dict[str, Any]:
    """Draw a call as a render spec describes it, on every surface, and say what is wrong with the spec."""
    asked, ignored = read_params(Preview, call.fields)
    answer = (await asyncio.to_thread(_preview, asked)).to_dict()
    return {**answer, "warnings": ignored} if ignored else answer


def _preview(asked: Preview) -> Drawings:
    found = check_spec(asked.spec)
    problems = [SpecProblem(each.path, each.message, each.hint, each.fatal) for each in found]
    if any(each.fatal for each in found):
        return Drawings(problems=problems, notes=[], drawings=[])
    row, notes = preview_row(asked.tool, asked.spec, _sample(asked))
    drawings = []
    for display in _DISPLAYS:
        context = display.context
        if asked.width is not UNSET:
            context = dataclasses.replace(context, content_width=asked.width)
        folded, fitted = _draw(msgspec.structs.replace(row, blocks=[]), context, display)
        opened, more = _draw(row, context, display)
        notes += [f"{display.surface}: {note}" for note in (*fitted, *more)]
        drawings.append(Drawn(display.surface, display.form, folded, opened))
    return Drawings(problems=problems, notes=list(dict.fromkeys(notes)), drawings=drawings)


def _sample(asked: Preview) -> Sample:
    given = asked.given()
    return Sample(
        args=given.get("args"),
        output=given.get("output"),
        details=given.get("details"),
        error=given.get("error"),
        duration_ms=given.get("durationMs"),
        running=asked.running,
    )


def _draw(row: Row, context: PresentationContext, display: _Display) -> tuple[str, list[str]]:
    rendered = draw([row], context, display.surface)
    output = rendered.output
    if display.surface == "terminal":  # escape sequences, which the page shows as HTML
        shown = Row(id="terminal", kind="message", blocks=[AnsiBlock(output.rstrip("\n"))])
        return row_html(shown, profile("web")), rendered.fitted
    if not isinstance(output, str):
        return msgspec.json.format(msgspec.json.encode(output), indent=2).decode(), rendered.fitted
    return output, rendered.fitted
