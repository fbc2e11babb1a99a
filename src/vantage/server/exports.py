"""A conversation as one file over HTTP, sent piece by piece while it is made."""

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from litestar.response import Stream

from vantage.conversation.bus import Bus
from vantage.errors import VantageError
from vantage.export.conversation import content_type, file_name
from vantage.server.services import Services

if TYPE_CHECKING:
    from vantage.server.routes import Given


async def export(services: Services, given: "Given") -> Any:
    format = given.fields["format"]
    first = await services.bus.request(given.conversation, "export", format=format)
    headers = {"content-disposition": f'attachment; filename="{file_name(given.conversation, format)}"'}
    media = content_type(format).partition(";")[0]  # Litestar says itself how text is encoded
    return Stream(_pieces(services.bus, given.conversation, first), media_type=media, headers=headers)


async def _pieces(bus: Bus, conversation_id: str, first: dict[str, Any]) -> AsyncIterator[bytes]:
    piece, file = first, first["file"]
    try:
        while piece["more"]:
            yield piece["data"].encode("utf-8", "surrogateescape")
            piece = await bus.request(conversation_id, "next_piece", file=file)
    finally:
        if piece["more"]:  # whoever wanted it has left
            with suppress(VantageError):
                await bus.request(conversation_id, "next_piece", file=file, enough=True)
