"""Documents fitted to displays, drawn as text: `tests/fixtures/fit/*.md`. A change of look is a text diff.

A case is a heading, the input in a fence that names the display, the outcome in a `text` fence and what was given up.
"""

import pytest

from cases import Case, cases
from vantage.document.fit import fit
from vantage.document.fit.math import approximate
from vantage.document.fit.unicode import to_ascii
from vantage.document.inline import spans_of
from vantage.document.markdown import parse
from vantage.document.nodes import (
    CodeBlock,
    FootnoteDef,
    Heading,
    ListBlock,
    MathBlock,
    Paragraph,
    Quote,
    Records,
    Table,
)
from vantage.presentation import PresentationContext
from vantage.text.spans import text_of, width_of
from vantage.text.width import pad, truncate
from vantage.text.wrap import trim, wrap

SWITCHES = {
    "tables": "supports_tables", "code": "supports_code_blocks", "rich": "supports_rich_text",
    "unicode": "supports_unicode", "markdown": "supports_markdown",
}  # fmt: skip


def context_of(option: str) -> PresentationContext:
    """`45,wrap,max=3,no-tables` as a context."""
    fields = {}
    for word in option.split(","):
        if word.isdecimal():
            fields["content_width"] = int(word)
        elif word.startswith("max="):
            fields["max_table_columns"] = int(word[4:])
        elif word.startswith("no-"):
            fields[SWITCHES[word[3:]]] = False
        elif word:
            fields["table_mode"] = word
    return PresentationContext(**fields)


def said(content):
    return text_of(spans_of(content))


def draw(blocks, width):
    """Blocks below each other, a blank line between them."""
    out = []
    for block in blocks:
        out += ["", *draw_block(block, width)] if out else draw_block(block, width)
    return out


def draw_block(block, width):
    if isinstance(block, Table):
        return draw_table(block)
    if isinstance(block, Records):
        records = [
            [f"{said(key)}: {said(value)}".rstrip() if key else said(value) for key, value in r] for r in block.records
        ]
        return "\n\n".join(["\n".join(record) for record in records]).split("\n")
    if isinstance(block, Paragraph | Heading):
        return [text_of(line) for line in wrap(spans_of(block.content), width)]
    if isinstance(block, CodeBlock):
        lines = block.text.split("\n")
        return [f"~~~{block.language}", *lines, "~~~"] if block.fenced else [f"    {line}" for line in lines]
    if isinstance(block, MathBlock):
        return block.text.split("\n")
    if isinstance(block, Quote):
        return [f"> {line}".rstrip() for line in draw(block.children, width - 2)]
    if isinstance(block, FootnoteDef):
        return hang(f"[{block.label}] ", draw(block.children, width - 4))
    if isinstance(block, ListBlock):
        marker = "- " if block.start is None else f"{block.start}. "
        out = []
        for item in block.items:
            lines = [line for child in item.children for line in draw_block(child, width - len(marker))]
            out += hang(marker, lines or [""])
        return out
    return [type(block).__name__]


def hang(marker, lines):
    return [((marker if at == 0 else " " * len(marker)) + line).rstrip() for at, line in enumerate(lines)]


def draw_table(table):
    rows = [[cell.content for cell in row] for row in [table.header, *table.rows]]
    widths = table.widths or [
        max([1, *[width_of(line) for row in rows for line in wrap(spans_of(row[i]), None)]])
        for i in range(len(rows[0]))
    ]
    rule = "+" + "+".join(["-" * (width + 2) for width in widths]) + "+"
    out = [rule]
    for row in rows:
        cells = [
            [truncate(said(cell), width)] if table.truncate else [text_of(trim(x)) for x in wrap(spans_of(cell), width)]
            for cell, width in zip(row, widths, strict=True)
        ]
        for number in range(max(map(len, cells))):
            texts = [cell[number] if number < len(cell) else "" for cell in cells]
            out.append("| " + " | ".join([pad(text, size) for text, size in zip(texts, widths, strict=True)]) + " |")
        if row is rows[0]:
            out.append(rule)
    return [*out, rule]


def outcome(case: Case) -> tuple[str, str]:
    """The drawing and the notes of a case."""
    source = case.fences[0]
    if source.kind == "tex":
        return "".join([f"{approximate(line)}\n" for line in source.text.splitlines()]), ""
    if source.kind == "ascii":
        return "".join([f"{to_ascii(line)}\n" for line in source.text.splitlines()]), ""
    context = context_of(source.option)
    text = source.text.replace("~~~", "```")
    if source.kind == "mermaid":
        text = f"```mermaid\n{text}```\n"
    fitted = fit(parse(text), context)
    return "\n".join(draw(fitted.blocks, context.content_width)) + "\n", "".join([f"{n}\n" for n in fitted.notes])


@pytest.mark.parametrize("case", cases("fit"), ids=str)
def test_fitted(case):
    drawn, notes = outcome(case)
    assert drawn == case.first("text")
    assert notes == case.first("notes")
