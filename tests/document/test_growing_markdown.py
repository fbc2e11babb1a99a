"""Drawing a message that streams gives what drawing it whole gives, however it was cut."""

from hypothesis import given
from hypothesis import strategies as st

from strategies import TEXT
from vantage import Formatter, FormatterConfig, PresentationContext
from vantage.surfaces.cells.document import markdown_lines
from vantage.surfaces.cells.page import Page
from vantage.surfaces.cells.stream import GrowingMarkdown
from vantage.text.style import ITALIC, NORMAL

PARTS = st.sampled_from(
    [
        "A paragraph with `code` and [a link][l].\n\n", "- item\n", "- item\n\n", "  more of it\n",
        "1. one\n2. two\n\n", "```py\nx = 1\n", "```\n\n", "| a | b |\n|---|---|\n", "| 1 | 2 |\n", "\n",
        "[l]: https://example.com\n\n", "# Head\n\n", "> quote\n", "text\n===\n", "<div>\n", "$$\nx^2\n$$\n\n",
        "word " * 600 + "\n\n",
    ]
)  # fmt: skip
DOCUMENT = st.lists(st.one_of(PARTS, TEXT), max_size=14).map("".join)


@given(
    DOCUMENT,
    st.lists(st.integers(1, 200), max_size=20),
    st.sampled_from([20, 60, 100]),
    st.sampled_from([NORMAL, ITALIC]),
)
def test_every_prefix_is_drawn_as_if_it_were_all(text, cuts, width, base):
    page = Page.of(PresentationContext(content_width=width))
    growing = GrowingMarkdown()
    end = 0
    for cut in cuts:
        end += cut
        growing.lines(text[:end], page, base)
        assert growing.lines(text[:end], page, base, final=True) == markdown_lines(text[:end], page, base)
    assert growing.lines(text, page, base, final=True) == markdown_lines(text, page, base)


def test_another_width_or_another_text_starts_anew():
    growing = GrowingMarkdown()
    text = "Words that wrap in a narrow place but not in a wide one."
    for width in (20, 80, 20):
        page = Page.of(PresentationContext(content_width=width))
        assert growing.lines(text, page, final=True) == markdown_lines(text, page)
    assert growing.lines("other", page, final=True) == markdown_lines("other", page)


def test_an_open_table_is_held_back_and_the_text_before_it_is_not():
    formatter = Formatter(FormatterConfig(plain_text=True))

    def delta(text: str) -> str:
        return formatter.format_event({"type": "assistant_delta", "message_id": "m", "text": text}, 60)

    assert delta("Before.\n\n| a | b |\n") == "• Before."
    assert delta("|---|---|\n| 1 | 2 |\n") == "• Before."
    assert "│ 1 │ 2 │" in delta("\nAfter.")
