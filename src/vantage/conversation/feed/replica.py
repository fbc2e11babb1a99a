"""The state of a conversation for its followers: rows, events of commands, screen, status. A pure fold of bus
messages.
"""

from typing import NamedTuple

from vantage.conversation.bus import Deleted, Listed, Message, ScreenChanged
from vantage.conversation.feed.block_events import BlockEvents
from vantage.conversation.feed.request_log import RequestLog
from vantage.conversation.feed.row_log import RowLog
from vantage.conversation.feed.screen_mirror import ScreenMirror
from vantage.conversation.feed.status import StatusFold
from vantage.events import AgentBlockBegin, AgentBlockDelta, AgentBlockEnd, Event
from vantage.timeline.specs.registry import SpecSet
from vantage.timeline.tools.registry import ToolRegistry


class Versions(NamedTuple):
    """Grows with every change that a subscriber may be shown, one for each part."""

    rows: int
    blocks: int
    screen: int
    status: int
    requests: int
    events: int


class Replica:
    def __init__(self, conversation_id: str, tools: ToolRegistry | None = None) -> None:
        self.id = conversation_id
        self.epoch = ""
        """Changes only when the log was created anew."""
        self.rows = RowLog(tools)
        self.blocks = BlockEvents(conversation_id)
        self.screen = ScreenMirror(conversation_id)
        self.status = StatusFold()
        self.requests = RequestLog()

    @property
    def versions(self) -> Versions:
        return Versions(
            self.rows.version,
            self.blocks.version,
            self.screen.number,
            self.status.version,
            self.requests.version,
            self.rows.seq,
        )

    def apply(self, message: Message) -> None:
        match message:
            case ScreenChanged():
                self.screen.apply(message)
                self.status.set_title(message.delta.title)
            case SpecSet():
                self.rows.know(message)
            case AgentBlockDelta():
                self.rows.printed(message.block_id)
                self.blocks.keep(message)
            case Deleted() | Listed():
                pass
            case _:
                self._fold(message)

    def _fold(self, event: Event) -> None:
        self.rows.add(event)
        self.status.add(event)
        self.requests.add(event)
        if isinstance(event, AgentBlockBegin | AgentBlockEnd):
            self.blocks.keep(event)
