"""Tables drawn with `+---+` borders, rewritten as pipe tables.

Only well-formed grids count: every border has the same columns, every line between borders the same cells. Anything
else stays as it was written.
"""

import re
from itertools import pairwise

_BORDER = re.compile(r"\+(?:-{2,}\+)+|\+(?:={2,}\+)+")
_MARKER = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s")
_BARE_PIPE = re.compile(r"(?<!\\)((?:\\\\)*)\|")


def pipe_table(lines: list[str]) -> list[str] | None:
    """The lines of a grid as those of a pipe table; `None` when they are no grid."""
    if len(lines) < 5 or not _BORDER.fullmatch(lines[0]) or not _BORDER.fullmatch(lines[-1]):
        return None
    edges = [index for index, character in enumerate(lines[0]) if character == "+"]
    bands: list[list[list[str]]] = []
    band: list[list[str]] = []
    ruled = False
    for line in lines[1:]:
        if line.startswith("+"):
            if not band or not _BORDER.fullmatch(line) or [i for i, c in enumerate(line) if c == "+"] != edges:
                return None
            ruled = ruled or line[1] == "="
            bands.append(band)
            band = []
            continue
        cells = _cells(line, edges)
        if cells is None:
            return None
        band.append(cells)
    if len(bands) < 2:
        return None
    rows = [_joined(band) for band in bands]
    if len(bands) == 2 and not ruled:
        # What database shells print: rules around the header only, and one line per row. A line whose first cell is
        # empty continues the row above.
        rows = [rows[0], *map(_joined, _rows_of_lines(bands[1]))]
    drawn = [f"| {' | '.join(row)} |" for row in rows]
    return [drawn[0], "|---" * (len(edges) - 1) + "|", *drawn[1:]]


def _cells(line: str, edges: list[int]) -> list[str] | None:
    if not (line.startswith("|") and line.endswith("|")):
        return None
    if len(line) == edges[-1] + 1 and all(line[edge] == "|" for edge in edges):
        return [line[left + 1 : right].strip() for left, right in pairwise(edges)]
    # Wide characters shift the columns; then the number of bars decides.
    cells = [cell.strip() for cell in line[1:-1].split("|")]
    return cells if len(cells) == len(edges) - 1 else None


def _rows_of_lines(band: list[list[str]]) -> list[list[list[str]]]:
    rows: list[list[list[str]]] = []
    for cells in band:
        if rows and not cells[0]:
            rows[-1].append(cells)
        else:
            rows.append([cells])
    return rows


def _joined(band: list[list[str]]) -> list[str]:
    """One row of a band of lines: wrapped words are joined, the points of a list keep their lines."""
    row = []
    for column in zip(*band, strict=True):
        cell = ""
        for part in filter(None, column):
            cell += ("<br>" if _MARKER.match(part) else " ") * bool(cell) + part
        row.append(_BARE_PIPE.sub(r"\1\\|", cell))
    return row
