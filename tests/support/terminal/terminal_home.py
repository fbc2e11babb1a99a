"""Agent terminals for tests: one home and one PTY host for all of them, a conversation and a shell for each.

At the end nothing may be left: no process that was started in a terminal, no host, no open descriptor.
"""

import json
import os
import secrets
import select
import signal
import tempfile
import time
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from vantage.conversation.manager import Manager

RUN = f"VANTAGE_TEST_RUN={secrets.token_hex(8)}"
"""In the environment of every shell, so that what it started can be found."""
PATIENCE = 60
_USER = tempfile.TemporaryDirectory(prefix="vantage-user-")
"""The HOME of the shells: an empty directory that is removed at the end."""


def environment(**more: str) -> dict[str, str]:
    name, value = RUN.split("=")
    return {
        "PATH": os.environ["PATH"],
        "HOME": _USER.name,
        "LANG": "C.UTF-8",
        "PS1": "$ ",
        name: value,
        **more,
    }


def leftovers() -> dict[int, str]:
    """Living processes that came from a test's terminal."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if RUN.encode() in (entry / "environ").read_bytes():
                    found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
    return found


def descriptors() -> set[str]:
    """What this process has open, but for what Python opens when it is first needed."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = entry.readlink()
        except OSError:
            continue
        if not str(target).startswith(("/dev/", "pipe:", "anon_inode:[eventpoll]")):
            found.add(f"{entry.name} {target}")
    return found


def host_pid(home: Path) -> int | None:
    try:
        return json.loads((home / "host.json").read_text())["pid"]
    except FileNotFoundError:
        return None


def wait_until_gone(pid: int | None) -> None:
    """Waits until a process that is not our child has ended."""
    if pid is None:
        return
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([process], [], [], PATIENCE)[0], f"process {pid} does not end"
    finally:
        os.close(process)


@pytest.fixture(scope="session")
def home():
    """A home that all tests share; its host leaves when the last conversation is closed."""
    with tempfile.TemporaryDirectory(prefix="vantage-test-") as place:
        path = Path(place)
        yield path
        wait_until_gone(host_pid(path))
        assert not (path / "host.json").exists(), "the host left its address behind"


@pytest.fixture
def private_home():
    """A home for one test, whose host may be killed."""
    with tempfile.TemporaryDirectory(prefix="vantage-test-") as place:
        path = Path(place)
        yield path
        pid = host_pid(path)
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            wait_until_gone(pid)


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_left():
    before = descriptors()
    yield
    deadline = time.monotonic() + PATIENCE
    while (left := leftovers()) and time.monotonic() < deadline:
        for pid in left:
            wait_until_gone(pid)
    assert not left, "processes were left behind"
    assert descriptors() <= before, "descriptors were left open"


@asynccontextmanager
async def agent_terminal(home: Path, *, shell: str = "bash", env: dict[str, str] | None = None, **settings):
    """A conversation with a shell of its own, deleted afterwards."""
    settings.setdefault("user_rc", False)
    settings.setdefault("cwd", str(home))
    async with Manager(home) as manager:
        conversation = manager.create(shell=shell, env=env or environment(), **settings)
        try:
            yield conversation.terminal
        finally:
            await manager.delete(conversation.id)
