"""Text for clients that do not render markdown: no marks, no headings, links as `text (address)`.

Blocks keep their kinds if a surface draws them without markup (lists, quotes, code).
"""

from vantage.document.fit.rich_text import without_marks
from vantage.document.fit.walk import convert_inlines, rewrite
from vantage.document.nodes import Block, Heading, Paragraph
from vantage.presentation import PresentationContext


def plain(blocks: list[Block], context: PresentationContext, notes: list[str]) -> list[Block]:
    if context.supports_markdown:
        return blocks

    def replace(block: Block, _width: int) -> list[Block] | None:
        if isinstance(block, Heading):
            return [Paragraph(without_marks(block.content))]
        new = convert_inlines(block, without_marks)
        return None if new is block else [new]

    out = rewrite(blocks, replace, context.content_width)
    if out is not blocks:
        notes.append("markdown → plain text")
    return out
