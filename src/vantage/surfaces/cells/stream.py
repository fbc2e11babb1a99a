"""A markdown text that grows, drawn again and again: lines that can no longer change are drawn once.

For a finished text the lines are those of `markdown_lines`; while it grows, a table that has not ended is held back.
"""

from vantage.document.nodes import Block
from vantage.document.stream import MarkdownStream
from vantage.surfaces.cells.document import document_lines
from vantage.surfaces.cells.page import Page
from vantage.text.spans import Line
from vantage.text.style import NORMAL, Style


class GrowingMarkdown:
    """The lines of one text. A text that does not continue the last one is drawn from its beginning."""

    def __init__(self) -> None:
        self._restart(None)

    def _restart(self, drawn_for: tuple[int | None, Style] | None) -> None:
        self._drawn_for = drawn_for
        self._text = ""
        self._stream = MarkdownStream()
        self._forget()

    def _forget(self) -> None:
        self._lines: list[Line] = []
        self._drawn = 0
        self._revision = self._stream.revision

    def lines(self, text: str, page: Page, base: Style = NORMAL, *, final: bool = False) -> list[Line]:
        drawn_for = (page.width, base)
        if drawn_for != self._drawn_for or not text.startswith(self._text):
            self._restart(drawn_for)
        self._stream.feed(text[len(self._text) :])
        self._text = text
        tail = self._stream.tail(final=final)
        if self._stream.revision != self._revision:
            self._forget()
        committed = self._stream.committed
        _append(self._lines, committed[self._drawn :], page, base)
        self._drawn = len(committed)
        out = list(self._lines)
        _append(out, tail, page, base)
        return out


def _append(lines: list[Line], blocks: list[Block], page: Page, base: Style) -> None:
    more = document_lines(blocks, page, base) if blocks else []
    if lines and more:
        lines.append([])
    lines += more
