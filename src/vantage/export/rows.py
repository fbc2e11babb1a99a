"""A conversation's rows from its files, in the order in which they began, with the output of their commands.

The log is read twice: once to learn which event is the last of each row, once to emit every row after its last event.
So only rows that wait for an earlier one are in memory. The log may grow meanwhile: the second reading ends where the
first one did.
"""

from collections.abc import Iterator
from contextlib import suppress
from itertools import count

import msgspec

from vantage.conversation.store.block_log import decode_block
from vantage.conversation.store.block_output import read_block_output
from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.conversation.store.derived.covered_output import CoveredOutput
from vantage.conversation.store.derived.replay import dropped_bytes
from vantage.conversation.store.files.growing_file import GrowingFile, whole_lines
from vantage.conversation.store.specs.log import read_spec_log
from vantage.errors import EventError
from vantage.events import Event, decode_event
from vantage.export.recording import Progress
from vantage.terminal.output.blocks import Block as CommandBlock
from vantage.terminal.output.blocks import ByteRange
from vantage.terminal.output.reading import Reading, read_output
from vantage.timeline.fold import Timeline, row_name
from vantage.timeline.grouping import Grouping
from vantage.timeline.row import Block, ListBlock, MarkdownBlock, OutputBlock, Row, SectionBlock, TerminalBlock
from vantage.timeline.tools.registry import ToolRegistry

MAX_OUTPUT = 100_000
"""The most characters of one command's or call's output in an export: head and tail, with the omitted length between
them.
"""


def exported_rows(
    folder: ConversationFolder,
    progress: Progress = lambda _done, _all: None,
    tools: ToolRegistry | None = None,
) -> Iterator[Row]:
    if tools is not None:
        tools.refresh()
    last, end = _last_events(folder, progress)
    timeline = Timeline(tools)
    for spec in read_spec_log(folder.tools):
        timeline.know(spec)
    waiting: dict[str, bool] = {}
    """Rows that have begun, in order, and whether each is complete."""
    outputs = _Outputs(folder)
    try:
        for at, event in _events(folder, end):
            timeline.add(event)
            for row_id in timeline.changed:
                waiting[row_id] = last[row_id] == at
            while waiting and waiting[first := next(iter(waiting))]:
                del waiting[first]
                row = timeline.row(first)
                timeline.forget(first)
                yield outputs.fill(row)
            progress(end + at, 2 * end)
    finally:
        outputs.close()


class _Counted:
    """A row in the first reading: its id, and whether it is open, without its content."""

    __slots__ = ("agent", "open", "row_id")

    def __init__(self, row_id: str, event: Event) -> None:
        self.row_id = row_id
        self.agent = event.agent
        self.open = False

    def take(self, event: Event) -> None:
        self.agent = event.agent or self.agent

    def close(self, _: Event | None) -> None:
        self.open = False


def _last_events(folder: ConversationFolder, progress: Progress) -> tuple[dict[str, int], int]:
    """Where the last event of each row ends in the log, and where the log ends."""
    whole = 2 * folder.events.stat().st_size if folder.events.exists() else 0
    numbers = count(1)
    grouping: Grouping[_Counted] = Grouping(lambda event, _: _Counted(row_name(next(numbers)), event))
    last: dict[str, int] = {}
    end = 0
    for at, event in _events(folder):
        end = at
        progress(at, whole)
        changed = grouping.add(event)
        for closed in grouping.closed:
            last[closed.row_id] = at
        if changed is not None:
            last[changed.row_id] = at
    return last, end


def _events(folder: ConversationFolder, end: int | None = None) -> Iterator[tuple[int, Event]]:
    """Every event, and the offset after it in the log."""
    at = 0
    while lines := whole_lines(folder.events, at):
        for line in lines:
            at += len(line) + 1
            if end is not None and at > end:
                return
            with suppress(EventError):
                yield at, decode_event(line)


class _Outputs:
    """The output of commands, read from the terminal's files."""

    def __init__(self, folder: ConversationFolder) -> None:
        self._folder = folder
        self._spool = GrowingFile(folder.spool)
        self._raw, self._journal = GrowingFile(folder.raw), GrowingFile(folder.journal)
        self._covered = CoveredOutput(self._raw, self._journal)
        self._places: dict[str, int] = {}
        """block → where its line is in the log of blocks, as far as that was read."""
        self._read = 0
        self._dropped = dropped_bytes(folder) if folder.journal.exists() else 0

    def fill(self, row: Row) -> Row:
        """The row with its output, nothing folded: a file cannot be expanded."""
        return msgspec.structs.replace(row, blocks=[self._block(block) for block in row.blocks])

    def _block(self, block: Block) -> Block:
        replace = msgspec.structs.replace
        if isinstance(block, TerminalBlock):
            return replace(block, content=self._printed(block.block_id))
        if isinstance(block, MarkdownBlock):  # a message that never ended is shown up to its last part
            return replace(block, growing=False)
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

        if block.raw.start >= self._dropped:
            sources = self._folder, self._spool.read, self._covered.read
            return read_block_output(*sources, block, MAX_OUTPUT, first=self._dropped).text
        rest = self._kept(block.spool)
        return f"(its beginning is no longer kept)\n{rest.text}"

    def _kept(self, span: ByteRange) -> Reading:
        """The rest of an output whose beginning is a hole, which reads as zeros."""
        start = span.start
        while start < span.end and not (data := self._spool.read(start, min(start + (1 << 20), span.end))).strip(b"\0"):
            start += len(data) or span.end
        data = self._spool.read(start, span.end)
        start += len(data) - len(data.lstrip(b"\0"))
        return read_output(self._spool.read, ByteRange(min(start, span.end), span.end), MAX_OUTPUT)

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
        self._journal.close()


def _cut(text: str) -> str:
    """Text within the limit, with a line that says how much is left out."""
    if len(text) <= MAX_OUTPUT:
        return text
    head, tail = text[: MAX_OUTPUT // 2], text[-MAX_OUTPUT // 2 :]
    head, tail = head[: head.rfind("\n") + 1] or head, tail[tail.find("\n") + 1 :] or tail
    above = "" if head.endswith("\n") else "\n"
    return f"{head}{above}… {len(text) - len(head) - len(tail):,} characters left out …\n{tail}"
