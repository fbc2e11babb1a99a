"""Derives a terminal's spool, blocks and screen from its output again, and compares them with the kept files.

It works on the files alone: no host and no shell are needed. It starts at the first checkpoint after what retention
dropped, or at the very beginning when nothing was. It needs little disk space: derived data is compared at once, and
what is equal is not stored twice. The spool is a file with a hole up to where it is equal, a block's output a link to
the kept file. What differs takes as much space as it has bytes.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.conversation.store.derived.block_files import copy_output, without
from vantage.conversation.store.derived.derivation import Derivation
from vantage.conversation.store.derived.replay import (
    checkpoint_path,
    checkpoint_places,
    dropped_bytes,
    engine_of,
    read_checkpoint,
    screen_path,
    write_checkpoint,
)
from vantage.conversation.store.event_log import EventLog
from vantage.conversation.store.files.growing_file import GrowingFile
from vantage.conversation.store.files.writing import PRIVATE_FILE
from vantage.conversation.store.processes import is_running
from vantage.events import encode_event
from vantage.terminal.output.blocks import Block

Progress = Callable[[int, int], None]
"""Bytes done, bytes in all."""
_PIECE = 1 << 20
_SCRATCH = ".rebuild-"
"""The name of the folder that a rebuild works in; the number of its process follows."""
_NEVER = 1 << 62
"""A length that no event log has, so that nothing resumes at such a checkpoint."""


class Difference(msgspec.Struct, frozen=True):
    """A place where a kept file differs from what the output gives."""

    file: str
    message: str


class Report(msgspec.Struct, frozen=True):
    raw: int
    blocks: int
    events: int
    differences: list[Difference]


def rebuild(
    folder: ConversationFolder, conversation_id: str, *, check: bool, progress: Progress = lambda _done, _all: None
) -> Report:
    """Compares; without `check`, replaces what differs."""
    _sweep(folder)
    with tempfile.TemporaryDirectory(prefix=f"{_SCRATCH}{os.getpid()}-", dir=folder.path) as scratch:
        again = ConversationFolder(Path(scratch))
        again.create()
        again.spool.touch(PRIVATE_FILE)  # there may be nothing left to derive from
        for kept, linked in ((folder.raw, again.raw), (folder.journal, again.journal)):
            if kept.exists():
                os.link(kept, linked)
        spool = _SpoolCheck(folder.spool, again.spool)
        try:
            counts = _derive(again, conversation_id, folder, spool, progress)
            differences = list(_compare(folder, again, spool))
            if not check and differences:
                spool.fill()
                _replace(folder, again)
        finally:
            spool.close()
    return Report(*counts, differences)


def _sweep(folder: ConversationFolder) -> None:
    """Removes the folders of killed rebuilds."""
    for path in folder.path.glob(f"{_SCRATCH}*"):
        owner = path.name.removeprefix(_SCRATCH).partition("-")[0]
        if not owner.isdigit() or not is_running(int(owner)):
            shutil.rmtree(path, ignore_errors=True)


class _LinkedOutput:
    """Writes a block's output for a rebuild. An unchanged one is linked instead of copied."""

    def __init__(self, kept: ConversationFolder) -> None:
        self._kept = kept

    def __call__(self, again: ConversationFolder, block: Block, target: Path) -> None:
        kept = self._kept.blocks / target.name
        if _is_kept(again, block, kept):
            target.unlink(missing_ok=True)
            os.link(kept, target)
        else:
            copy_output(again, block, target)


def _is_kept(again: ConversationFolder, block: Block, kept: Path) -> bool:
    """Whether a kept file has the block's output: the raw bytes without our marks."""
    if not kept.is_file() or kept.stat().st_size != block.size:
        return False
    with kept.open("rb") as file, again.raw.open("rb") as raw:
        for span in without(block.raw, block.marks):
            for start in range(span.start, span.end, _PIECE):
                piece = os.pread(raw.fileno(), min(_PIECE, span.end - start), start)
                if file.read(len(piece)) != piece:
                    return False
    return True


class _SpoolCheck:
    """Compares the derived spool with the kept one while it grows, and frees the equal part."""

    def __init__(self, kept: Path, anew: Path) -> None:
        self._kept, self._anew = GrowingFile(kept), GrowingFile(anew, write=True)
        self.same = 0
        """Up to here both have the same bytes, and the derived one has a hole."""
        self._differs = False

    def advance(self) -> None:
        """Compares what was derived since the last call, in whole pieces."""
        while not self._differs and self._anew.size - self.same >= _PIECE:
            end = self.same + _PIECE
            if self._kept.read(self.same, end) != self._anew.read(self.same, end):
                self._differs = True
            else:
                self._anew.free(self.same, end)
                self.same = end

    def fill(self) -> None:
        """Puts back the freed part."""
        for start in range(0, self.same, _PIECE):
            piece = self._kept.read(start, start + _PIECE)
            if piece.strip(b"\0"):  # what retention dropped stays a hole
                self._anew.write(piece, start)

    def close(self) -> None:
        self._kept.close()
        self._anew.close()


