"""Spool, blocks and events, derived from a terminal's two files and kept beside them.

Deriving is idempotent: after a crash it resumes at the last checkpoint, writes the same bytes to the same offsets, and
skips events that are logged already.
"""

import contextlib
import logging
from collections.abc import Iterator

from vantage.conversation.store.block_log import BlockLog
from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.conversation.store.derived.block_files import Background, BlockFiles, CopyOutput, copy_output
from vantage.conversation.store.derived.covered_output import CoveredOutput
from vantage.conversation.store.derived.journal_reader import JournalReader
from vantage.conversation.store.derived.pace import Pace
from vantage.conversation.store.derived.recovery import KeptFiles
from vantage.conversation.store.derived.replay import (
    SCROLLBACK,
    VERSION,
    Checkpoint,
    Gap,
    Played,
    Replay,
    checkpoint_path,
    checkpoint_places,
    drive,
    engine_of,
    read_checkpoint,
    read_screen,
    screen_path,
    write_checkpoint,
)
from vantage.conversation.store.event_log import EventLog
from vantage.conversation.store.files.growing_file import GrowingFile
from vantage.conversation.store.files.open_files import OpenFiles
from vantage.conversation.store.files.writing import write_atomically
from vantage.errors import Unavailable
from vantage.events import Event
from vantage.terminal.core import TerminalCore
from vantage.terminal.engines import EngineName
from vantage.terminal.output.blocks import Block, ByteRange
from vantage.terminal.screen.screen import CheckpointError, Screen
from vantage.terminal.state import DEFAULT_COLS, DEFAULT_ROWS, State, Step

DRAWN_APART = 1 << 20
RAW_APART = 4 << 20
AT_BLOCK_END = 1 << 16
"""Bytes between two checkpoints: drawn on the screen, or raw (a flood is hardly drawn); raw at the end of a block."""

_log = logging.getLogger(__name__)


