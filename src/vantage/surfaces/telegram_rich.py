"""Rows → rich messages of the Bot API (10.2 and later, `sendRichMessage`): native tables, lists, details.

Blocks are the API's `InputRichBlock…` objects, texts its `RichText…`. A message has at most 32,768 units of text, 500
blocks (list items and table rows count) and 20 table columns, nested 16 deep; longer content continues in the next one,
under a repeated head. `NODES` has one function per node type.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from vantage.document import nodes
from vantage.document.nodes import CODE, EMPHASIS, HTML, MATH, STRIKE, STRONG
from vantage.presentation import PresentationContext
from vantage.surfaces.chat import ChatRow, Fold, Note, Part
from vantage.surfaces.chat_flow import LANGUAGE, as_records, code_caption, column_groups
from vantage.surfaces.chat_text import Feed, Run, Runs, join_lines, pieces, runs_of, text_of, trimmed, utf16
from vantage.surfaces.words import node_text
from vantage.text.sanitize import one_line, sanitize

MAX_UNITS = 32_768
MIN_UNITS = 256
MAX_BLOCKS = 480
"""Of 500, because the API may count blocks differently."""
MAX_COLUMNS = 20
MAX_DEPTH = 5
"""Nested containers: a list and its item are two levels, and the text in them has levels of its own."""

_MAIL = re.compile(r"mailto:([^@?\s]+@[A-Za-z0-9.-]+)", re.IGNORECASE)
# mark → RichText type, innermost first
_MARKS = ((CODE | MATH | HTML, "code"), (STRIKE, "strikethrough"), (EMPHASIS, "italic"), (STRONG, "bold"))

RichBlock = dict[str, Any]


class Budget(msgspec.Struct, frozen=True):
    """The most that one block with its content may cost."""

    units: int
    blocks: int
    depth: int = 0

    def inner(self, units: int = 0) -> "Budget":
        """The budget for the children of a container that needs `units` itself."""
        return Budget(max(self.units - units, 64), self.blocks - 8, self.depth + 1)


def rich_messages(rows: Iterable[ChatRow], context: PresentationContext) -> list[dict[str, Any]]:
    limit = max(min(context.max_message_units or MAX_UNITS, MAX_UNITS), MIN_UNITS)
    whole = Budget(limit, MAX_BLOCKS)
    blocks = [block for row in rows for block in _row(row, whole)]
    return [{"rich_message": {"blocks": group, "skip_entity_detection": True}} for group in _groups(blocks, whole)]


def _row(row: ChatRow, budget: Budget) -> list[RichBlock]:
    """A tool's body folds below its head; a message is its blocks."""
    if not row.head:
        body = _blocks(row.parts, budget)
        return [*_paragraphs([Run(row.mark.rstrip())], budget), *body] if row.mark else body
    heads = list(pieces(row.head, min(budget.units // 4, 1024)))
    inner = budget.inner(sum([utf16(text_of(head)) for head in heads[:1]]))
    groups = list(_groups(_blocks(row.parts, inner), inner)) if row.parts else []
    if not row.tool or not groups or len(heads) > 1:
        out = [block for head in heads for block in _paragraphs(head, budget)]
        return [*out, *[block for group in groups for block in group]]
    return [{"type": "details", "summary": _rich(heads[0]), "blocks": group} for group in groups]


def _blocks(parts: Iterable[Part], budget: Budget) -> list[RichBlock]:
    if budget.depth > MAX_DEPTH:
        return _paragraphs([Run(node_text(list(parts)))], budget)
    out: list[RichBlock] = []
    for part in parts:
        out += NODES.get(type(part), _unknown)(part, budget)
    return out


def _groups(blocks: list[RichBlock], budget: Budget) -> Iterator[list[RichBlock]]:
    """The blocks in groups that each keep to the budget; a block on its own always does."""
    group: list[RichBlock] = []
    used_units = used_blocks = 0
    for block in blocks:
        cost_units, cost_blocks = _cost(block)
        if group and (used_units + cost_units > budget.units or used_blocks + cost_blocks > budget.blocks):
            yield group
            group, used_units, used_blocks = [], 0, 0
        group.append(block)
        used_units += cost_units
        used_blocks += cost_blocks
    if group:
        yield group


def _cost(value: Any) -> tuple[int, int]:
    """Units of text and blocks in a block, list item or text."""
    if isinstance(value, str):
        return utf16(value), 0
    if isinstance(value, list):
        costs = [_cost(item) for item in value]
        return sum([units for units, _ in costs]), sum([blocks for _, blocks in costs])
    if "cells" in value:
        return sum([_cost(cell.get("text", ""))[0] for row in value["cells"] for cell in row]), 1 + len(value["cells"])
    units, blocks = _cost([value[name] for name in ("text", "summary", "blocks", "items") if name in value])
    is_text = "text" in value and value.get("type") in _TEXT_TYPES
    return units, blocks if is_text else blocks + 1


_TEXT_TYPES = frozenset({"bold", "italic", "strikethrough", "code", "url", "email_address"})


def _rich(runs: Runs) -> Any:
    """Runs as `RichText`: a string, or a list of strings and marked texts."""
    out: list[Any] = []
    for run in _spelt(runs):
        text: Any = run.text
        for mark, name in _MARKS:
            if run.marks & mark:
                text = {"type": name, "text": text}
        if run.url and (mail := _MAIL.match(run.url)):
            text = {"type": "email_address", "text": text, "email_address": mail[1]}
        elif run.url:
            text = {"type": "url", "text": text, "url": run.url}
        if isinstance(text, str) and out and isinstance(out[-1], str):
            out[-1] += text
        else:
            out.append(text)
    return out[0] if len(out) == 1 else out


def _spelt(runs: Runs) -> Runs:
    """The runs; an invalid mail address is written after its text instead of being linked."""
    out: Runs = []
    for run in runs:
        if run.url is None or not run.url.lower().startswith("mailto:") or _MAIL.match(run.url):
            out.append(run)
            continue
        address = "" if run.url[7:] in run.text else f" ({run.url[7:]})"
        out.append(Run(run.text + address, run.marks))
    return out


def _paragraphs(runs: Runs, budget: Budget, kind: str = "paragraph", **extra: object) -> list[RichBlock]:
    """Text as one block of `kind`, or several when it is long."""
    return [{"type": kind, "text": _rich(piece), **extra} for piece in pieces(trimmed(runs), _leaf(budget))]


def _leaf(budget: Budget) -> int:
    """The most units of a block without children: a part of the budget, so that groups fill messages well."""
    return max(budget.units // 4, 64)


def _paragraph(node: nodes.Paragraph, budget: Budget) -> list[RichBlock]:
    return _paragraphs(runs_of(node.content), budget)


def _heading(node: nodes.Heading, budget: Budget) -> list[RichBlock]:
    return _paragraphs(runs_of(node.content), budget, "heading", size=min(max(node.level, 1), 6))


def _pre(text: str, budget: Budget, language: str = "") -> list[RichBlock]:
    feed = Feed([Run(sanitize(text).strip("\n").rstrip())])
    extra = {"language": language} if language and LANGUAGE.fullmatch(language) else {}
    out: list[RichBlock] = []
    while feed:
        if (piece := text_of(feed.take(_leaf(budget), exact=True))).strip():
            out.append({"type": "pre", "text": piece, **extra})
    return out


def _code(node: nodes.CodeBlock, budget: Budget) -> list[RichBlock]:
    caption = _paragraphs([Run(code_caption(node), EMPHASIS)], budget)
    return [*caption, *_pre(node.text, budget, node.language)]


def _math(node: nodes.MathBlock, budget: Budget) -> list[RichBlock]:
    return _pre(node.text, budget)


def _html(node: nodes.HtmlBlock, budget: Budget) -> list[RichBlock]:
    return _pre(node.text, budget, "html")


def _rule(_node: nodes.Rule, _budget: Budget) -> list[RichBlock]:
    return [{"type": "divider"}]


def _quote(node: nodes.Quote, budget: Budget) -> list[RichBlock]:
    inner = budget.inner()
    title = _paragraphs([Run(one_line(node.alert).capitalize(), STRONG)], inner) if node.alert else []
    children = [*title, *_blocks(node.children, inner)]
    return [{"type": "blockquote", "blocks": group} for group in _groups(children, inner)]


def _list(node: nodes.ListBlock, budget: Budget) -> list[RichBlock]:
    inner = budget.inner()
    items: list[RichBlock] = []
    for index, item in enumerate(node.items):
        for part, group in enumerate(_groups(_blocks(item.children, inner.inner()), inner)):
            entry: RichBlock = {"blocks": group}
            if item.checked is not None and not part:
                entry["has_checkbox"] = True
                if item.checked:
                    entry["is_checked"] = True
            if node.start is not None:
                entry |= {"value": node.start + index, "type": "1"}
            items.append(entry)
    return [{"type": "list", "items": group} for group in _groups(items, inner)]


def _table(node: nodes.Table, budget: Budget) -> list[RichBlock]:
    """A table, split between rows, its head repeated; more columns than allowed come in groups beside the first."""
    out: list[RichBlock] = []
    for columns in column_groups(len(node.header), MAX_COLUMNS):
        head = _cells(node, node.header, columns, header=True)
        used, rows = _cells_units(head), [head]
        for row in node.rows:
            cells = _cells(node, row, columns, header=False)
            cost = _cells_units(cells)
            if len(rows) > 1 and (used + cost > budget.units // 2 or len(rows) >= budget.blocks // 2):
                out.append({"type": "table", "cells": rows, "is_bordered": True})
                used, rows = _cells_units(head), [head]
            rows.append(cells)
            used += cost
        out.append({"type": "table", "cells": rows, "is_bordered": True})
    fits = all(_cost(table)[0] <= budget.units for table in out)
    return out if fits else _records(as_records(node), budget)


def _cells(node: nodes.Table, row: list[nodes.Cell], columns: list[int], *, header: bool) -> list[RichBlock]:
    out = []
    for column in columns:
        align = node.alignments[column] if column < len(node.alignments) else "none"
        runs = runs_of(row[column].content) if column < len(row) else []
        cell: RichBlock = {"align": "left" if align == "none" else align, "valign": "top", "text": _rich(runs) or " "}
        out.append(cell | {"is_header": True} if header else cell)
    return out


def _cells_units(cells: list[RichBlock]) -> int:
    return sum([_cost(cell["text"])[0] for cell in cells])


def _records(node: nodes.Records, budget: Budget) -> list[RichBlock]:
    out: list[RichBlock] = []
    for record in node.records:
        lines = []
        for key, value in record:
            name = [msgspec.structs.replace(run, marks=run.marks | STRONG) for run in runs_of(key)]
            sign = [*name, Run(":", STRONG), Run(" ")] if name else []
            lines.append([*sign, *runs_of(value)])
        out += _paragraphs(join_lines(lines), budget)
    return out


def _footnote(node: nodes.FootnoteDef, budget: Budget) -> list[RichBlock]:
    label = Run(f"[{one_line(node.label)}] ")
    children = node.children
    if children and isinstance(first := children[0], nodes.Paragraph):
        return [*_paragraphs([label, *runs_of(first.content)], budget), *_blocks(children[1:], budget.inner())]
    return [*_paragraphs([label], budget), *_blocks(children, budget.inner())]


def _fold(part: Fold, budget: Budget) -> list[RichBlock]:
    return _pre(part.text, budget)


def _note(part: Note, budget: Budget) -> list[RichBlock]:
    return _paragraphs([Run(sanitize(part.text), EMPHASIS)], budget)


def _unknown(part: Any, budget: Budget) -> list[RichBlock]:
    return _paragraphs([Run(node_text(part) or type(part).__name__)], budget)


NODES: dict[type, Callable[[Any, Budget], list[RichBlock]]] = {
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
