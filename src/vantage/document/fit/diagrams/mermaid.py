"""Mermaid diagrams as outlines of their nodes and edges, with complete labels.

A diagram is understood as a whole or not at all: if one line is not understood, it stays code.
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
"""Characters. A longer text is data, not a diagram to read."""

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
    """A diagram in words; `None` when its kind, or one of its lines, is not understood."""
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
