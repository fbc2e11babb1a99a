"""A terminal's past: where deriving can resume, and how the state at any moment is derived again.

A checkpoint has two parts: ours (`.state`), and the screen in its engine's own form (`.screen`), which another build of
the engine may not be able to read.
"""

import os
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice, takewhile
from pathlib import Path
from typing import NamedTuple, Self, cast

import msgspec

from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.conversation.store.files.disk_errors import is_scarcity
from vantage.conversation.store.files.growing_file import GrowingFile
from vantage.conversation.store.files.writing import write_atomically
from vantage.errors import InputError
from vantage.terminal.core import TerminalCore
from vantage.terminal.engines import EngineName, kind_of
from vantage.terminal.journal import Placed, read_records
from vantage.terminal.output.blocks import ByteRange
from vantage.terminal.output.reading import Source
from vantage.terminal.screen.screen import CheckpointError, Screen
from vantage.terminal.state import DEFAULT_COLS, DEFAULT_ROWS, State, Step

VERSION = 2
"""Version of the checkpoints' format. A checkpoint of another version is not read: deriving starts from the
beginning.
"""
_CHECKSUM = 4
SLICE = 1 << 16
"""Bytes that are derived at once. Between two slices the event loop runs other tasks."""
MAX_SEQUENCES = 1024
"""Escape sequences in one slice, colours aside: one may cost an emulator as much as many characters (RIS: 45 µs)."""
_COSTLY = re.compile(rb"\x1b(?!\[[0-9;:]*m)")
SCROLLBACK = 1000
"""Lines that a live screen remembers. Older ones are found by drawing the past again."""
_JOURNAL_PIECE = 1 << 15


class Gap(msgspec.Struct, frozen=True):
    """What retention dropped, in the raw output and in the spool."""

    raw: ByteRange
    spool: ByteRange


class Checkpoint(msgspec.Struct):
    version: int
    state: State
    journal: int
    events: int
    block_log: int
    gaps: list[Gap] = []
    ahead: int = 0
    """How many events of the terminal were in the log already before they were derived again."""


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
    """The checkpoint at an offset; None when it is missing or cannot be used. Raises OSError when no file can be opened
    at all.
    """
    data = _read(checkpoint_path(folder, raw))
    body, checksum = data[:-_CHECKSUM], data[-_CHECKSUM:]
    if _checksum(body) != checksum:
        return None
    try:
        checkpoint = msgspec.msgpack.decode(body, type=Checkpoint)
    except msgspec.MsgspecError:
        return None
    return checkpoint if checkpoint.version == VERSION else None


def engine_of(folder: ConversationFolder) -> EngineName:
    """The engine of a conversation's screens. Any engine, if the settings are missing or the engine is not on this
    machine.
    """
    try:
        engine = folder.read_settings().engine
        kind_of(engine)
    except (OSError, msgspec.MsgspecError, InputError):
        return "auto"
    return cast(EngineName, engine)


def read_screen(
    folder: ConversationFolder, raw: int, *, engine: EngineName = "auto", scrollback: int | None = None
) -> Screen | None:
    """The screen of a checkpoint, read in the same way; another build of the engine may have written it."""
    try:
        return Screen.decode(_read(screen_path(folder, raw)), engine=engine, scrollback=scrollback)
    except CheckpointError:
        return None


def _read(path: Path) -> bytes:
    """A file's content, None if there is no such file. A lack of descriptors raises: the file is not damaged."""
    try:
        return path.read_bytes()
    except OSError as error:
        if is_scarcity(error):
            raise
        return b""


def write_checkpoint(folder: ConversationFolder, checkpoint: Checkpoint) -> None:
    """Writes a checkpoint with a checksum: a flipped bit would spread to everything that is derived from it."""
    body = msgspec.msgpack.encode(checkpoint)
    write_atomically(checkpoint_path(folder, checkpoint.state.raw), body + _checksum(body))


def _checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(_CHECKSUM, "big")


def dropped_bytes(folder: ConversationFolder) -> int:
    """How many bytes at the beginning of the raw output retention has dropped: by the last checkpoint, and since."""
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


def drive(
    terminal: TerminalCore, records: deque[Placed], read: Source, end: int, size: Callable[[], int] = lambda: SLICE
) -> Iterator[Step]:
    """Feeds raw output up to `end`, each record at its place; `records` is emptied as they are applied.

    `size` returns how many bytes the next slice may have.
    """
    applied = 0
    while records or terminal.raw < end:
        here = min(records[0].record.at, end) if records else end
        while terminal.raw < here:
            data = read(terminal.raw, min(terminal.raw + size(), here))
            if not data:
                return
            step = terminal.feed(_light(data))
            step.journal = applied
            yield step
        if not records or records[0].record.at > terminal.raw:
            return
        placed = records.popleft()
        step = terminal.record(placed.record)
        step.journal = applied = placed.end
        if placed.record.t != "out":  # a time record changes nothing
            yield step


def _light(data: bytes) -> bytes:
    """The part of a slice with no more sequences than an emulator takes in one turn."""
    if data.count(b"\x1b") <= MAX_SEQUENCES:
        return data
    first_too_many = next(islice(_COSTLY.finditer(data), MAX_SEQUENCES, None), None)
    return data if first_too_many is None else data[: first_too_many.start()]


def journal_records(journal: GrowingFile, start: int) -> Iterator[Placed]:
    """The records of the journal from an offset on, read piece by piece. A line may be longer than a piece."""
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
    """The records up to a length of the raw output. Hardly more than those is read."""
    return deque(takewhile(lambda placed: placed.record.at <= raw_end, journal_records(journal, start)))


class Played(NamedTuple):
    """A terminal that was derived again up to some offset."""

    terminal: TerminalCore
    journal: int


class Replay:
    """A terminal of the past, with its screen. It is derived again without writing any log, and only moves forward."""

    def __init__(
        self,
        folder: ConversationFolder,
        *,
        start: int = 0,
        first: int = 0,
        scrollback: int = SCROLLBACK,
        going_on: Played | None = None,
        engine: EngineName | None = None,
    ) -> None:
        """Starts at the last checkpoint at or before `start` that is not before `first`; or where another one is."""
        self._folder = folder
        self._scrollback = scrollback
        self._engine = engine or engine_of(folder)
        self._journal_file, self._raw = GrowingFile(folder.journal), GrowingFile(folder.raw)
        self.terminal, self._journal = going_on or self._start(start, first)
        self._taken = False

    def to(self, raw_end: int) -> TerminalCore:
        """The terminal as it was when its output had this length."""
        records = records_up_to(self._journal_file, self._journal, raw_end)
        for step in drive(self.terminal, records, self._raw.read, raw_end):
            self._journal = step.journal or self._journal
        return self.terminal

    @property
    def journal(self) -> int:
        """How much of the journal it has read."""
        return self._journal

    def take(self) -> Played:
        """Hands the terminal to the caller, who closes it."""
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
            screen = read_screen(self._folder, place, engine=self._engine, scrollback=self._scrollback)
            if screen is not None:
                return Played(TerminalCore(checkpoint.state, screen), checkpoint.journal)
        blank = Screen(DEFAULT_COLS, DEFAULT_ROWS, engine=self._engine, scrollback=self._scrollback)
        return Played(TerminalCore(screen=blank), 0)
