"""Sessions of browsers over HTTP: what lets one in, what ends it, and that nothing else does."""

import base64
import json
import os
import socket
import subprocess
import sys

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from command_line import CommandLine
from server_home import serving
from terminal_home import PATIENCE
from vantage.errors import Forbidden, Unauthorized
from vantage.server.security.auth import Auth
from vantage.server.security.devices import device
from vantage.server.security.peers import peer_uid
from vantage.server.security.tokens import MAX_SESSIONS, Tokens

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
OTHER_USER = 65534


def log_in(server, agent=FIREFOX, **fields):
    answer = server.post("/login", fields or {"token": server.token}, token="", headers={"User-Agent": agent})
    assert answer.status == 200, answer.body
    return answer.json


def link(server):
    return server.post("/v1/links").json["url"].partition("#")[2]


def sessions(server, token=None):
    return {each["id"]: each for each in server.get("/v1/sessions", token=token).json["sessions"]}


# what authenticates


def test_nothing_that_a_browser_sends_by_itself_lets_in(server):
    """Cookies of any name, and Basic passwords: a browser repeats both without being asked."""
    session = log_in(server)["token"]
    for value in (session, server.token):
        basic = base64.b64encode(f"vantage:{value}".encode()).decode()
        for headers in (
            {"Cookie": f"vantage_{server.port}={value}"},
            {"Cookie": f"vantage-session={value}; token={value}; Authorization={value}"},
            {"Authorization": f"Basic {basic}"},
            {"Proxy-Authorization": f"Bearer {value}"},
        ):
            assert server.get("/v1/tools", token="", headers=headers).status in (401, 429), headers
        assert server.get(f"/v1/tools?token={value}&access_token={value}", token="").status == 401
    assert server.get("/v1/tools", token=session).status == 200


def test_a_cookie_opens_no_socket(server):
    session = log_in(server)["token"]
    headers = {"Cookie": f"vantage_{server.port}={session}"}
    with connect(f"ws://127.0.0.1:{server.port}/v1/ws", additional_headers=headers, proxy=None) as ws:
        ws.send(json.dumps({"type": "hello", "client_id": "c"}))
        with pytest.raises(ConnectionClosed) as closed:
            ws.recv(PATIENCE)
    assert closed.value.rcvd.code == 4401


@pytest.mark.parametrize("path", ["/", "/login", "/gallery"])
def test_cookies_of_an_older_version_are_cleared(server, path):
    old = {"Cookie": f"a=b; vantage_{server.port}=main.1.2.3"}
    cleared = server.get(path, token="", headers=old).headers["Set-Cookie"]
    assert cleared.startswith(f"vantage_{server.port}=; Path=/; Max-Age=0;")
    assert server.get(path, token="").headers["Set-Cookie"] is None
    for answer in (server.post("/login", {"token": server.token}, token=""), server.ask("DELETE", "/login", token="")):
        assert (answer.status, answer.headers["Set-Cookie"]) == (200, None)


# what ends it


def test_logging_out_ends_the_session_on_the_server(server):
    first, second = log_in(server), log_in(server)
    with connect(f"ws://127.0.0.1:{server.port}/v1/ws", proxy=None) as ws:
        ws.send(json.dumps({"type": "hello", "client_id": "c", "token": first["token"]}))
        assert json.loads(ws.recv(PATIENCE))["type"] == "welcome"
        assert server.ask("DELETE", "/login", token=first["token"]).status == 200
        assert server.get("/v1/tools", token=first["token"]).status == 401
        with pytest.raises(ConnectionClosed):
            ws.send(json.dumps({"type": "ping"}))
            ws.recv(PATIENCE)
    assert server.get("/v1/tools", token=second["token"]).status == 200


def test_logging_out_with_a_token_ends_no_token(server):
    for token in (server.token, "wrong", ""):
        assert server.ask("DELETE", "/login", token=token).status == 200
    assert server.get("/v1/tools").status == 200


def test_sessions_are_listed_by_device_and_ended(server):
    mine, other = log_in(server), log_in(server, "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Safari/604.1")
    known = sessions(server, mine["token"])
    assert (known[mine["id"]]["device"], known[mine["id"]]["current"]) == ("Firefox on Linux", True)
    assert (known[other["id"]]["device"], known[other["id"]]["current"]) == ("Safari on iPhone", False)
    assert known[other["id"]]["expires"] == other["expires"]
    assert not {mine["token"], other["token"]} & set(json.dumps(known).split('"'))
    assert server.ask("DELETE", f"/v1/sessions/{other['id']}", token=mine["token"]).status == 200
    assert server.get("/v1/tools", token=other["token"]).status == 401
    assert other["id"] not in sessions(server)
    again = server.ask("DELETE", f"/v1/sessions/{other['id']}")
    assert (again.status, again.code) == (404, "not_found")


