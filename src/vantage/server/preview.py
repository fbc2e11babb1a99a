"""A render spec drawn on every surface, for the gallery: what `vantage spec preview` does, over HTTP."""

import asyncio
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from vantage.conversation.pty_requests import Asked
from vantage.conversation.requests import read_fields
from vantage.conversation.results import Result
from vantage.presentation import PresentationContext, profile
from vantage.server.services import Services
from vantage.surfaces import draw
from vantage.surfaces.html import row_html
from vantage.timeline.row import AnsiBlock, Row
from vantage.timeline.specs.check import check_spec
from vantage.timeline.specs.preview import Sample, preview_row

if TYPE_CHECKING:
    from vantage.server.routes import Given


class Preview(Asked):
    spec: Annotated[Any, Meta(description="The render spec, right or wrong")]
    tool: Annotated[str, Meta(min_length=1, max_length=200)] = "preview"
    args: Annotated[Any, Meta(description="Arguments of a call to draw")] | UnsetType = UNSET
    output: Annotated[Any, Meta(description="What it answered")] | UnsetType = UNSET
    details: Any | UnsetType = UNSET
    error: Annotated[str, Meta(description="It failed with this message")] | UnsetType = UNSET
    durationMs: float | UnsetType = UNSET  # noqa: N815 -- as it is called in events
    running: Annotated[bool, Meta(description="It has not ended")] = False
    width: Annotated[int, Meta(ge=20, le=300, description="Columns, instead of each surface's own")] | UnsetType = UNSET


class Drawn(msgspec.Struct, frozen=True):
    surface: str
    form: str
    """`html` or `text`: what the two are."""
    collapsed: str
    expanded: str


class SpecProblem(msgspec.Struct, frozen=True):
    path: str
    message: str
    hint: str
    fatal: bool
    """The spec is refused for it."""


class Drawings(Result):
    problems: list[SpecProblem]
    notes: list[str]
    """What there is to know about the drawings."""
    drawings: list[Drawn]
    """None when the spec is refused."""

    def to_dict(self) -> dict[str, Any]:
        return {"ok": True, **{name: msgspec.to_builtins(getattr(self, name)) for name in _FIELDS}}


_FIELDS = ("problems", "notes", "drawings")


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


async def preview(_: Services, given: "Given") -> dict[str, Any]:
    asked, ignored = read_fields(Preview, given.fields)
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
            context = msgspec.structs.replace(context, content_width=asked.width)
        folded, fitted = _draw(msgspec.structs.replace(row, blocks=[]), context, display)
        opened, more = _draw(row, context, display)
        notes += [f"{display.surface}: {note}" for note in (*fitted, *more)]
        drawings.append(Drawn(display.surface, display.form, folded, opened))
    return Drawings(problems=problems, notes=list(dict.fromkeys(notes)), drawings=drawings)


def _sample(asked: Preview) -> Sample:
    given = asked.arguments()
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
    if display.surface == "terminal":  # its colours are drawn as a page draws them
        shown = Row(id="terminal", kind="message", blocks=[AnsiBlock(output.rstrip("\n"))])
        return row_html(shown, profile("web")), rendered.fitted
    if not isinstance(output, str):
        return msgspec.json.format(msgspec.json.encode(output), indent=2).decode(), rendered.fitted
    return output, rendered.fitted
