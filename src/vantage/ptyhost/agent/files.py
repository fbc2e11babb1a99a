"""The three files of an agent: `stream.raw` (what it prints), its journal `stream.index`, and `stderr.log`.

Bytes are in their file before an event tells of them. When the disk is full, what was read waits in memory, and nothing
more is read before it is written.
"""

import os
from collections.abc import Mapping
from typing import Any

from vantage.ptyhost.protocol import ERRORS_NAME, STREAM_INDEX_NAME, STREAM_NAME
from vantage.ptyhost.shared.journal import Journal, file_size


class ErrorsFile:
    """`stderr.log`: bytes without times or records."""

    __slots__ = ("_descriptor", "_length", "_path", "_pending", "why")

    def __init__(self, path: str) -> None:
        self.why = ""
        """Why the last write failed; empty when all is written."""
        self._path = path
        self._descriptor = -1
        self._length = file_size(path)
        self._pending = b""

    @property
    def length(self) -> int:
        """What is written."""
        return self._length

    @property
    def stalled(self) -> bool:
        return bool(self._pending)

    def measure(self) -> None:
        """Reads the length of the closed file again."""
        if self._descriptor < 0:
            self._length = file_size(self._path)

    def open(self) -> None:
        if self._descriptor < 0:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._descriptor = os.open(self._path, flags, 0o600)
            self._length = os.fstat(self._descriptor).st_size

    def close(self) -> None:
        """Gives the descriptor back, unless something is still to be written."""
        if self._descriptor >= 0 and not self._pending:
            os.close(self._descriptor)
            self._descriptor = -1

    def append(self, data: bytes) -> bool:
        """False when it could not all be written: then nothing more may be read before `flush` says so."""
        self._pending += data
        return self.flush()

    def flush(self) -> bool:
        """Tries to write what could not be written before; true when nothing is left."""
        while self._pending:
            try:
                written = os.write(self._descriptor, self._pending)
            except OSError as error:
                self.why = f"{error.strerror}: {self._path}"
                return False
            self._length += written
            self._pending = self._pending[written:]
        self.why = ""
        return True


class AgentFiles:
    """The files together: they stall and are written again as one."""

    __slots__ = ("errors", "log")

    def __init__(self, folder: str) -> None:
        self.log = Journal(folder, STREAM_NAME, STREAM_INDEX_NAME)
        self.errors = ErrorsFile(os.path.join(folder, ERRORS_NAME))

    @property
    def stalled(self) -> bool:
        return self.log.stalled or self.errors.stalled

    @property
    def why(self) -> str:
        return self.log.why or self.errors.why

    @property
    def printed(self) -> int:
        return self.log.offset + self.errors.length

    def record(self, fields: Mapping[str, Any]) -> bool:
        """Appends to the journal; false when it could not all be written yet."""
        return self.log.record(fields)

    def measure(self) -> None:
        """Reads the lengths of closed files again."""
        self.log.measure()
        self.errors.measure()

    def open(self) -> None:
        """Opens the files for appending, making them and their folder if need be. Raises OSError."""
        self.log.open()
        self.errors.open()

    def close(self) -> None:
        self.log.close()
        self.errors.close()

    def flush(self) -> bool:
        journaled = self.log.flush()
        return self.errors.flush() and journaled

    def lengths(self) -> dict[str, int]:
        """How long the files are, as clients are told."""
        return {"offset": self.log.offset, "journal": self.log.journal, "stderr": self.errors.length}
