"""The blocks under a row's head → lines of cells."""

from collections.abc import Callable
from functools import lru_cache
from math import isfinite
from typing import Any

from vantage.document import nodes
from vantage.document.inline import safe_url
from vantage.surfaces.cells.document import code_lines, document_lines, markdown_lines, verbatim
from vantage.surfaces.cells.page import Page
from vantage.surfaces.words import SCOPE_WORDS, answer_command, expiry, field_about, outcome
from vantage.text.sgr import parse_ansi
from vantage.text.spans import Line, Span, width_of
from vantage.text.style import ACCENT, BOLD, COLORFUL, GREEN, ITALIC, NORMAL, RED, VERB, Style
from vantage.text.wrap import wrap
from vantage.timeline import row as rows

_TEXT_STYLES = {"default": NORMAL, "monospace": NORMAL, "error": RED, "dim": Style("dim"), "accent": ACCENT}
_LONGEST_LINE = 2000
"""The most characters of one line of output that are shown."""


def block_lines(block: rows.Block, page: Page) -> list[Line]:
    lines = _DRAW[type(block)](block, page)
    return [*lines, *action_lines(block, page)] if block.actions else lines


def action_lines(block: rows.Block, page: Page) -> list[Line]:
    """Addresses to open, one a line; the other actions are for clients with buttons."""
    out: list[Line] = []
    for action in block.actions:
        if action.type == "open" and (address := page.line(action.value).strip()):
            label = page.line(action.label).strip()
            style = Style("accent", link=safe_url(action.value))
            named = [Span(f"{label}: ")] if label and label != address else []
            out += wrap([Span(f"{page.glyphs.arrow} "), *named, Span(address, style)], page.width, (), [Span("  ")])
    return out


def _text(block: rows.TextBlock, page: Page) -> list[Line]:
    return wrap([Span(page.clean(block.content), _TEXT_STYLES[block.style])], page.width)


def _markdown(block: rows.MarkdownBlock, page: Page) -> list[Line]:
    return markdown_lines(block.content, page, ITALIC if block.italic else NORMAL, growing=block.growing)


def _code(block: rows.CodeBlock, page: Page) -> list[Line]:
    if block.start_line is None:
        return code_lines(block.content, block.language, page)
    last = block.start_line + block.content.count("\n")
    gutter = len(str(last)) + 2
    out: list[Line] = []
    numbered = code_lines(block.content, block.language, _unwrapped(page))
    for number, line in enumerate(numbered, block.start_line):
        first = [Span(f"{number:>{gutter - 2}}  ", ACCENT)]
        drawn = wrap(line, page.width, first, [Span(" " * gutter)], hard=True) if line else []
        out += drawn or wrap(first, page.width)
    return out


def _unwrapped(page: Page) -> Page:
    return Page(page.context, None, page.glyphs, page.clean, page.notes, None, page.tab_width)


def _key_value(block: rows.KeyValueBlock, page: Page) -> list[Line]:
    out: list[Line] = []
    for key, value in block.pairs:
        name = page.line(key)
        out += wrap([Span(f"{name}: ", ACCENT), Span(page.clean(value))], page.width, (), [Span("  ")])
    return out


def _badges(block: rows.BadgesBlock, page: Page) -> list[Line]:
    style = Style(block.color)
    spans: Line = []
    for item in block.items:
        text = page.line(item)
        spans += [Span(" ")] if spans else []
        spans.append(Span(f"{page.glyphs.left}{text}{page.glyphs.right}", style))
    return wrap(spans, page.width) if spans else []


def _list(block: rows.ListBlock, page: Page) -> list[Line]:
    shown = block.items[: block.max_items] if block.max_items is not None else block.items
    out: list[Line] = []
    for item in shown:
        spans = [Span(page.line(item.title))]
        if item.status:
            badge = page.line(item.status)
            spans += [Span(" "), Span(f"{page.glyphs.left}{badge}{page.glyphs.right}", COLORFUL)]
        out += wrap(spans, page.width, [Span("- ")], [Span("  ")])
        if item.subtitle:
            out += wrap([Span(page.clean(item.subtitle), ACCENT)], page.width, [Span("  ")], [Span("  ")])
    if more := len(block.items) - len(shown):
        out += wrap([Span(f"+{more} more", ACCENT)], page.width)
    return out


