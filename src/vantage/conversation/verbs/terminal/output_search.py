"""Lines of a terminal's output that have a text in them, or match an expression: of all blocks, or of one.

Output is read in windows and searched in a thread, so other callers are served meanwhile.
"""

import asyncio
from collections.abc import AsyncIterator

from vantage.conversation.live.terminal import LiveTerminal
from vantage.conversation.verbs.terminal.results import Hit, Hits
from vantage.errors import Gone
from vantage.terminal.output.blocks import Block, ByteRange
from vantage.terminal.output.line_search import Excerpt, Line, LineSearch, Needle

_WINDOW = 1 << 20
_AT_ONCE = 1 << 14
"""Bytes that are searched without a thread."""


async def find_lines(live: LiveTerminal, query: str, *, regex: bool, limit: int) -> Hits:
    """The lines of all blocks, oldest first."""
    needle = Needle(query, regex=regex)
    hits: list[Hit] = []
    blocks = live.derivation.blocks.after(0, live.derivation.blocks.count)
    if live.state.block is not None:
        blocks.append(live.state.block)
    for block in blocks:
        span = _span(live, block)
        async for line in _lines(live, span, LineSearch(needle, offset=span.start)):
            hits.append(Hit(block.block_id, line.offset, line.number, line.text))
            if len(hits) >= limit:
                return Hits(hits=hits, complete=False)
    return Hits(hits=hits)


async def excerpt(live: LiveTerminal, block: Block, needle: Needle, *, context: int, found: Excerpt) -> None:
    """Adds the lines of one block to `found`, with the lines around them."""
    span = _span(live, block)
    if block.spool.size and span.start >= span.end:
        raise Gone(f"the output of {block.block_id} was dropped by retention", next=span.start)
    search = LineSearch(needle, offset=span.start, context=context)
    async for line in _lines(live, span, search):
        found.add(line)
        search.counting = found.full


def _span(live: LiveTerminal, block: Block) -> ByteRange:
    """The range of a block's output, without what retention dropped."""
    end = live.terminal.cursor if block.running else block.spool.end
    return ByteRange(max(block.spool.start, live.derivation.dropped.spool.end), end)


async def _lines(live: LiveTerminal, span: ByteRange, search: LineSearch) -> AsyncIterator[Line]:
    at = span.start
    while at < span.end:
        data = live.read_spool(at, min(at + _WINDOW, span.end))
        at += len(data)
        last = at >= span.end or not data
        if len(data) <= _AT_ONCE:
            found = search.feed(data, last=last)
        else:
            found = await asyncio.to_thread(search.feed, data, last=last)
        for line in found:
            yield line
        if last:
            return
