"""What a program highlights on its screen: the entry of a menu, a button, a row of a list, a marked text.

Programs have no way to tell a terminal about a selection; they draw it in reverse video, or on another background than
what is around it. Title bars, status bars, column headers, key bars and boxes are drawn the same way. So a highlight
counts only if its surroundings show that it is one entry among others:

1. Rows are cut into stretches of one background. A highlight is a stretch with text, on another background than the
   cells above and below it.
2. A stretch whose neighbourhood looks like that of the rows above and below is an entry of a list or a button.
3. A whole row is a bar unless the cursor is on it, or the cursor is hidden and the row is no header and not at an edge
   of the screen.
4. Highlights of several rows are a marked text when the cursor is at their end; else they are a box or a panel.

In doubt, nothing is returned.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise
from typing import NamedTuple

from vantage.terminal.engines.values import ColorRef, Cursor, Run
from vantage.terminal.screen.frames import ScreenSnapshot, cell_of, cells

Ground = ColorRef | None
"""The colour behind a character; None is the terminal's own background."""
INK = "ink"
"""The ground of reversed cells whose foreground is the terminal's own."""
MAX_ALIKE = 2
"""More highlights on one background mark many places (search hits, a diff), not a selection."""
MAX_PAINTED = 4000
"""More runs with a background are a picture."""
POINTERS = ">❯▶►▌→"
"""Signs before the current entry of pickers that draw beside a shell's output and keep the cursor in their input
line.
"""
_OPEN, _CLOSE = "[(<", "])>"


class Stretch(NamedTuple):
    """Cells of a row on one background."""

    row: int
    start: int
    end: int
    ground: Ground

    @property
    def size(self) -> int:
        return self.end - self.start

    def shared(self, other: "Stretch") -> int:
        """How many columns both cover."""
        return min(self.end, other.end) - max(self.start, other.start)


def selected(seen: ScreenSnapshot) -> list[str]:
    """The texts of the highlighted entries, from the top; for a marked text, each row. `seen` has its styles."""
    runs = seen.runs or ()
    painted = sum(run.bg is not None or "reverse" in run.attrs for row in runs for run in row)
    if not 0 < painted <= MAX_PAINTED:
        return []
    return _Highlights(seen, runs).selected()


