"""The cursor that a terminal's last verb returned, where a wait without a cursor begins. It is kept in a file."""

import contextlib
from pathlib import Path

from vantage.conversation.store.files.growing_file import GrowingFile
from vantage.conversation.store.files.open_files import OpenFiles
from vantage.errors import Unavailable

SIZE = 21
"""Bytes of the file. The length is fixed, so that a shorter number leaves no digits of a longer one."""


class Position:
    def __init__(self, path: Path, files: OpenFiles | None) -> None:
        self._file = GrowingFile(path, write=True, files=files)
        self._cursor: int | None = None

    @property
    def cursor(self) -> int | None:
        if self._cursor is None:
            with contextlib.suppress(OSError, ValueError):
                self._cursor = int(self._file.read(0, SIZE))
        return self._cursor

    @cursor.setter
    def cursor(self, cursor: int) -> None:
        if cursor != self._cursor:
            self._cursor = cursor
            # One write into the page cache, a few µs. A kill does not lose it; a full disk costs only the position.
            with contextlib.suppress(OSError, Unavailable):
                self._file.write(b"%0*d\n" % (SIZE - 1, cursor), 0)

    def close(self) -> None:
        self._file.close()
