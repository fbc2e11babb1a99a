"""The input queue of one terminal: in order, bounded, and never written later than its deadline.

A program that does not read makes writes wait. Input that is not written at its deadline is dropped and reported, so
stale input is never written later. A secret is written a whole line at a time, for the program that asks.

A Ctrl-D in canonical mode waits for a reader. The kernel stores it as an end-of-line flag on a NUL byte; when a line
editor then switches canonical mode off, the flag is lost and the editor reads a NUL. So a Ctrl-D is written when a
process waits in `read` and has nothing left to read, or when canonical mode is off. At its deadline it is written all
the same, and reported as `no_reader`.
"""

import os
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from vantage.ptyhost.protocol import MAX_INPUT, Code
from vantage.ptyhost.shared.journal import Journal
from vantage.ptyhost.terminal.input.readers import reads
from vantage.ptyhost.terminal.input.unread import Asker, SecretLine, Unread, line_end
from vantage.ptyhost.terminal.output.noticed import Noticed
from vantage.ptyhost.terminal.pty import Pty

SETTLE_S: Final = 0.02
"""How long a mark of the shell may be on its way in the kernel, while the shell is already seen reading."""

END_OF_INPUT: Final = b"\x04"
NO_READER: Final = "no_reader"
"""Why a Ctrl-D was written only at its deadline."""

Check = Literal["none", "open", "secret"]


@dataclass(slots=True, eq=False)
class Input:
    """One request to write input."""

    data: bytes
    check: Check
    record: dict[str, Any] | None
    """Written to the journal before the first byte is typed."""
    deadline: float
    done: Callable[[int, str], None]
    """Called once, with the bytes written and the reason when some were not."""
    refused: Callable[[Code], None]
    """Called instead when the terminal is not as `check` says."""
    echo_off: bool = False
    """The terminal does not echo it; its reader switches the echo on again."""
    seen: int | None = None
    """Output that the sender of a secret knew: a shell's mark after it says that the program has ended since."""
    written: int = field(default=0, init=False)
    begun: bool = field(default=False, init=False)
    held: int = field(default=0, init=False)
    """How many bytes at the start of `data` came from the held beginning of the secret's line."""
    rest: bytes = field(default=b"", init=False)
    """The unfinished line at the end of a secret."""
    asker: Asker | None = field(default=None, init=False)
    """The program that asked for a secret when its turn came."""
    settles: float | None = field(default=None, init=False)
    """When it is sure that the shell itself asks for it, and is not at its prompt."""
    overdue: bool = field(default=False, init=False)
    """A Ctrl-D whose deadline has passed while it waited for a reader."""

    def end(self, why: str) -> None:
        """Tells how much of what was asked for was written."""
        written = max(self.written - self.held, 0) + (len(self.rest) if not why else 0)
        self.done(written, why)


