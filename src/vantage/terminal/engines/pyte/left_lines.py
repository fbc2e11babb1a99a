"""Lines that left the pyte engine's screen and were not drained yet."""

from vantage.terminal.engines.values import Drained


class LeftLines:
    def __init__(self) -> None:
        self._texts: list[str] = []
        self._lines = 0
        self._erased = False
        self._skipped = 0

    def add(self, text: str, wrapped: bool) -> None:
        """A row that left; the next one continues it if it is `wrapped`."""
        self._texts.append(text if wrapped else text + "\n")
        self._lines += not wrapped

    def erase(self) -> None:
        """ED 3 and RIS erase the lines that have left the screen; undrained lines keep their numbers."""
        self._skipped += self._lines
        self._texts, self._lines, self._erased = [], 0, True

    def take(self) -> Drained | None:
        if not self._texts and not self._erased:
            return None
        text = "".join(self._texts)
        open_line = bool(text) and not text.endswith("\n")
        drained = Drained(text.removesuffix("\n").encode(), self._lines, open_line, self._erased, self._skipped)
        self._texts, self._lines, self._erased, self._skipped = [], 0, False, 0
        return drained
