"""What must be true of rows on every surface, whatever they say. The surfaces' own tests say what each may contain."""

import random
import re

import wcwidth

from html_rules import Page
from slack_rules import check as check_slack
from telegram_rules import check as check_telegram
from telegram_rules import check_rich
from vantage.presentation import PresentationContext
from vantage.surfaces import render
from vantage.timeline.row import Row

CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]")
"""What no surface may let through."""
_SGR = re.compile(r"\x1b\[[0-9;]*m")
_LINK = re.compile(r"\x1b\]8;;[!-~]*\x1b\\")


def chance(data: bytes) -> random.Random:
    """Choices that depend on the input alone, so that a failure can be had again."""
    return random.Random(data)


def check_everywhere(rows: list[Row], data: bytes) -> None:
    choose = chance(data)
    flags = ("markdown", "tables", "code_blocks", "images", "rich_text", "unicode", "mermaid")
    context = PresentationContext(
        content_width=choose.choice([2, 3, 7, 20, 40, 80, 200]),
        table_mode=choose.choice(["auto", "wrap", "truncate", "transpose", "records", "off"]),
        color_depth=choose.choice([0, 16, 256]),
        **{f"supports_{flag}": choose.random() < 0.8 for flag in flags},
    )
    for surface in ("terminal", "plain"):
        check_cells(render(rows, context, surface), context)
    Page(render(rows, PresentationContext(client_type="web", content_width=100, supports_images=True), "html"))
    limit = choose.choice([40, 300, 4096])
    phone = {"client_type": "telegram", "content_width": 45}
    check_telegram(
        render(rows, PresentationContext(**phone, supports_tables=False, max_message_units=limit), "telegram"), limit
    )
    check_rich(render(rows, PresentationContext(**phone, supports_tables=True), "telegram"))
    tables = choose.random() < 0.5
    slack = PresentationContext(client_type="slack", supports_tables=tables, max_message_units=12_000)
    check_slack(render(rows, slack, "slack"))


def check_cells(drawn: str, context: PresentationContext) -> None:
    """Lines fit, and hold colours, links and text, nothing else."""
    bare = _LINK.sub("", _SGR.sub("", drawn))
    assert CONTROL.search(bare) is None, bare
    for line in bare.split("\n"):
        assert wcwidth.width(line) <= max(context.content_width, 2), line
        assert context.supports_unicode or line.isascii(), line
