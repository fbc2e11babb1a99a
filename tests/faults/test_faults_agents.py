"""Agents, their host or their server are killed at random moments: what is journaled arrives once, the rest never."""

import json
import os
import random
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from agent_harness import Agent
from extent import extent, rounds
from host_harness import Home, state, wait_gone
from machine import until
from vantage.ptyhost import protocol
from vantage.ptyhost.start import _environment

RECORDER = """
import sys
heard, said = (open(path, "ab", buffering=0) for path in sys.argv[1:])
for number, line in enumerate(sys.stdin.buffer):
    heard.write(line)
    answer = b"%d: " % number + line
    said.write(answer)
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
    print("log", number, file=sys.stderr, flush=True)
"""
"""Writes down what it hears, and what it is about to say."""

SENDER = """
import json, os, random, socket, sys
sys.path[:0] = json.loads(sys.argv[5])
from vantage.ptyhost import protocol
from vantage.ptyhost.start import connect
home, agent, folder, seed = sys.argv[1:5]
host = connect(home)
lines = host.makefile("rb")
chance = random.Random(int(seed))

def ask(op, **fields):
    host.sendall(protocol.encode({"id": 1, "op": op, **fields}))
    while "id" not in (answer := json.loads(lines.readline())):
        pass
    return answer

ask("hello", protocol=protocol.PROTOCOL)
found = ask("agent_attach", agent=agent, folder=folder)
# What an earlier one has sent is in the journal, whether its answer came or not.
with open(os.path.join(folder, protocol.STREAM_INDEX_NAME), "rb") as index:
    records = [json.loads(line) for line in index.read(found["journal"]).splitlines()]
keys = [record["key"] for record in records if record["t"] == "sent"]
n, key = found["n"], keys[-1] if keys else 0
print("joined", flush=True)
for _ in range(60):
    n, key = n + 1, key + 1
    text = b"%d %s\\n" % (key, b"x" * chance.choice([0, 9, 5000, 70000]))
    answer = ask("agent_write", agent=agent, n=n, data=protocol.encode_data(text), record={"key": key})
    if not answer["ok"]:
        sys.exit(f"refused: {answer}")
while lines.readline():
    pass
"""
"""A server as far as an agent is concerned: sends 60 messages more than the journal has, then waits."""


@pytest.fixture
def home(tmp_path):
    home = Home(tmp_path)
    yield home
    home.finish()


def sender(agent: Agent, chance: random.Random) -> subprocess.Popen:
    seed = str(chance.randrange(1 << 30))
    arguments = [str(agent.client.home), agent.name, str(agent.folder), seed, json.dumps(sys.path)]
    process = subprocess.Popen([sys.executable, "-c", SENDER, *arguments], stdout=subprocess.PIPE, env=_environment())
    assert process.stdout.readline() == b"joined\n"
    return process


def start(agent: Agent, run: str) -> tuple:
    """A run, with the files in which it writes down what it hears and says."""
    heard, said = (agent.client.home / f"{run}.{name}" for name in ("heard", "said"))
    agent.python(RECORDER, str(heard), str(said), run=run)
    return heard, said


def test_the_server_is_killed_in_the_middle_of_writes(home):
    """Each next one reads the journal and goes on. The agent hears each message once, in order, whole."""
    for seed in rounds(2):
        chance = random.Random(seed)
        agent = Agent(home.client(), f"a{seed}")
        run = f"server{seed}"
        heard, _ = start(agent, run)
        for _ in range(extent(6, 20)):
            sending = sender(agent, chance)
            sent_further(agent, chance)
            sending.kill()
            sending.communicate()
            assert sending.returncode == -signal.SIGKILL
        # The host may have read a last request whole.
        agent.client.ask("list")
        agent.ask("close_input")
        agent.event("exit")
        sent = of_run(agent, run)
        assert [record["n"] for record in sent] == list(range(1, len(sent) + 1))
        keys = [record["key"] for record in sent]
        assert keys == list(range(keys[0], keys[0] + len(keys)))
        assert heard.read_text() == "".join(record["data"] for record in sent)
        agent.client.close()


def test_the_host_is_killed_at_random_moments(home):
    """What the agent heard is in the journal before; what it said is in the stream, as far as the host read it."""
    for seed in rounds(2):
        chance = random.Random(seed)
        for number in range(extent(4, 20)):
            agent = Agent(home.client(), f"a{seed}")
            run = f"host{seed}-{number}"
            before = (agent.attach()["offset"], agent.client.pid)
            heard, said = start(agent, run)
            pid = agent.attach()["pid"]
            sending = sender(agent, chance)
            sent_further(agent, chance)
            os.kill(agent.client.pid, signal.SIGKILL)
            wait_gone(agent.client.pid)
            sending.kill()
            sending.communicate()
            agent.client.close()
            next_agent = Agent(home.client(), f"a{seed}")
            found = next_agent.attach()
            assert (found["alive"], found["run"]) == (False, run)
            assert next_agent.client.pid != before[1]
            until(lambda pid=pid: state(pid) in ("", "Z"), "the process of a run that is lost lives on")
            assert_run_is_whole(next_agent, run, before[0], heard, said)
            assert found["n"] == len(of_run(next_agent, run))
            next_agent.client.close()


def test_the_agent_is_killed_at_random_moments(home):
    for seed in rounds(2):
        chance = random.Random(seed)
        for number in range(extent(4, 20)):
            agent = Agent(home.client(), f"a{seed}")
            run = f"agent{seed}-{number}"
            before = agent.attach()["offset"]
            heard, said = start(agent, run)
            sending = sender(agent, chance)
            sent_further(agent, chance)
            os.kill(agent.attach()["pid"], signal.SIGKILL)
            agent.event("exit")
            sending.kill()
            sending.communicate()
            assert [record["signal"] for record in agent.records("exit")][-1] == signal.SIGKILL
            assert_run_is_whole(agent, run, before, heard, said)
            agent.client.close()


def assert_run_is_whole(agent: Agent, run: str, begin: int, heard, said) -> None:
    """The journal has every message that was heard, in order; the stream has what was said, from its beginning."""
    sent = of_run(agent, run)
    assert [record["n"] for record in sent] == list(range(1, len(sent) + 1))
    messages = "".join(record["data"] for record in sent).encode()
    assert messages.startswith(read(heard))
    printed = agent.stream()[begin:]
    assert read(said).startswith(printed)
    ends = [record["t"] for record in agent.records("start", "exit", "lost")]
    assert ends[::2] == ["start"] * (len(ends) // 2)
    assert "start" not in ends[1::2]
    for record in agent.records():
        assert record["at"] <= len(agent.stream())


def sent_further(agent: Agent, chance: random.Random) -> None:
    """Waits until some more messages are sent."""
    count = agent.attach()["n"] + chance.randint(0, 40)
    until(lambda: agent.attach()["n"] >= count, "nothing is sent")


def of_run(agent: Agent, run: str) -> list[dict]:
    """The messages of a run, as far as their records are whole."""
    with suppress(FileNotFoundError):
        lines = agent.path(protocol.STREAM_INDEX_NAME).read_bytes().split(b"\n")[:-1]
        records = [json.loads(line) for line in lines]
        begun = [record.get("run") == run for record in records].index(True)
        return [record for record in records[begun:] if record["t"] == "sent"]
    return []


def read(path) -> bytes:
    return path.read_bytes() if path.exists() else b""
