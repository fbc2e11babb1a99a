"""Slack: blocks within its limits, text that mentions no user, and nothing lost on the way."""

import dataclasses
import json
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slack_rules import check, message
from strategies import TEXT
from surface_samples import BLOCK_TYPES, HOSTILE, SAMPLES, any_row, golden, hostile_rows
from vantage.presentation import PresentationContext
from vantage.surfaces.chat import BLOCKS
from vantage.surfaces.chat_text import Run
from vantage.surfaces.slack import render_slack
from vantage.surfaces.slack_markup import MARKDOWN, MRKDWN, write
from vantage.timeline.row import (
    Action,
    CodeBlock,
    MarkdownBlock,
    OutputBlock,
    Row,
    SectionBlock,
    TableBlock,
    TextBlock,
    head,
)

SLACK = PresentationContext(client_type="slack", content_width=80, supports_tables=False, max_message_units=12_000)
TABLES = dataclasses.replace(SLACK, supports_tables=True, max_message_units=None)
SECTIONS = dataclasses.replace(SLACK, supports_markdown=True, client_type="other")


def elements(block: dict) -> list[dict]:
    return [part for element in block["elements"] for part in element["elements"]]


def said(rows, context=SLACK) -> str:
    return check(render_slack(rows, context).output)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize(
    ("form", "context"), [("slack", SLACK), ("slack-tables", TABLES), ("slack-sections", SECTIONS)]
)
def test_golden(name, form, context):
    output = render_slack(SAMPLES[name], context).output
    check(output)
    lines = []
    for part in output:
        lines += ["=== message ===", f"text: {json.dumps(part['text'], ensure_ascii=False)}"]
        lines += [json.dumps(block, ensure_ascii=False) for block in part["blocks"]]
    got, expected = golden(f"{name}.{form}.txt", "\n".join(lines) + "\n")
    assert got == expected


def test_every_block_has_a_function():
    assert set(BLOCKS) == set(BLOCK_TYPES)


@given(st.lists(any_row(), max_size=3), st.sampled_from([SLACK, TABLES, SECTIONS]), st.sampled_from([2000, 12_000]))
def test_any_row_is_within_the_limits(rows, context, limit):
    check(render_slack(rows, dataclasses.replace(context, max_message_units=limit)).output)


@given(TEXT, st.sampled_from([SLACK, TABLES, SECTIONS]))
def test_any_markdown_keeps_its_words(text, context):
    together = "".join(said([message(MarkdownBlock(text))], context).replace("\\", "").split())
    for word in re.findall(r"[a-z]{4,}", text):
        if word not in ("example", "javascript", "alert", "https", "http", "evil"):
            assert word in together


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:20]))
@pytest.mark.parametrize("context", [SLACK, TABLES, SECTIONS], ids=["markdown", "tables", "sections"])
def test_hostile_text_is_inert_everywhere(text, context):
    check(render_slack(hostile_rows(text), context).output)


def test_a_head_is_exact_whatever_it_holds():
    row = Row(id="r", kind="tool", status="ok", title=head("Ran", "rm *_test.go `x` <!channel>"), duration_ms=5)
    [part] = render_slack([row], SLACK).output
    assert "".join(element["text"] for element in elements(part["blocks"][0])) == (
        "✅ Ran rm *_test.go `x` <!channel> · 5 ms"
    )
    assert part["text"] == "✅ Ran rm *_test.go `x` &lt;!channel&gt; · 5 ms"
    assert [element["text"] for element in elements(part["blocks"][0]) if "style" in element] == ["Ran"]


def test_mrkdwn_escapes_three_characters_and_its_links():
    [part] = render_slack(
        [message(MarkdownBlock("a & <b> [x|y](https://e.x/a|b>c?d=1&e) **c** ~~d~~ `e`"))], SECTIONS
    ).output
    text = part["blocks"][0]["text"]["text"]
    assert "a &amp; `&lt;b&gt;`" in text
    assert "<https://e.x/a%7Cb%3Ec?d=1&amp;e|x¦y>" in text
    assert text.endswith("*c* ~d~ `e`")


@pytest.mark.parametrize(
    ("runs", "markdown", "mrkdwn"),
    [
        ([Run("a*b_c _d_ [e]")], r"a\*b_c \_d\_ \[e\]", "a*b_c _d_ [e]"),
        ([Run("# no\n- no\n1. no")], "\\# no  \n\\- no  \n1\\. no", "# no\n- no\n1. no"),
        ([Run(" bold ", 1), Run("x")], " **bold** x", " *bold* x"),
        ([Run("a", 1), Run(" b", 3)], "**a *b***", "*a _b_*"),
        ([Run("a`b", 8)], "``a`b``", "a`b"),
        ([Run("2*3", 1)], r"**2\*3**", "2*3"),
        ([Run("x\ny", 1)], "**x**  \n**y**", "*x*\n*y*"),
        ([Run("<@U1>", 8)], "&lt;@U1&gt;", "`&lt;@U1&gt;`"),
        ([Run("- ", markup=True), Run("- x")], "- \\- x", "- - x"),
    ],
)
def test_runs_in_both_markups(runs, markdown, mrkdwn):
    assert write(runs, MARKDOWN) == markdown
    assert write(runs, MRKDWN) == mrkdwn


