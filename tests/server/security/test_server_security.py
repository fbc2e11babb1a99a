"""Access to the server: tokens, links, names, origins, sizes, rates; and data that must never be logged."""

import json
import re
import socket
import stat
import subprocess
from contextlib import closing, suppress

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from home_files import holding
from mcp_clients import Refused, over_http
from server_home import serving
from terminal_home import PATIENCE, environment
from terminals import VANTAGE
from vantage.errors import Unauthorized
from vantage.server.http.routes.static import version
from vantage.server.http.table import ROUTES
from vantage.server.security.auth import LINK_S, Auth
from vantage.server.security.limits import Bucket
from vantage.server.security.tokens import Tokens

GUARDED = [
    ("GET", "/v1/conversations"),
    ("POST", "/v1/conversations"),
    ("GET", "/v1/conversations/x"),
    ("POST", "/v1/conversations/x/pty/exec_block"),
    ("GET", "/v1/search?q=x"),
    ("GET", "/v1/openapi.json"),
    ("POST", "/v1/links"),
    ("GET", "/metrics"),
    ("POST", "/mcp"),
    ("GET", "/mcp"),
    ("GET", "/v1/ws"),
    ("GET", "/nothing"),
]


def vantage(*arguments, **env):
    return subprocess.run(
        [*VANTAGE, *arguments], capture_output=True, text=True, env=environment(**env), timeout=PATIENCE, check=True
    ).stdout


@pytest.fixture
def reader(server):
    """A read-only token."""
    made = json.loads(vantage("token", "new", "--read-only", "--json", "--home", str(server.home)))
    yield made
    vantage("token", "revoke", made["id"], "--home", str(server.home))


def log_in(server, **fields):
    answer = server.post("/login", fields, token="")
    return answer, answer.json.get("token", "")


# tokens


@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_nothing_without_a_token(server, method, path):
    answer = server.ask(method, path, token="")
    assert (answer.status, answer.code, answer.headers["WWW-Authenticate"]) == (401, "unauthorized", "Bearer")
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("shown", ["wrong", "Bearer", "Bearer wrong", "Basic eDp5", "bearer  ", "Bearer \xff"])
def test_nothing_with_a_wrong_token(server, shown):
    answer = server.get("/v1/conversations", token="", headers={"Authorization": shown})
    assert answer.status in (401, 429)
    assert server.get("/v1/conversations").status == 200, "the right one is never locked out"


def test_every_door_to_data_is_guarded(server):
    for route in ROUTES:
        path = re.sub(r"\{\w+\}", "x", route.path)
        answer = server.ask(route.method, path, token="")
        assert answer.status == (200 if route.open else 401), path


@pytest.mark.parametrize("path", ["/static/../v1/tools", "/static/%2e%2e/v1/tools", "/login/../v1/tools", "//v1/tools"])
def test_no_open_door_leads_to_a_guarded_one(server, path):
    answer = server.get(path, token="")
    assert answer.status in (401, 404)


def test_the_private_socket_needs_the_token_too(server):
    assert server.get("/v1/conversations", unix=True, token="").status == 401
    assert server.get("/v1/conversations", unix=True, headers={"Host": "whatever"}).status == 200


def test_two_tokens_at_once_are_one_too_many(server):
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as line:
        head = f"Authorization: Bearer {server.token}\r\nAuthorization: Bearer wrong\r\n"
        line.sendall(f"GET /v1/tools HTTP/1.1\r\nHost: localhost\r\n{head}\r\n".encode())
        assert line.recv(100).startswith(b"HTTP/1.1 400 ")


