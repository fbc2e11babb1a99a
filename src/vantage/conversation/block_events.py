"""The last events of commands, for those who follow them: begun, printed, ended. Older ones are in the files."""

from collections import deque
from dataclasses import dataclass

from vantage.conversation.drawings import as_json
from vantage.events import Event, event_to_dict

KEPT_EVENTS = 1000
KEPT_OUTPUT = 1 << 20
"""Characters of output in them."""


@dataclass(slots=True)
class _Kept:
    version: int
    event: Event
    output: int
    message: str = ""
    """Made when somebody is told, once for all."""


class BlockEvents:
    def __init__(self, conversation_id: str) -> None:
        self._id = conversation_id
        self._kept: deque[_Kept] = deque()
        self._output = 0
        self.dropped_version = self.dropped_seq = 0
        """Of the last one that is not kept any more."""

    def keep(self, version: int, event: Event) -> None:
        kept = _Kept(version, event, len(getattr(event, "text", "")))
        self._kept.append(kept)
        self._output += kept.output
        while len(self._kept) > KEPT_EVENTS or self._output > KEPT_OUTPUT:
            oldest = self._kept.popleft()
            self._output -= oldest.output
            self.dropped_version, self.dropped_seq = oldest.version, oldest.event.seq or self.dropped_seq

    def messages(self, version: int) -> list[str]:
        """All behind a version, as they travel."""
        newer = []
        for kept in reversed(self._kept):
            if kept.version <= version:
                break
            newer.append(self._message(kept))
        return newer[::-1]

    def messages_after(self, seq: int) -> list[str]:
        """All from the first one behind an event on."""
        first = next((kept.version for kept in self._kept if (kept.event.seq or 0) > seq), None)
        return [] if first is None else self.messages(first - 1)

    def _message(self, kept: _Kept) -> str:
        if not kept.message:
            kept.message = as_json({**event_to_dict(kept.event), "conversation_id": self._id})
        return kept.message
