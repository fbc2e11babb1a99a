"""Document nodes as a flat sequence of chunks, the only structure of a chat message: text, preformatted text, quotes.

Nesting becomes indentation; code inside a list or quote is placed between its parts. A message is preferably split
between chunks.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec

from vantage.document import nodes
from vantage.document.nodes import EMPHASIS, STRONG
from vantage.presentation import PresentationContext
from vantage.surfaces.chat import Fold, Note, Part
from vantage.surfaces.chat_text import Run, Runs, join_lines, lines_of, prefixed, runs_of, text_of
from vantage.surfaces.words import node_text
from vantage.text.sanitize import one_line, sanitize
from vantage.text.spans import Span, width_of
from vantage.text.spans import text_of as span_text
from vantage.text.width import pad, truncate, width
from vantage.text.wrap import wrap

LANGUAGE = re.compile(r"[A-Za-z0-9+#._-]{0,32}")
"""Language names that a client may get for highlighting."""
MAX_DEPTH = 24
"""Quotes and lists that are nested deeper are shown as text."""


class Chunk(msgspec.Struct, frozen=True):
    kind: Literal["text", "pre", "quote", "fold", "table", "rule"]
    runs: Runs = []
    tight: bool = False
    """Joined to the chunk before it without a blank line."""
    language: str = ""
    header: str = ""
    """Lines that every part of split preformatted text begins with: a table's head."""
    table: nodes.Table | None = None
    """For surfaces with tables of their own; others draw it as text from `runs` and `header`."""


class Marking(msgspec.Struct, frozen=True):
    """How a surface marks lists and headings."""

    bullet: str = "• "
    done: str = "☑ "
    open: str = "☐ "
    heading: str = ""
    """Repeated per level before a heading; without it, headings are bold."""
    marked: bool = True
    """Whether bold can be shown at all."""
    code: bool = True
    """Whether there is preformatted text; without it, code is indented by four."""
    rule: str = "———"
    quote: str = "│ "
    """Before the lines of a quote inside a quote."""


PLAIN = Marking()
ASCII = Marking(bullet="* ", done="[x] ", open="[ ] ", rule="---", quote="> ")
MARKDOWN = Marking(bullet="- ", done="- [x] ", open="- [ ] ", heading="#", rule="---", quote="> ")


def marking_of(context: PresentationContext) -> Marking:
    """Marks in text, reduced to those that the client can show."""
    base = PLAIN if context.supports_unicode else ASCII
    return msgspec.structs.replace(base, marked=context.supports_rich_text, code=context.supports_code_blocks)


def flow(parts: Iterable[Part], marking: Marking, depth: int = 0) -> list[Chunk]:
    """The parts as chunks, in reading order."""
    if depth > MAX_DEPTH:
        return [Chunk("text", [Run(node_text(list(parts)))])]
    out: list[Chunk] = []
    for part in parts:
        out += NODES.get(type(part), _unknown)(part, marking, depth)
    return out


def _paragraph(node: nodes.Paragraph, _marking: Marking, _depth: int) -> list[Chunk]:
    runs = runs_of(node.content)
    return [Chunk("text", runs)] if runs else []


def _heading(node: nodes.Heading, marking: Marking, _depth: int) -> list[Chunk]:
    runs = runs_of(node.content)
    if marking.heading:
        sign = Run(f"{marking.heading * min(max(node.level, 1), 6)} ", markup=True)
        # a heading in markup is one line
        return [
            Chunk("text", [sign, *[msgspec.structs.replace(run, text=run.text.replace("\n", " ")) for run in runs]])
        ]
    bold = [msgspec.structs.replace(run, marks=run.marks | (STRONG if marking.marked else 0)) for run in runs]
    return [Chunk("text", bold)] if bold else []


def _pre(text: str, marking: Marking, language: str = "") -> list[Chunk]:
    text = sanitize(text).strip("\n").rstrip()
    if not text:
        return []
    if marking.code:
        return [Chunk("pre", [Run(text)], language=language)]
    return [Chunk("text", prefixed([Run(text)], Run("    "), "    "))]


def _code(node: nodes.CodeBlock, marking: Marking, _depth: int) -> list[Chunk]:
    chunks = _pre(node.text, marking, node.language)
    if not (caption := code_caption(node)):
        return chunks
    title = Chunk("text", [Run(caption, EMPHASIS if marking.marked else 0)])
    return [title, *[msgspec.structs.replace(chunk, tight=True) for chunk in chunks]]


def code_caption(node: nodes.CodeBlock) -> str:
    """The info string of a fence, unless it is the language that the client shows itself."""
    said = node.text.strip() and LANGUAGE.fullmatch(node.info or node.language)
    return "" if said else one_line(node.info or node.language)


def _math(node: nodes.MathBlock, marking: Marking, _depth: int) -> list[Chunk]:
    return _pre(node.text, marking)


def _html(node: nodes.HtmlBlock, marking: Marking, _depth: int) -> list[Chunk]:
    return _pre(node.text, marking, "html")


def _rule(_node: nodes.Rule, marking: Marking, _depth: int) -> list[Chunk]:
    return [Chunk("rule", [Run(marking.rule, markup=True)])]


