"""Agents of the host: processes with pipes, files that have every byte before an event, numbered messages."""

import itertools
import os

import pytest

from agent_harness import ECHO, Agent
from host_harness import Home, children, stat, wait_gone
from vantage.ptyhost import protocol


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    yield home
    home.finish()


@pytest.fixture
def agent(home):
    return Agent(home.client())


def test_a_message_is_journaled_and_answered(agent):
    opened = agent.python(ECHO, run="r7", record={"options": {"mode": "plan"}})
    assert (opened["run"], opened["offset"]) == ("r7", 0)
    written = agent.write(1, "héllo\n", key="say 12")
    assert written["n"] == 1
    agent.wait_for("got héllo\n".encode())
    start, sent = agent.records("start", "sent")
    assert (start["run"], start["options"], start["pid"], start["at"]) == ("r7", {"mode": "plan"}, opened["pid"], 0)
    assert (sent["n"], sent["data"], sent["key"], sent["at"]) == (1, "héllo\n", "say 12", 0)
    head = agent.path(protocol.STREAM_INDEX_NAME).read_bytes()[: written["journal"]]
    assert head.endswith(b'"key":"say 12"}\n')
    agent.ask("close_input")
    agent.event("exit")
    assert agent.stream().endswith(b"end\n")
    assert {name: agent.records("exit")[0][name] for name in ("status", "signal", "at")} == {
        "status": 0,
        "signal": None,
        "at": len(agent.stream()),
    }


def test_it_leads_a_session_and_gets_three_descriptors(agent):
    program = """
import os, sys
print(sorted(os.listdir("/proc/self/fd")), os.getpid() == os.getsid(0) == os.getpgrp(), os.getcwd(), os.environ["X"])
print("to stderr", file=sys.stderr)
"""
    agent.python(program, env={"X": "given"}, cwd="/usr")
    agent.event("exit")
    # The fourth is the one that lists them.
    assert agent.stream() == b"['0', '1', '2', '3'] True /usr given\n"
    assert agent.errors() == b"to stderr\n"


def test_offsets_continue_over_runs(agent):
    agent.python("import sys; print('one'); print('bad', file=sys.stderr)")
    agent.event("exit")
    opened = agent.python("import sys; print('two'); print('worse', file=sys.stderr)", run="r2")
    assert opened["offset"] == len(b"one\n")
    agent.event("exit")
    assert (agent.stream(), agent.errors()) == (b"one\ntwo\n", b"bad\nworse\n")
    assert agent.kinds() == ["start", "exit", "start", "exit"]
    assert [(record["run"], record["at"], record["stderr"]) for record in agent.records("start")] == [
        ("r1", 0, 0),
        ("r2", 4, 4),
    ]


def test_bytes_are_in_their_files_before_the_event(agent):
    agent.python("import os\nfor n in range(3000):\n os.write(1, b'%d\\n' % n * 20)\n os.write(2, b'%d\\n' % n * 9)\n")
    events = []
    while not events or events[-1]["event"] != "exit":
        event = agent.client.sort(agent.client.message())
        if "event" not in event:
            continue
        sizes = [
            agent.path(name).stat().st_size
            for name in (protocol.STREAM_NAME, protocol.STREAM_INDEX_NAME, protocol.ERRORS_NAME)
        ]
        assert [event["offset"], event["journal"], event["stderr"]] <= sizes
        events.append(event)
    last = events[-1]
    assert (last["offset"], last["stderr"]) == (len(agent.stream()), len(agent.errors()))
    assert agent.stream() == b"".join(b"%d\n" % n * 20 for n in range(3000))
    assert agent.errors() == b"".join(b"%d\n" % n * 9 for n in range(3000))
    for before, after in itertools.pairwise(events):
        assert before["offset"] <= after["offset"]
        assert before["journal"] <= after["journal"]


class TestOrder:
    def test_only_the_next_number_is_taken(self, agent):
        agent.python(ECHO)
        agent.write(1, "one\n")
        for n in (0, 1, 3, 1 << 40):
            refused = agent.write_refused(n, "wrong\n")
            assert refused["error"] == ("bad_request" if n == 0 else "order"), refused
            assert refused.get("last", 1) == 1
        agent.write(2, "two\n")
        assert agent.wait_for(b"got two\n") == b"got one\ngot two\n"
        assert [record["data"] for record in agent.records("sent")] == ["one\n", "two\n"]
        agent.kill()

    def test_a_client_whose_answer_was_lost_finds_its_message_in_the_journal(self, home, agent):
        agent.python(ECHO)
        data = protocol.encode_data(b"once\n")
        agent.client.send("agent_write", agent="a", n=1, data=data, record={"key": "say 3"})
        agent.client.close()
        second = Agent(home.client())
        second.until(lambda: second.attach()["n"] == 1)
        assert second.write_refused(1, "once\n", key="say 3")["last"] == 1
        assert [record["key"] for record in second.records("sent")] == ["say 3"]
        second.write(2, "twice\n")
        assert second.wait_for(b"got twice\n") == b"got once\ngot twice\n"
        second.kill()

    def test_half_a_request_of_a_client_that_died_is_not_taken(self, home, agent):
        agent.python(ECHO)
        fields = {"id": 9, "op": "agent_write", "agent": "a", "n": 1, "data": protocol.encode_data(b"half\n" * 999)}
        agent.client.socket.sendall(protocol.encode(fields)[:-1])
        agent.client.close()
        second = Agent(home.client())
        assert second.attach()["n"] == 0
        second.write(1, "whole\n")
        assert second.wait_for(b"got ") == b"got whole\n"
        second.kill()

    def test_numbers_begin_again_with_each_run(self, agent):
        for run in ("r1", "r2"):
            agent.python(ECHO, run=run)
            agent.write(1, f"{run}\n")
            agent.wait_for(f"got {run}\n".encode())
            agent.kill()
            found = agent.attach()
            assert (found["alive"], found["run"], found["n"]) == (False, run, 1)


