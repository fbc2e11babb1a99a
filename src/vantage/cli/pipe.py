"""A pipe between an agent's stdio and the server's socket for MCP. Standard library only: it has to be there at once.

Lines are passed on as they are. It reads them only to know which requests are open: when the server dies, their callers
are told to call again, and with the next message it connects anew, to a server that is started if need be. What the
client said to begin with is said again for it, so that it notices nothing. While the very first server is still being
started, the client's first questions are answered here.
"""

import contextlib
import json
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal

from vantage.cli.environment import shell_environment
from vantage.cli.launch import LaunchError, ensure_server, running

HELLO_S = 10.0
LEAVING_S = 5.0
"""How long requests that are open when the client stops writing may still be answered."""
MOST_WAITING = 1 << 20
"""Bytes that wait for a slow reader before its counterpart is read on."""
_CHUNK = 1 << 16
_GONE = -32000
_ENDED = (
    "the Vantage server ended during this call. The terminal lives on, and the server comes back: call pty_status "
    "to see how far it came, then call again"
)
_RESENT = "vantage-pipe-initialize"
"""The id of the `initialize` that the pipe repeats: its answer is not the client's."""
_OPENING = ("initialize", "notifications/initialized")


class Pipe:
    def __init__(self, home: str, conversation: str, tools: Literal["core", "all"]) -> None:
        self._home = home
        self._conversation = conversation
        self._tools = tools
        here = {"cwd": os.getcwd(), "env": shell_environment()}  # noqa: PTH109
        self._hello = {"conversation": conversation, "tools": tools, **here}
        self._token = os.environ.get("VANTAGE_TOKEN", "")
        self._server: socket.socket | None = None
        self._connecting: _Connecting | None = None
        self._met = False
        """Whether there was a server before."""
        self._from_client = _Lines()
        self._from_server = _Lines()
        self._to_client = bytearray()
        self._to_server = bytearray()
        self._open: dict[str, _Request] = {}
        """Requests that nobody has answered, by their ids as JSON."""
        self._opening: list[bytes] = []
        """How the client began, where its protocol has a beginning: `initialize` and `notifications/initialized`."""
        self._waiting: list[bytes] = []
        """For a server."""
        self._until: float | None = None
        """The client writes no more: that long its requests may still be answered."""

    def run(self) -> None:
        """Until the client stops writing. Raises LaunchError when there is no server to begin with."""
        if running(self._home):
            self._meet(self._found_server())
        else:
            self._connecting = _Connecting(self._found_server)
        blocking = os.get_blocking(1)
        os.set_blocking(1, False)  # a client that writes and does not read must not stop us both
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
                self._with_server(event)  # first, so that nothing is given to one that has gone
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
            return self._met  # nobody starts a server for nobody; but the first one's complaint is of use
        return not (self._to_client or (self._open and self._server)) or time.monotonic() > self._until

    def _wait(self) -> dict[int, int]:
        poll = select.poll()
        if self._until is None and len(self._to_server) < MOST_WAITING:
            poll.register(0, select.POLLIN)
        poll.register(1, select.POLLOUT if self._to_client else 0)
        if self._connecting is not None:
            poll.register(self._connecting.descriptor, select.POLLIN)
        if self._server is not None:
            wanted = select.POLLIN if len(self._to_client) < MOST_WAITING else 0
            poll.register(self._server, wanted | (select.POLLOUT if self._to_server else 0))
        patience = None
        if self._until is not None and self._connecting is None:
            patience = max(self._until - time.monotonic(), 0) * 1000
        return dict(poll.poll(patience))

    # the client

    def _read_client(self) -> bool:
        """Takes what the client wrote; False when it will write no more."""
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
        if "id" in message and isinstance(method, str):
            self._open[json.dumps(message["id"])] = _Request(line, method)
        if method in _OPENING:
            self._opening.append(line)
        if method == "notifications/cancelled" and isinstance(message.get("params"), dict):
            self._open.pop(json.dumps(message["params"].get("requestId")), None)  # it will not be answered
        if self._server is not None:
            self._to_server += line + b"\n"
            return
        if not self._met and not self._token and self._greeted(message):
            return
        if method not in _OPENING:
            self._waiting.append(line)
        if self._connecting is None:
            self._connecting = _Connecting(self._found_server)

    def _greeted(self, message: dict[str, Any]) -> bool:
        """Whether the pipe itself could answer."""
        if "id" not in message:
            return False
        from vantage.server.mcp_greeting import greet

        result = greet(message, self._tools, self._conversation)
        if result is None:
            return False
        self._answer(json.dumps(message["id"]), result=result)
        return True

    # the server

    def _found_server(self) -> socket.socket:
        """A connection to a server that knows who we are; takes as long as one takes to start. Raises LaunchError."""
        said = ensure_server(self._home)  # our environment may not be the server's: it says where it is
        server = socket.socket(socket.AF_UNIX)
        try:
            server.settimeout(HELLO_S)
            server.connect(os.path.join(os.path.dirname(said["socket"]), "mcp.sock"))  # noqa: PTH118, PTH120
            server.sendall(
                json.dumps({**self._hello, "token": self._token or _main_token(self._home)}).encode() + b"\n"
            )
            welcome = _parsed(_first_line(server))
        except OSError as error:
            server.close()
            words = f"version {said.get('version')} of the server of {self._home} takes no MCP: {error}"
            raise LaunchError(f"{words}: end process {said.get('pid')}, and a new one is started") from None
        if not welcome.get("ok"):
            server.close()
            raise LaunchError(f"the server of {self._home} refused: {welcome.get('error', 'it said nothing')}")
        server.setblocking(False)
        return server

    def _connected(self, connecting: "_Connecting") -> None:
        self._connecting = None
        try:
            server = connecting.result()
        except LaunchError as error:
            for key in list(self._open):
                self._answer(key, error={"code": _GONE, "message": str(error)})
            self._waiting.clear()
            if not self._met:
                _write(1, self._to_client)
                raise
            return
        self._meet(server)

    def _meet(self, server: socket.socket) -> None:
        """What was said before, and what waited, is for this one."""
        self._server, self._met = server, True
        self._from_server = _Lines()
        for line in self._opening:
            self._to_server += (line if self._is_open(line) else _renamed(line)) + b"\n"
        for line in self._waiting:
            self._to_server += line + b"\n"
        self._waiting.clear()
        if self._until is not None:
            self._until = time.monotonic() + LEAVING_S

    def _is_open(self, line: bytes) -> bool:
        return any(request.line is line for request in self._open.values())

    def _with_server(self, event: int) -> None:
        assert self._server is not None
        if event & select.POLLOUT:
            with contextlib.suppress(ConnectionError):  # what was not read is read first
                self._to_server = self._to_server[_write(self._server.fileno(), self._to_server) :]
        if event & (select.POLLIN | select.POLLHUP | select.POLLERR):
            data = _read(self._server.fileno())
            if data == b"":
                self._lost()
            for line in self._from_server.feed(data or b""):
                self._heard(line)

    def _heard(self, line: bytes) -> None:
        message = _parsed(line)
        if "method" not in message and "id" in message:
            if message["id"] == _RESENT:
                return
            self._open.pop(json.dumps(message["id"]), None)
        self._to_client += line + b"\n"

    def _lost(self) -> None:
        """The server is gone. Calls that it had are answered: nobody knows how far it came with them."""
        assert self._server is not None
        self._server.close()
        self._server = None
        self._to_server.clear()
        for key, request in list(self._open.items()):
            if not request.may_be_sent_again:
                self._answer(key, error={"code": _GONE, "message": _ENDED})
            else:
                request.tries += 1
                if request.method not in _OPENING:
                    self._waiting.append(request.line)
        if self._open:
            self._connecting = _Connecting(self._found_server)

    def _answer(self, key: str, **outcome: Any) -> None:
        del self._open[key]
        self._to_client += json.dumps({"jsonrpc": "2.0", "id": json.loads(key), **outcome}).encode() + b"\n"


