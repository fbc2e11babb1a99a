"""Rows of a conversation's timeline over HTTP, drawn for a surface, a page at a time."""

from dataclasses import replace
from itertools import groupby
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from vantage.conversation.feed.drawing import RenderTarget
from vantage.conversation.feed.row_log import RowLog
from vantage.conversation.verbs.verb import Params, Result
from vantage.errors import Invalid
from vantage.presentation import PresentationContext
from vantage.server.http.route import Call

Surface = Annotated[
    Literal["terminal", "plain", "html", "telegram", "slack"],
    Meta(description="What the rows are drawn for"),
]
Width = Annotated[int, Meta(ge=1, le=1000, description="Columns; without it, the surface's usual width")]
RowSeq = Annotated[int, Meta(description="The number of the event that last changed the row")]
RowFields = Annotated[dict[str, Any], Meta(description="The row as data: id, kind, status, title, …")]
Html = Annotated[str, Meta(description="The row as HTML, on the surface html")]
Text = Annotated[str, Meta(description="The row as text, on the surfaces plain and terminal")]
ChatMessages = Annotated[
    tuple[dict[str, Any], ...], Meta(description="The row as messages of the chat's interface, on telegram and slack")
]

MAX_ANSWER = 8 << 20
"""Bytes of drawn rows in one answer. Rows that do not fit are in the next one; at least one row is in each."""


class ReadRow(Params, frozen=True):
    surface: Surface = "plain"
    width: Width | UnsetType = UNSET
    client_id: Annotated[str, Meta(description="Draw for this client's display, as it declared it")] | UnsetType = UNSET


class ReadRows(ReadRow, frozen=True):
    after: Annotated[int, Meta(ge=0, description="Rows that changed after this event")] | UnsetType = UNSET
    before: Annotated[int, Meta(ge=1, description="Rows that began before this event")] | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, le=500, description="How many rows at most")] = 100


class DrawnRow(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A row, as data and drawn."""

    seq: RowSeq
    row: RowFields
    html: Html = ""
    text: Text = ""
    messages: ChatMessages = ()


class Rows(Result):
    rows: Annotated[list[DrawnRow], Meta(description="The rows, in the order in which they began")]
    next: Annotated[
        int | None,
        Meta(
            description="What to ask for next: `after` it, or `before` it when that was given. null: there is no more"
        ),
    ]
    seq: Annotated[int, Meta(description="The number of the last event: ask for what comes `after` it")]
    epoch: Annotated[
        str, Meta(description="Changes only when the log was made anew: numbers of another epoch do not apply")
    ]


class OneRow(Result):
    """A row with `row.blocks`: what it is made of."""

    seq: RowSeq
    row: RowFields
    html: Html = ""
    text: Text = ""
    messages: ChatMessages = ()


async def read_rows(call: Call) -> dict[str, Any]:
    """The timeline as rows, drawn for a surface: those that changed after an event, or began before one."""
    fields = call.fields
    if "after" in fields and "before" in fields:
        raise Invalid("rows takes one of after and before", hint="after goes forward, before goes back")
    feed = await call.services.hub.feed(call.conversation)
    seq, epoch = feed.rows.seq, feed.replica.epoch
    page = _before if "before" in fields else _after
    steps, end = page(feed.rows, fields.get("before" if page is _before else "after", 0), fields["limit"])
    target, warnings = await _target(call)
    drawn: dict[str, bytes] = {}
    following, size = end, 0
    for step in steps:
        made = {row_id: await feed.renderer.message(row_id, target) for row_id in step.rows}
        size += sum([len(each) for each in made.values()])
        if drawn and size > MAX_ANSWER:
            break
        drawn |= made
        following = step.next
    else:
        following = end
    shown = [msgspec.Raw(drawn[row_id]) for row_id in feed.rows.in_order(drawn)]
    return {"ok": True, "rows": shown, "next": following, "seq": seq, "epoch": epoch, **warnings}


async def read_row(call: Call) -> dict[str, Any]:
    """One row, drawn for a surface, with the blocks that it is made of."""
    feed = await call.services.hub.feed(call.conversation)
    row = await feed.renderer.row(call.fields["row_id"])
    target, warnings = await _target(call)
    drawn = msgspec.json.decode(await feed.renderer.message(row.id, target))
    drawn["row"]["blocks"] = msgspec.to_builtins(row.blocks)
    return {"ok": True, **drawn, **warnings}


async def _target(call: Call) -> tuple[RenderTarget, dict[str, list[str]]]:
    """The context that rows are drawn with: the named client's, else the surface's usual one. `width` replaces both."""
    surface, width, client_id = (call.fields.get(name) for name in ("surface", "width", "client_id"))
    usual = RenderTarget.of(str(surface), width)
    if client_id is None:
        return usual, {}
    known = (await call.services.bus.request(call.conversation, "client", client_id=client_id)).get("presentation")
    if known is None:
        said = f"client {client_id!r} has not declared a display: the rows are drawn as {surface} usually is"
        return usual, {"warnings": [said]}
    context = PresentationContext.from_dict(known)
    return RenderTarget(usual.surface, context if width is None else replace(context, content_width=width)), {}


class _Step(NamedTuple):
    """Rows that must be in the same answer, and the `next` of an answer that ends with them."""

    rows: list[str]
    next: int


def _after(rows: RowLog, seq: int, limit: int) -> tuple[list[_Step], int | None]:
    """Steps from the first change to the last, and `next` after all of them.

    Rows that one event changed are one step: `after` that event none of them would be found.
    """
    changed = sorted(rows.after(seq, limit), key=rows.seq_of)
    steps = [_Step(list(group), last) for last, group in groupby(changed, rows.seq_of)]
    last = steps[-1].next if steps else seq
    return steps, last if rows.after(last, 1) else None


def _before(rows: RowLog, seq: int, limit: int) -> tuple[list[_Step], int | None]:
    """Steps from the newest row to the oldest, and `next` after all of them."""
    page = rows.before(seq, limit + 1)
    steps = [_Step([row_id], rows.begin(row_id)) for row_id in reversed(page[-limit:])]
    return steps, steps[-1].next if len(page) > limit else None
