"""A driver of a small protocol, and a world around it without IO: a journal, a stream, and an agent that answers.

What the agent prints, a JSON object a line: `{"ready": session}`, `{"text"}`, `{"ask": id}`, `{"gone": id}`,
`{"hook": id}`, `{"again": key}`, `{"stopped"}`, `{"done"}`.
What it is sent: `{"hello": n}`, `{"say": text, "display"}`, `{"reply": id, "option"}`, `{"hooked": id, "display"}`,
`{"stop": n}`.
"""

import json

from vantage import events as ev
from vantage.agents.drivers.driver import Output, Send
from vantage.events import AgentState, AssistantText, Canceled, Request, RequestClosed, TurnComplete


class ScriptedDriver:
    def __init__(self, *, steers=False):
        self.state = "starting"
        self.session = None
        self._steers = steers
        self._hooks = 0
        self._told = None

    def _with_state(self, output):
        if self.state == self._told:
            return output
        self._told = self.state
        return Output([*output.events, AgentState(state=self.state, session=self.session)], output.sends)

    def start(self):
        return self._with_state(Output(sends=[Send("initialize", lambda moment: {"hello": moment.n})]))

    def receive(self, line, offset):
        return self._with_state(self._receive(line))

    def _receive(self, line):
        try:
            said = json.loads(line)
        except ValueError:
            return Output(events=[ev.Warning(message=line.decode(errors="replace"))])
        if "ready" in said:
            self.state, self.session = "idle", said["ready"]
            return Output()
        if "text" in said:
            return Output(events=[AssistantText(text=each) for each in said["text"].split("|")])
        if "ask" in said:
            options = [
                {"id": "allow", "label": "Allow", "kind": "allow"},
                {"id": "deny", "label": "No", "kind": "deny"},
            ]
            return Output(events=[Request(kind="approval", title="May I?", protocol_id=said["ask"], options=options)])
        if "gone" in said:
            return Output(events=[RequestClosed(request_id=str(said["gone"]), why="withdrawn")])
        if "hook" in said:
            self._hooks += 1
            asked = said["hook"]
            return Output(
                sends=[Send(f"hook {self._hooks}", lambda moment: {"hooked": asked, "display": moment.display})]
            )
        if "again" in said:
            return Output(sends=[Send(said["again"], lambda _: {"hello": 0})])
        if "stopped" in said:
            self.state = "idle"
            return Output(events=[Canceled(message="stopped"), TurnComplete(finish="interrupted")])
        if "done" in said:
            self.state = "idle"
            return Output(events=[TurnComplete()])
        raise ValueError(f"unknown: {said}")

    def sent(self, n, key, message):
        if key.startswith("say"):
            self.state = "working"
        return self._with_state(Output())

    def exited(self, status, stderr):
        self.state = "exited"
        return Output()

    def delivery(self):
        if self.state == "idle":
            return "now"
        return "steered" if self._steers and self.state == "working" else "queued"

    def say(self, key, text, attachments):
        return Output(sends=[Send(key, lambda moment: {"say": text, "display": moment.display})])

    def interrupt(self, key):
        return Output(sends=[Send(key, lambda moment: {"stop": moment.n})] if self.state == "working" else [])

    def answer(self, key, request, answer):
        message = {"reply": request.protocol_id, "option": answer.option}
        return Output(sends=[Send(key, lambda _: message)])

    def refuse(self, key, request, why):
        message = {"reply": request.protocol_id, "option": "deny"}
        return Output(sends=[Send(key, lambda _: message)])
