"""uvicorn's HTTP protocol with limits: on the size of a head, the time a request takes to arrive, and connections.

Connections above the limit are answered 503 with the reason, which leaves descriptors for the open ones. `SPARE` more
are accepted, and served if they request `/healthz`.
"""

import asyncio
from functools import partial
from typing import Any

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from vantage.server.security.peers import peer_pid

MAX_HEAD = 64 << 10
"""Bytes of a request before its body."""
SPARE = 32
"""Connections above the limit whose request is read: it may be for `/healthz`."""
_HEALTH = b"/healthz"


class Protocol(HttpToolsProtocol):
    """`timeout` is the time for a whole head, and for each further piece of a body. Answers have no limit.

    `max_connections` are served at once.
    """

    def __init__(self, *arguments: Any, timeout: float, max_connections: int, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._timeout = timeout
        self._max = max_connections
        self._late = False
        """The connection is above the limit."""
        self._head = 0
        self._timer: asyncio.TimerHandle | None = None
        self._cycles: list[RequestResponseCycle] = []
        """Requests without a whole answer."""

    def _expect(self) -> None:
        self._arrived()
        self._timer = self.loop.call_later(self._timeout, self.transport.abort)

    def _arrived(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state = {**self.app_state, "peer_pid": peer_pid(transport.get_extra_info("socket"))}
        self._late = len(self.connections) > self._max
        if len(self.connections) > self._max + SPARE:
            self._refuse()
            return
        self._expect()

    def _refuse(self) -> None:
        """Answers 503 without reading a request, and closes the connection."""
        body = _crowded(self._max)
        head = [b"HTTP/1.1 503 Service Unavailable", *(b"%b: %b" % header for header in _headers(body))]
        self.transport.write(b"\r\n".join([*head, b"", body]))
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._arrived()
        super().connection_lost(exc)
        # uvicorn reports only the last of several requests in one connection, not the one that is being answered
        for cycle in self._cycles:
            cycle.disconnected = True
            cycle.message_event.set()
        self._cycles.clear()
        self.pipeline.clear()

    def data_received(self, data: bytes) -> None:
        self._head += len(data)
        super().data_received(data)
        if self._head > MAX_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def handle_websocket_upgrade(self) -> None:
        if self._late:
            self._refuse()
        else:
            super().handle_websocket_upgrade()

    def on_message_begin(self) -> None:
        self._expect()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head = -(1 << 62)
        self._expect()
        if self._late and self.url.partition(b"?")[0] != _HEALTH:
            self.app = partial(_refusal, self._max)
        super().on_headers_complete()
        if self.cycle is not None:  # None for a WebSocket upgrade
            self._cycles = [cycle for cycle in (*self._cycles, self.cycle) if not cycle.response_complete]

    def on_body(self, body: bytes) -> None:
        self._expect()
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._head = 0
        self._arrived()
        super().on_message_complete()


def _crowded(most: int) -> bytes:
    message = f"{most:,} connections are open: there are descriptors for no more"
    hint = "close some, or raise the limit before the server starts: ulimit -n"
    return msgspec.json.encode({"ok": False, "error": {"code": "unavailable", "message": message, "hint": hint}})


def _headers(body: bytes) -> list[tuple[bytes, bytes]]:
    return [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"retry-after", b"5"),
        (b"connection", b"close"),
    ]


async def _refusal(most: int, _scope: Any, _receive: Any, send: Any) -> None:
    body = _crowded(most)
    await send({"type": "http.response.start", "status": 503, "headers": _headers(body)})
    await send({"type": "http.response.body", "body": body})
