"""Diagrams where they cannot be drawn: a fence of Mermaid becomes an outline of its nodes and edges, labels in full.

A diagram is understood line by line or not at all: with one line that is not, it stays the code that it is.
"""

import re
from collections.abc import Callable

from vantage.document.fit.diagrams.flowchart import flowchart
from vantage.document.fit.diagrams.kinds import Outline, classes, entities, gantt, pie, sequence, state
from vantage.document.fit.diagrams.outline import NotUnderstoodError, blocks_of
from vantage.document.fit.walk import rewrite
from vantage.document.nodes import Block, CodeBlock
from vantage.presentation import PresentationContext

LONGEST, LONGEST_LINE = 50_000, 500
"""Characters: beyond that it is data, not a diagram to be read."""

READERS: dict[str, Callable[[str, list[str]], Outline]] = {
    "graph": flowchart,
    "flowchart": flowchart,
    "sequenceDiagram": sequence,
    "stateDiagram": state,
    "stateDiagram-v2": state,
    "classDiagram": classes,
    "erDiagram": entities,
    "pie": pie,
    "gantt": gantt,
}

_FRONT_MATTER = re.compile(r"\A\s*---\n.*?\n---\n", re.DOTALL)
_COMMENT = re.compile(r"%%.*")


def mermaid(blocks: list[Block], context: PresentationContext, notes: list[str]) -> list[Block]:
    if context.supports_mermaid:
        return blocks

    def replace(block: Block, _width: int) -> list[Block] | None:
        if not isinstance(block, CodeBlock) or block.language.lower() != "mermaid":
            return None
        new = outline(block.text)
        note = "mermaid → code" if new is None else "mermaid → outline"
        if note not in notes:
            notes.append(note)
        return new

    return rewrite(blocks, replace, context.content_width)


def outline(text: str) -> list[Block] | None:
    """A diagram in words; `None` when it is of a kind, or holds a line, that is not understood."""
    if len(text) > LONGEST:
        return None
    text = _FRONT_MATTER.sub("", text)
    lines = [line for raw in text.split("\n") if (line := _COMMENT.sub("", raw).strip())]
    if max(map(len, lines), default=0) > LONGEST_LINE:
        return None
    reader = READERS.get(next(iter(lines[0].replace(";", " ").split()), "")) if lines else None
    if reader is None:
        return None
    try:
        title, entries = reader(lines[0], lines[1:])
    except NotUnderstoodError:
        return None
    return blocks_of(title, entries) if entries else None
