"""`vantage connect`: prints the MCP configuration of a client, or writes it and shows the difference."""

import difflib
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vantage.cli.arguments.command import OneLineCommand
from vantage.cli.arguments.conversation import home_option, place_of, stated_place
from vantage.cli.commands.agents.mcp_settings import CLIENTS, ClientFile, Launch
from vantage.cli.display.output_file import replace_file
from vantage.cli.errors import WrongUsage
from vantage.conversation.store.home import home as default_home

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@click.command(cls=OneLineCommand)
@click.argument("client", type=click.Choice(list(CLIENTS)))
@click.option("--write", is_flag=True, help="Change the files; the difference is shown.")
@click.option("--no-display", is_flag=True, help="Only the MCP server, not what the display can show.")
@click.option("--trust", is_flag=True, help="Let it use the terminal without asking each time (Claude, Codex, Gemini).")
@home_option
def connect(client: str, write: bool, no_display: bool, trust: bool, home: str | None) -> None:
    """Connect CLIENT to Vantage: its MCP configuration, and what tells its model about the display.

    Prints the difference to each file and changes nothing; with --write it is made.

    A terminal can do everything that you can. With --trust the agent uses it without asking, which runs without a
    person need: claude -p, codex exec, gemini -p.
    """
    from vantage.errors import VantageError

    known = CLIENTS[client]
    if trust and not known.can_trust:
        raise WrongUsage(f"{known.title} has no setting for --trust: it asks, or not, as you have set it up there")
    launch = _launch(home, trusted=trust)
    instruction = _instruction()
    failed = False
    changed: dict[Path, str] = {}
    for file in known.files:
        if not file.is_wanted(display=not no_display, trust=trust):
            continue
        path = _place(file.path, os.environ)
        try:
            before = changed.get(path) or (path.read_text(encoding="utf-8-sig") if path.exists() else "")
            after = changed[path] = file.edit(before, launch, instruction)
        except (OSError, UnicodeDecodeError, VantageError) as error:
            failed = True
            click.echo(f"vantage connect: {_name(file, path)} was left as it is: {error}", err=True)
            click.echo(file.edit("", launch, instruction))
            continue
        _show(file, _name(file, path), before, after)
        if write and after != before:
            _write(path, after)
    if known.note:
        click.echo(known.note)
    if failed:
        sys.exit(1)
    click.echo(
        f"{known.title} is connected: start it anew." if write else f"To do it: vantage connect {client} --write"
    )


_MOVED = {
    "~/.claude.json": ("CLAUDE_CONFIG_DIR", ".claude.json"),
    "~/.claude/": ("CLAUDE_CONFIG_DIR", ""),
    "~/.codex/": ("CODEX_HOME", ""),
    "~/.gemini/": ("GEMINI_CLI_HOME", ".gemini/"),
    "~/.pi/agent/": ("PI_CODING_AGENT_DIR", ""),
    "~/.config/": ("XDG_CONFIG_HOME", ""),
}
"""The beginning of a file's path → the variable that moves it, and the path below that variable."""


def _place(path: str, environ: "Mapping[str, str]") -> Path:
    """The path at which the client looks for the file."""
    for usual, (variable, instead) in _MOVED.items():
        if path.startswith(usual) and (folder := environ.get(variable)):
            return Path(folder).expanduser() / (instead + path.removeprefix(usual))
    return Path(path).expanduser()


def _name(file: ClientFile, path: Path) -> str:
    """The shortest correct form of a path."""
    return file.path if path == Path(file.path).expanduser() else str(path)


def _launch(home: str | None, *, trusted: bool) -> Launch:
    """How a client starts this program in this home. Paths are absolute, because clients run with another PATH."""
    program = shutil.which("vantage") or sys.argv[0]
    beside = Path(sys.executable).with_name("vantage")
    command = str(beside) if beside.exists() else str(Path(program).resolve())
    place = place_of(home)
    usual = stated_place(default_home({"HOME": os.environ.get("HOME", "")}))
    return Launch(command, ["mcp", *(["--home", place] if place != usual else [])], trusted)


def _instruction() -> str:
    from vantage.presentation import profile

    return profile("terminal").to_system_instruction()


def _show(file: ClientFile, name: str, before: str, after: str) -> None:
    if before == after:
        click.echo(f"{name} has {file.purpose} already.")
        return
    click.echo(f"{name} ({file.purpose}):")
    for line in _difference(before, after):
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        click.echo(click.style(line, fg=colour) if colour else line)
    click.echo()


def _difference(before: str, after: str) -> "Iterator[str]":
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2)
    return (line for number, line in enumerate(lines) if number > 1)


def _write(path: Path, text: str) -> None:
    """Replaces the file: it has the old content or the new, never a mixture. A symbolic link stays a link."""
    path = path.resolve()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, [text.encode()], path.stat().st_mode & 0o777 if path.exists() else 0o600)
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from error
