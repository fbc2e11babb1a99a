"""How many cells a text takes, and where it may be cut: always by grapheme cluster.

Most text is made of characters that are one cell each. For those a cell is a character, and the standard
library's string methods do the work; everything else goes through wcwidth.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import category

# Characters that are one cell wide on their own and never join a neighbour: ASCII, Latin, Greek, Cyrillic, general
# punctuation without joiners and bidi controls, arrows, mathematics, box drawing. Anything that may be emoji is absent.
_ONE_CELL = re.compile(
    "[ -~\u00a1-\u00a8\u00aa-\u00ac\u00af-\u02ff\u0370-\u0377\u0384-\u038a\u038e-\u03a1\u03a3-\u0482"
    "\u048a-\u052f\u2010-\u2027\u2030-\u203b\u2190-\u2193\u2200-\u22ff\u2500-\u25a9\u2713-\u2715]*"
).fullmatch

_FLAGS = re.compile("[\U0001f1e6-\U0001f1ff]{64}(?=[\U0001f1e6-\U0001f1ff])")
"""32 flags with more after them: a place to cut a row of flags between two."""

ELLIPSIS = "…"
_BASE = "a"
"""A letter that a vowel sign can follow."""


# wcwidth is loaded with the first text that needs it: its import costs more than most programs' whole output.
def _measure(text: str) -> int:
    from wcwidth import width as measure  # noqa: PLC0415

    # wcwidth gives a vowel sign no cell where nothing stands before it, and a virama there one too many. Lines stand
    # behind a bullet or an indent, so a text that begins with a mark is measured as if a letter came first.
    first = _BASE if category(text[:1] or " ").startswith("M") else ""
    # wcwidth looks back to the first of a row of flags at each of them: a long row is measured in parts.
    parts = _FLAGS.sub("\\g<0>\n", text).split("\n") if len(text) > 256 else [text]
    return sum([measure(part, control_codes="ignore") for part in [first + parts[0], *parts[1:]]]) - len(first)


def _clusters(text: str) -> Iterator[str]:
    from wcwidth import iter_graphemes  # noqa: PLC0415

    return iter_graphemes(text)


def one_cell_each(text: str) -> bool:
    """Whether every character is exactly one cell and one grapheme, so that `len` is the width."""
    return (text.isascii() and text.isprintable()) or _ONE_CELL(text) is not None


@lru_cache(maxsize=4096)
def _width(text: str) -> int:
    return _measure(text)


def width(text: str) -> int:
    """Cells that `text` takes on a terminal; `text` is one line without control bytes."""
    if (text.isascii() and text.isprintable()) or _ONE_CELL(text):
        return len(text)
    return _width(text) if len(text) <= 256 else _measure(text)


def graphemes(text: str) -> Iterator[str]:
    return iter(text) if _ONE_CELL(text) else _clusters(text)


def cells(text: str) -> list[tuple[str, int]]:
    """The grapheme clusters of a text with the cells each adds to it."""
    return [(cluster, width(cluster) or _joined(cluster)) for cluster in _clusters(text)]


def _joined(cluster: str) -> int:
    """Cells of a cluster that has none alone and may take one after another character."""
    return _width(_BASE + cluster) - 1


def take(text: str, limit: int) -> str:
    """The longest start of `text` that fits into `limit` cells, cut between graphemes."""
    if _ONE_CELL(text):
        return text[: max(limit, 0)]
    used = position = 0
    for cluster, cluster_width in cells(text):
        if used + cluster_width > limit:
            break
        used += cluster_width
        position += len(cluster)
    return text[:position]


def take_end(text: str, limit: int) -> str:
    """The longest end of `text` that fits into `limit` cells."""
    if _ONE_CELL(text):
        return text[max(len(text) - limit, 0) :] if limit > 0 else ""
    used = length = 0
    for cluster, cluster_width in reversed(cells(text)):
        if used + cluster_width > limit:
            break
        used += cluster_width
        length += len(cluster)
    return text[len(text) - length :] if length else ""


def truncate(text: str, limit: int, *, middle: bool = False, ellipsis: str = ELLIPSIS) -> str:
    """`text` in at most `limit` cells, the ellipsis being one of them."""
    if width(text) <= limit:
        return text
    room = limit - width(ellipsis)
    if room < 0:
        return take(ellipsis, limit)
    if not middle:
        return take(text, room) + ellipsis
    head = take(text, (room + 1) // 2)
    return head + ellipsis + take_end(text, room - width(head))


def pad(text: str, cells_wanted: int) -> str:
    """`text` with spaces up to `cells_wanted` cells; a longer one is left alone."""
    return text + " " * (cells_wanted - width(text))
