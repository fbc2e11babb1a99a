"""The last link of the chain: any tool, with its arguments as JSON and its answer in the form that it has."""

import json
import re

from vantage.events import compact_json
from vantage.timeline.calls import ToolCall
from vantage.timeline.patch import parse_patch
from vantage.timeline.row import Block, DiffBlock, MarkdownBlock, OutputBlock, TextBlock, head
from vantage.timeline.tools import Presentation, error_blocks

MAX_CHARACTERS = 64 * 1024
"""Characters. A longer answer is shown as text in any case; it says how much is cut, and all of it can be copied."""
_SHORT = 4096
"""Markdown up to this length is drawn; a longer one is cut like any output."""
_DIFF = re.compile(r"\A(?:diff --git |--- \S[^\n]*\n\+\+\+ \S)")
_MARKDOWN = re.compile(r"\A#{1,6} \S|^```\w*$[\s\S]*^```$|^\|[^\n]+\|\n\|[ :|-]+\|$", re.MULTILINE)


def pretty_json(value: object) -> str | None:
    try:
        return json.dumps(value, indent=2, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        return None


def generic(call: ToolCall) -> Presentation:
    given = call.raw_args
    shown = "" if given is None else given if isinstance(given, str) else compact_json(given)
    return Presentation(head(call.verb("Call", "Tool", "Tool"), call.tool, shown), error_blocks(call) or _answer(call))


def _answer(call: ToolCall) -> list[Block]:
    """JSON is laid out, a diff is drawn as one, markdown if it clearly is markdown; everything else is text."""
    text = (None if call.data is None or call.unpacked else pretty_json(call.data)) or call.output
    if not text.strip():
        return []
    if call.data is None and call.done and len(text) <= MAX_CHARACTERS:
        if _DIFF.match(text) and (files := parse_patch(text)):
            return [DiffBlock(files)]
        if len(text) <= _SHORT and _MARKDOWN.search(text):
            return [MarkdownBlock(text)]
    size: list[Block] = [TextBlock(f"{len(text):,} characters in all", "dim")] if len(text) > MAX_CHARACTERS else []
    return [OutputBlock(text), *size]
