"""What is to be typed into one terminal: in order, bounded, and never later than its deadline.

A program that does not read makes writes wait. What is not written when its time is up is dropped and reported, so that
no ghost types it later.
"""

import os
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from vantage.ptyhost.journal import Journal
from vantage.ptyhost.protocol import MAX_INPUT, Code
from vantage.ptyhost.pty import Pty

Check = Literal["none", "open", "secret"]


@dataclass(slots=True, eq=False)
class Input:
    """One request to type."""

    data: bytes
    check: Check
    record: dict[str, Any] | None
    """Goes to the journal before the first byte is typed."""
    deadline: float
    done: Callable[[int, str], None]
    """Called once: bytes written, and why not all of them."""
    refused: Callable[[Code], None]
    """Called instead when the terminal is not as `check` says."""
    echo_off: bool = False
    """The terminal does not echo it; whoever reads it switches the echo on again."""
    written: int = field(default=0, init=False)
    begun: bool = field(default=False, init=False)


class InputQueue:
    """Writes as much as the terminal takes."""

    __slots__ = ("_items", "_size")

    def __init__(self) -> None:
        self._items: deque[Input] = deque()
        self._size = 0

    def __bool__(self) -> bool:
        return bool(self._items)

    def fits(self, size: int) -> bool:
        return self._size + size <= MAX_INPUT

    def add(self, item: Input) -> None:
        self._items.append(item)
        self._size += len(item.data)

    def pump(self, pty: Pty, journal: Journal) -> None:
        """Writes until the terminal takes no more. What brings a record waits until that is in the journal."""
        while self._items:
            item = self._items[0]
            if item.record is not None and journal.stalled:
                return
            if (not item.begun or item.check == "secret") and not self._allowed(item, pty):
                continue
            if not item.begun:
                item.begun = True
                if item.record is not None and not journal.record(item.record):
                    return
                if item.echo_off:
                    pty.stop_echo()
            try:
                while item.written < len(item.data):
                    item.written += os.write(pty.master, memoryview(item.data)[item.written :])
            except BlockingIOError:
                return
            except OSError:
                self._take(item).done(item.written, "hung_up")
                continue
            self._take(item).done(item.written, "")

    def next_deadline(self) -> float:
        """Of what waits; there must be something."""
        return min(item.deadline for item in self._items)

    def expire(self) -> None:
        """Drops what is late."""
        now = time.monotonic()
        for item in [item for item in self._items if item.deadline <= now]:
            self._take(item).done(item.written, "timeout")

    def drop(self, why: str) -> int:
        """Drops everything; returns how many bytes will not be typed."""
        lost = 0
        while self._items:
            item = self._items[0]
            lost += len(item.data) - item.written
            self._take(item).done(item.written, why)
        return lost

    def _take(self, item: Input) -> Input:
        self._items.remove(item)
        self._size -= len(item.data)
        return item

    def _allowed(self, item: Input, pty: Pty) -> bool:
        """Looks at the terminal right before the write; an input that does not fit it is taken out."""
        secret = item.check != "none" and pty.modes().secret
        if item.check == "open" and secret:
            self._take(item).refused(Code.SECRET_PROMPT)
        elif item.check == "secret" and not secret:
            if item.written:
                self._take(item).done(item.written, "no_secret_prompt")
            else:
                self._take(item).refused(Code.NO_SECRET_PROMPT)
        else:
            return True
        return False
