"""One client: requests in, answers and events out, neither of which can grow without end.

While a client does not read, events are not queued but remembered as "something happened to this terminal or agent",
and told from its state when there is room. A client that sends requests and reads no answers is not read either.
"""

import socket
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from vantage.ptyhost.loop import HANGUP, READ, WRITE, Loop
from vantage.ptyhost.protocol import Code, Happening, Lines, ProtocolError, decode, encode
from vantage.ptyhost.shared.watchers import Source

_CHUNK: Final = 64 * 1024
_FULL: Final = 1024 * 1024
"""Bytes of answers that may wait before we stop reading requests."""


class Request:
    """One request, to be answered once, now or later."""

    __slots__ = ("_open", "connection", "fields", "id")

    def __init__(self, connection: "Connection", fields: dict[str, Any]) -> None:
        self.connection = connection
        self.fields = fields
        self.id = fields.get("id")
        self._open = True

    def answer(self, **fields: Any) -> None:
        self._send({"id": self.id, "ok": True, **fields})

    def refuse(self, code: Code, message: str, **fields: Any) -> None:
        self._send({"id": self.id, "ok": False, "error": code, "message": message, **fields})

    def _send(self, message: dict[str, Any]) -> None:
        if self._open:
            self._open = False
            self.connection.send(message)


class Connection:
    """A client's socket."""

    def __init__(
        self,
        loop: Loop,
        client: socket.socket,
        pid: int,
        handle: Callable[[Request], None],
        gone: Callable[["Connection"], None],
    ) -> None:
        client.setblocking(False)
        self.pid = pid
        """The client's process."""
        self.greeted = False
        """The client has sent its hello."""
        self.watching: set[Source] = set()
        self._loop = loop
        self._socket = client
        self._handle = handle
        self._gone = gone
        self._lines = Lines()
        self._unread: deque[bytes] = deque()
        self._outbox = bytearray()
        self._news: dict[Source, set[Happening]] = {}
        self._interest = READ
        self._closing = self._closed = False
        loop.watch(client.fileno(), READ, self._ready)

    def send(self, message: dict[str, Any]) -> None:
        self._write(encode(message))

    def tell(self, source: Source, what: Happening, /) -> None:
        """Sends an event: at once, or when this client reads again."""
        if self._outbox:
            news = self._news.setdefault(source, set())
            if what in _UNDOES:
                news.discard(_UNDOES[what])
            news.add(what)
        else:
            self._write(encode(source.event(what)))

    def close_when_sent(self) -> None:
        """Reads no more requests; answers and events that wait are still sent."""
        self._closing = True
        self._settle()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = self._closing = True
        self._loop.unwatch(self._socket.fileno())
        self._socket.close()
        for source in self.watching:
            source.unwatch(self)
        self.watching.clear()
        self._news.clear()
        self._gone(self)

    def _ready(self, events: int) -> None:
        if events & WRITE:
            self._flush()
        if events & READ and not self._closed:
            self._receive()
        elif events & HANGUP:
            self.close()

    def _receive(self) -> None:
        try:
            data = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            return
        try:
            self._unread.extend(self._lines.feed(data))
        except ProtocolError as error:
            self._complain(error)
            self.close_when_sent()
        self._work()

    def _work(self) -> None:
        """Handles received requests while the client reads its answers."""
        while self._unread and len(self._outbox) < _FULL and not self._closing:
            line = self._unread.popleft()
            try:
                fields = decode(line)
            except ProtocolError as error:
                self._complain(error)
            else:
                self._handle(Request(self, fields))

    def _complain(self, error: ProtocolError) -> None:
        self.send({"id": None, "ok": False, "error": Code.BAD_REQUEST, "message": str(error)})

    def _write(self, data: bytes) -> None:
        if self._closed:
            return
        if not self._outbox:
            try:
                sent = self._socket.send(data)
            except BlockingIOError:
                sent = 0
            except OSError:
                self.close()
                return
            if sent == len(data):
                return
            data = data[sent:]
        self._outbox += data
        self._settle()

    def _flush(self) -> None:
        try:
            sent = self._socket.send(self._outbox)
        except BlockingIOError:
            return
        except OSError:
            self.close()
            return
        del self._outbox[:sent]
        self._work()
        while self._news and not self._outbox:
            source = next(iter(self._news))
            happened = self._news.pop(source)
            for what in _ORDER:
                if what in happened:
                    self.tell(source, what)
        self._settle()

    def _settle(self) -> None:
        """Asks the loop for what is wanted now."""
        if self._closed:
            return
        if self._closing and not self._outbox:
            self.close()
            return
        reading = not self._closing and len(self._outbox) < _FULL
        wanted = (READ if reading else 0) | (WRITE if self._outbox else 0)
        if wanted != self._interest:
            self._interest = wanted
            self._loop.change(self._socket.fileno(), wanted)


_UNDOES: Final = {Happening.STALLED: Happening.RESUMED, Happening.RESUMED: Happening.STALLED}
_ORDER: Final = (Happening.STALLED, Happening.RESUMED, Happening.OUTPUT, Happening.EXIT)
