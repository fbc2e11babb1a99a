"""Agent events as text for a chat window or a command line."""

from typing import Any

import msgspec

from vantage.events import Event, Json, decode_event
from vantage.presentation import PresentationContext
from vantage.surfaces.cells.page import Page
from vantage.surfaces.cells.rows import row_lines
from vantage.text.ansi import Encoder
from vantage.text.palette import ColorValue, Palette
from vantage.text.spans import text_of
from vantage.timeline.fold import Timeline
from vantage.timeline.row import Row
from vantage.timeline.tools.registry import ToolRegistry

MIN_TERMINAL_WIDTH = 30


class FormatterConfig(msgspec.Struct, frozen=True):
    plain_text: bool = False
    """No colours, no escape codes."""
    background_color: ColorValue | None = None
    """A 256-palette number, `#rrggbb` or `(r, g, b)`; without one a dark background is assumed."""
    foreground_color: ColorValue | None = None
    accent_color: ColorValue | None = None
    colorful_color: ColorValue | None = None
    tab_width: int = 4
    hyperlinks: bool = False
    """Links as OSC 8, for terminals known to have it."""


class Formatter:
    """Formats events one by one. It remembers open calls and messages, so that a `tool_end` needs only its id."""

    def __init__(self, config: FormatterConfig | None = None, tools: ToolRegistry | None = None) -> None:
        self._config = config or FormatterConfig()
        self._timeline = Timeline(tools)
        palette = Palette.derive(
            background=self._config.background_color,
            foreground=self._config.foreground_color,
            accent=self._config.accent_color,
            colorful=self._config.colorful_color,
        )
        self._encoder = Encoder(palette, hyperlinks=self._config.hyperlinks)
        self._background = palette.background_name
        self._pages: dict[int, Page] = {}
        self._growing: dict[str, Any] = {}
        """Row id → the drawing of a message that streams."""

    def format_event(self, event: Event | bytes | str | dict[str, Json], terminal_width: int = 0) -> str:
        """The text for an event: its row as it now stands, or "" for an event without a row.

        At widths above `MIN_TERMINAL_WIDTH`, newlines are placed so that nothing wraps. Otherwise each paragraph stays
        on one line, for the caller to wrap or a pipe to read.
        """
        if isinstance(event, (bytes, str, dict)):
            event = decode_event(event)
        row_id = self._timeline.add(event)
        if row_id is None:
            return ""
        row = self._timeline.row(row_id)
        self._timeline.forget(row_id)
        return self.format_row(row, terminal_width)

    def format_row(self, row: Row, terminal_width: int = 0) -> str:
        """A row as it stands. A running one is drawn with what is remembered of its last drawing."""
        page = self._page(terminal_width)
        if row.status == "running" and row.kind in ("message", "reasoning"):
            from vantage.surfaces.cells.stream import GrowingMarkdown  # noqa: PLC0415 -- only where messages stream

            growing = self._growing.setdefault(row.id, GrowingMarkdown())
            page = msgspec.structs.replace(page, markdown=growing.lines)
        else:
            self._growing.pop(row.id, None)
        lines = row_lines(row, page)
        if self._config.plain_text:
            return "\n".join([text_of(line) for line in lines])
        return self._encoder.lines(lines)

    def _page(self, terminal_width: int) -> Page:
        wrapped = terminal_width > MIN_TERMINAL_WIDTH
        key = terminal_width if wrapped else 0
        page = self._pages.get(key)
        if page is None:
            context = PresentationContext(
                content_width=terminal_width if wrapped else 1 << 20,
                background=self._background,
                color_depth=0 if self._config.plain_text else 256,
                supports_rich_text=not self._config.plain_text,
            )
            page = self._pages[key] = Page.of(context, wrapped=wrapped, tab_width=self._config.tab_width)
        return page
