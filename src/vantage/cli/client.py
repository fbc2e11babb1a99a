"""The command line's way to the server: HTTP over its private socket, with the standard library only.

`http.client` and a WebSocket library take longer to load than a verb takes to be done, so the little of both protocols
that a client of our own server needs is written here and in `websocket`.
"""

import json
import os
import re
import select
import socket
from typing import Any, Never, Self
from urllib.parse import quote

import click

NO_SERVER = 3
"""Exit code: no server could be reached."""


class NoServer(click.ClickException):
    exit_code = NO_SERVER


class Refused(click.ClickException):
    """The server said no: with what was wrong, and the way out."""

    def __init__(self, answer: dict[str, Any]) -> None:
        error = answer.get("error")
        error = error if isinstance(error, dict) else {}
        message, hint = error.get("message", "the server answered with an error"), in_our_words(error.get("hint", ""))
        super().__init__(f"{message}: {hint}" if hint else message)
        self.answer = answer
        self.code: str = error.get("code", "")
        self.next: int | None = error.get("next")
        """Where to go on, when what was asked for is gone."""


# what the server calls a verb → how it is called here
_OUR_WORDS = {
    "exec_block": "vantage exec",
    "exec_interactive": "vantage run",
    "end_session": "vantage end",
    "wait_for": "vantage wait",
    "wait_for PROMPT": "vantage wait --prompt",
    "read_block": "vantage read",
    "read_screen": "vantage screen",
    "ctrl_c": "vantage keys C-c",
}
_VERB = re.compile(rf"\b(?:{'|'.join(sorted(_OUR_WORDS, key=len, reverse=True))})\b")
_WORD_TOO = re.compile(r"(?<=through )send\b|(?<=use )send\b|(?<=use send, )keys\b")
"""Verbs that are words as well: they are meant only behind these."""


def in_our_words(hint: str) -> str:
    """A way out as the command line has it."""
    return _WORD_TOO.sub(r"'vantage \g<0>'", _VERB.sub(lambda verb: f"'{_OUR_WORDS[verb[0]]}'", hint))


class Connection:
    """One HTTP connection, used again and again."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(path)
        except OSError:
            self._socket.close()
            raise
        self._stream = self._socket.makefile("rb")

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def stale(self) -> bool:
        """Nothing was asked and something came: it was closed, as servers do with those that nobody uses."""
        return bool(select.select([self._socket], [], [], 0)[0])

    def send(self, method: str, path: str, token: str, body: bytes) -> None:
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self._socket.sendall(head.encode() + b"\r\n" + body)

    def receive(self) -> tuple[int, bytes]:
        """Status and body of the answer."""
        line = self._stream.readline()
        if not line:
            raise ConnectionResetError("it closed the connection")
        status, length = int(line.split()[1]), None
        while (line := self._stream.readline()).strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        # our server says how long its answers are; without a word, an answer lasts until the end
        data = self._stream.read() if length is None else self._stream.read(length)
        if length is not None and len(data) < length:
            raise ConnectionResetError("it closed the connection in the middle of an answer")
        return status, data

    def close(self) -> None:
        self._stream.close()
        self._socket.close()


class Client:
    """Asks the server of a home. `start`: one is started if none runs, as tmux does for whoever needs one."""

    def __init__(self, home: str, *, start: bool = True) -> None:
        self.home = home
        self.start = start
        self._connection: Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def connect(self) -> Connection:
        """A connection of one's own; whoever takes it closes it."""
        try:
            return Connection(server_socket(self.home))
        except OSError:
            pass  # nobody is there: whatever the file says, it is out of date
        if not self.start:
            raise NoServer(
                f"no server runs in {self.home}: 'vantage serve', 'vantage new' or 'vantage exec' starts one"
            )
        from vantage.cli.launch import LaunchError, ensure_server

        try:
            return Connection(ensure_server(self.home)["socket"])
        except LaunchError as error:
            raise NoServer(str(error)) from error
        except OSError as error:
            raise NoServer(f"the server of {self.home} cannot be reached: {error}: run 'vantage doctor'") from error

    def ask(self, method: str, path: str, fields: dict[str, Any] | None = None) -> dict[str, Any]:
        """The answer, or `Refused` with what the server says of it."""
        try:
            if self._connection is not None and self._connection.stale:
                self.close()
            if self._connection is None:
                self._connection = self.connect()
            self.send(self._connection, method, path, fields)
            return self.receive(self._connection)
        except OSError as error:
            self._lost(error)

    def send(self, connection: Connection, method: str, path: str, fields: dict[str, Any] | None = None) -> None:
        connection.send(method, path, read_token(self.home), b"" if fields is None else json.dumps(fields).encode())

    def receive(self, connection: Connection) -> dict[str, Any]:
        status, data = connection.receive()
        try:
            answer = json.loads(data)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise NoServer(f"something else than a Vantage server answers in {self.home}: run 'vantage doctor'")
        if status >= 400:
            raise Refused(answer)
        return answer

    def _lost(self, error: OSError) -> Never:
        self.close()
        raise NoServer(f"the server has gone ({error}): its shells live on, and the next call finds them") from error

    def pty(self, conversation: str, verb: str, **fields: Any) -> dict[str, Any]:
        """A verb of a conversation's terminal. Fields that are None are left out."""
        return self.ask("POST", pty_path(conversation, verb), given(**fields))

    def conversation(self, method: str, conversation: str, below: str = "", **fields: Any) -> dict[str, Any]:
        """A request about a conversation itself."""
        body = given(**fields) if method in ("POST", "PUT", "PATCH") else None
        return self.ask(method, f"/v1/conversations/{quote(conversation, safe='')}{below}", body)


def server_socket(home: str) -> str:
    """Where the server of a home listens, as it says itself. Raises OSError when it says nothing."""
    try:
        with open(os.path.join(home, "server.json"), "rb") as file:  # noqa: PTH118, PTH123
            return str(json.load(file)["socket"])
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, TypeError):
        # Somebody has damaged it: a server that runs all the same listens where it would listen today.
        from vantage.ptyhost.protocol import socket_path

        return socket_path(home, "server.sock")


def read_token(home: str) -> str:
    """`VANTAGE_TOKEN` where it is set, as for those who may only watch; else the home's own."""
    if stated := os.environ.get("VANTAGE_TOKEN"):
        return stated
    try:
        with open(os.path.join(home, "token"), encoding="ascii", errors="replace") as file:  # noqa: PTH118, PTH123
            return file.read().strip()
    except OSError as error:
        raise NoServer(f"{error.filename} cannot be read: {error.strerror}: is {home} yours?") from error


def pty_path(conversation: str, verb: str) -> str:
    return f"/v1/conversations/{quote(conversation, safe='')}/pty/{verb}"


def given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
