"""A pipe between an agent's stdio and the server's socket for MCP. Standard library only, so that it starts at once.

Lines are passed on unchanged, except that each call of a tool gets an id. When the server dies, the pipe connects to a
new server, started if none runs, repeats the client's opening messages, and sends the open requests again. A call keeps
its id: by it the server knows what it has done already, so nothing is done twice, and the client notices only the
delay. After `MAX_TRIES` servers a request is answered with an error, because it may be the cause of their deaths; so is
a call if one of the servers is of an earlier version that knows no ids. While the first server starts, the client's
first requests are answered here.
"""

import contextlib
import json
import os
import secrets
import select
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from vantage.client.environment import shell_environment
from vantage.client.home_files import home_token, stated_token
from vantage.client.launch import ensure_server, running
from vantage.client.retry import SOON_S, Retry
from vantage.errors import NoServer
from vantage.ptyhost.ownership import NotPrivate, check_peer
from vantage.text.chunks import Lines

HELLO_S = 10.0
LEAVING_S = 5.0
"""How long open requests may still be answered after the client has stopped writing."""
MAX_WAITING = 1 << 20
"""Bytes that wait for a slow reader. Above it, the other side is not read."""
_CHUNK = 1 << 16
_GONE = -32000
_ENDED = (
    "the Vantage server ended during this call. The terminal lives on, and the server comes back: call pty_status "
    "to see how far it came, then call again"
)
_RESENT = "vantage-pipe-initialize"
"""The id of the `initialize` that the pipe repeats. Its answer is not passed to the client."""
_CALL_ID = "dev.vantage/callId"
_CALL_AGE = "dev.vantage/callAgeMs"
"""The fields in `_meta` of a call: its id, and, if it is sent again, how long ago it was first sent to a server."""
MAX_TRIES = 5
"""How many servers a request is sent to."""
_RECONNECTS, _RECONNECT_S = 3, 5.0
"""How often, and for how many seconds at least, the next server is looked for and started."""
_OPENING = ("initialize", "notifications/initialized")
_REVOKED = "notifications/vantage/revoked"
"""The server's last message to a pipe whose token was revoked."""


class TokenRevoked(Exception):
    """The token of this pipe was revoked while it was open."""


