"""Tables that do not fit, changed by a policy: each mode lists forms, and the first one that reads well is used.

The result always fits: every `Table` is at most as wide as the display, with its borders. Every cell's text is kept,
except under `truncate`; an abbreviated header is explained below its table.
"""

from collections.abc import Callable
from functools import cached_property

import msgspec

from vantage.document.fit.tables.abbreviate import LETTERS, abbreviations, legend, short_cell
from vantage.document.fit.tables.columns import NARROWEST, Column, columns_of, readable_widths, share, squeezed_widths
from vantage.document.fit.tables.groups import MAX_GROUPS, forced_groups, readable_groups
from vantage.document.fit.tables.reshape import even, in_records, select, transposed
from vantage.document.fit.walk import rewrite
from vantage.document.nodes import Block, Table, table_chrome
from vantage.presentation import PresentationContext

NARROW_DISPLAY = 60
UNLIMITED = 1_000_000


class Draft:
    """A table while a form for it is chosen."""

    def __init__(self, table: Table, width: int, most_columns: int = UNLIMITED) -> None:
        self.table = table
        self.width = width
        self.most_columns = most_columns
        self.count = len(table.header)
        self.room = width - table_chrome(self.count)
        """Cells for text, with all columns side by side."""
        self.most_lines = 6 if width >= NARROW_DISPLAY else 4

    @cached_property
    def columns(self) -> list[Column]:
        return columns_of(self.table)

    @property
    def side_by_side(self) -> bool:
        """Whether all columns may be in one table, and each could have a cell. Checked before anything is measured."""
        return self.count <= self.most_columns and self.room >= self.count

    def with_widths(self, widths: list[int], *, truncate: bool = False) -> Table:
        return msgspec.structs.replace(self.table, widths=widths, truncate=truncate)


Rung = Callable[[Draft], list[Block] | None]
"""One form of a table; `None` when it does not fit or would not read well."""


def as_is(draft: Draft) -> list[Block] | None:
    if not draft.side_by_side:
        return None
    widths = draft.table.widths
    if widths is not None and len(widths) != draft.count:
        return None
    fits = sum(widths if widths is not None else [column.natural for column in draft.columns]) <= draft.room
    return [draft.table] if fits else None


def fitted_before(draft: Draft) -> list[Block] | None:
    return as_is(draft) if draft.table.widths is not None else None


def wrapped(draft: Draft) -> list[Block] | None:
    widths = readable_widths(draft.columns, draft.room, draft.most_lines) if draft.side_by_side else None
    return [draft.with_widths(widths)] if widths is not None else None


def abbreviated(draft: Draft) -> list[Block] | None:
    if not draft.side_by_side:
        return None
    for letters in LETTERS:
        short = abbreviations(draft.columns, letters)
        columns = [c.with_header(short[i]) if i in short else c for i, c in enumerate(draft.columns)]
        widths = readable_widths(columns, draft.room, draft.most_lines) if short else None
        if widths is not None:
            header = [short_cell(c, short[i]) if i in short else c for i, c in enumerate(draft.table.header)]
            table = msgspec.structs.replace(draft.table, header=header, widths=widths, truncate=False)
            return [table, legend(draft.table.header, short)]
    return None