def test_a_read_only_token_can_watch_but_not_act(server, reader):
    token = reader["token"]
    with server.conversation() as made:
        server.pty(made, "exec_block", command="echo seen")
        base = f"/v1/conversations/{made}"
        for path in ("", "/events", "/rows", "/instructions", "/tools", "/export?format=text"):
            assert server.get(base + path, token=token).status == 200, path
        assert server.post("/v1/preview", {"spec": {}}, token=token).status == 200
        for verb in ("status", "read_screen", "blocks", "read_spool"):
            assert server.post(f"{base}/pty/{verb}", {}, token=token).status == 200, verb
        for method, path in [
            ("POST", "/v1/conversations"),
            ("DELETE", base),
            ("PATCH", base),
            ("POST", f"{base}/close"),
            ("POST", f"{base}/events"),
            ("PUT", f"{base}/clients/me"),
            ("PUT", f"{base}/tools/x"),
            ("PUT", "/v1/tools/x"),
            ("POST", "/v1/links"),
            ("POST", "/mcpx"),
            *[("POST", f"{base}/pty/{verb}") for verb in ("exec_block", "send", "keys", "ctrl_c", "reset", "resize")],
        ]:
            answer = server.ask(method, path, {"command": "true"}, token=token)
            assert (answer.status, answer.code) == (403, "read_only"), path


def test_a_token_ends_when_it_is_revoked(server):
    home = ("--home", str(server.home))
    made = json.loads(vantage("token", "new", "--name", "short", "--json", *home))
    assert server.get("/v1/tools", token=made["token"]).status == 200
    _, session = log_in(server, token=made["token"])
    assert server.get("/v1/tools", token=session).status == 200
    assert "short" in vantage("token", "ls", *home)
    vantage("token", "revoke", "short", *home)
    assert server.get("/v1/tools", token=made["token"]).status == 401
    assert server.get("/v1/tools", token=session).status == 401


def test_only_hashes_of_tokens_are_kept(server, reader):
    kept = (server.home / "tokens.json").read_text()
    assert reader["id"] in kept
    assert reader["token"] not in kept
    _, session = log_in(server, token=reader["token"])
    kept = (server.home / "tokens.json").read_text()
    assert server.get("/v1/tools", token=session).status == 200
    assert session not in kept and session.removeprefix("vantage_session_") not in kept


def test_an_empty_token_file_is_replaced_by_a_new_token(tmp_path):
    (tmp_path / "token").write_text("")
    tokens = Tokens(tmp_path)
    assert tokens.scope("") is None
    assert tokens.scope(tokens.main) == "full"
    assert Tokens(tmp_path).main == tokens.main


# links


def link(server):
    return server.post("/v1/links").json["url"].partition("#")[2]


def test_the_printed_line_is_a_link_that_works_once(private_home):
    with serving(private_home) as server:
        url, _, secret = server.line.strip().partition("#")
        assert url == f"{server.url}/login"
        answer, session = log_in(server, secret=secret)
        assert (answer.status, answer.json["scope"]) == (200, "full")
        assert server.get("/v1/conversations", token=session).status == 200
        again, _ = log_in(server, secret=secret)
        assert (again.status, "vantage open" in again.json["error"]["hint"]) == (401, True)
        server.stop()
        server.start()
        assert server.get("/v1/tools", token=session).status == 200, "it survives a restart"


def test_open_prints_a_link(server):
    url = vantage("open", "--home", str(server.home)).strip()
    answer, _ = log_in(server, secret=url.partition("#")[2])
    assert answer.status == 200


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_a_previewer_does_not_use_a_link_up(server, method):
    secret = link(server)
    for path in ("/login", f"/login?secret={secret}", f"/login/{secret}"):
        server.ask(method, path, token="")
    assert log_in(server, secret=secret)[0].status == 200


def test_whether_a_link_was_used(server):
    made = server.post("/v1/links").json
    asked = f"/v1/links/{made['id']}"
    assert server.get(asked).json == {"ok": True, "used": False, "expires": made["expires"]}
    log_in(server, secret=made["url"].partition("#")[2])
    assert server.get(asked).json["used"] is True
    assert server.get("/v1/links/none").status == 404


def test_a_link_is_for_ten_minutes(tmp_path):
    now = 1000.0
    auth = Auth(Tokens(tmp_path), clock=lambda: now)
    (_, first), (_, second) = auth.make_link("main"), auth.make_link("main")
    now += LINK_S - 1
    assert auth.redeem(first).id == "main"
    now += 1
    with pytest.raises(Unauthorized):
        auth.redeem(second)


# names and origins


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "[::1].evil.example", "127.0.0.1.x", "", "a:b"]
)
def test_a_foreign_name_is_refused(server, host):
    for path in ("/", "/healthz", "/login", "/v1/conversations"):
        answer = server.get(path, headers={"Host": host})
        assert (answer.status, answer.code) == (403, "forbidden")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST", "localhost."])
