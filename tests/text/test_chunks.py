"""Streams that are cut anywhere give the same lines and the same characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vantage.text.chunks import Lines, continued, unfinished


@given(st.lists(st.binary(max_size=6).map(lambda data: data.replace(b"\x00", b"\n"))))
def test_lines_of_any_pieces(pieces):
    lines = Lines()
    found = [line for piece in pieces for line in lines.feed(piece)]
    assert [*found, lines.finish()] == b"".join(pieces).split(b"\n")
    assert lines.finish() == b""


@given(st.lists(st.binary(max_size=6).map(lambda data: data.replace(b"\x00", b"\n"))), st.integers(0, 1000))
def test_a_line_ends_where_the_next_begins(pieces, start):
    lines, whole = Lines(start), b"".join(pieces)
    begins = start
    for piece in pieces:
        for line in lines.feed(piece):
            assert whole[begins - start : lines.offset - start] == line + b"\n"
            begins = lines.offset
    assert whole[begins - start :] == lines.finish()


@given(st.text(alphabet="aé€😀\n", max_size=8), st.data())
def test_both_sides_of_a_cut_keep_whole_characters(text, data):
    """What the first side leaves out is what the second side would have to skip."""
    whole = text.encode()
    cut = data.draw(st.integers(0, len(whole)))
    first, second = whole[:cut], whole[cut:]
    left = unfinished(first)
    (first[: len(first) - left] + whole[cut - left :]).decode()
    first[: len(first) - left].decode()
    second[continued(second) :].decode()
    assert bool(left) == bool(continued(second))


@pytest.mark.parametrize("data", [b"", b"\x80", b"\x80\x80\x80\x80\x80", b"\xff", b"a\xf0\x9f"])
def test_bytes_that_are_no_utf8_do_not_raise(data):
    assert 0 <= continued(data) <= 4
    assert 0 <= unfinished(data) <= 4
