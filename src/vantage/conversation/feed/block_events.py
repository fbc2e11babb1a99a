"""The last events of commands: begun, printed, ended. The window is bounded; older events are in the files."""

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass

from vantage.conversation.feed.drawing import as_json
from vantage.events import AgentBlockBegin, AgentBlockDelta, AgentBlockEnd, Event, event_to_dict

KEPT_EVENTS = 1000
KEPT_OUTPUT = 1 << 20
"""Characters of output in the window."""


@dataclass(slots=True)
class _Kept:
    version: int
    event: Event
    output: int
    message: str = ""
    """The encoded event: made for the first subscriber, shared by all."""


class BlockEvents:
    def __init__(self, conversation_id: str) -> None:
        self.version = 0
        """The version of the last event."""
        self.dropped_version = self.dropped_seq = 0
        """The version of the last event that left the window."""
        self._id = conversation_id
        self._kept: deque[_Kept] = deque()
        self._output = 0
        self._begun: dict[str, Event] = {}

    @property
    def running(self) -> Collection[Event]:
        """The begin event of each running command."""
        return self._begun.values()

    def keep(self, event: AgentBlockBegin | AgentBlockDelta | AgentBlockEnd) -> None:
        if isinstance(event, AgentBlockBegin):
            self._begun[event.block_id] = event
        elif isinstance(event, AgentBlockEnd):
            self._begun.pop(event.block_id, None)
        self.version += 1
        kept = _Kept(self.version, event, len(event.text) if isinstance(event, AgentBlockDelta) else 0)
        self._kept.append(kept)
        self._output += kept.output
        while len(self._kept) > KEPT_EVENTS or self._output > KEPT_OUTPUT:
            oldest = self._kept.popleft()
            self._output -= oldest.output
            self.dropped_version, self.dropped_seq = oldest.version, oldest.event.seq or self.dropped_seq

    def newer(self, version: int) -> list[str]:
        """The messages after a version."""
        found = []
        for kept in reversed(self._kept):
            if kept.version <= version:
                break
            found.append(self._message(kept))
        return found[::-1]

    def after(self, seq: int) -> list[str]:
        """The messages from the first one whose event came after `seq`."""
        first = next((kept.version for kept in self._kept if (kept.event.seq or 0) > seq), None)
        return [] if first is None else self.newer(first - 1)

    def _message(self, kept: _Kept) -> str:
        if not kept.message:
            kept.message = as_json({**event_to_dict(kept.event), "conversation_id": self._id})
        return kept.message
