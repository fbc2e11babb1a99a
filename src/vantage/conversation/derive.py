"""Spool, blocks and events, derived from a terminal's two files and kept beside them.

Everything here can be done again: after a crash it goes on from the last checkpoint, writes the same bytes to the same
places, and passes over what is in the logs already.
"""

import contextlib
import errno
import os
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Self

import msgspec

from vantage.conversation.event_log import EventLog
from vantage.conversation.files import PRIVATE_FILE, ConversationFolder, GrowingFile, Log, write_atomically
from vantage.errors import NotFound, Unavailable
from vantage.events import Event
from vantage.terminal.blocks import Block, Span
from vantage.terminal.core import DEFAULT_COLS, DEFAULT_ROWS, State, Step, Terminal
from vantage.terminal.journal import Placed, read_records
from vantage.terminal.reading import Source
from vantage.terminal.screen import CheckpointError, Screen

VERSION = 1
"""Of what is in a checkpoint. Another one is not read: derivation starts over."""
SLICE = 1 << 18
"""Bytes that are derived at once; between two slices others get their turn."""
DRAWN_APART = 1 << 20
RAW_APART = 4 << 20
AT_BLOCK_END = 1 << 16
"""Bytes between two checkpoints: drawn on the screen, or raw (a flood is hardly drawn); raw at the end of a block."""
SCROLLBACK = 1000
"""Lines that a live screen remembers. Older ones are found by drawing the past again."""
JOURNAL_PIECE = 1 << 15

Background = Callable[[Callable[[], None]], None]
"""Does a job in a thread, off the way of whoever waits for a command to end."""


class Gap(msgspec.Struct, frozen=True):
    """What retention dropped, in the raw output and in the spool."""

    raw: Span
    spool: Span


class Checkpoint(msgspec.Struct):
    version: int
    state: State
    journal: int
    events: int
    block_log: int
    gaps: list[Gap] = []


def checkpoint_path(folder: ConversationFolder, raw: int) -> Path:
    return folder.checkpoints / f"{raw:016}.state"


def checkpoint_places(folder: ConversationFolder) -> list[int]:
    """The raw offsets that have a checkpoint, the last first."""
    try:
        names = os.listdir(folder.checkpoints)  # noqa: PTH208 -- there may be thousands, and only names matter
    except FileNotFoundError:
        return []
    return sorted((int(name[:-6]) for name in names if name.endswith(".state") and name[:-6].isdigit()), reverse=True)


def read_checkpoint(folder: ConversationFolder, raw: int) -> Checkpoint | None:
    """The checkpoint at an offset; None when there is none that can be used."""
    try:
        checkpoint = msgspec.msgpack.decode(checkpoint_path(folder, raw).read_bytes(), type=Checkpoint)
    except (OSError, msgspec.MsgspecError):
        return None
    return checkpoint if checkpoint.version == VERSION else None


def dropped_bytes(folder: ConversationFolder) -> int:
    """How many bytes at the beginning of the raw output retention has dropped, by the last checkpoint and since."""
    checkpoint = next(filter(None, (read_checkpoint(folder, place) for place in checkpoint_places(folder))), None)
    known = checkpoint.gaps[-1].raw.end if checkpoint and checkpoint.gaps else 0
    journal, raw = GrowingFile(folder.journal), GrowingFile(folder.raw)
    try:
        for record, _ in _records(journal, checkpoint.journal if checkpoint else 0, raw.size):
            if record.t == "gap" and record.start <= known:
                known = max(known, record.end)
    finally:
        journal.close()
        raw.close()
    return known


class BlockLog:
    """Ended blocks, a line each: the line's number is the block's."""

    def __init__(self, folder: ConversationFolder) -> None:
        self._folder = folder
        self._log = Log(folder.block_log)
        last = self._log.last_line()
        self.count = decode_block(last).seq if last else 0
        self._last: Block | None = None

    @property
    def torn(self) -> int:
        return self._log.torn

    @property
    def size(self) -> int:
        return self._log.size

    def append(self, block: Block) -> None:
        self._log.append(encode_block(block))
        self.count = block.seq
        self._last = block

    def after(self, seq: int, limit: int) -> list[Block]:
        return [decode_block(line) for line in islice(self._log.from_line(seq + 1), limit)]

    def get(self, block_id: str) -> Block:
        if self._last is not None and self._last.block_id == block_id:
            return self._last
        number = block_id[1:]
        if block_id[:1] == "b" and number.isascii() and number.isdigit() and 0 < int(number) <= self.count:
            return self.after(int(number) - 1, 1)[0]
        last = f"the last one is b{self.count}" if self.count else "there is none yet"
        raise NotFound(f"there is no block {block_id!r}", hint=last)

    def close(self) -> None:
        self._log.close()


