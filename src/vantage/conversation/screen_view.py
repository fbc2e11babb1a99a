"""The screen as those who follow it know it: what it shows, and when each of its rows last changed.

So whoever has seen it up to some change gets all that changed since as one delta, however much that was.
"""

from typing import Any

import msgspec

from vantage.conversation.bus import Drawn
from vantage.terminal.engines.values import Run
from vantage.terminal.frames import RowText, ScreenDelta

_STATE = ("cursor", "title", "alt_screen", "cols", "rows_count", "ts", "raw_offset")


class ScreenView:
    def __init__(self, conversation_id: str) -> None:
        self.number = -1
        """Of the last change; -1 before the screen was loaded."""
        self._id = conversation_id
        self._last: ScreenDelta | None = None
        self._rows: list[RowText] = []
        self._at: list[int] = []

    def load(self, read: dict[str, Any]) -> None:
        """The screen as `read_screen` gave it; whatever was told before is in it."""
        self.number = read["delta_cursor"]
        count = read["rows_count"]
        texts = [*read["rows"], *[""] * (count - len(read["rows"]))]
        runs = [*(read.get("runs") or []), *[[]] * count]
        self._rows = [RowText(row, text, msgspec.convert(runs[row], tuple[Run, ...])) for row, text in enumerate(texts)]
        self._at = [self.number] * count
        fields = {name: read[name] for name in _STATE}
        self._last = msgspec.convert({**fields, "type": "screen_delta", "rows": []}, ScreenDelta)

    def apply(self, change: Drawn) -> bool:
        """Whether it is news."""
        if self._last is None or change.number <= self.number:
            return False
        delta = change.delta
        self.number = change.number
        if (self._last.rows_count, self._last.cols) != (delta.rows_count, delta.cols):
            self._rows = [RowText(row, "", ()) for row in range(delta.rows_count)]
            self._at = [self.number] * delta.rows_count
        for row in delta.rows:
            self._rows[row.row] = row
            self._at[row.row] = self.number
        self._last = delta
        return True

    def since(self, number: int) -> ScreenDelta | None:
        """All that changed behind a number, in one; everything from -1 on."""
        if self._last is None or number >= self.number:
            return None
        rows = tuple(row for row, at in zip(self._rows, self._at, strict=True) if at > number)
        return msgspec.structs.replace(self._last, rows=rows, conversation_id=self._id)
