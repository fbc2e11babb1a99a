"""Document nodes → lines of cells."""

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import msgspec

from vantage.document import nodes
from vantage.document.fit import fit
from vantage.document.fit.walk import each_inline
from vantage.document.highlight import COLORS, highlight
from vantage.document.inline import spans_of
from vantage.document.markdown import parse
from vantage.document.stream import parse_growing
from vantage.surfaces.cells.page import Page
from vantage.text.sanitize import TAB_WIDTH
from vantage.text.spans import Line, Span, restyle, text_of, width_of
from vantage.text.style import ACCENT, BOLD, NORMAL, Style
from vantage.text.width import pad, take, width
from vantage.text.wrap import wrap

_UNBOUNDED = 1 << 20
_ALERTS = {"note": "blue", "tip": "green", "important": "purple", "warning": "yellow", "caution": "red"}


def markdown_lines(text: str, page: Page, base: Style = NORMAL, *, growing: bool = False) -> list[Line]:
    """A markdown text, fitted to the page and drawn on it."""
    if page.markdown is not None:
        lines: list[Line] = page.markdown(text, page, base)
        return lines
    return document_lines(parse_growing(text) if growing else parse(text), page, base)


def document_lines(blocks: list[nodes.Block], page: Page, base: Style = NORMAL) -> list[Line]:
    context = dataclasses.replace(page.context, content_width=page.width or _UNBOUNDED)
    if page.tab_width != TAB_WIDTH:  # inline text is drawn, and tables are measured, with tabs of the usual width
        blocks = each_inline(blocks, partial(_spaced, spaces=" " * page.tab_width))
    fitted = fit(blocks, context)
    page.notes.extend(note for note in fitted.notes if note not in page.notes)
    return _blocks(fitted.blocks, page, base)


def _spaced(content: list[nodes.Inline], spaces: str) -> list[nodes.Inline]:
    """Inline parts with spaces for their tabs."""
    out = [
        msgspec.structs.replace(part, text=part.text.replace("\t", spaces))
        if isinstance(part, nodes.Text) and "\t" in part.text
        else part
        for part in content
    ]
    return out if any(new is not old for new, old in zip(out, content, strict=True)) else content


def _blocks(blocks: Sequence[nodes.Block], page: Page, base: Style, *, tight: bool = False) -> list[Line]:
    """Blocks below each other, an empty line between them unless the list they stand in is tight."""
    out: list[Line] = []
    for block in blocks:
        lines = _DRAW[type(block)](block, page, base)
        if out and lines and not tight:
            out.append([])
        out += lines
    return out


def _flow(content: list[nodes.Inline], page: Page, base: Style) -> list[Line]:
    return wrap(restyle(spans_of(content), base), page.width)


def _paragraph(block: nodes.Paragraph, page: Page, base: Style) -> list[Line]:
    return _flow(block.content, page, base)


def _heading(block: nodes.Heading, page: Page, base: Style) -> list[Line]:
    return _flow(block.content, page, BOLD.over(base))


def verbatim(line: Line, room: int | None) -> list[Line]:
    """A line that keeps its own indent when it must be broken."""
    if room is None or width_of(line) <= room:
        return [line]
    text = text_of(line)
    indent = len(text) - len(text.lstrip(" "))
    indent = indent if indent <= room // 2 else 0
    return wrap(line, room, (), [Span(" " * indent)] if indent else ())


@cache
def _code_styles(light: bool) -> defaultdict[str, Style]:
    """Token class → its style; a class without a colour is drawn normally."""
    return defaultdict(lambda: NORMAL, {kind: Style(pair[light]) for kind, pair in COLORS.items()})


def code_lines(text: str, language: str, page: Page) -> list[Line]:
    """Source code, highlighted where the language is known."""
    light = page.context.background == "light"
    source = page.clean(text)
    if page.context.color_depth < 256 or not language:
        styled = [[Span(line)] if line else [] for line in source.split("\n")]
    else:
        styles = _code_styles(light)
        styled = [[Span(piece, styles[kind]) for kind, piece in line] for line in highlight(source, language)]
    out: list[Line] = []
    for line in styled:
        out += verbatim(line, page.width)
    return out


def _code(block: nodes.CodeBlock, page: Page, base: Style) -> list[Line]:
    if block.fenced:
        lines = code_lines(block.text, block.language, page)
        if caption := block.caption:
            lines = [*wrap([Span(page.clean(caption), ACCENT)], page.width), *lines]
    else:
        indent = [Span("    ")]
        lines = page.hang(indent, indent, lambda inner: code_lines(block.text, "", inner))
    return lines if base == NORMAL else [restyle(line, base) for line in lines]


def _math(block: nodes.MathBlock, page: Page, base: Style) -> list[Line]:
    return _text(block.text.strip("\n"), page, base)


def _html(block: nodes.HtmlBlock, page: Page, base: Style) -> list[Line]:
    return _text(block.text.strip("\n"), page, ACCENT.over(base))


def _text(text: str, page: Page, style: Style) -> list[Line]:
    out: list[Line] = []
    for line in page.clean(text).split("\n"):
        out += verbatim([Span(line, style)] if line else [], page.width)
    return out


def _rule(block: nodes.Rule, page: Page, base: Style) -> list[Line]:  # noqa: ARG001
    return [[Span(page.glyphs.rule * min(page.width or 40, 40), ACCENT)]]