def test_a_token_is_no_session(server):
    known, token = Tokens(server.home).new("not a browser")
    assert known.id not in sessions(server)
    assert server.ask("DELETE", f"/v1/sessions/{known.id}").status == 404
    assert server.get("/v1/tools", token=token).status == 200
    Tokens(server.home).revoke(known.id)


def test_a_read_only_token_lists_its_own_sessions_only(server):
    known, token = Tokens(server.home).new(scope="read")
    others, mine = log_in(server), log_in(server, token=token)
    assert mine["scope"] == "read"
    for shown in (token, mine["token"]):
        assert set(sessions(server, shown)) == {mine["id"]}
    assert server.ask("DELETE", f"/v1/sessions/{others['id']}", token=mine["token"]).status == 403
    assert server.ask("DELETE", "/login", token=mine["token"]).status == 200
    assert server.get("/v1/tools", token=mine["token"]).status == 401
    Tokens(server.home).revoke(known.id)


def test_the_command_line_lists_and_ends_sessions(server):
    vantage = CommandLine(server.home)
    session = log_in(server)
    line = next(line for line in vantage("token", "ls").splitlines() if line.startswith(session["id"]))
    assert "Firefox on Linux" in line and "until" in line
    listed = {each["id"]: each for each in json.loads(vantage("token", "ls", "--json"))}
    assert listed[session["id"]]["expires"] == session["expires"]
    assert vantage("token", "revoke", session["id"]) == f"Logged out {session['id']} (Firefox on Linux).\n"
    assert server.get("/v1/tools", token=session["token"]).status == 401


def test_a_session_ends_after_the_configured_days(tmp_path):
    now = 1000.0
    tokens = Tokens(tmp_path, clock=lambda: now)
    _, secret = Auth(tokens, days=2, clock=lambda: now).new_session(tokens.identify(tokens.main), "here")
    now += 2 * 24 * 3600 - 1
    assert tokens.identify(secret) is not None
    assert len(tokens.sessions()) == 1
    now += 1
    assert tokens.identify(secret) is None
    assert tokens.sessions() == []


def test_the_days_are_a_setting(private_home):
    with serving(private_home, VANTAGE_SESSION_DAYS="3") as server:
        session = log_in(server)
        made = sessions(server)[session["id"]]["created"]
        assert session["expires"] - made == 3 * 24 * 3600 * 1000


def test_a_session_ends_with_what_it_was_made_with(server):
    """A link that a session asked for makes a session that ends with it, and no later."""
    first = log_in(server)
    url = server.post("/v1/links", token=first["token"]).json["url"]
    second = log_in(server, secret=url.partition("#")[2])
    assert second["expires"] <= first["expires"]
    assert server.get("/v1/tools", token=second["token"]).status == 200
    server.ask("DELETE", "/login", token=first["token"])
    assert server.get("/v1/tools", token=second["token"]).status == 401


def test_sessions_end_when_the_homes_token_is_made_anew(private_home):
    with serving(private_home) as server:
        session = log_in(server)["token"]
        server.stop()
        (private_home / "token").unlink()
        server.start()
        assert server.get("/v1/tools", token=session).status == 401
        assert server.get("/v1/tools").status == 200


def test_a_made_up_session_is_none(server):
    session = log_in(server)
    for forged in (session["token"][:-1], session["token"] + "a", session["id"], "vantage_session_", ""):
        answer = server.get("/v1/tools", token="", headers={"Authorization": f"Bearer {forged}"})
        assert answer.status in (401, 429), forged


def test_sessions_do_not_grow_without_end(tmp_path):
    tokens = Tokens(tmp_path)
    main = tokens.identify(tokens.main)
    kept, _ = tokens.new("kept")
    (tmp_path / "tokens.json").write_text(
        json.dumps(
            [{"id": kept.id, "name": kept.name, "hash": kept.hash}]
            + [
                {"id": f"s{n}", "parent": "main", "parent_hash": main.hash, "expires": 1 << 50, "created": n}
                for n in range(MAX_SESSIONS)
            ]
        )
    )
    session, _ = tokens.new_session(main, "new", 1000)
    known = [each.id for each in tokens.sessions()]
    assert len(known) == MAX_SESSIONS and known[-1] == session.id and "s0" not in known
    assert [each.id for each in tokens.list()] == [kept.id]


