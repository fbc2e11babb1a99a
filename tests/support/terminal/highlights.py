"""Screens with their backgrounds, as text files: `scripts/record-screens` writes them from real programs.

A row is `|text`; below it, where it has backgrounds, `:` and a letter for each cell (`.` is the terminal's own).
`selected: text` is what is expected.
"""

from itertools import groupby
from typing import NamedTuple

from term_cases import FOLDER, size_of
from vantage.terminal.engines.values import Cursor, Run
from vantage.terminal.screen.frames import ScreenSnapshot


class Frame(NamedTuple):
    name: str
    number: int
    screen: ScreenSnapshot
    selected: list[str]


def frames() -> list[Frame]:
    found = []
    for file in sorted((FOLDER / "highlights").glob("*.txt")):
        texts = file.read_text().removesuffix("\n").split("\n\n")
        found += [_frame(file.stem, number, text.split("\n")) for number, text in enumerate(texts)]
    return found


def _frame(name: str, number: int, lines: list[str]) -> Frame:
    size, kind, _, place, shown = lines[0].split()
    cols, rows = size_of(size)
    row, col = map(int, place.split(","))
    texts: list[str] = []
    runs: list[tuple[Run, ...]] = []
    for line in lines[1:]:
        if line.startswith("|"):
            texts.append(line[1:])
            runs.append(())
        elif line.startswith(":"):
            runs[-1] = _runs(line[1:])
    assert len(texts) == rows
    screen = ScreenSnapshot(
        rows=tuple(texts),
        runs=tuple(runs),
        cursor=Cursor(row, col, shown == "shown"),
        title="",
        alt_screen=kind == "alternate",
        cols=cols,
        rows_count=rows,
        ts=0,
    )
    return Frame(name, number, screen, [line.removeprefix("selected: ") for line in lines if line.startswith("sel")])


def _runs(grounds: str) -> tuple[Run, ...]:
    found, at = [], 0
    for letter, cells in groupby(grounds):
        count = len(list(cells))
        if letter != ".":
            found.append(Run(at, count, bg=ord(letter)))
        at += count
    return tuple(found)