def _quote(node: nodes.Quote, marking: Marking, depth: int) -> list[Chunk]:
    """The text of a quote as one quote, except where code interrupts it."""
    out: list[Chunk] = []
    if node.alert:
        out.append(Chunk("quote", [Run(one_line(node.alert).capitalize(), STRONG if marking.marked else 0)]))
    for chunk in flow(node.children, marking, depth + 1):
        if chunk.kind not in ("text", "quote", "rule"):
            out.append(chunk)
            continue
        runs = chunk.runs
        if chunk.kind == "quote":
            runs = join_lines([[Run(marking.quote, markup=True), *line] for line in lines_of(runs)])
        if out and out[-1].kind == "quote":
            gap = Run("\n" if chunk.tight or (node.alert and len(out) == 1) else "\n\n")
            out[-1].runs.extend([gap, *runs])
        else:
            out.append(Chunk("quote", [*runs], tight=chunk.tight and bool(out)))
    return out


def _list(node: nodes.ListBlock, marking: Marking, depth: int) -> list[Chunk]:
    out: list[Chunk] = []
    for index, item in enumerate(node.items):
        if item.checked is not None:
            sign = marking.done if item.checked else marking.open
        else:
            sign = marking.bullet if node.start is None else f"{node.start + index}. "
        indent = " " * (2 if item.checked is not None else len(sign))
        children = flow(item.children, marking, depth + 1)
        if not children or children[0].kind != "text":
            children.insert(0, Chunk("text", []))
        for place, chunk in enumerate(children):
            tight = place > 0 and (chunk.tight or node.tight) if place else node.tight and index > 0
            runs = chunk.runs
            if chunk.kind == "text":
                first = Run(sign, markup=True) if place == 0 else Run(indent, markup=True)
                runs = prefixed(runs, first, indent)
            out.append(msgspec.structs.replace(chunk, runs=runs, tight=tight))
    return out


def _table(node: nodes.Table, _marking: Marking, _depth: int) -> list[Chunk]:
    header, rows = table_lines(node)
    return [Chunk("table", [Run("\n".join(rows))], header="\n".join(header), table=node)]


def table_lines(table: nodes.Table) -> tuple[list[str], list[str]]:
    """A table in characters: its head with a rule below, and the lines of its rows."""
    grid = [[text_of(runs_of(cell.content)) for cell in row] for row in [table.header, *table.rows]]
    widths = table.widths or [
        max([width(line) for row in grid for line in row[column].split("\n")]) for column in range(len(table.header))
    ]
    drawn = [_grid_row(row, widths, table) for row in grid]
    rule = "─┼─".join(["─" * cells for cells in widths])
    return [*drawn[0], rule], [line for row in drawn[1:] for line in row]


def column_groups(count: int, limit: int) -> list[list[int]]:
    """Columns of a table for a client that takes at most `limit`: groups, each with the first column before it."""
    if count <= limit:
        return [list(range(count))]
    size = limit - 1
    return [[0, *range(start, min(start + size, count))] for start in range(1, count, size)]


def as_records(table: nodes.Table) -> nodes.Records:
    """A table whose cells are too long for the client's own tables."""
    return nodes.Records(
        [[(key.content, cell.content) for key, cell in zip(table.header, row, strict=False)] for row in table.rows]
    )


def _grid_row(cells: list[str], widths: list[int], table: nodes.Table) -> list[str]:
    columns: list[list[str]] = []
    for text, room in zip(cells, widths, strict=False):
        if table.truncate:
            columns.append([truncate(one_line(text), room)])
        else:
            columns.append([span_text(line) for line in wrap([Span(text)], max(room, 1))])
    height = max([len(column) for column in columns], default=0)
    out = []
    for index in range(height):
        line = []
        for column, room, align in zip(columns, widths, table.alignments, strict=False):
            text = column[index] if index < len(column) else ""
            gap = max(room - width_of([Span(text)]), 0)
            before = gap if align == "right" else gap // 2 if align == "center" else 0
            line.append(" " * before + pad(text, room - before))
        out.append(" │ ".join(line).rstrip())
    return out


def _records(node: nodes.Records, marking: Marking, _depth: int) -> list[Chunk]:
    out = []
    for record in node.records:
        lines = []
        for key, value in record:
            bold = STRONG if marking.marked else 0
            name = [msgspec.structs.replace(run, marks=run.marks | bold) for run in runs_of(key)]
            sign = [*name, Run(":", bold), Run(" ")] if name else []
            lines.append([*sign, *runs_of(value)])
        out.append(Chunk("text", join_lines(lines)))
    return out


def _footnote(node: nodes.FootnoteDef, marking: Marking, depth: int) -> list[Chunk]:
    children = flow(node.children, marking, depth + 1)
    label = Run(f"[{one_line(node.label)}] ")
    if children and children[0].kind == "text":
        return [msgspec.structs.replace(children[0], runs=[label, *children[0].runs]), *children[1:]]
    return [Chunk("text", [label]), *children]


def _fold(part: Fold, _marking: Marking, _depth: int) -> list[Chunk]:
    text = sanitize(part.text).strip("\n").rstrip()
    return [Chunk("fold", [Run(text)])] if text else []


def _note(part: Note, marking: Marking, _depth: int) -> list[Chunk]:
    return [Chunk("text", [Run(sanitize(part.text), EMPHASIS if marking.marked else 0)], tight=True)]


def _unknown(part: Any, _marking: Marking, _depth: int) -> list[Chunk]:
    return [Chunk("text", [Run(node_text(part) or type(part).__name__, EMPHASIS)])]


NODES: dict[type, Callable[[Any, Marking, int], list[Chunk]]] = {
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
    Fold: _fold,
    Note: _note,
}
