"""A terminal's whole life as timed steps: what was printed, resized and begun, and when. For players of all kinds.

Our marks are left out (they hold the shell's secret), and characters are never cut in two.
"""

import codecs
from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from vantage.conversation.files import ConversationFolder, GrowingFile
from vantage.terminal.journal import Record, read_records
from vantage.terminal.marks import Mark, Marks

_PIECE = 1 << 16
Kind = Literal["output", "resize", "marker", "exit", "gap"]


class Moment(msgspec.Struct, frozen=True):
    """Something that happened `ms` after the epoch, when the raw output had the length `raw`."""

    ms: int
    kind: Kind
    text: str
    """What was printed; `80x24`; a command; an exit status; what is missing."""
    raw: int


def moments(folder: ConversationFolder) -> Iterator[Moment]:
    """From the first shell on, in order. Times never go back, even where the clock did."""
    journal, raw = GrowingFile(folder.journal), GrowingFile(folder.raw)
    try:
        yield from _Reader(raw).read(_all_records(journal), raw.size)
    finally:
        journal.close()
        raw.close()


def _all_records(journal: GrowingFile) -> Iterator[Record]:
    at, end = 0, journal.size
    while at < end:
        records, behind = read_records(journal.read(at, min(at + (1 << 20), end)), at)
        if behind == at:
            return
        at = behind
        for placed in records:
            yield placed.record


class _Reader:
    def __init__(self, raw: GrowingFile) -> None:
        self._raw = raw
        self._marks = Marks()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._at = 0
        self._ms = 0

    def read(self, records: Iterator[Record], end: int) -> Iterator[Moment]:
        for record in records:
            yield from self._output(min(record.at, end))
            self._ms = max(self._ms, record.ts)
            if record.t == "shell":
                self._marks.secret = record.secret
            moment = _MOMENTS.get(record.t)
            if moment is not None:
                kind, text = moment
                yield Moment(self._ms, kind, text(record), self._at)
        yield from self._output(end)

    def _output(self, end: int) -> Iterator[Moment]:
        while self._at < end:
            data = self._raw.read(self._at, min(self._at + _PIECE, end))
            if not data:
                return
            self._at += len(data)
            pieces = (piece for piece in self._marks.split(data) if not isinstance(piece, Mark))
            text = self._decoder.decode(b"".join(pieces))
            if text.strip("\0"):  # a hole that retention left reads as zeros
                yield Moment(self._ms, "output", text.replace("\0", ""), self._at)


_MOMENTS: dict[str, tuple[Kind, Callable[[Record], str]]] = {
    "shell": ("resize", lambda record: f"{record.cols}x{record.rows}"),
    "size": ("resize", lambda record: f"{record.cols}x{record.rows}"),
    "exec": ("marker", lambda record: record.cmd),
    "exit": ("exit", lambda record: str(record.status if record.status is not None else 128 + (record.signal or 0))),
    "gap": ("gap", lambda record: f"{record.end - record.start:,} bytes were dropped"),
}
