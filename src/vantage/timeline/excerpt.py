"""A row cut to a length that can be drawn and sent: it says what is left out, and where the whole is.

Text is cut where it is too long; a block of another kind that does not fit is left out. A row that fits is returned
unchanged.
"""

from typing import Any

import msgspec

from vantage.text.spans import Span, slice_line
from vantage.text.style import ACCENT
from vantage.timeline.row import Block, RequestBlock, Row, TextBlock

MAX_TEXT = 512 << 10
"""Characters of a row's blocks that are drawn. Markup may make up to twenty of one."""
MAX_TITLE = 16 << 10


def excerpt(row: Row, limit: int = MAX_TEXT) -> Row:
    """The row with at most `limit` characters in its blocks."""
    title = row.title
    if (length := len(row.text)) > MAX_TITLE:
        title = [*slice_line(title, 0, MAX_TITLE), Span(_more(length), ACCENT)]
    blocks = _cut(row.blocks, limit, row.id)
    if title is row.title and blocks is row.blocks:
        return row
    return msgspec.structs.replace(row, title=title, blocks=blocks)


def excerpt_title(row: Row) -> str:
    """The head as plain text, cut as `excerpt` cuts it."""
    text = row.text
    return text if len(text) <= MAX_TITLE else text[:MAX_TITLE] + _more(len(text))


def _more(length: int) -> str:
    return f" … +{length - MAX_TITLE:,} characters"


def _cut(blocks: list[Block], limit: int, row_id: str) -> list[Block]:
    sizes = [_size(block) for block in blocks]
    if sum(sizes) <= limit:
        return blocks
    answers = sum(size for block, size in zip(blocks, sizes, strict=True) if isinstance(block, RequestBlock))
    if answers <= limit:  # what can be answered is kept before anything else
        limit -= answers
        sizes = [0 if isinstance(block, RequestBlock) else size for block, size in zip(blocks, sizes, strict=True)]
    out: list[Block] = []
    room, left_out = limit, 0
    for block, size in zip(blocks, sizes, strict=True):
        content: Any = getattr(block, "content", None)
        shown = block if size <= room else None
        if shown is None and isinstance(content, str) and room:
            shown = msgspec.structs.replace(block, content=content[:room])
        kept = min(size, room) if shown is not None else 0
        left_out += size - kept
        room -= kept
        out += [shown] if shown is not None else []
    said = (
        f"… {left_out:,} characters more are not drawn: GET rows/{row_id} has them in `blocks`, and so has GET events"
    )
    return [*out, TextBlock(said, "accent")]


def _size(block: Block) -> int:
    """About how many characters a block shows."""
    content = getattr(block, "content", None)
    if isinstance(content, str):
        return len(content)
    try:
        return len(msgspec.json.encode(block))
    except UnicodeEncodeError:  # half of a surrogate pair
        return len(repr(block))
