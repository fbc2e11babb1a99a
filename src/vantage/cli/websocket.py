"""The part of RFC 6455 that a client of our own server needs: a handshake, and messages of JSON in frames.

Nothing runs beside the caller: `fileno` can be selected on together with the keyboard, and `take` gives what has come.
"""

import base64
import json
import os
import socket
from contextlib import suppress
from typing import Any

_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10
_CHUNK = 1 << 16
_NOT_ALLOWED = ("401", "403")
_NO_TOKEN = (4401).to_bytes(2, "big")
"""The code a socket is closed with when no valid token was shown."""


class Closed(ConnectionError):
    """The other side has gone."""


class Rejected(Exception):
    """The other side is there, and does not let us in."""


class WebSocket:
    def __init__(self, path: str, target: str, token: str) -> None:
        self._buffer = bytearray()
        self._parts: list[bytes] = []
        """Of a message whose last frame has not come."""
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(path)
            self._shake_hands(target, token)
        except (OSError, Rejected):
            self._socket.close()
            raise

    def _shake_hands(self, target: str, token: str) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(
            f"GET {target} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        )
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            self._read()
        head = bytes(self._buffer[:end]).decode("latin-1")
        del self._buffer[: end + 4]
        status = head.split(None, 2)[1]
        if status in _NOT_ALLOWED:
            raise Rejected(f"the server answers {status}")
        if status != "101":
            raise Closed(f"no socket was given: {head.splitlines()[0]}")

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, type: str, **fields: Any) -> None:
        self._frame(_TEXT, json.dumps({"type": type, **fields}).encode())

    def _frame(self, opcode: int, data: bytes) -> None:
        size = len(data)
        if size < 126:
            head = bytes((0x80 | opcode, 0x80 | size))
        elif size < 1 << 16:
            head = bytes((0x80 | opcode, 0x80 | 126)) + size.to_bytes(2, "big")
        else:
            head = bytes((0x80 | opcode, 0x80 | 127)) + size.to_bytes(8, "big")
        # Masks are for proxies that take a frame for a request. None is on a local socket, and a mask of zeros is one.
        self._socket.sendall(head + bytes(4) + data)

    def take(self) -> list[dict[str, Any]]:
        """The messages that have come; waits for bytes, not for a whole message. Raises `Closed`."""
        self._read()
        return self._messages()

    def _read(self) -> None:
        data = self._socket.recv(_CHUNK)
        if not data:
            raise Closed("it closed the connection")
        self._buffer += data

    def _messages(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while (frame := self._next_frame()) is not None:
            last, opcode, data = frame
            if opcode == _PING:
                self._frame(_PONG, data)
            elif opcode == _CLOSE:
                if data[:2] == _NO_TOKEN:
                    raise Rejected(data[2:].decode("utf-8", "replace"))
                if not found:
                    raise Closed(data[2:].decode("utf-8", "replace") or "it closed the connection")
                return found  # what follows it is the end, which is met next time
            elif opcode != _PONG:
                self._parts.append(data)
                if last:
                    found.append(json.loads(b"".join(self._parts)))
                    self._parts.clear()
        return found

    def _next_frame(self) -> tuple[bool, int, bytes] | None:
        buffer = self._buffer
        if len(buffer) < 2:
            return None
        size, start = buffer[1] & 0x7F, 2
        if size >= 126:
            start += 2 if size == 126 else 8
            if len(buffer) < start:
                return None
            size = int.from_bytes(buffer[2:start], "big")
        if len(buffer) < start + size:
            return None
        first, data = buffer[0], bytes(buffer[start : start + size])
        del buffer[: start + size]
        return bool(first & 0x80), first & 0x0F, data

    def close(self) -> None:
        with suppress(OSError):  # it has gone already
            self._frame(_CLOSE, (1000).to_bytes(2, "big"))
        self._socket.close()
