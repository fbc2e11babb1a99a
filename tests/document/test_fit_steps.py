"""The table of steps, and each step's own promises."""

import dataclasses
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vantage.document.fit import ELSEWHERE, STEPS, fit
from vantage.document.fit.diagrams.mermaid import READERS, outline
from vantage.document.fit.math import approximate
from vantage.document.fit.tables.abbreviate import abbreviations
from vantage.document.fit.tables.columns import Column, Texts, flattest, longest_word, share
from vantage.document.fit.unicode import line_to_ascii, to_ascii
from vantage.document.inline import spans_of
from vantage.document.markdown import parse
from vantage.document.nodes import (
    Cell,
    CodeBlock,
    Image,
    Item,
    Link,
    ListBlock,
    Paragraph,
    Quote,
    Records,
    Table,
    Text,
    plain_text,
    table_chrome,
)
from vantage.presentation import PresentationContext
from vantage.text.spans import text_of
from vantage.text.width import width
from vantage.text.wrap import breaks

EVERYTHING = PresentationContext(supports_images=True, supports_mermaid=True)
SAMPLE = """# Title

Some *text*, `code`, [a link](https://example.org) and a list:

- one
- two
  1. three

> quoted

```python
x = 1
```
"""


words = st.sampled_from(["Auth", "Authentication", "Authorization", "created_at", "中文字符很长"])
headers = st.lists(words, max_size=3).map(" ".join)


def table(*rows: str) -> Table:
    """Rows written as `a|b|c`, the header first."""
    header, *body = [[Cell([Text(text)] if text else []) for text in row.split("|")] for row in rows]
    return Table(header, body, ["none"] * len(header))


def drawn(block) -> str:
    return text_of(spans_of(block.content))


def test_every_field_of_the_context_is_answered_for_once():
    fields = [*ELSEWHERE, *[field for step in STEPS for field in step.fields]]
    assert sorted(fields) == sorted(field.name for field in dataclasses.fields(PresentationContext))


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.apply.__name__)
def test_a_step_leaves_alone_what_the_display_can_show(step):
    blocks = parse(SAMPLE)
    notes: list[str] = []
    assert step.apply(blocks, EVERYTHING, notes) is blocks
    assert notes == []


def test_a_document_that_needs_nothing_comes_back_as_the_same_list():
    blocks = parse(SAMPLE)
    assert fit(blocks, EVERYTHING).blocks is blocks
    assert fit(blocks, PresentationContext()).blocks is blocks
    with_table = [*blocks, table("a|b", "1|2")]
    assert fit(with_table, PresentationContext()).blocks is with_table


def test_untouched_blocks_keep_their_identity():
    blocks = [*parse(SAMPLE), table("a|b", "1|2")]
    fitted = fit(blocks, PresentationContext(supports_tables=False)).blocks
    assert all(new is old for new, old in zip(fitted[:-1], blocks[:-1], strict=True))
    assert isinstance(fitted[-1], Records)


def test_notes_are_not_repeated():
    blocks = [table("a|b", "1|2"), table("c|d", "3|4"), CodeBlock("x"), CodeBlock("y")]
    notes = fit(blocks, PresentationContext(supports_tables=False, supports_code_blocks=False)).notes
    assert notes == ["table → records", "code → indented"]


def test_nesting_without_end_does_no_harm():
    block: Quote | ListBlock = Quote([table("a|b", "1|2")])
    for _ in range(300):
        block = Quote([ListBlock([Item([block])])])
    fitted = fit([block], PresentationContext(supports_tables=False, supports_unicode=False))
    assert fitted.blocks == [block]


# Tables


def test_two_hundred_columns_and_a_thousand_rows():
    wide = table("|".join([f"h{i}" for i in range(200)]), *["|".join([f"v{i}" for i in range(200)])] * 1000)
    (records,) = fit([wide], PresentationContext()).blocks
    assert isinstance(records, Records)
    assert len(records.records) == 1000
    groups = fit([wide], PresentationContext(table_mode="wrap")).blocks
    assert all(sum(group.widths) + table_chrome(len(group.widths)) <= 80 for group in groups)
    assert sum(len(group.widths) - 1 for group in groups) == 199


@pytest.mark.parametrize("mode", ["auto", "wrap", "truncate", "transpose", "records", "off"])
@pytest.mark.parametrize("source", [Table([], [], []), Table([], [[]], []), table(""), table("", ""), table("|", "|")])
@pytest.mark.parametrize("cells", [1, 4, 5, 9, 10, 80])
def test_next_to_nothing_in_any_mode(mode, source, cells):
    fitted = fit([source], PresentationContext(content_width=10, table_mode=mode))
    assert fit(fitted.blocks, PresentationContext(content_width=10, table_mode=mode)).blocks == fitted.blocks
    inside = [Quote([ListBlock([Item([source])], 10**cells)])]
    fit(inside, PresentationContext(content_width=10, table_mode=mode))


def test_widths_that_no_longer_fit_are_found_anew():
    fitted = msgspec.structs.replace(table("name|text", "a|some words"), widths=[40, 60])
    (new,) = fit([fitted], PresentationContext(content_width=20)).blocks
    assert sum(new.widths) + table_chrome(2) <= 20
    broken = msgspec.structs.replace(fitted, widths=[3])
    assert len(fit([broken], PresentationContext()).blocks[0].widths) == 2


