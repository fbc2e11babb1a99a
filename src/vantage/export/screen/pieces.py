"""A screen's rows in pieces that are drawn at once, and their colours."""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import TypeGuard

import msgspec
from msgspec.structs import replace
from wcwidth import wcwidth

from vantage.document.addresses import shows_another
from vantage.terminal.engines.values import ColorRef, Run
from vantage.terminal.screen.frames import ScreenSnapshot, cell_of
from vantage.text.palette import rgb_of
from vantage.text.sanitize import one_line, sanitize_cells

PLAIN = Run(0, 0)
_LAST_WORD, _FIRST_WORD = re.compile(r"\S*$"), re.compile(r"^\S*")
_SCHEMES = ("http://", "https://", "mailto:")


class Theme(msgspec.Struct, frozen=True):
    background: str = "#11151c"
    foreground: str = "#dfe3ea"
    colors: tuple[str, ...] = (
        "#21262f", "#e5656b", "#7fc27a", "#d9b15f", "#6ba4e7", "#b98ae0", "#5bbcc4", "#c9ced8",
        "#69717f", "#f58a8f", "#a0d99b", "#efcb84", "#93bff5", "#d1abf2", "#85d6dc", "#ffffff",
    )  # fmt: skip
    """The first sixteen colours of the palette; the others are fixed."""

    def color(self, color: ColorRef) -> str:
        if isinstance(color, str):
            return color
        return self.colors[color] if color < 16 else "#{:02x}{:02x}{:02x}".format(*rgb_of(color))


DARK = Theme()
_LIGHT_COLORS = (
    "#23272e", "#b3261e", "#22711f", "#7d5700", "#1756a9", "#7b3fa0", "#0b6b74", "#c4c8ce",
    "#5b626c", "#d14640", "#37902f", "#a0740a", "#3574cf", "#9a5cc2", "#1f8b95", "#8a919b",
)  # fmt: skip
LIGHT = Theme("#fbfbfa", "#23272e", _LIGHT_COLORS)
THEMES = {"dark": DARK, "light": LIGHT}


class CellStyle(msgspec.Struct, frozen=True):
    """The style of a piece, with reverse video applied."""

    ink: str
    ground: str | None
    """None where the screen's own background shows."""
    attrs: tuple[str, ...]
    link: str | None


class Piece(msgspec.Struct, frozen=True):
    """Cells next to each other that look alike; a wide character is a piece by itself."""

    start: int
    cells: int
    text: str
    run: Run
    """Without its link where `leads_to` has it."""
    leads_to: str | None = None
    """The target of a link whose text shows another address: it is shown as text, and is no link."""


MISLEADS = "text-decoration:underline wavy #e5656b"
"""The style of a link whose text shows another address."""


def elsewhere(link: str) -> str:
    """The text that is shown for such a link."""
    return f"this text shows another address: the link leads to {one_line(link)}"


def style_of(run: Run, theme: Theme) -> CellStyle:
    ink = theme.foreground if run.fg is None else theme.color(run.fg)
    ground = None if run.bg is None else theme.color(run.bg)
    if "reverse" in run.attrs:
        ink, ground = ground or theme.background, ink
    return CellStyle(ink, ground, run.attrs, run.link if is_safe(run.link) else None)


def is_safe(link: str | None) -> TypeGuard[str]:
    """Whether a link of a terminal may be followed."""
    return link is not None and link.lower().startswith(_SCHEMES)


def pieces(snapshot: ScreenSnapshot, row: int) -> Iterator[Piece]:
    """The row from its first cell to the last with text or style."""
    found = _pieces(snapshot, row)
    if snapshot.runs and any(run.link for run in snapshot.runs[row]):
        return _honest(list(found), snapshot, row)
    return found


def _honest(found: list[Piece], snapshot: ScreenSnapshot, row: int) -> Iterator[Piece]:
    """The pieces of a row, without links whose text shows another address.

    Neighbouring pieces of a link count as one text, together with the characters that touch them, even across the end
    of a full row.
    """
    line, places = "", []
    for piece in found:
        line += " " * (piece.start - cell_of(line, len(line)))
        places.append(len(line))
        line += piece.text
    rows, last = snapshot.rows, snapshot.rows_count - 1
    above = sanitize_cells(rows[row - 1]) if row else ""
    above = above if cell_of(above, len(above)) >= snapshot.cols else ""
    below = sanitize_cells(rows[row + 1]) if row < last and cell_of(line, len(line)) >= snapshot.cols else ""
    whole = above + line + below
    for link, group in groupby(zip(found, places, strict=True), key=lambda each: each[0].run.link):
        together = list(group)
        if not is_safe(link):
            yield from (piece for piece, _ in together)
            continue
        start, end = together[0][1], together[-1][1] + len(together[-1][0].text)
        start, end = start + len(above), end + len(above)
        text = _LAST_WORD.findall(whole[:start])[0] + whole[start:end] + _FIRST_WORD.findall(whole[end:])[0]
        misleads = shows_another(text, link)
        for piece, _ in together:
            yield replace(piece, run=replace(piece.run, link=None), leads_to=link) if misleads else piece


def _pieces(snapshot: ScreenSnapshot, row: int) -> Iterator[Piece]:
    text = sanitize_cells(snapshot.rows[row])
    runs = iter(snapshot.runs[row] if snapshot.runs else ())
    run = next(runs, None)
    start = at = 0
    now = PLAIN
    chunk: list[str] = []
    for cluster, width in _clusters(text):
        while run is not None and at >= run.start + run.len:
            run = next(runs, None)
        here = run if run is not None and at >= run.start else PLAIN
        if chunk and (here is not now or width == 2):
            yield Piece(start, at - start, "".join(chunk), now)
            chunk = []
        if not chunk:
            start, now = at, here
        chunk.append(cluster)
        at += width
        if width == 2:
            yield Piece(start, 2, cluster, now)
            chunk = []
    if chunk:
        yield Piece(start, at - start, "".join(chunk), now)
    while run is not None:  # style behind the text: blanks with a background
        first = max(run.start, at)
        if first < run.start + run.len:
            yield Piece(first, run.start + run.len - first, " " * (run.start + run.len - first), run)
        run = next(runs, None)


def _clusters(text: str) -> Iterator[tuple[str, int]]:
    """Characters with the marks on them, and how many cells they take."""
    if text.isascii():
        for char in text:
            yield char, 1
        return
    cluster, width = "", 0
    for char in text:
        own = max(wcwidth(char), 0)
        if own and cluster:
            yield cluster, width
            cluster, width = "", 0
        cluster += char
        width += own
    if cluster and width:
        yield cluster, width
