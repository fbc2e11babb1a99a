"""A shell of ours in a real PTY, read until it prints a mark. The only clock is a limit for broken code."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from vantage.ptyhost import shells

SECRET = "5ec7e7c0ffee"
LIMIT = 30.0
MARK = re.compile(rb"\x1b\]133;([ABCDP])((?:;[^\x07\x1b;]*)*)(?:\x07|\x1b\\)")
ESCAPE = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[\[(][0-?]*[ -/]*[@-~B]|\x1b[=>]")


class Mark(NamedTuple):
    kind: str
    n: int
    status: int | None
    cwd: str | None
    start: int
    end: int


class Ran(NamedTuple):
    output: str
    status: int
    cwd: str
    echo: str
    started: bool


class Gone(Exception):
    """The shell ended (with what it had printed)."""


class Pty:
    """A shell, its terminal, and the marks it printed so far."""

    def __init__(self, kind, folder: Path, *, env=None, user_rc=False, home=None, cwd=None):
        self.folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        search = os.environ["PATH"]
        self.shell = shells.find(kind, search)
        base = {"PATH": search, "HOME": str(home or folder), "LANG": "C.UTF-8"} | (env or {})
        self.launch = shells.launch(self.shell, folder, secret=SECRET, env=base, user_rc=user_rc)
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.chdir(cwd or folder)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
            os.execve(self.launch.argv[0], self.launch.argv, self.launch.env)
        os.set_blocking(self.master, False)
        self.raw = bytearray()
        self.scanned = 0
        self.marks: list[Mark] = []
        self.n = 0
        self.prompt = self.until("B")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.master)
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass

    def write(self, data: bytes, *, echo_off=False):
        if echo_off:
            modes = termios.tcgetattr(self.master)
            modes[3] &= ~termios.ECHO
            termios.tcsetattr(self.master, termios.TCSANOW, modes)
        while data:
            try:
                data = data[os.write(self.master, data) :]
            except BlockingIOError:
                self._read(writing=True)

    def _read(self, *, writing=False):
        ready = select.select([self.master], [self.master] if writing else [], [], LIMIT)
        assert any(ready), f"nothing came for {LIMIT} s after {self.raw[-2000:]!r}"
        if not ready[0]:
            return
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:
            data = b""
        if not data:
            raise Gone(self.raw[-2000:])
        self.raw += data
        last = self.scanned
        for match in MARK.finditer(self.raw, self.scanned):
            mark = _mark(match)
            last = match.end()
            if mark is not None:
                self.marks.append(mark)
        self.scanned = max(last, len(self.raw) - 65536)

    def until(self, kind, above=None) -> Mark:
        """The first mark of that kind in a cycle after `above` (the last prompt's)."""
        above = self.n if above is None else above
        deadline = time.monotonic() + LIMIT
        while True:
            for mark in reversed(self.marks):
                if mark.n <= above:
                    break
                if mark.kind == kind:
                    if kind == "B":
                        self.n = mark.n
                    return next(m for m in self.marks if m.kind == kind and m.n == mark.n)
            assert time.monotonic() < deadline, f"no {kind} mark after {above} in {self.raw[-2000:]!r}"
            self._read()

    def until_in_cycle(self, *kinds) -> Mark:
        """The first mark of these kinds in the running cycle (C, P)."""
        while True:
            for mark in self.marks:
                if mark.n == self.n and mark.kind in kinds:
                    return mark
            self._read()

    def type(self, command, cwd=None):
        typed = shells.type_command(self.shell, self.folder, command, cwd=cwd)
        self.typed_at = len(self.raw)
        self.write(typed.data, echo_off=typed.echo_off)

    def run(self, command, cwd=None) -> Ran:
        """Types a command at the ready prompt and reads up to the next ready prompt."""
        cycle = self.n
        self.type(command, cwd)
        end = self.until("B")
        return self.result(cycle, end.n)

    def result(self, cycle, upto) -> Ran:
        """The output lies between C and D; where the shell refused the text (no C), after the line editor's end."""
        starts = [m for m in self.marks if m.n == cycle and m.kind == "C"]
        over = next(m for m in self.marks if m.n == upto and m.kind in "DA")
        end_of_line = shells.ACCEPTED[self.shell.kind]
        accepted = self.raw.find(end_of_line, self.typed_at, over.start) if end_of_line else -1
        begin = (starts[0].start, starts[0].end) if starts else (accepted, accepted + len(end_of_line))
        text = self.raw[begin[1] : over.start] if begin[0] >= 0 else b""
        echo = self.raw[self.typed_at : begin[0] if begin[0] >= 0 else over.start]
        # fish and line editors end with a CR of their own, before anything the command prints.
        return Ran(plain(text).lstrip("\r"), over.status, over.cwd, plain(echo), bool(starts))

    def seen(self, since=0) -> str:
        """Everything printed, as text."""
        return plain(bytes(self.raw[since:]))


def _mark(match) -> Mark | None:
    parts = match[2].decode(errors="surrogateescape").split(";")[1:]
    fields = dict(part.split("=", 1) for part in parts if "=" in part)
    if fields.get("aid") != SECRET:
        return None
    kind = match[1].decode()
    status = parts[0] if kind == "D" else fields.get("st")
    cwd = fields.get("cwd")
    return Mark(
        kind,
        int(fields["n"]),
        None if status is None else int(status),
        None if cwd is None else unquote(cwd, errors="surrogateescape"),
        match.start(),
        match.end(),
    )


def plain(data: bytes) -> str:
    """Text without marks and escapes, line ends as programs wrote them."""
    return ESCAPE.sub(b"", data).replace(b"\r\n", b"\n").decode(errors="surrogateescape")
