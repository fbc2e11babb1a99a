"""The server as a process: its start, its settings, its logs, its end, and other processes that use the home."""

import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from server_home import serving
from terminal_home import PATIENCE, environment, host_pid, wait_until_gone
from terminals import VANTAGE
from vantage.server.config import ConfigError, load


def serve(*flags, **env):
    """A server that does not start."""
    return subprocess.run(
        [*VANTAGE, "serve", *flags], capture_output=True, text=True, env=environment(**env), timeout=PATIENCE
    )


def squatted(home, name, kind):
    """A home whose file `name` is there already, as another kind of thing."""
    path = home / name
    if kind == "folder":
        path.mkdir()
        (path / "in it").touch()
    else:
        path.touch()
    return path


@pytest.mark.parametrize("name", ["server.sock", "mcp.sock", "server.lock", "server.log", "token", "server.json"])
def test_something_else_is_where_a_file_of_ours_should_be(private_home, name):
    path = squatted(private_home, name, "folder")
    ended = serve("--home", str(private_home), "--port", "0")
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    assert str(path) in ended.stderr


@pytest.fixture
def short_path():
    with tempfile.TemporaryDirectory(prefix="v-") as place:
        yield Path(place)


@pytest.mark.parametrize("kind", ["file", "open folder"])
def test_a_squatted_run_directory(tmp_path, short_path, kind):
    """A home with a long path has its sockets in a directory of the user, which any user could have made before."""
    home = tmp_path / ("long" * 25)
    run = short_path
    digest = hashlib.blake2b(os.fsencode(home.resolve()), digest_size=8).hexdigest()
    squat = run / f"vantage-{os.geteuid()}-{digest}"
    if kind == "file":
        squat.touch()
    else:
        squat.mkdir(mode=0o777)
        squat.chmod(0o777)
    ended = serve("--home", str(home), "--port", "0", XDG_RUNTIME_DIR=str(run))
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    assert str(squat) in ended.stderr
    assert "700" in ended.stderr


def test_a_server_that_starts_on_a_full_disk_serves_reads(private_home):
    with serving(private_home) as server, server.conversation(id="kept") as kept:
        ran = server.pty(kept, "exec_block", command="echo kept")
        server.stop()
        server.before = ("sh", "-c", 'ulimit -f 0; exec "$@"', "sh")
        server.start()
        assert server.pty(kept, "read_block", block_id=ran["block_id"])["output"] == "kept\n"
        assert server.get(f"/v1/conversations/{kept}/rows").json["rows"]
        assert server.pty(kept, "read_screen")["text"]
        assert [each["id"] for each in server.get("/v1/conversations").json["conversations"]] == [kept]
        refused = server.post("/v1/conversations", {"id": "new"})
        assert (refused.status, refused.code) == (503, "unavailable"), refused.body
        assert "disk" in refused.json["error"]["message"]
        assert not (private_home / "conversations" / "new").exists()
        server.stop()
        server.before = ()
        server.start()
        assert server.pty(kept, "exec_block", command="echo on")["output"] == "on\n"


def test_a_command_over_both_doors(server):
    with server.conversation() as conversation:
        assert server.pty(conversation, "exec_block", command="echo $((6 * 7))")["output"] == "42\n"
        answer = server.post(f"/v1/conversations/{conversation}/pty/status", {}, unix=True)
        assert (answer.status, answer.json["mode"]) == (200, "idle")


def test_it_prints_one_line_and_says_where_it_is(private_home):
    with serving(private_home) as server:
        assert re.fullmatch(rf"http://127\.0\.0\.1:{server.port}/login#[\w-]{{20,}}\n", server.line)
        assert server.address == {
            "pid": server.process.pid,
            "url": f"http://127.0.0.1:{server.port}",
            "socket": str(private_home / "server.sock"),
            "version": server.address["version"],
        }
        code = server.process.send_signal(signal.SIGTERM) or server.process.wait(PATIENCE)
        assert (code, server.process.stdout.read(), server.said()) == (0, "", "")
        assert not (private_home / "server.json").exists()
        assert not (private_home / "server.sock").exists()


