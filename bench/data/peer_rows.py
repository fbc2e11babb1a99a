"""The conversation's rows for peers to draw: what each event shows, not yet broken into lines.

A peer is so spared decoding events and making rows of them. It only draws.
"""

import json
from pathlib import Path
from typing import Any

from vantage.presentation import PresentationContext
from vantage.surfaces.cells.page import Page
from vantage.surfaces.cells.rows import row_lines
from vantage.text.spans import Line, Span
from vantage.text.style import Style
from vantage.timeline.fold import Timeline
from vantage.timeline.row import MarkdownBlock, Row

_COLORS = {"accent": "color(246)", "colorful": "color(117)", "green": "color(78)", "red": "color(203)"}


def peer_rows(events: list[bytes]) -> list[dict[str, Any]]:
    """`{"markdown": …, "italic": …}` for messages, `{"spans": [[text, style], …]}` for everything else."""
    timeline = Timeline()
    page = Page.of(PresentationContext(), wrapped=False)
    return [_shown(timeline.row(row_id), page) for event in events if (row_id := timeline.add(event)) is not None]


def _shown(row: Row, page: Page) -> dict[str, Any]:
    if not row.title and row.blocks and isinstance(row.blocks[0], MarkdownBlock):
        return {"markdown": row.blocks[0].content, "italic": row.blocks[0].italic}
    spans: Line = []
    for line in row_lines(row, page):
        spans += [Span("\n"), *line] if spans else line
    return {"spans": [[span.text, _style(span.style)] for span in spans]}


def _style(style: Style) -> str:
    words = [word for word in ("bold", "italic") if getattr(style, word)]
    return " ".join([*words, _COLORS.get(str(style.color), "")]).strip()


def write(corpus: Path) -> None:
    rows = peer_rows((corpus / "conversation.jsonl").read_bytes().splitlines())
    (corpus / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
