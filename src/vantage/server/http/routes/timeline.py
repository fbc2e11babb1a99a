"""What happened in conversations, over HTTP: events, rows, searches, exports."""

from typing import Annotated, Any

from msgspec import Meta

from vantage.conversation.search.index import SearchHits
from vantage.conversation.verbs.conversation import events
from vantage.errors import InputError
from vantage.server.http.reading import read_json
from vantage.server.http.route import C, Call, Route, verb_route
from vantage.server.http.routes.exports import EXPORTED, export_conversation
from vantage.server.http.routes.rows import OneRow, ReadRow, ReadRows, Rows, read_row, read_rows
from vantage.server.search_export import Export, Search

Event = Annotated[
    dict[str, Any],
    Meta(
        description="Something that an agent or a person said or did. Fields of its type stand beside `type`",
        extra_json_schema={
            "properties": {"type": {"description": "`user_message`, `assistant_text`, `tool_start`, …"}},
            "additionalProperties": True,
        },
    ),
]
EventOrEvents = Event | Annotated[list[Event], Meta(max_length=events.MAX_EVENTS)]


def one_or_many(body: bytes) -> dict[str, Any]:
    """Reads an event, or a list of events. An empty body is neither."""
    value = read_json(body) if body else None
    if isinstance(value, dict):
        return {"events": [value]}
    if isinstance(value, list):
        return {"events": value}
    raise InputError("expected an event or a list of events", hint='send {"type": "user_message", "text": "…"}')


async def search(call: Call) -> Any:
    """Find what was said, run or printed in any conversation, the newest first."""
    return await call.ask("search_all")


ROUTES = (
    verb_route("POST", f"{C}/events", "append_events", events.append, body=EventOrEvents, read_body=one_or_many),
    verb_route("GET", f"{C}/events", "read_events", events.events),
    Route("GET", f"{C}/rows", read_rows, ReadRows, Rows),
    Route("GET", f"{C}/rows/{{row_id}}", read_row, ReadRow, OneRow),
    Route("GET", f"{C}/export", export_conversation, Export, EXPORTED),
    Route("GET", "/v1/search", search, Search, SearchHits),
)
