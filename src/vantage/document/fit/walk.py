"""Walks a document: surveys its contents, and replaces parts of it.

A part that is not replaced stays the same object: a walk that changes nothing returns the list it was given.
"""

from collections.abc import Callable

import msgspec

from vantage.document.nodes import (
    MATH,
    Block,
    Cell,
    CodeBlock,
    FootnoteDef,
    Heading,
    Image,
    Inline,
    Item,
    ListBlock,
    MathBlock,
    Paragraph,
    Quote,
    Records,
    Table,
    Text,
)
from vantage.text.width import width as cells_of

TABLES, CODE, DIAGRAMS, IMAGES, FORMULAS = 1, 2, 4, 8, 16
"""What a document may contain that some display cannot show; combined with `|`."""

DEEPEST = 60
"""The deepest nesting that is refitted. A deeper document is an attack, and has no width left."""

Replace = Callable[[Block, int], "list[Block] | None"]
"""A block and its width → what replaces it; `None` keeps it, and walks into its children."""
Convert = Callable[[list[Inline]], list[Inline]]


def survey(blocks: list[Block], depth: int = 0) -> int:
    """The kinds of content in a document, in one pass: steps with nothing to do are then not run at all."""
    found = 0
    for block in blocks:
        if isinstance(block, (Paragraph, Heading)):
            found |= _survey_inlines(block.content)
        else:
            found |= _survey_block(block, depth)
    return found


def _survey_block(block: Block, depth: int) -> int:
    if isinstance(block, CodeBlock):
        return CODE | DIAGRAMS if block.language.lower() == "mermaid" else CODE
    if isinstance(block, ListBlock) and depth < DEEPEST:
        found = 0
        for item in block.items:
            found |= survey(item.children, depth + 1)
        return found
    if isinstance(block, (Quote, FootnoteDef)) and depth < DEEPEST:
        return survey(block.children, depth + 1)
    if isinstance(block, Table):
        found = TABLES
        for row in (block.header, *block.rows):
            for cell in row:
                found |= _survey_inlines(cell.content)
        return found
    if isinstance(block, Records):
        return IMAGES | FORMULAS  # made by code, not by the parser: rarely enough to survey again
    return FORMULAS if isinstance(block, MathBlock) else 0


def _survey_inlines(content: list[Inline]) -> int:
    found = 0
    for part in content:
        if type(part) is Text:
            if part.marks & MATH:
                found |= FORMULAS
        elif type(part) is Image:
            found |= IMAGES
    return found


def indent_of(block: Quote | ListBlock | FootnoteDef) -> int:
    """Cells that a surface draws before a container's children: `│ `, `- `, `12. `, `[1] `."""
    if isinstance(block, Quote):
        return 2
    if isinstance(block, FootnoteDef):
        return min(cells_of(f"[{block.label}] "), 4)
    tasks = 4 if any(item.checked is not None for item in block.items) else 0
    return tasks + (2 if block.start is None else len(f"{block.start + len(block.items) - 1}. "))


def rewrite(blocks: list[Block], replace: Replace, width: int, depth: int = 0) -> list[Block]:
    """The blocks with `replace` applied to each, children included, outermost first."""
    out: list[Block] | None = None
    for position, block in enumerate(blocks):
        new = replace(block, width)
        if new is None:
            descended = _descend(block, replace, width, depth)
            new = None if descended is block else [descended]
        if new is not None and out is None:
            out = blocks[:position]
        if out is not None:
            out += [block] if new is None else new
    return blocks if out is None else out


def _descend(block: Block, replace: Replace, width: int, depth: int) -> Block:
    if not isinstance(block, (Quote, ListBlock, FootnoteDef)) or depth >= DEEPEST:
        return block
    inner = max(width - indent_of(block), 1)
    if not isinstance(block, ListBlock):
        children = rewrite(block.children, replace, inner, depth + 1)
        return block if children is block.children else msgspec.structs.replace(block, children=children)
    items = [_descend_item(item, replace, inner, depth + 1) for item in block.items]
    if all(new is old for new, old in zip(items, block.items, strict=True)):
        return block
    return ListBlock(items, block.start, block.tight)


def _descend_item(item: Item, replace: Replace, width: int, depth: int) -> Item:
    children = rewrite(item.children, replace, width, depth)
    return item if children is item.children else Item(children, item.checked)


def convert_inlines(block: Block, convert: Convert) -> Block:
    """The block with `convert` applied to each run of inline parts that it holds itself, table cells included."""
    if isinstance(block, (Paragraph, Heading)):
        content = convert(block.content)
        return block if content is block.content else msgspec.structs.replace(block, content=content)
    if isinstance(block, Table):
        header = _convert_cells(block.header, convert)
        rows = [_convert_cells(row, convert) for row in block.rows]
        if header is block.header and all(new is old for new, old in zip(rows, block.rows, strict=True)):
            return block
        return msgspec.structs.replace(block, header=header, rows=rows)
    if isinstance(block, Records):
        records = [[(convert(key), convert(value)) for key, value in record] for record in block.records]
        return block if records == block.records else Records(records)
    return block


def _convert_cells(cells: list[Cell], convert: Convert) -> list[Cell]:
    changed = False
    out: list[Cell] = []
    for cell in cells:
        content = convert(cell.content)
        changed = changed or content is not cell.content
        out.append(cell if content is cell.content else Cell(content))
    return out if changed else cells


def each_inline(blocks: list[Block], convert: Convert) -> list[Block]:
    """All inline parts of a document converted, wherever they are."""

    def replace(block: Block, _width: int) -> list[Block] | None:
        new = convert_inlines(block, convert)
        return None if new is block else [new]

    return rewrite(blocks, replace, 0)
