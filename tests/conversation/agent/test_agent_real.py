"""Real agents, run by Vantage: turns, displays, allow, deny, interrupt, a session continued, our tools.

These are the agents that `scripts/install-agents` installs, and those of the directory that AGENTS names:
`scripts/try-agents` runs this file for more of them.
"""

import json
import os
import time
from contextlib import contextmanager, suppress

import pytest

import real_agents
from agent_conversation import driven
from conversations import AGENTS, MAKE, REMEMBER, STOP, TALK, is_installed, scripts
from real_agents import stage
from server_home import serving
from started_server import StartedServer
from terminal_home import PATIENCE

agents = pytest.mark.parametrize("name", [name for name in AGENTS if is_installed(name)])


@contextmanager
def real(server, name, folder):
    """A real agent at work in a conversation, the model that it asks, and what gives that of the next process."""
    agent, project = AGENTS[name], folder / "project"
    project.mkdir(parents=True, exist_ok=True)
    with stage(scripts(agent.tools, project)) as where, driven(server, cwd=str(project)) as conversation:
        run = agent.run(real_agents.programs(name), where.url, "")
        for file, content in run.files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(content)
        home = {"PATH": os.environ["PATH"], "HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8"}
        fields = {"agent": name, "env": {**home, **run.env}, "model": agent.model, "cwd": str(project)}
        conversation.start([*where.alone, run.command[0]], **fields)
        model = where.model()
        conversation.until_state("idle")
        yield conversation, model, where.model


def told(model):
    """What the model was told, request by request, without asides."""
    return [text for _, body in model.requests if TALK in (text := json.dumps(body, ensure_ascii=False))]


def show(server, agent, width):
    answer = server.ask("PUT", f"{agent.path}/clients/screen", {"presentation": {"content_width": width}})
    assert answer.status == 200


@agents
def test_two_turns_with_their_displays_an_approval_and_a_denial(name, server, tmp_path):
    with real(server, name, tmp_path) as (agent, model, _):
        show(server, agent, 117)
        assert agent.say(TALK)["delivery"] == "now"
        request = agent.until_request()
        assert agent.status()["state"] == "waiting"
        choose(agent, request, "allow")
        agent.until_turns(1)
        assert (tmp_path / "project/counted").exists()
        show(server, agent, 43)
        agent.say("Write it down.")
        answer_all(agent, 2)
        agent.until_turns(2)
        assert not (tmp_path / "project/note.md").exists()
        asked = told(model)
        assert [one for one in asked if "117 char" in one and "43 char" not in one], "the first turn has its display"
        assert "43 char" in asked[-1], "and the second has another"
        assert ("I leave it at that." in agent.said()) != AGENTS[name].denial_ends_turn


@agents
def test_its_session_is_continued_in_a_new_process(name, server, tmp_path, record_property):
    """One that cannot says so, and begins anew."""
    with real(server, name, tmp_path) as (agent, model, next_model):
        agent.say(REMEMBER)
        agent.until_turns(1)
        session = agent.status()["session"]
        assert server.ask("DELETE", f"{agent.path}/agent").json["session"] == session
        agent.say(MAKE)
        assert next_model() is not model
        agent.until_turns(2)
        anew = any("a new one begins" in event["message"] for event in agent.events(kind="warning"))
        record_property("found", "begins anew, and says so" if anew else "yes")
        assert (agent.status()["session"] == session) != anew
        assert not (anew and AGENTS[name].resumes)


@agents
def test_a_command_of_our_tools_is_one_row_and_needs_no_leave(name, server, tmp_path):
    with real(server, name, tmp_path) as (agent, *_):
        agent.say(REMEMBER)
        agent.until_turns(1)
        agent.say(MAKE)
        agent.until_turns(2)
        assert len(agent.events(kind="agent_block_begin")) == 1, "our tool ran in the conversation's terminal"
        assert not agent.events(kind="request"), "without asking"
        rows = server.get(f"{agent.path}/rows?surface=plain&width=100").json["rows"]
        made = [each["text"] for each in rows if "make" in each["row"]["title"]]
        assert len(made) == 1, made
        assert made[0].startswith("• Ran make")


def choose(agent, request, kind):
    """Answers with the option of this kind that does least: it holds once, and is the last such."""
    options = [one for one in request["options"] if one["kind"] == kind and one.get("scope") in (None, "once")]
    assert agent.answer(request, options[-1]["id"]).status == 200


def answer_all(agent, first):
    """Denies what is asked from the request of this number on, until the turn is over."""
    number = first
    while True:
        found = agent.until(
            lambda events, number=number: (
                sum(event["type"] == "request" for event in events) >= number
                or (sum(event["type"] == "turn_complete" for event in events) >= 2 and "over")
            ),
            "request or end",
        )
        if found == "over":
            return
        request = agent.events(kind="request")[number - 1]
        choose(agent, request, "deny")
        number += 1


@agents
def test_a_turn_is_interrupted_while_it_waits(name, server, tmp_path):
    with real(server, name, tmp_path) as (agent, *_):
        agent.say(STOP)
        request = agent.until_request()
        assert server.post(f"{agent.path}/interrupt").json["interrupted"]
        agent.until_turns(1)
        assert agent.events(kind="turn_complete")[-1]["finish"] == "interrupted"
        assert agent.answer(request, request["options"][0]["id"]).status == 409
        assert not (tmp_path / "project/asked").exists()


@agents
def test_a_server_that_is_killed_while_it_waits_is_continued(name, tmp_path, private_home):
    """The next server is the test's, or the one that the agent's `vantage mcp` starts: the first one has the home."""
    with serving(private_home) as server, real(server, name, tmp_path) as (agent, *_):
        agent.say(TALK)
        request = agent.until_request()
        server.kill()
        with next_server(server) as agent.server:
            assert agent.status()["state"] == "waiting"
            choose(agent, request, "allow")
            agent.until_turns(1)
            assert (tmp_path / "project/counted").exists()
            assert len(agent.events(kind="request")) == 1
            agent.server.ask("DELETE", f"{agent.path}/agent")


@contextmanager
def next_server(killed):
    try:
        killed.start()
    except AssertionError as error:
        assert "is in use" in str(error)
        server = until_served(killed.home)
        yield server
        server.end()
    else:
        yield killed


def until_served(home):
    """The server that has the home, once it answers."""
    ends = time.monotonic() + PATIENCE
    while True:
        server = StartedServer(home)
        with suppress(OSError):
            server.get("/healthz")
            return server
        assert time.monotonic() < ends, "no server answers"
        time.sleep(0.05)
