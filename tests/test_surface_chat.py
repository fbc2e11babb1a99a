"""What all chat surfaces promise alike."""

import pytest

import test_surface_slack as slack
import test_surface_telegram as telegram
from vantage.timeline.row import Action, MarkdownBlock, SectionBlock, TableBlock, TextBlock

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
