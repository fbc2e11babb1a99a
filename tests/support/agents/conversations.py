"""Conversations with agents that are driven: the same for each agent, in its own tools.

Each is played with the real program against the scripted model: by tests, and by `scripts/record-drivers`, whose
recordings the drivers' laws are tested on.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import real_agents
from driven import Driven
from places import ROOT
from real_agents import Run, stage
from scripted_model import Call, Say, ScriptedModel, Scripts
from vantage import events as ev
from vantage.agents.drivers.driver import Options
from vantage.agents.drivers.known import KNOWN

WIDE, NARROW = "The display is 120 columns wide.", "The display is 40 columns wide."
TALK, STOP, AGAIN = "Count the files.", "Wait for the tests.", "What did I say first?"
REMEMBER, MAKE = "Remember the seven.", "Now make it."
MCP = {"command": sys.executable, "args": [str(ROOT / "scripts/record-agents"), "--mcp"], "env": {}}
"""A small MCP server that stands for Vantage's."""


class Tools(NamedTuple):
    """How the model calls an agent's tools."""

    shell: Callable[[str], Call]
    write: Callable[[str, str], Call]
    ask: Callable[[str, list[str]], Call] | None
    """A question of the model's to the person."""
    ours: str
    """The agent's name for a tool of ours."""


class Driveable(NamedTuple):
    """What a real agent needs to be driven: its files and environment, its tools, its model's name."""

    run: Callable[[Path, str, str], Run]
    tools: Tools
    model: str | None
    resumes: bool = True
    """Whether it continues a session in another process, at the versions that are tested."""
    denial_ends_turn: bool = False
    """A denial without words ends its turn."""


INSTALLED = ("claude", "codex", "gemini")
"""What `scripts/install-agents` installs; `AGENTS=DIRECTORY` may have others."""


def is_installed(name: str) -> bool:
    """Whether the tests have this agent: what should have been installed and is not fails there."""
    return name in INSTALLED or bool(shutil.which(name, path=os.environ.get("AGENTS", "") + "/node_modules/.bin"))


def _claude_question(question: str, answers: list[str]) -> Call:
    options = [{"label": one, "description": f"It is {one.lower()}"} for one in answers]
    one = {"question": question, "header": "Choice", "multiSelect": False, "options": options}
    return Call("AskUserQuestion", {"questions": [one]})


def _with(run: Run, **env: str) -> Run:
    return run._replace(env={**run.env, **env})


def _opencode(*place: object) -> Run:
    """opencode, which asks before it does anything."""
    run = real_agents.opencode(*place)
    return run._replace(files={name: content.replace('"allow"', '"ask"') for name, content in run.files.items()})


AGENTS = {
    "claude": Driveable(
        lambda *place: _with(real_agents.claude(*place), ENABLE_TOOL_SEARCH="false"),
        Tools(
            lambda command: Call("Bash", {"command": command, "description": "Run it"}),
            lambda path, content: Call("Write", {"file_path": path, "content": content}),
            _claude_question,
            "mcp__vantage__pty_exec_block",
        ),
        "claude-sonnet-4-5",
    ),
    "codex": Driveable(
        real_agents.codex,
        Tools(
            lambda command: Call(
                "exec_command",
                {"cmd": command, "sandbox_permissions": "require_escalated", "justification": "To run it"},
            ),
            lambda path, content: Call(
                "apply_patch", f"*** Begin Patch\n*** Add File: {path}\n+{content.rstrip()}\n*** End Patch"
            ),
            None,
            "mcp__vantage/pty_exec_block",
        ),
        "gpt-5.5",
    ),
    "gemini": Driveable(
        partial(real_agents.gemini, asks=True),
        Tools(
            lambda command: Call("run_shell_command", {"command": command, "description": "Run it"}),
            lambda path, content: Call("write_file", {"file_path": path, "content": content}),
            None,
            "mcp_vantage_pty_exec_block",
        ),
        "gemini-2.5-flash",
        resumes=False,
    ),
    "opencode": Driveable(
        _opencode,
        Tools(
            lambda command: Call("bash", {"command": command, "description": "Run it"}),
            lambda path, content: Call("write", {"filePath": path, "content": content}),
            None,
            "vantage_pty_exec_block",
        ),
        "scripted/scripted",
        denial_ends_turn=True,
    ),
}


