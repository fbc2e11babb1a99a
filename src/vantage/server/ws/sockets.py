"""The WebSocket at `/v1/ws`: one socket, many conversations: the present state of each, then its changes.

Nothing is queued for a client: it is sent what is new when it can be written to, so a slow one skips what was in
between and slows no other. A message that cannot be understood or carried out is answered with an `error`, and the
socket stays open.
"""

from typing import Any

import msgspec
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from vantage.server.services import Services
from vantage.server.ws.handshake import Event
from vantage.server.ws.limits import MAX_BYTES, PING_S, Limits, SocketRegistry
from vantage.server.ws.socket import Socket


class SocketProtocol(WebSocketsSansIOProtocol):
    """On a ping timeout, the transport is aborted instead of flushed: a peer that is gone reads nothing."""

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()


UVICORN: dict[str, Any] = {
    "ws": SocketProtocol,
    "ws_max_size": MAX_BYTES,
    "ws_ping_interval": PING_S,
    "ws_ping_timeout": PING_S,
    "ws_per_message_deflate": False,
}
"""Uvicorn's settings for sockets."""


PATH = "/v1/ws"


def socket_routes(services: Services, limits: Limits | None = None) -> list[BaseRoute]:
    door = _Door(services, limits or Limits())
    return [WebSocketRoute(PATH, door), Route(PATH, door)]


class _Door:
    """Accepts sockets and registers them. An ordinary request is answered 426."""

    def __init__(self, services: Services, limits: Limits) -> None:
        self._services = services
        self._limits = limits
        self._registry = SocketRegistry(limits)
        services.presence.linger_s = limits.linger_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["path_template"] = PATH
            await _upgrade_required(send)
            return
        await receive()
        await send({"type": "websocket.accept", "subprotocol": None, "headers": []})
        client = scope.get("client")
        token_id = scope["state"].get("token_id") if "state" in scope else None
        peer = client[0] if client else ""
        registry = self._registry
        socket = Socket(
            self._services, self._limits, registry, receive, send, peer=peer, pid=scope.get("state", {}).get("peer_pid")
        )
        if token_id is None:
            registry.add_anonymous(socket, peer)
        else:
            socket.identity.authenticate(token_id)
            if not registry.admit(socket):
                socket.end(Event.FULL)
        try:
            await socket.run()
        finally:
            registry.remove(socket)


async def _upgrade_required(send: Send) -> None:
    error = {"code": "upgrade_required", "message": "this is a WebSocket", "hint": "connect with one"}
    body = msgspec.json.encode({"ok": False, "error": error})
    headers = [(b"content-type", b"application/json"), (b"upgrade", b"websocket")]
    await send({"type": "http.response.start", "status": 426, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
