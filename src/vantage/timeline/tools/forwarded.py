"""The third link of the chain: ANSI text from a tool's own renderer. Colours are kept; every other control is made
visible.
"""

from vantage.text.sgr import parse_ansi
from vantage.timeline.calls import ToolCall
from vantage.timeline.row import AnsiBlock, Block
from vantage.timeline.tools import Presentation, error_blocks


def forwarded(call: ToolCall) -> Presentation | None:
    """`renderCall` is the head (its first line) and body, `renderResult` the rest."""
    if not call.render_call and not call.render_result:
        return None
    first, _, rest = call.render_call.strip("\n").partition("\n")
    title = parse_ansi(first)[0] if first.strip() else parse_ansi(call.tool)[0]
    blocks: list[Block] = [AnsiBlock(text) for text in (rest, call.render_result) if text.strip()]
    return Presentation(title, [*blocks, *error_blocks(call)])