class _Connecting:
    """A connection in the making, in a thread: `descriptor` can be read when there is one, or none can be had."""

    def __init__(self, find: Callable[[], socket.socket]) -> None:
        self.descriptor, self._writing = os.pipe()
        self._server: socket.socket | None = None
        self._error: LaunchError | None = None
        threading.Thread(target=self._run, args=(find,), daemon=True).start()

    def _run(self, find: Callable[[], socket.socket]) -> None:
        try:
            self._server = find()
        except LaunchError as error:
            self._error = error
        finally:
            os.close(self._writing)

    def result(self) -> socket.socket:
        os.close(self.descriptor)
        if self._server is None:
            raise self._error or LaunchError("the server could not be reached: run 'vantage doctor'")
        return self._server


class _Request:
    __slots__ = ("line", "method", "tries")

    def __init__(self, line: bytes, method: str) -> None:
        self.line = line
        self.method = method
        self.tries = 0

    @property
    def may_be_sent_again(self) -> bool:
        """Whether doing it twice is the same as doing it once; not for ever, should it be what the server dies of."""
        return self.method != "tools/call" and self.tries == 0


class _Lines:
    """Cuts a stream into lines."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []

    def feed(self, data: bytes) -> Iterator[bytes]:
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._rest.append(end)
            line = b"".join(self._rest)
            self._rest.clear()
            yield line
        if rest:
            self._rest.append(rest)


def _main_token(home: str) -> str:
    with open(os.path.join(home, "token"), encoding="ascii") as file:  # noqa: PTH118, PTH123
        return file.read().strip()


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}  # whose business it is will say so
    return message if isinstance(message, dict) else {}


def _renamed(opening: bytes) -> bytes:
    """The client's `initialize` as the pipe's own."""
    message = _parsed(opening)
    return json.dumps({**message, "id": _RESENT}).encode() if "id" in message else opening


def _first_line(server: socket.socket) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        data = server.recv(1)  # what follows the line is not for us
        if not data:
            break
        line += data
    return line


def _read(descriptor: int) -> bytes | None:
    """What is there: None when nothing is, empty when nothing will be."""
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
