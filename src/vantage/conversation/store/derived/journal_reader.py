"""Reads a terminal's journal in pieces, so that a long journal is never in memory as a whole."""

from collections import deque

from vantage.conversation.store.files.growing_file import GrowingFile
from vantage.terminal.journal import Placed, read_records

PIECE = 1 << 16
"""Bytes of the journal that are read at once."""


class JournalReader:
    def __init__(self, file: GrowingFile) -> None:
        self.file = file
        self.position = 0
        """The offset after the last record that was read."""
        self.records: deque[Placed] = deque()
        """Records that were read and not applied yet."""

    def read_piece(self, end: int) -> bool:
        """Reads a piece of the journal; returns whether there is more of it. A line may be longer than a piece."""
        size = PIECE
        while True:
            upto = min(self.position + size, end)
            records, self.position = read_records(self.file.read(self.position, upto), self.position)
            self.records.extend(records)
            if records or upto == end:
                return upto < end
            size *= 2
