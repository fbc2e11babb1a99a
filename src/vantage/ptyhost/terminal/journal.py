"""The two files of a terminal: `output.raw`, every byte it printed, and `output.index`, what gives them meaning.

Both are append-only and written in the order of the appends: a write that fails or falls short leaves its rest in
memory, later appends queue behind it, and `flush` writes them when there is room.

`offset` and `journal` are the lengths that clients may be told: up to there both files are written, and they fit
together (records below `journal` have `at` ≤ `offset`, later ones `at` ≥ `offset`).
"""

import contextlib
import json
import mmap
import os
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vantage.ptyhost.protocol import INDEX_NAME, RAW_NAME

_TAIL = 65536


@dataclass(slots=True)
class Past:
    """The last process of the terminal, according to the journal."""

    unfinished: bool = False
    """It has neither ended nor been declared lost."""
    answered: int = -1
    """The highest query that was replied to."""
    cols: int | None = None
    rows: int | None = None


class Journal:
    """The files of one terminal. The first write makes them."""

    __slots__ = ("_index", "_index_length", "_last_out", "_pending", "_raw", "_raw_length", "_told", "folder", "why")

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.why = ""
        """Why the last write failed; empty when everything is written."""
        self._raw = self._index = -1
        self._raw_length = self._index_length = 0
        self._told = (0, 0)
        self._last_out = -1
        self._pending: deque[tuple[bool, bytes]] = deque()
        """What is not written yet: (raw or index, bytes)."""

    @property
    def offset(self) -> int:
        """Length of `output.raw` that clients may be told."""
        return self._told[0] if self._pending else self._raw_length

    @property
    def journal(self) -> int:
        """Length of `output.index` that clients may be told."""
        return self._told[1] if self._pending else self._index_length

    @property
    def stalled(self) -> bool:
        return bool(self._pending)

    def look(self) -> Past:
        """Repairs what a killed host left behind, and returns what the journal knows; makes no files."""
        self.measure()
        if not os.path.exists(self._path(INDEX_NAME)):
            return Past()
        self.open()
        return _past(self._index, self._index_length)

    def measure(self) -> None:
        """Reads the lengths of closed files again."""
        if self._index < 0:
            self._raw_length, self._index_length = (_size(self._path(name)) for name in (RAW_NAME, INDEX_NAME))

    def open(self) -> None:
        """Opens the files for appending, making them and their folder if need be. Raises OSError."""
        if self._index >= 0:
            return
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._raw = os.open(self._path(RAW_NAME), flags, 0o600)
        try:
            self._index = os.open(self._path(INDEX_NAME), flags, 0o600)
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
        """Appends what the terminal printed, with a time record before it in each new millisecond.

        Returns False when it could not all be written: then nothing more may be read until `flush` has succeeded.
        """
        now = time.time_ns() // 1_000_000
        if now != self._last_out:
            self._last_out = now
            self._append(False, b'{"t":"out","at":%d,"ts":%d}\n' % (self._raw_length, now))
        if self._pending:
            self._append(True, data)
            return False
        # `_append` inlined: this runs for every few KB
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
        """Appends a record; `t` comes first, `at` and `ts` are added here. False when it could not all be written
        yet.
        """
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
                self.why = f"{error.strerror}: {self._path(RAW_NAME if is_raw else INDEX_NAME)}"
                return False
            if written == len(data):
                self._pending.popleft()
            else:
                self._pending[0] = (is_raw, data[written:])
        self.why = ""
        return True

    def raw_descriptor(self) -> int:
        """The descriptor of the open `output.raw`, for making holes in it."""
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
        """After a crash of the machine raw may be shorter than the journal says: offsets are kept, the gap is
        recorded.
        """
        last = _last_record(self._index, self._index_length)
        known = last.get("at")
        if isinstance(known, int) and known > self._raw_length:
            start, self._raw_length = self._raw_length, known
            os.ftruncate(self._raw, known)
            self.record({"t": "gap", "from": start, "to": known, "why": "never reached the disk"})

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def _mend(index: int) -> int:
    """Ends a torn last line: a whole record gets its line end, a part of one is cut off. Returns the file's length."""
    length = os.fstat(index).st_size
    tail = b""
    start = length
    while start > 0 and b"\n" not in tail:
        size = min(_TAIL, start)
        start -= size
        tail = os.pread(index, size, start) + tail
    torn = tail.rpartition(b"\n")[2]
    if not torn:
        return length
    with contextlib.suppress(ValueError):
        if isinstance(json.loads(torn), dict):
            # On a full disk this raises, and the whole record stays for the next try.
            return length + os.write(index, b"\n")
    os.ftruncate(index, length - len(torn))
    return length - len(torn)


def _last_record(index: int, length: int) -> dict[str, Any]:
    size = min(_TAIL, length)
    lines = os.pread(index, size, length - size).splitlines()
    with contextlib.suppress(ValueError, IndexError):
        record = json.loads(lines[-1])
        if isinstance(record, dict):
            return record
    return {}


def _past(index: int, length: int) -> Past:
    """Searches backwards for the last `shell` record and the records after it.

    It searches for beginnings of lines, since there may be millions: we write all of them, with `t` first.
    """
    past = Past()
    if not length:
        return past
    with mmap.mmap(index, length, access=mmap.ACCESS_READ) as lines:

        def last(kind: bytes, after: int) -> int:
            """Where the last record of a kind begins, -1 when there is none from `after` on."""
            found = lines.rfind(b'\n{"t":"%s",' % kind, max(after - 1, 0))
            if found >= 0:
                return found + 1
            return 0 if after <= 0 and lines[: len(kind) + 8] == b'{"t":"%s",' % kind else -1

        def fields(position: int) -> dict[str, Any]:
            with contextlib.suppress(ValueError):
                record = json.loads(lines[position : lines.find(b"\n", position)])
                if isinstance(record, dict):
                    return record
            return {}

        shell = last(b"shell", 0)
        if shell < 0:
            return past
        past.unfinished = last(b"exit", shell) < 0 and last(b"lost", shell) < 0
        size = fields(max(last(b"size", shell), shell))
        past.cols, past.rows = size.get("cols"), size.get("rows")
        if (reply := last(b"reply", shell)) >= 0:
            past.answered = fields(reply).get("query", -1)
    return past
