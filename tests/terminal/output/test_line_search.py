"""Searching lines: the same lines as a plain reading of the whole text finds, however it is cut."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vantage.errors import InputError
from vantage.terminal.output.line_search import MAX_LINE, MAX_TEXT, Excerpt, LineSearch, Needle
from vantage.terminal.output.reading import fold


def found(pieces, query, *, regex=False, context=0, offset=0):
    search = LineSearch(Needle(query, regex=regex), offset=offset, context=context)
    lines = [line for piece in pieces[:-1] for line in search.feed(piece)]
    return lines + search.feed(pieces[-1], last=True)


def grep(text, query, *, regex=False, context=0):
    """The same, line by line over the whole text."""
    lines = text.removesuffix(b"\n").split(b"\n") if text else []
    seen = [fold(line.decode()) for line in lines]
    hits = {n for n, line in enumerate(seen) if (re.search(query, line) if regex else query in line)}
    near = [n for n in range(len(seen)) if any(abs(n - hit) <= context for hit in hits)]
    return [(n + 1, sum(len(line) + 1 for line in lines[:n]), seen[n], n in hits) for n in near]


TEXTS = st.lists(st.sampled_from(["a", "b", "ab", "x\ry", "a\bb", "\n", "\n\n", " "]), max_size=30).map("".join)
QUERIES = st.sampled_from(
    [("a", False), ("ab", False), (" a", False), ("a+b", True), ("^a", True), ("b$", True), (r"\s", True), ("^$", True)]
)


@given(TEXTS, QUERIES, st.integers(0, 3), st.data())
def test_any_cut_finds_what_a_plain_reading_finds(text, asked, context, data):
    query, regex = asked
    raw = text.encode()
    edges = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=5)))
    pieces = [raw[start:end] for start, end in zip([0, *edges], [*edges, len(raw)], strict=True)]
    lines = found(pieces, query, regex=regex, context=context)
    assert [tuple(line) for line in lines] == grep(raw, query, regex=regex, context=context)


def test_an_expression_is_of_one_line():
    text = b"one\ntwo\nthree\n"
    assert [line.number for line in found([text], r"\Atwo\z", regex=True)] == [2]
    assert [line.number for line in found([text], r"(?s)e.t", regex=True)] == []
    assert [line.number for line in found([text], r"(?i)T", regex=True)] == [2, 3]
    with pytest.raises(InputError, match="regular expression"):
        Needle("(", regex=True)


def test_where_a_line_begins():
    assert [(line.number, line.offset) for line in found([b"one\n", b"two"], "t", offset=100)] == [(2, 104)]


def test_a_long_line_is_shown_around_its_hit():
    line = found(["é".encode() * 4000 + b"needle" + b"." * 4000], "needle")[0].text
    assert ("needle" in line, line[0], line[-1], len(line)) == (True, "…", "…", MAX_TEXT + 2)
    assert found([b"needle" + b"." * 4000], "needle")[0].text.startswith("needle")


@pytest.mark.parametrize("regex", [False, True])
def test_a_line_without_an_end_is_searched_in_parts(regex):
    search = LineSearch(Needle("needle", regex=regex))
    piece, lines = b"." * (MAX_LINE // 2 - 3), []
    for part in (piece, piece, b"......nee", b"dle", piece, piece, piece, piece, b"needle\n", b"needle\n"):
        lines += search.feed(part)
        assert len(search._rest) <= 2 * MAX_LINE
    assert [line.number for line in lines] == [1, 2], "a line counts once"


def shown(text, query, limit, *, tail=False, context=1):
    excerpt = Excerpt(limit, tail=tail)
    for line in found([text], query, context=context):
        excerpt.add(line)
    return excerpt


def test_an_excerpt():
    text = "".join(f"line {n}\n" for n in range(1, 31)).encode()
    assert shown(text, "line 1", 1000).text().startswith("1:line 1\n2-line 2\n--\n9-line 9\n10:line 10\n11:line 11\n")
    whole = shown(text, "line 2", 1000)
    assert (whole.found, whole.omitted) == (11, 0)
    first = shown(text, "line 2", 60)
    assert first.text() == "1-line 1\n2:line 2\n3-line 3\n--\n19-line 19\n… 10 more lines have it …\n"
    last = shown(text, "line 2", 60, tail=True)
    assert (last.text(), last.omitted) == (
        "… 8 more lines have it …\n27:line 27\n28:line 28\n29:line 29\n30-line 30\n",
        8,
    )
    nothing = shown(text, "line 2", 1)
    assert (nothing.text(), nothing.found, nothing.omitted) == ("… 11 more lines have it …\n", 11, 11)
    assert shown(text, "none", 100).text() == ""