def test_output_is_bounded_and_says_by_how_much():
    row = Row(id="r", kind="tool", status="ok", title=head("Ran", "x"), blocks=[OutputBlock("\n".join("abcdefgh"))])
    assert said([row]) == "✅ Ran x\na\nb\nc\nd\ne\n*… +3 lines*"


def test_a_long_text_continues_in_further_messages():
    words = " ".join(f"word{n}" for n in range(8000))
    code = "\n".join(f"line{n}" for n in range(4000))
    output = render_slack([message(MarkdownBlock(f"{words}\n\n```go\n{code}\n```"))], SLACK).output
    together = check(output)
    assert len(output) > 4
    assert all(f"word{n}" in together for n in range(8000))
    assert all(f"line{n}\n" in together + "\n" for n in range(4000))
    pre = [block["elements"][0] for part in output for block in part["blocks"] if block["type"] == "rich_text"]
    assert {element["language"] for element in pre} == {"go"}


def test_many_short_rows_share_messages():
    rows = [Row(id=str(n), kind="tool", status="ok", title=head("Read", f"f{n}")) for n in range(120)]
    output = render_slack(rows, SLACK).output
    check(output)
    assert len(output) <= 4


def test_tables_are_native_where_they_can_be():
    table = TableBlock(["name", "n"], [["a", "1"], ["", "2"]])
    [part] = render_slack([message(table)], TABLES).output
    [block] = part["blocks"]
    assert block["rows"][0] == [{"type": "raw_text", "text": "name"}, {"type": "raw_text", "text": "n"}]
    assert block["rows"][2][0] == {"type": "raw_text", "text": " "}
    two = render_slack([message(table, table)], TABLES).output
    check(two)
    assert len(two) == 2
    assert said([message(table)], SLACK) == "**name:** a  \n**n:** 1\n\n**name:**   \n**n:** 2"


def test_long_and_wide_tables_are_split_and_keep_their_heads():
    wide = dataclasses.replace(TABLES, content_width=100_000, max_table_columns=100)
    rows = [[f"r{n}c{c}" for c in range(45)] for n in range(230)]
    output = render_slack([message(TableBlock([f"h{c}" for c in range(45)], rows))], wide).output
    together = check(output)
    assert all(cell in together for row in rows for cell in row)
    tables = [block for part in output for block in part["blocks"] if block["type"] == "table"]
    assert tables
    assert all(table["rows"][0][0]["text"] == "h0" for table in tables)


def test_a_rule_divides_and_code_is_preformatted():
    [part] = render_slack([message(MarkdownBlock("a\n\n---\n\nb"), CodeBlock("x = 1", "python"))], SLACK).output
    assert [block["type"] for block in part["blocks"]] == ["markdown", "divider", "markdown", "rich_text"]
    assert part["blocks"][3]["elements"][0] == {
        "type": "rich_text_preformatted",
        "elements": [{"type": "text", "text": "x = 1"}],
        "language": "python",
    }


def head_of(row: Row, context=SLACK) -> str:
    return said([row], context)


def everything_of(block, context=SLACK) -> str:
    return said([message(block)], context)


def test_sections_are_headings_and_addresses_links():
    actions = [
        Action("copy", "secret"),
        Action("open", "https://example.com/x", "See"),
        Action("open", "javascript:alert(1)", "Run"),
        Action("open", "https://example.com/y"),
        Action("send", "again", "Again"),
    ]
    block = SectionBlock("Outer\npart", [TextBlock("a", actions=actions), SectionBlock("Inner", [TextBlock("b")])])
    assert said([message(block)]) == (
        "### Outer part\n\na\n\n[See](https://example.com/x) · Run (javascript:alert(1)) · "
        "[https://example.com/y](https://example.com/y)\n\n### Inner\n\nb"
    )
    assert said([message(block)], SECTIONS) == (
        "*Outer part*\n\na\n\n<https://example.com/x|See> · Run (javascript:alert(1)) · "
        "<https://example.com/y|https://example.com/y>\n\n*Inner*\n\nb"
    )


def test_what_cannot_be_drawn_is_shown_as_text():
    class Strange(msgspec.Struct, tag="strange"):
        value: str

    together = said([message(Strange("kept"), object(), TextBlock(content=None))])
    assert "kept" in together
    assert "object" in together


def test_drawing_twice_gives_the_same():
    assert render_slack(SAMPLES["answer"], SLACK) == render_slack(SAMPLES["answer"], SLACK)
