"""Tables for people: aligned columns, colours where the terminal has them, no control bytes in the cells."""

import os
import shutil
import sys
import time
from collections.abc import Sequence
from typing import Self

from vantage.text.sanitize import one_line
from vantage.text.width import truncate, width


class Cell(str):
    """A text in a colour: an SGR code, as `32`."""

    __slots__ = ("code",)
    code: str

    def __new__(cls, text: str, code: str = "") -> Self:
        cell = super().__new__(cls, text)
        cell.code = code
        return cell


def colored() -> bool:
    """Whether stdout gets colours, by the rules of `own_terminal`."""
    if not sys.stdout.isatty() and not (os.environ.get("FORCE_COLOR") or os.environ.get("CLICOLOR_FORCE")):
        return False
    from vantage import own_terminal

    return own_terminal.read((1,)).color_depth > 0


def table(rows: Sequence[Sequence[str]], head: Sequence[str] = ()) -> str:
    """Aligned columns; a line is cut where the terminal ends, and whole in a pipe."""
    lines = [[Cell(one_line(cell), cell.code if isinstance(cell, Cell) else "") for cell in row] for row in rows]
    if head and lines:
        lines.insert(0, [Cell(name, "2") for name in head])
    if not lines:
        return ""
    widths = [max(width(line[column]) for line in lines) for column in range(len(lines[0]))]
    room = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    color = colored()
    return "\n".join(_line(line, widths, room, color=color) for line in lines)


def _line(line: list[Cell], widths: list[int], room: int | None, *, color: bool) -> str:
    last = len(line) - 1
    padded = [
        cell + " " * (0 if column == last else wanted - width(cell) + 2)
        for column, (cell, wanted) in enumerate(zip(line, widths, strict=True))
    ]
    parts, at = [], 0
    for column, cell in enumerate(line):
        text, rest = padded[column], "".join(padded[column:]).rstrip()
        cut = room is not None and at + width(rest) > room and at + width(text) >= room
        if cut and room is not None:
            text = truncate(rest, max(room - at, 1))
        if color and cell.code and cell:
            shown = text.rstrip()
            text = f"\x1b[{cell.code}m{shown}\x1b[0m{text[len(shown) :]}"
        parts.append(text)
        if cut:
            break
        at += width(padded[column])
    return "".join(parts).rstrip()


def pairs(values: Sequence[tuple[str, str]]) -> str:
    """`name  value`, one a line, without empty values."""
    return table([(Cell(name, "2"), value) for name, value in values if value])


_UNITS = ((86_400, "d"), (3600, "h"), (60, "m"), (1, "s"))


def ago(ms: float | None) -> str:
    """How long since a moment: `3m`, `2d`."""
    if not ms:
        return ""
    since = max(time.time() * 1000 - ms, 0)
    return "now" if since < 1000 else length(since - since % 1000)


def length(ms: float | None) -> str:
    """How long something took: `12ms`, `3.4s`, `2m`."""
    if ms is None:
        return ""
    if ms < 1000:
        return f"{ms:.0f}ms"
    if ms < 10_000:
        return f"{ms / 1000:.1f}s".replace(".0s", "s")
    for size, unit in _UNITS:
        if ms >= size * 1000:
            return f"{ms / 1000 / size:.0f}{unit}"
    return ""
