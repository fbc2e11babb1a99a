"""A screen as an SVG picture: every character is placed in its cell, whatever font is used."""

import re
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from vantage.export.screen.pieces import DARK, MISLEADS, CellStyle, Piece, Theme, elsewhere, pieces, style_of
from vantage.terminal.engines.values import Cursor
from vantage.terminal.screen.frames import ScreenSnapshot, cell_of

FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, 'Noto Sans Mono CJK SC', 'Noto Color Emoji', monospace"
CELL_WIDTH, CELL_HEIGHT, FONT_SIZE = 8.4, 18, 14
_BASELINE = 13.5
_PADDING, _BAR = 12, 30
_HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{width:.1f}" height="{height:.1f}" '
    'viewBox="0 0 {width:.1f} {height:.1f}" font-family="{font}" font-size="{size}" fill="{ink}" role="img">'
)
_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WORDS = re.compile("[^ ]+(?: [^ ]+)*")
_MARKS = (("bold", 'font-weight="bold"'), ("italic", 'font-style="italic"'), ("dim", 'opacity="0.6"'))
_LINES = (("underline", "underline"), ("strike", "line-through"), ("overline", "overline"))
_KINDS = {"double": "double", "curly": "wavy", "dotted": "dotted", "dashed": "dashed"}


def screen_svg(
    snapshot: ScreenSnapshot, *, theme: Theme = DARK, cursor: bool = True, title: str | None = None, bar: bool = True
) -> str:
    """The picture of a snapshot (with styles where it has them). `title` is shown in a bar; its own by default."""
    top = _PADDING + (_BAR if bar else 0)
    width = snapshot.cols * CELL_WIDTH + 2 * _PADDING
    height = snapshot.rows_count * CELL_HEIGHT + top + _PADDING
    name = _text(snapshot.title if title is None else title)
    parts = [
        _HEAD.format(width=width, height=height, font=FONT, size=FONT_SIZE, ink=theme.foreground),
        f"<title>{name or 'Terminal'}</title>",
        f'<rect width="100%" height="100%" rx="8" fill="{theme.background}"/>',
    ]
    if bar:
        dots = "".join(
            f'<circle cx="{_PADDING + 6 + 16 * n}" cy="{_BAR / 2 + 3}" r="5" fill="{theme.colors[color]}"/>'
            for n, color in enumerate((1, 3, 2))
        )
        parts.append(dots)
        parts.append(f'<text x="50%" y="{_BAR / 2 + 8}" text-anchor="middle" opacity="0.7">{name}</text>')
    parts.append(f'<g transform="translate({_PADDING} {top})">')
    for row in range(snapshot.rows_count):
        y = row * CELL_HEIGHT
        drawn = [(piece, style_of(piece.run, theme)) for piece in pieces(snapshot, row)]
        parts += _grounds(drawn, y)
        parts += [_letters(piece, style, y) for piece, style in drawn if "hidden" not in style.attrs]
    if cursor and snapshot.cursor.visible:
        parts.append(_cursor(snapshot.cursor, theme))
    parts.append("</g></svg>\n")
    return "\n".join(part for part in parts if part)


def _grounds(drawn: list[tuple[Piece, CellStyle]], y: int) -> list[str]:
    """Backgrounds; neighbours of one colour are joined, so there are no seams between them."""
    found = []
    for color, group in groupby((one for one in drawn if one[1].ground), lambda one: one[1].ground):
        cells = [piece for piece, _ in group]
        while cells:
            last = 0
            while last + 1 < len(cells) and cells[last + 1].start == cells[last].start + cells[last].cells:
                last += 1
            x, end = cells[0].start * CELL_WIDTH, (cells[last].start + cells[last].cells) * CELL_WIDTH
            found.append(
                f'<rect x="{x:.1f}" y="{y}" width="{end - x:.1f}" height="{CELL_HEIGHT}" fill="{color}" '
                'shape-rendering="crispEdges"/>'
            )
            cells = cells[last + 1 :]
    return found


def _letters(piece: Piece, style: CellStyle, y: int) -> str:
    marks = [f'fill="{style.ink}"', *(mark for name, mark in _MARKS if name in style.attrs)]
    lines = decoration(style)
    if lines or piece.leads_to:
        marks.append(f'style="{MISLEADS if piece.leads_to else f"text-decoration:{lines}"}"')
        texts = [(0, piece.text.replace(" ", "\u00a0"))]
    else:  # words are drawn one by one: renderers collapse several blanks into one
        texts = [(cell_of(piece.text, match.start()), match[0]) for match in _WORDS.finditer(piece.text)]
    drawn = "".join(
        f'<text x="{(piece.start + start) * CELL_WIDTH:.1f}" y="{y + _BASELINE}" '
        f'textLength="{cell_of(text, len(text)) * CELL_WIDTH:.1f}" lengthAdjust="spacingAndGlyphs" '
        f"{' '.join(marks)}>{_text(text)}</text>"
        for start, text in texts
    )
    if piece.leads_to and drawn:
        return f"<g><title>{_text(elsewhere(piece.leads_to))}</title>{drawn}</g>"
    return f"<a href={quoteattr(_NOT_IN_XML.sub('', style.link))}>{drawn}</a>" if style.link and drawn else drawn


def decoration(style: CellStyle) -> str:
    """Lines under, through and over the text, as CSS."""
    lines = [css for name, css in _LINES if name in style.attrs]
    kinds = [css for name, css in _KINDS.items() if name in style.attrs]
    return " ".join([*lines, *kinds[:1]])


def _cursor(cursor: Cursor, theme: Theme) -> str:
    x, y = cursor.col * CELL_WIDTH, cursor.row * CELL_HEIGHT
    width, height = CELL_WIDTH, float(CELL_HEIGHT)
    if cursor.shape == "bar":
        width = 2
    elif cursor.shape == "underline":
        y, height = y + CELL_HEIGHT - 2, 2
    place = f'x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="cursor" {place} fill="{theme.foreground}" opacity="0.55"/>'


def _text(text: str) -> str:
    return escape(_NOT_IN_XML.sub("\ufffd", text))
