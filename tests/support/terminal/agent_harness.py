"""One agent in a real PTY host: a script with pipes, its files, and what the host says of it."""

import json
import os
import sys
import time
from pathlib import Path

from host_harness import MARK, PATIENCE, Client
from vantage.ptyhost import protocol

ECHO = "import sys\nfor line in sys.stdin: print('got', line, end='', flush=True)\nprint('end', flush=True)"
"""Answers each line that it is sent."""


class Agent:
    """One agent, through one client. Several may stand for the same agent."""

    def __init__(self, client: Client, name: str = "a"):
        self.client = client
        self.name = name
        self.folder = client.home / "conversations" / name / "agent"

    def ask(self, op, **fields) -> dict:
        return self.client.ask(f"agent_{op}", agent=self.name, **fields)

    def refused(self, op, **fields) -> dict:
        return self.client.refused(f"agent_{op}", agent=self.name, **fields)

    def attach(self) -> dict:
        return self.ask("attach", folder=str(self.folder))

    def opening(self, *argv, run="r1", env=None, cwd="/", record=None) -> dict:
        """The fields of a request to open it."""
        return {
            "folder": str(self.folder),
            "argv": list(argv),
            "env": {"PATH": os.environ["PATH"], MARK: str(self.client.home), **(env or {})},
            "cwd": cwd,
            "record": {"run": run, **(record or {})},
        }

    def run(self, *argv, **options) -> dict:
        """Attaches and opens."""
        self.attach()
        return self.ask("open", **self.opening(*argv, **options))

    def python(self, program, *arguments, **options) -> dict:
        return self.run(sys.executable, "-c", program, *arguments, **options)

    def write(self, n: int, text: str, **record) -> dict:
        return self.ask("write", n=n, data=protocol.encode_data(text.encode()), record=record)

    def write_refused(self, n: int, text: str = "x\n", **record) -> dict:
        return self.refused("write", n=n, data=protocol.encode_data(text.encode()), record=record)

    def kill(self, grace_ms=1000) -> dict:
        return self.ask("kill", grace_ms=grace_ms)

    def path(self, name: str) -> Path:
        return self.folder / name

    def stream(self) -> bytes:
        return self.path(protocol.STREAM_NAME).read_bytes()

    def errors(self) -> bytes:
        return self.path(protocol.ERRORS_NAME).read_bytes()

    def records(self, *kinds: str) -> list[dict]:
        """The journal without times, or its records of these kinds."""
        lines = self.path(protocol.STREAM_INDEX_NAME).read_bytes().splitlines()
        records = [json.loads(line) for line in lines]
        return [record for record in records if (record["t"] in kinds if kinds else record["t"] != "out")]

    def kinds(self) -> list[str]:
        return [record["t"] for record in self.records()]

    def event(self, name: str) -> dict:
        """The next event of this kind; those of others are dropped."""
        while True:
            while self.client.events:
                event = self.client.events.pop(0)
                if event["event"] == name and event.get("agent") == self.name:
                    return event
            self.client.sort(self.client.message())

    def wait_for(self, text: bytes, of=protocol.STREAM_NAME, count=1) -> bytes:
        """Reads events until a file has this text so often; returns all of it."""
        length = "offset" if of == protocol.STREAM_NAME else "stderr"
        data = self.path(of).read_bytes() if self.path(of).exists() else b""
        while data.count(text) < count:
            event = self.client.sort(self.client.message())
            if event.get("agent") == self.name and length in event:
                data = self.path(of).read_bytes()[: event[length]]
                assert event["event"] != "exit" or data.count(text) >= count, (data[-500:], self.errors()[-500:])
        return data

    def until(self, condition) -> None:
        """Keeps the host turning until the condition holds."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, (self.kinds(), self.stream()[-500:], self.errors()[-500:])
            self.client.ask("list")