class Pipe:
    def __init__(self, home: str, conversation: str, tools: Literal["core", "all"], token: str | None = None) -> None:
        """Without a token, that of the environment or of the home is used."""
        self._home = home
        self._conversation = conversation
        self._tools = tools
        here = {"cwd": os.getcwd(), "env": shell_environment()}  # noqa: PTH109
        self._hello = {"conversation": conversation, "tools": tools, **here}
        self._token = token or stated_token(home) or ""
        self._server: socket.socket | None = None
        self._connecting: _Connecting | None = None
        self._met = False
        """Whether the pipe has been connected before."""
        self._from_client = Lines()
        self._from_server = Lines()
        self._to_client = bytearray()
        self._to_server = bytearray()
        self._open: dict[str, _Message] = {}
        """Requests without an answer, by their ids as JSON."""
        self._opening: list[bytes] = []
        """The client's `initialize` and `notifications/initialized`, where its protocol has them."""
        self._waiting: list[_Message] = []
        """Messages that wait for a server."""
        self._knows_calls = False
        """Whether the server knows the ids of calls."""
        self._until: float | None = None
        """When the client's requests are given up, once the client has stopped writing."""

    def run(self) -> None:
        """Runs until the client stops writing. Raises NoServer if no first server can be reached or started."""
        if running(self._home):
            self._meet(self._found_server())
        else:
            self._connecting = _Connecting(self._found_server)
        blocking = os.get_blocking(1)
        os.set_blocking(1, False)  # a client that writes and does not read must not block this process
        try:
            self._pass()
        finally:
            os.set_blocking(1, blocking)

    def _pass(self) -> None:
        while not self._is_over():
            ready = self._wait()
            if self._connecting is not None and self._connecting.descriptor in ready:
                self._connected(self._connecting)
            if self._server is not None and (event := ready.get(self._server.fileno())):
                self._with_server(event)  # first, so that nothing is passed to a server that has gone
            if event := ready.get(1):
                if event & (select.POLLERR | select.POLLHUP):
                    return
                self._to_client = self._to_client[_write(1, self._to_client) :]
            if 0 in ready and not self._read_client():
                self._until = time.monotonic() + LEAVING_S

    def _is_over(self) -> bool:
        if self._until is None:
            return False
        if self._connecting is not None:
            return self._met  # no server is started for a client that has left; but the first one's error is shown
        return not (self._to_client or (self._open and self._server)) or time.monotonic() > self._until

    def _wait(self) -> dict[int, int]:
        poll = select.poll()
        if self._until is None and len(self._to_server) < MAX_WAITING:
            poll.register(0, select.POLLIN)
        poll.register(1, select.POLLOUT if self._to_client else 0)
        if self._connecting is not None:
            poll.register(self._connecting.descriptor, select.POLLIN)
        if self._server is not None:
            wanted = select.POLLIN if len(self._to_client) < MAX_WAITING else 0
            poll.register(self._server, wanted | (select.POLLOUT if self._to_server else 0))
        timeout = None
        if self._until is not None and self._connecting is None:
            timeout = max(self._until - time.monotonic(), 0) * 1000
        return dict(poll.poll(timeout))

    def _read_client(self) -> bool:
        """Reads from the client. Returns False when it has stopped writing."""
        data = _read(0)
        if data is None:
            return True
        for line in self._from_client.feed(data or b"\n"):
            self._pass_on(line)
        return data != b""

    def _pass_on(self, line: bytes) -> None:
        if not line.strip():
            return
        message = _parsed(line)
        method = message.get("method")
        said = _Message(line, message)
        if "id" in message and isinstance(method, str):
            self._open[json.dumps(message["id"])] = said
        if method in _OPENING:
            self._opening.append(line)
        if method == "notifications/cancelled" and isinstance(message.get("params"), dict):
            self._open.pop(json.dumps(message["params"].get("requestId")), None)  # it will not be answered
        if self._server is not None:
            self._send(said)
            return
        if not self._met and not self._token and self._greeted(message):
            return
        if method not in _OPENING:
            self._waiting.append(said)
        if self._connecting is None:
            self._connecting = _Connecting(self._found_server)

    def _greeted(self, message: dict[str, Any]) -> bool:
        """Answers instead of the server, if that is possible. Returns whether it did."""
        if "id" not in message:
            return False
        from vantage.server.mcp.greeting import greet

        result = greet(message, self._tools, self._conversation)
        if result is None:
            return False
        self._answer(json.dumps(message["id"]), result=result)
        return True

    def _send(self, message: "_Message") -> None:
        self._to_server += message.for_server(knows_calls=self._knows_calls) + b"\n"

    def _found_server(self) -> "_Found":
        """A connection to a server that has accepted the token, started if none runs. Raises NoServer.

        A process that is killed closes its sockets one after the other, and the next server may be killed as well, so
        the next server is looked for several times, and for a while.
        """
        tries, retry = 0, Retry(_RECONNECT_S, pause_s=SOON_S)
        while True:
            tries += 1
            try:
                return self._tried_server()
            except NoServer:
                if not self._met or (not retry.pause() and tries >= _RECONNECTS):
                    raise

    def _tried_server(self) -> "_Found":
        said = ensure_server(self._home)  # its environment may differ from ours: server.json has its path
        server = socket.socket(socket.AF_UNIX)
        try:
            server.settimeout(HELLO_S)
            server.connect(os.path.join(os.path.dirname(said["socket"]), "mcp.sock"))  # noqa: PTH118, PTH120
            check_peer(server)
            server.sendall(json.dumps({**self._hello, "token": self._token or home_token(self._home)}).encode() + b"\n")
            welcome = _parsed(_first_line(server))
        except NotPrivate as error:
            server.close()
            raise NoServer(error.message, hint=error.hint) from None
        except NoServer:
            server.close()
            raise
        except OSError as error:
            server.close()
            raise NoServer(
                f"version {said.get('version')} of the server of {self._home} takes no MCP: {error}",
                hint=f"end process {said.get('pid')}, and a new one is started",
            ) from None
        if not welcome.get("ok"):
            server.close()
            raise NoServer(f"the server of {self._home} refused: {welcome.get('error', 'it said nothing')}")
        server.setblocking(False)
        return _Found(server, knows_calls=welcome.get("call_ids") is True)

    def _connected(self, connecting: "_Connecting") -> None:
        self._connecting = None
        try:
            server = connecting.result()
        except NoServer as error:
            for key, request in list(self._open.items()):
                why = f"{_ENDED}. Now {error}" if request.is_call and request.tries else str(error)
                self._answer(key, error={"code": _GONE, "message": why})
            self._waiting.clear()
            if not self._met:
                _write(1, self._to_client)
                raise
            return
        self._meet(server)

    def _meet(self, found: "_Found") -> None:
        """Uses a new server: repeats the opening, and sends the requests that are open and the messages that waited."""
        self._server, self._knows_calls, self._met = found.server, found.knows_calls, True
        self._from_server = Lines()
        for line in self._opening:
            self._to_server += (line if self._is_open(line) else _renamed(line)) + b"\n"
        for key, request in list(self._open.items()):
            if not request.tries or request.method in _OPENING:
                continue
            if request.may_be_sent_again(knows_calls=self._knows_calls):
                self._send(request)
            else:
                self._answer(key, error={"code": _GONE, "message": _ENDED})
        for message in self._waiting:
            self._send(message)
        self._waiting.clear()
        if self._until is not None:
            self._until = time.monotonic() + LEAVING_S

    def _is_open(self, line: bytes) -> bool:
        return any(request.line is line for request in self._open.values())

    def _with_server(self, event: int) -> None:
        assert self._server is not None
        if event & select.POLLOUT:
            with contextlib.suppress(ConnectionError):  # first, what the server has sent is read
                self._to_server = self._to_server[_write(self._server.fileno(), self._to_server) :]
        if event & (select.POLLIN | select.POLLHUP | select.POLLERR):
            data = _read(self._server.fileno())
            if data == b"":
                self._lost()
            for line in self._from_server.feed(data or b""):
                self._heard(line)

    def _heard(self, line: bytes) -> None:
        message = _parsed(line)
        if message.get("method") == _REVOKED:
            for key in list(self._open):
                self._answer(key, error={"code": _GONE, "message": "the token of this pipe was revoked"})
            _write(1, self._to_client)
            raise TokenRevoked
        if "method" not in message and "id" in message:
            if message["id"] == _RESENT:
                return
            self._open.pop(json.dumps(message["id"]), None)
        self._to_client += line + b"\n"

    def _lost(self) -> None:
        """The server has gone. Requests that are open are sent to the next one."""
        assert self._server is not None
        self._server.close()
        self._server = None
        self._to_server.clear()
        for key, request in list(self._open.items()):
            if not request.may_be_sent_again(knows_calls=self._knows_calls):
                self._answer(key, error={"code": _GONE, "message": _ENDED})
        if self._open:
            self._connecting = _Connecting(self._found_server)

    def _answer(self, key: str, **outcome: Any) -> None:
        del self._open[key]
        self._to_client += json.dumps({"jsonrpc": "2.0", "id": json.loads(key), **outcome}).encode() + b"\n"


