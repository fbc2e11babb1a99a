"""What every request passes before it reaches anything: one guard for HTTP, WebSocket and MCP alike.

It looks at where a request is for (`Host`), which page it is from (`Origin`), who sent it, how often and how much;
and it puts the security headers on every answer. Whoever is behind it finds in `scope["state"]`:

- `token_scope`: `full` or `read`. None for what is open to all, and for a socket that has shown nothing yet: its
  `hello` may bring a token.
- `token_id`: which token that is.

What a read-only token may do is decided here for HTTP; the socket decides it by message and MCP by tool.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import structlog

from vantage.conversation.pty_requests import PTY_VERBS
from vantage.errors import Forbidden, InputError, ReadOnly, TooLarge, TooMany, Unauthorized, Unavailable, VantageError
from vantage.server.answers import error_answer
from vantage.server.limits import Bucket
from vantage.server.origins import Origins
from vantage.server.routes import ROUTES
from vantage.server.services import Services
from vantage.server.static import PAGES
from vantage.server.tokens import Token

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BODY = 16 << 20
MOST_OPEN_BODY = 64 << 10
"""Of those who have shown nothing yet."""
OPEN = frozenset({*PAGES, "/login", "/healthz"})
OPEN_UNDER = "/static/"
"""Without data of anybody, and without a token. Everything else needs one."""
SOCKET = "/v1/ws"
"""Where a socket may come without a token: its first message can have one."""
DECIDES_ITSELF = ("/mcp",)
"""Where a read-only token may send anything, because whoever is there knows which of it only reads."""
_READING = frozenset(route.path for route in ROUTES if route.reads)
_WANTED = frozenset(
    {
        b"host",
        b"origin",
        b"authorization",
        b"cookie",
        b"content-length",
        b"transfer-encoding",
        b"sec-fetch-site",
    }
)
_ONCE = frozenset({b"host", b"origin", b"authorization"})
_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    b" font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"""On every answer that does not say otherwise."""

log = structlog.get_logger("vantage.server")


class Guard:
    def __init__(self, app: App, services: Services, origins: Origins) -> None:
        self._app = app
        self._auth = services.auth
        self._tokens = services.tokens
        self._metrics = services.metrics
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
        """The server ends: requests that still wait are told so."""
        self._leaving = True
        for task in tuple(self._requests):
            task.cancel()

    # HTTP

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        if scope["method"] == "HEAD" and not scope["path"].startswith(DECIDES_ITSELF):
            scope = {**scope, "method": "GET"}  # whoever sends the answer leaves its body out
        answer = _Answer(send)
        task = asyncio.current_task()
        assert task is not None
        self._requests.add(task)
        try:
            most = self._let_in(scope)
            await self._app(scope, _Counted(receive, answer, most) if most else receive, answer)
        except VantageError as error:
            _note(error, scope)
            await answer.refuse(error)
        except asyncio.CancelledError:
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
        """How long a body may be that does not say its length; 0 if it does. Raises what is wrong with the request."""
        headers = _pick(scope["headers"])
        peer = self._known_place(scope, headers)
        path = scope["path"]
        most = MOST_BODY
        if path in OPEN or path.startswith(OPEN_UNDER):
            most = MOST_OPEN_BODY
            scope["state"]["token_scope"] = scope["state"]["token_id"] = None
        else:
            token = self._known(headers, peer)
            if token is None:
                raise _nobody()
            if token.scope == "read" and not _only_reads(scope["method"], path):
                raise ReadOnly("this token may only watch", hint="use one that may do more")
            scope["state"]["token_scope"], scope["state"]["token_id"] = token.scope, token.id
        length = headers.get(b"content-length", b"")
        if length and (not length.isdigit() or int(length) > most):
            raise _too_large(most)
        return most if b"transfer-encoding" in headers else 0

    def _known_place(self, scope: Scope, headers: dict[bytes, bytes]) -> str:
        """Where a request is from, when that is a place to be from."""
        client = scope.get("client")
        peer = client[0] if client else ""
        if wait := self._floods.take(peer, time.monotonic()):
            raise TooMany("too many requests", retry_after=wait, hint=f"come again in {wait} s")
        if client:
            # who can open the private socket needs no name for it
            self._origins.check_host(headers.get(b"host"))
        self._origins.check_origin(headers.get(b"origin"))
        return peer

    def _known(self, headers: dict[bytes, bytes], peer: str) -> Token | None:
        """Who sent it; nobody when nothing was shown. Raises when what was shown is wrong."""
        authorization = headers.get(b"authorization")
        if authorization is not None:
            kind, _, value = authorization.decode("latin-1").partition(" ")
            token = self._tokens.identify(value.strip()) if kind.lower() == "bearer" else None
            if token is None:
                self._auth.failed(peer)
                raise Unauthorized("this token is not valid", hint="it may have been revoked: 'vantage token ls'")
            return token
        cookies = headers.get(b"cookie")
        if cookies is None:
            return None
        if headers.get(b"sec-fetch-site", b"same-origin") not in (b"same-origin", b"none"):
            # another port of this machine is another origin, but SameSite takes it for the same site
            raise Forbidden("this was not asked by the server's own page", hint="open that one")
        return self._auth.of_cookies(cookies.decode("latin-1"))

    # WebSocket

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            headers = _pick(scope["headers"])
            token = self._known(headers, self._known_place(scope, headers))
            if token is None and scope["path"] != SOCKET:
                raise _nobody()
        except VantageError as error:
            _note(error, scope)
            await _refuse_socket(error, scope, send)
            return
        state = scope.setdefault("state", {})
        state["token_scope"], state["token_id"] = (token.scope, token.id) if token else (None, None)
        with self._metrics.sockets.track_inprogress():
            await self._app(scope, receive, send)


class _Answer:
    """What goes back, with the headers that every answer has. Once it was refused, nothing else can be said."""

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
            headers += [header for header in _HEADERS if header[0] not in said]
        await self._send(message)

    async def refuse(self, error: VantageError) -> None:
        if not self.status:
            head, body = error_answer(error)
            await self({"type": "http.response.start", "status": error.status, "headers": head})
            await self({"type": "http.response.body", "body": body})
        self._refused = True


class _Counted:
    """The body of a request that does not say how long it is. The answer to one that is too long does not wait."""

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


def _nobody() -> Unauthorized:
    return Unauthorized(
        "this needs a token",
        hint="send 'Authorization: Bearer …' with the home's token, or open the link of 'vantage open'",
    )


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"a request has at most {most} bytes here", hint="send it in parts")


def _pick(headers: list[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    picked: dict[bytes, bytes] = {}
    for name, value in headers:
        if name in _WANTED:
            if name in picked and name in _ONCE:
                raise InputError(f"the header {name.decode()} stands there twice", hint="send it once")
            picked[name] = value
    return picked


def _only_reads(method: str, path: str) -> bool:
    if method in ("GET", "HEAD", "OPTIONS") or path.startswith(DECIDES_ITSELF) or path in _READING:
        return True
    start, _, verb = path.rpartition("/")
    return method == "POST" and start.endswith("/pty") and verb in PTY_VERBS and PTY_VERBS[verb].reads
