"""Other forms of a table: even rows, rows as columns, records, a list. No cell's text is lost on the way."""

from vantage.document.fit.tables.columns import cell_text
from vantage.document.nodes import (
    Align,
    Block,
    Cell,
    Inline,
    Item,
    ListBlock,
    Paragraph,
    Records,
    Table,
    Text,
)

EMPTY = Cell([])


def even(table: Table) -> Table:
    """The table with as many cells in every row as in the longest, and as many alignments."""
    count = max([len(table.header), *map(len, table.rows)])
    if len(table.header) == len(table.alignments) == count and all(len(row) == count for row in table.rows):
        return table
    none: list[Align] = ["none"] * count
    return Table(
        header=_padded(table.header, count),
        rows=[_padded(row, count) for row in table.rows],
        alignments=[*table.alignments, *none][:count],
        truncate=table.truncate,
    )


def _padded(cells: list[Cell], count: int) -> list[Cell]:
    return cells + [EMPTY] * (count - len(cells))


def select(table: Table, indexes: list[int], widths: list[int], *, truncate: bool = False) -> Table:
    """Some columns of a table, fitted."""
    return Table(
        header=[table.header[i] for i in indexes],
        rows=[[row[i] for i in indexes] for row in table.rows],
        alignments=[table.alignments[i] for i in indexes],
        widths=widths,
        truncate=truncate,
    )


def transposed(table: Table) -> Table:
    """Rows as columns: the first column becomes the header, the header the first column."""
    header, *rows = [list(cells) for cells in zip(table.header, *table.rows, strict=True)]
    alignments: list[Align] = ["none"] * len(header)
    return Table(header=header, rows=rows, alignments=alignments)


def in_records(table: Table) -> list[Block]:
    """A block of `key: value` for each row. With an empty key, or a single column, the value stands alone."""
    if len(table.header) == 1:
        return _in_list(table)
    if not table.rows:
        return _header_only(table)
    keys = [cell.content if cell_text(cell.content).strip() else [] for cell in table.header]
    records: list[list[tuple[list[Inline], list[Inline]]]] = []
    for row in table.rows:
        record = [(key, cell.content) for key, cell in zip(keys, row, strict=True) if key or cell.content]
        if record:
            records.append(record)
    return [Records(records)] if records else []


def _in_list(table: Table) -> list[Block]:
    """A table of one column: its header, then a list."""
    out: list[Block] = []
    title = table.header[0].content
    if cell_text(title).strip():
        out.append(Paragraph(title))
    if table.rows:
        out.append(ListBlock([Item([Paragraph(row[0].content)] if row[0].content else []) for row in table.rows]))
    return out


def _header_only(table: Table) -> list[Block]:
    content: list[Inline] = []
    for cell in table.header:
        if cell.content:
            content += [Text(", "), *cell.content] if content else cell.content
    return [Paragraph([*content, Text(" (no rows)")])] if content else []