def test_a_second_client_attaches_to_what_runs(home, agent):
    pid = agent.python(ECHO)["pid"]
    agent.write(1, "one\n")
    agent.wait_for(b"got one\n")
    agent.client.close()
    second = Agent(home.client())
    found = second.attach()
    assert (found["alive"], found["pid"], found["run"], found["n"], found["stalled"]) == (True, pid, "r1", 1, None)
    assert found["offset"] == len(b"got one\n")
    second.write(2, "two\n")
    second.wait_for(b"got two\n")
    second.ask("detach")
    second.kill()
    assert second.refused("open", **second.opening("true", cwd="relative-and-missing"))["error"] == "spawn"


def test_a_living_agent_keeps_the_host_and_its_end_lets_it_leave(home, agent):
    agent.python(ECHO)
    agent.client.close()
    again = Agent(home.client())
    assert again.client.pid == agent.client.pid
    assert again.attach()["alive"]
    again.kill()
    again.client.close()
    wait_gone(again.client.pid)


def test_a_host_that_is_told_to_end_ends_its_agents(home, agent):
    pid = agent.python("import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('on', flush=True)\ninput()")
    agent.wait_for(b"on\n")
    os.kill(agent.client.pid, 15)
    wait_gone(pid["pid"])
    wait_gone(agent.client.pid)
    assert agent.records("exit")[0]["signal"] == 9


@pytest.mark.parametrize(
    ("op", "fields", "says"),
    [
        ("open", {"record": {}}, "record.run"),
        ("open", {"record": {"run": "r", "pid": 4}}, "the host itself writes pid"),
        ("open", {"folder": "relative"}, "absolute path"),
        ("open", {"argv": []}, "argv"),
        ("write", {"n": 1, "data": "!"}, "base64"),
        ("write", {"n": 1, "data": protocol.encode_data(b"\xff")}, "UTF-8"),
        ("write", {"n": "1", "data": ""}, "number"),
        ("write", {"n": 1, "data": "", "record": {"n": 4}}, "the host itself writes n"),
        ("write", {"n": 1, "data": "", "record": 7}, "expected an object"),
        ("kill", {"grace_ms": -1}, "grace_ms"),
    ],
)
def test_a_request_that_cannot_be_used_says_what_is_wrong(agent, op, fields, says):
    agent.run("cat")
    opening = agent.opening("cat") if op == "open" else {}
    refused = agent.refused(op, **{**opening, **fields})
    assert refused["error"] == "bad_request"
    assert says in refused["message"]
    assert agent.kinds() == ["start"]
    agent.kill()


def test_an_agent_that_is_not_there_is_named(home, agent):
    for op in ("write", "close_input", "kill", "forget", "detach"):
        assert agent.refused(op, n=1, data="")["error"] == "unknown_agent"
    agent.python(ECHO)
    assert agent.refused("open", **agent.opening("cat"))["error"] == "exists"
    assert agent.refused("forget")["error"] == "exists"
    assert Agent(agent.client, "b").refused("attach", folder=str(agent.folder))["error"] == "exists"
    agent.kill()
    assert agent.write_refused(1)["error"] == "not_running"
    agent.ask("forget")
    assert agent.write_refused(1)["error"] == "unknown_agent"
    assert agent.attach()["run"] == "r1"


def test_the_list_has_agents_beside_terminals(agent):
    pid = agent.python(ECHO)["pid"]
    listed = agent.client.ask("list")
    assert listed["terminals"] == []
    assert listed["agents"] == [
        {"agent": "a", "folder": str(agent.folder), "pid": pid, "alive": True, "offset": 0},
    ]
    agent.kill()


def test_what_is_not_installed_leaves_nothing_running(agent):
    refused = agent.refused("open", **agent.opening("no-such-agent"))
    assert refused["error"] == "spawn"
    assert refused["message"] == "cannot run no-such-agent: No such file or directory"
    assert agent.stream() == b""
    assert agent.kinds() == []
    assert not agent.attach()["alive"]
    assert not [pid for pid in children(agent.client.pid) if stat(pid)]


def test_one_that_exits_at_once_has_all_its_output(agent):
    for run in range(20):
        agent.run("sh", "-c", f"echo out{run}; echo err{run} >&2; exit 3", run=f"r{run}")
        agent.event("exit")
    assert agent.stream() == b"".join(b"out%d\n" % run for run in range(20))
    assert agent.errors() == b"".join(b"err%d\n" % run for run in range(20))
    assert [record["status"] for record in agent.records("exit")] == [3] * 20
