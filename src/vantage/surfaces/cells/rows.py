"""Rows → lines of cells: bullet, head, and the body under its elbow.

• Ran go test .
  └ ok      axi/q/termformat    0.002s
    ?       axi/q/termformat/cmd    [no test files]
"""

import dataclasses
from collections.abc import Iterable
from functools import cache

from vantage.presentation import PresentationContext
from vantage.surfaces.cells.blocks import action_lines, block_lines, diff_lines
from vantage.surfaces.cells.page import Page
from vantage.surfaces.rendered import Rendered
from vantage.surfaces.words import flat_blocks, named
from vantage.text.palette import TOKENS
from vantage.text.spans import Line, Span, slice_line, text_of, width_of
from vantage.text.style import ACCENT, COLORFUL, GREEN, RED, Style
from vantage.text.width import take, take_end, width
from vantage.text.wrap import BLANK, trim, wrap
from vantage.timeline.row import Block, DiffBlock, Row, Status, file_head

_BULLETS: dict[str, Style] = {
    "none": ACCENT,
    "running": ACCENT,
    "waiting": COLORFUL,
    "ok": GREEN,
    "warning": RED,
    "error": RED,
}
_LEAST = 20
"""The least columns that sub-agents' indents leave."""
_DEEPEST = 50
"""Indents that are drawn where no width limits them."""
_HEAD_LINES = 5


def row_lines(row: Row, page: Page) -> list[Line]:
    """A row, indented by its depth; no line is wider than the page or ends in spaces."""
    indent = _indent(row.depth, page.width)
    inner = page.narrow(indent)
    lines = _row(row, inner)
    if indent:
        margin = Span(" " * indent)
        lines = [[margin, *line] if line else line for line in lines]
    return [trim(line) if line and line[-1].text[-1:] in BLANK else line for line in lines]


def rows_lines(rows: Iterable[Row], page: Page) -> list[Line]:
    """Rows below each other, an empty line between them."""
    out: list[Line] = []
    for row in rows:
        if out:
            out.append([])
        out += row_lines(row, page)
    return out


def unstyled(rows: Iterable[Row], context: PresentationContext) -> Rendered:
    """Rows as text alone, for displays that have no styles at all."""
    bare = dataclasses.replace(context, supports_rich_text=False)
    page = Page.of(bare, wrapped=context.wrap_mode == "hard")
    return Rendered("\n".join([text_of(line) for line in rows_lines(rows, page)]), page.notes)


def _indent(depth: int, width: int | None) -> int:
    if not depth:
        return 0
    most = _DEEPEST if width is None else max(width - _LEAST, 0) // 2
    return 2 * min(depth, most)


_MESSAGE_MARGIN, _MARGIN = [Span("  ")], [Span("    ")]


@cache
def _elbow(glyph: str) -> Line:
    return [Span("  "), Span(glyph, ACCENT), Span(" ")]


@cache
def _bullet(glyph: str, status: Status) -> Line:
    return [Span(glyph, _BULLETS[status]), Span(" ")]


def _icon(row: Row, page: Page) -> Line:
    """The row's icon, which follows its bullet; an unknown colour leaves it accented."""
    from vantage.surfaces.icons import icon  # noqa: PLC0415 -- few rows have one

    found = icon(row.icon)
    glyph = found.glyph if page.context.supports_unicode else found.ascii
    return [Span(glyph, Style(row.icon_color) if row.icon_color in TOKENS else ACCENT), Span(" ")]


def _row(row: Row, page: Page) -> list[Line]:
    bullet = _bullet(page.glyphs.request if row.kind == "request" else page.glyphs.bullet, row.status)
    if row.icon and (page.width is None or page.width > width_of(bullet)):
        bullet = [*bullet, *_icon(row, page)]
    blocks = flat_blocks(row.blocks, page.context)
    if row.kind == "user":
        lines = _message(blocks, page, [Span(page.glyphs.person, ACCENT), Span(" ")])
        sender = page.line(named(row))
        return [*lines, *wrap([Span(sender, ACCENT)], page.width, _MESSAGE_MARGIN)] if sender else lines
    if not row.title and blocks:
        return _message(blocks, page, bullet)
    diff = blocks[0] if blocks else None
    if not isinstance(diff, DiffBlock) or not diff.is_row:
        return [*_head(row, page, bullet), *_body(blocks, page)]
    out: list[Line] = []
    for file in diff.files:
        out += _wrapped_head(_clean(file_head(file), page), page, bullet)
        out += diff_lines(file, page)
    out += page.hang(_MARGIN, _MARGIN, lambda inner: action_lines(diff, inner)) if diff.actions else []
    return [*out, *_body(blocks[1:], page)]