def scripts(tools: Tools, folder: Path) -> Scripts:
    question = [[tools.ask("Which colour?", ["Red", "Blue"])]] if tools.ask else []
    return {
        TALK: [
            [Say("I count them."), tools.shell("ls > counted; wc -l < counted")],
            [Say("There is **one** file.")],
            [tools.write(str(folder / "note.md"), "One file.\n")],
            *question,
            [Say("I leave it at that.")],
            [Call(tools.ours, {"command": "make"})],
            [Say("First you asked for the files.")],
        ],
        STOP: [
            [tools.shell("touch asked")],
            [Say("Not now, then.")],
            [tools.shell("touch began; sleep 1000")],
            [Say("That took long.")],
        ],
        REMEMBER: [
            [Say("Seven.")],
            [Call(tools.ours, {"command": "make"})],
            [Say("There is nothing to make.")],
        ],
    }


@contextmanager
def driven(name: str, folder: Path, run_id: str, **options: str) -> Iterator[tuple[Driven, ScriptedModel]]:
    """A driven agent with its home in this folder, which a later run may continue, and the model that it asks."""
    agent, project, programs = AGENTS[name], folder / "project", real_agents.programs(name)
    project.mkdir(parents=True, exist_ok=True)
    with stage(scripts(agent.tools, project)) as where:
        run = agent.run(programs, where.url, "")
        for file, content in run.files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(content)
        chosen = Options(run=run_id, cwd=str(project), model=agent.model, mcp=MCP, **options)
        launch = KNOWN[name].launch(chosen)
        home = {"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8"}
        with Driven(
            name,
            chosen,
            argv=[*where.alone, str(programs / name), *launch.argv[1:]],
            env={**home, **run.env, **launch.env},
            errors=folder / f"{run_id}.stderr",
        ) as it:
            yield it, where.model()


# the conversations


def choose(it: Driven, key: str, request: ev.Request, kind: str, text: str = "") -> None:
    """Answers with the option of this kind that holds once."""
    option = next(one["id"] for one in request.options if one["kind"] == kind and one.get("scope") in (None, "once"))
    it.answer(key, request, option, text)


def talk(it: Driven) -> None:
    """Two messages with another display each, an approval, a denial, and a question if the agent can ask one."""
    it.wait_until("idle")
    it.display = WIDE
    it.say("say 1", TALK)
    choose(it, "answer 1", it.wait_for(ev.Request, 1), "allow")
    it.wait_for(ev.TurnComplete, 1)
    it.wait_until("idle")
    it.display = NARROW
    it.say("say 2", "Write it down.")
    choose(it, "answer 2", it.wait_for(ev.Request, 2), "deny", "No notes, please.")
    if AGENTS[it.agent].tools.ask:
        it.answer("answer 3", it.wait_for(ev.Request, 3), "2")
    it.wait_for(ev.TurnComplete, 2)
    it.wait_until("idle")


def resume(it: Driven) -> None:
    """A new process continues the session; it uses our tools without asking."""
    it.wait_until("idle")
    it.display = WIDE
    it.say("say 3", AGAIN)
    it.wait_for(ev.TurnComplete, 1)
    it.wait_until("idle")


def stop(it: Driven) -> None:
    """A turn that waits for a person is interrupted, with a message that joins it if it can; then a command is."""
    it.wait_until("idle")
    it.display = WIDE
    it.say("say 1", STOP)
    it.wait_for(ev.Request)
    it.display = NARROW
    joins = it.driver.delivery() == "steered"
    if joins:
        it.say("say 2", "Hurry.")
    it.interrupt("interrupt 1")
    it.wait_for(ev.RequestClosed)
    it.wait_for(ev.TurnComplete)
    it.wait_until("idle")
    if not joins:
        it.say("say 2", "Hurry.")
    it.wait_for(ev.TurnComplete, 2)
    it.wait_until("idle")
    it.say("say 3", "Now run them.")
    choose(it, "answer 1", it.wait_for(ev.Request, 2), "allow")
    it.wait(lambda _: Path(it.options.cwd, "began").exists())
    it.interrupt("interrupt 2")
    it.wait_for(ev.TurnComplete, finish="interrupted", number=2)
    it.wait_until("idle")
