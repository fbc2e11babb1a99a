"""The WebSocket at `/v1/ws`: one socket, many conversations; what each shows now, then whatever changes.

Nothing is queued for anybody: a socket takes what is new when it can be written to, so a slow reader skips what was in
between and slows nobody. What cannot be understood or done is answered with an `error`, and the socket stays.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec
from litestar import asgi
from litestar.enums import ScopeType
from litestar.types import ControllerRouterHandler, Receive, Scope, Send
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from vantage.conversation.drawings import Look
from vantage.conversation.hub import View
from vantage.errors import Invalid, ReadOnly, TooMany, VantageError
from vantage.server.presence import Presence
from vantage.server.services import Services
from vantage.server.socket_messages import (
    ClientConfig,
    Hello,
    Input,
    NotUnderstood,
    Ping,
    ReleaseKeyboard,
    Said,
    Subscribe,
    TakeKeyboard,
    Unsubscribe,
    read,
)
from vantage.timeline.contexts import Contexts


@dataclass(frozen=True, slots=True)
class Limits:
    hello_s: float = 10.0
    """A socket that has shown no token by then is closed."""
    linger_s: float = 30.0
    """A client without a socket is still there for so long: its context holds, and the keyboard is its own."""
    redraw_s: float = 0.25
    """All rows are drawn again for another width at most so often, and always for the last one."""
    sockets: int = 1000
    subscriptions: int = 100
    """Of one socket."""


MOST_BYTES = 1 << 20
"""Of a client's message; a longer one closes the socket with 1009."""
PING_S = 20.0
"""A peer that does not answer a ping before the next one is due is gone."""
NO_TOKEN, FULL = 4401, 1013
"""Codes of closing: no valid token was shown; there are as many sockets as there may be."""


class SocketProtocol(WebSocketsSansIOProtocol):
    """Whoever does not answer reads nothing either: what is still to be written to it is not waited for."""

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()


UVICORN: dict[str, Any] = {
    "ws": SocketProtocol,
    "ws_max_size": MOST_BYTES,
    "ws_ping_interval": PING_S,
    "ws_ping_timeout": PING_S,
    "ws_per_message_deflate": False,
}
"""What a server needs to be told for sockets."""