class _Highlights:
    """The highlights of one screen, and which of them are selected.

    It has more than 20 methods, because each rule of the module, and each fact about the cells, is a short method.
    """

    def __init__(self, seen: ScreenSnapshot, runs: Iterable[tuple[Run, ...]]) -> None:
        self._texts = seen.rows
        self._cols = seen.cols
        self._cursor = seen.cursor
        self._lines = [_stretches(number, row, seen.cols, seen.cursor) for number, row in enumerate(runs)]
        areas: Counter[Ground] = Counter()
        for stretch in self._all():
            areas[stretch.ground] += stretch.size
        self._common = areas.most_common(1)[0][0]
        self._full_screen = seen.alt_screen or self._common is not None  # `dialog` stays on the main screen

    def selected(self) -> list[str]:
        marked = self._marked()
        if marked:
            return [text for each in marked if (text := self._text(each))]
        entries = list(dict.fromkeys(self._entries()))
        alike = Counter(each.ground for each in entries)
        entries = [each for each in entries if alike[each.ground] <= MAX_ALIKE]
        if not self._full_screen and (len(entries) > 1 or not all(map(self._is_current, entries))):
            return []  # the colours of earlier output
        return [self._text(each) for each in entries]

    def _all(self) -> Iterator[Stretch]:
        for line in self._lines:
            yield from line

    def _entries(self) -> Iterator[Stretch]:
        for each in self._all():
            if self._is_entry(each):
                whole = self._whole(each)
                if self._is_bar(each) or not self._is_bar(whole):  # otherwise: titles of panels side by side
                    yield whole

    # Text that is marked with the cursor

    def _marked(self) -> list[Stretch]:
        """The highlights of several rows with the cursor at their end."""
        cursor = self._cursor
        if not cursor.visible:
            return []
        for group in self._groups():
            first, last = group[0].row, group[-1].row
            at_end = cursor.row in (first, last) or (cursor.row, cursor.col) == (last + 1, 0)
            if at_end and not self._is_box(group) and any(self._has_word(each) for each in group):
                return group
        return []

    def _groups(self) -> Iterator[list[Stretch]]:
        """Highlights on one background that touch from row to row, from the top."""
        group_of: dict[Stretch, list[Stretch]] = {}
        for each in self._all():
            if each.ground == self._common or each.size == 1 or self._is_edge_bar(each):
                continue
            group = group_of[each] = [each]
            for other in self._lines[each.row - 1] if each.row else ():
                if other in group_of and group_of[other] is not group and _touch(each, other):
                    group.extend(group_of[other])
                    group_of |= dict.fromkeys(group, group)
        for group in {id(group): sorted(group, key=_place) for group in group_of.values()}.values():
            if group[0].row < group[-1].row or self._ground(group[0], -1) == group[0].ground:  # below a title bar
                yield group

    def _is_box(self, group: list[Stretch]) -> bool:
        """Whether all rows begin and end in the same columns, and continue after their text."""
        rows = [list(row) for _, row in groupby(group, key=lambda each: each.row)]
        whole = [Stretch(row[0].row, row[0].start, row[-1].end, None) for row in rows]
        if len(whole) == 1 or any(one[1:3] != other[1:3] for one, other in pairwise(whole)):
            return False
        return all(cell_of(text := self._texts[row.row], len(text)) < row.end - 1 for row in whole)

    # One entry of a menu, a list, a row of buttons

    def _is_entry(self, it: Stretch) -> bool:
        if it.size == 1:
            return self._is_check_mark(it)
        above, below = self._ground(it, -1), self._ground(it, 1)
        if it.row and self._is_header(it.row - 1):
            above = _OUTSIDE
        if it.ground in (above, below) or not self._has_word(it):
            return False
        if self._is_on(it):
            return True
        if self._is_bar(it):
            return self._is_chosen_row(it)
        if self._is_footer(it) or self._is_on_border(it):
            return False
        if it.row == 0 and it.start and it.end == self._cols:  # an indicator in the corner
            return False
        if self._has_siblings(it, -1) or self._has_siblings(it, 1):
            return True
        if self._is_window_bar(it):
            return False
        if above is not _OUTSIDE and below is not _OUTSIDE and above != below:
            return False
        beside = it.row - 1 if above is not _OUTSIDE else it.row + 1
        return all(self._at(it.row, col) == self._at(beside, col) for col in (it.start - 1, it.end))

    def _has_siblings(self, it: Stretch, step: int) -> bool:
        """Whether the next two rows begin and end in the same columns, on a background of their own: a popup menu."""
        rows = [it.row + step, it.row + 2 * step]
        if not 0 <= rows[-1] < len(self._lines):
            return False
        grounds = {each.ground for row in rows for each in self._lines[row] if each[1:3] == it[1:3]}
        both = all(any(each[1:3] == it[1:3] for each in self._lines[row]) for row in rows)
        return both and len(grounds) == 1 and it.ground not in grounds

    def _is_chosen_row(self, bar: Stretch) -> bool:
        """Whether a whole row is the chosen one of a list: only programs that hide the cursor choose like that."""
        if self._cursor.visible or bar.ground == self._common or self._is_footer(bar):
            return False
        if all(self._ground(Stretch(row, 0, self._cols, None), 0) == bar.ground for row in range(bar.row)):
            return False  # title bars
        around = [self._texts[row] for row in (bar.row - 1, bar.row + 1) if 0 <= row < len(self._texts)]
        return any(around) and not self._is_header(bar.row)

    def _is_header(self, row: int) -> bool:
        """Whether a whole highlighted row has words over a row of numbers: the head of a table."""
        head, *under = self._texts[row : row + 2]
        return self._is_bar(self._lines[row][0]) and not _has_digit(head) and any(map(_has_digit, under))

    def _is_window_bar(self, it: Stretch) -> bool:
        """Whether it is the status bar of a window beside others: blank after its text, up to the screen's edge."""
        at_edge = it.start == 0 or it.end == self._cols
        text = cells(self._texts[it.row], it.start, it.size).ljust(it.size)
        return self._cursor.visible and at_edge and " " * 3 in text

    def _is_footer(self, it: Stretch) -> bool:
        """Whether all rows from this one to the last have something on its background: key bars and status lines."""
        below = self._lines[it.row :]
        return all(any(each.ground == it.ground and self._has_word(each, sign=True) for each in line) for line in below)

    def _is_on_border(self, it: Stretch) -> bool:
        """Whether it is the title in a frame's border."""
        line = self._texts[it.row]
        beside = cells(line, it.start - 1, 1) + cells(line, it.end, 1) if it.start else ""
        return len(beside) == 2 and all(char in "-─━═" for char in beside)

    def _is_check_mark(self, it: Stretch) -> bool:
        """Whether it is the text between the brackets of a check box."""
        line = self._texts[it.row]
        before = cells(line, it.start - 1, 1) if it.start else ""
        after = cells(line, it.end, 1)
        return before != "" and before in _OPEN and after == _CLOSE[_OPEN.index(before)]

    def _is_current(self, it: Stretch) -> bool:
        """Whether a highlight among a shell's output belongs to the running program."""
        return not self._cursor.visible or self._is_on(it) or self._text(it)[0] in POINTERS

    def _is_on(self, it: Stretch) -> bool:
        """Whether the cursor is on it. A hidden cursor in the corner was parked there."""
        cursor = self._cursor
        parked = not cursor.visible and not cursor.row and not cursor.col
        last = it.row == len(self._lines) - 1
        return it.row == cursor.row and it.start <= cursor.col < it.end and not parked and not last

    # What is where

    def _ground(self, it: Stretch, offset: int) -> "Ground | _Outside":
        """The background of most cells in the same columns, some rows further down."""
        row = it.row + offset
        if not 0 <= row < len(self._lines):
            return _OUTSIDE
        shares = Counter[Ground]()
        for other in self._lines[row]:
            if (shared := it.shared(other)) > 0:
                shares[other.ground] += shared
        return shares.most_common(1)[0][0]

    def _at(self, row: int, col: int) -> "Ground | _Outside":
        for each in self._lines[row]:
            if each.start <= col < each.end:
                return each.ground
        return _OUTSIDE

    def _is_bar(self, it: Stretch) -> bool:
        return it.start == 0 and it.end >= self._cols - 1

    def _is_edge_bar(self, it: Stretch) -> bool:
        return self._is_bar(it) and it.row in (0, len(self._lines) - 1)

    def _has_word(self, it: Stretch, *, sign: bool = False) -> bool:
        text = cells(self._texts[it.row], it.start, it.size)
        return any(char.isalnum() or (sign and not char.isspace()) for char in text)

    def _text(self, it: Stretch) -> str:
        start, end = it.start, it.end
        if it.size == 1:  # a check box: its line
            ground = self._at(it.row, it.start - 1)
            start = next(each.start for each in self._lines[it.row] if each.end == it.start)
            after = next((each for each in self._lines[it.row] if each.start == it.end), it)
            end = after.end if after.ground == ground else end
        return cells(self._texts[it.row], start, end - start).strip()

    def _whole(self, entry: Stretch) -> Stretch:
        """An entry with the highlights that only blanks separate from it: a menu's key, a check box."""
        start, end = entry.start, entry.end
        alike = [each for each in self._lines[entry.row] if each.ground == entry.ground]
        for each in alike:
            if each.start >= end and self._is_blank(entry.row, end, each.start):
                end = each.end
        for each in reversed(alike):
            if each.end <= start and self._is_blank(entry.row, each.end, start):
                start = each.start
        return entry._replace(start=start, end=end)

    def _is_blank(self, row: int, start: int, end: int) -> bool:
        return not cells(self._texts[row], start, end - start).strip()


