"""What all chat surfaces promise alike."""

import dataclasses

import msgspec
import pytest
import test_surface_slack as slack
import test_surface_telegram as telegram

from vantage.timeline.row import Action, MarkdownBlock, Row, SectionBlock, TableBlock, TextBlock, head

HEADS = pytest.mark.parametrize(
    ("head_of", "context"),
    [(slack.head_of, slack.SLACK), (telegram.texts_head, telegram.PHONE)],
    ids=["slack", "telegram"],
)
SURFACES = pytest.mark.parametrize(
    ("everything_of", "with_tables"),
    [(slack.everything_of, slack.TABLES), (telegram.everything_of, telegram.RICH)],
    ids=["slack", "telegram"],
)


@SURFACES
def test_sections_without_end_are_said_whole(everything_of, with_tables):
    block = TextBlock("the innermost")
    for depth in range(3000):
        block = SectionBlock(f"level{depth}", [block])
    everything = everything_of(block)
    assert "the innermost" in everything
    assert all(f"level{depth}" in everything for depth in range(3000))


@SURFACES
def test_what_the_client_cannot_show_gives_way(everything_of, with_tables):
    table = TableBlock(["a"], [["1"]], requires=["tables"], fallback=TextBlock("a is 1"))
    pie = TextBlock("pie", requires=["mermaid"])
    for block in (table, SectionBlock("x", [table, pie])):
        assert "a is 1" in everything_of(block)
        assert "pie" not in everything_of(block)
    assert "a is 1" not in everything_of(table, with_tables)


@SURFACES
def test_an_address_that_is_too_long_is_spelt_out(everything_of, with_tables):
    address = "https://example.com/" + "a" * 100_000
    assert everything_of(MarkdownBlock(f"[here]({address})")).replace("\n", "").count("a") > 100_000
    assert "example.com/aaa" in everything_of(TextBlock("x", actions=[Action("open", address, "here")]))


@HEADS
def test_an_icon_stands_before_the_title(head_of, context):
    row = Row(id="r", kind="tool", status="ok", title=head("Berlin"), icon="cloud.sun", trailing="21°\n\nsunny")
    assert head_of(row) == "✅ 🌤️ Berlin · 21° sunny"
    assert head_of(msgspec.structs.replace(row, icon="nothing known")) == "✅ 🔹 Berlin · 21° sunny"
    assert head_of(msgspec.structs.replace(row, status="none")) == "🌤️ Berlin · 21° sunny"
    plain = dataclasses.replace(context, supports_unicode=False)
    assert head_of(msgspec.structs.replace(row, trailing=""), plain) == "[ok] Berlin"


@HEADS
def test_a_title_is_cut_between_graphemes(head_of, context):
    family = "👨‍👩‍👧‍👦"
    row = Row(id="r", kind="tool", status="ok", title=head("Ran", family * 300 + "end"), cut_title="tail")
    assert head_of(row) == f"✅ Ran {family * 115}…"
    middle = msgspec.structs.replace(row, cut_title="middle")
    assert head_of(middle) == f"✅ Ran {family * 56}…{family * 56}end"
    short = msgspec.structs.replace(row, title=head("Ran", "a\nb" * 30))
    assert head_of(short).startswith("✅ Ran a ba b")
    assert "…" not in head_of(short)
