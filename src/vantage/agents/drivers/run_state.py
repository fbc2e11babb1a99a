"""What all drivers know of their run: the agent's state, its session, and its requests that are open.

`changes()` gives one `agent_state` event for each change, however many messages made it.
"""

from msgspec.structs import replace

from vantage import events as ev
from vantage.agents.drivers.driver import Output, Send, State
from vantage.agents.values import Object
from vantage.events import Agent, Event, Json, Request, text_of_value

MAX_ERROR = 2000
"""Characters of stderr that are kept of an agent that failed: its last."""


class RunState:
    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.phase: State = "starting"
        """What the agent does, its requests aside."""
        self.session: str | None = None
        self.model: str | None = None
        self.error: str | None = None
        self.requests: dict[str, Object] = {}
        """Requests of the agent that a person is to answer, as they came, by `request_key`."""
        self._told: tuple[State, str | None, str | None, str | None] | None = None

    @property
    def state(self) -> State:
        return "waiting" if self.requests and self.phase in ("idle", "working") else self.phase

    def output(self, events: list[Event] | None = None, *sends: Send) -> Output:
        """What follows from a record, with the change of state that it made."""
        return Output([*(events or []), *self.changes()], list(sends))

    def changes(self) -> list[Event]:
        now = (self.state, self.session, self.model, self.error)
        if now == self._told:
            return []
        self._told = now
        state, session, model, error = now
        return [ev.AgentState(state=state, session=session, model=model, error=error, agent=self.agent)]

    def ask(self, protocol_id: Json, message: Object, request: Request, cwd: str) -> list[Event]:
        """A request is open from now on. One that is repeated is none."""
        key = request_key(protocol_id)
        if key in self.requests:
            return []
        self.requests[key] = message
        agent = request.agent or self.agent
        return [replace(request, request_id=key, protocol_id=protocol_id, cwd=request.cwd or cwd, agent=agent)]

    def close(self, protocol_id: Json, why: str) -> list[Event]:
        """A request ends without an answer of ours; nothing if it is not open."""
        key = request_key(protocol_id)
        return [ev.RequestClosed(request_id=key, why=why)] if self.requests.pop(key, None) is not None else []

    def exited(self, status: int | None, stderr: str) -> list[Event]:
        """The process has ended: its open requests are lost, its turn is over."""
        lost: list[Event] = [ev.RequestClosed(request_id=key, why="lost") for key in self.requests]
        self.requests.clear()
        if self.phase == "working":
            lost.append(ev.TurnComplete(finish="exited"))
        if status != 0 or self.phase == "starting":
            last = stderr.strip()[-MAX_ERROR:]
            how = "was ended by a signal" if status is None or status < 0 else f"exited with status {status}"
            self.error = f"{how}: {last}" if last else how
        self.phase = "exited"
        return lost


def request_key(protocol_id: Json) -> str:
    """The protocol's id of a request as a text."""
    return text_of_value(protocol_id)


def too_late(request: Request) -> Output:
    """An answer to a request that is not open any more."""
    return Output([ev.RequestClosed(request_id=request_key(request.protocol_id), why="too_late")])
