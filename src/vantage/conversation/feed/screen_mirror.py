"""The screen for followers: the last snapshot, and for each row the delta that changed it last.

A follower at any delta gets all later changes as one delta. A missing delta (the numbers have a gap) makes the mirror
incomplete until the screen is loaded again.
"""

from typing import Any

import msgspec

from vantage.conversation.bus import ScreenChanged
from vantage.terminal.screen.frames import RowNumbers, ScreenDelta, ScreenSnapshot, apply

_FIELDS = ("rows", "cursor", "title", "alt_screen", "cols", "rows_count", "ts", "raw_offset")


class ScreenMirror:
    def __init__(self, conversation_id: str) -> None:
        self.number = -1
        """The number of the last delta that was applied; -1 before the screen was loaded."""
        self._id = conversation_id
        self._screen: ScreenSnapshot | None = None
        self._numbers = RowNumbers(0)
        self._told = -1
        """The highest number of any delta that came."""

    @property
    def incomplete(self) -> bool:
        """Whether a delta since the screen was loaded could not be applied."""
        return self._screen is not None and self.number < self._told

    def load(self, read: dict[str, Any]) -> None:
        """Applies the answer to `read_screen` with styles. Deltas up to its `delta_cursor` are in it."""
        self.number = read["delta_cursor"]
        count = read["rows_count"]
        fields = {name: read[name] for name in _FIELDS}
        self._screen = msgspec.convert({**fields, "runs": read.get("runs") or [[]] * count}, ScreenSnapshot)
        self._numbers = RowNumbers(count, self.number)

    def apply(self, change: ScreenChanged) -> None:
        self._told = max(self._told, change.number)
        screen, delta = self._screen, change.delta
        if screen is None or change.number != self.number + 1:
            return
        self.number = change.number
        if (screen.cols, screen.rows_count) != (delta.cols, delta.rows_count):
            self._numbers = RowNumbers(delta.rows_count, self.number)
        self._numbers.set((row.row for row in delta.rows), self.number)
        self._screen = apply(screen, delta)

    def since(self, number: int) -> ScreenDelta | None:
        """All changes after a delta, as one delta; the whole screen after -1."""
        if self._screen is None or number >= self.number:
            return None
        return self._screen.delta(self._numbers.after(number), self._id)
