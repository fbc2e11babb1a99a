"""A conversation as one file over HTTP, sent piece by piece while it is made."""

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from starlette.responses import StreamingResponse

from vantage.conversation.bus import Bus
from vantage.errors import VantageError
from vantage.export.conversation import FORMATS, content_type, file_name
from vantage.server.http.route import Call, File

EXPORTED = File("The file.", tuple(dict.fromkeys(format.content_type.partition(";")[0] for format in FORMATS.values())))


async def export_conversation(call: Call) -> StreamingResponse:
    """The whole conversation as one file."""
    format = call.fields["format"]
    first = await call.services.bus.request(call.conversation, "export", format=format)
    headers = {"content-disposition": f'attachment; filename="{file_name(call.conversation, format)}"'}
    pieces = _pieces(call.services.bus, call.conversation, first)
    return StreamingResponse(pieces, media_type=content_type(format), headers=headers)


async def _pieces(bus: Bus, conversation_id: str, first: dict[str, Any]) -> AsyncIterator[bytes]:
    piece, file = first, first["file"]
    try:
        while piece["more"]:
            yield piece["data"].encode("utf-8", "surrogateescape")
            piece = await bus.request(conversation_id, "next_piece", file=file)
    finally:
        if piece["more"]:  # the client has disconnected
            with suppress(VantageError):
                await bus.request(conversation_id, "next_piece", file=file, enough=True)
