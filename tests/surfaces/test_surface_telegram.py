"""Telegram: text and entities that the Bot API takes as they are, or rich messages where the client has them."""

import dataclasses
import json
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import TEXT
from surface_samples import BLOCK_TYPES, HOSTILE, SAMPLES, any_row, golden, hostile_rows
from telegram_rules import character_at, check, check_rich, message, rich_text, units
from vantage.document import nodes
from vantage.presentation import PresentationContext
from vantage.surfaces import telegram_rich
from vantage.surfaces.chat import BLOCKS, Fold, Note
from vantage.surfaces.chat_flow import NODES
from vantage.surfaces.telegram import render_telegram
from vantage.text.sanitize import sanitize
from vantage.timeline.row import (
    Action,
    CodeBlock,
    KeyValueBlock,
    MarkdownBlock,
    OutputBlock,
    Row,
    SectionBlock,
    TableBlock,
    TextBlock,
    head,
)

PHONE = PresentationContext(client_type="telegram", content_width=45, supports_tables=False, max_message_units=4096)
RICH = dataclasses.replace(PHONE, supports_tables=True, max_message_units=None)


def drawn(message: dict) -> str:
    """The text with its entities written out: `[bold]Ran[/]`."""
    marks: dict[int, list[str]] = {}
    for entity in message["entities"]:
        extra = entity.get("url") or entity.get("language")
        start, end = (character_at(message["text"], entity["offset"] + length) for length in (0, entity["length"]))
        marks.setdefault(start, []).append(f"[{entity['type']}{f'={extra}' if extra else ''}]")
        marks.setdefault(end, []).insert(0, "[/]")
    text = message["text"]
    return "".join("".join(marks.get(place, [])) + text[place : place + 1] for place in range(len(text) + 1))


def texts(rows, context=PHONE) -> list[str]:
    rendered = render_telegram(rows, context)
    check(rendered.output, context.max_message_units or 4096)
    return [message["text"] for message in rendered.output]


@pytest.mark.parametrize("name", SAMPLES)
def test_golden(name):
    rendered = render_telegram(SAMPLES[name], PHONE)
    check(rendered.output)
    got, expected = golden(
        f"{name}.telegram.txt", "\n\n=== next message ===\n\n".join(map(drawn, rendered.output)) + "\n"
    )
    assert got == expected


@pytest.mark.parametrize("name", SAMPLES)
def test_golden_rich(name):
    output = render_telegram(SAMPLES[name], RICH).output
    check_rich(output)
    got, expected = golden(f"{name}.telegram-rich.json", json.dumps(output, ensure_ascii=False, indent=1) + "\n")
    assert got == expected


def test_every_block_and_every_node_has_a_function():
    assert set(BLOCKS) == set(BLOCK_TYPES)
    assert set(NODES) == {*nodes.Block.__args__, Fold, Note}
    assert set(telegram_rich.NODES) == {*nodes.Block.__args__, Fold, Note}


@given(st.lists(any_row(), max_size=2), st.sampled_from([40, 300, 4096]))
def test_any_row_is_a_valid_message(rows, limit):
    context = dataclasses.replace(PHONE, max_message_units=limit)
    check(render_telegram(rows, context).output, limit)


@given(st.lists(st.tuples(TEXT, st.booleans()), max_size=6), st.sampled_from([16, 64, 200]))
def test_no_word_is_lost_however_small_the_messages(parts, limit):
    blocks = [TextBlock(text) if plain else OutputBlock(text, None) for text, plain in parts]
    context = dataclasses.replace(PHONE, max_message_units=limit)
    rendered = render_telegram([message(*blocks)], context).output
    together = "".join("".join(part["text"].split()) for part in rendered)
    assert together == "".join("".join(sanitize(text).split()) for text, _ in parts)


@given(TEXT, st.sampled_from([50, 4096]))
def test_any_markdown_keeps_its_words(text, limit):
    context = dataclasses.replace(PHONE, max_message_units=limit)
    rendered = render_telegram([message(MarkdownBlock(text))], context).output
    check(rendered, limit)
    together = "".join("".join(part["text"].split()) for part in rendered)
    for word in re.findall(r"[a-z]{4,}", text):
        if word not in ("example", "javascript", "alert", "https", "http", "evil"):
            assert word in together


@given(st.lists(any_row(), max_size=2), st.sampled_from([256, 5000, 40_000]))
def test_any_row_is_a_valid_rich_message(rows, limit):
    output = render_telegram(rows, dataclasses.replace(RICH, max_message_units=limit)).output
    check_rich(output, min(limit, 32_768))


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:20]))
def test_hostile_text_is_inert_everywhere(text):
    rows = hostile_rows(text)
    output = render_telegram(rows, PHONE).output
    rich = render_telegram(rows, RICH).output
    for part in output:
        assert units(part["text"]) <= 4096
        assert all(re.match("https?://", entity.get("url", "http://")) for entity in part["entities"])
    if len(output) < 20:
        check(output)
    check_rich(rich)


