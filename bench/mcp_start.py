"""How soon an agent's `vantage mcp` is there: with a server that runs, and with one that has to be started.

There means: a call of a tool was answered. The list of tools is there before, and measured apart.
"""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from bench.run.answers import AT_END, Milliseconds

Run = Callable[[], object]


class _Agent:
    """An agent's process, spoken to by hand."""

    def __init__(self, home: str) -> None:
        self._began = time.perf_counter()
        self._number = 0
        command = [sys.executable, "-P", "-m", "vantage", "mcp", "--home", home]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def ask(self, method: str, **params: Any) -> Milliseconds:
        """Since the process began, when the answer is there."""
        self._number += 1
        self._say({"id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        answer = json.loads(self._process.stdout.readline())
        assert "result" in answer, answer
        return Milliseconds((time.perf_counter() - self._began) * 1000)

    def _say(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def listed(self) -> Milliseconds:
        about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}
        self.ask("initialize", **about)
        self._say({"method": "notifications/initialized", "params": {}})
        return self.ask("tools/list")

    def called(self) -> Milliseconds:
        self.listed()
        return self.ask("tools/call", name="pty_status", arguments={})


def _end(home: str, *names: str) -> None:
    for name in names:
        try:
            pid = json.loads(Path(home, f"{name}.json").read_text())["pid"]
            process = os.pidfd_open(pid)
        except (FileNotFoundError, ProcessLookupError):
            continue
        os.kill(pid, signal.SIGTERM)
        select.select([process], [], [])
        os.close(process)


def _home() -> str:
    home = tempfile.TemporaryDirectory(prefix="vantage-bench-")
    AT_END.extend([lambda: _end(home.name, "server", "host"), home.cleanup])
    return home.name


def _cold(ask: Callable[[_Agent], Milliseconds]) -> Run:
    home = _home()

    def run() -> Milliseconds:
        _end(home, "server", "host")
        with _Agent(home) as agent:
            took = ask(agent)
            agent.ask("tools/call", name="pty_status", arguments={})
        return took

    return run


def _warm(ask: Callable[[_Agent], Milliseconds]) -> Run:
    home = _home()
    with _Agent(home) as first:
        first.called()

    def run() -> Milliseconds:
        with _Agent(home) as agent:
            return ask(agent)

    return run


def listed_cold(_corpus: Path) -> Run:
    return _cold(_Agent.listed)


def called_cold(_corpus: Path) -> Run:
    return _cold(_Agent.called)


def called_warm(_corpus: Path) -> Run:
    return _warm(_Agent.called)


def one_second(_corpus: Path) -> Run:
    return lambda: Milliseconds(1000.0)


def five_seconds(_corpus: Path) -> Run:
    return lambda: Milliseconds(5000.0)
