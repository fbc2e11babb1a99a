"""How a run of an agent is started: its program, its environment, the MCP server that it gets."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from vantage.agents.drivers.driver import Options
from vantage.agents.drivers.known import KNOWN, KnownAgent
from vantage.errors import InputError, NotFound, did_you_mean
from vantage.events import Json

DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"
_NAMES = ("VANTAGE_CONVERSATION", "VANTAGE_HOME")


class Command(NamedTuple):
    argv: list[str]
    env: dict[str, str]
    cwd: str


def known_agent(name: str) -> KnownAgent:
    try:
        return KNOWN[name]
    except KeyError:
        raise InputError(f"{name[:80]!r} is no agent that can be run", hint=did_you_mean(name, KNOWN)) from None


def command_of(agent: str, options: Options, command: list[str] | None, env: Mapping[str, str]) -> Command:
    """What to run. Raises an error that says how to install a program that is not there."""
    known = known_agent(agent)
    launch = known.launch(options)
    argv = [*(command or launch.argv[:1]), *launch.argv[1:]]
    if not argv or not argv[0]:
        raise InputError(f"the agent {agent!r} needs a command", hint='give command, for example ["my-agent", "--acp"]')
    environment = {**env, **launch.env}
    program = _program(argv[0], environment.get("PATH", DEFAULT_PATH), options.cwd)
    if program is None:
        hint = (
            f"install it with '{known.install}', or give command with its path" if command is None else "check command"
        )
        raise NotFound(f"the program {argv[0]!r} of {known.title} is not installed", hint=hint)
    if not Path(options.cwd).is_dir():
        raise InputError(f"{options.cwd!r} is no directory to start an agent in", hint="give another cwd")
    return Command([program, *argv[1:]], environment, options.cwd)


def _program(name: str, path: str, cwd: str) -> str | None:
    if "/" in name:
        found = os.path.join(cwd, name)  # noqa: PTH118 -- a path that is absolute stays as it is
        return found if os.access(found, os.X_OK) else None
    return shutil.which(name, path=path)


def mcp_server(conversation_id: str, home: Path, env: Mapping[str, str]) -> dict[str, Json]:
    """Vantage's MCP server for a conversation, as an agent starts it.

    Agents start it in an environment of their own choice, so what it needs of ours is given here. The conversation's
    token is not: what is given stands in an agent's argv and in its journal, so `--scoped` makes it again.
    """
    arguments = ["-m", "vantage", "mcp", "--conversation", conversation_id, "--home", str(home), "--scoped"]
    given = {name: env[name] for name in _NAMES if name in env}
    return {"command": sys.executable, "args": arguments, "env": given}
