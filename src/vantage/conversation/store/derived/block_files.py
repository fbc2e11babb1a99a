"""The output of each block as a file of its own, copied from the raw log without our marks."""

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.conversation.store.files.disk_errors import no_room
from vantage.conversation.store.files.writing import PRIVATE_FILE
from vantage.terminal.output.blocks import Block, ByteRange

Background = Callable[[Callable[[], None]], None]
"""Runs a job in a thread, so that callers that wait for a command's end do not wait for the disk."""
CopyOutput = Callable[[ConversationFolder, Block, Path], None]
"""Writes a block's output, as it came and without our marks, to a path."""


class BlockFiles:
    """The files of a conversation's blocks. A block without output has none."""

    def __init__(self, folder: ConversationFolder, background: Background, copy: CopyOutput) -> None:
        self.pending = 0
        """Copies that are not finished, or failed. No checkpoint is written past them, so that they are made again."""
        self._folder = folder
        self._background = background
        self._copy = copy

    def _path(self, block: Block) -> Path:
        return self._folder.blocks / f"{block.seq}_{block.ts_begin}.out"

    def has(self, block: Block) -> bool:
        """Whether the block's file exists, with all of its output."""
        try:
            return self._path(block).stat().st_size == block.size
        except OSError:
            return False

    def write(self, block: Block) -> None:
        """Copies the block's output in the background."""
        if block.size:
            self.pending += 1
            self._background(lambda: self._write(block))

    def _write(self, block: Block) -> None:
        try:
            self._copy(self._folder, block, self._path(block))
        except OSError as error:
            raise no_room(error) from error
        self.pending -= 1

    def remove(self, block: Block) -> None:
        self._path(block).unlink(missing_ok=True)


def copy_output(folder: ConversationFolder, block: Block, target: Path) -> None:
    """Copies a block's output from the raw log, inside the kernel if possible."""
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, PRIVATE_FILE)
    with os.fdopen(descriptor, "wb") as copy, folder.raw.open("rb") as raw:
        for span in without(block.raw, block.marks):
            copy_range(raw.fileno(), copy.fileno(), span)


def copy_range(source: int, target: int, span: ByteRange) -> None:
    """Appends a part of a file to another, inside the kernel if possible."""
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


def without(span: ByteRange, holes: list[ByteRange]) -> Iterator[ByteRange]:
    """The parts of a span between holes in it."""
    at = span.start
    for hole in holes:
        if hole.start >= at and hole.end <= span.end:
            if hole.start > at:
                yield ByteRange(at, hole.start)
            at = hole.end
    if at < span.end:
        yield ByteRange(at, span.end)
