"""The agents that Vantage can run: how each is found, started and driven. Data only; the IO is the caller's."""

import re
from collections.abc import Callable

import msgspec

from vantage.agents.drivers import claude, codex
from vantage.agents.drivers.driver import Driver, Launch, Options

_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?(?:[-+][\w.+-]+)?")


class KnownAgent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent of the table: `launch(options)` says how a run starts, `driver(options)` speaks with it."""

    title: str
    """Its name for people."""
    program: str
    """The name of its program on the PATH; the first word of what `launch` gives, unless a command is given."""
    launch: Callable[[Options], Launch]
    driver: Callable[[Options], Driver]
    install: str
    """How a person gets it."""
    version: tuple[str, ...] = ("--version",)
    """What its program is called with to say its version."""


KNOWN: dict[str, KnownAgent] = {
    "claude": KnownAgent(
        title="Claude Code",
        program="claude",
        launch=claude.launch,
        driver=claude.Claude,
        install="npm install -g @anthropic-ai/claude-code",
    ),
    "codex": KnownAgent(
        title="Codex",
        program="codex",
        launch=codex.launch,
        driver=codex.Codex,
        install="npm install -g @openai/codex",
    ),
}


def version_in(printed: str) -> str | None:
    """The version in what a program printed when it was asked for it."""
    found = _VERSION.search(printed)
    return found[0] if found else None
