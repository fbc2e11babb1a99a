"""Many WebSockets in one loop, as cheap as they can be: the server is measured, not its subscribers.

Frames are read by hand, and of their text only the time that the sender wrote into it: `@123456789@`, nanoseconds of
the monotonic clock. Frames of a client must be masked; a mask of zeros leaves the text as it is.
"""

import queue
import re
import selectors
import socket
import struct
import threading
import time
from collections.abc import Iterable

_STAMP = re.compile(rb"@(\d+)@")
_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10


def stamp() -> str:
    return f"@{time.monotonic_ns()}@"


class Subscriber:
    def __init__(self, port: int, token: str = "") -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        authorization = f"Authorization: Bearer {token}\r\n" if token else ""
        self.socket.sendall(
            f"GET /v1/ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n{authorization}\r\n".encode()
        )
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.socket.recv(1)
        assert b" 101 " in head, head
        self._rest = b""

    def say(self, data: bytes, kind: int = _TEXT) -> None:
        size = bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0xFE]) + struct.pack("!H", len(data))
        self.socket.sendall(bytes([0x80 | kind]) + size + b"\0\0\0\0" + data)

    def frames(self) -> Iterable[bytes]:
        """The texts that have come."""
        data = self._rest + self.socket.recv(1 << 20)
        at = 0
        while len(data) - at >= 2:
            kind, size, start = data[at] & 15, data[at + 1] & 127, at + 2
            if size == 126:
                size, start = int.from_bytes(data[start : start + 2]), start + 2
            elif size == 127:
                size, start = int.from_bytes(data[start : start + 8]), start + 8
            if start > len(data) or start + size > len(data):
                break
            if kind == _PING:
                self.say(data[start : start + size], _PONG)
            elif kind == _CLOSE:
                raise ConnectionError(data[start:])
            else:
                yield data[start : start + size]
            at = start + size
        self._rest = data[at:]

    def close(self) -> None:
        self.socket.close()


class Crowd:
    """Subscribers that listen together, in a thread of their own: pings are answered between rounds too."""

    def __init__(self, subscribers: list[Subscriber]) -> None:
        self.subscribers = subscribers
        self._late: queue.SimpleQueue[float] = queue.SimpleQueue()
        self._last = time.monotonic()
        self._selector = selectors.DefaultSelector()
        for each in subscribers:
            self._selector.register(each.socket, selectors.EVENT_READ, each)
        self._open = True
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        while self._open:
            for key, _ in self._selector.select(0.1):
                self._last = time.monotonic()
                for text in key.data.frames():
                    stamped = _STAMP.search(text)
                    if stamped is not None:
                        self._late.put((time.monotonic_ns() - int(stamped[1])) / 1e6)

    def until_quiet(self, seconds: float = 0.5) -> None:
        """Until nothing has come for a while."""
        while (pause := self._last + seconds - time.monotonic()) > 0:
            time.sleep(pause)

    def late(self) -> list[float]:
        """How late, in milliseconds, each subscriber hears of the one thing that was just said."""
        return [self._late.get(timeout=30) for _ in self.subscribers]

    def close(self) -> None:
        self._open = False
        self._thread.join()
        self._selector.close()
        for each in self.subscribers:
            each.close()
