"""Search over all conversations, and exports of one, as requests to the conversations' owner.

Both read the home's files, so they go over the bus like every other request. An export is made piece by piece: the
first answer has the file's id and its first piece, and `next_piece` returns the next one.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from vantage.conversation.search.index import MAX_HITS, SearchIndex
from vantage.conversation.store.conversation_folder import ConversationFolder, check_id
from vantage.conversation.verbs.fields import read_params
from vantage.conversation.verbs.verb import Params
from vantage.errors import NotFound, TooMany
from vantage.export import conversation as exports
from vantage.timeline.tools.registry import ToolRegistry

PIECE = 1 << 18
"""Characters of one piece, at least."""
MAX_EXPORTS = 16
KEPT_S = 60.0
"""How long an export waits for a request for its next piece."""

Handler = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]


class Search(Params, frozen=True):
    q: Annotated[str, Meta(min_length=1, max_length=1000, description="Words that must all be there")]
    conversation: Annotated[str, Meta(max_length=64, description="Only in this conversation")] | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, le=MAX_HITS, description="How many hits at most")] = 50
    before: Annotated[str, Meta(max_length=200, description="`next` of an earlier answer")] | UnsetType = UNSET


class Export(Params, frozen=True):
    format: Annotated[
        Literal["html", "markdown", "text", "asciicast", "player"],
        Meta(
            description="html: a page with the timeline and the terminal; markdown, text: the timeline; "
            "asciicast: the terminal as a recording; player: a page that plays it"
        ),
    ]


class NextPiece(Params, frozen=True):
    file: str
    enough: bool = False
    """True drops the export: no further piece is asked for."""


class SearchAndExport:
    def __init__(self, home: Path, search: SearchIndex, tools: ToolRegistry | None = None) -> None:
        self._home = home
        self._tools = tools
        self._search = search
        self._files: dict[str, Iterator[str]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def requests(self) -> dict[str, Handler]:
        return {"search_all": self._find, "export": self._export, "next_piece": self._next_piece}

    async def _find(self, _: str, fields: dict[str, Any]) -> dict[str, Any]:
        asked, ignored = read_params(Search, fields)
        given = asked.given()
        found = await self._search.find(given["q"], given.get("conversation"), given["limit"], given.get("before"))
        return {**found.to_dict(), "warnings": ignored} if ignored else found.to_dict()

    async def _export(self, conversation_id: str, fields: dict[str, Any]) -> dict[str, Any]:
        asked, _ = read_params(Export, fields)
        folder = ConversationFolder(self._home / "conversations" / check_id(conversation_id))
        if not folder.settings.exists():
            raise NotFound(f"there is no conversation {conversation_id!r}", hint="list them, or create it")
        if len(self._files) >= MAX_EXPORTS:
            raise TooMany(f"{MAX_EXPORTS} files are being made", retry_after=5, hint="try again in a few seconds")
        file = secrets.token_hex(8)
        self._files[file] = exports.export(folder, asked.format, tools=self._tools)
        try:
            return {"file": file, **await self._piece(file)}
        except BaseException:
            self._drop(file)
            raise

    async def _next_piece(self, _: str, fields: dict[str, Any]) -> dict[str, Any]:
        asked, _ignored = read_params(NextPiece, fields)
        if asked.file not in self._files:
            raise NotFound(f"no file {asked.file!r} is being made", hint="start the export again")
        if asked.enough:
            self._drop(asked.file)
            return {"data": "", "more": False}
        return await self._piece(asked.file)

    async def _piece(self, file: str) -> dict[str, Any]:
        if timer := self._timers.pop(file, None):
            timer.cancel()
        data = await asyncio.to_thread(_some, self._files[file])
        if data:
            self._timers[file] = asyncio.get_running_loop().call_later(KEPT_S, self._drop, file)
        else:
            self._drop(file)
        return {"data": data, "more": bool(data)}

    def _drop(self, file: str) -> None:
        self._files.pop(file, None)
        if timer := self._timers.pop(file, None):
            timer.cancel()

    def close(self) -> None:
        for file in tuple(self._files):
            self._drop(file)


def _some(pieces: Iterator[str]) -> str:
    found, size = [], 0
    for piece in pieces:
        found.append(piece)
        size += len(piece)
        if size >= PIECE:
            break
    return "".join(found)
