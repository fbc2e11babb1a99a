"""HTTP from people who take their time: a request has a limited head, and arrives, or its connection is closed."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

MOST_HEAD = 64 << 10
"""Bytes of a request before its body."""


class Protocol(HttpToolsProtocol):
    """`patience` is for a whole head, and for each further piece of a body. Answers take as long as they take."""

    def __init__(self, *arguments: Any, patience: float, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._patience = patience
        self._head = 0
        self._timer: asyncio.TimerHandle | None = None
        self._cycles: list[RequestResponseCycle] = []
        """Requests that are not answered yet."""

    def _expect(self) -> None:
        self._got_it()
        self._timer = self.loop.call_later(self._patience, self.transport.abort)

    def _got_it(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._got_it()
        super().connection_lost(exc)
        # Of several requests in one connection only the last is told so, and not the one that is being answered.
        for cycle in self._cycles:
            cycle.disconnected = True
            cycle.message_event.set()
        self._cycles.clear()
        self.pipeline.clear()

    def data_received(self, data: bytes) -> None:
        self._head += len(data)
        super().data_received(data)
        if self._head > MOST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        self._expect()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head = -(1 << 62)
        self._expect()
        super().on_headers_complete()
        if self.cycle is not None:  # none: it becomes a WebSocket
            self._cycles = [cycle for cycle in (*self._cycles, self.cycle) if not cycle.response_complete]

    def on_body(self, body: bytes) -> None:
        self._expect()
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._head = 0
        self._got_it()
        super().on_message_complete()