def test_no_column_is_narrower_than_a_grapheme():
    syllables = table("ᄀ각|ᄀ각", "ᄀ각ᄀ각|ᄀ각")  # four cells each, and nowhere to cut
    (fits,) = fit([syllables], PresentationContext(content_width=15, table_mode="wrap")).blocks
    assert fits.widths == [4, 4]
    (records,) = fit([syllables], PresentationContext(content_width=13, table_mode="wrap")).blocks
    assert isinstance(records, Records)


def test_shares_narrow_columns_whole_and_the_others_alike():
    assert share([1, 1, 1], [5, 40, 60], 45) == [5, 20, 20]
    assert share([1, 1], [5, 40], 100) == [5, 40]
    assert share([1, 30, 1], [5, 40, 60], 45) == [5, 30, 10]
    assert share([1, 1, 1], [9, 9, 9], 10) == [4, 3, 3]
    assert share([5, 5], [9, 9], 9) is None


def test_flattest_gives_the_longest_text_the_most_room():
    assert flattest([6, 6], [30, 300], 60) == [10, 50]
    assert flattest([6, 6], [30, 300], 11) is None


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 200)), min_size=1, max_size=30), st.integers(0, 400))
def test_shares_are_in_bounds_and_use_the_room(columns, room):
    low = [least for least, _ in columns]
    high = [least + more for least, more in columns]
    for allocate in (share, flattest):
        widths = allocate(low, high, room)
        if widths is None:
            assert sum(low) > room
        else:
            assert all(least <= size <= most for least, size, most in zip(low, widths, high, strict=True))
            assert sum(widths) == min(room, sum(high))


@given(
    st.lists(st.sampled_from(["ab", "abc-def", "a/b", "--x", "中文", "é", "a//b", "x-", "👩‍💻y"]), max_size=5).map(
        " ".join
    )
)
def test_the_longest_word_is_what_wrapping_keeps_whole(text):
    room = longest_word(text)
    pieces = [text[start:end].strip() for start, end in breaks(text, max(room, 1), max(room, 1))]
    assert all(width(piece) <= max(room, 1) for piece in pieces)
    words = re.findall(r"[a-z]{2,}", text)
    assert sorted(words) == sorted(re.findall(r"[a-z]{2,}", "\n".join(pieces)))


@given(st.lists(headers, min_size=1, max_size=8), st.integers(2, 5))
def test_an_abbreviation_stands_for_one_header(full, letters):
    columns = [Column(header, Texts(["x"])) for header in full]
    short = abbreviations(columns, letters)
    shown = [short.get(index, header) for index, header in enumerate(full)]
    assert len({text.casefold() for text in shown}) == len(set(full))
    assert all(width(text) <= width(header) for text, header in zip(shown, full, strict=True))


# Images, links


@given(
    st.builds(
        Image, st.text(max_size=9), st.text(max_size=9), st.just(""), st.none() | st.builds(Link, st.text(max_size=5))
    )
)
def test_images_read_as_the_inline_drawing_has_them(image):
    content = [Text("a "), image, Text(" b")]
    (paragraph,) = fit([Paragraph(content)], PresentationContext()).blocks
    assert not any(isinstance(part, Image) for part in paragraph.content)
    assert drawn(paragraph) == text_of(spans_of(content))


def test_links_without_rich_text_read_as_the_inline_drawing_has_them():
    source = "a [**b** c](https://x.example)[d](https://y.example) <https://z.example> ![i](https://i.example/p.png)"
    blocks = parse(source)
    (plain,) = fit(blocks, PresentationContext(supports_rich_text=False)).blocks
    assert all(part.marks == 0 and part.link is None for part in plain.content if isinstance(part, Text))
    assert plain_text(plain.content) == drawn(blocks[0])


def test_runs_of_one_link_go_on_sharing_it():
    (paragraph,) = fit(parse("[**ä** ö](https://example.org/ü)"), PresentationContext(supports_unicode=False)).blocks
    assert drawn(paragraph) == "a o (https://example.org/%C3%BC)"


# Formulas, diagrams, ASCII: any text


@given(st.text(alphabet=r"\{}^_&()[]ab1 +-'~$%.,=αℝ²" + "\n", max_size=30) | st.text(max_size=20))
def test_formulas_are_converted_once(text):
    once = approximate(text)
    assert approximate(once) == once


@pytest.mark.parametrize("formula", ["{" * 5000 + "x", r"\frac" * 2000, "^" * 3000, r"\alpha" * 90_000])
def test_a_formula_without_end_stays_as_it_is(formula):
    assert approximate(formula) == formula


@given(
    st.sampled_from(sorted(READERS)), st.lists(st.text(alphabet='AB[](){}<>|-=.:;"&% \\/*+x', max_size=20), max_size=6)
)
def test_any_diagram_is_an_outline_or_nothing(kind, lines):
    blocks = outline("\n".join([kind, *lines]))
    assert blocks is None or len(blocks) == 2


@given(st.text(max_size=30))
def test_ascii_is_ascii_and_stays(text):
    assert to_ascii(text).isascii()
    assert to_ascii(to_ascii(text)) == to_ascii(text)
    assert text.strip() == "" or not text.isascii() or to_ascii(text) == text


def test_a_drawn_line_keeps_its_cells():
    line = "│ some long va… │ ✓ │ ▸ •"
    assert line_to_ascii(line) == "| some long va~ | v | > *"
    assert len(line_to_ascii(line)) == width(line)