def test_our_own_names_are_not(server, host):
    for name in (host, f"{host}:{server.port}", f"{host}:1"):
        assert server.get("/healthz", headers={"Host": name}).status == 200, name


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost:1", "https://localhost", "file://", "http://127.0.0.1"]
)
def test_a_foreign_page_is_refused(server, origin):
    for method, path in (("GET", "/v1/tools"), ("POST", "/login"), ("POST", "/mcp"), ("OPTIONS", "/v1/tools")):
        answer = server.ask(method, path, headers={"Origin": origin})
        assert (answer.status, answer.code) == (403, "forbidden")
        assert not [name for name in answer.headers if name.lower().startswith("access-control")]


def test_our_own_page_is_not(server):
    for host in ("localhost", "127.0.0.1", "[::1]"):
        assert server.get("/v1/tools", headers={"Origin": f"http://{host}:{server.port}"}).status == 200


def test_names_and_origins_that_were_configured(private_home):
    (private_home / "config.toml").write_text('hosts = ["box.example"]\norigins = ["https://box.example"]\n')
    with serving(private_home) as server:
        assert server.get("/healthz", headers={"Host": "box.example"}).status == 200
        assert server.get("/v1/tools", headers={"Origin": "https://box.example"}).status == 200
        assert server.get("/v1/tools", headers={"Origin": f"http://box.example:{server.port}"}).status == 200
        assert server.get("/v1/tools", headers={"Origin": "https://other.example"}).status == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"Origin": "http://evil.example"}, 403), ({"Authorization": "Bearer wrong"}, 401)],
    ids=["origin", "token"],
)
def test_a_socket_is_guarded_too(server, headers, status):
    origin = headers.pop("Origin", None)
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://127.0.0.1:{server.port}/v1/ws", additional_headers=headers, origin=origin, proxy=None)
    assert refused.value.response.status_code in (status, 429)


def test_sockets_elsewhere_need_a_token_at_once(server):
    for path in ("/mcp", "/", "/nothing"):
        with pytest.raises(InvalidStatus) as refused:
            connect(f"ws://127.0.0.1:{server.port}{path}", proxy=None)
        assert refused.value.response.status_code == 401


def test_a_socket_for_a_foreign_name(server):
    with pytest.raises(InvalidStatus) as refused, socket.create_connection(("127.0.0.1", server.port)) as line:
        connect("ws://evil.example/v1/ws", sock=line, proxy=None)
    assert refused.value.response.status_code == 403


def test_a_socket_with_a_session_or_a_token(server):
    _, session = log_in(server, secret=link(server))
    for token in (session, server.token):
        with connect(f"ws://127.0.0.1:{server.port}/v1/ws", proxy=None) as ws:
            ws.send(json.dumps({"type": "hello", "client_id": "c", "token": token}))
            assert json.loads(ws.recv(PATIENCE))["type"] == "welcome"


# what every answer has


@pytest.mark.parametrize(
    "path", ["/", "/login", f"/static/{version()}/login/login.js", "/v1/tools", "/nothing", "/healthz"]
)
def test_headers(server, path):
    headers = server.get(path).headers
    policy = headers["Content-Security-Policy"]
    assert policy is None or "unsafe" not in policy
    assert path.startswith("/static") or "default-src 'none'; script-src 'self'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in headers
    assert "Server" not in headers
    if path.startswith("/v1"):
        assert headers["Cache-Control"] == "no-store"


# sizes and rates


