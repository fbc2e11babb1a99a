"""An ACP agent in a conversation, over HTTP: turns, displays, approvals, an interrupt, sessions, a killed server."""

import json
import os
import signal

import pytest

from agent_conversation import SCRIPTED_ACP, driven
from server_home import serving


def start(agent, *options):
    agent.start([*SCRIPTED_ACP, *options], agent="acp")
    agent.until_state("idle")


@pytest.fixture
def agent(server):
    with driven(server) as found:
        start(found)
        yield found


def show(agent, width):
    answer = agent.server.ask("PUT", f"{agent.path}/clients/phone", {"presentation": {"content_width": width}})
    assert answer.status == 200


def prompts(agent):
    return [message["params"]["prompt"] for message in agent.got() if message.get("method") == "session/prompt"]


def test_each_message_has_the_display_of_its_turn(agent):
    show(agent, 41)
    assert agent.say("text hello\ndisplay")["delivery"] == "now"
    agent.until_turns(1)
    show(agent, 67)
    agent.say("display")
    agent.until_turns(2)
    hello, first, second = agent.streamed()
    assert hello == "hello"
    assert "Output width: 41 characters." in first
    assert "Output width: 67 characters." in second
    assert [one[1]["resource"]["uri"] for one in prompts(agent)] == ["vantage://display"] * 2
    assert agent.status()["agent"] == "acp"


def test_a_table_that_was_too_wide_is_told_of_in_the_next_turn(agent):
    show(agent, 30)
    agent.say("text | name | what it is for |\ntext |---|---|\ntext | importer | reads what people send |")
    agent.until_turns(1)
    said = "The last table was too wide"
    assert said in agent.server.get(f"{agent.path}/instructions").json["text"]
    agent.say("display")
    agent.until_turns(2)
    agent.say("display")
    agent.until_turns(3)
    assert [said in one for one in agent.streamed()[-2:]] == [True, False]


def test_a_request_is_allowed_and_denied(agent):
    agent.say("ask rm -r build\nask rm -r src")
    request = agent.until_request()
    assert request["args"] == {"command": "rm -r build"}
    assert agent.status()["state"] == "waiting"
    assert agent.answer(request, "yes").status == 200
    second = agent.until_request(2)
    assert [option["kind"] for option in second["options"]] == ["allow", "deny"]
    assert agent.answer(second, "no").status == 200
    agent.until_turns(1)
    assert agent.streamed() == ["allow: rm -r build", "deny: rm -r src"]


def test_a_message_during_a_turn_waits_for_its_end(agent):
    agent.say("ask ls")
    request = agent.until_request()
    assert agent.say("text second")["delivery"] == "queued"
    assert len(prompts(agent)) == 1
    agent.answer(request, "yes")
    agent.until_turns(2)
    assert agent.streamed() == ["allow: ls", "second"]


def test_an_interrupt_ends_the_turn(agent):
    agent.say("text before\nhang")
    agent.until(lambda _: agent.streamed(), "text")
    assert agent.server.post(f"{agent.path}/interrupt").json["interrupted"]
    agent.until_turns(1)
    assert agent.events(kind="turn_complete")[0]["finish"] == "interrupted"


def test_an_interrupt_takes_back_what_was_asked(agent):
    agent.say("ask ls")
    request = agent.until_request()
    agent.server.post(f"{agent.path}/interrupt")
    agent.until_turns(1)
    assert [event["why"] for event in agent.events(kind="request_closed")] == ["withdrawn"]
    assert agent.answer(request, "yes").status == 409
    assert agent.events(kind="turn_complete")[0]["finish"] == "interrupted"


def test_a_message_after_its_end_continues_the_session(agent):
    agent.say("text one")
    agent.until_turns(1)
    session = agent.status()["session"]
    agent.server.ask("DELETE", f"{agent.path}/agent")
    agent.say("text two")
    agent.until_turns(2)
    assert agent.status()["session"] == session
    assert agent.streamed() == ["one", "two"], "what the agent repeats of its session is in the log already"


def test_one_that_cannot_continue_its_session_says_so_and_begins_anew(server):
    with driven(server) as agent:
        start(agent, "--forgets")
        agent.say("text one")
        agent.until_turns(1)
        session = agent.status()["session"]
        server.ask("DELETE", f"{agent.path}/agent")
        agent.say("text two")
        agent.until_turns(2)
        assert agent.streamed() == ["one", "two"]
        assert agent.status()["session"] not in (session, None)
        (warning,) = [event["message"] for event in agent.events(kind="warning")]
        assert "a new one begins, without what was said before" in warning


def test_a_killed_one_says_how_it_ended(agent):
    agent.say("text before\ndie 5")
    assert "told to die with 5" in agent.until_state("exited")["error"]
    assert [event["finish"] for event in agent.events(kind="turn_complete")] == ["exited"]


def test_a_server_that_is_killed_in_a_turn_loses_nothing(private_home):
    """It is killed while a request is open, and while the agent prints."""
    with serving(private_home) as server, driven(server) as agent:
        start(agent)
        agent.say("text begins\nask first\nflood 300\nask second\ntext ends")
        request = agent.until_request()
        server.kill()
        server.start()
        assert agent.status()["state"] == "waiting"
        assert agent.answer(request, "yes").status == 200
        server.kill()
        server.start()
        assert agent.answer(agent.until_request(2), "no").status == 200
        agent.until_turns(1)
        flood = [f"line {number}" for number in range(300)]
        assert agent.streamed() == ["begins", "allow: first", *flood, "deny: second", "ends"]
        keys = [record["key"] for record in agent.journal() if record["t"] == "sent"]
        assert len(keys) == len(set(keys))
        given = [message["id"] for message in agent.got() if "outcome" in str(message.get("result"))]
        assert given == [0, 1], "each answer was given once"


def test_one_that_ended_while_no_server_ran_is_told_by_the_next(private_home):
    with serving(private_home) as server, driven(server) as agent:
        start(agent)
        pid = agent.status()["pid"]
        agent.say("ask ls")
        agent.until_request()
        server.kill()
        os.kill(pid, signal.SIGKILL)
        server.start()
        assert "signal" in agent.until_state("exited")["error"]
        assert [event["why"] for event in agent.events(kind="request_closed")] == ["lost"]


def test_the_events_of_its_stream_have_places(agent):
    agent.say("text hello")
    agent.until_turns(1)
    places = [tuple(event["source"].values()) for event in agent.events() if "offset" in event.get("source", {})]
    assert len(places) > 3
    assert places == sorted(set(places)), json.dumps(agent.events())