def socket_routes(services: Services, limits: Limits | None = None) -> list[ControllerRouterHandler]:
    limits = limits or Limits()
    presence = Presence(services.bus, limits.linger_s)
    sockets: set[Socket] = set()

    @asgi("/v1/ws", copy_scope=False)
    async def ws(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == ScopeType.HTTP:
            await _upgrade_required(send)
            return
        await receive()
        await send({"type": "websocket.accept", "subprotocol": None, "headers": []})
        if len(sockets) >= limits.sockets:
            await send({"type": "websocket.close", "code": FULL, "reason": "too many sockets are open"})
            return
        client = scope.get("client")
        token_id = scope["state"].get("token_id") if "state" in scope else None
        socket = Socket(services, presence, limits, receive, send, token_id=token_id, peer=client[0] if client else "")
        sockets.add(socket)
        try:
            await socket.run()
        finally:
            sockets.discard(socket)

    return [ws]


async def _upgrade_required(send: Send) -> None:
    error = {"code": "upgrade_required", "message": "this is a WebSocket", "hint": "connect with one"}
    body = msgspec.json.encode({"ok": False, "error": error})
    headers = [(b"content-type", b"application/json"), (b"upgrade", b"websocket")]
    await send({"type": "http.response.start", "status": 426, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


class _Closed(Exception):
    """The socket is no more."""


class Socket:
    def __init__(
        self,
        services: Services,
        presence: Presence,
        limits: Limits,
        receive: Receive,
        send: Send,
        *,
        token_id: str | None,
        peer: str,
    ) -> None:
        self._bus = services.bus
        self._hub = services.hub
        self._tokens = services.tokens
        self._auth = services.auth
        self._presence = presence
        self._limits = limits
        self._receive = receive
        self._send = send
        self._token_id = token_id
        """The token that was shown, at the handshake or with hello."""
        self._peer = peer
        self._client = ""
        self._displays = Contexts()
        """What this one client can show; empty until it says so."""
        self._views: dict[str, View] = {}
        self._here: set[str] = set()
        """Conversations in which the client is present by way of this socket."""
        self._news = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._next_redraw = 0.0
        self._redrawing: asyncio.TimerHandle | None = None

    async def run(self) -> None:
        """Until either side leaves."""
        tasks = [asyncio.ensure_future(self._show_news()), asyncio.ensure_future(self._listen())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except (_Closed, OSError):
            return
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if self._redrawing is not None:
                self._redrawing.cancel()
            for view in self._views.values():
                view.close()
            for conversation_id in self._here:
                self._presence.left(self._client, conversation_id)

    # who it is

    @property
    def _scope(self) -> str | None:
        """`full` or `read`; nothing without a token that still holds."""
        token = self._tokens.by_id(self._token_id) if self._token_id is not None else None
        return token.scope if token is not None else None

    def _must_write(self) -> None:
        if self._scope != "full":
            raise ReadOnly("this token may only watch", hint="connect with one that may do more")

    async def _hello(self, said: Hello) -> None:
        if said.token is not None:
            token = self._tokens.identify(said.token)
            if token is None:
                with suppress(TooMany):  # it is closed either way
                    self._auth.failed(self._peer)
            self._token_id = token.id if token is not None else None
        scope = self._scope
        if scope is None:
            await self._close(NO_TOKEN, "this token is not valid" if said.token else "say hello with a token first")
        if self._client not in ("", said.client_id):
            raise Invalid(f"this socket belongs to {self._client}", hint="open another one for another client")
        self._client = said.client_id
        if said.presentation is not None or said.terminal_width is not None:
            self._displays = self._displays.apply(
                self._client, terminal_width=said.terminal_width, presentation=said.presentation
            )
        await self._say("welcome", client_id=self._client, scope=scope)

    # what the client says

    async def _listen(self) -> None:
        while True:
            data = await self._next()
            if self._token_id is not None and self._scope is None:
                await self._close(NO_TOKEN, "this token was taken back")
            try:
                said = read(data)
            except NotUnderstood as error:
                await self._must_be_known()
                await self._complain(error, **error.known)
                continue
            try:
                if not self._client and not isinstance(said, Hello):
                    await self._must_be_known()
                    raise Invalid("nobody knows who you are yet", hint="say hello with a client_id first")
                await _HANDLERS[type(said)](self, said)
            except VantageError as error:
                await self._complain(error, said)

    async def _must_be_known(self) -> None:
        if self._token_id is None:
            await self._close(NO_TOKEN, "say hello with a token first")

    async def _next(self) -> str | bytes:
        try:
            async with asyncio.timeout(self._limits.hello_s if self._token_id is None else None):
                message = await self._receive()
        except TimeoutError:
            await self._close(NO_TOKEN, "no token was shown in time")
        if message["type"] != "websocket.receive":
            raise _Closed
        text = message.get("text")
        return text if text is not None else message.get("bytes") or b""

    async def _subscribe(self, said: Subscribe) -> None:
        conversation_id, most = said.conversation_id, self._limits.subscriptions
        if conversation_id not in self._views and len(self._views) >= most:
            raise TooMany(f"a socket carries at most {most} conversations", hint="unsubscribe, or open another socket")
        feed = await self._hub.feed(conversation_id)
        look = self._look(said.surface)
        if "rows" in said.channels:
            await self._attach(conversation_id, look)
        self._come(conversation_id)
        self._leave(conversation_id)
        view = self._views[conversation_id] = View(feed, look, frozenset(said.channels), self._news.set)
        await view.open(said.epoch, said.after)

    async def _unsubscribe(self, said: Unsubscribe) -> None:
        self._leave(said.conversation_id)
        if said.conversation_id in self._here:
            self._here.discard(said.conversation_id)
            self._presence.left(self._client, said.conversation_id)

    def _leave(self, conversation_id: str) -> None:
        view = self._views.pop(conversation_id, None)
        if view is not None:
            view.close()

    def _come(self, conversation_id: str) -> None:
        if conversation_id not in self._here:
            self._here.add(conversation_id)
            self._presence.came(self._client, conversation_id)

    def _look(self, surface: str) -> Look:
        context = self._displays.clients.get(self._client)
        return Look.of(surface) if context is None else Look(surface, context)

    async def _attach(self, conversation_id: str, look: Look, primary: bool | None = None) -> None:
        """The conversation learns what this client can show. Who is shown no rows does not say how wide they may be."""
        said: dict[str, Any] = {"client_id": self._client, "presentation": look.context.to_dict()}
        if primary is not None:
            said["primary"] = primary
        await self._bus.request(conversation_id, "set_client", **said)

    async def _client_config(self, said: ClientConfig) -> None:
        if said.primary is not None:
            self._must_write()
        self._displays = self._displays.apply(
            self._client, terminal_width=said.terminal_width, presentation=said.presentation
        )
        for conversation_id, view in tuple(self._views.items()):
            if "rows" in view.channels:
                await self._attach(conversation_id, self._look(view.look.surface), said.primary)
        if self._redrawing is None:
            self._redrawing = self._loop.call_at(self._next_redraw, self._redraw)

    def _redraw(self) -> None:
        self._redrawing = None
        self._next_redraw = self._loop.time() + self._limits.redraw_s
        for view in self._views.values():
            view.relook(self._look(view.look.surface))

    async def _take_keyboard(self, said: TakeKeyboard) -> None:
        self._must_write()
        await self._bus.request(said.conversation_id, "take_keyboard", client_id=self._client)
        self._come(said.conversation_id)

    async def _release_keyboard(self, said: ReleaseKeyboard) -> None:
        self._must_write()
        await self._bus.request(said.conversation_id, "release_keyboard", client_id=self._client)

    async def _input(self, said: Input) -> None:
        self._must_write()
        await self._bus.request(said.conversation_id, "type", client_id=self._client, **said.given())

    async def _ping(self, said: Ping) -> None:
        await self._say("pong", **({} if said.id is None else {"id": said.id}))

    # what it is told

    async def _show_news(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            if self._scope is None:
                await self._close(NO_TOKEN, "this token was taken back")
            for conversation_id, view in tuple(self._views.items()):
                await self._show(conversation_id, view)

    async def _show(self, conversation_id: str, view: View) -> None:
        try:
            if not view.gone:
                async for message in view.messages():
                    await self._write(message)
                return
            error = VantageError(f"conversation {conversation_id!r} was deleted", hint="it is not followed any more")
            error.code = "deleted"
        except VantageError as failed:
            error = failed
        if self._views.get(conversation_id) is view:
            self._leave(conversation_id)
        await self._complain(error, conversation_id=conversation_id)

    async def _say(self, kind: str, **fields: Any) -> None:
        await self._write(msgspec.json.encode({"type": kind, **fields}).decode())

    async def _complain(self, error: VantageError, said: Said | None = None, /, **fields: Any) -> None:
        if said is not None:
            fields["about"] = said.__struct_config__.tag
            if conversation_id := getattr(said, "conversation_id", None):
                fields["conversation_id"] = conversation_id
        await self._say("error", code=error.code, message=error.message, hint=error.hint, **fields)

    async def _write(self, message: str) -> None:
        await self._send({"type": "websocket.send", "text": message, "bytes": None})

    async def _close(self, code: int, reason: str) -> None:
        await self._send({"type": "websocket.close", "code": code, "reason": reason})
        raise _Closed


_HANDLERS: dict[type[Said], Callable[[Socket, Any], Awaitable[None]]] = {
    Hello: Socket._hello,  # noqa: SLF001 -- the table is part of the class
    Subscribe: Socket._subscribe,  # noqa: SLF001
    Unsubscribe: Socket._unsubscribe,  # noqa: SLF001
    ClientConfig: Socket._client_config,  # noqa: SLF001
    TakeKeyboard: Socket._take_keyboard,  # noqa: SLF001
    ReleaseKeyboard: Socket._release_keyboard,  # noqa: SLF001
    Input: Socket._input,  # noqa: SLF001
    Ping: Socket._ping,  # noqa: SLF001
}
