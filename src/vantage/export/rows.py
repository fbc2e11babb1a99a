"""A conversation's rows from its files, in the order in which they began, with what their commands printed.

The log is read twice: once to learn which event is the last of each row, once to hand every row out when nothing more
comes to it. So only rows that wait for an earlier one are in memory. The log may grow meanwhile: the second reading
ends where the first one did.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import suppress

import msgspec

from vantage.conversation.block_log import decode_block
from vantage.conversation.derive import without
from vantage.conversation.files import ConversationFolder, GrowingFile, whole_lines
from vantage.conversation.replay import dropped_bytes
from vantage.errors import EventError
from vantage.events import Event, Json, decode_event
from vantage.export.recording import Progress
from vantage.terminal.blocks import Block as CommandBlock
from vantage.terminal.blocks import Span
from vantage.terminal.reading import Reading, read_output
from vantage.timeline.fold import Timeline
from vantage.timeline.row import Block, ListBlock, OutputBlock, Row, SectionBlock, TerminalBlock
from vantage.timeline.specs.check import SpecError

MOST_OUTPUT = 100_000
"""Characters of one command's or call's output in an export: head and tail, and between them how much is left out."""


def exported_rows(folder: ConversationFolder, progress: Progress = lambda _done, _all: None) -> Iterator[Row]:
    last, end = _last_events(folder)
    specs = deque(_specs(folder))
    timeline = Timeline()
    waiting: dict[str, bool] = {}
    """Rows that have begun, in their order, and whether all of each is there."""
    outputs = _Outputs(folder)
    try:
        for at, event in _events(folder, end):
            while specs and specs[0].after < (event.seq or 0):
                spec = specs.popleft()
                with suppress(SpecError):  # it was refused when it came
                    timeline.specs.register(spec.tool, spec.spec)
            changed = timeline.add(event)
            for row_id in (changed, *timeline.closed):
                if row_id is not None:
                    waiting[row_id] = last[row_id] == at
            while waiting and waiting[first := next(iter(waiting))]:
                del waiting[first]
                row = timeline.row(first)
                timeline.forget(first)
                yield outputs.fill(row)
            progress(at, end)
    finally:
        outputs.close()


def _last_events(folder: ConversationFolder) -> tuple[dict[str, int], int]:
    """Where the last event of each row ends in the log, and where the log ends."""
    timeline = Timeline()
    last: dict[str, int] = {}
    end = 0
    for at, event in _events(folder):
        end = at
        changed = timeline.add(event)
        for row_id in (changed, *timeline.closed):
            if row_id is not None:
                last[row_id] = at
                timeline.forget(row_id)
    return last, end


def _events(folder: ConversationFolder, end: int | None = None) -> Iterator[tuple[int, Event]]:
    """Every event, and the offset behind it in the log."""
    at = 0
    while lines := whole_lines(folder.events, at):
        for line in lines:
            at += len(line) + 1
            if end is not None and at > end:
                return
            with suppress(EventError):
                yield at, decode_event(line)


class _Spec(msgspec.Struct):
    """A line of `tools.jsonl`."""

    tool: str
    spec: Json
    after: int = 0


def _specs(folder: ConversationFolder) -> Iterator[_Spec]:
    at = 0
    while lines := whole_lines(folder.tools, at):
        for line in lines:
            at += len(line) + 1
            with suppress(msgspec.MsgspecError):
                yield msgspec.json.decode(line, type=_Spec)


class _Outputs:
    """What commands printed, read from the terminal's files."""

    def __init__(self, folder: ConversationFolder) -> None:
        self._folder = folder
        self._spool, self._raw = GrowingFile(folder.spool), GrowingFile(folder.raw)
        self._places: dict[str, int] = {}
        """block → where its line is in the log of blocks, as far as that was read."""
        self._read = 0
        self._dropped = dropped_bytes(folder) if folder.journal.exists() else 0

    def fill(self, row: Row) -> Row:
        """The row with all that is to be shown of it: nothing is folded away in a file."""
        return msgspec.structs.replace(row, blocks=[self._block(block) for block in row.blocks])

    def _block(self, block: Block) -> Block:
        replace = msgspec.structs.replace
        if isinstance(block, TerminalBlock):
            return replace(block, content=self._printed(block.block_id))
        if isinstance(block, OutputBlock):
            return replace(block, content=_cut(block.content), max_lines=None)
        if isinstance(block, ListBlock):
            return replace(block, max_items=None)
        if isinstance(block, SectionBlock):
            return replace(block, blocks=[self._block(each) for each in block.blocks])
        return block

    def _printed(self, block_id: str) -> str:
        block = self._find(block_id)
        if block is None:
            return "(it had not ended when this was written)"
        if block.raw.end <= self._dropped and block.raw.size:
            return "(its output is no longer kept)"

        def raw(start: int, end: int) -> bytes:
            """The block's own bytes, without our marks."""
            return b"".join(self._raw.read(*span) for span in without(Span(start, end), block.marks))

        if block.raw.start >= self._dropped:
            return read_output(self._spool.read, block.spool, MOST_OUTPUT, raw=raw, raw_span=block.raw).text
        rest = self._kept(block.spool)
        return f"(its beginning is no longer kept)\n{rest.text}"

    def _kept(self, span: Span) -> Reading:
        """What is left of an output whose beginning is a hole: that reads as zeros."""
        start = span.start
        while start < span.end and not (data := self._spool.read(start, min(start + (1 << 20), span.end))).strip(b"\0"):
            start += len(data) or span.end
        data = self._spool.read(start, span.end)
        start += len(data) - len(data.lstrip(b"\0"))
        return read_output(self._spool.read, Span(min(start, span.end), span.end), MOST_OUTPUT)

    def _find(self, block_id: str) -> CommandBlock | None:
        while block_id not in self._places:
            lines = whole_lines(self._folder.block_log, self._read)
            if not lines:
                return None
            for line in lines:
                with suppress(msgspec.MsgspecError):
                    self._places[decode_block(line).block_id] = self._read
                self._read += len(line) + 1
        return decode_block(whole_lines(self._folder.block_log, self._places[block_id], 1)[0])

    def close(self) -> None:
        self._spool.close()
        self._raw.close()


def _cut(text: str) -> str:
    """Text within the limit, with a line that says what is not there."""
    if len(text) <= MOST_OUTPUT:
        return text
    head, tail = text[: MOST_OUTPUT // 2], text[-MOST_OUTPUT // 2 :]
    head, tail = head[: head.rfind("\n") + 1] or head, tail[tail.find("\n") + 1 :] or tail
    above = "" if head.endswith("\n") else "\n"
    return f"{head}{above}… {len(text) - len(head) - len(tail):,} characters left out …\n{tail}"