def chunked(server, size):
    """The status of a request whose body does not say how long it is."""
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as line:
        head = f"POST /v1/conversations HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.token}\r\n"
        line.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        piece = b"%x\r\n" % (1 << 16) + b" " * (1 << 16) + b"\r\n"
        for _ in range(size // (1 << 16)):
            line.sendall(piece)
        line.sendall(b"0\r\n\r\n")
        return int(line.recv(100).split()[1])


def test_bodies_are_at_most_16_mib(server):
    most = 16 << 20
    assert server.post("/v1/conversations", b" " * (most + 1)).code == "too_large"
    assert server.post("/v1/conversations", b" " * most).code == "bad_input", "this one was read"
    assert chunked(server, most + (1 << 16)) == 413
    assert chunked(server, most) == 400
    assert server.post("/mcp", b" " * (most + 1)).status == 413
    assert server.post("/login", b" " * (1 << 17), token="").status == 413, "a request without a token gets less room"


@pytest.mark.parametrize("length", ["-1", "abc", "99999999999999999999999", "1e3"])
def test_a_length_that_is_none(server, length):
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as line:
        head = f"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
        line.sendall(head.encode())
        assert line.recv(100).split()[1] in (b"400", b"413")


def test_a_head_is_not_endless(server):
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as line:
        line.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 70_000)
        assert line.recv(100).startswith(b"HTTP/1.1 400 ")


def test_wrong_tokens_are_counted_and_right_ones_still_work(private_home):
    with serving(private_home, VANTAGE_LOGIN_LIMIT="3") as server:
        said = [server.get("/v1/tools", token="wrong").status for _ in range(5)]
        assert said == [401, 401, 401, 429, 429]
        answer = server.post("/login", {"secret": "wrong"}, token="")
        assert (answer.status, int(answer.headers["Retry-After"]) > 0) == (429, True)
        assert server.get("/v1/tools").status == 200


def test_a_flood_is_slowed_down(private_home):
    with serving(private_home, VANTAGE_RATE_LIMIT="1") as server:
        answers = [server.get("/healthz") for _ in range(20)]
        last = next(answer for answer in answers if answer.status == 429)
        assert last.headers["Retry-After"] == "1"
        assert server.get("/healthz", unix=True).status == 200, "another place has its own measure"


def test_a_bucket_fills_with_time():
    bucket = Bucket(2, 3)
    assert [bucket.take("a", 0.0) for _ in range(4)] == [0, 0, 0, 1]
    assert bucket.take("b", 0.0) == 0
    assert bucket.take("a", 0.5) == 0
    assert bucket.take("a", 0.5) == 1
    assert [bucket.take("a", 100.0) for _ in range(4)] == [0, 0, 0, 1]
    assert [Bucket(0, 0).take("a", 0.0) for _ in range(3)] == [0, 0, 0]


def test_many_peers_do_not_fill_the_memory():
    bucket = Bucket(1, 1)
    for number in range(5000):
        bucket.take(str(number), 0.0)
    assert len(bucket._left) <= 1000


# what is written down


def test_no_secret_is_in_the_log(private_home):
    with serving(private_home, VANTAGE_LOG_LEVEL="debug") as server:
        secret = server.line.strip().partition("#")[2]
        _, session = log_in(server, secret=secret)
        server.get("/v1/tools", token=session)
        server.get("/v1/search?q=looked-for-this")
        server.get("/v1/tools", token="wrong-token")
        with server.conversation(env=environment(PASSWORD="in-the-environment")) as made:
            server.pty(made, "exec_block", command="echo typed-by-the-agent")
            server.post(f"/v1/conversations/{made}/events", {"type": "user_message", "text": "said-by-a-person"})
            server.post(f"/v1/conversations/{made}/pty/send", '{"data": "broken-body')
        server.stop()
        log = (private_home / "server.log").read_text()
        for line in log.splitlines():
            json.loads(line)
        assert '"/v1/search"' in log
        for word in (
            server.token,
            secret,
            session,
            "wrong-token",
            "looked-for-this",
            "in-the-environment",
            "typed-by-the-agent",
            "said-by-a-person",
            "broken-body",
        ):
            assert word not in log, word


def test_everything_is_private(private_home):
    home = private_home / "home"
    with serving(home) as server, server.conversation() as made:
        server.pty(made, "exec_block", command="true")
        vantage("token", "new", "--home", str(home))
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
        for path in home.rglob("*"):
            with suppress(FileNotFoundError):  # a temporary file that was renamed meanwhile
                mode = stat.S_IMODE(path.stat().st_mode)
                assert mode & 0o077 == 0, (path, oct(mode))


# requests that do not arrive

HALVES = {
    "nothing": b"",
    "half a line": b"GET /healthz HT",
    "a second head": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\nHost:",
    "half a body": b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
}


