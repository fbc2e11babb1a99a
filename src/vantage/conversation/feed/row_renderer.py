"""The rows of one conversation, drawn: once for each target and version, however many subscribers ask."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import msgspec

from vantage.conversation.feed.drawing import RenderTarget, draw_row
from vantage.conversation.feed.row_cache import Key, RowCache
from vantage.conversation.feed.row_log import RowLog
from vantage.errors import VantageError
from vantage.timeline.row import Block, Row, TerminalBlock, TextBlock

_log = logging.getLogger(__name__)

ReadOutput = Callable[[str], Awaitable[str]]
"""Block id → the text that is shown of its output. Raises VantageError when it cannot be read."""


class RowRenderer:
    def __init__(self, rows: RowLog, cache: RowCache, read_output: ReadOutput) -> None:
        self._rows = rows
        self._cache = cache
        self._read_output = read_output
        self._drawing: dict[Key, tuple[int, asyncio.Task[str]]] = {}

    async def row(self, row_id: str) -> Row:
        """A row with the output of its commands."""
        row = self._rows.row(row_id)
        if any(isinstance(block, TerminalBlock) for block in row.blocks):
            blocks: list[Block] = []
            for block in row.blocks:
                blocks += await self._with_output(block) if isinstance(block, TerminalBlock) else [block]
            row = msgspec.structs.replace(row, blocks=blocks)
        return row

    async def _with_output(self, block: TerminalBlock) -> list[Block]:
        try:
            output = await self._read_output(block.block_id)
        except VantageError as error:
            output = str(error)
        return [msgspec.structs.replace(block, content=output)] if output.strip() else []

    async def message(self, row_id: str, target: RenderTarget) -> bytes:
        """A row as it travels: `{"seq", "row", "html"}`."""
        seq = self._rows.seq_of(row_id)  # read before it is drawn: the drawing may be newer, never older
        return f'{{"seq":{seq},{await self.drawing(row_id, target)}'.encode()

    def known(self, row_id: str, target: RenderTarget) -> str | None:
        """The drawing of the row as it is now, if the cache has it."""
        return self._cache.find(Key(self._rows, row_id, target), self._rows.version_of(row_id))

    async def drawing(self, row_id: str, target: RenderTarget) -> str:
        """The end of a row's message, after `"seq": N`; see `draw_row`."""
        version = self._rows.version_of(row_id)
        key = Key(self._rows, row_id, target)
        found = self._cache.find(key, version)
        if found is not None:
            return found
        running = self._drawing.get(key)
        if running is None or running[0] != version:
            task = asyncio.get_running_loop().create_task(self._draw(key, version))
            running = self._drawing[key] = (version, task)
        return await asyncio.shield(running[1])

    async def _draw(self, key: Key, version: int) -> str:
        """Draws in a task of its own, so a subscriber that leaves does not cancel what others wait for."""
        try:
            row = await self.row(key.row_id)
            try:
                made = await draw_row(row, key.target)
            except Exception as error:  # noqa: BLE001 -- an error in one row must not affect the others
                _log.exception("row %s cannot be drawn", key.row_id)
                plain = TextBlock(content=f"this row cannot be drawn: {error!r}", style="error")
                made = await draw_row(msgspec.structs.replace(row, blocks=[plain]), key.target)
            self._cache.keep(key, version, made)
            return made
        finally:
            if self._drawing.get(key, (None,))[0] == version:
                del self._drawing[key]

    def close(self) -> None:
        self._cache.forget(self._rows)
