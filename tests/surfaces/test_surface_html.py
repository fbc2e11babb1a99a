"""HTML: semantic, whole, escaped. Whatever a row holds, the markup is balanced and nothing in it can act."""

import dataclasses
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from html_rules import Page
from strategies import TEXT
from surface_samples import BLOCK_TYPES, HOSTILE, PIXEL, SAMPLES, any_row, golden, hostile_rows
from vantage.document import nodes
from vantage.presentation import PresentationContext
from vantage.surfaces.html import BLOCKS, render_html, row_html
from vantage.surfaces.html.document import NODES
from vantage.text.palette import TOKENS
from vantage.timeline.row import (
    Action,
    AnsiBlock,
    BadgesBlock,
    CodeBlock,
    DiffBlock,
    DiffLine,
    FileDiff,
    ImageBlock,
    MarkdownBlock,
    OutputBlock,
    Row,
    SectionBlock,
    TextBlock,
    head,
)

WEB = PresentationContext(client_type="web", content_width=100, supports_images=True, wrap_mode="soft")

# element → the attributes it may have


def page(*blocks, kind="message", **fields) -> Page:
    return Page(row_html(Row(id="r", kind=kind, blocks=list(blocks), **fields), WEB))


def laid_out(markup: str) -> str:
    """One element that begins a line per line, for reading; what is inside `pre` stays as it is."""
    names = "article details div section p h\\d ul ol li dl dt table thead tbody tr figure blockquote hr pre summary"
    starts = rf"(?=<(?:{names.replace(' ', '|')})\b)"
    parts = re.split(r"(<pre.*?</pre>)", markup, flags=re.DOTALL)
    return "".join(part if index % 2 else re.sub(starts, "\n", part) for index, part in enumerate(parts)).strip() + "\n"


@pytest.mark.parametrize("name", SAMPLES)
def test_golden(name):
    rendered = render_html(SAMPLES[name], WEB)
    Page(rendered.output)
    got, expected = golden(f"{name}.html", laid_out(rendered.output))
    assert got == expected


def test_every_block_and_every_node_has_a_function():
    assert set(BLOCKS) == set(BLOCK_TYPES)
    assert set(NODES) == set(nodes.Block.__args__)


@given(st.lists(any_row(), max_size=3))
def test_any_row_is_balanced_and_inert(rows):
    rows = [msgspec.structs.replace(row, id=f"{index} {row.id}") for index, row in enumerate(rows)]
    Page(render_html(rows, WEB).output)


@given(TEXT, st.integers(1, 100), st.booleans(), st.booleans())
def test_any_markdown_in_any_context_is_inert(text, width, tables, rich):
    context = PresentationContext(
        client_type="web", content_width=width, supports_tables=tables, supports_rich_text=rich, supports_images=True
    )
    Page(row_html(Row(id=text, kind="message", blocks=[MarkdownBlock(text)]), context))


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:20]))
def test_hostile_text_is_inert_everywhere(text):
    output = render_html(hostile_rows(text), WEB).output
    Page(output)
    assert "<script" not in output
    assert not re.search(r"""(?:href|src)=["']?\s*(?:javascript|data:text|vbscript)""", output, re.IGNORECASE)


def test_a_tool_folds_its_whole_body_under_its_head():
    output = "\n".join(f"line {n}" for n in range(500))
    read = page(OutputBlock(output, 5), kind="tool", status="error", title=head("Ran", "make"), duration_ms=61_000)
    assert "line 499" in read.words
    assert [tag for tag, _ in read.tags][:3] == ["article", "details", "summary"]
    assert "failed: Ran make 1 min 1 s" in " ".join(read.words.split())


def test_the_row_says_where_it_stands():
    read = page(TextBlock("x"), seq=7, depth=2, agent="reviewer", status="none")
    attributes = read.tags[0][1]
    assert attributes["data-seq"] == "7"
    assert attributes["data-depth"] == "2"
    assert attributes["data-status"] == "none"
    assert attributes["data-kind"] == "message"
    assert "reviewer" in attributes["aria-label"]


@given(TEXT, TEXT)
def test_different_rows_have_different_ids(one, other):
    ids = [Page(row_html(Row(id=name, kind="message"), WEB)).ids for name in (one, other)]
    assert (ids[0] == ids[1]) == (one == other)


