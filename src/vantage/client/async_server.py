"""`vantage.connect_async()`: a server and its conversations, with asyncio.

Each call has a connection of its own, so calls may run at once, and one that is cancelled ends on the server too.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

import msgspec

from vantage.client import requests
from vantage.client.calls import Call
from vantage.client.endpoint import Endpoint, no_server
from vantage.client.retry import Retry
from vantage.client.rows import PAGE, Position, RowFollower, RowPage, TimelineRow, without
from vantage.client.settings import (
    AgentSettings,
    Place,
    Question,
    Settings,
    agent_start,
    client_id,
    creation,
    endpoint_of,
    event_fields,
)
from vantage.client.transport.connection import compose, decoded, lost, parse
from vantage.client.verbs import Verbs
from vantage.conversation.verbs.verb import Result
from vantage.errors import Conflict, NoServer, NotFound
from vantage.ptyhost.ownership import NotPrivate

if TYPE_CHECKING:
    from vantage.client.transport.websocket import MessageStream
    from vantage.conversation.verbs.conversation.agent import AgentStatus, SaidIt
    from vantage.conversation.verbs.conversation.life import Description
    from vantage.conversation.verbs.conversation.requests import RequestState, WholeRequest
    from vantage.events import Event

R = TypeVar("R", bound=Result)
_CHUNK = 1 << 16


async def connect_async(
    home: Place | None = None, *, url: str | None = None, token: str | None = None, start: bool = True
) -> "AsyncServer":
    """As `vantage.connect`, for asyncio."""
    server = AsyncServer(endpoint_of(home, url, token, start=start))
    await server.conversations()
    return server


class AsyncServer:
    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    async def conversations(self) -> "list[Description]":
        """All conversations, the last used first."""
        from vantage.conversation.verbs.conversation.life import Descriptions  # loads much

        return (await self.call(requests.list_conversations(), Descriptions)).conversations

    async def conversation(self, id: str, *, create: bool = True, **settings: Unpack[Settings]) -> "AsyncConversation":
        """A conversation, made with these settings if there is none with this id and `create` is true.

        The settings of one that exists stay as they are.
        """
        try:
            await self.answer(requests.describe(id))
        except NotFound:
            if not create:
                raise
            try:
                return await self.create(id, **settings)
            except Conflict as error:
                if error.code != Conflict.code:
                    raise
                await self.answer(requests.describe(id))  # another client made it meanwhile
        return AsyncConversation(self, id)

    async def create(self, id: str | None = None, **settings: Unpack[Settings]) -> "AsyncConversation":
        """A new conversation; without an id it gets one. Raises `Conflict` if the id is in use."""
        return AsyncConversation(self, str((await self.answer(creation(id, settings)))["id"]))

    async def call(self, request: requests.Request, returns: type[R]) -> R:
        return msgspec.convert(await self.answer(request), returns)

    async def rows(self, request: requests.Request) -> RowPage:
        return msgspec.convert(await self.answer(request), RowPage)

    async def answer(self, request: requests.Request) -> dict[str, Any]:
        """The server's answer. An error that it answers with is raised; NoServer when it cannot be reached."""
        reader, writer = await self._dialled()
        try:
            writer.write(compose(request, self.endpoint))
            said = parse(await reader.read())
        except (OSError, HTTPException) as error:
            raise lost(error) from error
        finally:
            writer.close()
        return decoded(said, self.endpoint)

    async def _dialled(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection; the server is started if none runs and the endpoint may start one."""
        try:
            return await self.endpoint.dial_async()
        except NotPrivate as error:
            raise no_server(self.endpoint, error) from error
        except OSError:
            await asyncio.to_thread(self.endpoint.start)
        try:
            return await self.endpoint.dial_async()
        except OSError as error:
            raise no_server(self.endpoint, error) from error


class AsyncConversation(Verbs):
    """One conversation: its terminal's verbs, its events and its timeline."""

    def __init__(self, server: AsyncServer, id: str) -> None:
        self.id = id
        self.server = server

    def __repr__(self) -> str:
        return f"AsyncConversation({self.id!r})"

    async def call(self, call: Call, returns: type[R]) -> R:
        return await self.server.call(call.request(self.id), returns)

    async def describe(self) -> "Description":
        """Its name, its size, what it does now."""
        from vantage.conversation.verbs.conversation.life import Description  # loads much

        return await self.server.call(requests.describe(self.id), Description)

    async def rename(self, name: str) -> None:
        """Gives it another name. Its id stays."""
        await self.server.call(requests.rename(self.id, name), Result)

    async def close(self) -> None:
        """Ends its shell and keeps its files."""
        await self.server.call(requests.close(self.id), Result)

    async def delete(self) -> None:
        """Ends its shell and removes its files."""
        await self.server.call(requests.delete(self.id), Result)

    async def emit(self, event: "Event | Mapping[str, Any] | Sequence[Event | Mapping[str, Any]]") -> int:
        """Logs an event, or several in their order. Returns the number of the last one."""
        from vantage.conversation.verbs.conversation.events import Appended  # loads much

        return (await self.server.call(requests.append(self.id, event_fields(event)), Appended)).seq

    async def instructions(self, *, agent: str | None = None, additional: str | None = None) -> str:
        """The display instruction: what the people who watch can see, for the system prompt of the agent."""
        from vantage.conversation.verbs.conversation.displays import Text  # loads much

        request = requests.instructions(self.id, agent=agent, additional=additional)
        return (await self.server.call(request, Text)).text

    async def ask(
        self,
        question: str,
        options: "Sequence[str | Mapping[str, Any]] | None" = None,
        *,
        wait: float = 0,
        **fields: Unpack[Question],
    ) -> "RequestState":
        """Asks a person. With `wait`, returns once there is an answer, or how it stands after so many seconds.

        `options` are answers to choose from; without them (and without a `schema`) the answer is a text.
        """
        from vantage.conversation.verbs.conversation.requests import RequestState  # loads much

        asked = requests.ask(self.id, {"title": question, "options": options, "wait": wait, **fields})
        return await self.server.call(asked, RequestState)

    async def request(self, request_id: str, *, wait: float | None = None) -> "WholeRequest":
        """One request, and how it stands; with `wait`, once it has ended or after so many seconds."""
        from vantage.conversation.verbs.conversation.requests import WholeRequest  # loads much

        return await self.server.call(requests.read_request(self.id, request_id, wait=wait), WholeRequest)

    async def requests(self, *, every: bool = False) -> list[dict[str, Any]]:
        """Its open requests, the oldest first; `every`: those that have ended too."""
        from vantage.conversation.verbs.conversation.requests import RequestList  # loads much

        return (await self.server.call(requests.list_requests(conversation=self.id, every=every), RequestList)).requests

    async def answer(
        self,
        request_id: str,
        option: str | None = None,
        *,
        text: str | None = None,
        values: Mapping[str, Any] | None = None,
        hash: str | None = None,
    ) -> "RequestState":
        """Answers a request. `hash` is that of what was shown to the person; without it, of the request as it is."""
        from vantage.conversation.verbs.conversation.requests import RequestState  # loads much

        shown = hash if hash is not None else (await self.request(request_id)).hash
        given = {"option": option, "text": text, "values": values, "hash": shown}
        return await self.server.call(requests.answer(self.id, request_id, given), RequestState)

    async def withdraw(self, request_id: str) -> "RequestState":
        """Takes a request back: it is closed without an answer."""
        from vantage.conversation.verbs.conversation.requests import RequestState  # loads much

        return await self.server.call(requests.withdraw(self.id, request_id), RequestState)

    async def start_agent(self, agent: str, **settings: Unpack[AgentSettings]) -> "AgentStatus":
        """Starts an agent here: `claude`, `codex` … Raises `Busy` while one runs."""
        from vantage.conversation.verbs.conversation.agent import AgentStatus  # loads much

        return await self.server.call(agent_start(self.id, agent, settings), AgentStatus)

    async def agent(self) -> "AgentStatus":
        """What the agent does that runs here."""
        from vantage.conversation.verbs.conversation.agent import AgentStatus  # loads much

        return await self.server.call(requests.agent(self.id), AgentStatus)

    async def say(self, text: str, *, attachments: Sequence[str] | None = None) -> "SaidIt":
        """Gives the agent a message; `delivery` says what became of it. One that has ended continues its session."""
        from vantage.conversation.verbs.conversation.agent import SaidIt  # loads much

        return await self.server.call(requests.say(self.id, text, attachments=attachments), SaidIt)

    async def interrupt(self) -> bool:
        """Stops the agent's turn; false when none ran."""
        from vantage.conversation.verbs.conversation.agent import Interrupted  # loads much

        return (await self.server.call(requests.interrupt(self.id), Interrupted)).interrupted

    async def end_agent(self) -> "AgentStatus":
        """Ends the agent and everything that it started."""
        from vantage.conversation.verbs.conversation.agent import AgentStatus  # loads much

        return await self.server.call(requests.end_agent(self.id), AgentStatus)

    async def rows(
        self, *, surface: str = "plain", width: int | None = None, after: int = 0
    ) -> AsyncIterator[TimelineRow]:
        """The rows of its timeline that changed after an event, read page by page."""
        following: int | None = after
        while following is not None:
            asked = requests.rows(self.id, surface=surface, width=width, after=following, limit=PAGE)
            page = await self.server.rows(asked)
            for row in page.rows:
                yield row
            following = page.next

    def follow(self, *, surface: str = "plain", position: Position | None = None) -> "AsyncFollowing":
        """Its timeline, live: the last 200 rows, then each row as often as it changes.

        With the `position` of an earlier iterator, only what has changed since. The iterator waits for a server that
        is restarted and goes on where it was.
        """
        return AsyncFollowing(self, RowFollower(self.id, surface, position), surface)


class AsyncFollowing(AsyncIterator[TimelineRow]):
    """Rows of a conversation as they change. `position` says up to where they were taken."""

    def __init__(self, conversation: AsyncConversation, follower: RowFollower, surface: str) -> None:
        self._conversation = conversation
        self._follower = follower
        self._surface = surface
        self._socket: _Socket | None = None
        self._client_id = client_id()
        self._ready: deque[TimelineRow] = deque()
        self.position = follower.position

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    async def __anext__(self) -> TimelineRow:
        while not self._ready:
            await self._wait()
        row = self._ready.popleft()
        if not self._ready:
            self.position = self._follower.position
        return row

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    async def _wait(self) -> None:
        for message in await self._messages():
            missed = self._follower.missed_since(message)
            if missed is not None:
                rows = self._conversation.rows(surface=self._surface, after=missed)
                try:
                    self._ready += without([row async for row in rows], message)
                except NoServer:  # the next connection asks from the old position
                    self.close()
                    return
            self._ready += self._follower.take(message)

    async def _messages(self) -> list[dict[str, Any]]:
        from vantage.client.transport.link import refused  # only followers need WebSockets
        from vantage.client.transport.websocket import Rejected

        endpoint = self._conversation.server.endpoint
        try:
            if self._socket is None:
                self._socket = await _Socket.opened(endpoint, self._client_id, self._follower.subscription())
            return await self._socket.take()
        except NotPrivate as error:
            raise no_server(endpoint, error) from error
        except Rejected as rejected:
            raise refused(rejected) from rejected
        except OSError:
            self.close()
            await Retry().pause_async()
            return []


class _Socket:
    """A WebSocket over asyncio's streams."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, stream: "MessageStream") -> None:
        self._reader = reader
        self._writer = writer
        self._stream = stream

    @classmethod
    async def opened(cls, endpoint: Endpoint, client_id: str, subscription: dict[str, Any]) -> "_Socket":
        from vantage.client.transport.websocket import MessageStream  # only followers need WebSockets

        stream = MessageStream(endpoint.token())
        socket = cls(*await endpoint.dial_async(), stream)
        try:
            while not stream.is_open:
                await socket.take()  # no message has arrived: the server sends none before `hello`
            stream.send("hello", client_id=client_id, token=endpoint.token())
            stream.send("subscribe", **subscription)
        except BaseException:
            socket.close()
            raise
        return socket

    async def take(self) -> list[dict[str, Any]]:
        self._writer.write(self._stream.outgoing())
        messages = self._stream.feed(await self._reader.read(_CHUNK))
        self._writer.write(self._stream.outgoing())  # pongs
        return messages

    def close(self) -> None:
        self._stream.close()
        self._writer.write(self._stream.outgoing())
        self._writer.close()