def test_the_verb_is_bold_and_the_status_a_glyph():
    row = Row(id="r", kind="tool", status="ok", title=head("Ran", "go test ."), duration_ms=1200, trailing="3 files")
    [part] = render_telegram([row], PHONE).output
    assert drawn(part) == "✅ [bold]Ran[/] go test . · 3 files · 1.2 s"
    assert texts([msgspec.structs.replace(row, status="error")])[0].startswith("❌ Ran")
    assert texts([msgspec.structs.replace(row, status="running")])[0].startswith("⏳ Ran")


def test_output_is_bounded_and_says_by_how_much():
    row = Row(id="r", kind="tool", status="ok", title=head("Ran", "x"), blocks=[OutputBlock("\n".join("abcdefgh"))])
    [part] = render_telegram([row], PHONE).output
    assert drawn(part) == "✅ [bold]Ran[/] x\n[pre]a\nb\nc\nd\ne[/]\n[italic]… +3 lines[/]"


def test_long_output_that_is_wanted_whole_is_folded():
    row = Row(id="r", kind="tool", status="ok", title=head("Ran", "x"), blocks=[OutputBlock("a\n" * 20, None)])
    [part] = render_telegram([row], PHONE).output
    assert [entity["type"] for entity in part["entities"]] == ["bold", "expandable_blockquote"]


def test_a_fence_is_reopened_in_the_next_message():
    code = "\n".join(f"    print({n})" for n in range(600))
    output = render_telegram([message(MarkdownBlock(f"Look:\n\n```python\n{code}\n```\n\nDone."))], PHONE).output
    check(output)
    assert len(output) > 2
    for part in output:
        assert [entity["language"] for entity in part["entities"] if entity["type"] == "pre"] == ["python"]
    assert [part["text"].split("\n")[-1].startswith("    print(") for part in output[:-1]] == [True] * (len(output) - 1)
    assert output[1]["text"].startswith("    print(")


def test_a_table_as_text_repeats_its_head():
    context = dataclasses.replace(PHONE, supports_tables=True, client_type="other", max_message_units=300)
    rows = [[str(n), "x" * 10] for n in range(40)]
    output = render_telegram([message(TableBlock(["number", "value"], rows))], context).output
    check(output, 300)
    assert len(output) > 2
    assert all(part["text"].startswith("number │ value\n") for part in output)


def test_a_table_becomes_records_with_bold_keys():
    rendered = render_telegram([message(TableBlock(["name", "size"], [["a", "1"], ["b", "2"]]))], PHONE)
    assert rendered.fitted == ["table → records"]
    assert drawn(rendered.output[0]) == ("[bold]name:[/] a\n[bold]size:[/] 1\n\n[bold]name:[/] b\n[bold]size:[/] 2")


def test_messages_break_between_blocks_first_then_lines_then_words():
    context = dataclasses.replace(PHONE, max_message_units=60)
    paragraph = "one two three four five six seven eight"
    assert texts([message(MarkdownBlock(f"{paragraph}\n\n{paragraph}"))], context) == [paragraph, paragraph]
    assert texts([message(TextBlock(f"{'a' * 40}\n{'b' * 40}"))], context) == ["a" * 40, "b" * 40]
    assert texts([message(TextBlock(f"{paragraph} {paragraph}"))], context)[0] == f"{paragraph} one two three four"


def test_no_grapheme_is_split():
    family = "👨‍👩‍👧‍👦"
    context = dataclasses.replace(PHONE, max_message_units=64)
    for part in texts([message(TextBlock(family * 40))], context):
        assert part.replace(family, "") == ""


def test_overlapping_marks_are_nested():
    [part] = render_telegram([message(MarkdownBlock("**a *b* c** *d **e***, `f` **`g`** ~~h~~"))], PHONE).output
    check([part])
    assert drawn(part) == (
        "[bold]a [italic]b[/] c[/] [italic]d[/] [bold][italic]e[/][/], [code]f[/] [code]g[/] [strikethrough]h[/]"
    )


def test_a_message_has_at_most_a_hundred_entities():
    pairs = [(f"k{n}", "v") for n in range(350)]
    output = render_telegram([message(KeyValueBlock(pairs))], PHONE).output
    check(output)
    assert sum(len(part["entities"]) for part in output) == 350


def test_many_small_marks_share_a_message_up_to_a_hundred():
    output = render_telegram([message(*[MarkdownBlock("**a**")] * 250)], PHONE).output
    check(output)
    assert [len(part["entities"]) for part in output] == [100, 100, 50]