def _derive(
    again: ConversationFolder,
    conversation_id: str,
    folder: ConversationFolder,
    spool: _SpoolCheck,
    progress: Progress,
) -> tuple[int, int, int]:
    _start_behind_gaps(again, folder)
    events = EventLog(again.events)
    derivation = Derivation(again, conversation_id, events, copy=_LinkedOutput(folder), engine=engine_of(folder))
    journal = GrowingFile(again.journal)
    try:
        while derivation.terminal.raw < (raw_end := derivation.raw.size) or not derivation.terminal.raw:
            for _ in derivation.advance(raw_end, journal.size):
                spool.advance()
                progress(derivation.terminal.raw, raw_end)
            if not raw_end:
                break
        derivation.checkpoint()
        return derivation.terminal.raw, derivation.blocks.count, events.seq
    finally:
        journal.close()
        derivation.close()
        events.close()


def _start_behind_gaps(again: ConversationFolder, folder: ConversationFolder) -> None:
    """Copies everything up to the first checkpoint after what retention dropped: it cannot be derived again."""
    hole = dropped_bytes(folder)
    if not hole:
        return
    place = min((place for place in checkpoint_places(folder) if place >= hole), default=None)
    checkpoint = read_checkpoint(folder, place) if place is not None else None
    if place is None or checkpoint is None:
        return
    for source in (checkpoint_path(folder, place), screen_path(folder, place)):
        if source.exists():
            shutil.copy(source, again.checkpoints)
    _copy_head(folder.spool, again.spool, checkpoint.state.spool.length)
    _copy_head(folder.block_log, again.block_log, checkpoint.block_log)
    _copy_head(folder.events, again.events, checkpoint.events)


def _copy_head(source: Path, target: Path, size: int) -> None:
    """The first bytes of a file; the copy has the same holes."""
    with source.open("rb") as reading, target.open("wb") as writing:
        while size > 0 and (data := reading.read(min(size, _PIECE))):
            if data.strip(b"\0"):
                writing.write(data)
            else:
                writing.seek(len(data), os.SEEK_CUR)
            size -= len(data)
        writing.truncate()


def _compare(folder: ConversationFolder, again: ConversationFolder, spool: _SpoolCheck) -> Iterator[Difference]:
    yield from _compare_bytes("output.spool", folder.spool, again.spool, spool.same)
    yield from _compare_bytes("blocks.jsonl", folder.block_log, again.block_log)
    kept, anew = ({path.name: path for path in place.blocks.iterdir()} for place in (folder, again))
    for name in sorted(anew):
        yield from _compare_bytes(f"blocks/{name}", kept.get(name), anew[name])
    yield from _compare_events(folder, again)


def _compare_bytes(name: str, kept: Path | None, anew: Path, start: int = 0) -> Iterator[Difference]:
    """Where two files begin to differ, from an offset on."""
    if kept is None or not kept.exists():
        if anew.exists() and anew.stat().st_size:
            yield Difference(name, "is missing")
        return
    if anew.exists() and kept.samefile(anew):
        return
    with kept.open("rb") as one, anew.open("rb") as other:
        one.seek(start)
        other.seek(start)
        at = start
        while True:
            here, there = one.read(_PIECE), other.read(_PIECE)
            if here != there:
                same = next((i for i, pair in enumerate(zip(here, there, strict=False)) if pair[0] != pair[1]), None)
                place = at + (min(len(here), len(there)) if same is None else same)
                sizes = f"{kept.stat().st_size} bytes are kept, {anew.stat().st_size} derived"
                yield Difference(name, f"differs from byte {place} on ({sizes})")
                return
            if not here:
                return
            at += len(here)


def _compare_events(folder: ConversationFolder, again: ConversationFolder) -> Iterator[Difference]:
    """The events that came from the terminal, without others that were logged between them."""
    kept, anew = _derived_events(folder), _derived_events(again)
    for number, (here, there) in enumerate(zip(kept, anew, strict=False), 1):
        if here != there:
            yield Difference("events.jsonl", f"event {number} of the terminal is {here!r}, and derived {there!r}")
            return
    if len(kept) != len(anew):
        yield Difference("events.jsonl", f"{len(kept)} events of the terminal are kept, {len(anew)} derived")


def _derived_events(folder: ConversationFolder) -> list[bytes]:
    log = EventLog(folder.events)
    try:
        found = [event for event in log.read(0, log.seq, max_bytes=None) if event.raw_offset is not None]
        return [encode_event(msgspec.structs.replace(event, seq=None)) for event in found]
    finally:
        log.close()


def _replace(folder: ConversationFolder, again: ConversationFolder) -> None:
    """Replaces everything derived but the event log, which is a history and is not rewritten."""
    again.spool.replace(folder.spool)
    again.block_log.replace(folder.block_log)
    for path in again.blocks.iterdir():
        path.replace(folder.blocks / path.name)
    _adopt_checkpoints(folder, again)
    shutil.rmtree(folder.checkpoints)
    again.checkpoints.replace(folder.checkpoints)


def _adopt_checkpoints(folder: ConversationFolder, again: ConversationFolder) -> None:
    """Writes the kept event log's length into the checkpoints, which have the length of another log.

    A checkpoint past the end of the kept log cannot be resumed from: it only serves to look into the past.
    """
    kept, anew = EventLog(folder.events), EventLog(again.events)
    try:
        known = kept.derived(0)
        for place in checkpoint_places(again):
            checkpoint = read_checkpoint(again, place)
            if checkpoint is not None:
                checkpoint.ahead = known - anew.derived(0, checkpoint.events)
                checkpoint.events = kept.size if checkpoint.ahead >= 0 else _NEVER
                write_checkpoint(again, checkpoint)
    finally:
        kept.close()
        anew.close()