def _quote(block: nodes.Quote, page: Page, base: Style) -> list[Line]:
    color = _ALERTS.get(block.alert)
    title = [Span(block.alert.title(), Style(color, bold=True))] if color else []
    bar = [Span(page.glyphs.bar, Style(color) if color else ACCENT), Span(" ")]
    return page.hang(
        bar,
        bar,
        lambda inner: [*(wrap(title, inner.width) if title else ()), *_blocks(block.children, inner, base)] or [[]],
    )


def _list(block: nodes.ListBlock, page: Page, base: Style) -> list[Line]:
    out: list[Line] = []
    for number, item in enumerate(block.items, block.start if block.start is not None else 0):
        marker = "- " if block.start is None else f"{number}. "
        marker += "" if item.checked is None else "[x] " if item.checked else "[ ] "
        if out and not block.tight:
            out.append([])
        out += page.hang(
            [Span(marker, base)],
            [Span(" " * len(marker))],
            partial(_item, item, base, tight=block.tight),
        )
    return out


def _item(item: nodes.Item, base: Style, page: Page, *, tight: bool) -> list[Line]:
    return _blocks(item.children, page, base, tight=tight) or [[]]


def _footnote(block: nodes.FootnoteDef, page: Page, base: Style) -> list[Line]:
    label = page.line(f"[{block.label}]")
    indent = [Span("    ")]

    def children(inner: Page) -> list[Line]:
        return _blocks(block.children, inner, base) or [[]]

    if width(label) <= 3:
        return page.hang([Span(pad(label, 4), ACCENT)], indent, children)
    return [*wrap([Span(label, ACCENT)], page.width), *page.hang(indent, indent, children)]


def _records(block: nodes.Records, page: Page, base: Style) -> list[Line]:
    """`key: value`, a blank line between records."""
    out: list[Line] = []
    for record in block.records:
        if out:
            out.append([])
        for key, value in record:
            spans = [*restyle(spans_of(key), BOLD.over(base))]
            spans += [Span(": " if spans else "", BOLD.over(base)), *restyle(spans_of(value), base)]
            out += wrap(spans, page.width, (), [Span("  ")])
    return out


def _table(block: nodes.Table, page: Page, base: Style) -> list[Line]:
    header = [restyle(spans_of(cell.content), BOLD.over(base)) for cell in block.header]
    rows = [[restyle(spans_of(cell.content), base) for cell in row] for row in block.rows]
    widths = block.widths or [
        max([1, *(_natural(row[column]) for row in [header, *rows] if column < len(row))])
        for column in range(len(header))
    ]
    return draw_table(header, rows, widths, block.alignments, page, cut=block.truncate)


def _natural(cell: Line) -> int:
    return max(width_of(line) for line in wrap(cell, None))


def draw_table(
    header: list[Line],
    rows: list[list[Line]],
    widths: list[int],
    alignments: Sequence[str],
    page: Page,
    *,
    cut: bool = False,
) -> list[Line]:
    """A box around cells; longer cells wrap inside it, or are cut."""
    box = page.glyphs.box
    bar = Span(page.glyphs.bar, ACCENT)

    def border(left: str, middle: str, right: str) -> Line:
        return [Span(left + middle.join(page.glyphs.rule * (cells + 2) for cells in widths) + right, ACCENT)]

    def row_lines(row: list[Line]) -> list[Line]:
        cells: list[list[Line]] = [
            [[]] if i >= len(row) else [_cut(row[i], room, page.glyphs.more)] if cut else wrap(row[i], room)
            for i, room in enumerate(widths)
        ]
        out: list[Line] = []
        for line_number in range(max(len(cell) for cell in cells)):
            line: Line = [bar]
            for i, cell in enumerate(cells):
                content = cell[line_number] if line_number < len(cell) else []
                left, right = _padding(alignments[i] if i < len(alignments) else "none", widths[i] - width_of(content))
                line += [Span(" " * (left + 1)), *content, Span(" " * (right + 1)), bar]
            out.append(line)
        return out

    out = [border(box[0], box[1], box[2])]
    if any(header):
        out += [*row_lines(header), border(box[3], box[4], box[5])]
    wrapped = [row_lines(row) for row in rows]
    apart = any(len(lines) > 1 for lines in wrapped)
    for index, lines in enumerate(wrapped):
        if apart and index:
            out.append(border(box[3], box[4], box[5]))
        out += lines
    out.append(border(box[6], box[7], box[8]))
    return out


def _padding(alignment: str, free: int) -> tuple[int, int]:
    free = max(free, 0)
    if alignment == "right":
        return free, 0
    if alignment == "center":
        return free // 2, free - free // 2
    return 0, free


def _cut(cell: Line, limit: int, ellipsis: str) -> Line:
    """A cell on one line, with an ellipsis where it was cut."""
    line = [Span(span.text.replace("\n", " "), span.style) for span in cell]
    if width_of(line) <= limit:
        return line
    out: Line = []
    room = limit - 1
    for span in line:
        piece = take(span.text, room)
        room -= width(piece)
        out.append(Span(piece, span.style))
        if piece != span.text:
            break
    return [*out, Span(ellipsis)]


_DRAW: dict[type, Callable[[Any, Page, Style], list[Line]]] = {
    nodes.Paragraph: _paragraph,
    nodes.Heading: _heading,
    nodes.CodeBlock: _code,
    nodes.MathBlock: _math,
    nodes.HtmlBlock: _html,
    nodes.Rule: _rule,
    nodes.Quote: _quote,
    nodes.ListBlock: _list,
    nodes.Table: _table,
    nodes.Records: _records,
    nodes.FootnoteDef: _footnote,
}
