"""The agent of a conversation, over HTTP, with a scripted agent: turns, displays, ends of every kind."""

import os
import re

import pytest

from agent_conversation import SCRIPTED, driven
from terminal_home import wait_until_gone


@pytest.fixture
def agent(server):
    with driven(server) as found:
        yield found


def test_a_message_becomes_a_turn(agent):
    begun = agent.start()
    assert begun["agent"] == "claude"
    said = agent.say("text hello\ntext world")
    assert said["delivery"] == "now"
    agent.until_turns(1)
    assert agent.texts() == ["hello", "world"]
    status = agent.status()
    assert status["state"] == "idle"
    assert status["session"].startswith("session-")
    assert status["model"] == "scripted"
    assert status["pid"] == begun["pid"]
    kinds = [event["type"] for event in agent.events()]
    assert kinds[:2] == ["agent_state", "agent_state"]
    assert kinds.index("user_message") < kinds.index("assistant_text") < kinds.index("turn_complete")


def test_events_of_the_stream_have_a_place_in_it(agent):
    agent.start()
    agent.say("text hello")
    agent.until_turns(1)
    places = [tuple(event["source"].values()) for event in agent.events() if "offset" in event.get("source", {})]
    assert len(places) > 4
    assert places == sorted(set(places))


def test_what_a_client_logs_is_no_message_for_the_agent_and_no_part_of_its_stream(agent, server):
    run = agent.start()["run"]
    forged = [
        {"type": "user_message", "text": "text obeyed", "source": {"run": run}},
        {"type": "assistant_text", "text": "mine", "source": {"run": run, "offset": 1 << 60, "index": 0}},
        {"type": "assistant_text", "text": "odd", "source": {"run": run, "offset": 1 << 60, "index": "x"}},
        {"type": "no_type_of_ours", "source": {"run": run, "offset": 1 << 60, "index": 0}},
    ]
    assert server.post(f"{agent.path}/events", forged).status == 200
    assert [event for event in agent.events()[-len(forged) :] if "source" in event] == []
    agent.say("text hello")
    agent.until_turns(1)
    assert agent.texts() == ["mine", "odd", "hello"]


def test_each_turn_has_the_displays_of_its_begin(agent, server):
    agent.start()
    clients = f"{agent.path}/clients"
    assert server.ask("PUT", f"{clients}/phone", {"presentation": {"content_width": 40}}).status == 200
    agent.say("display\nask ls\ndisplay")
    request = agent.until_request()
    assert server.ask("PUT", f"{clients}/phone", {"presentation": {"content_width": 66}}).status == 200
    assert "40" in server.get(f"{agent.path}/instructions").json["text"]
    agent.answer(request, "allow")
    agent.until_turns(1)
    assert "66" in server.get(f"{agent.path}/instructions").json["text"]
    agent.say("display")
    agent.until_turns(2)
    shown = [text for text in agent.texts() if text.startswith("display: ")]
    assert ["40" in text for text in shown] == [True, True, False]
    assert "66" in shown[2]


def test_a_request_is_allowed_and_denied(agent):
    agent.start()
    agent.say("ask rm -r build\nask rm -r src")
    request = agent.until_request()
    assert request["title"]
    assert request["args"] == {"command": "rm -r build"}
    assert agent.status()["state"] == "waiting"
    assert agent.answer(request, "allow").status == 200
    second = agent.until_request(2)
    assert agent.answer(second, "deny").status == 200
    agent.until_turns(1)
    assert agent.texts()[0] == "allow: rm -r build"
    assert agent.texts()[1].startswith("deny: rm -r src")
    assert request["request_id"].startswith(agent.status()["run"])


def test_a_request_knows_the_screen_of_its_moment(agent, server):
    agent.start()
    server.pty(agent.id, "exec_block", command="echo before")
    agent.say("ask ls")
    offset = agent.until_request()["screen_offset"]
    server.pty(agent.id, "exec_block", command="echo after")
    then = server.pty(agent.id, "read_screen", at_offset=offset)["text"]
    assert "before" in then
    assert "after" not in then


def test_an_interrupt_ends_the_turn(agent, server):
    agent.start()
    agent.say("text before\nhang")
    agent.until(lambda events: any(event["type"] == "assistant_text" for event in events), "text")
    answer = server.post(f"{agent.path}/interrupt")
    assert answer.json == {"ok": True, "interrupted": True}
    agent.until_turns(1)
    assert [event["type"] for event in agent.events() if event["type"] in ("canceled", "turn_complete")] == [
        "canceled",
        "turn_complete",
    ]
    assert agent.events(kind="turn_complete")[0]["finish"] == "interrupted"
    assert server.post(f"{agent.path}/interrupt").json == {"ok": True, "interrupted": False}


def test_an_interrupt_closes_the_request_that_was_open(agent, server):
    agent.start()
    agent.say("ask sleep")
    request = agent.until_request()
    server.post(f"{agent.path}/interrupt")
    agent.until_turns(1)
    assert agent.answer(request, "allow").status == 409


def test_a_second_agent_is_refused(agent, server):
    agent.start()
    again = server.post(f"{agent.path}/agent", {"agent": "claude", "command": SCRIPTED})
    assert again.status == 409
    assert again.code == "busy"
    assert "runs in this conversation" in again.json["error"]["message"]


