"""Files that hold a descriptor only while they are used.

A file that was made with `OpenFiles` is closed when it was idle for a while or when too many others are open, and
opened again by the next read or write.
"""

import asyncio
import errno
import os
from pathlib import Path

from vantage.conversation.store.files.writing import PRIVATE_FILE

IDLE_S = 2.0
"""Seconds that an unused file stays open; twice as long at most."""


class OpenFiles:
    """The open files of a home: at most so many at once, and none that was unused for `IDLE_S`.

    It belongs to the event loop's thread: a file that another thread reads must not be one of these.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._files: dict[LazyFile, None] = {}
        """In the order of use, the least recently used first."""
        self._turn = 0
        self._timer: asyncio.TimerHandle | None = None

    def open(self, path: Path, flags: int) -> int:
        """Opens a descriptor. When the process has none left, the other files are closed first."""
        try:
            return os.open(path, flags, PRIVATE_FILE)
        except OSError as error:
            if error.errno != errno.EMFILE or not self._files:
                raise
        self._close(list(self._files))
        return os.open(path, flags, PRIVATE_FILE)

    def used(self, file: "LazyFile") -> None:
        """Notes that a file is used: it was opened, or is about to be read or written."""
        self._files.pop(file, None)
        self._files[file] = None
        file.turn = self._turn
        if len(self._files) > self.most:
            self._close([next(iter(self._files))])
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(IDLE_S, self._sweep)

    def closed(self, file: "LazyFile") -> None:
        self._files.pop(file, None)

    def _sweep(self) -> None:
        """Closes what was not used since the last sweep."""
        self._close([file for file in self._files if file.turn < self._turn])
        self._turn += 1
        self._timer = asyncio.get_running_loop().call_later(IDLE_S, self._sweep) if self._files else None

    def _close(self, files: "list[LazyFile]") -> None:
        for file in files:
            file.close()

    def end(self) -> None:
        """Closes all of them."""
        self._close(list(self._files))
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class LazyFile:
    """A descriptor that is opened when it is needed."""

    def __init__(self, path: Path, flags: int, files: OpenFiles | None) -> None:
        self.path = path
        self.turn = 0
        """The sweep of `OpenFiles` before which it was used last."""
        self._flags = flags | os.O_CLOEXEC
        self._files = files
        self._fd = -1

    def _opened(self) -> int:
        if self._fd < 0:
            files = self._files
            fd = os.open(self.path, self._flags, PRIVATE_FILE) if files is None else files.open(self.path, self._flags)
            try:
                self._check(fd)
            except BaseException:
                os.close(fd)
                raise
            self._fd = fd
        if self._files is not None:
            self._files.used(self)
        return self._fd

    def _check(self, fd: int) -> None:
        """Raises when the opened file cannot be this one."""

    def close(self) -> None:
        """Closes the descriptor. The next read or write opens the file again."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            if self._files is not None:
                self._files.closed(self)
