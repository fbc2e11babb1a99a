"""Spool, blocks and events, derived from a terminal's two files and kept beside them.

Everything here can be done again: after a crash it goes on from the last checkpoint, writes the same bytes to the same
places, and passes over what is in the logs already.
"""

import contextlib
import errno
import os
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from vantage.conversation.block_log import BlockLog
from vantage.conversation.event_log import EventLog
from vantage.conversation.files import PRIVATE_FILE, ConversationFolder, GrowingFile, write_atomically
from vantage.conversation.replay import (
    SCROLLBACK,
    VERSION,
    Checkpoint,
    Gap,
    Played,
    Replay,
    checkpoint_path,
    checkpoint_places,
    drive,
    read_checkpoint,
)
from vantage.errors import Unavailable
from vantage.events import Event
from vantage.terminal.blocks import Block, Span
from vantage.terminal.core import Terminal
from vantage.terminal.journal import Placed, read_records
from vantage.terminal.screen import CheckpointError, Screen
from vantage.terminal.state import DEFAULT_COLS, DEFAULT_ROWS, Step

DRAWN_APART = 1 << 20
RAW_APART = 4 << 20
AT_BLOCK_END = 1 << 16
"""Bytes between two checkpoints: drawn on the screen, or raw (a flood is hardly drawn); raw at the end of a block."""

Background = Callable[[Callable[[], None]], None]
"""Does a job in a thread, off the way of whoever waits for a command to end."""


