"""What a screen showed from a moment on, as lines: those that have left it and those on it.

Lines are logical: rows that were wrapped into are joined. A line that is drawn again counts once, in its last state. A
screen that is erased as a whole is kept, unless the next one is the same picture with other numbers: a program that
clears the screen before each of its frames leaves the last frame.
"""

import re

from vantage.terminal.screen.screen import CheckpointError, Screen

ERASES = re.compile(rb"\x1b(?:\[(?:0*1?(?:;0*1?)?[Hf]\x1b\[0*|2|(3))J|c)")
"""Erases the screen: ED 2, RIS, and ED behind CUP to the first cell; or, with a group, what has left it: ED 3."""
LEAVES = re.compile(
    rb"(?:\r{0,3}\n)?(?:\x1b\[\?[0-9;]{1,32}[hl]|\x1b[=>]){0,16}"
    rb"\x1b\[\?(?:[0-9]{1,8};){0,8}(?:47|1047|1049)(?:;[0-9]{1,8}){0,8}l"
)
"""How a program leaves the alternate screen. Vim ends its last line first, which would push the first one out."""
MAX_FRAMES = 100
"""How many erased screens are kept. A program that erases more of them shows a film: its last picture is kept."""
MAX_LAST = 3
"""The last changed lines on the alternate screen that count when the program leaves it: vim reports there what it has
written.
"""
_SLICE = 1 << 18
_DIGITS = re.compile(r"\d+")
_LEAVE = b"\x1b[?1049l\x1b[?1047l\x1b[?47l"
_CANCEL = b"\x18"
"""Ends a sequence that is not finished."""
_ENTER = b"\x1b[?1049h"


