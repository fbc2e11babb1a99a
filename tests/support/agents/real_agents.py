"""Real coding agents for tests: configured by `vantage connect`, run against a scripted model, without a network.

They come from npm (`scripts/install-agents`) and are found in .venv-peers/agents, or in the directory that AGENTS
names. Each runs in a home of its own and, where Linux allows it, in a network namespace with nothing in it but
loopback; its environment says besides that it shall not look outside.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import NamedTuple

from places import ROOT
from scripted_model import Call, Program, Say, ScriptedModel, Scripts, Step

PORT = 8080
"""The model's port, in a range that no other test uses."""
SECRET = "correct horse"
VAULT = "read -rsp 'Password: ' word; echo; echo ${#word} characters"
PROMPT = "Please try the terminal: a REPL, the game, the vault."


class Run(NamedTuple):
    """How a program is called: its command, the files in its home, its environment."""

    command: list[str]
    files: dict[str, str]
    env: dict[str, str]


class Agent(NamedTuple):
    run: Callable[[Path, str, str], Run]
    """Where programs are, the model's address, the prompt → how it is called, without our MCP server."""
    tool: str
    """The agent's name for a tool of ours."""
    client: str
    """The agent's name in `vantage connect`."""
    trust: tuple[str, ...] = ("--trust",)
    """Tools are allowed beforehand: the run has no person to ask."""


def claude(programs: Path, url: str, prompt: str, *, asks: bool = False) -> Run:
    off = ("TELEMETRY", "ERROR_REPORTING", "AUTOUPDATER")
    return Run(
        [str(programs / "claude"), "-p", prompt, "--output-format", "stream-json", "--verbose",
         "--include-partial-messages", "--model", "claude-sonnet-4-5",
         *([] if asks else ["--dangerously-skip-permissions"])],
        {},
        {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "dummy", "IS_SANDBOX": "1",
         "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", **{f"DISABLE_{name}": "1" for name in off}},
    )  # fmt: skip


def codex(programs: Path, url: str, prompt: str, model: str = "gpt-5.5", *, asks: bool = False) -> Run:
    config = f"""
model_provider = "scripted"
check_for_update_on_startup = false
[tools.update_plan]
enabled = true
[analytics]
enabled = false
[features]
apps = false
plugins = false
remote_plugin = false
plugin_discovery_prefetch = false
plugin_sharing = false
[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "MODEL_KEY"
"""
    return Run(
        [str(programs / "codex"), "exec", "--json", "--skip-git-repo-check", "-m", model,
         *([] if asks else ["--dangerously-bypass-approvals-and-sandbox"]), prompt],
        {".codex/config.toml": config},
        {"MODEL_KEY": "dummy"},
    )  # fmt: skip


def gemini(programs: Path, url: str, prompt: str, *, asks: bool = False) -> Run:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    return Run(
        [str(programs / "gemini"), "-m", "gemini-2.5-flash", *([] if asks else ["--yolo"]),
         "--output-format", "stream-json", "-p", prompt],
        {".gemini/settings.json": json.dumps(settings)},
        {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": url},
    )  # fmt: skip


def opencode(programs: Path, url: str, prompt: str) -> Run:
    model = {"name": "scripted", "tool_call": True, "reasoning": True, "cost": {"input": 1, "output": 2},
             "limit": {"context": 100_000, "output": 10_000}}  # fmt: skip
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "scripted", "models": {"scripted": model}}
    provider["options"] = {"baseURL": f"{url}/v1", "apiKey": "dummy"}
    config = {
        "provider": {"scripted": provider},
        "enabled_providers": ["scripted"],
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "permission": {"*": "allow"},
    }
    off = ("AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS", "LSP_DOWNLOAD", "SHARE")
    return Run(
        [str(programs / "opencode"), "run", "--format", "json", "--thinking", prompt],
        {".config/opencode/opencode.json": json.dumps(config)},
        {"OPENCODE_PURE": "1", **{f"OPENCODE_DISABLE_{name}": "1" for name in off}},
    )


AGENTS = {
    "claude": Agent(partial(claude, asks=True), "mcp__vantage__{}", "claude"),
    "codex": Agent(partial(codex, asks=True), "mcp__vantage/{}", "codex"),
    "gemini": Agent(partial(gemini, asks=True), "mcp_vantage_{}", "gemini"),
    "opencode": Agent(opencode, "vantage_{}", "opencode", ()),
}


def programs(name: str = "claude") -> Path:
    """Where the agents are. Says how to get this one when it is not there."""
    folder = Path(os.environ.get("AGENTS") or ROOT / ".venv-peers/agents") / "node_modules/.bin"
    assert (folder / name).exists(), f"no {name} in {folder}: run 'make test' or scripts/install-agents"
    return folder


# what the model does


class Rest(NamedTuple):
    """A place in the script where the model waits until the test has looked."""

    reached: Event
    over: Event


