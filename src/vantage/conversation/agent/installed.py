"""The agents that can be run here: where each program is, its version, and sessions that can be continued."""

import asyncio
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from vantage.agents.drivers.known import KNOWN, version_in
from vantage.conversation.agent.files import read_kept
from vantage.conversation.agent.launch import DEFAULT_PATH

_VERSION_S = 10.0
"""Seconds that a program gets to say its version."""


class AgentSession(msgspec.Struct, kw_only=True):
    """A session of an agent that ran in a conversation."""

    conversation_id: Annotated[str, Meta(description="Where it ran; a message there continues it")]
    session: Annotated[str, Meta(description="The agent's own id of it, for `resume`")]
    cwd: Annotated[str, Meta(description="Where it worked")]


class Installed(msgspec.Struct, kw_only=True):
    agent: Annotated[str, Meta(description="Its name in requests and commands")]
    title: Annotated[str, Meta(description="Its name for people")]
    installed: Annotated[bool, Meta(description="Whether its program was found")]
    path: Annotated[str | None, Meta(description="Its program")] = None
    version: Annotated[str | None, Meta(description="What it says of its version")] = None
    install: Annotated[str, Meta(description="How to get it")] = ""
    sessions: Annotated[list[AgentSession], Meta(description="Of runs that have ended")] = []


async def installed_agents(home: Path, environment: Mapping[str, str]) -> list[Installed]:
    """All agents of the table. Programs are looked for in the PATH of the server too: it is the user's own, mostly."""
    path = os.pathsep.join((os.environ.get("PATH", ""), environment.get("PATH", DEFAULT_PATH)))
    sessions = _sessions(home)
    programs = {name: known.program for name, known in KNOWN.items() if known.program is not None}
    found = {name: shutil.which(program, path=path) for name, program in programs.items()}
    versions = await asyncio.gather(*(_version(name, program, path) for name, program in found.items()))
    return [
        Installed(
            agent=name,
            title=KNOWN[name].title,
            installed=found[name] is not None,
            path=found[name],
            version=version,
            install=KNOWN[name].install or "",
            sessions=sessions.get(name, []),
        )
        for name, version in zip(found, versions, strict=True)
    ]


async def _version(name: str, program: str | None, path: str) -> str | None:
    if program is None:
        return None
    try:
        process = await asyncio.create_subprocess_exec(
            program,
            *KNOWN[name].version,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={"PATH": path, "HOME": str(Path.home())},
            start_new_session=True,
        )
    except OSError:
        return None
    try:
        printed, _ = await asyncio.wait_for(process.communicate(), _VERSION_S)
    except TimeoutError:
        return None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return version_in(printed.decode("utf-8", "replace"))


def _sessions(home: Path) -> dict[str, list[AgentSession]]:
    """Agent → its sessions, those of the last runs first."""
    found: dict[str, list[AgentSession]] = {}
    runs = sorted(home.glob("conversations/*/agent/run.json"), key=lambda each: each.stat().st_mtime, reverse=True)
    for run in runs:
        kept = read_kept(run.parent)
        if kept is not None and kept.over and kept.session is not None:
            session = AgentSession(conversation_id=run.parent.parent.name, session=kept.session, cwd=kept.options.cwd)
            found.setdefault(kept.agent, []).append(session)
    return found
