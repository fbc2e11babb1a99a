"""Spool, blocks and events, derived from a terminal's two files and kept beside them.

Everything here can be done again: after a crash it goes on from the last checkpoint, writes the same bytes to the same
places, and passes over what is in the logs already.
"""

import contextlib
import errno
import logging
import os
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

from vantage.conversation.block_log import BlockLog
from vantage.conversation.event_log import EventLog
from vantage.conversation.files import PRIVATE_FILE, ConversationFolder, GrowingFile, damaged, no_room, write_atomically
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
    journal_records,
    read_checkpoint,
    read_screen,
    screen_path,
    write_checkpoint,
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
_log = logging.getLogger(__name__)


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
        try:
            self.terminal = self._recover()
        except BaseException:
            self._close_files()
            raise
        self.adopt_screen()

    # going on from where it was

    def _recover(self) -> Terminal:
        newest = True
        for place in checkpoint_places(self.folder):
            checkpoint = read_checkpoint(self.folder, place)
            if checkpoint is None:
                _log.warning("%s cannot be read: an older one is used", checkpoint_path(self.folder, place))
                continue
            if newest:
                self._check_truth(checkpoint)
                newest = False
            short = self._shorter(checkpoint)
            if short is None:
                return self._resume(checkpoint)
            _log.warning("%s is shorter than it was: what it had is derived again", short)
        if newest:
            self._check_truth(None)
        self._skip_events = self.events.derived(0)
        return Terminal(screen=Screen(DEFAULT_COLS, DEFAULT_ROWS, scrollback=SCROLLBACK))

    def _check_truth(self, checkpoint: Checkpoint | None) -> None:
        """What the terminal printed, and the journal, were at least so long once. Nothing can be derived from less.

        To go on would write over what is kept of it, and give new commands the numbers of old ones.
        """
        last = self.blocks.last()
        raw = max(checkpoint.state.raw if checkpoint else 0, last.raw.end if last else 0)
        if self.raw.size < raw:
            raise self._lost(self.folder.raw, f"it has {self.raw.size:,} bytes and had {raw:,}")
        end = checkpoint.journal if checkpoint else 0
        if self._journal.size < end:
            raise self._lost(self.folder.journal, f"it has {self._journal.size:,} bytes and had {end:,}")
        if end and self._journal.read(end - 1, end) != b"\n":
            raise self._lost(self.folder.journal, f"no line ends at byte {end:,}, where one did")
        if checkpoint is None and raw and not any(journal_records(self._journal, 0)):
            raise self._lost(self.folder.journal, "there is no record in it")

    def _lost(self, path: Path, why: str) -> Unavailable:
        return damaged(path, why, f"put it back from a copy, or keep what is left: 'vantage rebuild {self._id}'")

    def _shorter(self, checkpoint: Checkpoint) -> Path | None:
        """The file that has less than it had: then nothing can go on from there."""
        sizes = {
            self.folder.raw: (checkpoint.state.raw, self.raw.size),
            self.folder.journal: (checkpoint.journal, self._journal.size),
            self.folder.spool: (checkpoint.state.spool.length, self.spool.size),
            self.folder.events: (checkpoint.events, self.events.size),
            self.folder.block_log: (checkpoint.block_log, self.blocks.size),
        }
        return next((path for path, (had, has) in sizes.items() if has < had), None)

    def _resume(self, checkpoint: Checkpoint) -> Terminal:
        self._journal_read = self._journal_at = checkpoint.journal
        self._last_checkpoint = checkpoint.state.raw
        self.gaps = checkpoint.gaps
        self._skip_events = checkpoint.ahead + self.events.derived(checkpoint.events)
        screen = read_screen(self.folder, checkpoint.state.raw)
        if screen is None:
            self._background(self._redraw)
        return Terminal(checkpoint.state, screen)

    def _redraw(self) -> None:
        """The engine cannot read its own checkpoint any more: the screen is drawn anew from the raw output.

        Meanwhile everything else goes on without a screen.
        """
        with Replay(self.folder, first=self.dropped.raw.end) as replay:
            while not self._closed and replay.terminal.raw < self.raw.size:
                replay.to(min(replay.terminal.raw + RAW_APART, self.raw.size))
            self._drawn = replay.take()

    def settle(self) -> None:
        """Something in the background is done: a screen is there, or a checkpoint that waited for it can be made."""
        self.adopt_screen()
        self._checkpoint_if_due()

    def adopt_screen(self) -> None:
        """What was drawn in the background, if anything, fed with what came meanwhile."""
        drawn, self._drawn = self._drawn, None
        if drawn is not None:
            with Replay(self.folder, going_on=drawn) as replay:
                self.terminal.screen = replay.to(self.terminal.raw).screen
                replay.take()

    # going on

    @property
    def ends(self) -> tuple[int, int]:
        """How long both files are."""
        return self.raw.size, self._journal.size

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
            step.checkpointed = self._checkpoint_if_due()
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
        if block.seq <= self.blocks.count:
            with contextlib.suppress(OSError):
                if target.stat().st_size == block.size:
                    return
        if block.size:
            self._copying += 1
            self._background(lambda: self._copied(block, target))
        if block.seq > self.blocks.count:
            self.blocks.append(block)

    def _output_file(self, block: Block) -> Path:
        return self.folder.blocks / f"{block.seq}_{block.ts_begin}.out"

    def _copied(self, block: Block, target: Path) -> None:
        """One that failed is still to be done: no checkpoint must come behind it."""
        try:
            self._copy(block, target)
        except OSError as error:
            raise no_room(error) from error
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

    def _checkpoint_if_due(self) -> bool:
        """One that cannot be written is no reason to stop: what it would have said is said by the next one."""
        if self._due():
            with contextlib.suppress(Unavailable):
                self.checkpoint()
                return True
        return False

    def checkpoint(self) -> None:
        """Writes down where we are: a restart replays only what came after."""
        screen = self.terminal.screen
        try:
            drawn = screen.encode(scrollback=False) if screen is not None else None
        except CheckpointError:
            return  # in the middle of a long sequence: the next slice tries again
        state = self.terminal.checkpoint()
        if drawn is not None:
            write_atomically(screen_path(self.folder, state.raw), drawn)
        checkpoint = Checkpoint(
            version=VERSION,
            state=state,
            journal=self._journal_at,
            events=self.events.size,
            block_log=self.blocks.size,
            gaps=self.gaps,
            ahead=self._skip_events,
        )
        write_checkpoint(self.folder, checkpoint)
        self._last_checkpoint = state.raw
        self._drawn_then = self.terminal.drawn

    # retention

    def droppable(self, keep: int) -> Span | None:
        """What may be dropped so that about `keep` bytes stay: up to a checkpoint, where a rebuild can start."""
        start = self.dropped.raw.end
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
        dropped = self.dropped
        if raw.start > dropped.raw.end:
            return  # no retention: bytes that never reached the disk
        checkpoint = read_checkpoint(self.folder, raw.end)
        before = dropped.spool.end
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
                for path in (checkpoint_path(self.folder, place), screen_path(self.folder, place)):
                    path.unlink(missing_ok=True)

    def _close_files(self) -> None:
        for file in (self.raw, self.spool, self._journal, self.blocks):
            file.close()

    def close(self) -> None:
        self._closed = True
        self._close_files()
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
                raise
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