def test_a_mark_covers_whole_graphemes():
    [part] = render_telegram([message(MarkdownBlock("**e**\u0301x"))], PHONE).output
    check([part])
    assert drawn(part) == "[bold]e\u0301[/]x"


def test_addresses_that_cannot_be_linked_are_spelt_out():
    [part] = texts([message(MarkdownBlock("[a](javascript:x) [b](mailto:x@y.z) [c](https://y.z) [d](ftp://q)"))])
    assert part == "a (javascript:x) b (x@y.z) c d (ftp://q)"


def test_sub_agents_are_marked():
    rows = [message(TextBlock("hi"), depth=2), Row(id="t", kind="tool", status="ok", depth=1, title=head("Ran", "x"))]
    assert texts(rows) == ["↳ ↳ hi\n\n↳ ✅ Ran x"]


def test_a_client_without_marks_or_unicode():
    context = dataclasses.replace(PHONE, supports_rich_text=False, supports_unicode=False, supports_code_blocks=False)
    row = Row(id="r", kind="tool", status="ok", title=head("Ran", "x — y"), blocks=[CodeBlock("a\nb")], depth=1)
    [part] = render_telegram([row, message(MarkdownBlock("- **é**"))], context).output
    assert part["entities"] == []
    assert part["text"].isascii()
    assert part["text"].startswith("> [ok] Ran x -- y")
    assert "    b" in part["text"]


def texts_head(row: Row, context=PHONE) -> str:
    return texts([row], context)[0]


def everything_of(block, context=PHONE) -> str:
    output = render_telegram([message(block)], context).output
    if context is RICH:
        return check_rich(output)
    check(output)
    return "\n".join(part["text"] for part in output)


def test_sections_are_headings_and_addresses_links():
    actions = [
        Action("copy", "secret"),
        Action("open", "https://example.com/x", "See"),
        Action("open", "javascript:alert(1)", "Run"),
        Action("open", "https://example.com/y"),
        Action("send", "again", "Again"),
    ]
    block = SectionBlock("Outer\npart", [TextBlock("a", actions=actions), SectionBlock("Inner", [TextBlock("b")])])
    assert drawn(render_telegram([message(block)], PHONE).output[0]) == (
        "[bold]Outer part[/]\n\na\n\n[text_link=https://example.com/x]See[/] · Run (javascript:alert(1)) · "
        "[text_link=https://example.com/y]https://example.com/y[/]\n\n[bold]Inner[/]\n\nb"
    )


def test_what_cannot_be_drawn_is_shown_as_text():
    class Strange(msgspec.Struct, tag="strange"):
        value: str

    [part] = texts([message(Strange("kept"), object(), TextBlock(content=None))])
    assert "kept" in part
    assert "object" in part


def test_drawing_twice_gives_the_same():
    assert render_telegram(SAMPLES["answer"], PHONE) == render_telegram(SAMPLES["answer"], PHONE)


# the rich form


def test_rich_messages_have_tables_and_details():
    row = Row(
        id="r",
        kind="tool",
        status="ok",
        title=head("Ran", "x"),
        blocks=[TableBlock(["a"], [["1"]]), OutputBlock("out")],
    )
    [part] = render_telegram([row], RICH).output
    [details] = part["rich_message"]["blocks"]
    assert details["type"] == "details"
    assert rich_text(details["summary"]) == "✅ Ran x"
    assert [block["type"] for block in details["blocks"]] == ["table", "pre"]


def test_rich_messages_split_long_tables_and_repeat_their_heads():
    rows = [[str(n), "x" * 30] for n in range(900)]
    output = render_telegram([message(TableBlock(["n", "x"], rows))], RICH).output
    everything = check_rich(output)
    assert all(f"{n}x" in everything for n in range(900))
    for part in output:
        for table in part["rich_message"]["blocks"]:
            assert [cell["text"] for cell in table["cells"][0]] == ["n", "x"]


def test_rich_messages_split_wide_tables_and_keep_the_first_column():
    wide = dataclasses.replace(RICH, content_width=100_000, max_table_columns=100)
    table = TableBlock([f"h{c}" for c in range(45)], [[f"c{c}" for c in range(45)]])
    output = render_telegram([message(table)], wide).output
    everything = check_rich(output)
    assert all(f"c{c}" in everything for c in range(45))
    tables = [block for part in output for block in part["rich_message"]["blocks"]]
    assert [block["cells"][0][0]["text"] for block in tables] == ["h0"] * 3


def test_rich_messages_hold_all_of_a_long_list():
    items = "\n".join(f"- item{n}" for n in range(700))
    everything = check_rich(render_telegram([message(MarkdownBlock(items))], RICH).output)
    assert all(f"item{n}" in everything for n in range(700))
