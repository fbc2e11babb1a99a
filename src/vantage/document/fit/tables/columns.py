"""A table's columns as they will be drawn: what each needs, and how cells are shared between them.

Cells are measured as the text that `document.inline` draws, so a width found here is the width on the display.
"""

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

from vantage.document.inline import spans_of
from vantage.document.nodes import Cell, Inline, Table, Text
from vantage.text.spans import text_of
from vantage.text.width import cells, one_cell_each
from vantage.text.width import width as cells_of

LONGEST_WORD = 20
"""A longer word (an address, a hash) does not widen a column: it is cut."""
NARROWEST = 6
"""The least width of a column while others have room."""
LAST_RESORT = 3
"""The least width of a column while another form of the table is possible."""
PARAGRAPH = 32
"""A column this wide reads as a paragraph, however many lines its cells take."""

# Where `text.wrap` may break inside a word: behind a `/` or `-` that has no `-` or `/` beside it.
_JOINT = re.compile(r"(?<=[^/-][/-])(?=[^/-])")


class Texts:
    """The cells under a column's header. Each measure of them is taken once, when it is first needed."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        self.sizes = [size_of(text) for text in texts]
        """Cells of each on one line; of its widest line, when it has hard breaks."""
        self.natural = max(self.sizes, default=0)

    @cached_property
    def word(self) -> int:
        """Cells of the longest piece that wrapping cannot break."""
        return longest_word("\n".join(self.texts))

    @cached_property
    def grapheme(self) -> int:
        return max(map(_widest_grapheme, self.texts), default=1)


class Column:
    """One column: its header and the texts of its cells, measured."""

    __slots__ = ("_cells", "_header_word", "header", "header_size", "natural")

    def __init__(self, header: str, texts: Texts) -> None:
        self.header = header
        self.header_size = size_of(header)
        self._header_word = -1
        self._cells = texts
        self.natural = max(self.header_size, texts.natural, 1)
        """Cells when nothing wraps."""

    def with_header(self, header: str) -> "Column":
        return Column(header, self._cells)

    @property
    def body(self) -> list[str]:
        return self._cells.texts

    @property
    def body_word(self) -> int:
        return self._cells.word

    @property
    def word(self) -> int:
        if self._header_word < 0:
            self._header_word = longest_word(self.header)
        return max(self.body_word, self._header_word, 1)

    @property
    def least(self) -> int:
        """Cells of the widest grapheme: in less, nothing can be drawn."""
        return max(_widest_grapheme(self.header), self._cells.grapheme)

    def floor(self, longest: int) -> int:
        """The least cells at which words up to `longest` stay whole."""
        return max(min(self.word, longest), self.least)

    @property
    def comfortable(self) -> int:
        """The least cells at which the column reads well."""
        return max(self.floor(LONGEST_WORD), min(self.natural, NARROWEST))

    def lines(self, width: int) -> int:
        """The estimated lines of the tallest cell at a width."""
        tallest = _lines(self.header, self.header_size, width)
        for text, size in zip(self._cells.texts, self._cells.sizes, strict=True):
            if size > width or "\n" in text:
                tallest = max(tallest, _lines(text, size, width))
        return tallest


def columns_of(table: Table) -> list[Column]:
    """The columns of a table whose rows are even."""
    body = [[cell_text(cell.content) for cell in row] for row in table.rows]
    by_column = list(zip(*body, strict=True)) if body else [()] * len(table.header)
    return [Column(header_text(cell), Texts(list(texts))) for cell, texts in zip(table.header, by_column, strict=True)]


def header_text(cell: Cell) -> str:
    return cell_text(cell.content)


def cell_text(content: list[Inline]) -> str:
    """The drawn text of a cell, without styles."""
    if len(content) == 1:
        part = content[0]
        if type(part) is Text and part.link is None and part.text.isascii() and part.text.isprintable():
            return part.text
    return text_of(spans_of(content)) if content else ""


def size_of(text: str) -> int:
    if text.isascii() and "\n" not in text:
        return len(text)
    return max([cells_of(line) for line in text.split("\n")])


def longest_word(text: str) -> int:
    """Cells of the longest piece that `text.wrap` does not break."""
    text = text.replace("\n", " ")
    pieces = text.split(" ")
    if "/" in text or "-" in text:
        pieces = [piece for word in pieces for piece in _JOINT.split(word)]
    if one_cell_each(text):
        return max(map(len, pieces))
    return max([len(piece) if one_cell_each(piece) else _unbroken(piece) for piece in pieces])


def _unbroken(piece: str) -> int:
    """The longest run in a word with wide characters: lines break between those."""
    longest = run = 0
    for _, cluster_width in cells(piece):
        run = run + cluster_width if cluster_width < 2 else cluster_width
        longest = max(longest, run)
    return longest


def _widest_grapheme(text: str) -> int:
    if one_cell_each(text.replace("\n", " ")):
        return 1
    return max([1, *[cluster_width for cluster, cluster_width in cells(text) if cluster != "\n"]])


def _lines(text: str, size: int, width: int) -> int:
    if "\n" not in text:
        return -(-size // width)
    return sum([max(-(-cells_of(line) // width), 1) for line in text.split("\n")])


def share(low: Sequence[int], high: Sequence[int], room: int) -> list[int] | None:
    """Widths between `low` and `high` that take at most `room` cells: narrow columns whole, the others alike.

    Water-filling: one level for all, cut off where a column needs less or must have more. `None` when even `low`
    is too much.
    """
    if sum(low) > room:
        return None
    bounds = [(least, max(least, most)) for least, most in zip(low, high, strict=True)]
    if sum([most for _, most in bounds]) <= room:
        return [most for _, most in bounds]
    level, above = 0, max(high)
    while above - level > 1:
        middle = (level + above) // 2
        if sum([min(max(middle, least), most) for least, most in bounds]) <= room:
            level = middle
        else:
            above = middle
    widths = [min(max(level, least), most) for least, most in bounds]
    spare = room - sum(widths)
    for position, (_, most) in enumerate(bounds):
        if spare and widths[position] == level < most:
            widths[position] += 1
            spare -= 1
    return widths


def flattest(low: Sequence[int], high: Sequence[int], room: int) -> list[int] | None:
    """Widths at which the tallest cell takes as few lines as possible: long texts get more than their share."""
    if sum(low) > room:
        return None
    bounds = list(zip(low, high, strict=True))
    few, many = 0, max(high)
    while many - few > 1:
        lines = (few + many) // 2
        if sum([max(least, -(-most // lines)) for least, most in bounds]) <= room:
            many = lines
        else:
            few = lines
    return share([max(least, -(-most // many)) for least, most in bounds], high, room) or share(low, high, room)


def readable_widths(columns: Sequence[Column], room: int, most_lines: int) -> list[int] | None:
    """Widths at which cells wrap and still read well: words whole, and no narrow column of many lines."""
    low = [column.comfortable for column in columns]
    if sum(low) > room:
        return None
    high = [column.natural for column in columns]
    for allocate in (share, flattest):
        widths = allocate(low, high, room)
        if widths is not None and all(
            width >= PARAGRAPH or column.lines(width) <= most_lines
            for column, width in zip(columns, widths, strict=True)
        ):
            return widths
    return None


def squeezed_widths(columns: Sequence[Column], room: int) -> list[int] | None:
    """Widths that fit, cutting words if necessary; `None` when columns would be too narrow to mean anything."""
    if room < len(columns):
        return None
    steps = [[column.floor(longest) for column in columns] for longest in (LAST_RESORT, NARROWEST, LONGEST_WORD)]
    steps.append([column.natural for column in columns])
    for low, high in reversed(list(pairwise(steps))):
        widths = share(low, high, room)
        if widths is not None:
            return widths
    return None
