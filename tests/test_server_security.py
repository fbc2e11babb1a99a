"""Who may ask what: tokens, cookies, names, origins, sizes, rates; and what must never be written down."""

import json
import re
import socket
import stat
import subprocess
from contextlib import closing

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from server_home import serving
from terminal_home import PATIENCE, environment
from terminals import VANTAGE
from vantage.server.auth import LINK_S, Auth
from vantage.server.limits import Bucket
from vantage.server.routes import ROUTES
from vantage.server.tokens import Tokens

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
    """A token that only watches."""
    made = json.loads(vantage("token", "new", "--read-only", "--json", "--home", str(server.home)))
    yield made
    vantage("token", "revoke", made["id"], "--home", str(server.home))


def log_in(server, **fields):
    answer = server.post("/login", fields, token="")
    return answer, (answer.headers["Set-Cookie"] or "").partition(";")[0]


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


def test_who_only_watches(server, reader):
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
            *[("POST", f"{base}/pty/{verb}") for verb in ("exec_block", "send", "keys", "ctrl_c", "reset", "resize")],
        ]:
            answer = server.ask(method, path, {"command": "true"}, token=token)
            assert (answer.status, answer.code) == (403, "read_only"), path


def test_a_token_ends_when_it_is_revoked(server):
    home = ("--home", str(server.home))
    made = json.loads(vantage("token", "new", "--name", "short", "--json", *home))
    assert server.get("/v1/tools", token=made["token"]).status == 200
    _, cookie = log_in(server, token=made["token"])
    assert server.get("/v1/tools", token="", headers={"Cookie": cookie}).status == 200
    assert "short" in vantage("token", "ls", *home)
    vantage("token", "revoke", "short", *home)
    assert server.get("/v1/tools", token=made["token"]).status == 401
    assert server.get("/v1/tools", token="", headers={"Cookie": cookie}).status == 401


def test_only_hashes_of_tokens_are_kept(server, reader):
    kept = (server.home / "tokens.json").read_text()
    assert reader["id"] in kept
    assert reader["token"] not in kept


def test_an_empty_token_file_lets_nobody_in(tmp_path):
    (tmp_path / "token").write_text("")
    tokens = Tokens(tmp_path)
    assert tokens.scope("") is None
    assert tokens.scope(tokens.main) == "full"
    assert Tokens(tmp_path).main == tokens.main


# links and cookies


def link(server):
    return server.post("/v1/links").json["url"].partition("#")[2]


def test_the_printed_line_is_a_link_that_works_once(private_home):
    with serving(private_home) as server:
        url, _, secret = server.line.strip().partition("#")
        assert url == f"{server.url}/login"
        answer, cookie = log_in(server, secret=secret)
        assert (answer.status, answer.json) == (200, {"ok": True, "scope": "full"})
        attributes = set(answer.headers["Set-Cookie"].split("; ")[1:])
        assert {"HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=2592000"} == attributes
        assert cookie.startswith(f"vantage_{server.port}=")
        assert server.get("/v1/conversations", token="", headers={"Cookie": f"a=b; {cookie}"}).status == 200
        again, _ = log_in(server, secret=secret)
        assert (again.status, "vantage open" in again.json["error"]["hint"]) == (401, True)
        server.stop()
        server.start()
        assert server.get("/v1/tools", token="", headers={"Cookie": cookie}).status == 200, "it survives a restart"


def test_open_prints_a_link(server):
    url = vantage("open", "--home", str(server.home)).strip()
    answer, _ = log_in(server, secret=url.partition("#")[2])
    assert answer.status == 200


def test_a_link_is_for_ten_minutes(tmp_path):
    now = 1000.0
    auth = Auth(Tokens(tmp_path), 1, clock=lambda: now)
    first, second = auth.link("main")[0], auth.link("main")[0]
    now += LINK_S - 1
    assert auth.redeem(first) is not None
    now += 1
    assert auth.redeem(second) is None


def test_a_session_is_for_thirty_days(tmp_path):
    now = 1000.0
    tokens = Tokens(tmp_path)
    auth = Auth(tokens, 1, clock=lambda: now)
    cookie = auth.session(tokens.identify(tokens.main)).partition(";")[0]
    now += 30 * 24 * 3600 - 1
    assert auth.of_cookies(cookie) is not None
    now += 1
    assert auth.of_cookies(cookie) is None


def test_a_cookie_cannot_be_made_up(server):
    _, cookie = log_in(server, secret=link(server))
    name, _, value = cookie.partition("=")
    whose, until, nonce, signature = value.split(".")
    for forged in (
        f"{name}={whose}.{int(until) + 1}.{nonce}.{signature}",
        f"{name}={whose}.{until}.{nonce}.{signature[:-1]}",
        f"{name}=",
        f"{name}=main",
        f"{name}=....",
        f"vantage_1={value}",
    ):
        assert server.get("/v1/tools", token="", headers={"Cookie": forged}).status == 401, forged


def test_logging_out_takes_the_cookie_away(server):
    answer = server.ask("DELETE", "/login", token="")
    assert answer.headers["Set-Cookie"].startswith(f"vantage_{server.port}=; Path=/; Max-Age=0")


def test_a_cookie_is_for_the_servers_own_page_only(server):
    _, cookie = log_in(server, secret=link(server))
    for site, status in (("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)):
        headers = {"Cookie": cookie, "Sec-Fetch-Site": site}
        assert server.get("/v1/tools", token="", headers=headers).status == status, site


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


def test_a_socket_with_a_cookie_or_a_token(server):
    _, cookie = log_in(server, secret=link(server))
    for headers in ({"Cookie": cookie}, {"Authorization": f"Bearer {server.token}"}):
        with connect(f"ws://127.0.0.1:{server.port}/v1/ws", additional_headers=headers, proxy=None) as ws:
            ws.send(json.dumps({"type": "hello", "client_id": "c"}))
            assert json.loads(ws.recv(PATIENCE))["type"] == "welcome"


# what every answer has


@pytest.mark.parametrize("path", ["/", "/login", "/static/login.js", "/v1/tools", "/nothing", "/healthz"])
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
    assert server.post("/login", b" " * (1 << 17), token="").status == 413, "who has shown nothing gets less room"


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
        _, cookie = log_in(server, secret=secret)
        server.get("/v1/tools", token="", headers={"Cookie": cookie})
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
            cookie.partition("=")[2],
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


def test_who_waits_for_an_answer_or_holds_a_socket_is_not_hurried(private_home):
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
