"""Plain text: the cells, without styles."""

from collections.abc import Iterable

from vantage.presentation import PresentationContext
from vantage.surfaces.cells.rows import unstyled
from vantage.surfaces.rendered import Rendered
from vantage.timeline.row import Row


def render_plain(rows: Iterable[Row], context: PresentationContext) -> Rendered:
    return unstyled(rows, context)
