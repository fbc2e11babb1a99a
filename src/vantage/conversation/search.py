"""Lines of a terminal's output that have a text in them."""

import asyncio
from collections.abc import Callable

from vantage.conversation.results import Hit, Hits
from vantage.conversation.session import Session
from vantage.terminal.blocks import Block
from vantage.terminal.match import compile_pattern
from vantage.terminal.reading import fold

_WINDOW = 1 << 20
MOST_TEXT = 500
"""Characters of a line that are shown."""


async def find_lines(session: Session, query: str, *, regex: bool, limit: int) -> Hits:
    """Block by block, oldest first. A line is matched as it is read: carriage returns carried out."""
    matches = _matcher(query, regex=regex)
    hits: list[Hit] = []
    blocks = session.derivation.blocks.after(0, session.derivation.blocks.count)
    if session.state.block is not None:
        blocks.append(session.state.block)
    for block in blocks:
        await _find_in_block(session, block, matches, hits, limit)
        if len(hits) >= limit:
            return Hits(hits=hits[:limit], complete=False)
    return Hits(hits=hits)


def _matcher(query: str, *, regex: bool) -> Callable[[str], bool]:
    if not regex:
        return lambda line: query in line
    pattern = compile_pattern(query)
    return lambda line: pattern.search(line.encode()) is not None


async def _find_in_block(
    session: Session, block: Block, matches: Callable[[str], bool], hits: list[Hit], limit: int
) -> None:
    at, end = block.spool.start, session.terminal.cursor if block.running else block.spool.end
    number, rest = 0, b""
    while at < end and len(hits) < limit:
        data = session.read_spool(at, min(at + _WINDOW, end))
        if not data:
            return
        at += len(data)
        *lines, rest = (rest + data).split(b"\n")
        if at >= end and rest:
            lines, rest = [*lines, rest], b""
        cursor = at - len(rest) - sum(len(line) + 1 for line in lines)
        for line in lines:
            number += 1
            text = fold(line.decode("utf-8", "ignore"))
            if matches(text):
                hits.append(Hit(block.block_id, cursor, number, text[:MOST_TEXT]))
            cursor += len(line) + 1
        await asyncio.sleep(0)
