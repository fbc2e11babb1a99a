"""Rows and a context in, output out: one module per kind of display. They never import each other."""

from collections.abc import Callable, Iterable
from typing import Any

from vantage.errors import InputError, did_you_mean
from vantage.presentation import PresentationContext
from vantage.surfaces.rendered import Rendered
from vantage.timeline.row import Row


def _terminal(rows: Iterable[Row], context: PresentationContext) -> Rendered:
    from vantage.surfaces.terminal import render_terminal  # noqa: PLC0415 -- a surface is loaded when it is drawn

    return render_terminal(rows, context)


def _plain(rows: Iterable[Row], context: PresentationContext) -> Rendered:
    from vantage.surfaces.plain import render_plain  # noqa: PLC0415

    return render_plain(rows, context)


def _html(rows: Iterable[Row], context: PresentationContext) -> Rendered:
    from vantage.surfaces.html import render_html  # noqa: PLC0415

    return render_html(rows, context)


def _telegram(rows: Iterable[Row], context: PresentationContext) -> Rendered:
    from vantage.surfaces.telegram import render_telegram  # noqa: PLC0415

    return render_telegram(rows, context)


def _slack(rows: Iterable[Row], context: PresentationContext) -> Rendered:
    from vantage.surfaces.slack import render_slack  # noqa: PLC0415

    return render_slack(rows, context)


SURFACES: dict[str, Callable[[Iterable[Row], PresentationContext], Rendered]] = {
    "terminal": _terminal,
    "plain": _plain,
    "html": _html,
    "telegram": _telegram,
    "slack": _slack,
}


def draw(rows: Iterable[Row], context: PresentationContext, surface: str = "terminal") -> Rendered:
    """The rows as a surface shows them, and notes on what was lost."""
    if surface not in SURFACES:
        raise InputError(f"there is no surface {surface!r}", hint=did_you_mean(surface, SURFACES))
    return SURFACES[surface](rows, context)


def render(rows: Iterable[Row], context: PresentationContext | None = None, surface: str = "terminal") -> Any:
    """The rows as a surface shows them: a string, or for chat clients a list of messages."""
    return draw(rows, context or PresentationContext(), surface).output
