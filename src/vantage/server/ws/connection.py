"""The two ends of one socket as ASGI has them: text in, text out, and the handshake that says how it ends."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Never

import msgspec

from vantage.errors import VantageError
from vantage.server.ws.handshake import CLOSINGS, Event, Handshake

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
"""As ASGI has them."""


class Closed(Exception):
    """The socket is closed."""


class Connection:
    def __init__(self, receive: Receive, send: Send) -> None:
        self.handshake = Handshake()
        self.ended: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        """Why the socket ends, as soon as that is known."""
        self._receive = receive
        self._send = send

    def end(self, event: Event) -> None:
        """Ends it from outside: tasks are cancelled. The first reason counts; `close` tells the peer."""
        if not self.handshake.closed:
            self.handshake.on(event)
            self.ended.set_result(event)

    def refuse(self, event: Event) -> Never:
        """Ends it from inside: what is being done stops here."""
        self.end(event)
        raise Closed

    async def read(self, timeout_s: float | None) -> str | bytes:
        """The next message."""
        try:
            async with asyncio.timeout(timeout_s):
                message = await self._receive()
        except TimeoutError:
            self.refuse(Event.NO_HELLO)
        if message["type"] != "websocket.receive":
            self.refuse(Event.LEFT)
        text = message.get("text")
        return text if text is not None else message.get("bytes") or b""

    async def write(self, message: str) -> None:
        await self._send({"type": "websocket.send", "text": message, "bytes": None})

    async def say(self, kind: str, **fields: Any) -> None:
        await self.write(msgspec.json.encode({"type": kind, **fields}).decode())

    async def complain(self, error: VantageError, **about: Any) -> None:
        await self.say("error", code=error.code, message=error.message, hint=error.hint, **about)

    async def close(self) -> None:
        """Tells the peer why the socket ends, if the peer is still there."""
        closing = CLOSINGS.get(self.ended.result())
        if closing is not None:
            await self._send({"type": "websocket.close", "code": closing.code, "reason": closing.reason})
