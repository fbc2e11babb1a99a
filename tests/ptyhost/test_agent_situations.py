"""Agents that do not read, close their pipes, flood, leave children behind, do not end, or lose their host."""

import hashlib
import os
import signal
import subprocess
from pathlib import Path

import pytest

from agent_harness import ECHO, Agent
from host_harness import MARK, Home, environment, full_at, pids, state, wait_gone
from vantage.ptyhost import protocol
from vantage.ptyhost.protocol import MAX_PENDING


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    yield home
    home.finish()


@pytest.fixture
def agent(home):
    return Agent(home.client())


READS_LATER = """
import hashlib, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
print("ready", flush=True)
signal.sigwait({signal.SIGUSR1})
digest, size = hashlib.sha256(), 0
while data := sys.stdin.buffer.read(1 << 16):
    digest.update(data)
    size += len(data)
print(size, digest.hexdigest(), flush=True)
"""


class TestInput:
    def test_as_much_as_may_wait_waits_and_arrives_whole(self, agent):
        pid = agent.python(READS_LATER)["pid"]
        agent.wait_for(b"ready\n")
        part = MAX_PENDING // 4
        texts = [letter * (part - 1) + "\n" for letter in "abcd"]
        for n, text in enumerate(texts, 1):
            agent.write(n, text)
        # The pipe itself has taken some 64 KiB.
        taken = MAX_PENDING - agent.attach()["pending"]
        refused = agent.write_refused(5, "x" * (taken + 1))
        assert refused["error"] == "input_full"
        assert "Nothing was taken" in refused["message"]
        agent.write(5, "x" * taken)
        assert agent.attach()["pending"] == MAX_PENDING
        os.kill(pid, signal.SIGUSR1)
        agent.ask("close_input")
        agent.event("exit")
        whole = "".join([*texts, "x" * taken]).encode()
        assert agent.stream() == b"ready\n%d %s\n" % (len(whole), hashlib.sha256(whole).hexdigest().encode())
        assert [record["n"] for record in agent.records("sent")] == [1, 2, 3, 4, 5]

    def test_one_message_may_have_all_of_it(self, agent):
        pid = agent.python(READS_LATER)["pid"]
        agent.wait_for(b"ready\n")
        agent.write(1, "é" * (MAX_PENDING // 2))
        os.kill(pid, signal.SIGUSR1)
        agent.ask("close_input")
        agent.event("exit")
        assert agent.stream().startswith(b"ready\n%d " % MAX_PENDING)

    @pytest.mark.parametrize("size", [1, 2, 3, 4095, 4096, 65535, 65536, 65537, 200_000])
    def test_messages_of_every_size_arrive_in_order(self, agent, size):
        agent.run("cat")
        texts = [chr(ord("a") + n % 26) * size for n in range(12)]
        for n, text in enumerate(texts, 1):
            agent.write(n, text)
        agent.ask("close_input")
        agent.event("exit")
        assert agent.stream() == "".join(texts).encode()

    def test_an_agent_that_has_closed_its_input_takes_no_more(self, agent):
        agent.python("import os, signal\nos.close(0)\nprint('closed', flush=True)\nsignal.pause()")
        agent.wait_for(b"closed\n")
        agent.write(1, "journaled, and so delivered\n")
        refused = agent.write_refused(2)
        assert (refused["error"], agent.attach()["n"]) == ("input_closed", 1)
        agent.kill()

    def test_an_input_that_closes_while_messages_wait(self, agent):
        agent.python("import os, sys\nsys.stdin.readline()\nos.close(0)\nprint('closed', flush=True)\nos.read(9, 1)")
        agent.write(1, "a" * 1_000_000)
        agent.write(2, "\n" + "b" * 1_000_000)
        agent.event("exit")
        assert not agent.attach()["alive"]
        assert agent.write_refused(3)["error"] == "not_running"

    def test_after_close_input_nothing_is_taken(self, agent):
        agent.python(READS_LATER)
        agent.wait_for(b"ready\n")
        agent.write(1, "x" * 1_000_000)
        agent.ask("close_input")
        agent.ask("close_input")
        assert agent.write_refused(2)["error"] == "input_closed"
        agent.kill()


class TestOutput:
    def test_an_agent_that_closes_stdout_lives_on(self, agent):
        program = """
import os, sys
os.close(1)
for line in sys.stdin: print("heard", line, end="", file=sys.stderr, flush=True)
"""
        agent.python(program)
        agent.write(1, "one\n")
        agent.wait_for(b"heard one\n", protocol.ERRORS_NAME)
        # The host has closed its end too: it would be reported as readable without end.
        agent.until(lambda: len(pipes(agent.client.pid)) == 2)
        agent.ask("close_input")
        agent.event("exit")
        assert agent.kinds()[-1] == "exit"

    def test_a_flood_of_both_pipes_is_kept_and_holds_no_request_up(self, agent):
        program = """
import os, threading
def flood(descriptor, letter):
    for n in range(400): os.write(descriptor, b"%05d" % n + letter * 65530 + b"\\n")
threads = [threading.Thread(target=flood, args=each) for each in ((1, b"o"), (2, b"e"))]
for each in threads: each.start()
for each in threads: each.join()
"""
        agent.python(program)
        asked = 0
        while not any(event["event"] == "exit" for event in agent.client.events):
            agent.client.ask("list")
            asked += 1
        for data, letter in ((agent.stream(), b"o"), (agent.errors(), b"e")):
            assert data == b"".join(b"%05d" % n + letter * 65530 + b"\n" for n in range(400))
        assert asked > 10
        # Coalesced: far fewer events than pieces of 64 KiB that were read.
        assert len(agent.client.events) < 2 * 400 * 65536 // 65536

    def test_what_a_child_of_it_prints_after_its_end_is_not_waited_for(self, agent):
        agent.run("sh", "-c", "(trap '' HUP; echo child; exec sleep 1000) & echo parent; exit 4")
        agent.event("exit")
        assert agent.records("exit")[0]["status"] == 4
        assert b"parent\n" in agent.stream()
        agent.kill(0)


LEAVES = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
one = subprocess.Popen(["sleep", "1000"], **quiet)
two = subprocess.Popen(["sh", "-c", "trap '' TERM; while :; do sleep 1000; done"], **quiet)
other_session = subprocess.Popen(["sleep", "1000"], start_new_session=True, **quiet)
# An orphan in a session of its own, which has our output open.
subprocess.run(["sh", "-c", "setsid sleep 1000 & echo orphan $!"])
print("left", one.pid, two.pid, other_session.pid, flush=True)
if sys.argv[1] == "stay": signal.pause()
"""


def left_behind(home) -> list[int]:
    return [
        pid
        for pid in pids()
        if f"{MARK}={home.path}".encode() in environment(pid).split(b"\0") and state(pid) not in ("Z", "")
    ]


class TestEnd:
    def test_kill_ends_everything_that_it_has_started(self, home, agent):
        agent.python(LEAVES, "stay")
        agent.wait_for(b"left ")
        assert len(left_behind(home)) >= 5
        ended = agent.kill(200)
        assert ended["journal"] == agent.path(protocol.STREAM_INDEX_NAME).stat().st_size
        assert left_behind(home) == []
        assert agent.records("exit")[0]["signal"] == signal.SIGKILL

    def test_kill_ends_what_is_left_after_its_exit(self, home, agent):
        agent.python(LEAVES, "go")
        agent.event("exit")
        assert b"left " in agent.stream()
        # It has a session of its own, no parent and no pipe open: nothing says any more that the agent has started it.
        other = int(agent.stream().split()[-1])
        agent.kill(200)
        assert left_behind(home) == [other]
        os.kill(other, signal.SIGKILL)

    def test_term_comes_first_and_is_enough(self, agent):
        program = """
import os, signal, sys
def end(*_):
    os.write(1, b"ended politely\\n")  # not print: the signal may come within another print
    sys.exit(7)
signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGHUP, lambda *_: os.write(1, b"hung up\\n"))
os.write(1, b"on\\n")
signal.pause()
"""
        agent.python(program)
        agent.wait_for(b"on\n")
        agent.kill(30_000)
        assert agent.stream() == b"on\nended politely\n"
        assert agent.records("exit")[0]["status"] == 7

    def test_killing_twice_is_answered_twice(self, agent):
        agent.python(ECHO)
        numbers = [agent.client.send("agent_kill", agent="a", grace_ms=0) for _ in range(3)]
        assert [agent.client.answer(number)["ok"] for number in numbers] == [True] * 3
        assert agent.kill(0)["ok"]
        assert agent.kinds() == ["start", "exit"]

    def test_a_client_of_the_host_is_not_ended_with_the_agent(self, agent):
        """A server that the agent has started, for one."""
        program = """
import socket, subprocess, sys
if sys.argv[2] == "agent":
    subprocess.run([sys.executable, "-c", sys.argv[3], sys.argv[1], "server", ""])
host = socket.socket(socket.AF_UNIX)
host.connect(sys.argv[1])
host.sendall(b'{"id":1,"op":"hello","protocol":2}\\n')
host.recv(1000)
print("joined", __import__("os").getpid(), flush=True)
host.recv(1000)
"""
        agent.python(program, str(agent.client.home / "host.sock"), "agent", program)
        agent.wait_for(b"\n")
        server = int(agent.stream().split()[1])
        agent.kill(100)
        assert state(server) == "S"
        assert agent.kinds() == ["start", "exit"]
        os.kill(server, signal.SIGKILL)
        wait_gone(server)


class TestHostThatDied:
    def test_its_run_is_lost_and_its_processes_are_ended(self, home, agent):
        agent.python(LEAVES, "stay", run="r1")
        agent.wait_for(b"left ")
        leader = agent.attach()["pid"]
        os.kill(agent.client.pid, signal.SIGKILL)
        wait_gone(agent.client.pid)
        second = Agent(home.client())
        found = second.attach()
        assert (found["alive"], found["pid"], found["run"]) == (False, None, "r1")
        assert second.kinds() == ["start", "lost"]
        # A new run waits for the end of what was left.
        second.python(ECHO, run="r2")
        assert state(leader) in ("", "Z")
        second.write(1, "one\n")
        second.wait_for(b"got one\n")
        orphans = [int(word) for word in second.stream().split(b"got")[0].split() if word.isdigit()]
        second.kill()
        for pid in orphans:  # those that had left the session were not the dead host's to find
            if state(pid) not in ("", "Z"):
                os.kill(pid, signal.SIGKILL)
        assert second.kinds() == ["start", "lost", "start", "sent", "exit"]

    def test_what_was_sent_is_known_and_a_new_run_counts_from_one(self, home, agent):
        agent.python(ECHO, run="r1")
        for n in range(1, 4):
            agent.write(n, f"{n}\n", key=f"say {n}")
        os.kill(agent.client.pid, signal.SIGKILL)
        wait_gone(agent.client.pid)
        second = Agent(home.client())
        assert second.attach()["n"] == 3
        assert [record["key"] for record in second.records("sent")] == ["say 1", "say 2", "say 3"]
        second.python(ECHO, run="r2")
        second.write(1, "again\n")
        second.wait_for(b"got again\n")
        second.kill()

    def test_another_process_with_its_number_is_left_alone(self, home, agent):
        agent.python(ECHO)
        agent.kill()
        agent.client.close()
        wait_gone(agent.client.pid)
        with subprocess.Popen(["sleep", "1000"], start_new_session=True) as other:
            index = agent.path(protocol.STREAM_INDEX_NAME)
            begun = index.read_text().splitlines(keepends=True)[0]
            pid = agent.records("start")[0]["pid"]
            # The journal of a run that was lost. Its number belongs to a process that was started at another time.
            index.write_text(begun.replace(f'"pid":{pid}', f'"pid":{other.pid}'))
            second = Agent(home.client())
            second.python(ECHO, run="r2")
            second.kill()
            survives = state(other.pid) == "S"
            other.kill()
        assert survives
        assert second.kinds() == ["start", "lost", "start", "exit"]


COUNT = """
import os, sys
descriptor = int(sys.argv[1])
for n in range(30000): os.write(descriptor, b"%d\\n" % n)
open(sys.argv[2], "w").close()
sys.stdin.readline()
"""
COUNTED = b"".join(b"%d\n" % n for n in range(30_000))


class TestFullDisk:
    @pytest.mark.parametrize("name", [protocol.STREAM_NAME, protocol.ERRORS_NAME])
    def test_the_agent_waits_and_nothing_is_lost(self, home, agent, tmp_path, name):
        finished = tmp_path / "finished"
        descriptor = "1" if name == protocol.STREAM_NAME else "2"
        with full_at(agent.client.pid, 40_000):
            agent.python(COUNT, descriptor, str(finished))
            told = agent.event("stalled")
            assert "File too large" in told["why"]
            assert name in told["why"] or protocol.STREAM_INDEX_NAME in told["why"]
            late = Agent(home.client())
            found = late.attach()
            assert found["stalled"] == told["why"]
            assert late.write_refused(1)["error"] == "stalled"
            for _ in range(1000):
                late.client.ask("list")
            assert not finished.exists()
        agent.event("resumed")
        agent.wait_for(b"29999\n", name)
        assert agent.path(name).read_bytes() == COUNTED
        assert agent.kinds() == ["start"]
        agent.write(1, "\n")
        agent.event("exit")

    def test_a_message_is_not_written_before_its_record(self, agent, tmp_path):
        agent.python(ECHO)
        length = agent.path(protocol.STREAM_INDEX_NAME).stat().st_size
        with full_at(agent.client.pid, length + 50):
            data = protocol.encode_data(b"x" * 1000 + b"\n")
            waiting = agent.client.send("agent_write", agent="a", n=1, data=data)
            agent.event("stalled")
            assert agent.write_refused(2)["error"] == "stalled"
            found = agent.attach()
            assert (found["n"], found["journal"]) == (0, length)
            for _ in range(1000):
                agent.client.ask("list")
            assert agent.stream() == b""
        assert agent.client.answer(waiting)["n"] == 1
        agent.wait_for(b"got " + b"x" * 1000)
        assert [record["n"] for record in agent.records("sent")] == [1]
        agent.kill()

    def test_an_end_is_journaled_when_there_is_room(self, agent, tmp_path):
        with full_at(agent.client.pid, 40_000):
            pid = agent.python(COUNT, "1", str(tmp_path / "finished"))["pid"]
            agent.event("stalled")
            killed = agent.client.send("agent_kill", agent="a", grace_ms=0)
            agent.until(lambda: state(pid) == "")
            assert agent.attach()["alive"]
            assert agent.kinds() == ["start"]
        assert agent.client.answer(killed)["ok"]
        assert agent.kinds() == ["start", "exit"]
        assert COUNTED.startswith(agent.stream())

    def test_a_host_killed_meanwhile_has_written_what_it_could(self, home, agent, tmp_path):
        with full_at(agent.client.pid, 40_000):
            agent.python(COUNT, "1", str(tmp_path / "finished"))
            agent.event("stalled")
            os.kill(agent.client.pid, signal.SIGKILL)
            wait_gone(agent.client.pid)
        second = Agent(home.client())
        second.attach()
        assert second.kinds() == ["start", "lost"]
        assert second.stream() == COUNTED[:40_000]


def pipes(pid: int) -> list[str]:
    """The pipes that a process has open."""
    targets = [str(entry.readlink()) for entry in Path(f"/proc/{pid}/fd").iterdir()]
    return [target for target in targets if target.startswith("pipe:")]