def tour(tool: str, rest: Rest | None = None) -> Program:
    """Uses the terminal as a model does: a REPL, a game whose answers it must read, a password.

    It rests while the REPL runs.
    """

    def call(name: str, **args: object) -> Step:
        return [Call(tool.format(f"pty_{name}"), args)]

    def play() -> Generator[Step, str, Step]:
        began = yield [Say("First some arithmetic."), *call("exec_interactive", command="python3 -q")]
        yield call("wait_for", match=">>> ")
        yield call("send", data="6 * 7\n")
        yield call("wait_for", match="42")
        yield call("read_screen")
        if rest is not None:
            rest.reached.set()
            rest.over.wait()
        yield call("end_session", session_id=found(r"session_id\W+([\w-]+)|session ([\w-]+)", began))
        yield [Say("Now the game."), *call("exec_interactive", command="./guess 7")]
        low, high, tries = 1, 10, 0
        said = ""
        while "Correct!" not in said:
            tries += 1
            assert tries < 6, said
            yield call("wait_for", match="1 to 10: ")
            guess = (low + high) // 2
            yield call("send", data=f"{guess}\n")
            said = yield call("wait_for", match=r"Too (low|high)\.|Correct!", regex=True)
            low, high = (guess + 1, high) if "Too low" in said else (low, guess - 1)
        yield call("wait_for", match="EOF")
        yield [Say("And the vault."), *call("exec_interactive", command=VAULT)]
        yield call("wait_for", match={"secret_prompt": True})
        yield call("send", data=f"{SECRET}\n", secret=True)
        yield call("wait_for", match="EOF")
        yield call("exec_block", command="ls guess missing")
        yield call("keys", keys=["Entr"])
        return [Say(f"The game took **{tries} guesses**.")]

    return play


def found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    assert match, f"no {pattern} in {text}"
    return next(filter(None, match.groups()))


# where it runs


def can_do_without_network() -> bool:
    unshare = shutil.which("unshare")
    return unshare is not None and subprocess.run([unshare, "-rn", "true"], check=False).returncode == 0


class Stage(NamedTuple):
    """Where an agent runs."""

    alone: list[str]
    """What is put before its command."""
    url: str
    """Where it finds the model."""
    model: Callable[[], ScriptedModel]
    """The model, once the agent has been started."""


@contextmanager
def stage(scripts: Scripts) -> Iterator[Stage]:
    """A place with nothing in reach but the model."""
    if not can_do_without_network():
        with ScriptedModel(scripts) as model:
            yield Stage([], model.url, lambda: model)
        return
    with (
        TemporaryDirectory(prefix="vantage-model-") as folder,
        socket.socket(socket.AF_UNIX) as door,
        ExitStack() as all,
    ):
        path = f"{folder}/door"
        door.bind(path)
        door.listen(1)
        door.settimeout(60)  # an agent that does not start

        def model() -> ScriptedModel:
            inside, _ = door.accept()
            with inside:
                _, (listener,), _, _ = socket.recv_fds(inside, 1, 1)
            return all.enter_context(ScriptedModel(scripts, socket.socket(fileno=listener)))

        alone = ["unshare", "-rn", sys.executable, str(ROOT / "tests/support/agents/only_loopback.py"), path, str(PORT)]
        yield Stage(alone, f"http://127.0.0.1:{PORT}", model)


def set_up(name: str, user: Path, run: Run, env: dict[str, str]) -> dict[str, str]:
    """A home for the agent, connected to Vantage as a person would connect it, with a project; its environment."""
    project = user / "project"
    project.mkdir(parents=True)
    shutil.copy(ROOT / "examples/guess", project)
    for file, content in run.files.items():
        (user / file).parent.mkdir(parents=True, exist_ok=True)
        (user / file).write_text(content)
    env = {**env, "HOME": str(user), "TMPDIR": str(user), "LANG": "C.UTF-8"}
    connect = [sys.executable, "-m", "vantage", "connect", AGENTS[name].client, "--write", *AGENTS[name].trust]
    subprocess.run(connect, env=env, cwd=project, stdout=subprocess.DEVNULL, check=True)
    return env


class Working(NamedTuple):
    process: subprocess.Popen
    model: ScriptedModel
    errors: Path
    """What it wrote to stderr."""
    env: dict[str, str]


@contextmanager
def working(name: str, user: Path, prompt: str, program: Program, env: dict[str, str]) -> Iterator[Working]:
    """The agent at work; its JSON is on its stdout."""
    with stage({prompt: program}) as place:
        run = AGENTS[name].run(programs(), place.url, prompt)
        env = set_up(name, user, run, env)
        with (user / "errors").open("w") as errors:
            process = subprocess.Popen(
                [*place.alone, *run.command], cwd=user / "project", env={**env, **run.env},
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
            )  # fmt: skip
        try:
            yield Working(process, place.model(), user / "errors", env)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
