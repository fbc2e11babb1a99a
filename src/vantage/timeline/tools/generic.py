"""The last link of the chain: any tool, its arguments as JSON and its answer as readable text."""

import json

from vantage.events import compact_json
from vantage.timeline.calls import ToolCall
from vantage.timeline.row import Block, OutputBlock, head
from vantage.timeline.tools import Presentation, error_blocks


def pretty_json(value: object) -> str | None:
    try:
        return json.dumps(value, indent=2, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        return None


def generic(call: ToolCall) -> Presentation:
    given = call.raw_args
    shown = "" if given is None else given if isinstance(given, str) else compact_json(given)
    output = (None if call.data is None or call.unpacked else pretty_json(call.data)) or call.output
    blocks: list[Block] = error_blocks(call) or ([OutputBlock(output)] if output.strip() else [])
    return Presentation(head("Tool", call.tool, shown), blocks)
