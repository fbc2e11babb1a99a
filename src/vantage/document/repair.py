"""Repairs tables before parsing: markdown in, markdown out.

The grammar would break three things: a row with more cells than the header (usually a pipe in a code span) would lose
the rest, a line of prose right below a table would become a row, and a table drawn with `+---+` would be joined to a
paragraph. A repair depends only on the block that it changes: a part of a document, cut at a blank line between its
blocks, is repaired like the whole.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

import pyromark

from vantage.document.grid import pipe_table

# It starts with a newline, never with `^`: a literal first character makes the search fast.
_DELIMITER = re.compile(r"\n[ \t>]*[|:-][-|: \t]*(?:\n|\Z)")
_TICKS = re.compile(r"(?<!\\)(\\*)(`+)")
_PIPE = re.compile(r"\\.|\|", re.DOTALL)
_PREFIX = re.compile(r"[ \t>]*")

Edit = tuple[int, int, str]
"""Replace from one byte offset to another."""


def repaired(text: str, parser: pyromark.Markdown) -> str:
    """`text`, unchanged (and hardly searched) unless it contains one of these tables."""
    grids = "+--" in text
    if not grids and not _suspect_table(text):
        return text
    source = text.encode()
    parts: list[bytes] = []
    done = 0
    for start, end, replacement in _edits(source, parser.events_with_range(text), grids):
        parts += source[done:start], replacement.encode()
        done = end
    return (b"".join(parts) + source[done:]).decode() if parts else text


def _suspect_table(text: str) -> bool:
    """Whether some row may have to be changed. It may return True needlessly, never False wrongly."""
    position = most = 0
    for match in _DELIMITER.finditer(text):
        delimiter = match.group()
        columns = len(delimiter.strip(" \t>\n|").split("|"))
        if match.end() <= position:  # a row of the table before, whose rows have been counted: each once
            if columns < most:
                return True
            continue
        position, most = match.end(), columns
        while position < len(text) and "|" in delimiter:
            end = text.find("\n", position)
            line = text[position : end if end >= 0 else len(text)].lstrip(" \t>").rstrip(" \t")
            if not line:
                break
            cells = line.count("|") + 1
            if cells == 1 or cells - line.startswith("|") - line.endswith("|") > columns:
                return True
            if end < 0:
                break
            position = end + 1
    return False


def _edits(source: bytes, events: Iterator[tuple[Any, Any]], grids: bool) -> Iterator[Edit]:
    depth = columns = 0
    rows: list[tuple[int, str]] = []
    header = ""
    for event, span in events:
        if event.__class__ is str:
            continue
        tag = event.get("Start")
        if tag is not None:
            depth += 1
            if tag == "TableRow":
                rows.append((span["start"], source[span["start"] : span["end"]].decode().rstrip("\n")))
            elif tag == "TableHead":
                header = source[span["start"] : span["end"]].decode()
            elif tag == "Paragraph":
                if grids and b"+--" in source[span["start"] : span["end"]]:
                    yield from _grid_edits(source, span["start"], span["end"])
            elif tag.__class__ is dict and "Table" in tag:
                columns = len(tag["Table"])
                rows = []
        elif "End" in event:
            depth -= 1
            if event["End"] == "Table":
                yield from _row_edits(rows, columns, may_end=depth == 0 and header.startswith("|"))


def _row_edits(rows: list[tuple[int, str]], columns: int, *, may_end: bool) -> Iterator[Edit]:
    kept = len(rows)
    if may_end:
        while kept and "|" not in rows[kept - 1][1]:
            kept -= 1
    for start, row in rows[:kept]:
        if row.count("|") >= columns:
            offset, done = start, 0
            for position in _surplus_pipes(row, columns):
                offset += len(row[done:position].encode())
                done = position
                yield offset, offset, "\\"
    if kept < len(rows):
        offset = rows[kept][0]
        yield offset, offset, "\n"


def _surplus_pipes(row: str, columns: int) -> list[int]:
    """Which pipes to escape so that no cell is beyond the last column: those in code first, then the last ones."""
    inner = [match.start() for match in _PIPE.finditer(row) if match.group() == "|"]
    if inner and not row[: inner[0]].strip():
        inner = inner[1:]
    # empty cells at the end have nothing to lose
    inked = len(row.rstrip(" \t|"))
    while inner and inner[-1] >= inked - 1:
        inner.pop()
    if len(inner) < columns:
        return []
    in_code: list[int] = []
    between: list[int] = []
    spans = _code_spans(row)
    for at in inner:
        index = bisect_right(spans, (at, 0)) - 1
        (in_code if index >= 0 and at < spans[index][1] else between).append(at)
    surplus = len(between) - (columns - 1)
    return sorted(in_code + (between[-surplus:] if surplus > 0 else []))


def _code_spans(row: str) -> list[tuple[int, int]]:
    """From where to where code spans reach: from a run of backticks to the next that is as long.

    An escaped run opens none; inside code a backslash is one, and escapes nothing.
    """
    runs = list(_TICKS.finditer(row))
    following: dict[str, list[int]] = {}
    for index in range(len(runs) - 1, -1, -1):
        following.setdefault(runs[index][2], []).append(index)
    spans: list[tuple[int, int]] = []
    index = 0
    while index < len(runs):
        opening = runs[index]
        closing = following[opening[2]]
        while closing and closing[-1] <= index:
            closing.pop()
        if closing and len(opening[1]) % 2 == 0:
            index = closing[-1]
            spans.append((opening.start(2), runs[index].end()))
        index += 1
    return spans


def _grid_edits(source: bytes, start: int, end: int) -> Iterator[Edit]:
    """Grids that stand in a paragraph on lines of their own."""
    lines = source[start:end].decode().rstrip("\n").split("\n")
    prefixes = [_PREFIX.match(line).group() for line in lines]  # type: ignore[union-attr]
    contents = [line[len(prefix) :].rstrip() for line, prefix in zip(lines, prefixes, strict=True)]
    if len(set(prefixes[1:])) != 1:
        return
    prefix = prefixes[1]
    first = 0
    before = counted = 0
    """Bytes of the lines that are `counted`."""
    while first < len(lines):
        if not contents[first].startswith("+--"):
            first += 1
            continue
        last = first
        while last + 1 < len(lines) and contents[last + 1].startswith(("+", "|")):
            last += 1
        table = pipe_table(contents[first : last + 1])
        if table is None:
            first = last + 1
            continue
        follows = last + 1 < len(lines)
        if follows and prefix:
            return
        before += sum([len(line.encode()) + 1 for line in lines[counted:first]])
        counted = first
        length = len("\n".join(lines[first : last + 1]).encode())
        head = prefix if first else ""
        text = head + f"\n{prefix}".join(table) + "\n" * follows
        yield start + before, start + before + length, text
        first = last + 1
