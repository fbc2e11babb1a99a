"""Agents that Vantage runs: how late messages reach them, how late their lines reach a watcher, what idle ones cost."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from bench.run.answers import AT_END, Milliseconds, Several
from bench.server import Caller, Server
from bench.subscribers import Subscriber, stamp
from bench.terminal import Run

PROGRAM = [sys.executable, str(Path(__file__).with_name("acp_agent.py"))]
MESSAGES = 30
AGENTS = 50
_LATE = re.compile(r"late ([\d.]+)")


class Agent:
    """An agent in a conversation, ready."""

    def __init__(self, server: Server, name: str) -> None:
        self.name = server.conversation(name)
        self.caller: Caller = server.caller()
        AT_END.insert(0, lambda: self.caller.ask("DELETE", f"{self._path}/agent"))
        self.caller.post(f"/{name}/agent", agent="acp", command=PROGRAM)
        self.until_idle()

    @property
    def _path(self) -> str:
        return f"/v1/conversations/{self.name}"

    def until_idle(self) -> None:
        while self.caller.ask("GET", f"{self._path}/agent")["state"] != "idle":
            time.sleep(0.01)

    def say(self, text: str) -> int:
        """Gives it a message; returns the message's number in the log."""
        return self.caller.post(f"/{self.name}/say", text=text)["seq"]

    def said(self, after: int) -> str:
        events = self.caller.ask("GET", f"{self._path}/events?after={after}")["events"]
        return "".join(event["text"] for event in events if event["type"] == "assistant_delta")


def _lateness(text: str) -> float:
    found = _LATE.search(text)
    assert found, text
    return float(found[1])


def say_added(_corpus: Path) -> Run:
    """How much later a message is read by an agent than over a bare pipe: from the call over HTTP to its first byte."""
    agent = Agent(Server(), "c")
    bare = subprocess.Popen(PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    AT_END.append(lambda: (bare.communicate(), None))

    def over_http() -> float:
        seq = agent.say(f"heard {stamp()}")
        time.sleep(0.1)
        agent.until_idle()
        return _lateness(agent.said(seq))

    def over_pipe() -> float:
        assert bare.stdin is not None
        assert bare.stdout is not None
        prompt = [{"type": "text", "text": f"heard {stamp()}"}]
        bare.stdin.write(json.dumps({"id": 1, "method": "session/prompt", "params": {"prompt": prompt}}) + "\n")
        bare.stdin.flush()
        said = bare.stdout.readline()
        bare.stdout.readline()
        return _lateness(said)

    def run() -> Milliseconds:
        ours, pipe = zip(*((over_http(), over_pipe()) for _ in range(MESSAGES)), strict=True)
        return Milliseconds(max(median(ours) - median(pipe), 0.001))

    return run


def row_late(_corpus: Path) -> Run:
    """From an agent's line to the row at a subscriber. The feed has been quiet for longer than its interval."""
    server = Server()
    agent = Agent(server, "c")
    subscriber = Subscriber(server.port, server.token)
    subscriber.say(json.dumps({"type": "hello", "client_id": "watcher"}).encode())
    subscriber.say(json.dumps({"type": "subscribe", "conversation_id": "c", "surface": "html"}).encode())
    AT_END.insert(0, subscriber.close)
    seen: set[bytes] = set()

    def hear() -> float:
        while True:
            for text in subscriber.frames():
                for found in re.finditer(rb"It is @(\d+)@", text):
                    if found[1] not in seen:
                        seen.add(found[1])
                        return (time.monotonic_ns() - int(found[1])) / 1e6

    def run() -> Milliseconds:
        late = []
        for _ in range(MESSAGES):
            agent.say("sleep 0.2")
            late.append(hear())
            agent.until_idle()
        return Milliseconds(median(late))

    return run


def idle_memory(_corpus: Path) -> Run:
    """By how many megabytes server and PTY host grow with each agent that has had a turn and is idle."""
    server = Server()
    Agent(server, "first").say("heard")

    def run() -> Several:
        before = server.memory
        agents = [Agent(server, f"c{number}") for number in range(AGENTS)]
        for agent in agents:
            agent.say(f"heard {stamp()}")
        time.sleep(0.2)
        for agent in agents:
            agent.until_idle()
        return Several(((server.memory - before) / AGENTS,))

    return run


def five_milliseconds(_corpus: Path) -> Run:
    return lambda: Milliseconds(5.0)


def ten_milliseconds(_corpus: Path) -> Run:
    return lambda: Milliseconds(10.0)


def three_megabytes(_corpus: Path) -> Run:
    return lambda: Several((3.0,))