def test_it_ends_at_once_and_leaves_shells_alive(private_home):
    with serving(private_home) as server, server.conversation() as conversation:
        shell = server.pty(conversation, "exec_block", command="echo $$; kept=here")["output"]
        answers = []
        wait = f"/v1/conversations/{conversation}/pty/wait_for"
        waiting = threading.Thread(
            target=lambda: answers.append(server.post(wait, {"match": "never", "timeout_ms": 600_000}))
        )
        with connect(f"ws://127.0.0.1:{server.port}/v1/ws", proxy=None) as ws:
            ws.send(json.dumps({"type": "hello", "client_id": "c", "token": server.token}))
            ws.send(json.dumps({"type": "subscribe", "conversation_id": conversation, "channels": ["rows"]}))
            assert json.loads(ws.recv(PATIENCE))["type"] == "welcome"
            waiting.start()
            while b"vantage_waits 1.0" not in server.get("/metrics").body:
                pass
            began = time.monotonic()
            assert server.stop(signal.SIGTERM) == 0
            took = time.monotonic() - began
            with pytest.raises(ConnectionClosed):
                while True:
                    ws.recv(PATIENCE)
        waiting.join(PATIENCE)
        assert (answers[0].status, answers[0].code) == (503, "unavailable")
        assert took < PATIENCE / 2, "it waited for requests that wait"
        assert host_pid(private_home) is not None
        server.start()
        assert server.pty(conversation, "exec_block", command="echo $$ $kept")["output"] == f"{shell.strip()} here\n"


def test_a_request_that_waits_for_a_command_is_answered_too(private_home):
    with serving(private_home) as server, server.conversation() as conversation:
        run = f"/v1/conversations/{conversation}/pty/exec_block"
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(server.post(run, {"command": "sleep 1000"})))
        waiting.start()
        while server.pty(conversation, "status")["mode"] != "block_running":
            pass
        assert server.stop(signal.SIGINT) == 0
        waiting.join(PATIENCE)
        assert (answers[0].status, answers[0].code) == (503, "unavailable")
        server.start()
        assert server.pty(conversation, "status")["mode"] == "block_running", "the command runs on"


def test_dropped_output_is_gone_and_the_error_says_where_to_continue(private_home):
    with serving(private_home, VANTAGE_RETENTION=str(1 << 20)) as server, server.conversation() as conversation:
        read = f"/v1/conversations/{conversation}/pty/read_raw"
        for _ in range(50):
            server.pty(conversation, "exec_block", command="seq 1 300000", max_output=10)
            answer = server.post(read, {"from_offset": 0})
            if answer.status != 200:
                break
        assert (answer.status, answer.code) == (404, "gone")
        while answer.status == 404:  # more may be dropped meanwhile
            place, before = answer.json["error"]["next"], answer
            answer = server.post(read, {"from_offset": place, "max_bytes": 10})
            assert answer.status == 200 or answer.json["error"]["next"] > before.json["error"]["next"]
        assert answer.json["next_offset"] == place + 10


def test_the_engine_of_a_server(private_home):
    with serving(private_home, VANTAGE_ENGINE="pyte") as server, server.conversation() as conversation:
        server.pty(conversation, "exec_block", command="true")
        assert server.pty(conversation, "status")["engine"] == "pyte"


def test_killed_and_started_again(private_home):
    with serving(private_home) as server, server.conversation() as conversation:
        server.pty(conversation, "exec_block", command="kept=here")
        server.kill()
        server.start()
        assert server.pty(conversation, "exec_block", command="echo $kept")["output"] == "here\n"


