"""The route table as a Starlette application: path, then method, then the function. Every error has one form."""

import re
import secrets
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import msgspec
import structlog
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Router
from starlette.routing import Route as Path
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from vantage.errors import VantageError
from vantage.server.http.answers import JSON, Internal, NoSuchMethod, NoSuchPath, error_fields, error_headers
from vantage.server.http.route import Route
from vantage.server.logs import FILE_NAME
from vantage.server.security.scoped import check_person
from vantage.server.services import Services

log = structlog.get_logger("vantage.server")
_SLASHES = re.compile("//+")
_SLASHED = re.compile(r"\{(tool|file)\}")
"""Parameters at the end of a path that may have slashes: the name of a tool, a file of the page."""


class Lifespan(Protocol):
    def __call__(self, app: Any, /) -> AbstractAsyncContextManager[None]: ...


class _Rest(Convertor[str]):
    """The rest of a path, slashes and line ends included."""

    regex = r"[\s\S]+"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("rest", _Rest())


class Dispatch:
    """Empty parts of a path are dropped: `/v1//tools/` is `/v1/tools`."""

    def __init__(
        self, services: Services, routes: Iterable[Route], others: Iterable[BaseRoute], lifespan: Lifespan
    ) -> None:
        by_path: dict[str, dict[str, Route]] = {}
        for route in routes:
            by_path.setdefault(route.path, {})[route.method] = route
        paths = [
            Path(_SLASHED.sub(r"{\1:rest}", path), _Methods(services, path, methods))
            for path, methods in by_path.items()
        ]
        self._router = Router([*others, *paths], redirect_slashes=False, default=_no_such_path, lifespan=lifespan)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["path"] = _SLASHES.sub("/", scope["path"]).rstrip("/") or "/"
        await self._router(scope, receive, send)


async def _no_such_path(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await WebSocketClose()(scope, receive, send)
        return
    await _failure(NoSuchPath())(scope, receive, send)


class _Methods:
    """The routes of one path, by method. `OPTIONS` is answered for all of them; the guard handles `HEAD`."""

    def __init__(self, services: Services, path: str, methods: dict[str, Route]) -> None:
        self._services = services
        self._path = path
        self._methods = methods
        self._allow = {"allow": ", ".join(sorted({*methods, "OPTIONS"}))}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["path_template"] = self._path
        answer = await self._answer(scope, receive, send)
        await answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> ASGIApp:
        method = scope["method"]
        route = self._methods.get(method)
        if route is None:
            if method == "OPTIONS":
                return Response(None, 204, self._allow)
            return _failure(NoSuchMethod(), self._allow)
        if route.person:  # here, since only the router says which route a path is of
            state = scope["state"]
            check_person(self._services.home, state["token"], state.get("peer_pid"))
        try:
            answer = await route.call(self._services, Request(scope, receive, send))
        except ClientDisconnect:
            return Response(b"", 499)
        except VantageError as error:
            return _failure(error)
        except Exception as error:  # noqa: BLE001 -- the caller gets the number that is in the log
            return _failure(self._unforeseen(error, scope))
        if isinstance(answer, Response):
            return answer
        return Response(msgspec.json.encode(answer), route.status, media_type=JSON)

    def _unforeseen(self, error: Exception, scope: Scope) -> Internal:
        number = secrets.token_hex(4)
        log.error("failed", id=number, method=scope["method"], path=scope["path"], exc_info=error)
        return Internal(number, str(self._services.home / FILE_NAME))


def _failure(error: VantageError, headers: dict[str, str] | None = None) -> Response:
    body = msgspec.json.encode(error_fields(error))
    return Response(body, error.status, headers or error_headers(error), media_type=JSON)
