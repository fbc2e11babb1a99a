"""`vantage agent`, `say` and `interrupt`, with the scripted agent as the `claude` on the PATH."""

import json
import os
import sys

import pytest

import command_line
from agent_conversation import SCRIPTED, SCRIPTED_ACP, Driven


@pytest.fixture
def vantage(server, tmp_path):
    """Commands that find the scripted agent."""
    program = tmp_path / "claude"
    program.write_text(f'#!/bin/sh\nexec {SCRIPTED[0]} {SCRIPTED[1]} "$@"\n')
    program.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    with command_line.of(server, PATH=path) as commands:
        yield commands


@pytest.fixture
def agent(server):
    with server.conversation() as conversation:
        driven = Driven(server, conversation)
        driven.start()
        yield driven


def test_in_a_pipe_it_prints_the_turn_and_ends(vantage, server, work):
    ran = vantage.run("agent", "claude", "text hello there", "--conversation", work)
    assert ran.code == 0, ran
    assert "hello there" in ran.out
    assert server.get(f"/v1/conversations/{work}/agent").json["state"] == "exited"


def test_any_acp_agent_is_run_by_its_command(vantage, server, work):
    command = " ".join(SCRIPTED_ACP)
    ran = vantage.run("agent", "acp", "text hello there", "--acp", command, "--conversation", work)
    assert ran.code == 0, ran
    assert "hello there" in ran.out
    assert server.get(f"/v1/conversations/{work}/agent").json["state"] == "exited"
    assert vantage.run("say", work, "text and again").code == 0
    driven = Driven(server, work)
    driven.until_turns(2)
    assert driven.streamed() == ["hello there", "and again"]


def test_in_a_pipe_it_needs_a_prompt(vantage):
    ran = vantage.run("agent", "claude")
    assert ran.code == 2
    assert "PROMPT" in ran.err


def test_one_that_is_not_installed_says_how_to_get_it(server, work):
    with command_line.of(server, PATH=os.path.dirname(sys.executable)) as vantage:  # noqa: PTH120
        ran = vantage.run("agent", "claude", "hello", "--conversation", work)
    assert ran.code == 1
    assert "npm install" in ran.err


def test_say_tells_what_became_of_the_message(vantage, agent):
    assert vantage("say", agent.id, "hang") == ""
    ran = vantage.run("say", agent.id, "text more")
    assert ran.code == 0
    assert "joins the turn" in ran.err
    assert vantage("interrupt", agent.id) == ""
    agent.until_turns(1)
    assert json.loads(vantage("say", agent.id, "text more", "--json"))["delivery"] in ("now", "steered")


def test_say_reads_a_text_from_stdin(vantage, agent):
    assert vantage("say", agent.id, "-", stdin="text one\ntext two\n") == ""
    agent.until_turns(1)
    assert agent.texts() == ["one", "two"]


def test_an_interrupt_without_a_turn_says_so(vantage, agent):
    ran = vantage.run("interrupt", agent.id)
    assert (ran.code, ran.err) == (0, "vantage: no turn runs\n")


def test_agents_are_listed(vantage):
    assert "claude" in vantage("agent")
    assert {each["agent"] for each in json.loads(vantage("agent", "--json"))["agents"]} >= {"claude", "codex"}


def test_a_person_talks_to_it_in_a_terminal(vantage, server, agent):
    terminal = vantage.in_terminal("agent", "--conversation", agent.id, columns=70, lines=20)
    terminal.wait_for(lambda t: any("Ctrl-D leaves" in line for line in t.shown))
    terminal.type("display\r")
    agent.until_turns(1)
    terminal.wait_for(lambda t: any("display:" in line for line in t.shown))
    assert "64 char" in agent.texts()[0]
    terminal.type("ask rm -r build\r")
    terminal.wait_for(lambda t: any("answer: 1 or y Allow" in line for line in t.shown))
    terminal.type("y")
    agent.until_turns(2)
    terminal.wait_for(lambda t: any("allow: rm -r build" in line for line in t.shown))
    assert agent.events(kind="answer")[0]["by"].startswith("client:watch-")
    terminal.type("hang\r")
    terminal.wait_for(lambda t: any("Esc interrupts" in line for line in t.shown))
    terminal.type("\x1b")
    agent.until_turns(3)
    terminal.resize(50, 20)
    terminal.wait_for(lambda _: "44 char" in server.get(f"{agent.path}/instructions").json["text"])
    terminal.type("\x1b[200~display\ntext pasted\x1b[201~\r")
    agent.until_turns(4)
    assert "44 char" in agent.texts()[-2]
    terminal.type("\x04")
    assert terminal.finish() == 0
    assert agent.status()["state"] == "idle"
