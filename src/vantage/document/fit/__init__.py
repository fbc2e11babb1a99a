"""Documents fitted to a display: an ordered table of steps, each a pure function from blocks to blocks.

Every field of `PresentationContext` is handled by one step here, or by a surface (`ELSEWHERE`). A document that a
display can show unchanged is returned as the same list.
"""

from collections.abc import Callable

import msgspec

from vantage.document.fit import walk
from vantage.document.nodes import Block
from vantage.presentation import PresentationContext

__all__ = ["ELSEWHERE", "STEPS", "Fitted", "Step", "fit"]


class Fitted(msgspec.Struct, frozen=True):
    blocks: list[Block]
    notes: list[str]
    """What was lost in fitting: `table → records`. Each note once."""


Apply = Callable[[list[Block], PresentationContext, list[str]], list[Block]]
"""Blocks, the display and the notes so far → the blocks that the display can show. Notes are appended."""
Capability = Callable[[PresentationContext], bool]


class Step(msgspec.Struct, frozen=True):
    apply: Apply
    fields: tuple[str, ...]
    """The fields of the context that this step handles."""
    concerns: int = 0
    """Kinds of content (`walk.survey`) that this step changes; 0: any content."""
    unless: Capability | None = None
    """The capability that makes this step unnecessary."""


def _mermaid(blocks: list[Block], context: PresentationContext, notes: list[str]) -> list[Block]:
    from vantage.document.fit.diagrams.mermaid import mermaid  # noqa: PLC0415 -- a step is loaded when it has something to do

    return mermaid(blocks, context, notes)


def _images(blocks: list[Block], context: PresentationContext, notes: list[str]) -> list[Block]:
    from vantage.document.fit.images import images  # noqa: PLC0415

    return images(blocks, context, notes)


def _math(blocks: list[Block], context: PresentationContext, notes: list[str]) -> list[Block]:
    from vantage.document.fit.math import math  # noqa: PLC0415

    return math(blocks, context, notes)


def _plain(blocks: list[Block], context: PresentationContext, notes: list[str]) -> list[Block]:
    from vantage.document.fit.plain import plain  # noqa: PLC0415

    return plain(blocks, context, notes)


def _rich_text(blocks: list[Block], context: PresentationContext, notes: list[str]) -> list[Block]:
    from vantage.document.fit.rich_text import rich_text  # noqa: PLC0415

    return rich_text(blocks, context, notes)


def _unicode(blocks: list[Block], context: PresentationContext, notes: list[str]) -> list[Block]:
    from vantage.document.fit.unicode import unicode  # noqa: PLC0415

    return unicode(blocks, context, notes)


def _tables(blocks: list[Block], context: PresentationContext, notes: list[str]) -> list[Block]:
    from vantage.document.fit.tables.policy import tables  # noqa: PLC0415

    return tables(blocks, context, notes)


def _code(blocks: list[Block], context: PresentationContext, notes: list[str]) -> list[Block]:
    from vantage.document.fit.code import code  # noqa: PLC0415

    return code(blocks, context, notes)


STEPS: tuple[Step, ...] = (
    Step(_mermaid, ("supports_mermaid",), walk.DIAGRAMS, lambda c: c.supports_mermaid),
    Step(_images, ("supports_images",), walk.IMAGES, lambda c: c.supports_images),
    Step(_math, (), walk.FORMULAS),
    Step(_plain, ("supports_markdown",), unless=lambda c: c.supports_markdown),
    Step(_rich_text, ("supports_rich_text",), unless=lambda c: c.supports_rich_text),
    Step(_unicode, ("supports_unicode",), unless=lambda c: c.supports_unicode),
    Step(_tables, ("content_width", "supports_tables", "max_table_columns", "table_mode"), walk.TABLES),
    Step(_code, ("supports_code_blocks",), walk.CODE, lambda c: c.supports_code_blocks),
)
"""In this order: diagrams become text before text is converted, and tables are measured when their words are final."""

ELSEWHERE: dict[str, str] = {
    "content_height": "surfaces: how much of a long output is shown at once",
    "client_type": "presentation: which profile, and so which surface",
    "wrap_mode": "surfaces: whether paragraphs are broken into lines",
    "color_depth": "surfaces.terminal: the palette",
    "background": "surfaces.terminal: the palette",
    "max_message_units": "surfaces.telegram, surfaces.slack: where a message is split",
}
"""Fields that no step handles, and what does."""


def fit(blocks: list[Block], context: PresentationContext) -> Fitted:
    """The blocks as this display can show them."""
    notes: list[str] = []
    found = walk.survey(blocks)
    for step in STEPS:
        if (not step.concerns or step.concerns & found) and not (step.unless is not None and step.unless(context)):
            blocks = step.apply(blocks, context, notes)
    return Fitted(blocks, notes)
