"""`vantage.connect()`: a server and its conversations, with blocking calls.

Several threads may use a `Server` and its conversations at once.
"""

import select
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

import msgspec

from vantage.client import requests
from vantage.client.calls import Call
from vantage.client.endpoint import Endpoint
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
from vantage.client.transport.http_client import HttpClient
from vantage.client.transport.link import Link
from vantage.client.verbs import Verbs
from vantage.conversation.verbs.verb import Result
from vantage.errors import Conflict, NoServer, NotFound

if TYPE_CHECKING:
    from vantage.conversation.verbs.conversation.agent import AgentStatus, SaidIt
    from vantage.conversation.verbs.conversation.life import Description
    from vantage.conversation.verbs.conversation.requests import RequestState, WholeRequest
    from vantage.events import Event

R = TypeVar("R", bound=Result)


def connect(
    home: Place | None = None, *, url: str | None = None, token: str | None = None, start: bool = True
) -> "Server":
    """A client of the server of a home, by default the user's own, or of the server at a URL.

    The server of a home is started if none runs, unless `start` is false. Raises `NoServer` if there is none.
    """
    server = Server(endpoint_of(home, url, token, start=start))
    try:
        server.conversations()
    except BaseException:
        server.close()
        raise
    return server


class Server:
    def __init__(self, endpoint: Endpoint) -> None:
        self._http = HttpClient(endpoint)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes its connections. The server and its shells go on."""
        self._http.close()

    def conversations(self) -> "list[Description]":
        """All conversations, the last used first."""
        from vantage.conversation.verbs.conversation.life import Descriptions  # loads much

        return self.call(requests.list_conversations(), Descriptions).conversations

    def conversation(self, id: str, *, create: bool = True, **settings: Unpack[Settings]) -> "Conversation":
        """A conversation, made with these settings if there is none with this id and `create` is true.

        The settings of one that exists stay as they are.
        """
        try:
            self._http.answer(requests.describe(id))
        except NotFound:
            if not create:
                raise
            try:
                return self.create(id, **settings)
            except Conflict as error:
                if error.code != Conflict.code:
                    raise
                self._http.answer(requests.describe(id))  # another client made it meanwhile
        return Conversation(self, id)

    def create(self, id: str | None = None, **settings: Unpack[Settings]) -> "Conversation":
        """A new conversation; without an id it gets one. Raises `Conflict` if the id is in use."""
        return Conversation(self, str(self._http.answer(creation(id, settings))["id"]))

    def call(self, request: requests.Request, returns: type[R]) -> R:
        return msgspec.convert(self._http.answer(request), returns)

    def rows(self, request: requests.Request) -> RowPage:
        return msgspec.convert(self._http.answer(request), RowPage)

    def link(self, follower: RowFollower) -> Link:
        return Link(self._http.endpoint, client_id(), subscribe=follower.subscription)


class Conversation(Verbs):
    """One conversation: its terminal's verbs, its events and its timeline."""

    def __init__(self, server: Server, id: str) -> None:
        self.id = id
        self._server = server

    def __repr__(self) -> str:
        return f"Conversation({self.id!r})"

    def call(self, call: Call, returns: type[R]) -> R:
        return self._server.call(call.request(self.id), returns)

    def describe(self) -> "Description":
        """Its name, its size, what it does now."""
        from vantage.conversation.verbs.conversation.life import Description  # loads much

        return self._server.call(requests.describe(self.id), Description)

    def rename(self, name: str) -> None:
        """Gives it another name. Its id stays."""
        self._server.call(requests.rename(self.id, name), Result)

    def close(self) -> None:
        """Ends its shell and keeps its files."""
        self._server.call(requests.close(self.id), Result)

    def delete(self) -> None:
        """Ends its shell and removes its files."""
        self._server.call(requests.delete(self.id), Result)

    def emit(self, event: "Event | Mapping[str, Any] | Sequence[Event | Mapping[str, Any]]") -> int:
        """Logs an event, or several in their order. Returns the number of the last one."""
        from vantage.conversation.verbs.conversation.events import Appended  # loads much

        return self._server.call(requests.append(self.id, event_fields(event)), Appended).seq

    def instructions(self, *, agent: str | None = None, additional: str | None = None) -> str:
        """The display instruction: what the people who watch can see, for the system prompt of the agent."""
        from vantage.conversation.verbs.conversation.displays import Text  # loads much

        request = requests.instructions(self.id, agent=agent, additional=additional)
        return self._server.call(request, Text).text

    def ask(
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
        return self._server.call(asked, RequestState)

    def request(self, request_id: str, *, wait: float | None = None) -> "WholeRequest":
        """One request, and how it stands; with `wait`, once it has ended or after so many seconds."""
        from vantage.conversation.verbs.conversation.requests import WholeRequest  # loads much

        return self._server.call(requests.read_request(self.id, request_id, wait=wait), WholeRequest)

    def requests(self, *, every: bool = False) -> list[dict[str, Any]]:
        """Its open requests, the oldest first; `every`: those that have ended too."""
        from vantage.conversation.verbs.conversation.requests import RequestList  # loads much

        return self._server.call(requests.list_requests(conversation=self.id, every=every), RequestList).requests

    def answer(
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

        shown = hash if hash is not None else self.request(request_id).hash
        given = {"option": option, "text": text, "values": values, "hash": shown}
        return self._server.call(requests.answer(self.id, request_id, given), RequestState)

    def withdraw(self, request_id: str) -> "RequestState":
        """Takes a request back: it is closed without an answer."""
        from vantage.conversation.verbs.conversation.requests import RequestState  # loads much

        return self._server.call(requests.withdraw(self.id, request_id), RequestState)

    def start_agent(self, agent: str, **settings: Unpack[AgentSettings]) -> "AgentStatus":
        """Starts an agent here: `claude`, `codex` … Raises `Busy` while one runs."""
        from vantage.conversation.verbs.conversation.agent import AgentStatus  # loads much

        return self._server.call(agent_start(self.id, agent, settings), AgentStatus)

    def agent(self) -> "AgentStatus":
        """What the agent does that runs here."""
        from vantage.conversation.verbs.conversation.agent import AgentStatus  # loads much

        return self._server.call(requests.agent(self.id), AgentStatus)

    def say(self, text: str, *, attachments: Sequence[str] | None = None) -> "SaidIt":
        """Gives the agent a message; `delivery` says what became of it. One that has ended continues its session."""
        from vantage.conversation.verbs.conversation.agent import SaidIt  # loads much

        return self._server.call(requests.say(self.id, text, attachments=attachments), SaidIt)

    def interrupt(self) -> bool:
        """Stops the agent's turn; false when none ran."""
        from vantage.conversation.verbs.conversation.agent import Interrupted  # loads much

        return self._server.call(requests.interrupt(self.id), Interrupted).interrupted

    def end_agent(self) -> "AgentStatus":
        """Ends the agent and everything that it started."""
        from vantage.conversation.verbs.conversation.agent import AgentStatus  # loads much

        return self._server.call(requests.end_agent(self.id), AgentStatus)

    def rows(self, *, surface: str = "plain", width: int | None = None, after: int = 0) -> Iterator[TimelineRow]:
        """The rows of its timeline that changed after an event, read page by page."""
        following: int | None = after
        while following is not None:
            asked = requests.rows(self.id, surface=surface, width=width, after=following, limit=PAGE)
            page = self._server.rows(asked)
            yield from page.rows
            following = page.next

    def follow(self, *, surface: str = "plain", position: Position | None = None) -> "Following":
        """Its timeline, live: the last 200 rows, then each row as often as it changes.

        With the `position` of an earlier iterator, only what has changed since. The iterator waits for a server that
        is restarted and goes on where it was.
        """
        follower = RowFollower(self.id, surface, position)
        return Following(self, follower, self._server.link(follower), surface)


class Following(Iterator[TimelineRow]):
    """Rows of a conversation as they change. `position` says up to where they were taken."""

    def __init__(self, conversation: Conversation, follower: RowFollower, link: Link, surface: str) -> None:
        self._conversation = conversation
        self._follower = follower
        self._surface = surface
        self._link = link
        self._ready: deque[TimelineRow] = deque()
        self.position = follower.position

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __next__(self) -> TimelineRow:
        while not self._ready:
            self._wait()
        row = self._ready.popleft()
        if not self._ready:
            self.position = self._follower.position
        return row

    def close(self) -> None:
        self._link.close()

    def _wait(self) -> None:
        if not self._link.connected and not self._link.retry():
            select.select([], [], [], self._link.timeout())
            return
        select.select(self._link.sources(), [], [])
        for message in self._link.take():
            missed = self._follower.missed_since(message)
            if missed is not None:
                try:
                    self._ready += without(self._conversation.rows(surface=self._surface, after=missed), message)
                except NoServer:  # the next connection asks from the old position
                    self._link.close()
                    return
            self._ready += self._follower.take(message)