def test_a_port_that_is_taken(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = serve("--home", str(tmp_path), "--port", port)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"another program listens on 127.0.0.1:{port}" in done.stderr
    assert "--port" in done.stderr
    assert not (tmp_path / "server.json").exists()


def test_other_machines_only_when_that_is_meant(private_home):
    refused = serve("--home", str(private_home), "--host", "0.0.0.0", "--port", "0")
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert "--expose" in refused.stderr
    with serving(private_home, "--host", "0.0.0.0", "--expose") as server:
        assert server.said().startswith("Warning: other machines can reach 0.0.0.0")
        assert server.said().count("\n") == 1
        assert server.get("/healthz", headers={"Host": "192.0.2.7"}).status == 200
        assert server.get("/healthz", headers={"Host": "evil.example"}).status == 403


@pytest.mark.parametrize(
    ("host", "says"), [("no.such.host.invalid", "is no address"), ("192.0.2.7", "cannot listen on 192.0.2.7")]
)
def test_an_address_that_is_not_ours(tmp_path, host, says):
    done = serve("--home", str(tmp_path), "--host", host, "--expose", "--port", "0")
    assert done.returncode == 1
    assert says in done.stderr


def test_an_ipv6_address(private_home):
    with serving(private_home, "--host", "::1") as server:
        assert server.url == f"http://[::1]:{server.port}"
        answer = server.get("/healthz", unix=True)
        assert answer.status == 200
        with socket.create_connection(("::1", server.port), PATIENCE) as line:
            line.sendall(b"GET /healthz HTTP/1.1\r\nHost: [::1]:%d\r\n\r\n" % server.port)
            assert line.recv(100).startswith(b"HTTP/1.1 200 ")


# settings


def in_force(*flags, home, **env):
    """What the doctor says: setting → value and source."""
    done = subprocess.run(
        [*VANTAGE, "doctor", "--json", "--home", str(home), *flags],
        capture_output=True,
        text=True,
        env=environment(**env),
        timeout=PATIENCE,
    )
    found = [each for each in json.loads(done.stdout) if each["about"] == "settings"]
    return done.returncode, {each["found"].partition(" = ")[0]: each["found"] for each in found}, found


def test_flags_before_variables_before_the_file_before_defaults(private_home):
    (private_home / "config.toml").write_text("port = 1\nrate_limit = 77\nlog_level = 'debug'\n")
    code, found, _ = in_force(home=private_home, VANTAGE_LOG_LEVEL="warning", VANTAGE_PROT="1")
    assert code == 0
    assert found["rate_limit"] == f"rate_limit = 77 ({private_home / 'config.toml'})"
    assert found["log_level"] == "log_level = warning (VANTAGE_LOG_LEVEL)"
    assert found["session_days"] == "session_days = 30 (default)"
    assert "the variable VANTAGE_PROT means nothing" in found
    with serving(private_home) as server:
        assert server.port > 1, "the flag"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("prot = 1", "there is no setting 'prot': did you mean 'port'?"),
        ("port = 'x'", "port: expected `int`, got `str`"),
        ("port = 70000", "port: expected `int` <= 65535"),
        ("log_level = 'loud'", "log_level: invalid enum value 'loud'"),
        ("[port", "is not TOML"),
        ("host = '0.0.0.0'", "--expose"),
    ],
)
def test_settings_that_are_wrong(tmp_path, text, says):
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as wrong:
        load(tmp_path, {}, {})
    assert str(path) in str(wrong.value)
    assert says in str(wrong.value)


@pytest.mark.parametrize(
    ("variable", "value", "setting", "means"),
    [
        ("VANTAGE_PORT", "99", "port", 99),
        ("VANTAGE_EXPOSE", "yes", "expose", True),
        ("VANTAGE_EXPOSE", "0", "expose", False),
        ("VANTAGE_HOSTS", "a.example, b.example", "hosts", ["a.example", "b.example"]),
        ("VANTAGE_PORT", "", "port", 7878),
    ],
)
def test_variables(tmp_path, variable, value, setting, means):
    assert getattr(load(tmp_path, {}, {variable: value}).config, setting) == means


def test_bad_settings_are_reported_in_one_line(tmp_path):
    (tmp_path / "config.toml").write_text("prot = 1")
    done = serve("--home", str(tmp_path), VANTAGE_PORT="many")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "did you mean 'port'?" in done.stderr
    code, _, found = in_force(home=tmp_path)
    assert (code, found[0]["verdict"]) == (1, "broken")
    with pytest.raises(ConfigError, match="VANTAGE_PORT: expected `int`"):
        load(tmp_path / "none", {}, {"VANTAGE_PORT": "many"})


# logs


def test_the_log_begins_a_new_file_in_time(private_home):
    with serving(private_home, "--verbose", VANTAGE_LOG_BYTES="10000") as server:
        while not (private_home / "server.log.2").exists():
            server.get("/healthz")
        assert "/healthz" in server.said(), "verbose: on the terminal too"
        assert not (private_home / "server.log.3").exists()
        assert {path.stat().st_mode & 0o777 for path in private_home.glob("server.log*")} == {0o600}


def test_a_failure_has_a_number_that_leads_to_the_log(private_home):
    """An unforeseen exception is answered as a failure of the server, without a traceback."""
    with serving(private_home) as server:
        (private_home / "demo").write_text("no folder")
        answer = server.post("/v1/demo", {"pace": 0})
        assert (answer.status, answer.code) == (500, "internal")
        number = re.search(r"failure (\w+)", answer.json["error"]["message"])[1]
        assert "Traceback" not in answer.body.decode()
        line = next(line for line in (private_home / "server.log").read_text().splitlines() if number in line)
        assert json.loads(line)["error"] == "NotADirectoryError"
        assert any("demo.py" in place for place in json.loads(line)["at"])


def test_a_server_that_was_needed_writes_no_link_down(private_home):
    from vantage.client.launch import ensure_server

    first = ensure_server(str(private_home))
    try:
        log = (private_home / "server.log").read_text()
        assert json.loads(log.splitlines()[0])["event"] == "serving"
        assert "login#" not in log
    finally:
        os.kill(first["pid"], signal.SIGTERM)
        wait_until_gone(first["pid"])
