"""Column groups: one table as several, each with the key (first) column and some of the others."""

from collections.abc import Callable, Sequence

import msgspec

from vantage.document.fit.tables.columns import LAST_RESORT, LONGEST_WORD, NARROWEST, Column, readable_widths, share
from vantage.document.nodes import table_chrome

MAX_GROUPS = 4
"""More groups than this are harder to read than records."""


class Group(msgspec.Struct, frozen=True):
    indexes: list[int]
    """The columns of a group, the key column first."""
    widths: list[int]


Need = Callable[[Column], int]

_WHOLE_WORDS: tuple[Need, ...] = (
    lambda column: column.floor(LONGEST_WORD),
    lambda column: column.floor(NARROWEST),
    lambda column: column.floor(LAST_RESORT),
    lambda column: column.least,
)
_CUT: tuple[Need, ...] = (
    lambda column: min(column.natural, NARROWEST),
    lambda column: min(column.natural, LAST_RESORT),
    lambda _: 1,
)


def readable_groups(columns: Sequence[Column], width: int, most: int, most_lines: int) -> list[Group] | None:
    """As few groups as possible that read well; `None` when records would read better.

    The key must be short and present in every row; a group of the key and one more column would only be a record.
    """
    key, *others = columns
    if key.natural > width // 3 or not all(text.strip() for text in key.body):
        return None
    needs = [column.comfortable for column in others]
    room = width - key.natural - table_chrome(1)
    for count in range(2, MAX_GROUPS + 1):
        if len(others) < 2 * count:
            return None
        groups = _fitted(columns, _balanced(needs, room, most - 1, count), width, most_lines)
        if groups is not None:
            return groups
    return None


def forced_groups(columns: Sequence[Column], width: int, most: int, *, cut: bool = False) -> list[Group] | None:
    """As many groups as necessary; `None` when not even the key and one column fit side by side."""
    if len(columns) < 2 or most < 2:
        return None
    key, *others = columns
    for need in _CUT if cut else _WHOLE_WORDS:
        first = min(need(key), max(width // 3, 1 if cut else key.least))
        needs = [need(column) for column in others]
        room = width - first - table_chrome(1)
        if max(needs) + 3 > room:
            continue
        groups: list[Group] = []
        for indexes in _packed(needs, room, most - 1):
            low = [first, *[needs[index - 1] for index in indexes]]
            high = [columns[index].natural for index in (0, *indexes)]
            widths = share(low, high, width - table_chrome(len(low)))
            if widths is None:  # impossible: they were packed by the same sums
                return None
            groups.append(Group([0, *indexes], widths))
        return groups
    return None


def _fitted(
    columns: Sequence[Column], chunks: list[list[int]] | None, width: int, most_lines: int
) -> list[Group] | None:
    if chunks is None:
        return None
    groups: list[Group] = []
    for chunk in chunks:
        indexes = [0, *chunk]
        room = width - table_chrome(len(indexes))
        widths = readable_widths([columns[index] for index in indexes], room, most_lines)
        if widths is None:
            return None
        groups.append(Group(indexes, widths))
    return groups


def _packed(needs: Sequence[int], room: int, most: int) -> list[list[int]]:
    """Indexes of the columns behind the key, in order, each chunk filled until `room` or `most` is used up."""
    chunks: list[list[int]] = [[]]
    used = 0
    for index, need in enumerate(needs, start=1):
        if chunks[-1] and (used + need + 3 > room or len(chunks[-1]) >= most):
            chunks.append([])
            used = 0
        chunks[-1].append(index)
        used += need + 3
    return chunks


def _balanced(needs: Sequence[int], room: int, most: int, count: int) -> list[list[int]] | None:
    """At most `count` chunks of about the same width."""
    if most < 1 or max(needs) + 3 > room or len(_packed(needs, room, most)) > count:
        return None
    most = min(most, -(-len(needs) // count) + 1)
    low, high = max(needs) + 3, room
    while low < high:
        middle = (low + high) // 2
        if len(_packed(needs, middle, most)) <= count:
            high = middle
        else:
            low = middle + 1
    chunks = _packed(needs, low, most)
    return chunks if len(chunks) <= count else _packed(needs, room, len(needs))
