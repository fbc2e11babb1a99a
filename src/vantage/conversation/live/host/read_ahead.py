"""How far the PTY host may read ahead of what is derived: about `TARGET_S` of work, measured while there is work.

A terminal that draws slowly makes its program wait in a write, and so does this one: the host pauses at the end of the
window. So the prompt appears soon after an interrupt, however slow the program's output is to draw. No byte is dropped.
The window moves when half of it is derived, doubles while that takes less than `TARGET_S / 8`, and halves when it takes
more than `TARGET_S / 2`. A program that prints less than the server derives keeps a large window.
"""

from collections.abc import Callable

TARGET_S = 0.5
FIRST = 1 << 17
MIN, MAX = 1 << 14, 1 << 22
"""Bytes of the first window, and the bounds of later ones."""


class ReadAhead:
    def __init__(self, move: Callable[[int | None], None], clock: Callable[[], float]) -> None:
        """`move` tells the host up to which raw offset it may read; None: as far as there is output."""
        self._move = move
        self._clock = clock
        self._size = FIRST
        self._end = 0
        self._busy_s = 0.0
        """Seconds spent on deriving since the window was moved."""
        self._since: float | None = None
        """When the present work began; None while there is none."""

    def begin(self, derived: int) -> int:
        """The end of the first window, for a host that is being attached to."""
        self._end = derived + self._size
        self._busy_s, self._since = 0.0, None
        return self._end

    def lift(self) -> None:
        """Nothing can be derived for a while. The host reads on without a window, and programs do not wait."""
        self._move(None)

    def restore(self, derived: int) -> None:
        """Everything is derived again."""
        self._move(self.begin(derived))

    def working(self) -> None:
        """There is something to derive."""
        if self._since is None:
            self._since = self._clock()

    def idle(self) -> None:
        """Everything that the host has told is derived."""
        if self._since is not None:
            self._busy_s += self._clock() - self._since
            self._since = None

    def derived(self, raw: int) -> None:
        """The raw output is derived up to here."""
        if self._end - raw > self._size // 2:
            return
        if self._since is not None:
            now = self._clock()
            self._busy_s, self._since = self._busy_s + now - self._since, now
        if self._busy_s > TARGET_S / 2:
            self._size = max(self._size // 2, MIN)
        elif self._busy_s < TARGET_S / 8:
            self._size = min(self._size * 2, MAX)
        self._busy_s = 0.0
        self._end = raw + self._size
        self._move(self._end)
