"""Words that surfaces share: a status in words, a duration, the text of a block that cannot be drawn.

And `flat_blocks`, for surfaces on which a section is a heading and no box.
"""

import shlex
from datetime import UTC, datetime
from typing import Any

import msgspec

from vantage.document import nodes
from vantage.events import text_of_value
from vantage.presentation import PresentationContext
from vantage.text.sanitize import sanitize
from vantage.timeline.request_card import Field, Given, RequestCard
from vantage.timeline.row import Block, Row, SectionBlock, shown_blocks

STATUS_WORDS = {
    "none": "",
    "running": "running",
    "waiting": "waiting for an answer",
    "ok": "done",
    "warning": "warning",
    "error": "failed",
}
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


CLOSED_WORDS = {
    "expired": "expired without an answer",
    "withdrawn": "withdrawn",
    "answered_elsewhere": "answered elsewhere",
    "too_late": "the answer came too late",
    "lost": "the agent has gone",
}
"""Why a request is closed."""
SCOPE_WORDS = {"session": "for this session", "always": "from now on"}
"""How long an option's choice holds, where it is longer than once."""


def person(by: str) -> str:
    """Who sent or answered something: `bot:telegram:ada` is `ada on telegram`."""
    kind, _, rest = by.partition(":")
    if kind == "bot" and ":" in rest:
        bot, _, name = rest.partition(":")
        return f"{name} on {bot}"
    return "the command line" if by == "cli" else f"client {rest}" if kind == "client" and rest else by


def named(row: Row) -> str:
    """Who sent a person's message, where its sender has a name: clients have none that says who sits there."""
    return person(row.by) if row.by.startswith("bot:") else ""


def outcome(card: RequestCard) -> str:
    """What became of a request: `Allow once (ada on telegram)`; "" while it is open."""
    said = [_answered(card, card.answer)] if card.answer else []
    if card.state == "closed":
        said.append(CLOSED_WORDS.get(card.why, card.why or "closed"))
    return "; ".join(said)


def _answered(card: RequestCard, answer: Given) -> str:
    option = card.option(answer.option)
    values = answer.values
    if isinstance(values, dict):
        values = ", ".join([f"{name}: {text_of_value(value)}" for name, value in values.items()])
    parts = [option.label if option else answer.option, answer.text, text_of_value(values)]
    by = f" ({person(answer.by)})" if answer.by else ""
    return (": ".join(filter(None, parts)) or "answered") + by


def expiry(card: RequestCard) -> str:
    """`until 2026-11-18 20:30 UTC`, of an open request that expires."""
    if card.expires is None or card.state != "open":
        return ""
    try:
        return datetime.fromtimestamp(card.expires / 1000, UTC).strftime("until %Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return ""


def field_about(field: Field) -> str:
    """What a form's field takes: `text, required: The branch to push to`."""
    takes = " or ".join([choice.label for choice in field.choices]) or {
        "string": "text",
        "boolean": "true or false",
    }.get(field.type, "number")
    required = ", required" if field.required else ""
    return f"{takes}{required}{f': {field.description}' if field.description else ''}"


def answer_command(card: RequestCard) -> str:
    """The command that answers an open request."""
    if card.kind == "secret":
        return "vantage send --secret"
    name = shlex.quote(card.request_id)
    if card.options:
        text = " [--text TEXT]" if any(option.needs_text for option in card.options) else ""
        return f"vantage answer {name} OPTION{text}"
    return f"vantage answer {name} {'--values JSON' if card.schema is not None else '--text TEXT'}"


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