class Derivation:
    """One conversation's terminal and what is kept of it."""

    def __init__(
        self,
        folder: ConversationFolder,
        conversation_id: str,
        events: EventLog,
        *,
        background: Background = lambda job: job(),
    ) -> None:
        self.folder = folder
        self.events = events
        self.raw = GrowingFile(folder.raw)
        self.spool = GrowingFile(folder.spool, write=True)
        self.blocks = BlockLog(folder)
        self.gaps: list[Gap] = []
        self._id = conversation_id
        self._journal = GrowingFile(folder.journal)
        self._journal_read = 0
        self._journal_at = 0
        """Behind the last record that was applied."""
        self._records: deque[Placed] = deque()
        self._background = background
        self._copying = 0
        self._last_checkpoint = self._drawn_then = 0
        self._skip_events = 0
        self._drawn: Played | None = None
        self._closed = False
        self.terminal = self._recover()
        self.adopt_screen()

    # going on from where it was

    def _recover(self) -> Terminal:
        for place in checkpoint_places(self.folder):
            checkpoint = read_checkpoint(self.folder, place)
            if checkpoint is not None and self._fits(checkpoint):
                return self._resume(checkpoint, checkpoint_path(self.folder, place))
        self._skip_events = self.events.derived(0)
        return Terminal(screen=Screen(DEFAULT_COLS, DEFAULT_ROWS, scrollback=SCROLLBACK))

    def _fits(self, checkpoint: Checkpoint) -> bool:
        return (
            checkpoint.state.raw <= self.raw.size
            and checkpoint.journal <= self._journal.size
            and checkpoint.state.spool.length <= self.spool.size
            and checkpoint.events <= self.events.size
            and checkpoint.block_log <= self.blocks.size
        )

    def _resume(self, checkpoint: Checkpoint, path: Path) -> Terminal:
        self._journal_read = self._journal_at = checkpoint.journal
        self._last_checkpoint = checkpoint.state.raw
        self.gaps = checkpoint.gaps
        self._skip_events = self.events.derived(checkpoint.events)
        return Terminal(checkpoint.state, self._old_screen(path.with_suffix(".screen")))

    def _old_screen(self, path: Path) -> Screen | None:
        try:
            return Screen.decode(path.read_bytes())
        except (OSError, CheckpointError):
            self._background(self._redraw)
            return None

    def _redraw(self) -> None:
        """The engine cannot read its own checkpoint any more: the screen is drawn anew from the raw output.

        Meanwhile everything else goes on without a screen.
        """
        with Replay(self.folder, first=self.gaps[-1].raw.end if self.gaps else 0) as replay:
            while not self._closed and replay.terminal.raw < self.raw.size:
                replay.to(min(replay.terminal.raw + RAW_APART, self.raw.size))
            self._drawn = replay.take()

    def settle(self) -> None:
        """Something in the background is done: a screen is there, or a checkpoint that waited for it can be made."""
        self.adopt_screen()
        if self._due():
            self.checkpoint()

    def adopt_screen(self) -> None:
        """What was drawn in the background, if anything, fed with what came meanwhile."""
        drawn, self._drawn = self._drawn, None
        if drawn is not None:
            with Replay(self.folder, going_on=drawn) as replay:
                self.terminal.screen = replay.to(self.terminal.raw).screen
                replay.take()

    # going on

    def behind(self, raw_end: int, journal_end: int) -> bool:
        """Whether there is something to take in."""
        return self.terminal.raw < raw_end or self._journal_read < journal_end

    def advance(self, raw_end: int, journal_end: int) -> Iterator[Step]:
        """Takes in both files up to lengths that belong together, slice by slice."""
        if journal_end > self._journal_read:
            data = self._journal.read(self._journal_read, journal_end)
            records, self._journal_read = read_records(data, self._journal_read)
            self._records.extend(records)
        for step in drive(self.terminal, self._records, self.raw.read, raw_end):
            self._journal_at = step.journal or self._journal_at
            self._keep(step)
            if self._due():
                self.checkpoint()
                step.checkpointed = True
            yield step

    def _keep(self, step: Step) -> None:
        if step.spool:
            self.spool.write(step.spool, step.spool_from)
        for gap in step.gaps:
            self._drop(Span(gap.start or 0, gap.end or 0))
        for block in step.ended:
            self._store(block)
        if step.events:
            step.events = self._log(step.events)

    def _log(self, events: list[Event]) -> list[Event]:
        passed = min(self._skip_events, len(events))
        self._skip_events -= passed
        return self.events.append(events[passed:], self._id)

    def _store(self, block: Block) -> None:
        target = self._output_file(block)
        size = block.raw.size - sum(span.size for span in block.marks)
        if block.seq <= self.blocks.count:
            with contextlib.suppress(OSError):
                if target.stat().st_size == size:
                    return
        if size:
            self._copying += 1
            self._background(lambda: self._copied(block, target))
        if block.seq > self.blocks.count:
            self.blocks.append(block)

    def _output_file(self, block: Block) -> Path:
        return self.folder.blocks / f"{block.seq}_{block.ts_begin}.out"

    def _copied(self, block: Block, target: Path) -> None:
        try:
            self._copy(block, target)
        finally:
            self._copying -= 1

    def _copy(self, block: Block, target: Path) -> None:
        """A block's output as it came, without our marks."""
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, PRIVATE_FILE)
        with os.fdopen(descriptor, "wb") as copy, self.folder.raw.open("rb") as raw:
            for span in without(block.raw, block.marks):
                copy_range(raw.fileno(), copy.fileno(), span)

    # checkpoints

    def _due(self) -> bool:
        if self._copying:
            return False
        since = self.terminal.raw - self._last_checkpoint
        drawn = self.terminal.drawn - self._drawn_then
        return (
            since >= RAW_APART or drawn >= DRAWN_APART or (self.terminal.state.block is None and since >= AT_BLOCK_END)
        )

    def checkpoint(self) -> None:
        """Writes down where we are: a restart replays only what came after."""
        screen = self.terminal.screen
        try:
            drawn = screen.encode(scrollback=False) if screen is not None else None
        except CheckpointError:
            return  # in the middle of a long sequence: the next slice tries again
        state = self.terminal.checkpoint()
        path = checkpoint_path(self.folder, state.raw)
        if drawn is not None:
            write_atomically(path.with_suffix(".screen"), drawn)
        checkpoint = Checkpoint(
            version=VERSION,
            state=state,
            journal=self._journal_at,
            events=self.events.size,
            block_log=self.blocks.size,
            gaps=self.gaps,
        )
        write_atomically(path, msgspec.msgpack.encode(checkpoint))
        self._last_checkpoint = state.raw
        self._drawn_then = self.terminal.drawn

    # retention

    def droppable(self, keep: int) -> Span | None:
        """What may be dropped so that about `keep` bytes stay: up to a checkpoint, where a rebuild can start."""
        start = self.gaps[-1].raw.end if self.gaps else 0
        most = self.terminal.raw - keep
        place = next((place for place in checkpoint_places(self.folder) if place <= most), 0)
        return Span(start, place) if place - start > keep // 16 else None

    @property
    def dropped(self) -> Gap:
        """All that retention has dropped: its holes follow each other, from the first byte on."""
        last = self.gaps[-1] if self.gaps else Gap(Span(0, 0), Span(0, 0))
        return Gap(Span(0, last.raw.end), Span(0, last.spool.end))

    def _drop(self, raw: Span) -> None:
        """The raw output has a hole now: what was derived from it goes too."""
        if raw.start > self.dropped.raw.end:
            return  # no retention: bytes that never reached the disk
        checkpoint = read_checkpoint(self.folder, raw.end)
        before = self.gaps[-1].spool.end if self.gaps else 0
        spool = Span(before, checkpoint.state.spool.length if checkpoint else before)
        self.gaps.append(Gap(raw, spool))
        if spool.size:
            self.spool.free(spool.start, spool.end)
        for block in self.blocks.after(0, self.blocks.count):
            if block.raw.end > raw.end:
                break
            self._output_file(block).unlink(missing_ok=True)
        for place in checkpoint_places(self.folder):
            if place < raw.end:
                path = checkpoint_path(self.folder, place)
                path.unlink(missing_ok=True)
                path.with_suffix(".screen").unlink(missing_ok=True)

    def close(self) -> None:
        self._closed = True
        for file in (self.raw, self.spool, self._journal, self.blocks):
            file.close()
        if self.terminal.screen is not None:
            self.terminal.screen.close()


def copy_range(source: int, target: int, span: Span) -> None:
    """Appends a part of a file to another, by way of the kernel where it can."""
    at = span.start
    while at < span.end:
        try:
            copied = os.copy_file_range(source, target, span.end - at, at)
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
                raise Unavailable(f"the disk takes no more: {error.strerror}", hint="free some space") from error
            copied = os.write(target, os.pread(source, min(span.end - at, 1 << 20), at))
        if not copied:
            return
        at += copied


def without(span: Span, holes: list[Span]) -> Iterator[Span]:
    """The parts of a span between holes in it."""
    at = span.start
    for hole in holes:
        if hole.start >= at and hole.end <= span.end:
            if hole.start > at:
                yield Span(at, hole.start)
            at = hole.end
    if at < span.end:
        yield Span(at, span.end)
