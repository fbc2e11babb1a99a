"""Rows and a context in, output out: one module per kind of display. They never import each other."""

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from vantage.errors import InputError, nearest_word
from vantage.presentation import PresentationContext
from vantage.surfaces.rendered import Rendered
from vantage.timeline.row import Row

SURFACES = {
    "terminal": "render_terminal",
    "plain": "render_plain",
    "html": "render_html",
    "telegram": "render_telegram",
    "slack": "render_slack",
}
"""Surface → its function, in the module of the same name."""


def draw(rows: Iterable[Row], context: PresentationContext, surface: str = "terminal", **options: Any) -> Rendered:
    """The rows as a surface shows them, and what had to be given up."""
    if surface not in SURFACES:
        near = nearest_word(surface, SURFACES)
        hint = f"did you mean {near!r}?" if near else f"one of {', '.join(SURFACES)}"
        raise InputError(f"there is no surface {surface!r}", hint=hint)
    function = getattr(import_module(f"vantage.surfaces.{surface}"), SURFACES[surface])
    rendered: Rendered = function(rows, context, **options)
    return rendered


def render(rows: Iterable[Row], context: PresentationContext | None = None, surface: str = "terminal") -> Any:
    """The rows as a surface shows them: a string, or for chat clients a list of messages."""
    return draw(rows, context or PresentationContext(), surface).output
