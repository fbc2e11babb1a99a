"""Files of bytes that only grow, read and written by offset."""

import contextlib
import errno
import os
import stat
from pathlib import Path

from vantage.conversation.store.files import writing
from vantage.conversation.store.files.open_files import LazyFile, OpenFiles
from vantage.ptyhost.holes import punch_hole


class GrowingFile(LazyFile):
    """Bytes that only grow, read and written by offset. The file may not exist yet."""

    def __init__(self, path: Path, *, write: bool = False, files: OpenFiles | None = None) -> None:
        super().__init__(path, os.O_RDWR | os.O_CREAT if write else os.O_RDONLY, files)

    def _check(self, fd: int) -> None:
        self._check_kind(os.fstat(fd))

    def _check_kind(self, found: os.stat_result) -> None:
        if not stat.S_ISREG(found.st_mode):  # a directory can be opened but not read
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(self.path))

    def read(self, start: int, end: int) -> bytes:
        if end <= start:
            return b""
        try:
            fd = self._opened()
        except FileNotFoundError:
            return b""
        pieces: list[bytes] = []
        while start < end and (data := os.pread(fd, end - start, start)):
            pieces.append(data)
            start += len(data)
        return b"".join(pieces)

    def write(self, data: bytes, offset: int) -> None:
        writing.write_all(self._opened(), data, offset)

    def free(self, start: int, end: int) -> None:
        """Frees the disk space of a part; offsets do not change. Does nothing where the file system cannot."""
        with contextlib.suppress(OSError):
            punch_hole(self._opened(), start, end - start)

    @property
    def size(self) -> int:
        """Its length, without opening it."""
        try:
            found = os.fstat(self._fd) if self._fd >= 0 else os.stat(self.path)  # noqa: PTH116 -- called often
        except FileNotFoundError:
            return 0
        self._check_kind(found)
        return found.st_size


def whole_lines(path: Path, start: int = 0, most: int = 1 << 18) -> list[bytes]:
    """Lines of a log from an offset on, about `most` bytes of them, for readers of a log that grows.

    An unfinished line is left for the next call.
    """
    file = GrowingFile(path)
    try:
        end = file.size
        data = file.read(start, min(start + most, end))
        while b"\n" not in data and start + len(data) < end:
            data += file.read(start + len(data), min(start + len(data) + most, end))
    finally:
        file.close()
    return data.split(b"\n")[:-1]