def test_colours_are_classes_with_a_number():
    markup = row_html(Row(id="r", kind="message", blocks=[AnsiBlock("\x1b[1;38;5;203;48;5;17mx\x1b[32my\x1b[2K")]), WEB)
    assert '<span class="v-bold v-fg-203 v-bg-17">x</span>' in markup
    assert '<span class="v-bold v-fg-2 v-bg-17">y\\x1B[2K</span>' in markup


def test_code_is_highlighted_and_numbered():
    markup = row_html(Row(id="r", kind="message", blocks=[CodeBlock("def f():\n    pass", "python", 9)]), WEB)
    assert '<span class="v-line-number" aria-hidden="true">9</span><span class="v-t-keyword">def</span>' in markup
    assert '<span class="v-line-number" aria-hidden="true">10</span>' in markup


def test_a_diff_counts_old_and_new_lines():
    lines = [
        DiffLine(" ", "a", 5),
        DiffLine("-", "b", 6),
        DiffLine("+", "c", 6),
        DiffLine("+", "d", 7),
        DiffLine(" ", "e", 8),
    ]
    markup = row_html(Row(id="r", kind="message", blocks=[DiffBlock([FileDiff("f", hunks=[lines])])]), WEB)
    numbers = re.findall(r'<td class="v-number">(\d*)</td><td class="v-number">(\d*)</td>', markup)
    assert numbers == [("5", "5"), ("6", ""), ("", "6"), ("", "7"), ("7", "8")]


@pytest.mark.parametrize(
    ("source", "drawn"),
    [
        ("asset-1.png", "assets/asset-1.png"),
        (PIXEL, PIXEL),
        ("https://example.com/x.png", None),
        ("../../etc/passwd", None),
        ("data:image/svg+xml;base64,AAAA", None),
        ("data:image/png;base64," + "A" * 200_000, None),
        (".hidden", None),
    ],
)
def test_only_pictures_of_the_conversation_are_drawn(source, drawn):
    read = page(ImageBlock(source, "a map"))
    assert read.attribute("img", "src") == ([drawn] if drawn else [])
    assert "a map" in read.words + "".join(read.attribute("img", "alt"))


def test_a_remote_picture_becomes_a_link_with_its_words():
    read = page(MarkdownBlock("![the chart](https://example.com/c.png)"))
    assert read.attribute("a", "href") == ["https://example.com/c.png"]
    assert "the chart" in read.words


def test_a_linked_remote_picture_is_one_link():
    read = page(
        MarkdownBlock("[![badge](https://example.com/b.svg)](https://example.com/ci) [![x](y.png)](https://e.x)")
    )
    assert read.attribute("a", "href") == ["https://example.com/ci", "https://e.x"]
    assert "[image: badge]" in read.words


def test_footnotes_lead_there_and_back():
    read = page(MarkdownBlock("one[^a] two[^a] none[^b]\n\n[^a]: the note"), MarkdownBlock("x[^a]\n\n[^a]: other"))
    links = read.attribute("a", "href")
    assert len(links) == 5
    assert all(link[1:] in read.ids for link in links)


def test_meaning_is_never_colour_alone():
    read = page(
        MarkdownBlock("- [x] done\n- [ ] open\n\n> [!CAUTION]\n> hot"),
        DiffBlock([FileDiff("f", hunks=[[DiffLine("+", "x", 1)]])]),
    )
    assert read.attribute("input", "aria-label") == ["done", "to do"]
    assert "Caution" in read.words
    assert "added" in read.words


def test_an_icon_is_a_picture_of_ours_in_a_colour_of_the_theme():
    markup = row_html(Row(id="r", kind="tool", title=head("x"), icon="cloud.sun.fill", icon_color="cyan"), WEB)
    assert '<svg class="v-icon v-icon-weather v-cyan" viewBox="0 0 16 16"' in markup
    assert Page(markup).attribute("svg", "aria-hidden") == ["true"]
    unknown = row_html(Row(id="r", kind="tool", title=head("x"), icon='"><b>', icon_color='"><b>'), WEB)
    assert '<svg class="v-icon v-icon-dot" ' in unknown


@pytest.mark.parametrize("color", [*sorted(TOKENS), "no such colour", '" onload="x'])
def test_colours_of_the_theme_are_classes(color):
    read = page(BadgesBlock(["x"], color), kind="tool", title=head("x"), icon="dot", icon_color=color)
    known = f" v-{color}" if color in TOKENS else ""
    assert f"v-icon v-icon-dot{known}" in read.attribute("svg", "class")
    assert f"v-badges{known}" in read.attribute("ul", "class")


