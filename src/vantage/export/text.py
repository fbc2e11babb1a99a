"""Rows → plain text: as on a terminal without colours, with nothing folded."""

from collections.abc import Iterable, Iterator

import msgspec

from vantage.conversation.store.conversation_folder import Settings
from vantage.export.moments import day_and_clock
from vantage.presentation import PresentationContext
from vantage.surfaces.plain import render_plain
from vantage.text.sanitize import one_line
from vantage.text.spans import text_of
from vantage.timeline.row import Block, CodeBlock, OutputBlock, Row, TerminalBlock

WIDTH = 100
_CONTEXT = PresentationContext(client_type="plain", color_depth=0, content_width=WIDTH)
_HEAD_LINES = 5
"""Surfaces show this many lines of a head; a longer command is written in full below it."""


def text(settings: Settings, rows: Iterable[Row]) -> Iterator[str]:
    """The document, piece by piece."""
    title = one_line(settings.name) or settings.id
    yield f"{title}\nconversation {settings.id}, begun {day_and_clock(settings.created)}\n"
    for row in rows:
        yield f"\n{render_plain([_whole(row)], _CONTEXT).output}\n"


def _whole(row: Row) -> Row:
    blocks: list[Block] = [
        OutputBlock(block.content, None) if isinstance(block, TerminalBlock) else block for block in row.blocks
    ]
    head = text_of(row.title)
    if head.count("\n") < _HEAD_LINES:
        return msgspec.structs.replace(row, blocks=blocks)
    first, *rest = row.title
    return msgspec.structs.replace(
        row, title=[first], blocks=[CodeBlock("".join(span.text for span in rest).strip()), *blocks]
    )
