"""Signals to select on, beside sockets and the keyboard, so that no call is interrupted.

`cleaning_up` turns signals that end a process into an exception, so that half-written files are removed.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class HasFileno(Protocol):
    """What `select` takes."""

    def fileno(self) -> int: ...


class Wakeups:
    """Readable when a signal has come."""

    def __init__(self, reader: int) -> None:
        self._reader = reader

    def fileno(self) -> int:
        return self._reader

    def take(self) -> list[signal.Signals]:
        """The signals since the last call; waits for one if there is none."""
        return [signal.Signals(number) for number in os.read(self._reader, 4096)]


@contextmanager
def woken_by(*numbers: signal.Signals) -> Iterator[Wakeups]:
    """Within it, these signals do nothing but make the `Wakeups` readable."""
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


@contextmanager
def cleaning_up() -> Iterator[None]:
    """Within it, SIGTERM and SIGHUP raise SystemExit, so `finally` blocks run; an ignored signal stays ignored."""

    def leave(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    before = {
        number: signal.signal(number, leave)
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is signal.SIG_DFL
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
