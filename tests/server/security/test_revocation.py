"""`vantage token revoke` ends at once what the token opened: sockets, waits, exports, pipes, MCP sessions."""

import asyncio
import json
import socket as sockets
import subprocess
import threading
import time
from contextlib import closing, contextmanager, suppress
from http.client import HTTPException

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from command_line import of, read_line
from mcp_clients import over_stdio
from socket_client import open_socket
from terminal_home import PATIENCE, environment
from terminals import VANTAGE
from vantage.server.security.tokens import Tokens

LONG_MS = 600_000
"""A wait that would outlast the test."""


@pytest.fixture
def token(server):
    """A token, and how it is revoked: by the command, as people do."""
    made = json.loads(of(server)("token", "new", "--json"))

    def revoke():
        of(server)("token", "revoke", made["id"])

    yield made["token"], revoke
    with_it = [each.id for each in Tokens(server.home).list()]
    if made["id"] in with_it:
        revoke()


@contextmanager
def soon():
    """Asserts that the block takes less time than the wait it interrupts."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < PATIENCE


@pytest.mark.parametrize("subscribed", [True, False])
async def test_a_socket_on_which_nothing_happens(server, token, subscribed):
    value, revoke = token
    with server.conversation() as c:
        async with open_socket(server, token=value) as socket:
            if subscribed:
                await socket.watch(c)
            await asyncio.to_thread(revoke)
            with soon():
                assert await socket.closed() == 4401


def test_a_request_that_waits(server, token):
    value, revoke = token
    with server.conversation() as c:
        server.pty(c, "exec_block", command="true")
        answers = []

        def wait():
            fields = {"match": "never", "timeout_ms": LONG_MS}
            answers.append(server.post(f"/v1/conversations/{c}/pty/wait_for", fields, token=value))

        waiting = threading.Thread(target=wait)
        waiting.start()
        revoke()
        with soon():
            waiting.join(PATIENCE)
        assert [(answer.status, answer.code) for answer in answers] == [(401, "unauthorized")]


def test_an_export_that_is_being_sent(server, token):
    value, revoke = token
    with server.conversation() as c:
        lines = "yes $(printf x%.0s {1..900}) | head -c 12000000"
        server.pty(c, "exec_block", command=lines, timeout_ms=PATIENCE * 1000)
        head = {"Authorization": f"Bearer {value}"}
        with (
            closing(sockets.socket()) as line,
            connect(f"ws://127.0.0.1:{server.port}/v1/ws", additional_headers=head, proxy=None) as witness,
        ):
            line.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
            line.settimeout(PATIENCE)
            line.connect(("127.0.0.1", server.port))
            head = f"GET /v1/conversations/{c}/export?format=asciicast HTTP/1.1\r\nHost: localhost\r\n"
            line.sendall(f"{head}Authorization: Bearer {value}\r\n\r\n".encode())
            got = line.recv(4096)
            assert got.startswith(b"HTTP/1.1 200")
            revoke()
            with pytest.raises(ConnectionClosed):
                witness.recv(PATIENCE)  # by then the server knows; what it had sent before is in buffers
            end = got
            while data := line.recv(1 << 20):
                end = data
        assert not end.endswith(b"0\r\n\r\n"), "it was cut off"


def pipe(server, token):
    return subprocess.Popen(
        [*VANTAGE, "mcp", "--home", str(server.home), "--conversation", "revoked-pipe"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(VANTAGE_TOKEN=token),
        bufsize=0,
    )


def say(process, **message):
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def begin(process):
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    say(process, id=0, method="initialize", params=about)
    assert "result" in json.loads(read_line(process.stdout))
    say(process, method="notifications/initialized")


@pytest.mark.parametrize("waiting", [False, True])
def test_a_pipe_of_an_agent(server, token, waiting):
    value, revoke = token
    try:
        with pipe(server, value) as process:
            begin(process)
            call = {"name": "pty_exec_block", "arguments": {"command": "true"}}
            say(process, id=1, method="tools/call", params=call)
            assert json.loads(read_line(process.stdout))["id"] == 1
            if waiting:
                call = {"name": "pty_wait_for", "arguments": {"match": "never", "timeout_ms": LONG_MS}}
                say(process, id=2, method="tools/call", params=call)
            revoke()
            with soon():
                assert process.wait(PATIENCE) == 1
            said = process.stdout.read()
            assert ("revoked" in said.decode()) is waiting, said
            assert process.stderr.read().decode().count("revoked") == 1
    finally:
        server.ask("DELETE", "/v1/conversations/revoked-pipe")


class Session:
    """MCP over HTTP as it is on the wire: what the official client does with its session id is not asked."""

    def __init__(self, server, token):
        self.server, self.token = server, token
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        begun = self.say("initialize", about, session=None)
        assert begun.status == 200, begun.body
        self.id = begun.headers["mcp-session-id"]
        assert self.id

    def say(self, method, params=None, *, session="own", token=None):
        headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        if session is not None:
            headers["Mcp-Session-Id"] = self.id if session == "own" else session
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        return self.server.post("/mcp", body, token=token or self.token, headers=headers)


def test_a_session_belongs_to_the_token_that_opened_it(server, token):
    value, revoke = token
    session = Session(server, value)
    assert session.say("tools/list").status == 200
    assert session.say("tools/list", token=server.token).status == 404, "as if there were none"
    headers = {"Mcp-Session-Id": session.id, "Accept": "text/event-stream"}
    assert server.ask("DELETE", "/mcp", headers=headers).status == 404
    assert server.get("/mcp", headers=headers).status == 404
    assert session.say("tools/list").status == 200, "its own token can still use it"
    revoke()
    assert session.say("tools/list").status == 401


def test_a_call_over_http_that_waits(server, token):
    value, revoke = token
    with server.conversation() as c:
        server.pty(c, "exec_block", command="true")
        session = Session(server, value)
        arguments = {"conversation_id": c, "match": "never", "timeout_ms": LONG_MS}
        answers = []

        def call():
            with suppress(HTTPException, ConnectionError):  # it may be cut off after its head
                answers.append(session.say("tools/call", {"name": "pty_wait_for", "arguments": arguments}).body)

        waiting = threading.Thread(target=call)
        waiting.start()
        revoke()
        waiting.join(PATIENCE)
        assert not waiting.is_alive()
        assert not any(b"matched" in answer for answer in answers), answers


def test_the_stream_of_a_session_ends(server, token):
    value, revoke = token
    session = Session(server, value)
    with closing(server.connection()) as line:
        headers = {"Mcp-Session-Id": session.id, "Accept": "text/event-stream", "Authorization": f"Bearer {value}"}
        line.request("GET", "/mcp", headers=headers)
        stream = line.getresponse()
        assert stream.status == 200
        revoke()
        with soon(), closing(stream), suppress(HTTPException, ConnectionError):  # cut off, in a piece or between two
            while stream.read1(1000):
                pass


async def test_other_tokens_are_not_disturbed(server, token):
    _, revoke = token
    with server.conversation() as c:
        other, value = Tokens(server.home).new()
        try:
            async with (
                open_socket(server, token=value) as socket,
                over_stdio(server.home, "--conversation", c) as agent,
            ):
                await socket.watch(c)
                await asyncio.to_thread(revoke)
                await agent.call("pty_exec_block", command="echo still here")
                await socket.shown(c, "still here", status="ok")
        finally:
            Tokens(server.home).revoke(other.id)
