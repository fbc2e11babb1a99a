"""Plain text: the cells, without styles."""

from collections.abc import Iterable

from vantage.presentation import PresentationContext
from vantage.surfaces.cells.page import Page
from vantage.surfaces.cells.rows import rows_lines
from vantage.surfaces.rendered import Rendered
from vantage.text.spans import text_of
from vantage.timeline.row import Row


def render_plain(rows: Iterable[Row], context: PresentationContext) -> Rendered:
    page = Page.of(context, wrapped=context.wrap_mode == "hard")
    return Rendered("\n".join([text_of(line) for line in rows_lines(rows, page)]), page.notes)
