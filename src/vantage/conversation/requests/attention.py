"""Whether a conversation needs a person, and what its agent does, each with the evidence for it.

A pure function of what is known: open requests come first, then what the agent's stream says of itself, then its turns,
then what the terminal runs.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from vantage.conversation.requests.ledger import Entry
from vantage.events import AgentState, Event
from vantage.timeline.turns import Turn

Need = Literal["needs_person", "working", "waiting", "idle", "failed", "done"]
Source = Literal["request", "stream", "hook", "terminal", "kernel", "screen"]

MAX_REASONS = 5
"""That are named; there may be a thousand open requests."""
_MAX_EVIDENCE = 200


class Evidence(msgspec.Struct, frozen=True):
    """What a conversation's state is concluded from."""

    source: Annotated[Source, Meta(description="Where it is known from")]
    evidence: Annotated[str, Meta(description="What was seen there")]


class Attention(msgspec.Struct, frozen=True):
    """Whether a conversation needs a person."""

    state: Annotated[
        Need, Meta(description="`needs_person`: a request is open; `done`, `failed`: how the agent's last turn ended")
    ] = "idle"
    since: Annotated[int | None, Meta(description="Since when, in milliseconds since the epoch; null: not known")] = (
        None
    )
    because: Annotated[tuple[Evidence, ...], Meta(description="The evidence; none for `idle`")] = ()


class Activity(msgspec.Struct, frozen=True):
    """What an agent's events say of it."""

    turn: Turn = Turn()
    agent: AgentState | None = None
    """Its last state; None for an agent that Vantage does not run."""

    def after(self, events: Iterable[Event]) -> "Activity":
        turn, agent = self.turn, self.agent
        for event in events:
            turn = turn.after(event)
            if isinstance(event, AgentState) and not (event.agent is not None and event.agent.depth):
                agent = event
        return Activity(turn, agent)


class Running(msgspec.Struct, frozen=True):
    """The command that a terminal runs."""

    command: str
    since: int


def attention_of(open_requests: Sequence[Entry], activity: Activity, running: Running | None) -> Attention:
    if open_requests:
        reasons = [_asked(entry) for entry in open_requests[:MAX_REASONS]]
        return Attention("needs_person", open_requests[0].request.ts, tuple(reasons))
    return _of_agent(activity.agent) or _of_turn(activity.turn) or _of_terminal(running) or Attention()


def _asked(entry: Entry) -> Evidence:
    request = entry.request
    return Evidence("terminal" if request.kind == "secret" else "request", request.title[:_MAX_EVIDENCE])


def _of_agent(agent: AgentState | None) -> Attention | None:
    """What an agent that Vantage runs says of itself; None when it says nothing of how its turn ended."""
    if agent is None:
        return None
    if agent.error:
        return Attention("failed", agent.ts, (Evidence("stream", agent.error[:_MAX_EVIDENCE]),))
    need = _NEEDS.get(agent.state)
    return Attention(need, agent.ts, (Evidence("stream", f"the agent is {agent.state}"),)) if need else None


_NEEDS: dict[str, Need] = {"starting": "working", "working": "working", "waiting": "waiting"}


def _of_turn(turn: Turn) -> Attention | None:
    if turn.since is None or turn.canceled:
        return None
    if turn.failed:
        return Attention("failed", turn.since, (Evidence("stream", "the turn ended with an error"),))
    if turn.working:
        return Attention("working", turn.since, (Evidence("stream", "the turn has not ended"),))
    return Attention("done", turn.since, (Evidence("stream", "the turn has ended"),))


def _of_terminal(running: Running | None) -> Attention | None:
    if running is None:
        return None
    evidence = f"{running.command[:_MAX_EVIDENCE]} runs"
    return Attention("working", running.since, (Evidence("terminal", evidence),))
