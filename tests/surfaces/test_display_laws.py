"""Laws of the cell surfaces: any markdown on any display fits, loses no word, and never raises."""

import dataclasses
import re

import wcwidth
from hypothesis import given
from hypothesis import strategies as st

from strategies import TEXT
from vantage import PresentationContext, Timeline, render
from vantage.document.markdown import parse
from vantage.surfaces.cells.document import document_lines
from vantage.surfaces.cells.page import Page
from vantage.text.spans import text_of

WORD = st.sampled_from(
    ["alpha", "beta", "gamma", "delta", "naïve", "漢字", "x1", "longer-than-most-words", "👍", "a/b/c"]
)
WORDS = st.lists(WORD, min_size=1, max_size=8).map(" ".join)
CELL = st.one_of(
    WORDS, st.sampled_from(["", "`a|b`".replace("|", "\\|"), "**bold** x", "[l](https://example.com)", "1"])
)


@st.composite
def tables(draw):
    columns = draw(st.integers(1, 9))
    rows = draw(st.lists(st.lists(CELL, min_size=columns, max_size=columns), max_size=4))
    head = draw(st.lists(CELL, min_size=columns, max_size=columns))
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * columns, *rows]) + "\n"


BLOCK = st.one_of(
    WORDS.map(lambda words: f"{words}\n"),
    WORDS.map(lambda words: f"# {words}\n"),
    st.lists(WORDS, min_size=1, max_size=4).map(lambda items: "".join(f"- {item}\n" for item in items)),
    st.lists(WORDS, min_size=1, max_size=4).map(
        lambda items: "".join(f"{n}. {item}\n" for n, item in enumerate(items, 8))
    ),
    st.lists(WORDS, min_size=1, max_size=3).map(lambda lines: "```\n" + "\n".join(lines) + "\n```\n"),
    tables(),
    st.just("---\n"),
    TEXT.map(lambda text: text + "\n"),
)
MARKDOWN = st.recursive(
    BLOCK,
    lambda inner: st.one_of(
        inner.map(lambda text: "".join(f"> {line}\n" for line in text.splitlines())),
        inner.map(lambda text: "- item\n\n" + "".join(f"  {line}\n" for line in text.splitlines())),
        st.lists(inner, min_size=1, max_size=4).map("\n".join),
    ),
    max_leaves=6,
)
CONTEXT = st.builds(
    PresentationContext,
    content_width=st.integers(2, 140),
    supports_markdown=st.booleans(),
    supports_tables=st.booleans(),
    supports_code_blocks=st.booleans(),
    supports_images=st.booleans(),
    supports_rich_text=st.booleans(),
    supports_unicode=st.booleans(),
    supports_mermaid=st.booleans(),
    table_mode=st.sampled_from(["auto", "wrap", "truncate", "transpose", "records", "off"]),
    max_table_columns=st.one_of(st.none(), st.integers(1, 6)),
    color_depth=st.sampled_from([0, 16, 256]),
    background=st.sampled_from(["dark", "light"]),
)
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def rows(text: str):
    timeline = Timeline()
    timeline.add({"type": "assistant_text", "text": text or "-"})
    return timeline.rows


@given(MARKDOWN, CONTEXT, st.sampled_from(["terminal", "plain"]))
def test_any_markdown_fits_any_display(text, context, surface):
    for line in ESCAPES.sub("", render(rows(text), context, surface)).split("\n"):
        assert wcwidth.width(line) <= max(context.content_width, 2), line
        if not context.supports_unicode:
            assert line.isascii()


def letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)


@given(st.lists(st.one_of(WORDS.map(lambda w: w + "\n"), tables()), min_size=1, max_size=4).map("\n".join), CONTEXT)
def test_no_word_is_lost(text, context):
    context = dataclasses.replace(context, supports_unicode=True)
    if context.table_mode not in ("auto", "records"):  # modes that cut words or cells by request
        context = dataclasses.replace(context, table_mode="auto")
    page = Page.of(context)
    shown = letters("".join(text_of(line) for line in document_lines(parse(text), page)))
    for word in ("alpha", "beta", "gamma", "delta", "naïve", "漢", "字", "bold"):
        if word in text and context.content_width > 12:
            assert word in shown
