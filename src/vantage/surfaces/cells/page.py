"""The page on which lines are laid out: how wide it is, what it can show, and how text gets onto it."""

from collections.abc import Callable
from typing import Any

import msgspec

from vantage.presentation import PresentationContext
from vantage.text.sanitize import TAB_WIDTH, sanitize
from vantage.text.spans import Line, text_of, width_of
from vantage.text.wrap import LEAST_ROOM, above


class Glyphs(msgspec.Struct, frozen=True):
    """The marks that we draw ourselves. Each is one cell."""

    bullet: str = "•"
    person: str = "›"
    request: str = "?"
    """Only a request begins with it: no message can look like one."""
    elbow: str = "└"
    done: str = "✔"
    open: str = "□"
    gap: str = "⋮"
    arrow: str = "→"
    more: str = "…"
    bar: str = "│"
    rule: str = "─"
    left: str = "‹"
    right: str = "›"
    full: str = "█"
    empty: str = "░"
    box: str = "┌┬┐├┼┤└┴┘"


UNICODE = Glyphs()
ASCII = Glyphs(
    bullet="*", person=">", elbow="`", done="x", open="o", gap=":", arrow=">", more="~", bar="|", rule="-",
    left="<", right=">", full="#", empty=".", box="+++++++++",
)  # fmt: skip


class Page(msgspec.Struct, frozen=True):
    context: PresentationContext
    width: int | None
    """Cells of a line; `None` leaves paragraphs on one line each."""
    glyphs: Glyphs = UNICODE
    clean: Callable[[str], str] = sanitize
    """The function that sanitises foreign text before it is measured."""
    notes: list[str] = []
    """What was lost, for diagnostics."""
    markdown: Callable[..., Any] | None = None
    """Draws markdown that grows, reusing its last drawing; `None` draws all of it."""
    tab_width: int = TAB_WIDTH
    """Spaces that a tab becomes, wherever it stands."""

    @classmethod
    def of(cls, context: PresentationContext, *, wrapped: bool = True, tab_width: int = TAB_WIDTH) -> "Page":
        def clean(text: str) -> str:
            return sanitize(text, tab_width)

        width = max(context.content_width, 1) if wrapped else None
        if context.supports_unicode:
            return cls(context, width, UNICODE, sanitize if tab_width == TAB_WIDTH else clean, [], None, tab_width)
        from vantage.document.fit.unicode import to_ascii  # noqa: PLC0415 -- few displays need it

        return cls(context, width, ASCII, lambda text: to_ascii(clean(text)), [], None, tab_width)

    def hang(self, first: Line, rest: Line, draw: Callable[["Page"], list[Line]]) -> list[Line]:
        """The lines right of a margin, which is `first` on the first line and `rest` on the others.

        A margin that would leave hardly any room is placed above instead. A blank line stays empty.
        """
        margin = width_of(first)
        if self.width is not None and self.width - margin < LEAST_ROOM:
            return [*above(first, self.width), *draw(self)]
        lines = draw(self.narrow(margin))
        if not lines:
            return []
        visible = bool(text_of(rest).strip())
        out = [[*rest, *line] if line or visible else [] for line in lines]
        out[0] = [*first, *lines[0]]
        return out

    def line(self, text: str) -> str:
        """Foreign text, sanitised and on one line."""
        return self.clean(text).replace("\n", " ")

    def narrow(self, cells: int) -> "Page":
        """The page without the width of a margin."""
        if self.width is None or cells <= 0:
            return self
        # every list, quote and body does this: `structs.replace` would take twice as long
        width = max(self.width - cells, 1)
        return Page(self.context, width, self.glyphs, self.clean, self.notes, self.markdown, self.tab_width)
