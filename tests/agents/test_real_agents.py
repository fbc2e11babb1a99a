"""Real agents drive our terminal over MCP, as `vantage connect` sets it up, while others watch.

The model is scripted and nothing of the network can be reached; everything else is real: Claude Code and Codex from
npm, `vantage mcp`, the server that it starts, shells and programs, `vantage ingest --tee | vantage format`.
"""

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from command_line import SeenTerminal
from home_files import holding
from real_agents import (
    AGENTS,
    PROMPT,
    SECRET,
    VAULT,
    Rest,
    Working,
    claude,
    programs,
    set_up,
    stage,
    tour,
    working,
)
from scripted_model import Call, Say
from started_server import StartedServer, nothing_runs_afterwards
from terminal_home import PATIENCE, environment
from terminals import VANTAGE
from vantage.server.mcp.tools import CORE


class Watched(NamedTuple):
    agent: Working
    server: StartedServer
    printed: str
    """The output of `vantage format`."""
    while_it_ran: dict[str, str]
    """Rows of the ingested conversation, when the REPL was open."""
    screen: list[str]
    """Rows of the agent's terminal at the same moment."""


def until(ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not ready():
        assert time.monotonic() < deadline, "timed out"


@contextmanager
def watched(name: str, user: Path) -> Iterator[Watched]:
    """A whole run of an agent, looked at while it ran; its server still answers."""
    rest = Rest(threading.Event(), threading.Event())
    program = tour(AGENTS[name].tool, rest)
    with nothing_runs_afterwards(user) as home, working(name, user, PROMPT, program, environment()) as agent:
        ingest = subprocess.Popen(
            [*VANTAGE, "ingest", "--conversation", "run", "--tee"],
            stdin=agent.process.stdout, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=agent.env,
        )  # fmt: skip
        shown = subprocess.Popen(
            [*VANTAGE, "format", "--plain", "--width", "100"],
            stdin=ingest.stdout, stdout=subprocess.PIPE, env=agent.env, text=True,
        )  # fmt: skip
        ingest.stdout.close()
        try:
            until(lambda: rest.reached.is_set() or agent.process.poll() is not None)
            assert agent.process.poll() is None, agent.errors.read_text()
            server = StartedServer(home)
            until(lambda: "Looked at the screen" in server.texts("run"))
            rows, screen = server.texts("run"), server.pty(theirs(server), "read_screen")["rows"]
        finally:
            rest.over.set()
            printed, _ = shown.communicate(timeout=PATIENCE)
            ended = ingest.wait(PATIENCE), agent.process.wait(PATIENCE)
        assert ended == (0, 0), agent.errors.read_text()
        yield Watched(agent, server, printed, rows, screen)


def theirs(server: StartedServer) -> str:
    """The conversation that the agent's MCP server made."""
    (found,) = [each for each in server.conversations if each != "run"]
    return found


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_an_agent_drives_a_terminal_while_others_watch(name, tmp_path):
    with watched(name, tmp_path / "home") as run:
        server, conversation = run.server, theirs(run.server)

        # on the terminal that it was started from
        for line in (
            "• Started python3 -q",
            '• Waited for "42"\n  └ 6 * 7\n    42\n',
            "• Typed 8 ⏎",
            "    Correct!\n",
            "• Waited for a password prompt\n  └ Password:",
            "• Typed a secret",
            "  └ 13 characters\n",
            "• Ran ls guess missing\n  └ ls: cannot access 'missing': No such file or directory\n    guess\n",
            "• Pressed Entr\n  └ Error: bad_input: there is no key 'Entr'. Did you mean 'Enter'?",
            "• The game took 4 guesses.",
        ):
            assert line in run.printed, run.printed

        # on the page, while it ran
        assert "Started python3 -q" in run.while_it_ran
        assert "42" in run.while_it_ran['Waited for "42"']
        assert not any("guess" in title for title in run.while_it_ran)
        assert [line for line in run.screen if line][-3:] == [">>> 6 * 7", "42", ">>>"]

        # afterwards: its story, and its terminal
        assert {"Typed a secret", "Waited for its end", "Ran ls guess missing"} <= set(server.texts("run"))
        ran = server.texts(conversation)
        told = ["Ran python3 -q", "Ran ./guess 7", f"Ran {VAULT}", "Asked: Password:", "Ran ls guess missing"]
        assert list(ran) == told
        assert "Too low." in ran["Ran ./guess 7"]
        blocks = server.pty(conversation, "blocks")["blocks"]
        assert [(block["cmd"], block["exit_code"]) for block in blocks[1:]] == [
            ("./guess 7", 0),
            (VAULT, 0),
            ("ls guess missing", 2),
        ]
        read = server.pty(conversation, "read_block", block_id=blocks[1]["block_id"])
        assert read["output"].endswith("1 to 10: 7\nCorrect!\n")
        assert server.pty(conversation, "status")["mode"] == "idle"

        # what the model was told: the tools, how to use them, what the display can show
        asked = json.dumps(run.agent.model.requests)
        assert "A real terminal that keeps its state" in asked
        assert "Output width: 74 characters." in asked
        if name == "claude":
            first = next(body for _, body in run.agent.model.requests if body.get("tools"))
            assert {f"mcp__vantage__{tool}" for tool in CORE} <= {tool["name"] for tool in first["tools"]}

        assert holding(server.home, SECRET) == []


def test_a_person_talks_to_claude_code_in_a_window(tmp_path):
    """The model hears how wide the window is, with every prompt; the terminal is used without asking."""

    def program():
        said = yield [Call("mcp__vantage__pty_exec_block", {"command": "echo $((6 * 7)) is the answer"})]
        return [Say("It said 42." if "42 is the answer" in said else said)]

    user = tmp_path / "home"
    with nothing_runs_afterwards(user) as home, stage({"the answer": program}) as place:
        run = claude(programs(), place.url, "", asks=True)
        known = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        settings = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [run.env["ANTHROPIC_API_KEY"]]},
            "projects": {str(user / "project"): known},
        }
        env = set_up("claude", user, run._replace(files={".claude.json": json.dumps(settings)}), environment())
        in_project = ["sh", "-c", 'cd "$0" && exec "$@"', str(user / "project")]
        window = SeenTerminal([*in_project, *place.alone, run.command[0]], columns=132, lines=40, **{**env, **run.env})
        try:
            model = place.model()
            window.wait_for(lambda shown: any("? for shortcuts" in line for line in shown.lines))
            window.type("/mcp")
            window.wait_for(lambda shown: any("/mcp" in line for line in shown.lines))
            window.type("\r")
            window.wait_for(lambda shown: any("vantage · ✔ connected" in line for line in shown.lines))
            window.type("\x1b")  # in a window Claude Code does not wait for its servers, but it shows them
            window.wait_for(lambda shown: not any("Manage MCP servers" in line for line in shown.lines))
            window.type("What is the answer?")
            window.wait_for(lambda shown: any("What is the answer?" in line for line in shown.lines))
            window.type("\r")
            window.wait_for(lambda shown: any("It said 42." in line for line in shown.lines))
        finally:
            window.process.kill()
            window.finish()
        server = StartedServer(home)
        (conversation,) = server.conversations
        assert server.texts(conversation) == {
            "Ran echo $((6 * 7)) is the answer": "• Ran echo $((6 * 7)) is the answer\n  └ 42 is the answer"
        }
    assert "Output width: 126 characters." in json.dumps(model.requests)