_block_decoder = msgspec.json.Decoder(Block)


def encode_block(block: Block) -> bytes:
    return msgspec.json.encode(block) + b"\n"


def decode_block(line: bytes) -> Block:
    return _block_decoder.decode(line)


class Derivation:
    """One conversation's terminal and what is kept of it."""

    def __init__(
        self,
        folder: ConversationFolder,
        conversation_id: str,
        events: EventLog,
        *,
        screen: bool = True,
        background: Background = lambda job: job(),
        checkpoints: bool = True,
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
        self._checkpoints = checkpoints
        self._last_checkpoint = self._drawn_then = 0
        self._with_screen = screen
        self._skip_events = 0
        self.redraws = False
        """The screen is being drawn anew."""
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
        return Terminal(screen=self._new_screen())

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

    def _new_screen(self) -> Screen | None:
        return Screen(DEFAULT_COLS, DEFAULT_ROWS, scrollback=SCROLLBACK) if self._with_screen else None

    def _old_screen(self, path: Path) -> Screen | None:
        if not self._with_screen:
            return None
        try:
            return Screen.decode(path.read_bytes())
        except (OSError, CheckpointError):
            self.redraws = True
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
            self.redraws = False
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
        if not self._checkpoints or self._copying:
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


def drive(terminal: Terminal, records: deque[Placed], read: Source, end: int) -> Iterator[Step]:
    """Feeds raw output up to `end`, each record at its place; `records` is emptied as they are applied."""
    applied = 0
    while records or terminal.raw < end:
        here = min(records[0].record.at, end) if records else end
        while terminal.raw < here:
            data = read(terminal.raw, min(terminal.raw + SLICE, here))
            if not data:
                return
            step = terminal.feed(data)
            step.journal = applied
            yield step
        if not records or records[0].record.at > terminal.raw:
            return
        placed = records.popleft()
        step = terminal.record(placed.record)
        step.journal = applied = placed.end
        if placed.record.t != "out":  # a time brings nothing about
            yield step


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


class Played(NamedTuple):
    """A terminal that was derived again up to somewhere."""

    terminal: Terminal
    journal: int


class Replay:
    """A terminal of the past, with its screen: derived again, for nobody's log. Goes forward only."""

    def __init__(
        self,
        folder: ConversationFolder,
        *,
        start: int = 0,
        first: int = 0,
        scrollback: int = SCROLLBACK,
        going_on: Played | None = None,
    ) -> None:
        """From the last checkpoint at or before `start`, but none before `first`; or from where another one was."""
        self._folder = folder
        self._scrollback = scrollback
        self._journal_file, self._raw = GrowingFile(folder.journal), GrowingFile(folder.raw)
        self.terminal, self._journal = going_on or self._start(start, first)
        self._taken = False

    def to(self, raw_end: int) -> Terminal:
        """The terminal as it was when its output had this length."""
        records = _records(self._journal_file, self._journal, raw_end)
        for step in drive(self.terminal, records, self._raw.read, raw_end):
            self._journal = step.journal or self._journal
        return self.terminal

    def take(self) -> Played:
        """It is the caller's now."""
        self._taken = True
        return Played(self.terminal, self._journal)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal_file.close()
        self._raw.close()
        if not self._taken and self.terminal.screen is not None:
            self.terminal.screen.close()

    def _start(self, start: int, first: int) -> Played:
        for place in checkpoint_places(self._folder):
            if not first <= place <= start:
                continue
            checkpoint = read_checkpoint(self._folder, place)
            if checkpoint is None:
                continue
            with contextlib.suppress(OSError, CheckpointError):
                path = checkpoint_path(self._folder, place).with_suffix(".screen")
                screen = Screen.decode(path.read_bytes(), scrollback=self._scrollback)
                return Played(Terminal(checkpoint.state, screen), checkpoint.journal)
        return Played(Terminal(screen=Screen(DEFAULT_COLS, DEFAULT_ROWS, scrollback=self._scrollback)), 0)


def _records(journal: GrowingFile, start: int, raw_end: int) -> deque[Placed]:
    """The records up to a length of the raw output, read no further than that."""
    found: deque[Placed] = deque()
    end, piece = journal.size, JOURNAL_PIECE
    while start < end:
        records, behind = read_records(journal.read(start, min(start + piece, end)), start)
        found.extend(placed for placed in records if placed.record.at <= raw_end)
        if records and records[-1].record.at > raw_end:
            break
        if behind == start:
            if start + piece >= end:
                break
            piece *= 2  # a line of a command that long
        start = behind
    return found
