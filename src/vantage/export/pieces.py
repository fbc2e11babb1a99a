"""A screen's rows in pieces that are drawn in one go, and the colours they are drawn in."""

from collections.abc import Iterator

import msgspec
from wcwidth import wcwidth

from vantage.terminal.engines.values import ColorRef, Run
from vantage.terminal.frames import ScreenSnapshot
from vantage.text.palette import rgb_of

PLAIN = Run(0, 0)
_SCHEMES = ("http://", "https://", "mailto:")


class Theme(msgspec.Struct, frozen=True):
    background: str = "#11151c"
    foreground: str = "#dfe3ea"
    colors: tuple[str, ...] = (
        "#21262f", "#e5656b", "#7fc27a", "#d9b15f", "#6ba4e7", "#b98ae0", "#5bbcc4", "#c9ced8",
        "#69717f", "#f58a8f", "#a0d99b", "#efcb84", "#93bff5", "#d1abf2", "#85d6dc", "#ffffff",
    )  # fmt: skip
    """The first sixteen of the palette; the others are the same everywhere."""

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


class Look(msgspec.Struct, frozen=True):
    """How a piece is drawn, with reversed and hidden text worked out."""

    ink: str
    ground: str | None
    """Nothing where the screen's own background shows."""
    attrs: tuple[str, ...]
    link: str | None


class Piece(msgspec.Struct, frozen=True):
    """Cells next to each other that look alike; a wide character is a piece by itself."""

    start: int
    cells: int
    text: str
    run: Run


def look_of(run: Run, theme: Theme) -> Look:
    ink = theme.foreground if run.fg is None else theme.color(run.fg)
    ground = None if run.bg is None else theme.color(run.bg)
    if "reverse" in run.attrs:
        ink, ground = ground or theme.background, ink
    link = run.link if run.link and run.link.lower().startswith(_SCHEMES) else None
    return Look(ink, ground, run.attrs, link)


def pieces(snapshot: ScreenSnapshot, row: int) -> Iterator[Piece]:
    """The row from its first cell to the last that has text or style."""
    text = snapshot.rows[row]
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
