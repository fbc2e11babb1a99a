"""JSON messages over a WebSocket: `websockets`' protocol without IO, and a blocking socket around it.

`MessageStream` turns bytes into messages and messages into bytes. `WebSocket` starts no thread: the caller selects on
its `fileno` together with the keyboard, and `take` returns the messages that have arrived.
"""

import json
from contextlib import suppress
from typing import Any

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from vantage.client.endpoint import Endpoint

_TARGET = parse_uri("ws://localhost/v1/ws")
_CHUNK = 1 << 16
_NOT_ALLOWED = (401, 403)
_NO_TOKEN = 4401
"""The code with which the server closes a socket that showed no valid token."""


class Closed(ConnectionError):
    """The server closed the connection."""


class Rejected(Exception):
    """The server runs and does not accept the token."""


class MessageStream:
    """One connection without IO: `feed` takes bytes and returns messages, `outgoing` returns the bytes to write."""

    def __init__(self, token: str) -> None:
        self._protocol = ClientProtocol(_TARGET, max_size=None)
        request = self._protocol.connect()
        request.headers["Authorization"] = f"Bearer {token}"
        self._protocol.send_request(request)
        self._parts: list[bytes] = []
        """Frames of a message whose last frame has not arrived."""

    @property
    def is_open(self) -> bool:
        return self._protocol.state is State.OPEN

    def outgoing(self) -> bytes:
        return b"".join(self._protocol.data_to_send())

    def send(self, type: str, **fields: Any) -> None:
        self._protocol.send_text(json.dumps({"type": type, **fields}).encode())

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """The messages that are complete now. Empty data means the end. Raises `Closed` once nothing more can
        arrive.
        """
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        found = [
            json.loads(message)
            for event in self._protocol.events_received()
            if isinstance(event, Frame) and (message := self._whole(event)) is not None
        ]
        if not found:
            self._check()
        return found

    def _whole(self, frame: Frame) -> bytes | None:
        """The message that ends with this frame. Control frames are answered by the protocol."""
        if frame.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            return None
        self._parts.append(bytes(frame.data))
        if not frame.fin:
            return None
        message = b"".join(self._parts)
        self._parts.clear()
        return message

    def _check(self) -> None:
        refused = self._protocol.handshake_exc
        if isinstance(refused, InvalidStatus) and refused.response.status_code in _NOT_ALLOWED:
            raise Rejected(f"the server answers {refused.response.status_code}")
        if refused is not None:
            raise Closed(f"no socket was given: {refused}")
        if self._protocol.state in (State.CLOSING, State.CLOSED):
            close = self._protocol.close_rcvd
            if close is not None and close.code == _NO_TOKEN:
                raise Rejected(close.reason)
            raise Closed((close and close.reason) or "it closed the connection")

    def close(self) -> None:
        with suppress(WebSocketException):  # it is closed, or was never open
            self._protocol.send_close(CloseCode.NORMAL_CLOSURE)


class WebSocket:
    def __init__(self, endpoint: Endpoint) -> None:
        self._stream = MessageStream(endpoint.token())
        self._http = endpoint.dial()
        self._socket = self._http.sock
        try:
            self._flush()
            while not self._stream.is_open:
                self._receive()  # no message has arrived: the server sends none before `hello`
        except (OSError, Rejected):
            self._http.close()
            raise

    def fileno(self) -> int:
        return int(self._socket.fileno())

    def send(self, type: str, **fields: Any) -> None:
        try:
            self._stream.send(type, **fields)
        except WebSocketException as error:
            raise Closed(str(error)) from error
        self._flush()

    def take(self) -> list[dict[str, Any]]:
        """The messages that have arrived. Waits for bytes, not for a whole message."""
        messages = self._receive()
        self._flush()
        return messages

    def _receive(self) -> list[dict[str, Any]]:
        return self._stream.feed(self._socket.recv(_CHUNK))

    def _flush(self) -> None:
        if data := self._stream.outgoing():
            self._socket.sendall(data)

    def close(self) -> None:
        self._stream.close()
        with suppress(OSError):  # the connection has gone already
            self._flush()
        self._http.close()
