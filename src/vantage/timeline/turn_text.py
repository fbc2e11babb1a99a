"""What the root agent has said since its turn began, and whether a table in it was wider than the display."""

from vantage.document.fit.tables.policy import has_wide_table
from vantage.document.markdown import parse
from vantage.events import AssistantDelta, AssistantText, Event
from vantage.presentation import PresentationContext

MAX_CHARACTERS = 1 << 20
"""Of a turn that are looked at, so that an agent without turns needs no more memory with each message."""


class TurnText:
    """Messages, whole or in pieces. A text without a bar has no table and is not parsed."""

    def __init__(self) -> None:
        self._room = MAX_CHARACTERS
        self._messages: dict[str, list[str]] = {}
        """Message id → its text in pieces; pieces without an id are one message."""

    def add(self, event: Event) -> None:
        if not isinstance(event, AssistantText | AssistantDelta) or (event.agent and event.agent.depth):
            return
        self._room -= len(event.text)
        if self._room < 0:
            return
        if isinstance(event, AssistantText):
            key = event.message_id or f"without an id {len(self._messages)}"
            self._messages[key] = [event.text]
        else:
            self._messages.setdefault(event.message_id or "", []).append(event.text)

    def has_wide_table(self, context: PresentationContext) -> bool:
        texts = ("".join(pieces) for pieces in self._messages.values())
        return any("|" in text and has_wide_table(parse(text), context) for text in texts)

    def clear(self) -> None:
        self._messages.clear()
        self._room = MAX_CHARACTERS
