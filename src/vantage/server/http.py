"""HTTP: decode, ask, encode. Every error goes back in one form."""

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any

import msgspec
import structlog
from litestar import Request, Response, post
from litestar.enums import HttpMethod
from litestar.exceptions import HTTPException
from litestar.handlers import HTTPRouteHandler
from litestar.types import ControllerRouterHandler, ExceptionHandlersMap

from vantage.conversation.pty_requests import PTY_VERBS
from vantage.errors import NotFound, VantageError, nearest_word
from vantage.server.answers import JSON, error_fields, error_headers
from vantage.server.logs import FILE_NAME
from vantage.server.reading import read_object
from vantage.server.routes import ROUTES, Route, given_by
from vantage.server.services import Services

WAITS = frozenset({"wait_for"})
"""Verbs that whoever asked may walk away from: nobody needs the answer then."""
VERB_PATH = "/v1/conversations/{conversation_id:str}/pty/{verb:str}"
LEFT = 499
"""The status of an answer that nobody waits for."""

log = structlog.get_logger("vantage.server")


def http_routes(services: Services) -> list[ControllerRouterHandler]:
    return [*_options(), *(_handler(services, route) for route in ROUTES), _verbs(services)]


def _handler(services: Services, route: Route) -> HTTPRouteHandler:
    async def handle(request: Request[Any, Any, Any]) -> Response[Any]:
        body = b"" if route.reads_query else await request.body()
        answer = await route.does(services, given_by(route, request, body))
        if isinstance(answer, Response):
            return answer
        return Response(msgspec.json.encode(answer), status_code=route.status, media_type=JSON)

    method: Any = route.method
    return HTTPRouteHandler(_path(route), http_method=method, status_code=route.status, name=route.name)(handle)


def _path(route: Route) -> str:
    """As Litestar writes it. The names of tools may have slashes."""
    path = route.path.replace("{tool}", "{tool:path}")
    return re.sub(r"\{(\w+)\}", r"{\1:str}", path)


def _options() -> Iterator[HTTPRouteHandler]:
    """What a path takes. They come first, or Litestar makes its own, which name the first method only."""
    methods: dict[str, set[str]] = {}
    for route in ROUTES:
        methods.setdefault(_path(route), {"OPTIONS"}).add(route.method)
    methods[VERB_PATH] = {"OPTIONS", "POST"}
    methods["/login"] = {"OPTIONS", "GET", "POST", "DELETE"}
    for path, names in methods.items():
        yield HTTPRouteHandler(path, http_method=HttpMethod.OPTIONS, status_code=204)(_allows(names))


def _allows(names: set[str]) -> Callable[[], Awaitable[Response[None]]]:
    async def options() -> Response[None]:
        return Response(None, status_code=204, headers={"allow": ", ".join(sorted(names))})

    return options


def _verbs(services: Services) -> ControllerRouterHandler:
    @post(VERB_PATH, status_code=200)
    async def pty(conversation_id: str, verb: str, request: Request[Any, Any, Any]) -> Response[bytes]:
        if verb not in PTY_VERBS:
            near = nearest_word(verb, PTY_VERBS)
            hint = f"did you mean {near!r}?" if near else f"there are {', '.join(PTY_VERBS)}"
            raise NotFound(f"there is no verb {verb!r}", hint=hint)
        asked = services.bus.request(conversation_id, verb, **read_object(await request.body()))
        if verb in WAITS:
            with services.metrics.waits.track_inprogress():
                answer = await _while_there(asked, request)
            if answer is None:
                return Response(b"", status_code=LEFT, media_type=JSON)
        else:
            answer = await asked
        return Response(msgspec.json.encode(answer), media_type=JSON)

    return pty


async def _while_there(asked: Coroutine[Any, Any, dict[str, Any]], request: Request[Any, Any, Any]) -> Any:
    """The answer; None when whoever asked has left, and then nothing waits any more."""
    answering = asyncio.ensure_future(asked)
    leaving = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
        return answering.result() if answering.done() else None
    finally:
        answering.cancel()
        leaving.cancel()


async def _gone(request: Request[Any, Any, Any]) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


# what goes wrong


def exception_handlers(services: Services) -> ExceptionHandlersMap:
    def ours(_: Request[Any, Any, Any], error: VantageError) -> Response[bytes]:
        return _said(error, error.status, error_headers(error))

    def of_http(request: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
        status = error.status_code
        if status >= 500:
            return unforeseen(request, error)
        said = VantageError(_MESSAGES.get(status, error.detail), hint=_HINTS.get(status, ""))
        said.code = _CODES.get(status, "bad_input")
        return _said(said, status, error.headers or {})

    def unforeseen(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
        number = secrets.token_hex(4)
        log.error("failed", id=number, method=request.method, path=request.scope["path"], exc_info=error)
        said = VantageError(
            f"something went wrong here: failure {number}", hint=f"{services.home / FILE_NAME} says where"
        )
        said.code = "internal"
        return _said(said, 500, {})

    return {VantageError: ours, HTTPException: of_http, Exception: unforeseen}


_CODES = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}
_MESSAGES = {404: "there is nothing at this path", 405: "this path does not take that method"}
_HINTS = {404: "what there is stands in /v1/openapi.json", 405: "the header Allow says which it takes"}


def _said(error: VantageError, status: int, headers: dict[str, str]) -> Response[bytes]:
    return Response(msgspec.json.encode(error_fields(error)), status_code=status, media_type=JSON, headers=headers)
