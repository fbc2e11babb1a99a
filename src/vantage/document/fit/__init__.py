"""Documents fitted to a display: an ordered table of steps, each a pure function from blocks to blocks.

Every field of `PresentationContext` is answered for by one step here, or by a surface (`ELSEWHERE`). A document that a
display can show as it is comes back as the same list.
"""

from collections.abc import Callable
from importlib import import_module

import msgspec

from vantage.document.fit import walk
from vantage.document.nodes import Block
from vantage.presentation import PresentationContext

__all__ = ["ELSEWHERE", "STEPS", "Fitted", "Step", "fit"]


class Fitted(msgspec.Struct, frozen=True):
    blocks: list[Block]
    notes: list[str]
    """What had to be given up: `table → records`. Nothing twice."""


class Step(msgspec.Struct, frozen=True):
    name: str
    """Of its module and of the function in it, which is loaded when the step has something to do."""
    fields: tuple[str, ...]
    """The fields of the context that this step answers for."""
    concerns: int = 0
    """Kinds of content (`walk.survey`) without which there is nothing to do; 0: any content."""
    unless: str = ""
    """The capability with which there is nothing to do."""

    @property
    def apply(self) -> Callable[[list[Block], PresentationContext, list[str]], list[Block]]:
        function: Callable[[list[Block], PresentationContext, list[str]], list[Block]]
        function = getattr(import_module(f"vantage.document.fit.{self.name}"), self.name)
        return function


STEPS: tuple[Step, ...] = (
    Step("mermaid", ("supports_mermaid",), walk.DIAGRAMS, unless="supports_mermaid"),
    Step("images", ("supports_images",), walk.IMAGES, unless="supports_images"),
    Step("math", (), walk.FORMULAS),
    Step("plain", ("supports_markdown",), unless="supports_markdown"),
    Step("rich_text", ("supports_rich_text",), unless="supports_rich_text"),
    Step("unicode", ("supports_unicode",), unless="supports_unicode"),
    Step("tables", ("content_width", "supports_tables", "max_table_columns", "table_mode"), walk.TABLES),
    Step("code", ("supports_code_blocks",), walk.CODE, unless="supports_code_blocks"),
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
        if (not step.concerns or step.concerns & found) and not (step.unless and getattr(context, step.unless)):
            blocks = step.apply(blocks, context, notes)
    return Fitted(blocks, notes)
