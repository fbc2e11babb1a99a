"""What can be asked over HTTP, in one table: the application is made of it, and so is its OpenAPI document.

A PTY verb is a row of `PTY_VERBS`, and not repeated here.
"""

import base64
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, cast

import msgspec
from litestar import Request, Response

from vantage.conversation import requests
from vantage.conversation.pty_requests import Asked, Nothing
from vantage.conversation.results import Result
from vantage.conversation.search_index import SearchHits
from vantage.errors import InputError
from vantage.server.answers import JSON
from vantage.server.demo import PlayDemo, demo
from vantage.server.exports import export
from vantage.server.metrics import TYPE as METRICS_TYPE
from vantage.server.owned import Export, Search
from vantage.server.preview import Drawings, Preview, preview
from vantage.server.reading import read_json, read_object, read_query
from vantage.server.rows import OneRow, ReadRow, ReadRows, Rows, one_row, rows
from vantage.server.services import Services

C = "/v1/conversations/{conversation_id}"


@dataclass(slots=True)
class Given:
    """A request, taken apart."""

    request: Request[Any, Any, Any]
    conversation: str
    fields: dict[str, Any]


Does = Callable[[Services, Given], Awaitable[Any]]
"""Answers with fields that become JSON, or with a whole response."""
Reads = Callable[[bytes], dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    method: str
    path: str
    name: str
    summary: str
    does: Does
    takes: type[Asked] = Nothing
    """The query of a GET, the body of the others; what is in the path is not in it."""
    returns: type[Result] = requests.Done
    status: int = 200
    media: str = JSON
    read_body: Reads = read_object
    open: bool = False
    reads: bool = False
    """Changes nothing, though it is no GET: those who may only watch may do it."""
    errors: tuple[int, ...] = ()
    """Beside those that every request can have."""

    @property
    def reads_query(self) -> bool:
        return self.method == "GET"


def asks(name: str, **more: Any) -> Does:
    """Asks the conversation's owner, and says what it says."""

    async def do(services: Services, given: Given) -> Any:
        return await services.bus.request(given.conversation, name, **{**given.fields, **more})

    return do


def in_path(asked: type[Asked], name: str) -> type[Asked]:
    """What a request takes beside its path."""
    fields = [
        (field.name, field.type, field.default) if field.default is not msgspec.NODEFAULT else (field.name, field.type)
        for field in msgspec.structs.fields(asked)
        if field.name not in (name, "keep")
    ]
    return cast("type[Asked]", msgspec.defstruct(asked.__name__, fields, bases=(Asked,), kw_only=True))


class Link(Result):
    url: str
    """Logs one browser in, once."""
    expires: int
    """When it ends to work, in milliseconds since the epoch."""


def _one_or_many(body: bytes) -> dict[str, Any]:
    """An event, or a list of them. Nothing is neither."""
    value = read_json(body) if body else None
    if isinstance(value, dict):
        return {"events": [value]}
    if isinstance(value, list):
        return {"events": value}
    raise InputError("expected an event or a list of events", hint='send {"type": "user_message", "text": "…"}')


async def _health(_: Services, __: Given) -> Any:
    return {"ok": True}


async def _metrics(services: Services, _: Given) -> Any:
    return Response(await services.metrics.text(services.bus), headers={"content-type": METRICS_TYPE})


async def _asset(services: Services, given: Given) -> Any:
    read = await services.bus.request(given.conversation, "get_asset", **given.fields)
    return Response(base64.b64decode(read["data_b64"]), media_type=read["media"])


async def _openapi(services: Services, _: Given) -> Any:
    from vantage.server.openapi import document  # noqa: PLC0415 -- large, and few ask for it

    return Response(document(services.url), media_type=JSON)


async def _link(services: Services, given: Given) -> Any:
    secret, expires = services.auth.link(given.request.scope["state"]["token_id"])
    return Link(url=f"{services.url}/login#{secret}", expires=expires).to_dict()


ROUTES = [
    Route(
        method="GET",
        path="/v1/conversations",
        name="list_conversations",
        summary="All conversations, the last used first.",
        does=asks("list"),
        returns=requests.Descriptions,
    ),
    Route(
        method="POST",
        path="/v1/conversations",
        name="create_conversation",
        summary="Make a conversation. Its shell starts with the first verb that needs it.",
        does=asks("create"),
        takes=requests.Create,
        returns=requests.Description,
        status=201,
        errors=(409,),
    ),
    Route(
        method="GET",
        path=C,
        name="get_conversation",
        summary="A conversation: its name, its size, what it does now.",
        does=asks("describe"),
        returns=requests.Description,
        errors=(404,),
    ),
    Route(
        method="PATCH",
        path=C,
        name="rename_conversation",
        summary="Give a conversation another name.",
        does=asks("rename"),
        takes=requests.Rename,
        returns=requests.Description,
        errors=(404,),
    ),
    Route(
        method="DELETE",
        path=C,
        name="delete_conversation",
        summary="End a conversation's shell and remove its files.",
        does=asks("delete"),
        errors=(404,),
    ),
    Route(
        method="POST",
        path=f"{C}/close",
        name="close_conversation",
        summary="End a conversation's shell and keep its files.",
        does=asks("close"),
        returns=requests.Description,
        errors=(404,),
    ),
    Route(
        method="POST",
        path=f"{C}/events",
        name="append_events",
        summary="Log an event, or a list of them.",
        does=asks("append"),
        takes=requests.Append,
        returns=requests.Appended,
        read_body=_one_or_many,
        errors=(404,),
    ),
    Route(
        method="GET",
        path=f"{C}/events",
        name="read_events",
        summary="Events after one, or the last ones before one.",
        does=asks("events"),
        takes=requests.ReadEvents,
        returns=requests.Events,
        errors=(404,),
    ),
    Route(
        method="GET",
        path=f"{C}/rows",
        name="read_rows",
        summary="The timeline as rows, drawn for a surface: those that changed after an event, or began before one.",
        does=rows,
        takes=ReadRows,
        returns=Rows,
        errors=(404,),
    ),
    Route(
        method="GET",
        path=f"{C}/rows/{{row_id}}",
        name="read_row",
        summary="One row, drawn for a surface, with the blocks that it is made of.",
        does=one_row,
        takes=ReadRow,
        returns=OneRow,
        errors=(404,),
    ),
    Route(
        method="PUT",
        path=f"{C}/clients/{{client_id}}",
        name="set_client",
        summary="Say what a display can show. It counts until it is taken away.",
        does=asks("set_client", keep=True),
        takes=in_path(requests.SetClient, "client_id"),
        errors=(404,),
    ),
    Route(
        method="DELETE",
        path=f"{C}/clients/{{client_id}}",
        name="drop_client",
        summary="Take a display away.",
        does=asks("drop_client"),
        errors=(404,),
    ),
    Route(
        method="GET",
        path=f"{C}/instructions",
        name="read_instructions",
        summary="What to tell the model about the displays that it is read on.",
        does=asks("instructions"),
        takes=requests.Instructions,
        returns=requests.Text,
        errors=(404,),
    ),
    Route(
        method="GET",
        path=f"{C}/tools",
        name="list_tools_of_conversation",
        summary="Tools whose calls have a render spec here.",
        does=asks("tools"),
        returns=requests.Tools,
        errors=(404,),
    ),
    Route(
        method="PUT",
        path=f"{C}/tools/{{tool}}",
        name="set_tool_of_conversation",
        summary="Say how calls of a tool are shown in this conversation.",
        does=asks("set_tool"),
        takes=in_path(requests.SetTool, "tool"),
        returns=requests.Tool,
        errors=(404,),
    ),
    Route(
        method="PUT",
        path=f"{C}/assets/{{asset}}",
        name="put_asset",
        summary="Keep a picture, for rows that show it by its id.",
        does=asks("put_asset"),
        takes=in_path(requests.PutAsset, "asset"),
        returns=requests.AssetKept,
        errors=(404,),
    ),
    Route(
        method="GET",
        path=f"{C}/assets/{{asset}}",
        name="get_asset",
        summary="A picture of the conversation.",
        does=_asset,
        media="image/*",
        errors=(404,),
    ),
    Route(
        method="GET",
        path=f"{C}/export",
        name="export_conversation",
        summary="The whole conversation as one file.",
        does=export,
        takes=Export,
        media="*/*",
        errors=(404,),
    ),
    Route(
        method="GET",
        path="/v1/tools",
        name="list_tools",
        summary="Tools whose calls have a render spec in all conversations.",
        does=asks("common_tools"),
        returns=requests.Tools,
    ),
    Route(
        method="PUT",
        path="/v1/tools/{tool}",
        name="set_tool",
        summary="Say how calls of a tool are shown in all conversations.",
        does=asks("set_common_tool"),
        takes=in_path(requests.SetTool, "tool"),
        returns=requests.Tool,
    ),
    Route(
        method="GET",
        path="/v1/search",
        name="search",
        summary="Find what was said, run or printed in any conversation, the newest first.",
        does=asks("search_all"),
        takes=Search,
        returns=SearchHits,
    ),
    Route(
        method="POST",
        path="/v1/preview",
        name="preview_spec",
        summary="Draw a call as a render spec describes it, on every surface, and say what is wrong with the spec.",
        does=preview,
        takes=Preview,
        returns=Drawings,
        reads=True,
    ),
    Route(
        method="POST",
        path="/v1/demo",
        name="play_demo",
        summary="Play the demo in a new conversation: a scripted agent, real programs, about a minute.",
        does=demo,
        takes=PlayDemo,
        returns=requests.Description,
        status=201,
    ),
    Route(
        method="POST",
        path="/v1/links",
        name="make_link",
        summary="A one-time link that logs a browser in, with the rights of the token that asks.",
        does=_link,
        returns=Link,
        status=201,
    ),
    Route(
        method="GET",
        path="/v1/openapi.json",
        name="read_openapi",
        summary="This document.",
        does=_openapi,
    ),
    Route(
        method="GET",
        path="/healthz",
        name="health",
        summary="The server answers.",
        does=_health,
        open=True,
    ),
    Route(
        method="GET",
        path="/metrics",
        name="metrics",
        summary="Numbers about the server, in Prometheus' format.",
        does=_metrics,
        media=METRICS_TYPE,
    ),
]


def given_by(route: Route, request: Request[Any, Any, Any], body: bytes) -> Given:
    """What a request says. What is in its path holds."""
    path = {name: str(value).removeprefix("/") for name, value in request.path_params.items()}
    conversation = path.pop("conversation_id", "")
    fields = read_query(request.scope["query_string"], route.takes) if route.reads_query else route.read_body(body)
    return Given(request, conversation, {**fields, **path})
