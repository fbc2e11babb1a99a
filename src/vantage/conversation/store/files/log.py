"""An append-only log of JSON lines.

Appends go to the operating system at once, so they survive the death of this process. A torn last line, which only a
crash of the machine or a full disk leaves, is cut off when a log is opened, and a warning says so.
"""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

from vantage.conversation.store.files import writing
from vantage.conversation.store.files.disk_errors import damaged
from vantage.conversation.store.files.open_files import LazyFile, OpenFiles
from vantage.errors import Unavailable
from vantage.text.chunks import Lines

_READ = 1 << 16
_COUNTED = 1 << 20
_EVERY = 256
"""The offset of one in so many lines is remembered."""

_log = logging.getLogger(__name__)


class Log(LazyFile):
    """A file of JSON lines that only grows."""

    def __init__(self, path: Path, files: OpenFiles | None = None) -> None:
        super().__init__(path, os.O_RDWR | os.O_CREAT, files)
        self.torn = 0
        """Bytes of a half-written last line that were cut off."""
        self.size = 0
        self._places = [0]
        """Offsets of the lines 1, 1 + 256, 1 + 512 …, as far as the log was read."""
        try:
            self.size = self._mended()
        except BaseException:
            self.close()
            raise
        self._flags &= ~os.O_CREAT  # it exists from now on, or another program has removed it

    def _check(self, fd: int) -> None:
        size = os.fstat(fd).st_size
        if size < self.size:
            raise damaged(self.path, f"it has {size:,} bytes and had {self.size:,}")

    def _mended(self) -> int:
        fd = self._opened()
        size = os.fstat(fd).st_size
        whole = size
        while whole and os.pread(fd, 1, whole - 1) != b"\n":
            step = min(_READ, whole)
            newline = os.pread(fd, step, whole - step).rfind(b"\n")
            whole = whole - step + newline + 1
        if whole < size:
            self.torn = size - whole
            _log.warning("%s: its last line was not whole, %d bytes of it are cut off", self.path, self.torn)
            os.ftruncate(fd, whole)
        return whole

    def cut(self, size: int) -> None:
        """Drops the lines after an offset, because they cannot be used. They are derived again."""
        _log.warning("%s: the last %d bytes cannot be used and are derived again", self.path, self.size - size)
        os.ftruncate(self._opened(), size)
        self.size = size
        self._places = [0]

    def append(self, lines: bytes) -> None:
        """Appends whole lines, or none: half a line would corrupt the next one, and readers would see it."""
        fd = self._opened()
        try:
            writing.write_all(fd, lines, self.size)
        except Unavailable:
            os.ftruncate(fd, self.size)
            raise
        self.size += len(lines)

    def lines(self, start: int = 0, end: int | None = None) -> Iterator[tuple[int, bytes]]:
        """The lines from an offset on, each with the offset after it."""
        end = self.size if end is None else end
        lines = Lines(start)
        at = start
        while at < end:
            data = os.pread(self._opened(), min(_READ, end - at), at)
            if not data:
                return
            at += len(data)
            for line in lines.feed(data):
                yield lines.offset, line

    def count(self) -> int:
        """How many lines there are."""
        fd = self._opened()
        return sum(os.pread(fd, _COUNTED, at).count(b"\n") for at in range(0, self.size, _COUNTED))

    def from_line(self, number: int) -> Iterator[bytes]:
        """The lines from a number on; the first is 1."""
        while len(self._places) <= (number - 1) // _EVERY:
            at = self._places[-1]
            for counted, (end, _) in enumerate(self.lines(at), 1):
                if counted == _EVERY:
                    self._places.append(end)
                    break
            else:
                return
        skip = (number - 1) % _EVERY
        for _, line in self.lines(self._places[(number - 1) // _EVERY]):
            if skip:
                skip -= 1
            else:
                yield line

    def last_line(self) -> bytes | None:
        """The line at the end, without reading the rest."""
        if not self.size:
            return None
        end = self.size - 1
        at, data = end, b""
        while at > 0 and b"\n" not in data:
            step = min(_READ, at)
            at -= step
            data = os.pread(self._opened(), step, at) + data
        return data.rsplit(b"\n", 1)[-1]
