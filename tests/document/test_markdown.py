import json
import re
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings

from markdown_samples import MARKDOWN, WORDY
from outline import outline, text_of
from places import FIXTURES
from vantage.document.markdown import MAX_DEPTH, parse
from vantage.document.nodes import Block, FootnoteDef, Link, ListBlock, Paragraph, Quote, Table, Text
from words_of_html import Words

_CASE = re.compile(r"^([^\n]+)\n\.\n(.*?)^\.\n(.*?)^\.\n", re.MULTILINE | re.DOTALL)
CASES = [
    pytest.param(source, expected, id=f"{path.stem}: {title}")
    for path in sorted((FIXTURES / "markdown").glob("*.txt"))
    for title, source, expected in _CASE.findall(path.read_text())
]
MORE = settings(max_examples=5 * settings.default.max_examples)
COMMONMARK = json.loads((FIXTURES / "commonmark.json").read_text())


@pytest.mark.parametrize(("source", "expected"), CASES)
def test_markdown_reads_as_drawn(source: str, expected: str) -> None:
    assert outline(parse(source)) + "\n" == expected


def first_missing(words: list[str], text: str) -> str | None:
    """The first word that does not follow, somewhere, on the one before it."""
    position = 0
    for word in words:
        found = text.find(word, position)
        if found < 0:
            return word
        position = found + len(word)
    return None


@pytest.mark.parametrize("example", COMMONMARK, ids=range(1, len(COMMONMARK) + 1))
def test_no_word_of_commonmarks_examples_is_lost(example: dict[str, str]) -> None:
    blocks = parse(example["markdown"])
    assert first_missing(Words(example["html"]).words, text_of(blocks)) is None, outline(blocks)


@MORE
@given(WORDY)
def test_no_word_is_lost(document: tuple[str, list[str]]) -> None:
    source, words = document
    blocks = parse(source)
    assert first_missing(words, text_of(blocks)) is None, outline(blocks)


@MORE
@given(MARKDOWN)
def test_any_text_becomes_well_formed_nodes(source: str) -> None:
    for block in walk(parse(source)):
        if isinstance(block, Table):
            assert {len(row) for row in block.rows} <= {len(block.header)} == {len(block.alignments)}
        if isinstance(block, Paragraph):
            assert block.content
            for left, right in pairwise(block.content):
                plain = isinstance(left, Text) and isinstance(right, Text) and not left.marks & 56
                assert not (plain and left.marks == right.marks and left.link is right.link), "runs are joined"


def walk(blocks: list[Block], depth: int = 1):
    assert depth <= MAX_DEPTH + 1
    for block in blocks:
        yield block
        if isinstance(block, Quote | FootnoteDef):
            yield from walk(block.children, depth + 1)
        elif isinstance(block, ListBlock):
            for item in block.items:
                yield from walk(item.children, depth + 2)


@pytest.mark.parametrize(
    "source",
    [
        "> " * 10_000 + "deep\n",
        "- " * 10_000 + "deep\n",
        "1. " * 10_000 + "deep\n",
        "> - " * 5_000 + "deep\n",
        "".join("  " * level + "- level\n" for level in range(300)) + "  " * 300 + "deep\n",
        "[" * 100_000 + "deep",
        "![" * 10_000 + "deep" + "](u)" * 10_000,
        "**" * 10_000 + "deep" + "**" * 10_000,
        "<" * 100_000 + "deep",
        " ".join("`" * length for length in range(300, 0, -1)) + " deep",
        "https://x" + ")" * 100_000 + "deep",
        "[^1]: " * 10_000 + "deep",
        "| a |\n|---|\n| " + "| " * 50_000 + "deep |",
    ],
    ids=lambda source: source[:12],
)
def test_depth_costs_neither_recursion_nor_words(source: str) -> None:
    blocks = parse(source)
    assert "deep" in text_of(blocks)
    assert sum(1 for _ in walk(blocks))


def test_what_is_no_character_is_replaced() -> None:
    assert text_of(parse("a\0b \ud83d c \ud83d\ude00")) == "a\ufffdb \ufffd c 😀"


def test_every_line_ending_is_one() -> None:
    text = "# a\n\nb\nc\n\n```\nd\n\ne\n```\n"
    assert parse(text.replace("\n", "\r\n")) == parse(text.replace("\n", "\r")) == parse(text)


def test_the_runs_of_a_link_share_it() -> None:
    (paragraph,) = parse("[a **b** c](/u) [d](/u)")
    first, second, third, _, other = paragraph.content
    assert first.link is second.link is third.link == Link("/u") == other.link
    assert other.link is not first.link


def test_importing_it_is_cheap() -> None:
    code = "import sys, vantage.document.stream; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"pygments", "wcwidth", "asyncio", "click", "json"} & set(loaded)
