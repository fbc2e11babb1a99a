"""Code where fences are not supported: the block is marked to be drawn indented by four."""

import msgspec

from vantage.document.fit.walk import rewrite
from vantage.document.nodes import Block, CodeBlock
from vantage.presentation import PresentationContext


def code(blocks: list[Block], context: PresentationContext, notes: list[str]) -> list[Block]:
    if context.supports_code_blocks:
        return blocks

    def replace(block: Block, _width: int) -> list[Block] | None:
        if isinstance(block, CodeBlock) and block.fenced:
            return [msgspec.structs.replace(block, fenced=False)]
        return None

    out = rewrite(blocks, replace, context.content_width)
    if out is not blocks:
        notes.append("code → indented")
    return out
