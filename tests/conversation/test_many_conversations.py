"""More conversations, shells and connections than descriptors: open ones keep working, the rest are refused."""

import os
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest

from extent import extent
from server_home import Server
from terminal_home import environment, host_pid
from terminals import PATIENCE

MANY = 2000
WITH_SHELLS = extent(12, 300)
DEFAULT = 1024
"""The soft limit on open files of most systems."""


def limited_to(soft: int, hard: int | None = None) -> tuple[str, ...]:
    """A program that runs another with limits on open files."""
    limits = [f"ulimit -Sn {soft}", *([f"ulimit -Hn {hard}"] if hard is not None else [])]
    return ("sh", "-c", f'{" && ".join(limits)} && exec "$@"', "sh")


@contextmanager
def serving(home: Path, before: tuple[str, ...]) -> Iterator[Server]:
    class Limited(Server):
        pass

    Limited.before = before
    server = Limited(home)
    try:
        yield server
    finally:
        server.end()


@pytest.fixture
def quick_home() -> Iterator[Path]:
    """A home in memory where there is such a place: thousands of folders are slow to make and remove on a disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(
        prefix="vantage-test-", dir=memory if os.access(memory, os.W_OK) else None
    ) as place:
        yield Path(place)


def settings(home: Path, name: str) -> dict:
    return {"id": name, "cwd": str(home), "env": environment(), "user_rc": False}


def held(pid: int, below: Path) -> list[str]:
    """The files under a folder that a process has open."""
    found = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            found.append(str(entry.readlink()))
    return [target for target in found if target.startswith(f"{below}/")]


def test_two_thousand_conversations_on_the_default_limit(quick_home):
    with serving(quick_home, limited_to(DEFAULT)) as server, closing(server.connection(unix=True)) as line:
        for number in range(MANY):
            made = server.post("/v1/conversations", settings(quick_home, f"c{number}"), over=line)
            assert made.status == 201, (number, made.body)
        for number in range(0, MANY, MANY // WITH_SHELLS):
            path = f"/v1/conversations/c{number}/pty/exec_block"
            ran = server.post(path, {"command": f"echo {number}; ulimit -Sn"}, over=line)
            assert ran.status == 200, ran.body
            assert ran.json["output"] == f"{number}\n{DEFAULT}\n", "a shell gets the limit that the server was given"
        for number in range(0, MANY, 5):
            said = server.post(f"/v1/conversations/c{number}/events", {"type": "user_message", "text": "x"}, over=line)
            assert said.status == 200, (number, said.body)
        assert server.get("/healthz").status == 200
        assert server.get("/v1/conversations/c5/rows").json["rows"]
        until_nothing_is_held(server)
        assert server.pty("c0", "exec_block", command="echo again")["output"] == "again\n"
        seq = server.get("/v1/conversations/c0/events", over=line).json["events"][-1]["seq"]
        assert server.post("/v1/conversations/c0/events", {"type": "warning", "message": "w"}).json["seq"] > seq


def until_nothing_is_held(server: Server) -> None:
    """Idle conversations have no file open, however many there are, with and without a shell."""
    deadline = time.monotonic() + PATIENCE
    while left := held(server.process.pid, server.home / "conversations"):
        assert time.monotonic() < deadline, f"{len(left)} files are open: {left[:20]}"
        time.sleep(0.05)


def test_connections_up_to_a_hard_limit(private_home):
    """New connections are refused with the reason; open ones, conversations and `/healthz` keep working."""
    most = extent(256, DEFAULT)
    with (
        serving(private_home, limited_to(most, most)) as server,
        closing(server.connection()) as line,
        ExitStack() as opened,
    ):
        for number in range(extent(60, 400)):
            assert server.post("/v1/conversations", settings(private_home, f"c{number}"), over=line).status == 201
        assert server.post("/v1/conversations/c0/pty/exec_block", {"command": "echo 1"}, over=line).status == 200
        statuses = []
        for _ in range(most + 20):
            connection = opened.enter_context(closing(server.connection()))
            statuses.append(server.get("/v1/conversations", over=connection).status)
            if statuses[-1] == 503:
                break
        assert statuses[-1] == 503, "connections are taken until no descriptor is left"
        assert statuses.count(200) == len(statuses) - 1 > 10
        for number in range(20):
            ran = server.post(f"/v1/conversations/c{number % 3}/pty/exec_block", {"command": "echo 2"}, over=line)
            assert (ran.status, ran.json.get("output")) == (200, "2\n"), ran.body
            assert server.get("/healthz").status == 200
        refused = server.get("/v1/conversations")
        assert (refused.status, refused.code) == (503, "unavailable")
        assert "connections are open" in refused.json["error"]["message"]
        assert "ulimit -n" in refused.json["error"]["hint"]
        opened.close()
        until_taken(server)


def until_taken(server: Server) -> None:
    deadline = time.monotonic() + PATIENCE
    while (answer := server.get("/v1/conversations")).status != 200:
        assert time.monotonic() < deadline, answer.body


def test_shells_up_to_a_hard_limit(private_home):
    """The shell that is one too many is refused with the reason before the host has no descriptor left."""
    most = extent(96, DEFAULT)
    with serving(private_home, limited_to(most, most)) as server, closing(server.connection(unix=True)) as line:
        running = []
        for number in range(most):
            assert server.post("/v1/conversations", settings(private_home, f"c{number}"), over=line).status == 201
            ran = server.post(f"/v1/conversations/c{number}/pty/exec_block", {"command": "echo 1"}, over=line)
            if ran.status != 200:
                break
            running.append(f"c{number}")
        assert (ran.status, ran.code) == (503, "unavailable"), ran.body
        assert "Too many open files" in ran.json["error"]["message"]
        assert len(running) >= most // 3 - 10
        taken = len(list(Path(f"/proc/{host_pid(private_home)}/fd").iterdir()))
        assert taken < most - 4, "none is left for a server that comes back"
        for name in running:
            assert server.pty(name, "exec_block", command="echo 2")["output"] == "2\n"
        assert server.post(f"/v1/conversations/{running[0]}/close").status == 200
        assert server.pty(f"c{len(running)}", "exec_block", command="echo 3")["output"] == "3\n"
        server.kill()
        server.start()
        for name in running[1:]:
            assert server.pty(name, "exec_block", command="echo 4")["output"] == "4\n"


def test_a_soft_limit_is_raised(private_home):
    with serving(private_home, limited_to(64)) as server:
        soft, hard = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
        assert soft == hard > 64
