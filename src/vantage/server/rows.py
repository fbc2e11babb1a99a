"""A conversation's timeline over HTTP: rows as they are drawn for everybody, a page at a time."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from vantage.conversation.feed import Feed, Look
from vantage.conversation.pty_requests import Asked
from vantage.conversation.results import Result
from vantage.errors import Invalid
from vantage.server.services import Services

if TYPE_CHECKING:
    from vantage.server.routes import Given

Surface = Annotated[
    Literal["terminal", "plain", "html", "telegram", "slack"],
    Meta(description="What the rows are drawn for"),
]
Width = Annotated[int, Meta(ge=1, le=1000, description="Columns; without it as the surface usually is")]
Seq = Annotated[int, Meta(ge=0)]


class ReadRow(Asked):
    surface: Surface = "plain"
    width: Width | UnsetType = UNSET


class ReadRows(ReadRow):
    after: Annotated[int, Meta(ge=0, description="Rows that changed after this event")] | UnsetType = UNSET
    before: Annotated[int, Meta(ge=1, description="Rows that began before this event")] | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, le=500)] = 100


class DrawnRow(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A row: what is known of it, and how it looks."""

    seq: int
    """Of the event that last changed it."""
    row: dict[str, Any]
    html: str = ""
    text: str = ""
    messages: tuple[dict[str, Any], ...] = ()


class Rows(Result):
    rows: list[DrawnRow]
    seq: int
    """Of the last event: `after` it comes what is not there yet."""
    epoch: str
    """Changes only when the log was made anew: numbers of another epoch mean nothing."""
    next: int | None = None
    """What to ask for next: `after` it, or `before` it when that was asked for. null: there is no more."""


class OneRow(Result):
    """A row with `row.blocks`: what it is made of."""

    seq: int
    row: dict[str, Any]
    html: str = ""
    text: str = ""
    messages: tuple[dict[str, Any], ...] = ()


async def rows(services: Services, given: "Given") -> dict[str, Any]:
    fields = given.fields
    if "after" in fields and "before" in fields:
        raise Invalid("rows takes one of after and before", hint="after goes forward, before goes back")
    feed = await services.hub.feed(given.conversation)
    seq, epoch = feed.seq, feed.epoch
    if "before" in fields:
        page, following = _before(feed, fields["before"], fields["limit"])
    else:
        page, following = _after(feed, fields.get("after", 0), fields["limit"])
    look = Look.of(fields["surface"], fields.get("width"))
    drawn = [msgspec.Raw(await feed.drawn(row_id, look)) for row_id in page]
    return {"ok": True, "rows": drawn, "next": following, "seq": seq, "epoch": epoch}


async def one_row(services: Services, given: "Given") -> dict[str, Any]:
    fields = given.fields
    feed = await services.hub.feed(given.conversation)
    row = await feed.row(fields["row_id"])
    look = Look.of(fields["surface"], fields.get("width"))
    drawn = msgspec.json.decode(await feed.drawn(row.id, look))
    drawn["row"]["blocks"] = msgspec.to_builtins(row.blocks)
    return {"ok": True, **drawn}


def _after(feed: Feed, seq: int, limit: int) -> tuple[list[str], int | None]:
    page = feed.after(seq, limit)
    last = max((feed.seq_of(row_id) for row_id in page), default=seq)
    return page, last if feed.after(last, 1) else None


def _before(feed: Feed, seq: int, limit: int) -> tuple[list[str], int | None]:
    page = feed.before(seq, limit + 1)
    if len(page) <= limit:
        return page, None
    page = page[1:]
    return page, feed.begin(page[0])