class Transcript:
    """Feed it what the screen is fed. Its screen is its own: a copy of the live one, or one of the past."""

    def __init__(self, screen: Screen, *, goes_on: bool = False) -> None:
        """With `goes_on`, the program that has drawn the screen continues: what is on the screen is known, and not
        new.
        """
        self._screen = screen
        self._goes_on = goes_on
        self._begin()
        self._lines: list[str] = []
        """Final lines: no later output changes them."""
        self._frame: list[str] = []
        """The screen that was erased last."""
        self._frames = 0

    def _begin(self) -> None:
        """Own lines begin on the cursor's line; other lines are own once they change.

        Text that another program has left below the cursor does not count when it is overwritten.
        """
        self._drawn_on = self._screen.lines() if self._screen.alt_screen else None
        """The alternate screen, if that is shown: its lines are no part of the text, except the last ones that
        change.
        """
        shown, at = self._screen.unwrapped()
        if self._screen.alt_screen:
            shown, at = [], 0
        elif any(shown[at:]) and not self._goes_on:
            self._screen.feed(b"\x1b[J")
        self._before = shown if self._goes_on else shown[:at]
        self._at = at
        self._taken = self._screen.scrollback(limit=0).total
        self._left: list[str] = []
        """Lines that have left the screen since."""

    def feed(self, data: bytes) -> None:
        """Feeds output that has no cut sequences."""
        while self._drawn_on is not None and (leaves := LEAVES.search(data)) is not None:
            self._draw(data[: leaves.start()])
            self._lines += self._changed_last(self._drawn_on)
            self._draw(leaves[0])
            data = data[leaves.end() :]
            self._begin()
        at = 0
        for erasure in ERASES.finditer(data):
            self._draw(data[at : erasure.start()])
            if not erasure[1]:
                self._erase()
            self._draw(erasure[0])
            at = erasure.end()
        self._draw(data[at:])

    def resize(self, cols: int, rows: int) -> None:
        self._screen.resize(cols, rows)

    def lines(self) -> list[str]:
        """The lines so far; the last one is that of the cursor, or below it."""
        shown = self._shown()
        return self._lines + self._unless_redrawn(shown) + shown

    def _changed_last(self, before: list[str]) -> list[str]:
        now = self._screen.lines()
        changed = [line for number, line in enumerate(now) if line.strip() and [line] != before[number : number + 1]]
        return changed[-MAX_LAST:]

    def _draw(self, data: bytes) -> None:
        for start in range(0, len(data), _SLICE):
            self._screen.feed(data[start : start + _SLICE])
            self._screen.take_replies()
            self._take()

    def _take(self) -> None:
        """Takes the lines that have left the screen, before they are erased or dropped there."""
        if self._screen.alt_screen:
            return
        kept = self._screen.scrollback(self._taken, 1 << 30)
        if missing := kept.first_line - self._taken:
            self._left.append(f"… {missing:,} lines left out …")
            self._left += [""] * (missing - 1)
        self._left += kept.lines
        self._taken = kept.total

    def _erase(self) -> None:
        """The screen is about to be erased: its lines count, and later output is drawn on an empty one."""
        self._frames += 1
        if self._screen.alt_screen or self._frames > MAX_FRAMES:
            return
        shown = self._shown()
        self._lines += self._unless_redrawn(shown)
        self._frame = shown
        self._before, self._at, self._left = [], 0, []

    def _unless_redrawn(self, shown: list[str]) -> list[str]:
        """The erased screen, without its blank end; empty if it equals the present one, apart from numbers."""
        pairs = [pair for pair in zip(self._frame, shown, strict=False) if pair[0].strip()]
        same = sum(_DIGITS.sub("0", before) == _DIGITS.sub("0", now) for before, now in pairs)
        written = sum(bool(line.strip()) for line in self._frame)
        return [] if same * 2 >= written else _without_blank_end(self._frame)

    def _shown(self) -> list[str]:
        """Own lines that have left the screen since it was erased, and those on it, or under the alternate one."""
        if self._screen.alt_screen:
            shown, at = self._behind()
        else:
            shown, at = self._screen.unwrapped()
        lines = self._left + shown
        end = len(self._left) + at
        last = next((number for number in range(len(lines) - 1, end, -1) if self._is_new(lines, number)), end)
        return self._own(lines[: last + 1])

    def _behind(self) -> tuple[list[str], int]:
        """The lines behind the alternate screen, and that of the cursor there.

        Some states cannot be copied: a wrap that waits behind a right margin, a long sequence without an end, wide
        characters that a resize has cut. Then the alternate screen is left, and is empty afterwards.
        """
        try:
            with Screen.decode(self._screen.encode(scrollback=False)) as copy:
                copy.feed(_LEAVE)
                return copy.unwrapped()
        except CheckpointError:
            self._screen.feed(_CANCEL + _LEAVE)
            shown = self._screen.unwrapped()
            self._screen.feed(_ENTER)
            return shown

    def _is_new(self, lines: list[str], number: int) -> bool:
        """Whether a line has text that was not there before."""
        return lines[number].strip() != "" and self._is_changed(lines, number)

    def _is_changed(self, lines: list[str], number: int) -> bool:
        """Whether a line is another than before, also a blank one; a part of a line that began earlier is not."""
        before = self._before[number] if number < len(self._before) else ""
        return not lines[number].endswith(before) if before else lines[number] != ""

    def _own(self, lines: list[str]) -> list[str]:
        if self._goes_on and self._before:
            last = len(lines) - 1
            return [line for number, line in enumerate(lines) if number == last or self._is_own(lines, number)]
        if self._frames and not self._before:  # drawn on an empty screen, wherever on it
            start = next((number for number, line in enumerate(lines) if line.strip()), len(lines) - 1)
            return lines[start:]
        above = range(min(self._at, len(lines)))
        start = next((number for number in above if self._is_new(lines, number)), self._at)
        own = [line for number, line in enumerate(lines[start : self._at], start) if self._is_changed(lines, number)]
        return own + lines[max(start, self._at) :]

    def _is_own(self, lines: list[str], number: int) -> bool:
        """Whether a line is new, or is a blank one among those that are."""
        was_blank = number >= len(self._before) or not self._before[number].strip()
        return self._is_new(lines, number) or (number > self._at and was_blank)


def _without_blank_end(lines: list[str]) -> list[str]:
    last = next((number for number in range(len(lines), 0, -1) if lines[number - 1].strip()), 0)
    return lines[:last]
