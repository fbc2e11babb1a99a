"""The verbs of a conversation's log: append events, read them."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from vantage.conversation.verbs.conversation.target import Target
from vantage.conversation.verbs.verb import Params, Result, verb
from vantage.events import ClientConfig, Event, decode_event, event_to_dict
from vantage.presentation import warnings_about

MAX_EVENTS = 10_000
"""How many events are read or written at once."""


class Append(Params, frozen=True):
    events: Annotated[list[dict[str, Any]], Meta(max_length=MAX_EVENTS, description="Events, in order")]


class Appended(Result):
    seq: Annotated[int, Meta(description="The number of the last one")]
    count: Annotated[int, Meta(description="How many were logged")]
    warnings: Annotated[tuple[str, ...], Meta(description="Unknown fields of `client_config` events")] = ()


class ReadEvents(Params, frozen=True):
    after: Annotated[int, Meta(ge=0, description="Events after this number")] | UnsetType = UNSET
    before: Annotated[int, Meta(ge=1, description="The last events before this number")] | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, le=MAX_EVENTS, description="How many at most")] = 1000


class Events(Result):
    events: Annotated[list[dict[str, Any]], Meta(description="Events, in order")]
    next: Annotated[
        int | None,
        Meta(
            description="What to ask for next: `after` it, or `before` it when that was given. null: there is no more"
        ),
    ]

    def to_dict(self) -> dict[str, Any]:
        return {"ok": True, "events": self.events, "next": self.next}


@verb("Log an event, or a list of them.")
async def append(target: Target, params: Append) -> Appended:
    events = [decode_event(event) for event in params.events]
    logged = target.conversation.take(events)
    return Appended(seq=target.conversation.events.seq, count=len(logged), warnings=tuple(_warnings_of(events)))


def _warnings_of(events: list[Event]) -> list[str]:
    """A warning for each unknown field of `client_config` events; of several events, with the event's number."""
    found: list[str] = []
    for number, event in enumerate(events, 1):
        if isinstance(event, ClientConfig):
            # An agent that is no object is kept there as well, and its id is used.
            unused = [name for name in event.extra if name != "agent" or event.agent is None]
            unknown = [f"client_config takes no such {name!r}, it was ignored" for name in unused]
            said = [*unknown, *warnings_about(event.presentation)]
            found += [f"event {number}: {each}" for each in said] if len(events) > 1 else said
    return found


@verb("Events after one, or the last ones before one.", reads=True)
async def events(target: Target, params: ReadEvents) -> Events:
    log = target.conversation.events
    if params.before is not UNSET:
        end = min(params.before, log.seq + 1) - 1
        first = max(end - params.limit, 0 if params.after is UNSET else params.after)
        found = log.read_last(first, end)
        oldest = found[0].seq if found else None
        following = oldest if oldest is not None and oldest > 1 else None
    else:
        after = 0 if params.after is UNSET else params.after
        found = log.read(after, params.limit)
        last = found[-1].seq if found else None
        following = last if last is not None and last < log.seq else None
    return Events(events=[event_to_dict(event) for event in found], next=following)
