"""Laws for any table on any display: it fits, no word is lost, and fitting twice gives the same as fitting once."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from vantage.document.fit import fit
from vantage.document.inline import spans_of
from vantage.document.nodes import (
    CODE,
    EMPHASIS,
    STRONG,
    Block,
    Break,
    Cell,
    FootnoteDef,
    Image,
    Inline,
    Item,
    Link,
    ListBlock,
    Paragraph,
    Quote,
    Records,
    Table,
    Text,
    table_chrome,
)
from vantage.presentation import PresentationContext
from vantage.text.spans import text_of, width_of
from vantage.text.wrap import wrap

WORDS = [
    "a", "id", "yes", "1,024", "status", "Authentication", "internationalization", "well-known", "src/vantage/text",
    "https://example.org/a/very/long/address?with=query", "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef", "中文",
    "表格很宽", "日本語テキスト。", "👩‍👩‍👧", "🇩🇪", "👍🏽", "é", "e\u0301clair", "각", "ᄀ각", "क्षि", "✓", "—",
    "a|b", "`", "\t", "…",
]  # fmt: skip
texts = st.lists(st.sampled_from(WORDS) | st.text(max_size=12), max_size=6).map(" ".join)
inlines = st.one_of(
    st.builds(Text, texts),
    st.builds(Text, texts, st.sampled_from([STRONG, EMPHASIS, CODE])),
    st.builds(Text, texts, st.just(0), st.builds(Link, st.sampled_from(["https://a.example/x", "", "mailto:a@b.c"]))),
    st.builds(Break, st.booleans()),
    st.builds(
        Image, st.sampled_from(WORDS), st.sampled_from(["https://a.example/i.png", "data:image/png;base64,xx", ""])
    ),
)
cells = st.builds(Cell, st.one_of(st.just([]), st.lists(inlines, max_size=2)))


@st.composite
def tables(draw, *, ragged=False):
    columns = draw(st.integers(1, 12))
    count = st.integers(0, columns + 2) if ragged else st.just(columns)

    def row():
        size = draw(count)
        return draw(st.lists(cells, min_size=size, max_size=size))

    alignments = draw(st.lists(st.sampled_from(["none", "left", "right"]), min_size=columns, max_size=columns))
    header = draw(st.lists(cells, min_size=columns, max_size=columns))
    return Table(header, [row() for _ in range(draw(st.integers(0, 4)))], alignments)


@st.composite
def nested(draw):
    block: Block = draw(tables())
    for _ in range(draw(st.integers(0, 3))):
        wrapper = draw(st.sampled_from(["quote", "bullet", "ordered", "note"]))
        beside: Block = Paragraph([Text("beside")])
        block = {
            "quote": lambda b, p: Quote([p, b]),
            "bullet": lambda b, p: ListBlock([Item([p]), Item([b, p])]),
            "ordered": lambda b, p: ListBlock([Item([b])], 99),
            "note": lambda b, p: FootnoteDef("1", [b]),
        }[wrapper](block, beside)
    return [Paragraph([Text("before")]), block]


contexts = st.builds(
    PresentationContext,
    content_width=st.integers(10, 200),
    table_mode=st.sampled_from(["auto", "wrap", "truncate", "transpose", "records", "off"]),
    supports_tables=st.sampled_from([True, True, True, False]),
    supports_unicode=st.sampled_from([True, True, False]),
    supports_rich_text=st.sampled_from([True, True, False]),
    supports_markdown=st.sampled_from([True, True, False]),
    supports_images=st.booleans(),
    max_table_columns=st.none() | st.integers(1, 6),
)
lawful = settings(max_examples=120)


def walk(blocks, width):
    """Every block with the cells it has."""
    for block in blocks:
        yield block, width
        if isinstance(block, Quote):
            yield from walk(block.children, width - 2)
        elif isinstance(block, FootnoteDef):
            yield from walk(block.children, width - len(f"[{block.label}] "))
        elif isinstance(block, ListBlock):
            marker = 2 if block.start is None else len(f"{block.start + len(block.items) - 1}. ")
            for item in block.items:
                yield from walk(item.children, width - marker)


def assert_fits(blocks, width):
    for block, room in walk(blocks, width):
        if not isinstance(block, Table):
            continue
        assert all(len(row) == len(block.header) == len(block.alignments) for row in block.rows)
        columns = list(zip(block.header, *block.rows, strict=True))
        natural = [max(line_widths(cell.content, None), default=0) for column in columns for cell in column]
        widths = block.widths
        if widths is None:
            size = len(block.rows) + 1
            widths = [max(natural[at : at + size]) for at in range(0, len(natural), size)]
        assert len(widths) == len(block.header)
        assert min(widths) >= 0
        assert sum(widths) + table_chrome(len(widths)) <= room
        if not block.truncate:
            for column, width_of_column in zip(columns, widths, strict=True):
                for cell in column:
                    assert max(line_widths(cell.content, width_of_column), default=0) <= width_of_column


def line_widths(content: list[Inline], width):
    return [width_of(line) for line in wrap(spans_of(content), width)] if content else []


def drawn_text(content):
    return text_of(spans_of(content))


def words_of(blocks):
    """All words that a reader finds, wherever they stand."""
    out = []
    for block, _ in walk(blocks, 0):
        if isinstance(block, Paragraph):
            out.append(drawn_text(block.content))
        elif isinstance(block, Table):
            out += [drawn_text(cell.content) for cell in [*block.header, *[c for row in block.rows for c in row]]]
        elif isinstance(block, Records):
            out += [drawn_text(part) for record in block.records for pair in record for part in pair]
    return set(re.sub(r"[:;,()]", " ", " ".join(out)).split())


@lawful
@given(nested(), contexts)
def test_every_table_fits_its_width(blocks, context):
    assert_fits(fit(blocks, context).blocks, context.content_width)


@lawful
@given(tables(ragged=True), contexts)
def test_ragged_rows_fit_as_well(table, context):
    assert_fits(fit([table], context).blocks, context.content_width)


@lawful
@given(nested(), contexts.filter(lambda context: context.table_mode != "truncate" and context.supports_unicode))
def test_no_word_is_lost_unless_truncation_was_asked_for(blocks, context):
    assert words_of(blocks) <= words_of(fit(blocks, context).blocks)


@lawful
@given(nested(), contexts)
def test_fitting_twice_is_fitting_once(blocks, context):
    once = fit(blocks, context)
    assert fit(once.blocks, context).blocks == once.blocks
    assert fit(blocks, context) == once
    assert len(set(once.notes)) == len(once.notes)
