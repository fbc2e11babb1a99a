"""A terminal's past: where derivation can go on, and how it is derived again up to any moment.

A checkpoint has two parts: ours (`.state`), and the screen as its engine keeps it (`.screen`), which another build of
the engine may not be able to read.
"""

import os
import zlib
from collections import deque
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple, Self

import msgspec

from vantage.conversation.files import ConversationFolder, GrowingFile, is_scarcity, write_atomically
from vantage.terminal.blocks import Span
from vantage.terminal.core import Terminal
from vantage.terminal.journal import Placed, read_records
from vantage.terminal.reading import Source
from vantage.terminal.screen import CheckpointError, Screen
from vantage.terminal.state import DEFAULT_COLS, DEFAULT_ROWS, State, Step

VERSION = 2
"""Of what is in a checkpoint. Another one is not read: derivation starts over."""
_CHECKSUM = 4
SLICE = 1 << 16
"""Bytes that are derived at once; between two slices others get their turn."""
SCROLLBACK = 1000
"""Lines that a live screen remembers. Older ones are found by drawing the past again."""
_JOURNAL_PIECE = 1 << 15


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
    ahead: int = 0
    """Events of the terminal that were in the log already, while they were still to be derived again."""


def checkpoint_path(folder: ConversationFolder, raw: int) -> Path:
    return folder.checkpoints / f"{raw:016}.state"


def screen_path(folder: ConversationFolder, raw: int) -> Path:
    return checkpoint_path(folder, raw).with_suffix(".screen")


def checkpoint_places(folder: ConversationFolder) -> list[int]:
    """The raw offsets that have a checkpoint, the last first."""
    try:
        names = os.listdir(folder.checkpoints)  # noqa: PTH208 -- there may be thousands, and only names matter
    except FileNotFoundError:
        return []
    return sorted((int(name[:-6]) for name in names if name.endswith(".state") and name[:-6].isdigit()), reverse=True)


def read_checkpoint(folder: ConversationFolder, raw: int) -> Checkpoint | None:
    """The checkpoint at an offset; None when there is none that can be used. OSError: no file can be opened at all."""
    data = _read(checkpoint_path(folder, raw))
    body, checksum = data[:-_CHECKSUM], data[-_CHECKSUM:]
    if _checksum(body) != checksum:
        return None
    try:
        checkpoint = msgspec.msgpack.decode(body, type=Checkpoint)
    except msgspec.MsgspecError:
        return None
    return checkpoint if checkpoint.version == VERSION else None


def read_screen(folder: ConversationFolder, raw: int, *, scrollback: int | None = None) -> Screen | None:
    """The screen of a checkpoint, in the same way; another build of the engine may have written it."""
    try:
        return Screen.decode(_read(screen_path(folder, raw)), scrollback=scrollback)
    except CheckpointError:
        return None


def _read(path: Path) -> bytes:
    """What is in a file: nothing, where there is none. Who cannot open any must not go on as if this one were bad."""
    try:
        return path.read_bytes()
    except OSError as error:
        if is_scarcity(error):
            raise
        return b""


def write_checkpoint(folder: ConversationFolder, checkpoint: Checkpoint) -> None:
    """With a checksum: a bit that is not what it was would go on into everything that is derived from there."""
    body = msgspec.msgpack.encode(checkpoint)
    write_atomically(checkpoint_path(folder, checkpoint.state.raw), body + _checksum(body))


def _checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(_CHECKSUM, "big")


def dropped_bytes(folder: ConversationFolder) -> int:
    """How many bytes at the beginning of the raw output retention has dropped, by the last checkpoint and since."""
    checkpoint = next(filter(None, (read_checkpoint(folder, place) for place in checkpoint_places(folder))), None)
    known = checkpoint.gaps[-1].raw.end if checkpoint and checkpoint.gaps else 0
    journal, raw = GrowingFile(folder.journal), GrowingFile(folder.raw)
    try:
        for record, _ in records_up_to(journal, checkpoint.journal if checkpoint else 0, raw.size):
            if record.t == "gap" and record.start <= known:
                known = max(known, record.end)
    finally:
        journal.close()
        raw.close()
    return known


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


def journal_records(journal: GrowingFile, start: int) -> Iterator[Placed]:
    """The records that are there now, from an offset on, read piece by piece. A line may be longer than a piece."""
    end, piece = journal.size, _JOURNAL_PIECE
    while start < end:
        records, behind = read_records(journal.read(start, min(start + piece, end)), start)
        yield from records
        if behind > start:
            start = behind
        elif start + piece < end:
            piece *= 2
        else:
            return


def records_up_to(journal: GrowingFile, start: int, raw_end: int) -> deque[Placed]:
    """The records up to a length of the raw output, read hardly any further than that."""
    return deque(takewhile(lambda placed: placed.record.at <= raw_end, journal_records(journal, start)))


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
        records = records_up_to(self._journal_file, self._journal, raw_end)
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
            screen = read_screen(self._folder, place, scrollback=self._scrollback)
            if screen is not None:
                return Played(Terminal(checkpoint.state, screen), checkpoint.journal)
        return Played(Terminal(screen=Screen(DEFAULT_COLS, DEFAULT_ROWS, scrollback=self._scrollback)), 0)
