"""`vantage mcp` spoken to by hand, and a home in which it starts its server."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from mcp_clients import command
from terminal_home import host_pid, wait_until_gone


@pytest.fixture
def own_home(tmp_path: Path) -> Iterator[Path]:
    """A home in which no server runs; what is started there is ended."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    yield home
    for pid in (server_pid(home), host_pid(home)):
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            wait_until_gone(pid)


def server_pid(home: Path) -> int | None:
    try:
        return json.loads((home / "server.json").read_text())["pid"]
    except FileNotFoundError:
        return None


def end_server(home: Path, number: int = signal.SIGKILL) -> None:
    pid = server_pid(home)
    os.kill(pid, number)
    wait_until_gone(pid)


@contextmanager
def pipe(home: Path, *flags: str) -> Iterator["subprocess.Popen[bytes]"]:
    """`vantage mcp`, spoken to by hand."""
    parameters = command(home, *flags)
    process = subprocess.Popen(
        [parameters.command, *parameters.args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=parameters.env,
        cwd=parameters.cwd,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def say(process: "subprocess.Popen[bytes]", method: str, number: int | None = None, **params: Any) -> None:
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    process.stdin.write(json.dumps(message if number is None else {**message, "id": number}).encode() + b"\n")
    process.stdin.flush()


def hear(process: "subprocess.Popen[bytes]") -> dict[str, Any]:
    return json.loads(process.stdout.readline())


def begin(process: "subprocess.Popen[bytes]", version: str = "2025-11-25") -> dict[str, Any]:
    say(
        process,
        "initialize",
        1,
        protocolVersion=version,
        capabilities={},
        clientInfo={"name": "by hand", "version": "0"},
    )
    answer = hear(process)
    say(process, "notifications/initialized")
    return answer["result"]


def call(process: "subprocess.Popen[bytes]", number: int, tool: str, **arguments: Any) -> None:
    """Calls a tool, and does not wait for the answer."""
    say(process, "tools/call", number, name=tool, arguments=arguments)


def answered(process: "subprocess.Popen[bytes]", number: int) -> dict[str, Any]:
    """The fields of the next answer, which must be that of this call."""
    heard = hear(process)
    assert heard["id"] == number, heard
    assert "result" in heard and not heard["result"].get("isError"), heard
    fields: dict[str, Any] = heard["result"]["structuredContent"]
    return fields
