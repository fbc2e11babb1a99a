"""What a screen shows, as values: whole (`ScreenSnapshot`) or as what changed (`ScreenDelta`).

The law: deltas applied in their order to any earlier snapshot give the later one. `Deltas` decides when one is due: not
too often, never in the middle of a frame that a program draws at once, always after the last change, and never without
a change.
"""

import math
from collections.abc import Iterable
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from wcwidth import wcwidth

from vantage.errors import InputError
from vantage.terminal.engines.values import BLANK, Cursor, Row, Run
from vantage.terminal.screen.screen import Screen

CURSOR_MARK = "▏"
PER_SECOND = 20
LONGEST_FRAME_MS = 1000
"""Seconds after which a frame that a program began and does not end (mode 2026) is shown unfinished."""


class Region(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of the screen: cells from a corner on, or whole rows."""

    row: Annotated[int, Meta(description="The first row, from 0")] = 0
    col: Annotated[int, Meta(description="The first column, from 0")] = 0
    rows: Annotated[int | None, Meta(description="How many rows; without it, all that follow")] = None
    cols: Annotated[int | None, Meta(description="How many columns; without it, all that follow")] = None


class RowText(msgspec.Struct, frozen=True, omit_defaults=True):
    row: Annotated[int, Meta(description="Which row of the screen, from 0")]
    text: Annotated[str, Meta(description="The row's text")]
    runs: Annotated[
        tuple[Run, ...] | None, Meta(description="Cells that do not look plain; absent where styles were not asked for")
    ] = None


class ScreenDelta(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="type", tag="screen_delta"):
    conversation_id: str | None = None
    rows: tuple[RowText, ...]
    cursor: Cursor
    title: str
    alt_screen: bool
    cols: int
    rows_count: int
    raw_offset: int | None = None
    block_id: str | None = None
    ts: int

    def to_dict(self) -> dict[str, Any]:
        return msgspec.to_builtins(self)  # type: ignore[no-any-return]


class ScreenSnapshot(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    rows: tuple[str, ...]
    cursor: Cursor
    title: str
    alt_screen: bool
    cols: int
    rows_count: int
    ts: int
    raw_offset: int | None = None
    block_id: str | None = None
    runs: tuple[tuple[Run, ...], ...] | None = None
    """The styles of each row, if they were requested."""

    @classmethod
    def of(
        cls,
        screen: Screen,
        ts: int,
        *,
        raw_offset: int | None = None,
        block_id: str | None = None,
        styled: bool = False,
    ) -> "ScreenSnapshot":
        """The present screen, even in the middle of a frame; `Deltas.snapshot` is never in the middle of one."""
        return _snapshot(screen.rows(), _state(screen), ts, raw_offset, block_id, styled=styled)

    def to_dict(self) -> dict[str, Any]:
        return msgspec.to_builtins(self)  # type: ignore[no-any-return]

    def delta(self, rows: Iterable[int], conversation_id: str | None = None) -> "ScreenDelta":
        """Some rows of it, with their styles, as a delta."""
        runs = self.runs or ((),) * len(self.rows)
        return ScreenDelta(
            conversation_id=conversation_id,
            rows=tuple(RowText(row, self.rows[row], runs[row]) for row in rows),
            cursor=self.cursor,
            title=self.title,
            alt_screen=self.alt_screen,
            cols=self.cols,
            rows_count=self.rows_count,
            raw_offset=self.raw_offset,
            block_id=self.block_id,
            ts=self.ts,
        )

    def text(self, *, trimmed: bool = True, cursor: bool = False, region: Region | None = None) -> str:
        """The rows as one text, for reading: without the empty rows at the end, with the cursor drawn on request."""
        lines = list(self.rows)
        if cursor and self.cursor.visible and self.cursor.row < len(lines):
            lines[self.cursor.row] = with_cursor(lines[self.cursor.row], self.cursor.col)
        if region:
            lines = [cells(line, region.col, region.cols) for line in _cut(lines, region)]
        if trimmed:
            while lines and not lines[-1]:
                lines.pop()
        return "\n".join(lines)

    def crop(self, region: Region) -> "ScreenSnapshot":
        """A part of it. The cursor is counted from the part's corner, and hidden when it is outside."""
        if region.row < 0 or region.col < 0 or region.row >= self.rows_count or region.col >= self.cols:
            raise InputError(
                f"the region begins at row {region.row}, column {region.col}: the screen has rows 0 to "
                f"{self.rows_count - 1} and columns 0 to {self.cols - 1}"
            )
        rows = tuple(cells(line, region.col, region.cols) for line in _cut(list(self.rows), region))
        width = min(region.cols if region.cols is not None else self.cols, self.cols - region.col)
        row, col = self.cursor.row - region.row, self.cursor.col - region.col
        inside = 0 <= row < len(rows) and 0 <= col < width
        runs = None
        if self.runs is not None:
            runs = tuple(_crop_runs(one, region.col, width) for one in _cut(list(self.runs), region))
        cursor = msgspec.structs.replace(
            self.cursor, row=max(row, 0), col=max(col, 0), visible=self.cursor.visible and inside
        )
        return msgspec.structs.replace(self, rows=rows, cols=width, rows_count=len(rows), cursor=cursor, runs=runs)


def apply(snapshot: ScreenSnapshot, delta: ScreenDelta) -> ScreenSnapshot:
    """The later snapshot."""
    count = delta.rows_count
    resized = (snapshot.cols, snapshot.rows_count) != (delta.cols, count)
    texts = [""] * count if resized else list(snapshot.rows)
    runs: list[tuple[Run, ...]] | None = None
    if snapshot.runs is not None:
        runs = [()] * count if resized else list(snapshot.runs)
    for row in delta.rows:
        texts[row.row] = row.text
        if runs is not None:
            runs[row.row] = row.runs or ()
    return ScreenSnapshot(
        rows=tuple(texts),
        cursor=delta.cursor,
        title=delta.title,
        alt_screen=delta.alt_screen,
        cols=delta.cols,
        rows_count=count,
        ts=delta.ts,
        raw_offset=delta.raw_offset,
        block_id=delta.block_id,
        runs=None if runs is None else tuple(runs),
    )


class _State(msgspec.Struct, frozen=True, gc=False):
    """The fields that every delta carries in full."""

    cursor: Cursor
    title: str
    alt_screen: bool
    cols: int
    rows: int


def _state(screen: Screen) -> _State:
    return _State(screen.cursor, screen.title, screen.alt_screen, screen.cols, screen.rows_count)


class RowNumbers:
    """The number of the delta in which each row of a screen last changed."""

    def __init__(self, rows: int, number: int = 0) -> None:
        self._numbers = [number] * rows

    def set(self, rows: Iterable[int], number: int) -> None:
        for row in rows:
            self._numbers[row] = number

    def after(self, number: int) -> list[int]:
        """The rows that changed after a delta."""
        return [row for row, changed in enumerate(self._numbers) if changed > number]


class Deltas:
    """The deltas of one screen, for one reader of them. `number` says how many there were."""

    def __init__(
        self,
        screen: Screen,
        *,
        per_second: float = PER_SECOND,
        styled: bool = False,
        conversation_id: str | None = None,
    ) -> None:
        if not per_second > 0:
            raise InputError(f"deltas come more than 0 times a second, not {per_second}")
        self._screen = screen
        self._interval = math.ceil(1000 / per_second)
        self._styled = styled
        self._conversation_id = conversation_id
        self._rows = screen.rows()
        self._revision = screen.revision
        self._state = _state(screen)
        self._fed = screen.fed
        self._last: int | None = None
        self._held: int | None = None
        """Since when an unfinished frame holds a delta back."""
        self.number = 0
        self._numbers = RowNumbers(len(self._rows))

    def due_at(self) -> int | None:
        """The seconds until the next delta is due (0: now), or None when nothing was fed."""
        if self._screen.fed == self._fed:
            return None
        due = 0 if self._last is None else self._last + self._interval
        if self._held is not None and self._screen.synchronized:
            due = max(due, self._held + LONGEST_FRAME_MS)
        return due

    def take(
        self, now_ms: int, *, raw_offset: int | None = None, block_id: str | None = None, force: bool = False
    ) -> ScreenDelta | None:
        """What changed since the last delta, if one is due; with `force` even if none is due yet."""
        due = self.due_at()
        if due is None:
            return None
        screen = self._screen
        if not force:
            if due > now_ms:
                return None
            if screen.synchronized and self._held is None:
                self._held = now_ms
                return None
        self._held = None
        self._fed = screen.fed
        state = _state(screen)
        changed = self._take_rows(screen, resized=(state.cols, state.rows) != (self._state.cols, self._state.rows))
        if not changed and state == self._state:
            return None
        self._state = state
        self._last = now_ms
        self.number += 1
        self._numbers.set(changed, self.number)
        return self._delta(changed, now_ms, raw_offset, block_id)

    def _take_rows(self, screen: Screen, *, resized: bool) -> list[int]:
        rows = screen.rows()
        if resized:
            self._rows = [BLANK] * len(rows)
            self._numbers = RowNumbers(len(rows), self.number + 1)
            candidates = list(range(len(rows)))
        else:
            candidates = screen.changed_rows(self._revision)
        self._revision = screen.revision
        before, self._rows = self._rows, rows
        return [row for row in candidates if self._differs(before[row], rows[row])]

    def _differs(self, before: Row, after: Row) -> bool:
        return before.text != after.text or (self._styled and before.runs != after.runs)

    def _delta(self, rows: list[int], ts: int, raw_offset: int | None, block_id: str | None) -> ScreenDelta:
        state = self._state
        return ScreenDelta(
            conversation_id=self._conversation_id,
            rows=tuple(
                RowText(row, self._rows[row].text, self._rows[row].runs if self._styled else None) for row in rows
            ),
            cursor=state.cursor,
            title=state.title,
            alt_screen=state.alt_screen,
            cols=state.cols,
            rows_count=state.rows,
            raw_offset=raw_offset,
            block_id=block_id,
            ts=ts,
        )

    def since(
        self, number: int, ts: int, *, raw_offset: int | None = None, block_id: str | None = None
    ) -> ScreenDelta | None:
        """All changes after delta `number` as one delta: a spinner that turned a hundred times is one row."""
        if not 0 <= number <= self.number:
            raise InputError(
                f"there were {self.number} deltas: a number from 0 to {self.number} is needed, not {number}"
            )
        if number == self.number:
            return None
        return self._delta(self._numbers.after(number), ts, raw_offset, block_id)

    def snapshot(self, ts: int, *, raw_offset: int | None = None, block_id: str | None = None) -> ScreenSnapshot:
        """The screen as of the last delta."""
        return _snapshot(self._rows, self._state, ts, raw_offset, block_id, styled=self._styled)


def _snapshot(
    rows: list[Row], state: _State, ts: int, raw_offset: int | None, block_id: str | None, *, styled: bool
) -> ScreenSnapshot:
    return ScreenSnapshot(
        rows=tuple(row.text for row in rows),
        cursor=state.cursor,
        title=state.title,
        alt_screen=state.alt_screen,
        cols=state.cols,
        rows_count=state.rows,
        ts=ts,
        raw_offset=raw_offset,
        block_id=block_id,
        runs=tuple(row.runs for row in rows) if styled else None,
    )


def _cut(lines: list[Any], region: Region) -> list[Any]:
    return lines[region.row :] if region.rows is None else lines[region.row : region.row + region.rows]


def _crop_runs(runs: tuple[Run, ...], start: int, width: int) -> tuple[Run, ...]:
    found = []
    for run in runs:
        first, end = max(run.start - start, 0), min(run.start + run.len - start, width)
        if first < end:
            found.append(msgspec.structs.replace(run, start=first, len=end - first))
    return tuple(found)


def cell_of(text: str, index: int) -> int:
    """The cell in which the character at `index` begins."""
    return index if text.isascii() else sum(max(wcwidth(char), 0) for char in text[:index])


def index_of(text: str, cell: int, side: Literal["before", "after"] = "before") -> int:
    """The character that begins in `cell` or covers it; `after` is the first that begins behind a covered cell."""
    if text.isascii():
        return min(cell, len(text))
    at = 0
    for index, char in enumerate(text):
        width = max(wcwidth(char), 0)
        if at >= cell and width:
            return index
        if at < cell < at + width:
            return index if side == "before" else index + 1
        at += width
    return len(text)


def cells(text: str, start: int, count: int | None = None) -> str:
    """The characters that begin in `count` cells from `start` on."""
    first = index_of(text, start, "after")
    last = len(text) if count is None else index_of(text, start + count, "after")
    return text[first:last].rstrip(" ")


def with_cursor(text: str, col: int) -> str:
    """A row with the cursor drawn before the character that it stands on."""
    padding = col - cell_of(text, len(text))
    if padding >= 0:
        return text + " " * padding + CURSOR_MARK
    index = index_of(text, col)
    return text[:index] + CURSOR_MARK + text[index:]
