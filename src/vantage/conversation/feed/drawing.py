"""One row as it travels: drawn for a surface, within limits. Pure but for the thread that draws long rows."""

import asyncio
import dataclasses
import json
from typing import Any, NamedTuple

import msgspec

from vantage.presentation import PresentationContext, profile
from vantage.surfaces import SURFACES, draw
from vantage.timeline.excerpt import MAX_TEXT, excerpt, excerpt_title
from vantage.timeline.row import AnsiBlock, CodeBlock, MarkdownBlock, OutputBlock, Row, TerminalBlock, TextBlock

THREAD_SIZE = 1 << 15
"""A row with more text than this is drawn in a thread, so it does not block the event loop."""
MAX_DRAWN = 2 << 20
"""The most characters of one drawn row. A longer one is drawn from less text, and the row says so."""
DRAWN_AS = {"html": "html", "telegram": "messages", "slack": "messages"}
"""Surface → the field its drawing travels in; `text` for the others."""

_MIN_TEXT = 1000
"""How many characters of a row's text are drawn, however long the drawing gets."""
_WITH_TEXT = (TextBlock, MarkdownBlock, CodeBlock, AnsiBlock, OutputBlock, TerminalBlock)
_OUTLINE = (
    "id",
    "kind",
    "status",
    "agent",
    "by",
    "icon",
    "icon_color",
    "trailing",
    "ts",
    "duration_ms",
    "tool",
    "diagnostics",
)
"""Fields that a row's outline has where they are set."""

assert set(DRAWN_AS) < set(SURFACES)


class RenderTarget(NamedTuple):
    """What rows are drawn for: a surface and its display."""

    surface: str
    context: PresentationContext

    @classmethod
    def of(cls, surface: str, width: int | None = None) -> "RenderTarget":
        """A surface with its default display."""
        base = _DEFAULTS.get(surface)
        context = profile("web" if surface == "html" else surface) if base is None else base
        return cls(surface, context if width is None else dataclasses.replace(context, content_width=width))


_DEFAULTS = {
    "terminal": PresentationContext(),
    "plain": PresentationContext(client_type="plain", color_depth=0),
}


async def draw_row(row: Row, target: RenderTarget) -> str:
    """The end of a row's message, after `"seq": N`: `"row": …, "html": …}`."""
    if sum(len(block.content) for block in row.blocks if isinstance(block, _WITH_TEXT)) > THREAD_SIZE:
        return await asyncio.to_thread(_drawing, row, target)
    return _drawing(row, target)


def _drawing(row: Row, target: RenderTarget) -> str:
    outline = _outline(row)
    limit = MAX_TEXT
    while True:
        drawn = draw([excerpt(row, limit)], target.context, target.surface)
        text = as_json({"row": outline, DRAWN_AS.get(target.surface, "text"): drawn.output})[1:]
        if len(text) <= MAX_DRAWN or limit < _MIN_TEXT:
            return text
        limit = limit * MAX_DRAWN // len(text) * 3 // 4


def _outline(row: Row) -> dict[str, Any]:
    """What is known of a row without drawing it."""
    about = msgspec.structs.asdict(row)
    stated = {name: about[name] for name in _OUTLINE if about[name] not in (None, "", [])}
    asked = {"request": row.request} if row.request else {}
    return {**stated, "title": excerpt_title(row), "depth": row.depth, "seq": row.seq, "begin": row.begin, **asked}


def as_json(value: Any) -> str:
    """A message as it travels. A lone surrogate, which JSON can express and UTF-8 cannot, is replaced."""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False)
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
