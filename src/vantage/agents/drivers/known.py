"""The agents that Vantage can run: how each is found, started and driven. Data only; the IO is the caller's."""

import re
from collections.abc import Callable
from functools import partial

import msgspec

from vantage.agents.drivers import claude, codex
from vantage.agents.drivers.acp import Acp
from vantage.agents.drivers.driver import Driver, Launch, Options
from vantage.events import Agent

_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?(?:[-+][\w.+-]+)?")


class KnownAgent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent of the table: `launch(options)` says how a run starts, `driver(options)` speaks with it."""

    title: str
    """Its name for people."""
    program: str | None
    """Its program on the PATH, the first word of what `launch` gives; `None` if the caller gives a command."""
    launch: Callable[[Options], Launch]
    driver: Callable[[Options], Driver]
    install: str | None
    """How a person gets it."""
    version: tuple[str, ...] = ("--version",)
    """What its program is called with to say its version."""


def _acp(agent: str, title: str, install: str | None, *argv: str, model_option: str | None = None) -> KnownAgent:
    """An agent that speaks ACP when it is called so."""

    def launch(options: Options) -> Launch:
        chosen = [model_option, options.model] if model_option and options.model else []
        return Launch(argv=[*argv, *chosen])

    return KnownAgent(
        title=title,
        program=argv[0] if argv else None,
        launch=launch,
        driver=partial(Acp, agent=Agent(id=agent, name=title), chooses_model=model_option is None),
        install=install,
    )


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
    "gemini": _acp(
        "gemini", "Gemini CLI", "npm install -g @google/gemini-cli", "gemini", "--acp", model_option="--model"
    ),
    "opencode": _acp("opencode", "opencode", "npm install -g opencode-ai", "opencode", "acp"),
    "copilot": _acp(
        "copilot", "GitHub Copilot CLI", "npm install -g @github/copilot", "copilot", "--acp", model_option="--model"
    ),
    "qwen": _acp("qwen", "Qwen Code", "npm install -g @qwen-code/qwen-code", "qwen", "--acp", model_option="--model"),
    "acp": _acp("acp", "ACP agent", None),
}


def version_in(printed: str) -> str | None:
    """The version in what a program printed when it was asked for it."""
    found = _VERSION.search(printed)
    return found[0] if found else None
