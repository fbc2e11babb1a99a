"""Turns of the root agent: a turn lasts from its first event to the end that it announces."""

import msgspec

from vantage import events as ev
from vantage.events import Event

BESIDE_TURNS = (
    ev.AgentBlockBegin,
    ev.AgentBlockDelta,
    ev.AgentBlockEnd,
    ev.ClientConfig,
    ev.PtyGap,
    ev.PtyState,
    ev.Request,
    ev.Answer,
    ev.RequestClosed,
    ev.AgentState,
)
"""Events that come whether or not the agent works."""
_ENDS = (ev.TurnComplete, ev.Canceled)


class Turn(msgspec.Struct, frozen=True):
    """The last turn; `since` None: there was none."""

    working: bool = False
    failed: bool = False
    """The last thing that it said, but for its end, was an error."""
    canceled: bool = False
    since: int | None = None
    """When it became what it is, in milliseconds since the epoch."""

    def after(self, event: Event) -> "Turn":
        if isinstance(event, BESIDE_TURNS) or (event.agent is not None and event.agent.depth):
            return self
        if isinstance(event, _ENDS):
            return Turn(failed=self.failed, canceled=isinstance(event, ev.Canceled), since=event.ts)
        failed = isinstance(event, ev.Error)
        if self.working and failed == self.failed:
            return self
        return Turn(working=True, failed=failed, since=event.ts)