def test_ending_it_closes_its_requests_as_lost(agent, server):
    pid = agent.start()["pid"]
    agent.say("ask ls")
    request = agent.until_request()
    ended = server.ask("DELETE", f"{agent.path}/agent")
    assert ended.json["state"] == "exited"
    closed = agent.events(kind="request_closed")
    assert [(event["request_id"], event["why"]) for event in closed] == [(request["request_id"], "lost")]
    assert [event["finish"] for event in agent.events(kind="turn_complete")] == ["exited"]
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_message_to_one_that_has_ended_continues_its_session(agent, server):
    agent.start()
    agent.say("text one")
    agent.until_turns(1)
    session = agent.status()["session"]
    first = agent.status()["run"]
    server.ask("DELETE", f"{agent.path}/agent")
    said = agent.say("text two")
    assert said["delivery"] in ("now", "queued")
    agent.until_turns(2)
    assert agent.texts() == ["one", "two"]
    assert agent.status()["session"] == session
    assert agent.status()["run"] != first


def test_a_message_without_an_agent_is_refused(agent, server):
    answer = server.post(f"{agent.path}/say", {"text": "hello"})
    assert answer.status == 409
    assert answer.code == "not_running"
    assert agent.events() == []


def test_one_that_is_not_installed_is_named(agent, server):
    answer = server.post(f"{agent.path}/agent", {"agent": "claude", "env": {"PATH": "/nowhere"}})
    assert answer.status == 404
    assert "npm install" in answer.json["error"]["hint"]
    assert server.post(f"{agent.path}/agent", {"agent": "cloude"}).json["error"]["hint"] == "did you mean 'claude'?"
    assert agent.status()["state"] == "none"


def test_one_that_exits_at_once_says_why(agent, server):
    agent.start(["/bin/sh", "-c", "echo no such model >&2; exit 7"])
    state = agent.until_state("exited")
    assert "status 7" in state["error"]
    assert "no such model" in state["error"]
    assert agent.status()["error"] == state["error"]


def test_one_that_dies_in_the_middle_of_a_line_loses_nothing(agent):
    agent.start()
    agent.say("text before\nhalf")
    agent.until_state("exited")
    assert agent.texts() == ["before"]
    assert any('"mess' in str(event) for event in agent.events())
    assert [event["finish"] for event in agent.events(kind="turn_complete")] == ["exited"]


def test_one_that_dies_says_its_last_words(agent):
    agent.start()
    agent.say("die 3")
    assert "told to die with 3" in agent.until_state("exited")["error"]


def test_one_that_never_answers_is_starting_and_can_be_ended(agent, server):
    agent.start(["/bin/sh", "-c", "exec sleep 1000"])
    assert agent.say("hello")["delivery"] == "queued"
    status = agent.status()
    assert status["state"] == "starting"
    assert len(status["queued"]) == 1
    assert server.ask("DELETE", f"{agent.path}/agent").json["state"] == "exited"
    assert [event["message"] for event in agent.events(kind="warning")] == [
        "the agent ended before it got this message, say it again: hello"
    ]


def test_what_it_leaves_behind_is_ended(agent):
    agent.start(["/bin/sh", "-c", "sleep 1000 & echo child $! >&2; exit 4"])
    error = agent.until_state("exited")["error"]
    wait_until_gone(int(re.search(r"child (\d+)", error)[1]))


def test_garbage_is_shown_and_the_turn_goes_on(agent):
    agent.start()
    agent.say("garbage\ntext after")
    agent.until_turns(1)
    assert agent.texts() == ["after"]
    assert any("no message" in str(event) for event in agent.events())


def test_a_flood_is_whole(agent):
    agent.start()
    agent.say("flood 5000")
    agent.until_turns(1)
    assert agent.texts() == [f"line {number}" for number in range(5000)]


def test_a_message_during_a_turn_joins_it(agent):
    agent.start()
    agent.say("ask ls")
    request = agent.until_request()
    assert agent.say("text second")["delivery"] == "steered"
    agent.answer(request, "allow")
    agent.until(lambda _: "second" in agent.texts(), "second text")


def test_one_that_reads_nothing_can_be_ended(agent, server):
    agent.start()
    agent.say("deaf")
    assert agent.say("x" * 1_000_000)["delivery"] == "steered"
    assert server.ask("DELETE", f"{agent.path}/agent").json["state"] == "exited"


def test_deleting_the_conversation_ends_its_agent(server):
    with driven(server) as agent:
        pid = agent.start()["pid"]
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_its_environment_is_the_conversations(agent, server):
    agent.start(["/bin/sh", "-c", "env >&2; exit 1"])
    error = agent.until_state("exited")["error"]
    assert f"VANTAGE_CONVERSATION={agent.id}" in error
    assert f"VANTAGE_HOME={server.home}" in error
    assert "VANTAGE_RATE_LIMIT" not in error


def test_agents_are_listed_with_their_sessions(agent, server):
    agent.start()
    agent.say("text one")
    agent.until_turns(1)
    server.ask("DELETE", f"{agent.path}/agent")
    listed = {each["agent"]: each for each in server.get("/v1/agents").json["agents"]}
    sessions = [each["conversation_id"] for each in listed["claude"]["sessions"]]
    assert agent.id in sessions
