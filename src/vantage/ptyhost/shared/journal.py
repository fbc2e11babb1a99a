"""Two files: a raw one, every byte that a terminal or an agent printed, and an index, what gives them meaning.

Both are append-only, and what is appended is written in the order it came, whatever the disk does: a write that fails
or falls short leaves its rest in memory, everything later queues behind it, and `flush` writes it when there is room.
`offset` and `journal` are lengths that may be told: up to there everything of both files is written, and they fit
together (records below `journal` have `at` ≤ `offset`, later ones `at` ≥ `offset`).
"""

import contextlib
import json
import mmap
import os
import time
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from vantage.ptyhost.protocol import INDEX_NAME, RAW_NAME
from vantage.ptyhost.shared.records import Records


class Journal:
    """The files of one terminal or agent. The first write makes them."""

    __slots__ = (
        "_index",
        "_index_length",
        "_index_name",
        "_last_out",
        "_pending",
        "_raw",
        "_raw_length",
        "_raw_name",
        "_told",
        "folder",
        "why",
    )

    def __init__(self, folder: str, raw_name: str = RAW_NAME, index_name: str = INDEX_NAME) -> None:
        self.folder = folder
        self._raw_name = raw_name
        self._index_name = index_name
        self.why = ""
        """Why the last write failed; empty when all is written."""
        self._raw = self._index = -1
        self._raw_length = self._index_length = 0
        self._told = (0, 0)
        self._last_out = -1
        self._pending: deque[tuple[bool, bytes]] = deque()
        """What is not written yet: (raw or index, bytes)."""

    @property
    def offset(self) -> int:
        """Length of the raw file that clients may be told."""
        return self._told[0] if self._pending else self._raw_length

    @property
    def printed(self) -> int:
        return self.offset

    @property
    def journal(self) -> int:
        """Length of the index that clients may be told."""
        return self._told[1] if self._pending else self._index_length

    @property
    def stalled(self) -> bool:
        return bool(self._pending)

    @contextlib.contextmanager
    def records(self) -> Iterator[Records]:
        """What the journal has, after what a killed host left behind is repaired. Makes no files."""
        self.measure()
        if os.path.exists(self._path(self._index_name)):
            self.open()
        if not self._index_length:
            yield Records(b"")
            return
        with mmap.mmap(self._index, self._index_length, access=mmap.ACCESS_READ) as lines:
            yield Records(lines)

    def measure(self) -> None:
        """Reads the lengths of closed files again."""
        if self._index < 0:
            self._raw_length, self._index_length = map(
                file_size, (self._path(self._raw_name), self._path(self._index_name))
            )

    def open(self) -> None:
        """Opens the files for appending, making them and their folder if need be. Raises OSError."""
        if self._index >= 0:
            return
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._raw = os.open(self._path(self._raw_name), flags, 0o600)
        try:
            self._index = os.open(self._path(self._index_name), flags, 0o600)
            self._raw_length = os.fstat(self._raw).st_size
            self._index_length = _mend(self._index)
            self._fill()
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Gives the descriptors back, unless something is still to be written. The next write opens them again."""
        if self._pending:
            return
        for descriptor in (self._raw, self._index):
            if descriptor >= 0:
                os.close(descriptor)
        self._raw = self._index = -1

    def raw(self, data: bytes) -> bool:
        """Appends what was printed, with a time record before it when the millisecond is a new one.

        False when it could not all be written: then nothing more may be read before `flush` says so.
        """
        now = time.time_ns() // 1_000_000
        if now != self._last_out:
            self._last_out = now
            self._append(False, b'{"t":"out","at":%d,"ts":%d}\n' % (self._raw_length, now))
        if self._pending:
            self._append(True, data)
            return False
        # `_append` without its detours: this runs for every few KB.
        try:
            written = os.write(self._raw, data)
        except OSError:
            written = 0
        if written == len(data):
            self._raw_length += written
            return True
        self._told = (self._raw_length, self._index_length)
        self._raw_length += len(data)
        self._pending.append((True, data[written:]))
        return self.flush()

    def record(self, fields: Mapping[str, Any]) -> bool:
        """Appends a record; `t` comes first, `at` and `ts` are ours. False when it could not all be written yet."""
        self.open()
        rest = {name: value for name, value in fields.items() if name not in ("t", "at", "ts")}
        whole = {"t": fields["t"], "at": self._raw_length, "ts": time.time_ns() // 1_000_000, **rest}
        return self._append(False, json.dumps(whole, separators=(",", ":")).encode() + b"\n")

    def flush(self) -> bool:
        """Tries to write what could not be written before; true when nothing is left."""
        while self._pending:
            is_raw, data = self._pending[0]
            try:
                written = os.write(self._raw if is_raw else self._index, data)
            except OSError as error:
                self.why = f"{error.strerror}: {self._path(self._raw_name if is_raw else self._index_name)}"
                return False
            if written == len(data):
                self._pending.popleft()
            else:
                self._pending[0] = (is_raw, data[written:])
        self.why = ""
        return True

    def raw_descriptor(self) -> int:
        """The descriptor of the open raw file, for making holes in it."""
        self.open()
        return self._raw

    def _append(self, is_raw: bool, data: bytes) -> bool:
        if not self._pending:
            self._told = (self._raw_length, self._index_length)
        self._pending.append((is_raw, data))
        if is_raw:
            self._raw_length += len(data)
        else:
            self._index_length += len(data)
        return self.flush()

    def _fill(self) -> None:
        """After a crash of the machine raw may be shorter than the journal says: offsets are kept, the gap is named."""
        if not self._index_length:
            return
        with mmap.mmap(self._index, self._index_length, access=mmap.ACCESS_READ) as lines:
            known = Records(lines).final().get("at")
        if isinstance(known, int) and known > self._raw_length:
            start, self._raw_length = self._raw_length, known
            os.ftruncate(self._raw, known)
            self.record({"t": "gap", "from": start, "to": known, "why": "never reached the disk"})

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)


def file_size(path: str) -> int:
    """The length of a file; 0 for one that does not exist."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def _mend(index: int) -> int:
    """Ends a torn last line: a whole record gets its line end, a piece of one is cut. Returns the file's length."""
    length = os.fstat(index).st_size
    torn = b""
    if length:
        with mmap.mmap(index, length, access=mmap.ACCESS_READ) as lines:
            torn = lines[lines.rfind(b"\n") + 1 :]
    if not torn:
        return length
    with contextlib.suppress(ValueError):
        if isinstance(json.loads(torn), dict):
            # On a full disk this raises, and the whole record stays for the next try.
            return length + os.write(index, b"\n")
    os.ftruncate(index, length - len(torn))
    return length - len(torn)
