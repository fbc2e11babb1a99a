"""Derives a terminal's spool, blocks and screen from its output again, and compares them with what is kept.

Works on the files alone: no host and no shell are needed. It starts at the first checkpoint behind what retention
dropped, at the very beginning when nothing was.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from vantage.conversation.derive import Derivation
from vantage.conversation.event_log import EventLog
from vantage.conversation.files import PRIVATE_FILE, ConversationFolder, GrowingFile
from vantage.conversation.replay import (
    checkpoint_path,
    checkpoint_places,
    dropped_bytes,
    read_checkpoint,
    screen_path,
    write_checkpoint,
)
from vantage.events import encode_event

Progress = Callable[[int, int], None]
"""Bytes done, bytes in all."""
_PIECE = 1 << 20
_NEVER = 1 << 62
"""A length that no event log has: nothing is resumed from such a checkpoint."""


class Difference(msgspec.Struct, frozen=True):
    """A place where what is kept is not what the output gives."""

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
    """Compares; without `check`, what differs is replaced by what the output gives."""
    with tempfile.TemporaryDirectory(prefix=".rebuild-", dir=folder.path) as scratch:
        again = ConversationFolder(Path(scratch))
        again.create()
        again.spool.touch(PRIVATE_FILE)  # nothing at all may be left to derive from
        for name in ("raw", "journal"):
            if getattr(folder, name).exists():
                os.link(getattr(folder, name), getattr(again, name))
        counts = _derive(again, conversation_id, folder, progress)
        differences = list(_compare(folder, again))
        if not check and differences:
            _replace(folder, again)
    return Report(*counts, differences)


def _derive(
    again: ConversationFolder, conversation_id: str, folder: ConversationFolder, progress: Progress
) -> tuple[int, int, int]:
    _start_behind_gaps(again, folder)
    events = EventLog(again.events)
    derivation = Derivation(again, conversation_id, events)
    journal = GrowingFile(again.journal)
    try:
        while derivation.terminal.raw < (raw_end := derivation.raw.size) or not derivation.terminal.raw:
            for _ in derivation.advance(raw_end, journal.size):
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
    """What retention dropped cannot be derived again: everything up to the first checkpoint behind it is taken over."""
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
    with source.open("rb") as reading, target.open("wb") as writing:
        while size > 0 and (data := reading.read(min(size, _PIECE))):
            writing.write(data)
            size -= len(data)


def _compare(folder: ConversationFolder, again: ConversationFolder) -> Iterator[Difference]:
    yield from _compare_bytes("output.spool", folder.spool, again.spool)
    yield from _compare_bytes("blocks.jsonl", folder.block_log, again.block_log)
    kept, anew = ({path.name: path for path in place.blocks.iterdir()} for place in (folder, again))
    for name in sorted(anew):
        yield from _compare_bytes(f"blocks/{name}", kept.get(name), anew[name])
    yield from _compare_events(folder, again)


def _compare_bytes(name: str, kept: Path | None, anew: Path) -> Iterator[Difference]:
    if kept is None or not kept.exists():
        if anew.exists() and anew.stat().st_size:
            yield Difference(name, "is missing")
        return
    with kept.open("rb") as one, anew.open("rb") as other:
        at = 0
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
    """Events that came from the terminal, whatever was logged between them."""
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
        found = [event for event in log.read(0, log.seq) if event.raw_offset is not None]
        return [encode_event(msgspec.structs.replace(event, seq=None)) for event in found]
    finally:
        log.close()


def _replace(folder: ConversationFolder, again: ConversationFolder) -> None:
    """Everything derived but the event log, which is a history and is not rewritten."""
    again.spool.replace(folder.spool)
    again.block_log.replace(folder.block_log)
    for path in again.blocks.iterdir():
        path.replace(folder.blocks / path.name)
    _adopt_checkpoints(folder, again)
    shutil.rmtree(folder.checkpoints)
    again.checkpoints.replace(folder.checkpoints)


def _adopt_checkpoints(folder: ConversationFolder, again: ConversationFolder) -> None:
    """They know the length of another event log, and are told the kept one's.

    Where that one ends before a checkpoint, nothing can go on from there: it only travels in time.
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
