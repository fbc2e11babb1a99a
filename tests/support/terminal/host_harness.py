"""A real PTY host in a temporary home, and clients that talk to it. Whatever a test leaves behind fails it."""

import json
import os
import resource
import select
import signal
import socket
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from vantage.ptyhost import protocol
from vantage.ptyhost.start import connect

PATIENCE = 30
"""Seconds after which a test gives up. Nothing waits this long unless it is broken."""
MARK = "VANTAGE_HOST_TEST"
"""In the environment of every program that a test starts, so that leftovers are found."""


class Client:
    """One connection. Events are kept until the test asks for them."""

    def __init__(self, home: Path, *, hello: bool = True):
        self.home = home
        self.socket = connect(str(home))
        self.socket.settimeout(PATIENCE)
        self._file = self.socket.makefile("rb")
        self._id = 0
        self.events = []
        self._answers = {}
        if hello:
            self.pid = self.ask("hello", protocol=protocol.PROTOCOL)["pid"]

    def send(self, op, **fields) -> int:
        self._id += 1
        self.socket.sendall(protocol.encode({"id": self._id, "op": op, **fields}))
        return self._id

    def message(self) -> dict:
        line = self._file.readline()
        assert line, "the host closed the connection"
        return json.loads(line)

    def answer(self, number: int) -> dict:
        while number not in self._answers:
            self.sort(self.message())
        return self._answers.pop(number)

    def is_answered(self, number: int) -> bool:
        """Whether the answer came before one that was read since."""
        return number in self._answers

    def sort(self, message: dict) -> dict:
        """Puts a message where it is looked for."""
        if "event" in message:
            self.events.append(message)
        else:
            self._answers[message["id"]] = message
        return message

    def ask(self, op, **fields) -> dict:
        answer = self.answer(self.send(op, **fields))
        assert answer["ok"], answer
        return answer

    def refused(self, op, **fields) -> dict:
        answer = self.answer(self.send(op, **fields))
        assert not answer["ok"], answer
        return answer

    def event(self, name, terminal="t") -> dict:
        """The next event of this kind."""
        while True:
            while self.events:
                event = self.events.pop(0)
                if event["event"] == name and event.get("terminal") == terminal:
                    return event
            self.sort(self.message())

    def ended(self) -> bool:
        """Reads to the end of the connection."""
        while self._file.readline():
            pass
        return True

    def close(self) -> None:
        self._file.close()
        self.socket.close()

    def folder(self, terminal="t") -> Path:
        return self.home / "conversations" / terminal / "agent_pty"

    def open(self, *argv, terminal="t", cols=80, rows=24, record=None, env=None, cwd="/") -> dict:
        return self.ask(
            "open",
            terminal=terminal,
            folder=str(self.folder(terminal)),
            argv=list(argv),
            env={"PATH": os.environ["PATH"], "TERM": "xterm-256color", MARK: str(self.home), **(env or {})},
            cwd=cwd,
            cols=cols,
            rows=rows,
            record=record or {},
        )

    def attach(self, terminal="t") -> dict:
        return self.ask("attach", terminal=terminal, folder=str(self.folder(terminal)))

    def run(self, *argv, **options) -> dict:
        """Attaches and opens."""
        self.attach(options.get("terminal", "t"))
        return self.open(*argv, **options)

    def python(self, program, **options) -> dict:
        return self.run(sys.executable, "-c", program, **options)

    def type(self, data: bytes, terminal="t", **fields) -> dict:
        return self.ask("input", terminal=terminal, data=protocol.encode_data(data), **fields)

    def raw(self, terminal="t") -> bytes:
        return (self.folder(terminal) / protocol.RAW_NAME).read_bytes()

    def records(self, terminal="t") -> list[dict]:
        return [json.loads(line) for line in (self.folder(terminal) / protocol.INDEX_NAME).read_bytes().splitlines()]

    def kinds(self, terminal="t") -> list[str]:
        return [record["t"] for record in self.records(terminal) if record["t"] != "out"]

    def wait_for(self, text: bytes, terminal="t", count=1) -> bytes:
        """Reads what the host tells until this has been printed; returns all of it."""
        printed = self.raw(terminal) if (self.folder(terminal) / protocol.RAW_NAME).exists() else b""
        while printed.count(text) < count:
            event = self.sort(self.message())
            assert event.get("event") != "exit" or self.raw(terminal).count(text) >= count, self.raw(terminal)[-500:]
            if event.get("event") == "output":
                printed = self.raw(terminal)[: event["offset"]]
        return printed

    def until(self, condition) -> None:
        """Keeps the host turning until the condition holds."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, "timed out"
            self.ask("list")


class Home:
    """A home with its host; `finish` says what was left behind."""

    def __init__(self, path: Path):
        self.path = path
        self._clients = []
        self.hosts = set()

    def client(self, **options) -> Client:
        client = Client(self.path, **options)
        self._clients.append(client)
        self.hosts.add(self.said()["pid"])
        return client

    def said(self) -> dict:
        return json.loads((self.path / "host.json").read_text())

    def finish(self) -> None:
        zombies = [pid for host in self.hosts for pid in children(host) if state(pid) == "Z"]
        if zombies:  # ended just now, perhaps: then they are reaped when the host has had its turn
            self.client().until(lambda: not any(state(pid) == "Z" for pid in zombies))
        for client in self._clients:
            client.close()
        for pid in self.hosts:
            end(pid)
        assert not (self.path / "host.json").exists()
        assert not list(self.path.rglob("*.sock"))
        log = self.path / "host.log"
        assert not log.exists() or log.read_text() == ""
        left = [pid for pid in pids() if f"{MARK}={self.path}".encode() in environment(pid).split(b"\0")]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        assert not left, f"processes {left} were left behind"


def end(pid: int) -> None:
    """Tells a process to end and waits until it has."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        signal.pidfd_send_signal(watched, signal.SIGTERM)
        assert select.select([watched], [], [], PATIENCE)[0], f"host {pid} does not end"
    except ProcessLookupError:
        pass
    finally:
        os.close(watched)


@contextmanager
def full_at(pid: int, size: int):
    """No file of this process can grow beyond `size`: what a full disk is to it. Works for every user."""
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))


def wait_gone(pid: int) -> None:
    """Waits until a process has ended by itself."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    assert select.select([watched], [], [], PATIENCE)[0], f"process {pid} does not end"
    os.close(watched)


def pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def stat(pid: int) -> list[str]:
    """The fields after the name: state, parent, group, session, …; empty when the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def state(pid: int) -> str:
    return (stat(pid) or [""])[0]


def children(parent: int) -> list[int]:
    return [pid for pid in pids() if stat(pid)[1:2] == [str(parent)]]


def environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def listening(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except OSError:
            return False
    return True
