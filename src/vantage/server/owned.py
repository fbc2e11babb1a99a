"""What the owner of conversations does beside their verbs: finding things in them, and making files of them.

Both read the home's files, so they are asked for over the bus like everything else. A file is made piece by piece: the
first answer names it, and whoever wants the rest asks again.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from vantage.conversation.files import ConversationFolder, check_id
from vantage.conversation.pty_requests import Asked
from vantage.conversation.requests import read_fields
from vantage.conversation.search_index import MOST_HITS, SearchIndex
from vantage.errors import NotFound, TooMany
from vantage.export import conversation as exports

PIECE = 1 << 18
"""Characters that are made in one go."""
MOST_AT_ONCE = 16
KEPT_S = 60.0
"""How long a file waits for whoever wants its next piece."""

Handler = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]


class Search(Asked):
    q: Annotated[str, Meta(min_length=1, max_length=1000, description="Words that must all be there")]
    conversation: Annotated[str, Meta(max_length=64, description="Only this one")] | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, le=MOST_HITS)] = 50
    before: Annotated[str, Meta(max_length=200, description="`next` of an earlier answer")] | UnsetType = UNSET


class Export(Asked):
    format: Annotated[
        Literal["html", "markdown", "text", "asciicast", "player"],
        Meta(
            description="html: a page with the timeline and the terminal; markdown, text: the timeline; "
            "asciicast: the terminal as a recording; player: a page that plays it"
        ),
    ]


class NextPiece(Asked):
    file: str
    enough: bool = False
    """No more of it is wanted."""


class Owned:
    def __init__(self, home: Path, search: SearchIndex) -> None:
        self._home = home
        self._search = search
        self._files: dict[str, Iterator[str]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def requests(self) -> dict[str, Handler]:
        return {"search_all": self._find, "export": self._export, "next_piece": self._next_piece}

    async def _find(self, _: str, fields: dict[str, Any]) -> dict[str, Any]:
        asked, ignored = read_fields(Search, fields)
        given = asked.arguments()
        found = await self._search.find(given["q"], given.get("conversation"), given["limit"], given.get("before"))
        return {**found.to_dict(), "warnings": ignored} if ignored else found.to_dict()

    async def _export(self, conversation_id: str, fields: dict[str, Any]) -> dict[str, Any]:
        asked, _ = read_fields(Export, fields)
        folder = ConversationFolder(self._home / "conversations" / check_id(conversation_id))
        if not folder.settings.exists():
            raise NotFound(f"there is no conversation {conversation_id!r}", hint="list them, or create it")
        if len(self._files) >= MOST_AT_ONCE:
            raise TooMany(f"{MOST_AT_ONCE} files are being made", retry_after=5, hint="come again in a moment")
        file = secrets.token_hex(8)
        self._files[file] = exports.export(folder, asked.format)
        try:
            return {"file": file, **await self._piece(file)}
        except BaseException:
            self._drop(file)
            raise

    async def _next_piece(self, _: str, fields: dict[str, Any]) -> dict[str, Any]:
        asked, _ignored = read_fields(NextPiece, fields)
        if asked.file not in self._files:
            raise NotFound(f"no file {asked.file!r} is being made", hint="begin again")
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