class _Outside:
    """No background: there is no such cell."""


_OUTSIDE = _Outside()


def _stretches(number: int, runs: tuple[Run, ...], cols: int, cursor: Cursor) -> list[Stretch]:
    """A row, cut where the background changes. The cell under the cursor does not cut a highlight in two."""
    pieces: list[Stretch] = []
    at = 0
    for run in runs:
        end = min(run.start + run.len, cols)
        if run.start > at:
            pieces.append(Stretch(number, at, run.start, None))
        if end > at:
            pieces.append(Stretch(number, max(run.start, at), end, ground_of(run)))
            at = end
    if at < cols:
        pieces.append(Stretch(number, at, cols, None))
    merged = _merged(pieces)
    if cursor.visible and cursor.row == number:
        for before, under, after in zip(merged, merged[1:], merged[2:], strict=False):
            if under.size == 1 and under.start == cursor.col and before.ground == after.ground:
                index = merged.index(under)
                merged[index] = under._replace(ground=before.ground)
                return _merged(merged)
    return merged


def _merged(pieces: list[Stretch]) -> list[Stretch]:
    found = []
    for _, same in groupby(pieces, key=lambda piece: piece.ground):
        together = list(same)
        found.append(together[0]._replace(end=together[-1].end))
    return found


def ground_of(run: Run) -> Ground:
    """The background of a run as it is seen: for a reversed run, its foreground."""
    if "reverse" not in run.attrs:
        return run.bg
    return INK if run.fg is None else run.fg


def _place(it: Stretch) -> tuple[int, int]:
    return it.row, it.start


def _touch(one: Stretch, other: Stretch) -> bool:
    """Whether both are on one background in neighbouring rows, and one is mostly over or under the other."""
    if abs(one.row - other.row) != 1 or one.ground != other.ground:
        return False
    return one.shared(other) * 2 > min(one.size, other.size)


def _has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)
