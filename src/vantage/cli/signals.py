"""Signals as something to select on, beside sockets and the keyboard: nothing is interrupted in the middle."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class HasFileno(Protocol):
    """What one can select on."""

    def fileno(self) -> int: ...


class Wakeups:
    """Readable when a signal has come."""

    def __init__(self, reader: int) -> None:
        self._reader = reader

    def fileno(self) -> int:
        return self._reader

    def take(self) -> list[signal.Signals]:
        """The signals that have come since the last time; waits for one if there is none."""
        return [signal.Signals(number) for number in os.read(self._reader, 4096)]


@contextmanager
def woken_by(*numbers: signal.Signals) -> Iterator[Wakeups]:
    """Within it, these signals do nothing but wake whoever selects."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = {number: signal.signal(number, lambda *_: None) for number in numbers}
    wakeup = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield Wakeups(reader)
    finally:
        signal.set_wakeup_fd(wakeup)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(reader)
        os.close(writer)
