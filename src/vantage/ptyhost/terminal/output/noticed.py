"""What the host notices in a terminal's output: the last mark of its shell, and which process group printed what.

The host does not parse marks. It searches for the shell's secret, which is in each of them: if output after a query or
after a secret prompt contains it, the shell has continued since.
"""

import re
from collections import deque
from typing import Final

_REMEMBERED: Final = 64
"""Changes of the foreground process group: older ones belong to queries that are too old to be answered."""
_OVER: Final = re.compile(rb"\x1b\]133;D;([0-9]{1,9});")
_BEGUN: Final = b"\x1b]133;C;"
_BEFORE: Final = 32
"""Bytes of a mark before the secret: `ESC ] 133 ; D ; 130 ; aid=`."""
_PROMPT: Final = 8192
"""A prompt's three marks stand together: the end mark is searched in so many bytes before the last one."""


class Noticed:
    """Fed with every piece of output, in order."""

    __slots__ = ("_groups", "_secret", "_tail", "marked")

    def __init__(self, secret: str = "", offset: int = 0) -> None:
        self.marked = offset
        """The offset after the last mark's secret."""
        self._secret = secret.encode()
        self._tail = b""
        self._groups: deque[tuple[int, int | None]] = deque(maxlen=_REMEMBERED)
        """The end of each stretch of output, and the process group that had the terminal when it was read."""

    @property
    def has_marks(self) -> bool:
        """Whether the program that leads the session prints marks."""
        return bool(self._secret)

    def output(self, data: bytes, end: int, group: int | None) -> int | None:
        """`data` ends at the offset `end`; `group` has the terminal. Returns the status of a command that ended in it.

        None when none has ended, and when the next one has begun since.
        """
        if self._groups and self._groups[-1][1] == group:
            self._groups.pop()
        self._groups.append((end, group))
        if not self._secret:
            return None
        size = len(self._secret)
        whole = self._tail + data
        self._tail = whole[-(size + _BEFORE) :]
        found = whole.rfind(self._secret)
        marked = end - (len(whole) - found - size)
        if found < 0 or marked <= self.marked:
            return None
        self.marked = marked
        over = [*_OVER.finditer(whole, max(found - _PROMPT, 0))]
        return int(over[-1][1]) if over and whole.find(_BEGUN, over[-1].end()) < 0 else None

    def group_at(self, offset: int) -> int | None:
        """The process group that had the terminal when the output up to an offset was read; None where unknown."""
        return next((group for end, group in self._groups if end >= offset), None)
