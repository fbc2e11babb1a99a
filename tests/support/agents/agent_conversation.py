"""A conversation with the scripted agent, over HTTP: start it, talk to it, wait for what it does."""

import json
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from terminal_home import PATIENCE, environment

SCRIPTED = [sys.executable, str(Path(__file__).with_name("scripted_agent.py"))]
SCRIPTED_ACP = [sys.executable, str(Path(__file__).with_name("scripted_acp.py"))]


class Driven:
    def __init__(self, server, conversation_id):
        self.server = server
        self.id = conversation_id
        self.path = f"/v1/conversations/{conversation_id}"
        self.folder = server.home / "conversations" / conversation_id / "agent"
        self.received = server.home / f"{conversation_id}.received"

    def start(self, command=None, **fields):
        """Starts the scripted agent, and waits until it is ready; or another command, which may never be."""
        env = environment(RECEIVED=str(self.received))
        asked = {"agent": "claude", "command": command or SCRIPTED, "env": env, **fields}
        answer = self.server.post(f"{self.path}/agent", asked)
        assert answer.status == 201, answer.body
        if command is None:
            self.until_state("idle")
        return answer.json

    def say(self, text, **fields):
        answer = self.server.post(f"{self.path}/say", {"text": text, **fields})
        assert answer.status == 200, answer.body
        return answer.json

    def status(self):
        return self.server.get(f"{self.path}/agent").json

    def events(self, after=0, kind=None):
        found = self.server.get(f"{self.path}/events?after={after}&limit=10000").json["events"]
        return [event for event in found if kind is None or event["type"] == kind]

    def texts(self):
        return [event["text"] for event in self.events(kind="assistant_text")]

    def said(self):
        """What the agent has said, in pieces and whole."""
        events = self.events()
        return "".join(event["text"] for event in events if event["type"] in ("assistant_delta", "assistant_text"))

    def streamed(self):
        """The lines that the agent has said in pieces."""
        return "".join(event["text"] for event in self.events(kind="assistant_delta")).splitlines()

    def until(self, condition, what):
        """Polls until a condition on the events holds, and returns what it gave."""
        ends = time.monotonic() + PATIENCE
        while not (found := condition(self.events())):
            assert time.monotonic() < ends, f"no {what} in {self.events()[-20:]}\n{self._server_log()}"
            time.sleep(0.02)
        return found

    def _server_log(self):
        log = self.server.home / "server.log"
        return log.read_text()[-2000:] if log.exists() else self.server.said()[-2000:]

    def until_turns(self, count):
        """Until so many turns have ended and the agent is idle."""
        return self.until(
            lambda events: (
                sum(event["type"] == "turn_complete" for event in events) >= count
                and [event["state"] for event in events if event["type"] == "agent_state"][-1] in ("idle", "exited")
            ),
            f"end of turn {count}",
        )

    def until_state(self, state, *, after=0):
        def last(events):
            states = [event for event in events if event["type"] == "agent_state" and event["seq"] > after]
            return states[-1] if states and states[-1]["state"] == state else None

        return self.until(last, f"agent_state {state}")

    def until_request(self, number=1):
        def asked(events):
            found = [event for event in events if event["type"] == "request"]
            return found[number - 1] if len(found) >= number else None

        return self.until(asked, f"request {number}")

    def answer(self, request, option):
        path = f"{self.path}/requests/{request['request_id']}/answer"
        return self.server.post(path, {"option": option, "hash": request["hash"]})

    def journal(self):
        return [json.loads(line) for line in (self.folder / "stream.index").read_text().splitlines()]

    def got(self):
        """The messages that the agent has read."""
        return [json.loads(line) for line in self.received.read_text().splitlines()]


@contextmanager
def driven(server, **settings):
    """A conversation for an agent, deleted with it afterwards."""
    with server.conversation(**settings) as conversation_id:
        yield Driven(server, conversation_id)
