"""A server that is killed in the middle of a turn: nothing is lost or doubled, and the turn ends."""

import json
import os
import random
import signal

import pytest

from agent_conversation import driven
from extent import extent
from server_home import serving
from terminal_home import host_pid, wait_until_gone


@pytest.fixture
def own_server(private_home):
    with serving(private_home) as found:
        yield found


TURN = "text begins\nask first\nflood 200\nask second\ntext ends"
EXPECTED = ["begins", "allow: first", *(f"line {number}" for number in range(200)), "allow: second", "ends"]


def places(events):
    return [tuple(event["source"].values()) for event in events if "offset" in event.get("source", {})]


def assert_whole(agent, turns):
    """Everything that happened is logged once, in order; everything that was sent was sent once."""
    assert agent.texts() == EXPECTED * turns
    events = agent.events()
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    found = places(events)
    assert len(found) == len(set(found))
    assert found == sorted(found)
    requests = [event["request_id"] for event in agent.events(kind="request")]
    assert len(requests) == len(set(requests)) == 2 * turns
    assert [event["request_id"] for event in agent.events(kind="answer")] == requests
    keys = [record["key"] for record in agent.journal() if record["t"] == "sent"]
    assert len(keys) == len(set(keys))
    assert [key for key in keys if key.startswith("answer")] == [f"answer {name}" for name in requests]
    answers = [message for message in agent.got() if message["type"] == "control_response"]
    given = [message["response"]["request_id"] for message in answers]
    assert len(given) == len(set(given)), "an answer was given twice"
    assert [message["type"] for message in agent.got()].count("user") == turns


def test_a_server_that_is_killed_at_random_moments_loses_nothing(own_server):
    """It is killed while a request is open, while an answer is on its way, and while the agent prints."""
    seed = int(os.environ.get("VANTAGE_SEED", "0")) or random.randrange(1 << 30)
    chance = random.Random(seed)
    print("seed", seed)
    with driven(own_server) as agent:
        agent.start()
        for turn in range(extent(3, 22)):
            agent.say(TURN)
            for number in (1, 2):
                request = agent.until_request(2 * turn + number)
                if chance.random() < 0.5:
                    agent.server.kill()
                    agent.server.start()
                    assert agent.status()["state"] == "waiting"
                assert agent.answer(request, "allow").status == 200
                if chance.random() < 0.7:
                    least = chance.randrange(200 * turn + 200)
                    agent.until(lambda events, least=least: len(events) > least, "event")
                    agent.server.kill()
                    agent.server.start()
            agent.until_turns(turn + 1)
        assert_whole(agent, turn + 1)


def test_an_answer_that_was_logged_and_not_sent_is_sent_by_the_next_server(own_server):
    """The answer is added to the log of a server that is not running: as one that died right after it had logged it."""
    with driven(own_server) as agent:
        agent.start()
        agent.say("ask ls")
        request = agent.until_request()
        agent.server.kill()
        log = agent.folder.parent / "events.jsonl"
        events = [json.loads(line) for line in log.read_text().splitlines()]
        answer = {"type": "answer", "request_id": request["request_id"], "option": "allow", "by": "cli"}
        with log.open("a") as file:
            file.write(json.dumps({**answer, "seq": events[-1]["seq"] + 1}) + "\n")
        agent.server.start()
        agent.until_turns(1)
        assert agent.texts() == ["allow: ls"]


def test_a_message_that_was_logged_and_not_sent_is_sent_by_the_next_server(own_server):
    with driven(own_server) as agent:
        run = agent.start()["run"]
        agent.server.kill()
        log = agent.folder.parent / "events.jsonl"
        events = [json.loads(line) for line in log.read_text().splitlines()]
        message = {"type": "user_message", "text": "text late", "source": {"run": run}}
        with log.open("a") as file:
            file.write(json.dumps({**message, "seq": events[-1]["seq"] + 1}) + "\n")
        agent.server.start()
        agent.until_turns(1)
        assert agent.texts() == ["late"]


def test_a_killed_host_is_said_and_the_next_message_continues_the_session(own_server):
    with driven(own_server) as agent:
        pid = agent.start()["pid"]
        agent.say("text one")
        agent.until_turns(1)
        session = agent.status()["session"]
        agent.say("ask ls")
        request = agent.until_request()
        host = host_pid(own_server.home)
        os.kill(host, signal.SIGKILL)
        wait_until_gone(host)
        state = agent.until_state("exited")
        assert "lost with the PTY host" in state["error"]
        assert [event["why"] for event in agent.events(kind="request_closed")] == ["lost"]
        wait_until_gone(pid)
        assert agent.answer(request, "allow").status == 409
        agent.say("text two")
        agent.until(lambda _: "two" in agent.texts(), "second text")
        assert agent.status()["session"] == session


def test_a_reboot_is_noticed_by_the_next_server(own_server):
    """Server and host are killed: the next server says what was lost before it is asked."""
    with driven(own_server) as agent:
        agent.start()
        agent.say("ask ls")
        agent.until_request()
        host = host_pid(own_server.home)
        own_server.kill()
        os.kill(host, signal.SIGKILL)
        wait_until_gone(host)
        own_server.start()
        agent.until_state("exited")
        kinds = [event["type"] for event in agent.events()][-3:]
        assert kinds == ["request_closed", "turn_complete", "agent_state"]


def test_one_that_ended_while_no_server_ran_is_logged_by_the_next(own_server):
    with driven(own_server) as agent:
        pid = agent.start()["pid"]
        own_server.kill()
        os.kill(pid, signal.SIGKILL)
        own_server.start()
        assert "signal" in agent.until_state("exited")["error"]
        assert agent.status()["state"] == "exited"