def grouped(draft: Draft) -> list[Block] | None:
    if draft.count - 1 > MAX_GROUPS * max(draft.width // 4, 1):
        return None
    # on a narrow display, records are easier to read than wrapped rows in several groups
    most_lines = draft.most_lines if draft.width >= NARROW_DISPLAY else 1
    groups = readable_groups(draft.columns, draft.width, draft.most_columns, most_lines)
    return [select(draft.table, group.indexes, group.widths) for group in groups] if groups else None


def squeezed(draft: Draft) -> list[Block] | None:
    widths = squeezed_widths(draft.columns, draft.room) if draft.side_by_side else None
    return [draft.with_widths(widths)] if widths is not None else None


def split(draft: Draft) -> list[Block] | None:
    groups = forced_groups(draft.columns, draft.width, draft.most_columns)
    return [select(draft.table, group.indexes, group.widths) for group in groups] if groups else None


def cut(draft: Draft) -> list[Block] | None:
    if not draft.side_by_side:
        return None
    natural = [column.natural for column in draft.columns]
    widths = share([min(size, NARROWEST) for size in natural], natural, draft.room)
    return [draft.with_widths(widths, truncate=True)] if widths is not None else None


def split_and_cut(draft: Draft) -> list[Block] | None:
    groups = forced_groups(draft.columns, draft.width, draft.most_columns, cut=True)
    return [select(draft.table, group.indexes, group.widths, truncate=True) for group in groups] if groups else None


def flipped(draft: Draft) -> list[Block] | None:
    """Rows as columns, where that fits; with widths always set, so that it is not flipped back the next time."""
    other = Draft(transposed(draft.table), draft.width, draft.most_columns)
    if other.side_by_side and sum([column.natural for column in other.columns]) <= other.room:
        return [other.with_widths([column.natural for column in other.columns])]
    return wrapped(other) or grouped(other)


def records(draft: Draft) -> list[Block] | None:
    return in_records(draft.table)


# Form → its name in the notes. A table that keeps its form has lost nothing.
_NOTES: dict[Rung, str] = {
    wrapped: "wrapped cells",
    squeezed: "wrapped cells",
    abbreviated: "abbreviated headers",
    grouped: "column groups",
    split: "column groups",
    cut: "truncated cells",
    split_and_cut: "truncated cells",
    flipped: "transposed",
    records: "records",
}

LADDERS: dict[str, tuple[Rung, ...]] = {
    "auto": (as_is, wrapped, abbreviated, grouped, records),
    "wrap": (as_is, squeezed, split, records),
    "truncate": (as_is, cut, split_and_cut, records),
    "transpose": (fitted_before, flipped, records),
    "records": (records,),
    "off": (as_is, squeezed, split, records),
    "unsupported": (records,),
}
"""Mode → the forms to try. The last one always fits: surfaces wrap records and lists like any other text."""


def tables(blocks: list[Block], context: PresentationContext, notes: list[str]) -> list[Block]:
    mode: str = context.table_mode
    if mode == "auto" and not context.supports_tables:
        mode = "unsupported"
    most = context.max_table_columns if mode != "off" else None

    def replace(block: Block, width: int) -> list[Block] | None:
        if not isinstance(block, Table):
            return None
        new, note = fit_table(block, width, mode, UNLIMITED if most is None else most)
        if note and note not in notes:
            notes.append(note)
        return None if len(new) == 1 and new[0] is block else new

    return rewrite(blocks, replace, context.content_width)


def has_wide_table(blocks: list[Block], context: PresentationContext) -> bool:
    """Whether a table has more columns, or more cells side by side, than the display takes."""
    most = context.max_table_columns or UNLIMITED
    found = False

    def look(block: Block, width: int) -> list[Block] | None:
        nonlocal found
        if isinstance(block, Table) and not found:
            draft = Draft(even(block), width, most)
            found = draft.count > 0 and as_is(draft) is None
        return None

    rewrite(blocks, look, context.content_width)
    return found


def fit_table(table: Table, width: int, mode: str, most_columns: int = UNLIMITED) -> tuple[list[Block], str]:
    """A table in the first form of its mode's ladder that fits, and what that form is called."""
    draft = Draft(even(table), width, most_columns)
    if not draft.count:
        return [], ""
    for rung in LADDERS[mode]:
        blocks = rung(draft)
        if blocks is not None:
            name = "list" if rung is records and draft.count == 1 else _NOTES.get(rung, "")
            return blocks, f"table → {name}" if name else ""
    return in_records(draft.table), "table → records"
