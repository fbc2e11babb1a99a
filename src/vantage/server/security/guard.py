"""The guard in front of HTTP, WebSocket and MCP: every request passes it first.

It checks the name that a request is for (`Host`), the page that it is from (`Origin`), its token, its rate and its
size, and adds the security headers to every answer. It sets in `scope["state"]`:

- `token_scope`: `full` or `read`. None for a path that needs no token, and for a socket that has shown none yet: its
  `hello` may bring one.
- `token_id`: the id of that token.
- `token` and `reach`: the token itself, and the conversations that it reaches; of HTTP requests that need one.

The guard decides what a read-only token may do over HTTP; the socket decides it by message, and MCP by tool.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import structlog

from vantage.conversation.verbs.table import TERMINAL_VERBS
from vantage.errors import InputError, ReadOnly, TooLarge, TooMany, Unauthorized, Unavailable, VantageError
from vantage.server.http.answers import error_answer
from vantage.server.http.table import PAGES, ROUTES
from vantage.server.mcp.mount import PATH as MCP
from vantage.server.security.headers import HEADERS
from vantage.server.security.limits import Bucket
from vantage.server.security.origins import Origins
from vantage.server.security.scoped import Reach, check_local, check_request
from vantage.server.security.tokens import Token
from vantage.server.services import Services
from vantage.server.ws.sockets import PATH as SOCKET

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY = 16 << 20
MAX_OPEN_BODY = 64 << 10
"""On paths that need no token."""
OPEN = frozenset(route.path for route in (*ROUTES, *PAGES) if route.open and "{" not in route.path)
OPEN_UNDER = "/static/"
"""These paths have no data of users and need no token. Every other path needs one."""
_READING = frozenset(route.path for route in ROUTES if route.reads)
_CARRIERS = frozenset({MCP, SOCKET})
"""Paths whose messages are checked one by one."""
_WANTED = frozenset(
    {
        b"host",
        b"origin",
        b"authorization",
        b"content-length",
        b"transfer-encoding",
    }
)
_ONCE = frozenset({b"host", b"origin", b"authorization"})

log = structlog.get_logger("vantage.server")


class Guard:
    def __init__(self, app: App, services: Services, origins: Origins) -> None:
        self._app = app
        self._auth = services.auth
        self._tokens = services.tokens
        self._metrics = services.metrics
        self._revocations = services.revocations
        self._home = services.home
        self._origins = origins
        rate = services.config.rate_limit
        self._floods = Bucket(rate, 5 * rate)
        self._leaving = False
        self._requests: set[asyncio.Task[Any]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def leave(self) -> None:
        """The server ends: requests that still wait are answered 503."""
        self._leaving = True
        for task in tuple(self._requests):
            task.cancel()

    # HTTP

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        if scope["method"] == "HEAD" and not _is_mcp(scope["path"]):
            scope = {**scope, "method": "GET"}  # uvicorn leaves the body of the answer out
        answer = _Answer(send)
        task = asyncio.current_task()
        assert task is not None
        self._requests.add(task)
        revoked: list[bool] = []

        def revoke() -> None:
            revoked.append(True)
            task.cancel()

        try:
            most = self._let_in(scope)
            with self._revocations.ends(scope["state"]["token_id"], revoke):
                await self._app(scope, _Counted(receive, answer, most) if most else receive, answer)
        except VantageError as error:
            _note(error, scope)
            await answer.refuse(error)
        except asyncio.CancelledError:
            if revoked:
                await answer.refuse(_revoked())
                return
            if not self._leaving:
                raise
            await answer.refuse(Unavailable("the server is about to end", hint="connect again: shells live on"))
        finally:
            self._requests.discard(task)
            took = time.perf_counter() - began
            self._metrics.answered(scope, answer.status, took)
            ms = round(took * 1000, 2)
            log.debug("request", method=scope["method"], path=scope["path"], status=answer.status, ms=ms)

    def _let_in(self, scope: Scope) -> int:
        """The limit for a body that does not state its length; 0 if it does. Raises when the request is refused."""
        headers = _pick(scope["headers"])
        peer = self._known_place(scope, headers)
        path = scope["path"]
        most = MAX_BODY
        if path in OPEN or path.startswith(OPEN_UNDER):
            most = MAX_OPEN_BODY
            scope["state"]["token_scope"] = scope["state"]["token_id"] = None
        else:
            token = self._known(headers, peer)
            if token is None:
                raise _no_token()
            if token.scope == "read" and not _only_reads(scope["method"], path):
                raise ReadOnly("this token may only watch", hint="use one with full rights")
            reach = scope["state"]["reach"] = Reach(self._home, token)
            if token.scope == "agent":
                check_request(reach, scope, carriers=_CARRIERS)
            scope["state"]["token"] = token
            scope["state"]["token_scope"], scope["state"]["token_id"] = token.scope, token.id
        length = headers.get(b"content-length", b"")
        if length and (not length.isdigit() or int(length) > most):
            raise _too_large(most)
        return most if b"transfer-encoding" in headers else 0

    def _known_place(self, scope: Scope, headers: dict[bytes, bytes]) -> str:
        """The address of the sender. Raises when it asks too often, for another host or from another origin."""
        client = scope.get("client")
        peer = client[0] if client else ""
        if wait := self._floods.take(peer, time.monotonic()):
            raise TooMany("too many requests", retry_after=wait, hint=f"try again in {wait} s")
        if client:
            # the private socket has no name that a page could use
            self._origins.check_host(headers.get(b"host"))
        self._origins.check_origin(headers.get(b"origin"))
        return peer

    def _known(self, headers: dict[bytes, bytes], peer: str) -> Token | None:
        """The token of a request; None when it has none. Raises when the token is not valid."""
        authorization = headers.get(b"authorization")
        if authorization is None:
            return None
        # only Bearer, which a script must set: browsers repeat cookies and Basic passwords by themselves
        kind, _, value = authorization.decode("latin-1").partition(" ")
        token = self._tokens.identify(value.strip()) if kind.lower() == "bearer" else None
        if token is None:
            self._auth.failed(peer)
            raise Unauthorized("this token is not valid", hint="it may have been revoked: 'vantage token ls'")
        return token

    # WebSocket

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            headers = _pick(scope["headers"])
            token = self._known(headers, self._known_place(scope, headers))
            if token is None and scope["path"] != SOCKET:  # the first message of a socket can bring one
                raise _no_token()
        except VantageError as error:
            _note(error, scope)
            await _refuse_socket(error, scope, send)
            return
        state = scope.setdefault("state", {})
        state["token_scope"], state["token_id"] = (token.scope, token.id) if token else (None, None)
        if token is not None and token.scope == "agent":
            try:
                check_local(scope)
            except VantageError as error:
                _note(error, scope)
                await _refuse_socket(error, scope, send)
                return
        with self._metrics.sockets.track_inprogress():
            await self._app(scope, receive, send)


class _Answer:
    """Sends an answer, with the security headers. After a refusal, later messages are dropped."""

    __slots__ = ("_refused", "_send", "status")

    def __init__(self, send: Send) -> None:
        self._send = send
        self._refused = False
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if self._refused:
            return
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = message["headers"] = list(message.get("headers", ()))
            said = {name for name, _ in headers}
            headers += [header for header in HEADERS if header[0] not in said]
        await self._send(message)

    async def refuse(self, error: VantageError) -> None:
        if not self.status:
            head, body = error_answer(error)
            await self({"type": "http.response.start", "status": error.status, "headers": head})
            await self({"type": "http.response.body", "body": body})
        self._refused = True


class _Counted:
    """Reads a body that does not state its length. One that is too long is refused before its end has arrived."""

    def __init__(self, receive: Receive, answer: _Answer, most: int) -> None:
        self._receive = receive
        self._answer = answer
        self._most = most
        self._size = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._size += len(message.get("body", b""))
        if self._size > self._most:
            error = _too_large(self._most)
            await self._answer.refuse(error)
            raise error
        return message


async def _refuse_socket(error: VantageError, scope: Scope, send: Send) -> None:
    if "websocket.http.response" in (scope.get("extensions") or {}):
        head, body = error_answer(error)
        await send({"type": "websocket.http.response.start", "status": error.status, "headers": head})
        await send({"type": "websocket.http.response.body", "body": body})
    else:
        await send({"type": "websocket.close", "code": 1008, "reason": error.message})


def _note(error: VantageError, scope: Scope) -> None:
    if error.status in (401, 403, 429):
        log.warning("refused", code=error.code, method=scope.get("method", "WS"), path=scope["path"])


def _no_token() -> Unauthorized:
    return Unauthorized(
        "this needs a token",
        hint="send 'Authorization: Bearer …' with the home's token, or open the link of 'vantage open'",
    )


def _revoked() -> Unauthorized:
    return Unauthorized("this token was revoked", hint="'vantage token ls' shows those that are valid")


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"a request has at most {most} bytes here", hint="send it in parts")


def _pick(headers: list[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    picked: dict[bytes, bytes] = {}
    for name, value in headers:
        if name in _WANTED:
            if name in picked and name in _ONCE:
                raise InputError(f"the header {name.decode()} is there twice", hint="send it once")
            picked[name] = value
    return picked


def _only_reads(method: str, path: str) -> bool:
    if method in ("GET", "HEAD", "OPTIONS") or _is_mcp(path) or path in _READING:
        return True
    start, _, verb = path.rpartition("/")
    return method == "POST" and start.endswith("/pty") and verb in TERMINAL_VERBS and TERMINAL_VERBS[verb].reads


def _is_mcp(path: str) -> bool:
    """A read-only token may send any message there: MCP knows which of its tools only read."""
    return path == MCP or path.startswith(f"{MCP}/")