def test_a_full_disk_lets_a_browser_in(tmp_path, monkeypatch):
    """Until the server ends: the session is in memory only."""
    tokens = Tokens(tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("vantage.server.security.tokens.write_atomically", full)
        session, secret = tokens.new_session(tokens.identify(tokens.main), "here", 1000)
        assert tokens.identify(secret) == tokens.by_id(session.id) == session
        assert tokens.sessions() == [session]
    tokens.new("written again")
    assert tokens.identify(secret) == session
    tokens.revoke(session.id)
    assert tokens.identify(secret) is None


# devices

DEVICES = {
    "Chromium on Linux": {"sec-ch-ua": '"Not;A=Brand";v="8", "Chromium";v="150"', "user-agent": "X11; Linux Chrome/1"},
    "Chrome on Windows": {"sec-ch-ua": '"Google Chrome";v="1", "Chromium";v="1"', "user-agent": "Windows NT Chrome/1"},
    "Edge on macOS": {"user-agent": "Macintosh; Intel Mac OS X 10_15 Chrome/150 Safari/537.36 Edg/150.0"},
    "Firefox on Android": {"user-agent": "Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0"},
    "Safari on iPhone": {
        "user-agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18 Safari/604.1"
    },
    "curl": {"user-agent": "curl/8.14.1"},
    "An unknown program": {"user-agent": "\x1b[31m<script>evil</script>"},
}


@pytest.mark.parametrize("name", DEVICES)
def test_a_device_is_named_plainly(name):
    assert device(DEVICES[name]) == name


# which user of this machine redeems a link

REDEEM = """
import encodings.idna, http.client, json, os, sys  # all of it, while it can be read
uid, host, port, secret = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.stdin.read()
os.setgroups([]), os.setgid(uid), os.setuid(uid)
line = http.client.HTTPConnection(host, port, timeout=60)
line.request("POST", "/login", json.dumps({"secret": secret}))
answer = line.getresponse()
print(answer.status, json.loads(answer.read()).get("error", {}).get("code", ""))
"""

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")


def redeemed_by(uid, server, secret, host="127.0.0.1"):
    """Status and code of a login by a process of another user."""
    done = subprocess.run(
        [sys.executable, "-c", REDEEM, str(uid), host, str(server.port)],
        input=secret,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    return done.stdout.strip()


@needs_root
def test_a_link_is_refused_to_another_user_and_works_for_its_own(server):
    over_tcp = link(server)
    over_the_socket = server.ask("POST", "/v1/links", unix=True).json["url"].partition("#")[2]
    for secret in (over_tcp, over_the_socket):
        assert redeemed_by(OTHER_USER, server, secret) == "403 forbidden"
        assert redeemed_by(os.getuid(), server, secret) == "200"


@needs_root
def test_the_printed_link_is_refused_to_another_user(private_home):
    with serving(private_home) as server:
        secret = server.line.strip().partition("#")[2]
        assert redeemed_by(OTHER_USER, server, secret) == "403 forbidden"
        assert redeemed_by(os.getuid(), server, secret) == "200"


@needs_root
def test_behind_a_proxy_the_user_is_not_known(private_home):
    """Requests of a configured origin come through a program of another user: a web server."""
    (private_home / "config.toml").write_text('origins = ["https://box.example"]\n')
    with serving(private_home) as server:
        secret = link(server)
        answer = server.post("/login", {"secret": secret}, token="", headers={"Origin": "https://box.example"})
        assert answer.status == 200


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_the_user_of_a_connection(family, host):
    with socket.socket(family) as listener:
        listener.bind((host, 0))
        listener.listen()
        with socket.create_connection(listener.getsockname()[:2]) as peer:
            scope = {"client": peer.getsockname()[:2], "server": listener.getsockname()[:2]}
            assert peer_uid(scope) == os.getuid()
            assert peer_uid({**scope, "client": ("192.0.2.1", scope["client"][1])}) is None
        assert peer_uid(scope) is None, "a closed socket belongs to no user, not to root"


def test_a_link_of_an_unknown_user_works_for_all(tmp_path):
    auth = Auth(Tokens(tmp_path))
    assert auth.redeem(auth.make_link("main", None)[1], lambda: 1234).id == "main"
    assert auth.redeem(auth.make_link("main", 1000)[1], lambda: None).id == "main"
    assert auth.redeem(auth.make_link("main", 1000)[1], lambda: 0).id == "main", "root could read the token"
    with pytest.raises(Forbidden, match="uid 1000"):
        auth.redeem(auth.make_link("main", 1000)[1], lambda: 1001)
    with pytest.raises(Unauthorized):
        auth.redeem("made up", lambda: pytest.fail("looked up for nothing"))
