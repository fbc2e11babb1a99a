"""Words that surfaces share: a status in words, a duration, the text of a block that cannot be drawn.

And `flat_blocks`, for surfaces on which a section is a heading and no box.
"""

from typing import Any

import msgspec

from vantage.document import nodes
from vantage.presentation import PresentationContext
from vantage.text.sanitize import sanitize
from vantage.timeline.row import Block, SectionBlock, shown_blocks

STATUS_WORDS = {"none": "", "running": "running", "ok": "done", "warning": "warning", "error": "failed"}
CHECK_WORDS = {"pending": "to do", "in_progress": "in progress", "completed": "done"}


def duration_text(milliseconds: int) -> str:
    """`340 ms`, `1.2 s`, `2 min 5 s`, `1 h 3 min`."""
    if milliseconds < 1000:
        return f"{max(milliseconds, 0)} ms"
    seconds = milliseconds / 1000
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def shown(block: Block, context: PresentationContext) -> list[Block]:
    """The block, its fallback, or nothing, depending on the display."""
    return shown_blocks([block], context) if getattr(block, "requires", None) else [block]


def flat_blocks(blocks: list[Block], context: PresentationContext) -> list[Block]:
    """The blocks that a display draws, with those of sections among the others.

    A section becomes a section without blocks, which is its heading, followed by its blocks; its actions follow its
    last block. Deep nesting costs no recursion.
    """
    for block in blocks:
        if type(block) is SectionBlock or getattr(block, "requires", None):
            break
    else:
        return blocks
    out: list[Block] = []
    todo = list(reversed(blocks))
    while todo:
        for block in shown(todo.pop(), context):
            if not isinstance(block, SectionBlock) or not block.blocks:
                out.append(block)
                continue
            out.append(SectionBlock(block.title, []))
            if block.actions:
                todo.append(SectionBlock("", [], actions=block.actions))
            todo += reversed(block.blocks)
    return out


def block_text(block: Any) -> str:
    """The text of an unknown block, or of one whose drawing failed: its content, or else its fields as JSON."""
    content = getattr(block, "content", None)
    if isinstance(content, str):
        return content
    try:
        return msgspec.json.encode(block).decode()
    except Exception:  # noqa: BLE001 - the last resort must not fail, whatever the block is
        return f"[{type(block).__name__}]"


def node_text(node: Any) -> str:
    """The words of a document node and everything below it, sanitised: for notifications, and below the deepest
    nesting.
    """
    parts: list[str] = []
    todo: list[Any] = [node]
    while todo:
        item = todo.pop()
        if isinstance(item, list | tuple):
            if item and isinstance(item[0], nodes.Inline):
                parts.append(nodes.plain_text(list(item)))
            else:
                todo.extend(reversed(item))
        elif isinstance(item, nodes.CodeBlock | nodes.MathBlock | nodes.HtmlBlock):
            parts.append(item.text)
        elif isinstance(item, nodes.Paragraph | nodes.Heading | nodes.Cell):
            parts.append(nodes.plain_text(item.content))
        elif isinstance(item, nodes.Quote | nodes.Item | nodes.FootnoteDef):
            todo.append(item.children)
        elif isinstance(item, nodes.ListBlock):
            todo.append(item.items)
        elif isinstance(item, nodes.Table):
            todo += [item.rows, item.header]
        elif isinstance(item, nodes.Records):
            todo.append(item.records)
    return sanitize("\n".join([part for part in parts if part]))
