"""The ledger of requests: a pure fold of a conversation's `request`, `answer` and `request_closed` events.

A request is open until its first answer or its end. The fold takes the first of each: a second request with the id, an
answer to a request that is not open and a second end change nothing. An end may follow an answer that came too late.
"""

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from vantage.events import Answer, Event, Request, RequestClosed, event_to_dict

State = Literal["open", "answered", "closed"]
Why = Literal["expired", "withdrawn", "answered_elsewhere", "too_late", "lost"]


class Entry(msgspec.Struct, frozen=True):
    """One request, with its answer and its end."""

    request: Request
    answer: Answer | None = None
    closed: RequestClosed | None = None

    @property
    def state(self) -> State:
        if self.answer is not None:
            return "answered"
        return "open" if self.closed is None else "closed"


class Ledger:
    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._open: dict[str, Entry] = {}

    def apply(self, event: Event) -> Entry | None:
        """Takes an event. Returns the entry that it changed, if it changed one."""
        match event:
            case Request():
                after = None if event.request_id in self._entries else Entry(event)
            case Answer() | RequestClosed():
                after = self._ended(event)
            case _:
                return None
        if after is None:
            return None
        self._entries[event.request_id] = after
        if after.state == "open":
            self._open[event.request_id] = after
        else:
            self._open.pop(event.request_id, None)
        return after

    def _ended(self, event: Answer | RequestClosed) -> Entry | None:
        entry = self._entries.get(event.request_id)
        if entry is None or entry.closed is not None:
            return None
        if isinstance(event, RequestClosed):
            return msgspec.structs.replace(entry, closed=event)
        return msgspec.structs.replace(entry, answer=event) if entry.answer is None else None

    def get(self, request_id: str) -> Entry | None:
        return self._entries.get(request_id)

    def open(self) -> list[Entry]:
        """The open requests, the oldest first."""
        return list(self._open.values())

    @property
    def has_open(self) -> bool:
        return bool(self._open)

    def __iter__(self) -> Iterator[Entry]:
        """All requests, the oldest first."""
        return iter(tuple(self._entries.values()))


def told(entry: Entry) -> dict[str, Any]:
    """How a request stands, as it travels."""
    state: dict[str, Any] = {"request_id": entry.request.request_id, "hash": entry.request.hash, "state": entry.state}
    if entry.answer is not None:
        state["answer"] = as_fields(entry.answer)
    if entry.closed is not None:
        state["closed"] = entry.closed.why
    return state


def as_fields(event: Request | Answer | RequestClosed) -> dict[str, Any]:
    """The event without its type, and without the conversation that it is told of in."""
    return {name: value for name, value in event_to_dict(event).items() if name not in ("type", "conversation_id")}
