from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markdown_samples import MARKDOWN
from outline import outline
from vantage.document import stream as module
from vantage.document.markdown import parse
from vantage.document.stream import MarkdownStream

CUTS = st.lists(st.integers(1, 12), min_size=1, max_size=40)
MORE = settings(max_examples=5 * settings.default.max_examples)
SIZES = st.sampled_from([1, 1, 8, 40])


def pieces(text: str, cuts: list[int]):
    position = turn = 0
    while position < len(text):
        length = cuts[turn % len(cuts)]
        yield text[position : position + length]
        position += length
        turn += 1


def fed(text: str, **options: int) -> MarkdownStream:
    """A stream that got the text character by character."""
    stream = MarkdownStream(**{"commit_size": 1, **options})
    for character in text:
        stream.feed(character)
    return stream


@MORE
@given(MARKDOWN, CUTS, SIZES)
def test_every_chunking_ends_with_the_same_blocks(text: str, cuts: list[int], size: int) -> None:
    stream = MarkdownStream(commit_size=size)
    for piece in pieces(text, cuts):
        stream.feed(piece)
    assert stream.finish() == parse(text)


@MORE
@given(MARKDOWN, CUTS, SIZES)
def test_every_prefix_is_what_a_fresh_parse_makes_of_it(text: str, cuts: list[int], size: int) -> None:
    stream = MarkdownStream(commit_size=size)
    prefix = ""
    for piece in pieces(text, cuts):
        stream.feed(piece)
        prefix += piece
        assert stream.committed + stream.tail(final=True) == parse(prefix)


@MORE
@given(MARKDOWN, CUTS, SIZES, st.booleans())
def test_committed_blocks_only_grow_within_a_revision(text: str, cuts: list[int], size: int, look: bool) -> None:
    stream = MarkdownStream(commit_size=size)
    seen: list[tuple[int, list]] = []
    for piece in pieces(text, cuts):
        stream.feed(piece)
        if look:
            stream.tail()
        seen.append((stream.revision, list(stream.committed)))
    whole = stream.finish()
    seen.append((stream.revision, whole))
    for (revision, before), (next_revision, after) in pairwise(seen):
        if revision == next_revision:
            assert after[: len(before)] == before
    for revision, committed in seen:
        if revision == stream.revision:
            assert whole[: len(committed)] == committed


@pytest.mark.parametrize(
    ("text", "committed"),
    [
        ("one\n\ntwo\n", "paragraph: one"),
        ("one\n\ntwo", ""),
        ("- a\n\n- b\n", ""),
        ("- a\n\n  more\n", ""),
        ("1. a\n\n2", ""),
        ("1. a\n\n2. b\n", ""),
        ("```\na\n\nb\n", ""),
        ("[^1]: a\n\n    more\n", ""),
        ("<!-- a\n\nb\n", ""),
        ("<div>\n\nb\n", "html\n  <div>"),
        ("# a\n\nb\n\n- c\n\n- d\n", "heading 1: a\nparagraph: b"),
        ("| a |\n|---|\n| b |\n\nc\n", "table: none\n  header: a\n  row: b"),
    ],
)
def test_a_block_stays_once_another_follows_a_blank_line(text: str, committed: str) -> None:
    stream = MarkdownStream(commit_size=1)
    stream.feed(text)
    assert outline(stream.committed) == committed


def test_a_late_definition_changes_what_is_committed() -> None:
    stream = fed("see [Here] and [^n]\n\nmore\n\n")
    stream.feed("words\n\n")
    assert outline(stream.committed).startswith("paragraph: see [Here] and [^n]")
    assert stream.revision == 0
    stream.feed("[here]: /there\n\nlast\n\n")
    assert outline(stream.committed[:1]) == "paragraph: see [link to /there]Here[/] and [^n]"
    assert stream.revision == 1
    stream.feed("[^N]: note\n\nand last\n\n[other]: /unused\n\nend\n")
    assert stream.finish() == parse(
        "see [Here] and [^n]\n\nmore\n\nwords\n\n[here]: /there\n\nlast\n\n[^N]: note\n\nand last\n\nend\n"
    )
    assert stream.revision == 2


def test_a_definition_counts_from_the_end_of_the_text_only_as_long_as_it_is_the_end() -> None:
    stream = fed("see [a]\n\nmore\n\n[a]: /u")
    assert outline(stream.finish()[:1]) == "paragraph: see [link to /u]a[/]"
    stream.feed("rl\n")
    assert outline(stream.committed[:1]) == "paragraph: see [a]"
    assert outline(stream.finish()[:1]) == "paragraph: see [link to /url]a[/]"


def test_an_early_definition_reaches_what_comes_later() -> None:
    stream = fed('[a]: <x y> "t \\" &amp; é"\n\n[^1]: note\n\none\n\n    code\n\ntwo [A] [^1]\n\n[a]: /second\n')
    assert 'two [link to x y "t " & é"]A[/] [^1]' in outline(stream.tail())


def test_an_open_table_is_held_back_and_the_text_before_it_is_not() -> None:
    text = "Look:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    stream = MarkdownStream()
    for character in text:
        stream.feed(character)
        assert "paragraph: Look:".startswith(outline(stream.tail()))
    stream.feed("\n")
    assert stream.tail() == stream.tail(final=True) == parse(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Look:\n| a | b", "paragraph: Look:"),
        ("Look:\n| a | b |\n|--", "paragraph: Look:"),
        ("- x\n\n  | a |\n  |---|\n  | 1", "loose list\n  item\n    paragraph: x"),
        ("> x\n>\n> | a |\n> |---|\n", "quote\n  paragraph: x"),
        ("+---+---+\n| a | b |\n+---+---+\n| 1 | 2", ""),
        ("|x| is a number\nand so is y", "paragraph: |x| is a number⏎and so is y"),
        ("```\n| a |\n|---|\n| 1", "code\n  | a |\n  |---|\n  | 1"),
        ("```py\nx = 1\n", "code py\n  x = 1"),
    ],
)
def test_what_the_live_tail_shows(text: str, shown: str) -> None:
    assert outline(fed(text).tail()) == shown


def test_the_tail_is_parsed_once_for_all_callers() -> None:
    stream = fed("one *two*")
    assert stream.tail() is stream.tail()


@pytest.mark.parametrize(
    "text",
    [
        "```py\n" + "x = 1\n\n" * 8_000,
        "- item\n\n" * 6_000,
        "- item\n" * 6_000,
        "some words\n" * 6_000,
        "word " * 12_000,
        "para\n\n" * 6_000,
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 5_000,
        "[a]: /u\n\n[a]\n\n" * 3_000,
        "<!--\n\n" + "x\n\n" * 12_000,
    ],
    ids=lambda text: text[:9],
)
def test_feeding_reads_no_text_more_than_a_few_times(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0

    def counted(function):
        def call(source: str):
            nonlocal read
            read += len(source)
            return function(source)

        return call

    for name in ("parse_normal", "_last_boundary", "labels"):
        monkeypatch.setattr(module, name, counted(getattr(module, name)))
    stream = MarkdownStream()
    for start in range(0, len(text), 7):
        stream.feed(text[start : start + 7])
    assert read < 8 * len(text)