class _Found(NamedTuple):
    server: socket.socket
    knows_calls: bool
    """Whether the server knows the ids of calls."""


class _Connecting:
    """Connects in a thread. `descriptor` becomes readable when that has succeeded or failed."""

    def __init__(self, find: Callable[[], _Found]) -> None:
        self.descriptor, self._writing = os.pipe()
        self._found: _Found | None = None
        self._error: NoServer | None = None
        threading.Thread(target=self._run, args=(find,), daemon=True).start()

    def _run(self, find: Callable[[], _Found]) -> None:
        try:
            self._found = find()
        except NoServer as error:
            self._error = error
        finally:
            os.close(self._writing)

    def result(self) -> _Found:
        os.close(self.descriptor)
        if self._found is None:
            raise self._error or NoServer("the server could not be reached", hint="run 'vantage doctor'")
        return self._found


class _Message:
    """A message of the client. A call of a tool gets an id."""

    __slots__ = ("_call_id", "_parsed", "_sent", "line", "method", "tries")

    def __init__(self, line: bytes, message: dict[str, Any]) -> None:
        self.line = line
        self.method = message.get("method")
        self.tries = 0
        """How many servers it was sent to."""
        self._parsed = message
        self._call_id = secrets.token_hex(16) if self.is_call and _takes_meta(message) else ""
        self._sent = 0.0

    @property
    def is_call(self) -> bool:
        return self.method == "tools/call"

    def may_be_sent_again(self, *, knows_calls: bool) -> bool:
        """Whether sending it again is harmless, after a server has died or to a server that `knows_calls`."""
        return self.tries < MAX_TRIES and (not self.is_call or (knows_calls and self._call_id != ""))

    def for_server(self, *, knows_calls: bool) -> bytes:
        """The line to send: the client's, with the id of the call."""
        first, self.tries = not self.tries, self.tries + 1
        if not self._call_id or not knows_calls:
            return self.line
        now = time.monotonic()
        self._sent = now if first else self._sent
        params = self._parsed["params"]
        meta = {_CALL_ID: self._call_id, **params.get("_meta", {})}
        if not first:
            meta[_CALL_AGE] = round((now - self._sent) * 1000)
        return json.dumps({**self._parsed, "params": {**params, "_meta": meta}}).encode()


def _takes_meta(message: dict[str, Any]) -> bool:
    """Whether a call can be written again with an id in it. If not, the server refuses it."""
    params = message.get("params")
    if not isinstance(params, dict) or not isinstance(params.get("_meta", {}), dict):
        return False
    try:
        json.dumps(message, allow_nan=False)
    except ValueError:
        return False
    return True


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}  # the receiver reports it
    return message if isinstance(message, dict) else {}


def _renamed(opening: bytes) -> bytes:
    """The client's `initialize`, with the pipe's own id."""
    message = _parsed(opening)
    return json.dumps({**message, "id": _RESENT}).encode() if "id" in message else opening


def _first_line(server: socket.socket) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        data = server.recv(1)  # what follows the line is for the client
        if not data:
            break
        line += data
    return line


def _read(descriptor: int) -> bytes | None:
    """The bytes that have arrived: None when there are none, empty at the end."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None
    except ConnectionError:
        return b""


def _write(descriptor: int, data: bytearray) -> int:
    try:
        return os.write(descriptor, data)
    except BlockingIOError:
        return 0
