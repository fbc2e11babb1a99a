"""Reads a terminal's output into its journal: bytes first, then what is noticed in them, then the event.

Output that could not be written is reported as a stall: then `turn` is not to be called until it is over.
"""

import os
from collections.abc import Callable
from typing import Final

from vantage.ptyhost.shared.journal import Journal
from vantage.ptyhost.shared.output_events import OutputEvents
from vantage.ptyhost.terminal.output.noticed import Noticed
from vantage.ptyhost.terminal.pty import Pty

CHUNK: Final = 65536
TURN: Final = 16384
"""Bytes read in one turn of the loop: four reads, some 0.3 ms, so that a flood does not keep others waiting."""
SHORT: Final = 256
"""A read that brings less has emptied the terminal, most likely: asking again would cost more than it brings."""
DRAIN: Final = 64 * 1024
"""Bytes read at most to get to the end: the kernel keeps a fifth of that, but a program may print as fast as we read.
"""


class OutputReader:
    """Reads the output of one process."""

    __slots__ = ("_events", "_hung", "_log", "_noticed", "_pty", "_stall")

    def __init__(
        self,
        pty: Pty,
        log: Journal,
        noticed: Noticed,
        events: OutputEvents,
        *,
        stall: Callable[[], None],
        hung: Callable[[], None],
    ) -> None:
        self._pty = pty
        self._log = log
        self._noticed = noticed
        self._events = events
        self._stall = stall
        """Called when output could not be written."""
        self._hung = hung
        """Called when no process has the terminal open."""

    def turn(self) -> bool:
        """One turn's worth of output: read in the kernel's small pieces, written in one. False when it is stalled."""
        pieces: list[bytes] = []
        left = TURN
        try:
            while left > 0:
                data = os.read(self._pty.master, CHUNK)
                if not data:
                    self._hung()
                    break
                pieces.append(data)
                left -= len(data)
                if len(data) < SHORT:
                    break
        except BlockingIOError:
            pass
        except OSError:
            self._hung()
        if pieces:
            data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
            self._events.printed(data)
            if not self._write(data):
                return False
        self._events.changed()
        return True

    def drain(self) -> bool:
        """Reads to the end of what the terminal has now; false when it cannot be written."""
        left = DRAIN
        got = False
        try:
            while left > 0:
                data = os.read(self._pty.master, CHUNK)
                if not data:
                    break
                got = True
                left -= len(data)
                if not self._write(data):
                    return False
        except OSError:  # nothing more, now or ever
            pass
        if got:
            self._events.changed()
        return True

    def _write(self, data: bytes) -> bool:
        written = self._log.raw(data)
        status = self._noticed.output(data, self._log.offset, self._pty.foreground())
        if status is not None:
            self._pty.command_over(failed=status != 0)
        if not written:
            self._stall()
        return written
