"""For tests of programs built on Vantage: a terminal whose programs are Python functions, and a screen's text.

    async def installer(pty):
        pty.print("Go on? [y/n] ")
        return 0 if await pty.line() == "y" else 1

    async with fake_terminal({"./install": installer, "git status": "nothing to commit\\n"}) as t:
        await t.exec_interactive("./install")
        await t.wait_for("Go on?")
        await t.send("y\\n")

No process is started, neither shell nor host. All above the PTY is real: blocks, output, screen, waits, errors, events.
"""

import os
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from vantage.conversation.manager import Manager
from vantage.conversation.verbs.agent_terminal import AgentTerminal
from vantage.terminal.screen.screen import Screen
from vantage.testing.host import FakeHost
from vantage.testing.shell import FakePty, Program, on_a_terminal

__all__ = ["FakePty", "Program", "fake_terminal", "says", "screen_text"]


def screen_text(output: str | bytes, *, cols: int = 80, rows: int = 24) -> str:
    """What a screen shows when a program has printed this: its rows, without blanks at their ends and below."""
    with Screen(cols, rows) as screen:
        screen.feed(on_a_terminal(output))
        return "\n".join(screen.lines()).rstrip("\n")


def says(output: str | bytes, exit_code: int = 0) -> Program:
    """A program that prints this and ends."""

    async def program(pty: FakePty) -> int:
        pty.print(output)
        return exit_code

    return program


@asynccontextmanager
async def fake_terminal(
    programs: Mapping[str, Program | str],
    *,
    cwd: str | os.PathLike[str] | None = None,
    cols: int = 120,
    rows: int = 40,
    allow_secret_input: bool = False,
) -> AsyncIterator[AgentTerminal]:
    """A terminal like that of `open_terminal`, in which these programs can be run and no others.

    They are found by the whole command, else by its first word; a text is printed. What a program raises is its last
    line there, and is raised here at the end, so that no test passes over it.
    """
    known = {name: says(program) if isinstance(program, str) else program for name, program in programs.items()}
    host = FakeHost(known)
    with tempfile.TemporaryDirectory(prefix="vantage-fake-") as place:
        shell = Path(place, "bash")  # its presence is checked; it is never run
        shell.touch(0o700)
        async with Manager(Path(place), connect=host.reached) as manager:
            conversation = manager.create(
                "fake",
                shell=str(shell),
                cwd=os.fspath(cwd) if cwd is not None else None,
                env={},
                cols=cols,
                rows=rows,
                user_rc=False,
                allow_secret_input=allow_secret_input,
            )
            try:
                yield conversation.terminal
            finally:
                await manager.close_conversation("fake")
    if host.failures:
        raise host.failures[0]
