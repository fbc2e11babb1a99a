"""A row of the route table, and the call that its function gets.

The application (`dispatch.py`), the guard's rights and the OpenAPI document (`openapi.py`) all read the same rows.
"""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta
from starlette.requests import Request

from vantage.conversation.store.conversation_folder import ID_PATTERN
from vantage.conversation.verbs.verb import Done, NoParams, Params, Result, Verb
from vantage.server.http.reading import read_object, read_query
from vantage.server.security.scoped import Reach
from vantage.server.services import Services

C = "/v1/conversations/{conversation_id}"

_Id = Annotated[str, Meta(pattern=f"^{ID_PATTERN}$")]
_Word = Annotated[str, Meta(min_length=1)]

PATH_PARAMETERS: dict[str, Any] = {
    "conversation_id": Annotated[_Id, Meta(description="Which conversation", examples=["work"])],
    "row_id": Annotated[_Word, Meta(description="Which row", examples=["r1"])],
    "client_id": Annotated[_Word, Meta(max_length=100, description="Which display", examples=["phone"])],
    "agent_id": Annotated[
        _Word, Meta(max_length=200, description="Which agent, by the id in its events", examples=["sub-1"])
    ],
    "asset": Annotated[_Id, Meta(description="The picture's id", examples=["chart"])],
    "link_id": Annotated[_Word, Meta(description="Which link", examples=["4a44dc15364204a80fe80e9039455cc1"])],
    "session_id": Annotated[_Word, Meta(description="Which session of a browser", examples=["1f2e3d4c"])],
    "request_id": Annotated[_Word, Meta(max_length=200, description="Which request", examples=["deploy-7"])],
    "tool": Annotated[_Word, Meta(max_length=200, description="The tool's name", examples=["deploy"])],
}
"""The type of each `{name}` in a path. The name of a tool may have slashes, other names may not."""

_NO_FIELD = frozenset({"conversation_id", "verb"})
"""Names in a path that say what is asked, and are no parameter of it."""
SET_BY_SERVER = frozenset({"keep", "read_only", "owner", "created_by"})
"""Fields of parameters that the server fills in. A caller cannot set them, so they are not documented."""


@dataclass(slots=True)
class Call:
    """One request, decoded."""

    services: Services
    request: Request
    conversation: str
    """`conversation_id` of the path; empty where the path has none."""
    fields: dict[str, Any]
    """The query or the body. Names in the path take precedence."""

    @property
    def reach(self) -> Reach:
        """The conversations that the token reaches."""
        reach: Reach = self.request.scope["state"]["reach"]
        return reach

    async def ask(self, name: str, **more: Any) -> dict[str, Any]:
        """Passes the fields on to the conversation's owner, and returns its answer."""
        return await self.services.bus.request(self.conversation, name, **{**self.fields, **more})

    @property
    def token_id(self) -> str:
        """The id of the token that the request was sent with."""
        return str(self.request.scope["state"]["token_id"])


Function = Callable[[Call], Awaitable[Any]]
"""Returns fields that become JSON, or a complete Starlette response.

Its name is the operation's id in the OpenAPI document, the first paragraph of its docstring the summary there.
"""


@dataclass(frozen=True, slots=True)
class File:
    """An answer that is no JSON."""

    description: str
    media: tuple[str, ...]
    binary: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    method: str
    path: str
    function: Function
    takes: type[Params] = NoParams
    """The query of a GET, the body of the others. Fields that are in the path are in neither."""
    returns: "type[Result] | File" = Done
    status: int = 200
    body: Any = None
    """The body's type where it is not an object with the fields of `takes`."""
    read_body: Callable[[bytes], dict[str, Any]] = read_object
    open: bool = False
    """Needs no token."""
    reads: bool = False
    """Changes nothing though it is no GET: a read-only token may call it."""
    person: bool = False
    """For people: a shell or an agent that Vantage started is refused."""
    errors: tuple[int, ...] = ()
    """Statuses in addition to those that every request of this kind can have."""

    @property
    def reads_query(self) -> bool:
        return self.method == "GET"

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def summary(self) -> str:
        return (inspect.getdoc(self.function) or "").partition("\n\n")[0]

    async def call(self, services: Services, request: Request) -> Any:
        """Reads the request and calls the function."""
        path = {name: value for name, value in request.path_params.items() if name not in _NO_FIELD}
        if self.reads_query:
            fields = read_query(request.scope["query_string"], self.takes)
        else:
            fields = self.read_body(await request.body())
        conversation = request.path_params.get("conversation_id", "")
        return await self.function(Call(services, request, conversation, {**fields, **path}))


def verb_route(method: str, path: str, name: str, verb: Verb[Any, Any, Any], status: int = 200, **more: Any) -> Route:
    """A path that passes its fields on to a verb, and answers with the verb's result. `name` is the operation's id."""

    async def ask(call: Call) -> Any:
        return await call.ask(verb.name)

    ask.__name__, ask.__doc__ = name, verb.summary
    return Route(method, path, ask, verb.params, verb.result, status, **more)