def until_closed(server, begun=b""):
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as line:
        line.sendall(begun)
        while line.recv(1000):
            pass


def test_a_request_that_does_not_arrive_is_not_waited_for(private_home):
    with serving(private_home, VANTAGE_REQUEST_WAIT="0.2") as server:
        for begun in HALVES.values():
            until_closed(server, begun)
        assert server.get("/healthz").status == 200


def test_the_request_timeout_does_not_apply_to_long_answers_and_sockets(private_home):
    with (
        serving(private_home, VANTAGE_REQUEST_WAIT="0.2") as server,
        server.conversation() as conversation,
        closing(server.connection()) as line,
    ):
        head = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
        asked = json.dumps({"command": "read answer; echo got $answer", "timeout_ms": 60_000})
        line.request("POST", f"/v1/conversations/{conversation}/pty/exec_block", asked, head)
        while server.pty(conversation, "status")["mode"] != "block_running":
            pass
        with connect(f"ws://127.0.0.1:{server.port}/v1/ws", additional_headers=head, proxy=None) as held:
            until_closed(server)  # longer than a request may take to arrive
            server.pty(conversation, "send", data="it\n")
            assert json.loads(line.getresponse().read())["output"].endswith("got it\n")
            held.send(json.dumps({"type": "hello", "client_id": "ada"}))
            assert json.loads(held.recv(PATIENCE))["type"] == "welcome"


# what is logged from outside

SECRET_CALL = {
    "type": "tool_start",
    "tool": "vantage.ptySend",
    "toolCallId": "1",
    "args": {"data": "hunter2\n", "secret": True},
}
SECRET_RESULT = {"type": "tool_end", "toolCallId": "of no call", "output": "typed hunter2"}
FORGED = [
    {"type": "agent_block_begin", "block_id": "b1", "cmd": "rm -rf /"},
    {"type": "agent_block_end", "block_id": "b1", "exit_code": 0},
    {"type": "agent_block_delta", "block_id": "b1", "text": "done"},
    {"type": "pty_state", "mode": "idle", "awaiting_secret": True, "keyboard": "client:eve"},
    {"type": "pty_gap", "from": 0, "to": 1 << 40, "why": "old"},
    {"type": "screen_delta", "rows": [{"row": 0, "text": "password:"}]},
    {"type": "request", "request_id": "r1", "title": "Allow?"},
    {"type": "answer", "request_id": "r1", "option": "allow"},
    {"type": "request_closed", "request_id": "r1", "why": "expired"},
    {"type": "agent_state", "state": "waiting"},
]


def test_secret_calls_are_logged_without_their_secret(server):
    with server.conversation() as made:
        base = f"/v1/conversations/{made}"
        assert server.post(f"{base}/events", SECRET_CALL).status == 200
        assert server.post(f"{base}/events", [SECRET_RESULT]).status == 200
        ways = [server.get(base + path).body for path in ("/events", "/rows?surface=html", "/export?format=text")]
        assert not any(b"hunter2" in way for way in ways)
        assert holding(server.home / "conversations" / made, "hunter2") == []
        assert ways[0].count(b"[redacted]") == 2


@pytest.mark.parametrize("event", FORGED, ids=lambda event: event["type"])
def test_events_of_terminals_are_refused_from_clients(server, event):
    with server.conversation() as made:
        path = f"/v1/conversations/{made}/events"
        for sent in (event, [{"type": "user_message", "text": "x"}, event]):
            answer = server.post(path, sent)
            assert (answer.status, answer.code) == (400, "bad_input"), answer.body
            assert event["type"] in answer.json["error"]["message"]
            assert "leave it out" in answer.json["error"]["hint"]
        assert server.get(path).json["events"] == [], "a list is logged whole or not at all"


async def test_an_agent_cannot_make_it_up_either(server):
    with server.conversation() as made:
        async with over_http(server, f"?tools=all&conversation={made}") as agent:
            for event in FORGED:
                with pytest.raises(Refused, match=event["type"]):
                    await agent.call("timeline_emit", events=[event])
            await agent.call("timeline_emit", events=[SECRET_CALL, SECRET_RESULT])
        assert b"hunter2" not in server.get(f"/v1/conversations/{made}/events").body
