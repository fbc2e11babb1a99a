"""`screen.jsonl`: changes of a screen, numbered from 1 without end, of which the last ones are on disk.

The file begins with a record that has every row, so it gives every later screen. When much was written since the last
such record, another one is requested; once it is there, everything before the previous one is dropped. So the file has
the last `KEEP` bytes at least, and hardly more than twice as many. Each record carries its number.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from vantage.conversation.store.files.disk_errors import damaged
from vantage.conversation.store.files.log import Log
from vantage.conversation.store.files.open_files import OpenFiles
from vantage.conversation.store.files.writing import write_atomically
from vantage.errors import Gone

KEEP = 8 << 20


class _Place(NamedTuple):
    """A record with every row."""

    offset: int
    number: int


class _Numbered(msgspec.Struct):
    number: int = 1


class ScreenLog:
    def __init__(self, path: Path, files: OpenFiles | None = None) -> None:
        self._path = path
        self._files = files
        self._log = Log(path, files)
        first = next((line for _, line in self._log.lines()), None)
        try:
            self._start = msgspec.json.decode(first, type=_Numbered).number if first else 1
        except msgspec.MsgspecError:
            self._log.cut(0)
            self._start = 1
        """The number of the first record that is kept."""
        self.count = self._start - 1 + self._log.count()
        """The number of the last record."""
        self._whole = _Place(0, self._start)
        """The last record that has every row."""

    @property
    def wants_whole(self) -> bool:
        """Whether the next record should have every row."""
        return self._log.size - self._whole.offset > KEEP

    def append(self, record: bytes, *, whole: bool) -> int:
        """Appends a record, the JSON of an object. Returns its number."""
        drop = self._whole if whole and self.wants_whole else None
        place = _Place(self._log.size, self.count + 1)
        if drop is not None and not drop.offset and self._log.size > 2 * KEEP:
            drop = place  # after the log was opened, the place of its last record with every row is not known
        self._log.append(record[:-1] + b',"number":%d}\n' % place.number)
        self.count = place.number
        if whole:
            self._whole = place
        if drop is not None and drop.offset:
            self._drop(drop)
        return place.number

    def _drop(self, first: _Place) -> None:
        """Drops everything before a record. At any moment, the old file or the new one is there."""
        with self._path.open("rb") as file:
            file.seek(first.offset)
            kept = file.read()
        write_atomically(self._path, kept)
        self._log.close()
        self._log = Log(self._path, self._files)
        self._start = first.number
        self._whole = _Place(self._whole.offset - first.offset, self._whole.number)

    def read(self, cursor: int, limit: int) -> list[dict[str, Any]]:
        """The records after a number."""
        if cursor + 1 < self._start:
            following = self._start - 1
            raise Gone(
                f"changes of the screen up to number {following} are no longer kept",
                next=following,
                hint=f"go on at {following}, or read the screen as it is",
            )
        try:
            return [msgspec.json.decode(line) for line in islice(self._from(cursor + 1), limit)]
        except msgspec.MsgspecError as error:
            raise damaged(self._path, error, "read the screen as it is, and go on at its cursor") from None

    def _from(self, number: int) -> Iterator[bytes]:
        return self._log.from_line(number - self._start + 1)

    def close(self) -> None:
        self._log.close()
