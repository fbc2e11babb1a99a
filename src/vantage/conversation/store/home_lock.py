"""The lock of a home: one process at a time has it, and writes its number into the file for others to read."""

import fcntl
import logging
import os
import time
from pathlib import Path

from vantage.conversation.store.processes import is_running
from vantage.errors import HomeTaken

_READS, _PAUSE_S = 50, 0.02
"""How often the holder's number is read, and the seconds between: it is written just after the lock was taken."""

_log = logging.getLogger(__name__)


class HomeLock:
    def __init__(self, home: Path) -> None:
        self._home = home
        self._path = home / "server.lock"
        self._fd = -1

    def take(self) -> None:
        """Raises HomeTaken, with the holder's number, when another process has the home."""
        self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = self._holder()
            self.release()
            raise HomeTaken(
                f"{self._home} is in use by {holder}", hint="talk to that server, or give another --home"
            ) from None
        try:
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, str(os.getpid()).encode(), 0)
        except OSError as error:  # a full disk: a second server then cannot say which process has the home
            _log.warning("%s cannot be written: %s", self._path, error)

    def _holder(self) -> str:
        for _ in range(_READS):
            number = os.pread(self._fd, 64, 0)
            if number.isdigit() and is_running(int(number)):
                return f"process {int(number)}"
            time.sleep(_PAUSE_S)
        return "another process"

    def release(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
