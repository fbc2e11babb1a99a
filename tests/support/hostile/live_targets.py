"""What listens: HTTP, WebSocket and MCP of a real server, and the socket of a real PTY host.

`CONVERSATION` in an input is a conversation whose shell finds no program, in a folder of its own; `HOME` is the host's.
"""

import json
import random
import secrets
import shutil
import socket
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from drawn import chance
from host_harness import MARK, Client
from hunting import Target
from server_home import Server
from terminal_home import PATIENCE, environment
from vantage.ptyhost import protocol
from vantage.ptyhost.protocol import socket_path
from vantage.server.http.openapi import document
from vantage.server.logs import FILE_NAME

_SHORT_MS = 5
"""The timeout of waits: the conversations and texts that they name do not exist."""
_WAITING = (b"exec_block", b"wait_for")
_JSON = (b"{", b"}", b"[", b"]", b'"', b",", b":", b"null", b"true", b"-1", b"1e999", b"NaN", b"\\ud800", b"\\u0000")


class Live:
    """A server, and a conversation in it that there always is."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server = server
        self._folder = folder
        self._conversation = ""

    @property
    def conversation(self) -> str:
        known = self._conversation and self.server.get(f"/v1/conversations/{self._conversation}").status == 200
        return self._conversation if known else self._new()

    def _new(self) -> str:
        env = environment(PATH=str(self._folder / "none"), HOME=str(self._folder))
        said = {"id": f"f-{secrets.token_hex(5)}", "shell": "/bin/bash", "cwd": str(self._folder), "user_rc": False}
        made = self.server.post("/v1/conversations", {**said, "env": env})
        assert made.status == 201, made.body
        self._conversation = made.json["id"]
        return self._conversation

    def check(self) -> None:
        """It runs, has said nothing on stderr, and has not failed."""
        assert self.server.running
        assert self.server.said() == ""
        log = self.server.home / FILE_NAME
        failed = [line for line in log.read_text().splitlines() if '"failed"' in line] if log.exists() else []
        assert not failed, failed[-1]


def impatient(value: Any) -> Any:
    """A request with no reason to wait long, wherever the time stands; what is no number stays odd."""
    if isinstance(value, dict):
        for name in ("timeout_ms", "grace_ms"):
            number = value.get(name, _SHORT_MS)
            if isinstance(number, int | float) and not isinstance(number, bool) and number > _SHORT_MS:
                value[name] = _SHORT_MS
        if "command" in value or "match" in value:
            value.setdefault("timeout_ms", _SHORT_MS)
        for inner in list(value.values()):
            impatient(inner)
    return value


def _rewritten(body: bytes) -> bytes:
    """The body with short waits in it; as it is when it is no JSON object."""
    try:
        value = json.loads(body)
        return json.dumps(impatient(value)).encode() if isinstance(value, dict) else body
    except (ValueError, RecursionError):
        return body


# HTTP


_HOP = (b"content-length", b"transfer-encoding", b"connection", b"expect", b"upgrade", b"host", b"authorization")
"""Headers that say where a request ends, and who asks: they are ours."""


def http_target(live: Live) -> Target:
    def check(data: bytes) -> None:
        """`METHOD target`, headers, an empty line, a body."""
        head, _, body = data.partition(b"\n\n")
        first, *headers = head.split(b"\n")
        first = _repaired(first, chance(data)).replace(b"CONVERSATION", live.conversation.encode())
        if any(verb in first for verb in _WAITING):
            body = _rewritten(body)
        if b"/v1/demo" in first or b"/ws" in first:  # a minute of real programs; a socket
            return
        headers = [line for line in headers if line.partition(b":")[0].strip().lower() not in _HOP and b":" in line]
        status, said_headers, said = _ask(live.server, first, headers, body)
        assert 200 <= status < 500, (status, said[:300])
        if status >= 400 and b"application/json" in said_headers and b"jsonrpc" not in said:
            error = json.loads(said)["error"]
            assert error["code"]
            assert error["message"].strip()

    return Target(
        "http",
        check,
        "every request has an answer, never 5xx; an error says its code and what is wrong; nothing in stderr or log",
        _HTTP_TOKENS,
        lambda: list(_requests()),
        6000,
    )


def _repaired(first: bytes, choose: random.Random) -> bytes:
    """Mostly a request line that a route answers: a known path, what is odd in a query percent-encoded."""
    if choose.random() < 0.1:
        return first
    where, _, query = first.partition(b"?")
    if where not in _routes():
        where = choose.choice(_routes())
    return where + (b"?" + quote(query, safe="&=%").encode() if query else b"")


@cache
def _routes() -> list[bytes]:
    return [request.split(b"\n")[0].partition(b"?")[0] for request in _requests()]


def _ask(server: Server, first: bytes, headers: list[bytes], body: bytes) -> tuple[int, bytes, bytes]:
    given = [
        first.rstrip(b"\r") + b" HTTP/1.1",
        b"Host: 127.0.0.1:%d" % server.port,
        b"Authorization: Bearer " + server.token.encode(),
        b"Connection: close",
        b"Content-Length: %d" % len(body),
        *(line.rstrip(b"\r") for line in headers),
    ]
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as connection:
        connection.sendall(b"\r\n".join(given) + b"\r\n\r\n" + body)
        answer = b""
        while piece := connection.recv(1 << 16):
            answer += piece
    head, _, said = answer.partition(b"\r\n\r\n")
    assert head, "no answer"
    return int(head.split(b" ", 2)[1]), head, _unchunked(said) if b"chunked" in head.lower() else said


_HTTP_TOKENS = (
    *_JSON, b"GET ", b"POST ", b"PUT ", b"DELETE ", b"PATCH ", b"%00", b"%ff", b"..", b"/", b"?", b"&", b"=",
    b"limit=-1", b"after=99999999999999999999", b"surface=telegram", b"width=0", b"Origin: http://e.x\n",
    b"Sec-Fetch-Site: cross-site\n", b"Cookie: a=b\n", b"Content-Type: text/plain\n",
    b'"renderSpec":{"collapsed":{"title":"x"}}', b'{"type":"error"}', b"format=html", b"regex=true", b"q=(",
)  # fmt: skip


def _unchunked(data: bytes) -> bytes:
    out = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        out, data = out + data[:length], data[length + 2 :]
    return out


def _requests() -> Iterator[bytes]:
    """Every operation of the interface, with its examples."""
    for path, operations in json.loads(document("http://127.0.0.1"))["paths"].items():
        where = path.replace("{conversation_id}", "CONVERSATION").replace("{client_id}", "c").replace("{tool}", "t")
        where = where.replace("{row_id}", "r").replace("{asset_id}", "a")
        for method, said in operations.items():
            query = "&".join(
                f"{parameter['name']}={parameter.get('example', 1)}"
                for parameter in said.get("parameters", ())
                if parameter["in"] == "query"
            )
            content = said.get("requestBody", {}).get("content", {}).get("application/json", {})
            body = json.dumps(content["example"]) if "example" in content else ""
            yield f"{method.upper()} {where}{'?' + query if query else ''}\n\n{body}".encode()


# WebSocket


def socket_target(live: Live) -> Target:
    def check(data: bytes) -> None:
        """Messages, one a line; bytes that are no UTF-8 are a binary message."""
        url = f"ws://127.0.0.1:{live.server.port}/v1/ws"
        headers = {"Authorization": f"Bearer {live.server.token}"}
        end = secrets.token_hex(4)
        with connect(url, additional_headers=headers, max_size=None, compression=None, proxy=None) as peer:
            peer.send('{"type":"hello","client_id":"fuzz"}')
            for line in data.replace(b"CONVERSATION", live.conversation.encode()).split(b"\n"):
                try:
                    peer.send(line.decode())
                except UnicodeDecodeError:
                    peer.send(line)
            peer.send(json.dumps({"type": "ping", "id": end}))
            try:
                while (said := json.loads(peer.recv(PATIENCE))).get("id") != end:
                    if said["type"] == "error":
                        error = said.get("error", said)
                        assert error["code"] != "internal", said
                        assert error["message"].strip(), said
            except ConnectionClosed as closed:
                raise AssertionError(f"the socket was closed: {closed}") from closed
        live.check()

    return Target(
        "websocket",
        check,
        "the socket stays, and answers; an error says its code and what is wrong; nothing in stderr or log",
        _SOCKET_TOKENS,
        lambda: [json.dumps({"type": kind, **fields}).encode() for kind, fields in _SAID.items()],
        3000,
    )


_SAID: dict[str, dict[str, Any]] = {
    "hello": {"client_id": "b", "terminal_width": 40},
    "subscribe": {
        "conversation_id": "CONVERSATION",
        "channels": ["rows", "screen", "blocks"],
        "surface": "html",
        "after": 0,
        "epoch": "x",
    },
    "unsubscribe": {"conversation_id": "CONVERSATION"},
    "client_config": {"terminal_width": 30, "presentation": {"client_type": "web"}, "primary": True},
    "take_keyboard": {"conversation_id": "CONVERSATION"},
    "release_keyboard": {"conversation_id": "CONVERSATION"},
    "input": {"conversation_id": "CONVERSATION", "data": ": x", "paste": True},
    "ping": {"id": 1},
}

_SOCKET_TOKENS = (
    *_JSON, *(f'"type":"{kind}"'.encode() for kind in _SAID), b'"conversation_id":"CONVERSATION"',
    b'"channels":["screen"]', b'"surface":"slack"', b'"keys":["Up*1000"]', b'"data":"\\u0003"', b'"terminal_width":0',
    b'"presentation":{}', b"\n",
)  # fmt: skip


# MCP


def mcp_target(live: Live) -> Target:
    path = socket_path(str(live.server.home), "mcp.sock")

    def check(data: bytes) -> None:
        """Messages, one a line, behind a handshake."""
        conversation = live.conversation
        hello = {"token": live.server.token, "conversation": conversation, "tools": "all"}
        end = secrets.token_hex(4)
        lines = [_rewritten(line) for line in data.replace(b"CONVERSATION", conversation.encode()).split(b"\n")]
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(PATIENCE)
            peer.connect(path)
            peer.sendall(
                b"\n".join([json.dumps(hello).encode(), *_HANDSHAKE, *lines, _message("ping", id=end).encode(), b""])
            )
            with peer.makefile("rb") as answers:
                assert json.loads(answers.readline())["ok"]
                for line in answers:
                    said = json.loads(line)
                    if said.get("id") == end:
                        break
                    if "error" in said:
                        assert said["error"]["code"] != _INTERNAL, said
                        assert said["error"]["message"].strip(), said
                else:
                    raise AssertionError("the pipe was closed")
        live.check()

    return Target(
        "mcp",
        check,
        "the pipe stays, and answers; no internal error; an error says what is wrong; nothing in stderr or log",
        _MCP_TOKENS,
        lambda: list(_calls()),
        4000,
    )


_INTERNAL = -32603


def _message(method: str, **more: Any) -> str:
    params = {"params": more.pop("params")} if "params" in more else {}
    return json.dumps({"jsonrpc": "2.0", **more, "method": method, **params})


_HANDSHAKE = [
    _message(
        "initialize",
        id=0,
        params={"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
    ).encode(),
    _message("notifications/initialized").encode(),
]

_MCP_TOKENS = (
    *_JSON, b'"method":"tools/call"', b'"params":{', b'"arguments":{', b'"id":1', b'"name":"pty_status"', b"\n",
    b'"_meta":{"progressToken":1}', b'"jsonrpc":"2.0"', b'"method":"notifications/cancelled"',
)  # fmt: skip


def _calls() -> Iterator[bytes]:
    for method in ("tools/list", "ping", "prompts/list", "resources/list", "logging/setLevel", "completion/complete"):
        yield _message(method, id=1).encode()
    arguments: dict[str, dict[str, Any]] = {
        "pty_exec_block": {"command": ": x", "timeout_ms": 5, "max_output": 100},
        "pty_exec_interactive": {"command": "read x"},
        "pty_send": {"data": "x", "paste": True},
        "pty_keys": {"keys": ["Up*3", "C-c"]},
        "pty_wait_for": {"match": {"any": [{"text": "x"}, {"prompt": True}]}, "timeout_ms": 5},
        "pty_status": {},
        "pty_mouse": {"action": "click", "row": 1, "col": 1},
        "pty_resize": {"cols": 80, "rows": 24},
        "pty_read_screen": {"style": True},
        "pty_read_spool": {"from_cursor": 0, "max_bytes": 100},
        "pty_read_raw": {"from_offset": 0, "max_bytes": 100},
        "pty_read_scrollback": {"from_line": 0, "limit": 10},
        "pty_blocks": {"after": 0, "limit": 5},
        "pty_read_block": {"block_id": "b", "max_output": 10, "part": "tail"},
        "pty_search": {"query": "x", "regex": True},
        "pty_end_session": {"session_id": "s"},
    }
    for name, given in arguments.items():
        yield _message("tools/call", id=2, params={"name": name, "arguments": given}).encode()
    yield _message("notifications/cancelled", params={"requestId": 1, "reason": "x"}).encode()


# The PTY host


def host_target(home: Path, client: Callable[..., Client]) -> Target:
    folder = str(home / "conversations" / "t" / "agent_pty")

    def check(data: bytes) -> None:
        """Requests, one a line, behind a hello."""
        lines = [line for line in data.replace(b"HOME", str(home).encode()).split(b"\n") if _allowed(line, home)]
        end = secrets.token_hex(4)
        peer = client()
        peer.socket.sendall(b"\n".join([*lines, protocol.encode({"id": end, "op": "list"})]))
        greeted_anew = any(b"hello" in line for line in lines)  # an unknown version ends the connection
        while line := peer._file.readline():
            said = json.loads(line)
            if said.get("id") == end:
                break
            if not said.get("ok", True):
                assert said["error"] in set(protocol.Code) - {protocol.Code.INTERNAL}, said
                assert said["message"].strip(), said
                assert len(line) < 2000 + 10 * len(data)
        else:
            assert greeted_anew, "the host closed the connection"
        peer.close()
        log = home / "host.log"
        assert not log.exists() or log.read_text() == "", log.read_text()

    program = {"argv": ["/bin/cat"], "env": {"PATH": "/none", MARK: str(home)}, "cwd": "/", "cols": 80, "rows": 24}
    asked: dict[str, dict[str, Any]] = {
        "open": {"terminal": "t", "folder": folder, **program, "record": {"x": 1}},
        "attach": {"terminal": "t", "folder": folder},
        "detach": {"terminal": "t"},
        "input": {"terminal": "t", "data": "eAo=", "check": "none", "timeout_ms": 5, "record": {"t": "x"}},
        "reply": {"terminal": "t", "data": "eA==", "query": 3},
        "resize": {"terminal": "t", "cols": 40, "rows": 10},
        "interrupt": {"terminal": "t"},
        "signal": {"terminal": "t", "signal": 28, "target": "foreground"},
        "state": {"terminal": "t"},
        "journal": {"terminal": "t", "record": {"t": "x"}},
        "kill": {"terminal": "t", "grace_ms": 5},
        "punch": {"terminal": "t", "start": 0, "end": 1, "why": "x"},
        "forget": {"terminal": "t"},
        "list": {},
        "hello": {"protocol": 1},
    }
    return Target(
        "host",
        check,
        "every request is answered, never with an internal error; an error says what is wrong; nothing in its log",
        (*_JSON, *(f'"op":"{name}"'.encode() for name in asked), b'"terminal":"t"', b'"id":', b"\n"),
        lambda: [json.dumps({"id": 1, "op": name, **fields}).encode() for name, fields in asked.items()],
        4000,
    )


def _allowed(line: bytes, home: Path) -> bool:
    """Not what would write or run something outside of the test: the host does what it is told."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return True
    if not isinstance(said, dict):
        return True
    folder, argv = said.get("folder"), said.get("argv")
    if isinstance(folder, str) and folder.startswith("/") and not folder.startswith(str(home)):
        return False
    if isinstance(folder, str) and ".." in folder:
        return False
    program = argv[0] if isinstance(argv, list) and argv else None
    return not isinstance(program, str) or program == "/bin/cat" or "\0" in program or not shutil.which(program)
