"""Shortens headers if they make a table too wide, and writes the sentence that explains the abbreviations.

An abbreviation is used for one header only, and differs from every other header of its table.
"""

import re
from collections.abc import Sequence

from vantage.document.fit.tables.columns import LONGEST_WORD, Column
from vantage.document.nodes import Cell, Inline, Paragraph, Text
from vantage.text.width import take
from vantage.text.width import width as cells_of

LETTERS = (8, 6, 5, 4, 3, 2)
"""How many letters of a word are kept, tried in this order: no header is cut shorter than necessary."""

# A word, or a part of one: snake_case, kebab-case, camelCase, dotted.path.
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|[^\W_]+|\W|_")
_NEVER_SHORTER = 2


def abbreviations(columns: Sequence[Column], letters: int) -> dict[int, str]:
    """Column → its short header, for each column whose header is wider than its cells."""
    out: dict[int, str] = {}
    taken = {column.header.casefold(): column.header for column in columns}
    for index, column in enumerate(columns):
        if max(map(cells_of, column.header.split()), default=0) <= max(column.body_word, letters + 1):
            continue
        for length in range(letters, LONGEST_WORD):
            short = abbreviate(column.header, length)
            if cells_of(short) >= column.header_size:
                break
            if taken.setdefault(short.casefold(), column.header) == column.header:
                out[index] = short
                break
    return out


def abbreviate(header: str, letters: int) -> str:
    """Each long word cut to its first letters: `Authentication method` → `Auth. meth.`, `createdAt` → `creaAt`."""
    return " ".join([_shorter(word, letters) for word in header.split()])


def _shorter(word: str, letters: int) -> str:
    if cells_of(word) <= letters + 1:
        return word
    parts = _PART.findall(word)
    if len([part for part in parts if part.isalnum()]) > 1:
        return "".join([take(part, max(letters, _NEVER_SHORTER)) for part in parts])
    return take(word, max(letters, _NEVER_SHORTER)).rstrip(".,:;-_/") + "."


def short_cell(cell: Cell, short: str) -> Cell:
    """The abbreviation in the style that the header had."""
    marks = next((part.marks for part in cell.content if isinstance(part, Text)), 0)
    return Cell([Text(short, marks)])


def legend(header: Sequence[Cell], short: dict[int, str]) -> Paragraph:
    """`Auth. = Authentication; Req. = Requests`"""
    content: list[Inline] = []
    said: set[str] = set()
    for index, abbreviation in short.items():
        if abbreviation not in said:
            said.add(abbreviation)
            content += [Text(f"{'; ' if content else ''}{abbreviation} = "), *header[index].content]
    return Paragraph(content)