def test_sections_are_nested_under_headings():
    inner = SectionBlock("Inner", [MarkdownBlock("a[^1]\n\n[^1]: note"), TextBlock("b")])
    read = page(SectionBlock("Outer", [TextBlock("a"), inner]), SectionBlock("", [TextBlock("c")]))
    assert [tag for tag, _ in read.tags if tag in ("section", "h3", "h4")] == [
        "section",
        "h3",
        "section",
        "h4",
        "section",
    ]
    assert read.attribute("div", "data-block") == ["0", "0.0", "0.1", "0.1.0", "0.1.1", "1", "1.0"]


def test_sections_without_end_are_drawn_whole():
    block = TextBlock("the innermost")
    for depth in range(3000):
        block = SectionBlock(f"level{depth}", [block])
    read = page(block)
    assert "the innermost" in read.words
    assert all(f"level{depth}" in read.words for depth in range(3000))
    assert len(read.tags) < 10_000


def test_the_spoken_text_is_the_label_of_a_block():
    read = page(TextBlock("▁▂▇", spoken='rising "fast"'))
    assert {"role": "group", "aria-label": 'rising "fast"'}.items() <= read.tags[2][1].items()


def test_actions_are_buttons_that_carry_their_value_whole():
    source = 'a\n\tb & "c" ' * 500
    actions = [Action("copy", source), Action("goto", "row 7", "There"), Action("send", "retry", "<b>Again</b>")]
    read = page(TextBlock("x", actions=actions))
    assert read.attribute("button", "data-action") == ["copy", "goto", "send"]
    assert read.attribute("button", "data-value") == [source, "row 7", "retry"]
    assert read.attribute("button", "type") == ["button"] * 3
    assert "CopyThere<b>Again</b>" in read.words


def test_only_safe_addresses_are_opened():
    safe = ["https://example.com/?a=1&b=2", "HTTP://example.com", "mailto:a@b.c"]
    other = [
        "javascript:alert(1)",
        " java\nscript:x",
        "data:text/html,<b>",
        "file:///etc/passwd",
        "//evil.example",
        "x",
    ]
    read = page(TextBlock("x", actions=[Action("open", address, "Go") for address in [*safe, *other]]))
    assert read.attribute("a", "href") == safe
    assert all(f"Go ({address.replace(chr(10), ' ')})" in read.words for address in other)


@pytest.mark.parametrize("cut", ["tail", "middle"])
def test_a_title_that_is_cut_is_whole_on_one_line(cut):
    text = "first\nsecond " + "é\u0301👨‍👩‍👧" * 100
    row = Row(id="r", kind="tool", title=head("Ran", text), cut_title=cut)
    markup = row_html(row, WEB)
    read = Page(markup)
    assert f"v-title v-cut-{cut}" in read.attribute("span", "class")
    assert f"Ran {text.replace(chr(10), ' ')}" in read.words
    if cut == "middle":
        assert markup.endswith('<span class="v-cut-end">' + "é\u0301👨‍👩‍👧" * 8 + "</span></span></div></article>")


def test_what_the_display_cannot_show_gives_way():
    picture = ImageBlock("a.png", "a map", requires=["images"], fallback=TextBlock("a map in words"))
    diagram = TextBlock("pie", requires=["mermaid"])
    section = SectionBlock("Inside", [picture, diagram, TextBlock("end")])
    blind = dataclasses.replace(WEB, supports_images=False)
    row = Row(id="r", kind="tool", title=head("x"), blocks=[picture, diagram, section])
    seen, unseen = Page(row_html(row, WEB)), Page(row_html(row, blind))
    assert seen.attribute("img", "alt") == ["a map"] * 2
    assert "words" not in seen.words
    assert unseen.attribute("img", "alt") == []
    assert unseen.words.count("a map in words") == 2
    assert "pie" not in seen.words + unseen.words
    assert unseen.attribute("div", "data-block") == ["0", "2", "2.0", "2.2"]
    nothing = Row(id="r", kind="tool", title=head("x"), blocks=[diagram])
    assert "<details" not in row_html(nothing, WEB)


def test_what_cannot_be_drawn_is_shown_as_text():
    class Strange(msgspec.Struct, tag="strange"):
        value: str

    read = page(Strange("<b>kept</b>"), object(), TextBlock(content=None))
    assert "<b>kept</b>" in read.words
    assert "object" in read.words


def test_drawing_twice_gives_the_same():
    assert render_html(SAMPLES["answer"], WEB) == render_html(SAMPLES["answer"], WEB)