class InputQueue:
    """Writes as much as the terminal takes."""

    __slots__ = ("_items", "_size", "secret", "waits_for_reader")

    def __init__(self) -> None:
        self._items: deque[Input] = deque()
        self._size = 0
        self.secret = SecretLine()
        self.waits_for_reader = False
        """The next input is a secret or a Ctrl-D, and no process reads: the terminal would keep it for another one."""

    def __bool__(self) -> bool:
        return bool(self._items)

    @property
    def wants_to_write(self) -> bool:
        """Whether something waits until the terminal takes more."""
        return bool(self._items) and not self.waits_for_reader

    def fits(self, size: int) -> bool:
        return self._size + size <= MAX_INPUT

    def add(self, item: Input) -> None:
        self._items.append(item)
        self._size += len(item.data)

    @property
    def waits_with_secret(self) -> bool:
        """Whether the next one is a secret: everything printed so far must be noticed before it is written."""
        return bool(self._items) and self._items[0].check == "secret"

    def pump(self, pty: Pty, journal: Journal, noticed: Noticed) -> Unread | None:
        """Writes until the terminal takes no more. What brings a record waits until that is in the journal.

        Returns the last secret that was written: it is to be watched until it is read.
        """
        unread: Unread | None = None
        self.waits_for_reader = False
        while self._items:
            item = self._items[0]
            if item.record is not None and journal.stalled:
                return unread
            if (not item.begun or item.check == "secret") and not self._allowed(item, pty, noticed):
                continue
            if not item.begun:
                item.begun = True
                if item.record is not None:
                    pty.resume_output()
                    pty.command_given(edits=not item.echo_off)
                    if not journal.record(item.record):
                        return unread
                if item.echo_off:
                    self._size -= len(item.data)
                    item.data = pty.quoted(item.data)
                    self._size += len(item.data)
                    pty.stop_echo()
                if item.check == "secret":
                    item.asker = Asker(pty.foreground(), journal.offset, secret=True)
                self._whole_lines(item)
            self.waits_for_reader = not item.written and _lacks_reader(item, pty, noticed)
            if self.waits_for_reader:
                return unread
            try:
                while item.written < len(item.data):
                    item.written += os.write(pty.master, memoryview(item.data)[item.written :])
            except BlockingIOError:
                return unread
            except OSError:
                self._take(item).end("hung_up")
                continue
            self._take(item)
            if item.asker is not None and item.rest:
                self.secret.hold(item.rest, item.asker)
            if item.asker is None or not item.data:
                item.end(NO_READER if item.overdue else "")
                continue
            if unread is not None:
                unread.tell("waiting")
            unread = Unread(item.asker, _secret_done(item), item.deadline)
        return unread

    def _whole_lines(self, item: Input) -> None:
        """The unfinished line of a secret stays here; the beginning that was held comes with its end."""
        if item.check != "secret" and item.data != END_OF_INPUT:
            return
        end = line_end(item.data)
        before = self.secret.take() if end else b""
        item.rest = item.data[end:]
        self._size += len(before) - len(item.rest)
        item.data = before + item.data[:end]
        item.held = len(before)

    def next_deadline(self) -> float:
        """The earliest deadline in the queue, which must not be empty."""
        return min(item.deadline for item in self._items)

    def expire(self) -> None:
        """Drops input whose deadline has passed. A Ctrl-D that only waits for a reader becomes overdue instead."""
        now = time.monotonic()
        for item in [item for item in self._items if item.deadline <= now]:
            if item.data == END_OF_INPUT and self.waits_for_reader and item is self._items[0]:
                item.overdue = True
            else:
                self._take(item).end("timeout")

    def drop(self, why: str) -> int:
        """Drops everything; returns how many bytes will not be typed."""
        self.secret.forget()
        lost = 0
        while self._items:
            item = self._items[0]
            lost += len(item.data) - item.written
            self._take(item).end(why)
        return lost

    def _take(self, item: Input) -> Input:
        self._items.remove(item)
        self._size -= len(item.data)
        return item

    def _allowed(self, item: Input, pty: Pty, noticed: Noticed) -> bool:
        """Looks at the terminal right before the write; an input that does not fit it is taken out."""
        code = self._wrong(item, pty, noticed)
        if code is None:
            return True
        if item.begun and item.written:
            self._take(item).end(code)
        else:
            self._take(item).refused(code)
        return False

    def _wrong(self, item: Input, pty: Pty, noticed: Noticed) -> Code | None:
        if item.check == "none":
            return None
        secret = pty.modes().secret
        if item.check == "open":
            return Code.SECRET_PROMPT if secret else None
        if self.secret.outdated(pty, noticed) or (item.asker is not None and item.asker.is_gone(pty, noticed)):
            return Code.SECRET_GONE
        if not secret or (item.seen is not None and noticed.marked > item.seen):
            return Code.NO_SECRET_PROMPT
        return None


def _lacks_reader(item: Input, pty: Pty, noticed: Noticed) -> bool:
    """Whether an input that needs a reader has none yet."""
    if item.asker is not None:
        return bool(item.data) and not _secret_is_read(item, pty, noticed)
    if item.data != END_OF_INPUT or item.overdue or not pty.modes().canonical:
        return False
    group = pty.foreground()
    # A shell whose editor waits for keys has left canonical mode. In it, fish has a thread that polls other things.
    polls = group != pty.pid or not noticed.has_marks
    # In this order: a process that waits in `read` after the queue was seen empty has read everything before.
    return pty.has_unread_input() or reads(group, pty.tty, polls=polls) == "no"


def _secret_is_read(item: Input, pty: Pty, noticed: Noticed) -> bool:
    """Whether a program waits for the secret. A shell may wait at its prompt, its marks still in the kernel."""
    group = pty.foreground()
    if reads(group, pty.tty) == "no":
        return False
    if group != pty.pid or not noticed.has_marks:
        return True
    if item.settles is None:
        item.settles = time.monotonic() + SETTLE_S
    return time.monotonic() >= item.settles


def _secret_done(item: Input) -> Callable[[str], None]:
    def done(outcome: str) -> None:
        item.end(Code.SECRET_GONE if outcome == "gone" else "")

    return done
