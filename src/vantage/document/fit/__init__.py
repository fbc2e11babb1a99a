"""Documents fitted to a display: an ordered table of steps, each a pure function from blocks to blocks.

Every field of `PresentationContext` is answered for by one step here, or by a surface (`ELSEWHERE`). A document that a
display can show as it is comes back as the same list.
"""

from collections.abc import Callable

import msgspec

from vantage.document.fit import code, images, math, mermaid, plain, rich_text, tables, unicode, walk
from vantage.document.nodes import Block
from vantage.presentation import PresentationContext

__all__ = ["ELSEWHERE", "STEPS", "Fitted", "Step", "fit"]


class Fitted(msgspec.Struct, frozen=True):
    blocks: list[Block]
    notes: list[str]
    """What had to be given up: `table → records`. Nothing twice."""


class Step(msgspec.Struct, frozen=True):
    name: str
    fields: tuple[str, ...]
    """The fields of the context that this step answers for."""
    concerns: int
    """Kinds of content (`walk.survey`) without which there is nothing to do; 0: always look."""
    apply: Callable[[list[Block], PresentationContext, list[str]], list[Block]]


STEPS: tuple[Step, ...] = (
    Step("mermaid", mermaid.FIELDS, walk.DIAGRAMS, mermaid.mermaid),
    Step("images", images.FIELDS, walk.IMAGES, images.images),
    Step("math", math.FIELDS, walk.FORMULAS, math.math),
    Step("plain", plain.FIELDS, 0, plain.plain),
    Step("rich text", rich_text.FIELDS, 0, rich_text.rich_text),
    Step("unicode", unicode.FIELDS, 0, unicode.unicode),
    Step("tables", tables.FIELDS, walk.TABLES, tables.tables),
    Step("code", code.FIELDS, walk.CODE, code.code),
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
"""Fields that no step answers for, and who does."""


def fit(blocks: list[Block], context: PresentationContext) -> Fitted:
    """The blocks as this display can show them."""
    notes: list[str] = []
    found = walk.survey(blocks)
    for step in STEPS:
        if not step.concerns or step.concerns & found:
            blocks = step.apply(blocks, context, notes)
    return Fitted(blocks, notes)