def _ansi(block: rows.AnsiBlock, page: Page) -> list[Line]:
    out: list[Line] = []
    for line in parse_ansi(block.content.strip("\n").replace("\t", " " * page.tab_width)):
        out += verbatim([Span(page.clean(span.text), span.style) for span in line], page.width)
    return out


def _output(block: rows.OutputBlock, page: Page) -> list[Line]:
    """Printed output without blank lines at its ends: the first lines, then how many more there are."""
    lines = _without_blank_edges(block.content.split("\n"))
    shown = lines if block.max_lines is None else lines[: block.max_lines]
    style = RED if block.error else NORMAL
    room = _LONGEST_LINE if page.width is None else min(page.width, _LONGEST_LINE)
    out: list[Line] = []
    for line in shown:
        if len(line) <= room and line.isascii() and line.isprintable():
            out.append([Span(line, style)] if line else [])
            continue
        text = page.clean(line[:_LONGEST_LINE].removesuffix("\r"))
        spans = [Span(text, style)] if text else []
        if len(line) > _LONGEST_LINE:
            spans.append(Span(f" {page.glyphs.more} +{len(line) - _LONGEST_LINE} characters", ACCENT))
        out += verbatim(spans, page.width)
    if more := len(lines) - len(shown):
        out += wrap([Span(f"{page.glyphs.more} +{more} line{'' if more == 1 else 's'}", ACCENT)], page.width)
    return out


def _without_blank_edges(lines: list[str]) -> list[str]:
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return lines[start:end]


def _checklist(block: rows.ChecklistBlock, page: Page) -> list[Line]:
    """The plan: its next open step is highlighted, all others are dimmed."""
    out = wrap([Span(page.clean(block.overview), ACCENT)], page.width) if block.overview else []
    upcoming = next((item for item in block.items if item.status != "completed"), None)
    for item in block.items:
        style = VERB if item is upcoming else ACCENT
        mark = page.glyphs.done if item.status == "completed" else page.glyphs.open
        out += wrap([Span(page.clean(item.text), style)], page.width, [Span(f"{mark} ", style)], [Span("  ")])
    return out


def _table(block: rows.TableBlock, page: Page) -> list[Line]:
    columns = max([len(block.header), *(len(row) for row in block.rows)], default=0)
    if not columns:
        return []

    def cells(row: list[str]) -> list[nodes.Cell]:
        return [nodes.Cell([nodes.Text(text)] if text else []) for text in [*row, *[""] * (columns - len(row))]]

    table = nodes.Table(cells(block.header), [cells(row) for row in block.rows], ["none"] * columns)
    return document_lines([table], page)


def _image(block: rows.ImageBlock, page: Page) -> list[Line]:
    alt = page.line(block.alt)
    return wrap([Span(f"[image: {alt}]" if alt else "[image]")], page.width)


def _progress(block: rows.ProgressBlock, page: Page) -> list[Line]:
    share = min(max(block.value, 0.0), 1.0) if isfinite(block.value) else 0.0
    room = min(20, max((page.width or 80) - 8, 1))
    filled = round(share * room)
    bar = [Span(page.glyphs.full * filled, COLORFUL), Span(page.glyphs.empty * (room - filled), ACCENT)]
    line = [*bar, Span(f" {round(share * 100)}%")]
    label = page.line(block.label)
    if label and page.width is not None and width_of(line) + 1 + len(label) > page.width:
        return [*wrap([Span(label)], page.width), *wrap(line, page.width)]
    return wrap([*line, Span(f" {label}" if label else "")], page.width)


def _terminal(block: rows.TerminalBlock, page: Page) -> list[Line]:
    if block.content.strip():
        return _output(rows.OutputBlock(block.content), page)
    name = page.line(block.block_id)
    return wrap([Span(f"[terminal block {name}]", ACCENT)], page.width)


_NUMBER = 7
"""Column at which line numbers end; the sign stands two behind it, the text follows."""
_PADS = [Span(" " * cells) for cells in range(_NUMBER + 3)]
_UNBOUNDED = 1 << 30
_SIGNS = {" ": NORMAL, "+": GREEN, "-": RED}


