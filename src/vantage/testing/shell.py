"""A fake terminal: a line discipline, and a shell that runs Python functions.

It prints the marks that the hooks of a real shell print, and keeps the same two files as the PTY host does.
"""

import asyncio
import os
import shlex
import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from vantage.ptyhost import shells
from vantage.ptyhost.protocol import Happening
from vantage.ptyhost.shared.journal import Journal
from vantage.testing.line_discipline import LineDiscipline

PID = 1 << 30
"""The id of a process that does not exist: larger than any real one."""
_UNKNOWN = 127
_SIGNALLED = 128

Program = Callable[["FakePty"], Awaitable[int | None]]
"""Talks to its terminal and returns its exit code; none is 0."""


def on_a_terminal(output: str | bytes) -> bytes:
    """What a terminal makes of a program's output: line ends go back to the first column."""
    return (output.encode() if isinstance(output, str) else output).replace(b"\n", b"\r\n")


class FakePty:
    """What a program sees of its terminal: what is typed is echoed and comes in lines, until it asks for keys."""

    def __init__(self, shell: "FakeShell", command: str) -> None:
        self._shell = shell
        self.command = command

    @property
    def cwd(self) -> str:
        return self._shell.cwd

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows, as they are now."""
        return self._shell.size

    def print(self, text: str | bytes) -> None:
        """Prints as a terminal does: line ends go to the first column. Escape sequences are what they are."""
        self._shell.show(on_a_terminal(text))

    async def line(self) -> str:
        """The next line that is typed, without its end. Raises EOFError at Ctrl-D."""
        return await self._line(echo=True)

    async def secret(self, prompt: str = "Password: ") -> str:
        """The next line that is typed, without an echo. Raises EOFError at Ctrl-D."""
        self._shell.input.read_lines(echo=False)
        self.print(prompt)
        try:
            return await self._line(echo=False)
        finally:
            self.print("\n")
            self._shell.input.read_lines(echo=True)

    async def key(self) -> bytes:
        """The next input, without an echo and without waiting for Enter: one key, or all that was sent together."""
        self._shell.input.read_keys()
        return await self._shell.input.typed()

    async def _line(self, *, echo: bool) -> str:
        self._shell.input.read_lines(echo=echo)
        line = await self._shell.input.typed()
        if not line:
            raise EOFError
        return line.decode("utf-8", "replace").removesuffix("\n")


class FakeShell:
    """One fake terminal: its files, its line discipline, and a shell that knows a few programs."""

    def __init__(
        self,
        folder: str,
        programs: Mapping[str, Program],
        tell: Callable[[Happening], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self.log = Journal(folder)
        self.log.open()
        self.size = (0, 0)
        self.cwd = ""
        self.alive = False
        self.answered = -1
        self._programs = programs
        self._tell = tell
        self._failed = failed
        self._journaled: dict[str, Any] = {}
        """The settings that the journal knows of."""
        self._secret = ""
        self._cycle = 0
        self._folder = Path()
        self._running: asyncio.Task[int | None] | None = None
        self._command = ""
        self._ended_by = 0
        self.input = LineDiscipline(
            self.show, lambda: self._running is not None, enter=self._run, interrupt=self.interrupt, leave=self._leave
        )

    def start(self, folder: Path, record: dict[str, Any], cwd: str, size: tuple[int, int]) -> None:
        """Starts a fresh shell. Commands come through a file in its folder."""
        self._folder, self._secret, self.cwd, self.size = folder, record["secret"], cwd, size
        self._cycle, self.alive, self._journaled = 0, True, {}
        self.answered = self.log.offset
        self.record({**record, "t": "shell", "pid": PID, "cols": size[0], "rows": size[1], "cwd": cwd})
        self._prompt(0)

    def end(self, status: int | None, number: int | None) -> None:
        """Ends the shell and the program that runs in it."""
        self.alive = False
        if self._running is not None:
            self._running.cancel()
        self.record({"t": "exit", "status": status, "signal": number})
        self._tell(Happening.EXIT)

    def record(self, fields: dict[str, Any]) -> None:
        self.log.record(fields)
        self._tell(Happening.OUTPUT)

    def show(self, data: bytes) -> None:
        if self.alive and data:
            self.log.raw(data)
            self._tell(Happening.OUTPUT)

    def settings(self) -> dict[str, Any]:
        """As the host of a real terminal sees them."""
        running = self._running is not None
        return {
            "echo": running and self.input.lines and self.input.echo,
            "canonical": running and self.input.lines,
            "foreground": Path(_first_word(self._command)).name if running else "bash",
            "foreground_pid": PID + running,
        }

    def settle(self, known_secret: bool) -> None:
        """Journals the settings when they have changed, or when the client has others."""
        if (now := self.settings()) != self._journaled or known_secret != self.asks_for_secret:
            self._journaled = now
            self.record({"t": "state", **now})

    @property
    def asks_for_secret(self) -> bool:
        return self._running is not None and self.input.lines and not self.input.echo

    # the shell

    def _mark(self, kind: str, status: int | None = None) -> bytes:
        over = f"{status};" if status is not None else ""
        where = f"cwd={quote(self.cwd)};t={time.time():.6f}"
        return f"\x1b]133;{kind};{over}aid={self._secret};n={self._cycle};{where}\x1b\\".encode()

    def _prompt(self, status: int) -> None:
        self._cycle += 1
        self.input.drop_line()
        self.show(self._mark("D", status) + self._mark("A") + b"$ " + self._mark("B"))

    def given(self, command: str) -> None:
        """Runs a command that was handed over in a file of the shell's folder."""
        cwd = (self._folder / shells.COMMAND).read_bytes().split(b"\0")[0]
        self.cwd = os.fsdecode(cwd) or self.cwd
        self.show(on_a_terminal(command))
        self._run(command)

    def _run(self, command: str) -> None:
        self._command, self._ended_by = command, 0
        self.input.restart()
        self.show(b"\r\n" + self._mark("C"))
        word = _first_word(command)
        own = {"": self._nothing, "cd": self._cd, "exit": self._exit}
        program = self._programs.get(command) or self._programs.get(word) or own.get(word, self._unknown)
        self._running = asyncio.ensure_future(program(FakePty(self, command)))
        self._running.add_done_callback(self._over)

    async def _nothing(self, _: FakePty) -> int:
        return 0

    async def _cd(self, pty: FakePty) -> int:
        place = os.path.normpath(Path(self.cwd, *shlex.split(pty.command)[1:2]).expanduser())
        if not Path(place).is_dir():
            pty.print(f"cd: {place}: there is no such directory\n")
            return 1
        self.cwd = place
        return 0

    async def _exit(self, pty: FakePty) -> int:
        code = pty.command.split()[1:]
        self.end(int(code[0]) if code and code[0].isdigit() else 0, None)
        return 0

    def _leave(self) -> None:
        """Ctrl-D at the prompt."""
        self.show(b"exit\r\n")
        self.end(0, None)

    async def _unknown(self, pty: FakePty) -> int:
        known = ", ".join(map(repr, self._programs)) or "none"
        pty.print(f"fake_terminal: there is no program for {pty.command!r}; it was given: {known}\n")
        return _UNKNOWN

    def _over(self, task: "asyncio.Task[int | None]") -> None:
        self._running = None
        self.input.drop_reader()
        failure = None if task.cancelled() else task.exception()
        if task.cancelled():
            status = _SIGNALLED + self._ended_by
        elif failure is None:
            status = task.result() or 0
        else:
            status = 1
            self.show(on_a_terminal(f"{type(failure).__name__}: {failure}\n"))
            if isinstance(failure, Exception) and not isinstance(failure, EOFError):
                self._failed(failure)
        if self.alive:
            self._prompt(status)

    def signal(self, number: int) -> None:
        """Interrupts the running program: its wait is cancelled, and it ends unless it catches that."""
        if self._running is not None:
            self._ended_by = number
            self._running.cancel()

    def interrupt(self) -> None:
        self.input.drop_all()
        self.show(b"^C")
        if self._running is not None:
            self.signal(signal.SIGINT)
        else:
            self.show(b"\r\n")
            self._prompt(_SIGNALLED + signal.SIGINT)


def _first_word(command: str) -> str:
    return next(iter(command.split()), "")
