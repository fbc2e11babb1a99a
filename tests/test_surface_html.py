"""HTML: semantic, whole, escaped. Whatever a row holds, the markup is balanced and nothing in it can act."""

import re
from html.parser import HTMLParser

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import TEXT
from surface_samples import BLOCK_TYPES, HOSTILE, PIXEL, SAMPLES, any_row, golden, hostile_rows
from vantage.document import nodes
from vantage.presentation import PresentationContext
from vantage.surfaces.html import BLOCKS, render_html, row_html
from vantage.surfaces.html_document import NODES
from vantage.timeline.row import (
    AnsiBlock,
    CodeBlock,
    DiffBlock,
    DiffLine,
    FileDiff,
    ImageBlock,
    MarkdownBlock,
    OutputBlock,
    Row,
    TextBlock,
    head,
)

WEB = PresentationContext(client_type="web", content_width=100, supports_images=True, wrap_mode="soft")

DATA = {f"data-{name}" for name in ("seq", "ts", "status", "kind", "depth", "agent", "tool")}
BARE = ("br", "strong", "em", "s", "dt", "dd", "tbody")
CLASSED = ("h3", "h4", "h5", "h6", "p", "ul", "dl", "table", "tr", "thead", "figure", "figcaption", "code", "hr")
# element → the attributes it may have
ALLOWED = {
    "article": {"class", "id", "aria-label"} | DATA,
    "details": {"class", "data-lazy"},
    "div": {"class", "id", "data-block", "data-block-id", "tabindex", "role", "aria-label"},
    "span": {"class", "aria-hidden", "data-icon", "role"},
    "a": {"class", "href", "title", "rel", "aria-label"},
    "img": {"class", "src", "alt"},
    "input": {"type", "disabled", "checked", "aria-label"},
    "pre": {"class", "tabindex", "role", "aria-label"},
    "progress": {"class", "max", "value", "aria-label"},
    "li": {"class", "aria-current"},
    "ol": {"class", "start"},
    "sup": {"class", "id"},
    "td": {"class", "colspan"},
    "th": {"class", "scope"},
    **{name: {"class"} for name in (*CLASSED, "blockquote", "section", "summary")},
    **{name: set() for name in BARE},
}
VOID = {"br", "hr", "img", "input"}


class Page(HTMLParser):
    """Reads markup as strictly as it was promised: balanced, allow-listed, ids unique, links safe."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.pieces: list[str] = []
        self.feed(markup)
        self.close()
        assert not self.open
        assert len(self.ids) == len(set(self.ids))
        for _, attributes in self.tags:
            if (target := attributes.get("href", "")).startswith("#"):
                assert target[1:] in self.ids

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        assert tag in ALLOWED, tag
        assert len(attributes) == len(attrs)
        assert set(attributes) <= ALLOWED[tag], (tag, attributes)
        if "href" in attributes:
            assert re.match(r"#|https?://|mailto:", attributes["href"], re.IGNORECASE)
            assert attributes["href"].startswith("#") or attributes["rel"] == "noopener noreferrer nofollow"
        if "src" in attributes:
            assert re.fullmatch(r"assets/[\w.-]+|data:image/(png|jpeg|gif|webp);base64,[\w+/=]+", attributes["src"])
            assert "alt" in attributes
        if "id" in attributes:
            assert re.fullmatch(r"[A-Za-z][\w-]*", attributes["id"], re.ASCII)
            self.ids.append(attributes["id"])
        if tag == "a":
            assert "a" not in self.open, "anchors do not nest"
        if tag not in VOID:
            self.open.append(tag)
        self.tags.append((tag, attributes))

    def handle_endtag(self, tag):
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", data)
        self.pieces.append(data)

    @property
    def words(self) -> str:
        return "".join(self.pieces)

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment

    def attribute(self, tag: str, name: str) -> list[str]:
        return [attributes[name] for found, attributes in self.tags if found == tag and name in attributes]


def page(*blocks, kind="message", **fields) -> Page:
    return Page(row_html(Row(id="r", kind=kind, blocks=list(blocks), **fields), WEB))


def laid_out(markup: str) -> str:
    """One element that begins a line per line, for reading; what is inside `pre` stays as it is."""
    starts = (
        r"(?=<(?:article|details|div|p|h\d|ul|ol|li|dl|dt|table|thead|tbody|tr|figure|blockquote|hr|pre|summary)\b)"
    )
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


def test_a_body_can_be_left_for_later():
    row = Row(id="r", kind="tool", status="ok", title=head("Ran", "make"), blocks=[OutputBlock("secret")])
    markup = row_html(row, WEB, body=False)
    assert Page(markup).attribute("details", "data-lazy") == ["true"]
    assert "secret" not in markup


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


def test_what_cannot_be_drawn_is_shown_as_text():
    class Strange(msgspec.Struct, tag="strange"):
        value: str

    read = page(Strange("<b>kept</b>"), object(), TextBlock(content=None))
    assert "<b>kept</b>" in read.words
    assert "object" in read.words


def test_drawing_twice_gives_the_same():
    assert render_html(SAMPLES["answer"], WEB) == render_html(SAMPLES["answer"], WEB)
