"""The command line as people and agents run it: processes, each with a server's home in its environment."""

import os
import select
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

import pytest

from server_home import Server
from terminal_home import PATIENCE, environment
from terminals import VANTAGE, Terminal
from vantage import Screen


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


class CommandLine:
    def __init__(self, home: Path, **env: str) -> None:
        self.home = home
        self.env = {**environment(VANTAGE_HOME=str(home)), **env}
        self._started: list[subprocess.Popen] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Ends processes that a failed test left running."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def run(self, *arguments: str, stdin: str | bytes | None = None, cwd: Path | None = None, **env: str) -> Ran:
        done = subprocess.run(
            [*VANTAGE, *arguments],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            cwd=cwd,
            env={**self.env, **env},
            timeout=PATIENCE,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def __call__(self, *arguments: str, **how) -> str:
        """Runs a command that must succeed; returns its output."""
        ran = self.run(*arguments, **how)
        assert (ran.code, ran.err) == (0, ""), ran
        return ran.out

    def start(self, *arguments: str) -> subprocess.Popen:
        """Starts a command and returns while it runs."""
        process = subprocess.Popen(
            [*VANTAGE, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.env,
            bufsize=0,
            start_new_session=True,
        )
        self._started.append(process)
        return process

    def in_terminal(self, *arguments: str, **how) -> "SeenTerminal":
        terminal = SeenTerminal([*VANTAGE, *arguments], **{**self.env, **how})
        self._started.append(terminal.process)
        return terminal


def read_line(stream: IO[bytes]) -> str:
    """The next line of a process that was started; one that does not come fails the test."""
    assert select.select([stream], [], [], PATIENCE)[0], "timed out waiting for a line"
    return stream.readline().decode()


def of(server: Server, **env: str) -> CommandLine:
    return CommandLine(server.home, **env)


class SeenTerminal(Terminal):
    """A window whose screen is kept by our own emulator, too: it knows about alternate screens, styles and titles."""

    def __init__(self, command: list[str], *, columns: int = 80, lines: int = 24, **env: str) -> None:
        self.window = Screen(columns, lines)
        super().__init__(command, columns=columns, lines=lines, **env)

    def resize(self, columns: int, lines: int) -> None:
        super().resize(columns, lines)
        self.window.resize(columns, lines)

    def _read(self) -> bool:
        before = len(self.raw)
        more = super()._read()
        self.window.feed(self.raw[before:])
        return more

    @property
    def lines(self) -> list[str]:
        return self.window.lines()

    @property
    def bar(self) -> str:
        """The last line of the window."""
        return self.lines[-1].strip()

    def type(self, text: str | bytes) -> None:
        os.write(self.master, text.encode() if isinstance(text, str) else text)


@pytest.fixture
def vantage(server):
    """Commands, with the home of the server that all tests share."""
    with of(server) as vantage:
        yield vantage


@pytest.fixture
def work(server):
    """A conversation of its own in that server."""
    with server.conversation() as conversation:
        yield conversation
