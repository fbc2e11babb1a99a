"""Servers for tests: the real program, in a home of its own, and a small HTTP client for it.

`server` is shared by all tests: each makes its own conversations in it (`with server.conversation() as id:`). A test
that kills, restarts or configures its server starts its own: `with serving(home) as server:`. At the end nothing is
left: no server, no PTY host, no shell.
"""

import http.client
import json
import os
import secrets
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from terminal_home import PATIENCE, environment, host_pid, wait_until_gone
from terminals import VANTAGE
from vantage.client.endpoint import UnixConnection


@dataclass(frozen=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The code of the error in the answer."""
        return self.json["error"]["code"]


class Server:
    """`vantage serve` on a free port. `line` is what it printed, `token` opens everything."""

    before: tuple[str, ...] = ()
    """A program that sets something for the server, and becomes it."""

    def __init__(self, home: Path, *flags: str, **env: str) -> None:
        self.home = home
        self.flags = flags
        self.env = {"VANTAGE_RATE_LIMIT": "0", **env}
        """Tests repeat requests until a condition holds, faster than clients may."""
        self.port = 0
        self.start()

    def start(self) -> None:
        """Starts it, or starts it again: in the same home and on the same port."""
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 -- closed when it is stopped
        self.process = subprocess.Popen(
            [*self.before, *VANTAGE, "serve", "--home", str(self.home), "--port", str(self.port), *self.flags],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=environment(**self.env),
            text=True,
        )
        self.line = self.process.stdout.readline()
        if not self.line:
            code = self.process.wait()
            said = self.said()
            self._close()
            raise AssertionError(f"the server ended with {code}: {said}")
        try:
            self._look()
        except BaseException:
            self.kill()
            raise

    def _look(self) -> None:
        with suppress(FileNotFoundError):  # on a full disk there is none: the address is the one of before
            self.address = json.loads((self.home / "server.json").read_text())
        self.url = self.address["url"]
        self.port = int(self.url.rpartition(":")[2])
        self.socket = self.address["socket"]
        self.token = (self.home / "token").read_text().strip()

    def said(self) -> str:
        """What it wrote to stderr."""
        return os.pread(self.errors.fileno(), 1 << 20, 0).decode()  # its place in the file is the server's too

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ends it, and gives its exit code. Shells live on."""
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        self._close()
        return code

    def kill(self) -> None:
        self.stop(signal.SIGKILL)

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def _close(self) -> None:
        self.process.stdout.close()
        self.errors.close()

    def end(self) -> None:
        """Ends it and the PTY host with all its shells."""
        if not self.process.stdout.closed:
            self.stop()
        pid = host_pid(self.home)
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            wait_until_gone(pid)

    # asking

    def connection(self, *, unix: bool = False) -> http.client.HTTPConnection:
        """Stays open from request to request; the caller closes it."""
        connection = UnixConnection(self.socket) if unix else http.client.HTTPConnection("127.0.0.1", self.port)
        connection.connect()
        connection.sock.settimeout(PATIENCE)
        return connection

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = None,
        headers: dict[str, str] | None = None,
        unix: bool = False,
        over: http.client.HTTPConnection | None = None,
    ) -> Answer:
        """One request. A body that is neither text nor bytes is sent as JSON; the token `""` is none at all."""
        token = self.token if token is None else token
        sent = dict(headers or {})
        if token:
            sent.setdefault("Authorization", f"Bearer {token}")
        if body is not None and not isinstance(body, str | bytes):
            body = json.dumps(body)
            sent.setdefault("Content-Type", "application/json")
        connection = over or self.connection(unix=unix)
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            if over is None:
                connection.close()

    def get(self, path: str, **how: Any) -> Answer:
        return self.ask("GET", path, **how)

    def post(self, path: str, body: Any = None, **how: Any) -> Answer:
        return self.ask("POST", path, body, **how)

    def pty(self, conversation: str, verb: str, **fields: Any) -> dict[str, Any]:
        """Calls a verb that must succeed."""
        answer = self.post(f"/v1/conversations/{conversation}/pty/{verb}", fields)
        assert answer.status == 200, answer.body
        return answer.json

    @contextmanager
    def conversation(self, *, env: dict[str, str] | None = None, **settings: Any) -> Iterator[str]:
        """A conversation of its own, deleted afterwards."""
        settings.setdefault("id", f"t-{secrets.token_hex(5)}")
        settings.setdefault("user_rc", False)
        settings.setdefault("cwd", str(self.home))
        made = self.post("/v1/conversations", {"env": env or environment(), **settings})
        assert made.status == 201, made.body
        try:
            yield made.json["id"]
        finally:
            if self.running:
                self.ask("DELETE", f"/v1/conversations/{made.json['id']}")


@contextmanager
def serving(home: Path, *flags: str, **env: str) -> Iterator[Server]:
    """A server for one test."""
    server = Server(home, *flags, **env)
    try:
        yield server
    finally:
        server.end()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The server that all tests share."""
    with tempfile.TemporaryDirectory(prefix="vantage-test-") as place, serving(Path(place)) as running:
        yield running