def diff_lines(file: rows.FileDiff, page: Page) -> list[Line]:
    """The hunks of one file, on the row's own margin: number, sign, text; a deleted file needs no body."""
    out: list[Line] = []
    for hunk in file.hunks if file.action != "Delete" else []:
        if out and hunk:
            out += wrap([Span(page.glyphs.gap, ACCENT)], page.width, [_PADS[_NUMBER + 1]])
        out += _hunk_lines(_Same(hunk), page.width, page.clean)
    return out


class _Same:
    """A value that is equal only to itself, as the key of a cached drawing."""

    __slots__ = ("value",)

    def __init__(self, value: list[rows.DiffLine]) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value


@lru_cache(maxsize=64)
def _hunk_lines(hunk: _Same, width: int | None, clean: Callable[[str], str]) -> list[Line]:
    """Cached, because a diff is drawn when its call starts and again when it ends."""
    out: list[Line] = []
    room = _UNBOUNDED if width is None else width - _NUMBER - 1
    for line in hunk.value:
        sign = line.sign
        style = _SIGNS[sign]
        text = clean(line.text.removesuffix("\r"))
        if line.number is None:
            gutter = [_PADS[_NUMBER + 1]]
        else:
            number = str(line.number)
            gutter = [_PADS[max(_NUMBER - len(number), 0)], Span(number, ACCENT), _PADS[1]]
        if text.isascii() and len(text) < room and "\n" not in text:
            out.append([*gutter, Span(sign + text, style)])
        else:
            body = [Span(text.replace("\n", " "), style)] if text else []
            out += wrap(body, width, [*gutter, Span(sign, style)], [_PADS[_NUMBER + 2]], hard=True)
    return out


def _section(block: rows.SectionBlock, page: Page) -> list[Line]:
    """The heading of the blocks that follow: see `flat_blocks`."""
    title = page.line(block.title)
    return wrap([Span(title, BOLD)], page.width) if title else []


def _diff(block: rows.DiffBlock, page: Page) -> list[Line]:
    """A diff among other blocks: each file under its own head."""
    out: list[Line] = []
    for file in block.files:
        out += wrap([Span(page.clean(span.text), span.style) for span in rows.file_head(file)], page.width)
        out += diff_lines(file, page)
    return out


_OPTION_STYLES = {"allow": GREEN, "deny": RED, "choice": COLORFUL}


def _request(block: rows.RequestBlock, page: Page) -> list[Line]:
    """The options with the command that answers; of a request that has ended, how it ended."""
    card = block.card
    if card.state != "open":
        ended = page.line(outcome(card))
        return wrap([Span(f"{page.glyphs.arrow} ", ACCENT), Span(ended)], page.width, (), [Span("  ")])
    out: list[Line] = []
    for option in card.options:
        name = f"{page.glyphs.left}{page.line(option.id)}{page.glyphs.right}"
        scope = SCOPE_WORDS.get(option.scope, "")
        spans = [Span(name, _OPTION_STYLES[option.kind]), Span(f" {page.line(option.label)}")]
        out += wrap([*spans, Span(f" ({scope})" if scope else "", ACCENT)], page.width, (), [Span("  ")])
    for field in card.fields:
        about = f" {page.line(f'{field.title}: {field_about(field)}')}"
        name = f"{page.glyphs.left}{page.line(field.name)}{page.glyphs.right}"
        out += wrap([Span(name, COLORFUL), Span(about)], page.width, (), [Span("  ")])
    command = [Span("answer: ", ACCENT), Span(page.line(answer_command(card)))]
    if until := expiry(card):
        command.append(Span(f" ({until})", ACCENT))
    return [*out, *wrap(command, page.width, (), [Span("  ")])]


_DRAW: dict[type, Callable[[Any, Page], list[Line]]] = {
    rows.TextBlock: _text,
    rows.MarkdownBlock: _markdown,
    rows.CodeBlock: _code,
    rows.KeyValueBlock: _key_value,
    rows.BadgesBlock: _badges,
    rows.ListBlock: _list,
    rows.AnsiBlock: _ansi,
    rows.OutputBlock: _output,
    rows.DiffBlock: _diff,
    rows.ChecklistBlock: _checklist,
    rows.TableBlock: _table,
    rows.ImageBlock: _image,
    rows.ProgressBlock: _progress,
    rows.TerminalBlock: _terminal,
    rows.SectionBlock: _section,
    rows.RequestBlock: _request,
}
