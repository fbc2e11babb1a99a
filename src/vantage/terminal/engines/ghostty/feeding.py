"""A program's bytes on their way to the library: whole characters, cut at sequences that need more than the library
does.

Most output has no sequences but colours, and is written unchanged, in one call into the library for each piece.
"""

import codecs
import logging

from vantage.terminal.engines.ghostty.native import Mailbox, lib
from vantage.terminal.engines.ghostty.sequences import NO_COLOUR, STOP, action_of, without_characters
from vantage.terminal.engines.ghostty.stops import Stops
from vantage.terminal.engines.ghostty.terminal import VtTerminal
from vantage.terminal.engines.ghostty.writing import Writer

_log = logging.getLogger(__name__)


class Feeder:
    def __init__(self, vt: VtTerminal, mailbox: Mailbox, writer: Writer, stops: Stops, partial: bytes = b"") -> None:
        """`partial` is the beginning of a character from the last chunk."""
        self._vt, self._mailbox, self._writer, self._stops = vt, mailbox, writer, stops
        self._characters = codecs.getincrementaldecoder("utf-8")("replace")
        self._characters.setstate((partial, 0))

    @property
    def partial(self) -> bytes:
        return self._characters.getstate()[0]

    def feed(self, data: bytes) -> None:
        if b"\x7f" in data:  # terminals ignore it, and the library draws it
            data = data.translate(None, b"\x7f")
        if not data.isascii() or self._characters.getstate()[0]:
            # the library replaces broken characters differently for different chunks
            data = self._outside_sequences(self._characters.decode(data).encode())
        if not data:
            return
        escapes = NO_COLOUR.search(data) is not None
        if not self._vt.at_ground():
            escapes = True
            data = self._finish_begun(data)
        if escapes:
            data = self._after_last_stop(data)
            self._writer.write(data)
            self._keep_size()
        else:
            self._writer.write(data, escapes=False)

    def _outside_sequences(self, data: bytes) -> bytes:
        """The data without non-ASCII characters inside sequences."""
        begun = b"" if self._vt.at_ground() else self._vt.unfinished()
        return without_characters(begun, data) if begun or b"\x1b" in data else data

    def _finish_begun(self, data: bytes) -> bytes:
        """Finishes an open sequence if it is one of `STOP`; returns the rest of `data`."""
        begun = self._vt.unfinished()
        if begun.startswith(b"\x1b") and (stop := STOP.match(begun + data)) and stop.end() > len(begun):
            end = stop.end() - len(begun)
            self._stops.run(stop, data[: end - 1])
            return data[end:]
        return data

    def _after_last_stop(self, data: bytes) -> bytes:
        """Executes everything up to the last sequence that needs more; returns the rest of `data`."""
        start = 0
        for stop in STOP.finditer(data):
            if action_of(stop):
                self._stops.run(stop, data[start : stop.end() - 1])
                start = stop.end()
        return data[start:] if start else data

    def _keep_size(self) -> None:
        """Restores the size after a sequence that is not in `STOP`: only a caller changes it."""
        size = self._mailbox
        cols = self._vt.short(lib.GHOSTTY_TERMINAL_DATA_COLS)
        rows = self._vt.short(lib.GHOSTTY_TERMINAL_DATA_ROWS)
        if (cols, rows) != (size.cols, size.rows):
            _log.warning("a sequence made the screen %d by %d: it is %d by %d again", cols, rows, size.cols, size.rows)
            self._vt.resize(size.cols, size.rows)