def _message(blocks: list[Block], page: Page, first: Line) -> list[Line]:
    """Blocks that begin beside the bullet, an empty line between them."""

    def lines(inner: Page) -> list[Line]:
        out: list[Line] = []
        for block in blocks:
            drawn = block_lines(block, inner)
            if out and drawn:
                out.append([])
            out += drawn
        return out or [[]]

    return page.hang(first, _MESSAGE_MARGIN, lines)


def _clean(spans: Iterable[Span], page: Page) -> Line:
    """Spans as they may be drawn; most are harmless already."""
    return [
        span if (text := span.text).isascii() and text.isprintable() else Span(page.clean(text), span.style)
        for span in spans
    ]


def _head(row: Row, page: Page, bullet: Line) -> list[Line]:
    title = _clean(row.title, page)
    if not row.trailing and not row.cut_title and _surely_fits(title, page.width, 4 if row.icon else 2):
        return [[*bullet, *title]]
    trailing = page.line(row.trailing)
    if row.cut_title:
        title = _one_line(title, row, page, width_of(bullet) + (width(trailing) + 2 if trailing else 0))
    lines = _wrapped_head(title, page, bullet, rest=2 if row.kind == "notice" else 4)
    if not trailing:
        return lines
    free = (page.width - width_of(lines[-1]) - width(trailing)) if page.width is not None else 2
    if free >= 2:
        lines[-1] = [*lines[-1], Span(" " * free), Span(trailing, ACCENT)]
        return lines
    return [*lines, *wrap([Span(trailing, ACCENT)], page.width, _MARGIN, _MARGIN)]


def _surely_fits(title: Line, width: int | None, margin: int) -> bool:
    """Whether a head is one short line of plain characters, which needs no further work. Nearly all heads are."""
    text = text_of(title)
    return bool(text) and (width is None or len(text) + margin <= width) and text.isascii() and text.isprintable()


def _one_line(title: Line, row: Row, page: Page, reserved: int) -> Line:
    """A head cut to what one line holds."""
    title = [Span(span.text.replace("\n", " "), span.style) for span in title]
    if page.width is None or width_of(title) <= page.width - reserved:
        return title
    text, more = text_of(title), page.glyphs.more
    room = max(page.width - reserved, 8) - width(more)
    if row.cut_title == "tail":
        return [*slice_line(title, 0, len(take(text, room))), Span(more, ACCENT)]
    start = take(text, (room + 1) // 2)
    end = take_end(text, room - width(start))
    return [*slice_line(title, 0, len(start)), Span(more, ACCENT), *slice_line(title, len(text) - len(end), len(text))]


def _wrapped_head(title: Line, page: Page, bullet: Line, rest: int = 4) -> list[Line]:
    more = sum([span.text.count("\n") for span in title]) + 1 - _HEAD_LINES
    if more > 0:
        title = [*_first_lines(title, _HEAD_LINES), Span(f"\n{page.glyphs.more} +{more} lines", ACCENT)]
    margin = rest if page.width is None or page.width > _LEAST else 2
    return wrap(title, page.width, bullet, [Span(" " * margin)]) if title else [bullet]


def _first_lines(title: Line, count: int) -> Line:
    out: Line = []
    for span in title:
        pieces = span.text.split("\n")
        out.append(Span("\n".join(pieces[:count]), span.style))
        count -= len(pieces) - 1
        if count <= 0:
            break
    return out


def _body(blocks: list[Block], page: Page) -> list[Line]:
    """Blocks under the head: the first line hangs on an elbow, the others stand below it."""
    if not blocks:
        return []

    def lines(inner: Page) -> list[Line]:
        return [line for block in blocks for line in block_lines(block, inner)]

    return page.hang(_elbow(page.glyphs.elbow), _MARGIN, lines)