class Derivation:
    """One conversation's terminal, and the files that are derived from it.

    It has more than 20 methods, because files, screen and checkpoints must stay in step: a method for each of them to
    resume, advance, settle, retain and close.
    """

    def __init__(
        self,
        folder: ConversationFolder,
        conversation_id: str,
        events: EventLog,
        *,
        background: Background = lambda job: job(),
        copy: CopyOutput = copy_output,
        files: OpenFiles | None = None,
        draw: bool = True,
        engine: EngineName | None = None,
    ) -> None:
        """Without `draw` it has no screen until `redraw`, so that an error of the emulator cannot stop it."""
        self.folder = folder
        self.events = events
        self.raw = GrowingFile(folder.raw, files=files)
        self.spool = GrowingFile(folder.spool, write=True, files=files)
        self.blocks = BlockLog(folder, files)
        self.gaps: list[Gap] = []
        self._id = conversation_id
        self._engine = engine or engine_of(folder)
        self._journal = JournalReader(GrowingFile(folder.journal, files=files))
        self.covered = CoveredOutput(self.raw, self._journal.file)
        """The raw output with the shells' secrets covered, for everything that leaves the home."""
        self._journal_at = 0
        """The journal's offset after the last record that was applied."""
        self._background = background
        self._block_files = BlockFiles(folder, background, copy)
        self._last_checkpoint = self._drawn_then = 0
        self._skip_events = 0
        self._derived = 0
        """How far the terminal has come: a screen that is drawn in another thread must not get ahead of it."""
        self._pace = Pace()
        self._draw = draw
        self._drawn: Played | Screen | None = None
        """A terminal whose screen was drawn in the background, or an empty screen."""
        self._redrawing = False
        self._closed = False
        try:
            self.terminal = self._recover()
        except BaseException:
            self._close_files()
            raise
        self.adopt_screen()

    # going on from where it was

    def _recover(self) -> TerminalCore:
        files = KeptFiles(self.folder, self._id, self.raw, self._journal.file, self.spool, self.events, self.blocks)
        checkpoint = files.newest_checkpoint()
        if checkpoint is not None:
            return self._resume(checkpoint)
        self._skip_events = self.events.derived(0)
        return TerminalCore(screen=self._blank(DEFAULT_COLS, DEFAULT_ROWS) if self._draw else None)

    def _blank(self, cols: int, rows: int) -> Screen:
        return Screen(cols, rows, engine=self._engine, scrollback=SCROLLBACK)

    def _resume(self, checkpoint: Checkpoint) -> TerminalCore:
        self._journal.position = self._journal_at = checkpoint.journal
        self._derived = checkpoint.state.raw
        self._last_checkpoint = checkpoint.state.raw
        self.gaps = checkpoint.gaps
        self._skip_events = checkpoint.ahead + self.events.derived(checkpoint.events)
        if not self._draw:
            return TerminalCore(checkpoint.state)
        screen = read_screen(self.folder, checkpoint.state.raw, engine=self._engine)
        if screen is None:
            self._redraw_in_background(checkpoint.state)
        return TerminalCore(checkpoint.state, screen)

    def redraw(self, *, empty: bool = False) -> None:
        """Draws the screen anew from the output in the background, or starts an empty one. Until then it has none."""
        screen, self.terminal.screen = self.terminal.screen_as_it_is, None
        if screen is not None:
            screen.close()
        state = self.terminal.state
        if empty:
            self.terminal.screen = self._blank(state.cols, state.rows)
        elif not self._redrawing and not self._closed:
            self._redraw_in_background(state)

    def _redraw_in_background(self, state: State, going_on: Played | None = None) -> None:
        self._redrawing = True
        start, cols, rows = state.raw, state.cols, state.rows
        self._background(lambda: self._redraw(start, cols, rows, going_on))

    def _redraw(self, start: int, cols: int, rows: int, going_on: Played | None) -> None:
        """Draws in the background. When the emulator fails on the output, the screen starts empty."""
        try:
            first = self.dropped.raw.end
            with Replay(self.folder, start=start, first=first, going_on=going_on, engine=self._engine) as replay:
                while not self._closed and replay.terminal.raw < self._derived:
                    replay.to(min(replay.terminal.raw + DRAWN_APART, self._derived))
                self._drawn = replay.take()
        except (Unavailable, OSError):
            self._redrawing = False
            raise
        except Exception:  # noqa: BLE001
            _log.exception("%s: its screen cannot be drawn from its output, and starts empty", self._id)
            self._drawn = self._blank(cols, rows)

    def settle(self) -> None:
        """Applies what the background has done: adopts a screen, or writes a checkpoint that waited for it."""
        self.adopt_screen()
        self._checkpoint_if_due()

    def adopt_screen(self) -> None:
        """Adopts the screen that was drawn in the background, if there is one, and feeds it the output since."""
        drawn, self._drawn = self._drawn, None
        if drawn is None:
            return
        self._redrawing = False
        if isinstance(drawn, Screen):
            drawn.resize(self.terminal.state.cols, self.terminal.state.rows)
            self.terminal.screen = drawn
            return
        if self.terminal.raw - drawn.terminal.raw > DRAWN_APART:  # too much for one turn
            self._redraw_in_background(self.terminal.state, drawn)
            return
        with Replay(self.folder, going_on=drawn, engine=self._engine) as replay:
            self.terminal.screen = replay.to(self.terminal.raw).screen
            replay.take()

    # going on

    @property
    def ends(self) -> tuple[int, int]:
        """The lengths of both files."""
        return self.raw.size, self._journal.file.size

    def behind(self, raw_end: int, journal_end: int) -> bool:
        """Whether there is something to derive."""
        return self.terminal.raw < raw_end or self._journal.position < journal_end

    def advance(self, raw_end: int, journal_end: int) -> Iterator[Step]:
        """Derives both files up to lengths that belong together, slice by slice."""
        while True:
            behind = journal_end > self._journal.position and self._journal.read_piece(journal_end)
            records = self._journal.records
            # Output after the records that were read may belong before the next record.
            end = min(raw_end, records[-1].record.at) if behind and records else raw_end
            steps = drive(self.terminal, records, self.raw.read, end, lambda: self._pace.slice)
            self._pace.begin()
            while (step := next(steps, None)) is not None:
                self._journal_at = step.journal or self._journal_at
                self._keep(step)
                step.checkpointed = self._checkpoint_if_due()
                self._derived = self.terminal.raw
                self._pace.end()
                yield step
                self._pace.begin()
            if not behind:
                return

    def _keep(self, step: Step) -> None:
        if step.spool:
            self.spool.write(step.spool, step.spool_from)
        for gap in step.gaps:
            self._drop(ByteRange(gap.start or 0, gap.end or 0))
        for block in step.ended:
            self._store(block)
        if step.events:
            step.events = self._log(step.events)

    def _log(self, events: list[Event]) -> list[Event]:
        passed = min(self._skip_events, len(events))
        self._skip_events -= passed
        return self.events.append(events[passed:], self._id)

    def _store(self, block: Block) -> None:
        known = block.seq <= self.blocks.count
        if not (known and self._block_files.has(block)):
            self._block_files.write(block)
        if not known:
            self.blocks.append(block)

    # checkpoints

    def _due(self) -> bool:
        if self._block_files.pending:
            return False
        since = self.terminal.raw - self._last_checkpoint
        drawn = self.terminal.drawn - self._drawn_then
        return (
            since >= RAW_APART or drawn >= DRAWN_APART or (self.terminal.state.block is None and since >= AT_BLOCK_END)
        )

    def _checkpoint_if_due(self) -> bool:
        """Writes no checkpoint when that fails; the next one covers it."""
        if self._due():
            with contextlib.suppress(Unavailable):
                self.checkpoint()
                return True
        return False

    def checkpoint(self) -> None:
        """Writes a checkpoint, so that a restart replays only what came after it."""
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

    def droppable(self, keep: int) -> ByteRange | None:
        """Up to where output may be dropped so that about `keep` bytes stay: a checkpoint, at which a rebuild can
        start.
        """
        start = self.dropped.raw.end
        most = self.terminal.raw - keep
        place = next((place for place in checkpoint_places(self.folder) if place <= most), 0)
        return ByteRange(start, place) if place - start > keep // 16 else None

    @property
    def dropped(self) -> Gap:
        """The range that retention has dropped: its holes follow each other, from the first byte on."""
        last = self.gaps[-1] if self.gaps else Gap(ByteRange(0, 0), ByteRange(0, 0))
        return Gap(ByteRange(0, last.raw.end), ByteRange(0, last.spool.end))

    def _drop(self, raw: ByteRange) -> None:
        """Frees the part of the spool and of blocks' output that belongs to a hole in the raw output."""
        dropped = self.dropped
        if raw.start > dropped.raw.end:
            return  # not a hole of retention: bytes that never reached the disk
        checkpoint = read_checkpoint(self.folder, raw.end)
        before = dropped.spool.end
        spool = ByteRange(before, checkpoint.state.spool.length if checkpoint else before)
        self.gaps.append(Gap(raw, spool))
        if spool.size:
            self.spool.free(spool.start, spool.end)
        for block in self.blocks.after(0, self.blocks.count):
            if block.raw.end > raw.end:
                break
            self._block_files.remove(block)
        for place in checkpoint_places(self.folder):
            if place < raw.end:
                for path in (checkpoint_path(self.folder, place), screen_path(self.folder, place)):
                    path.unlink(missing_ok=True)

    def _close_files(self) -> None:
        for file in (self.raw, self.spool, self._journal.file, self.blocks):
            file.close()

    def close(self) -> None:
        self._closed = True
        self._close_files()
        screen = self.terminal.screen_as_it_is
        if screen is not None:
            screen.close()
