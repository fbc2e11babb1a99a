"""Cells: icons, sections, fallbacks and addresses on terminals and as plain text; any row fits any width."""

import dataclasses
import re

import msgspec
import pytest
import wcwidth
from hypothesis import given
from hypothesis import strategies as st

from surface_samples import BLOCK_TYPES, HOSTILE, SAMPLES, any_row, golden, hostile_rows
from vantage.presentation import PresentationContext
from vantage.surfaces import render
from vantage.surfaces.cells.blocks import _DRAW
from vantage.timeline.row import (
    Action,
    DiffBlock,
    DiffLine,
    FileDiff,
    ImageBlock,
    Row,
    SectionBlock,
    TextBlock,
    head,
)

ESCAPES = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\\\")
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
WIDE = PresentationContext(content_width=60)
ASCII = dataclasses.replace(WIDE, supports_unicode=False)


def plain(row: Row, context: PresentationContext = WIDE) -> str:
    return render([row], context, "plain")


@pytest.mark.parametrize(
    ("name", "context"), [("blocks", WIDE), ("specs", WIDE), ("specs", ASCII), ("requests", ASCII)]
)
def test_golden(name, context):
    form = "plain" if context.supports_unicode else "ascii"
    got, expected = golden(f"{name}.{form}.txt", render(SAMPLES[name], context, "plain") + "\n")
    assert got == expected


def test_every_block_has_a_function():
    assert set(_DRAW) == set(BLOCK_TYPES)


@given(st.lists(any_row(), max_size=2), st.integers(2, 120), st.booleans(), st.sampled_from(["terminal", "plain"]))
def test_any_row_fits_any_width(rows, width, unicode, surface):
    context = PresentationContext(content_width=width, supports_unicode=unicode)
    text = ESCAPES.sub("", render(rows, context, surface))
    assert not UNSAFE.search(text)
    for line in text.split("\n"):
        assert wcwidth.width(line) <= width
        assert unicode or line.isascii()


@pytest.mark.parametrize("text", [text[:100_000] for text in HOSTILE], ids=lambda text: ascii(text[:20]))
def test_hostile_text_is_inert_everywhere(text):
    drawn = render(hostile_rows(text), WIDE)
    assert not UNSAFE.search(ESCAPES.sub("", drawn))
    assert all(re.match("https?://|mailto:|$", address) for address in re.findall(r"\x1b\]8;[^;]*;([^\x1b]*)", drawn))


def test_an_icon_stands_behind_the_bullet():
    row = Row(id="r", kind="tool", status="ok", title=head("Berlin"), icon="cloud.sun", trailing="21°")
    assert plain(row) == f"• ☼ Berlin{' ' * 47}21°"
    assert plain(row, ASCII).startswith("* ~ Berlin")
    assert plain(msgspec.structs.replace(row, icon="unknown")).startswith("• • Berlin")


@pytest.mark.parametrize(
    ("color", "code"),
    [("red", "203"), ("danger", "203"), ("success", "78"), ("muted", "247"), ("", "246"), ("no colour", "246")],
)
def test_an_icon_has_a_colour_of_the_theme_or_the_accent(color, code):
    row = Row(id="r", kind="tool", status="error", title=head("x"), icon="star", icon_color=color)
    assert f"\x1b[38;5;{code}m★" in render([row], WIDE)


@pytest.mark.parametrize(
    ("cut", "line"),
    [("tail", "• ★ Ran 0123456789012345678901…  end"), ("middle", "• ★ Ran 012345678…4567890123456  end")],
)
def test_a_head_is_cut_to_one_line_beside_what_is_trailing(cut, line):
    row = Row(id="r", kind="tool", title=head("Ran", "0123456789" * 9 + "0123456"), icon="star", trailing="end")
    context = PresentationContext(content_width=36)
    assert plain(msgspec.structs.replace(row, cut_title=cut), context) == line


def test_what_a_display_cannot_show_gives_way():
    picture = ImageBlock("a", "a map", requires=["images"], fallback=TextBlock("a map in words"))
    row = Row(id="r", kind="tool", title=head("x"), blocks=[picture, SectionBlock("In", [picture])])
    assert plain(row) == "• x\n  └ a map in words\n    In\n    a map in words"
    seeing = dataclasses.replace(WIDE, supports_images=True)
    assert plain(row, seeing) == "• x\n  └ [image: a map]\n    In\n    [image: a map]"


def test_addresses_are_said_and_other_actions_are_not():
    actions = [Action("open", "https://example.com/x", "See"), Action("copy", "secret"), Action("open", "javascript:x")]
    section = SectionBlock("", [TextBlock("inside")], actions=actions)
    row = Row(id="r", kind="tool", title=head("x"), blocks=[section])
    assert plain(row) == "• x\n  └ inside\n    → See: https://example.com/x\n    → javascript:x"


def test_a_row_with_a_head_of_its_own_keeps_it_above_a_diff():
    diff = DiffBlock([FileDiff("a.py", hunks=[[DiffLine("+", "x", 1)]])], actions=[Action("open", "https://e.x")])
    row = Row(id="r", kind="tool", title=head("Formatted", "a.py"), icon="edit", blocks=[diff])
    assert plain(row).split("\n")[:2] == ["• ✎ Formatted a.py", "  └ Edit a.py"]
    assert plain(row).endswith("→ https://e.x")
    own = msgspec.structs.replace(row, icon="", blocks=[msgspec.structs.replace(diff, is_row=True)])
    assert plain(own) == "• Edit a.py\n      1 +x\n    → https://e.x"


def test_sections_without_end_are_drawn_whole():
    block = TextBlock("the innermost")
    for depth in range(3000):
        block = SectionBlock(f"level{depth}", [block])
    drawn = plain(Row(id="r", kind="message", blocks=[block]))
    assert "the innermost" in drawn
    assert all(f"level{depth}" in drawn for depth in range(3000))
