"""A terminal: the cells, with SGR colours and links."""

from collections.abc import Iterable

from vantage.presentation import PresentationContext
from vantage.surfaces.cells.page import Page
from vantage.surfaces.cells.rows import rows_lines, unstyled
from vantage.surfaces.rendered import Rendered
from vantage.text.ansi import Encoder
from vantage.text.palette import Palette
from vantage.timeline.row import Row

_GROUND = {"dark": "#000000", "light": "#ffffff"}


def palette_of(context: PresentationContext) -> Palette:
    return Palette.derive(background=_GROUND[context.background], depth=context.color_depth)


def render_terminal(rows: Iterable[Row], context: PresentationContext, *, hyperlinks: bool = False) -> Rendered:
    if context.color_depth == 0:
        return unstyled(rows, context)
    page = Page.of(context, wrapped=context.wrap_mode == "hard")
    lines = rows_lines(rows, page)
    return Rendered(Encoder(palette_of(context), hyperlinks=hyperlinks).lines(lines), page.notes)
