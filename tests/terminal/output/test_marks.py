"""Marks: found wherever the stream is cut, only with the shell's secret, and never at the price of memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from term_strategies import OTHER, SECRET, STREAM, cut, every_way, mark
from vantage.terminal.output.marks import INTRODUCER, KINDS, MAX_MARK, Mark, Marks


def split(pieces, secret=SECRET):
    """What passes as output and the marks, whatever pieces it comes in."""
    marks = Marks(secret)
    output, found = b"", []
    for piece in pieces:
        for part in marks.split(piece):
            if isinstance(part, Mark):
                found.append(part)
            else:
                assert part, "an empty piece says nothing"
                output += part
        assert len(marks.held) < MAX_MARK
    return output + marks.release(), found


def only(data, secret=SECRET):
    output, (found,) = split([data], secret)
    assert output == b""
    return found


# What a mark says


def test_a_mark_with_everything():
    data = mark("D", 7, "cwd=/tmp", "t=1700000000.123456", status="130")
    assert only(data) == Mark("D", 7, 0, len(data), status=130, cwd="/tmp", ts=1700000000123.456)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
def test_every_kind_ends_with_bel_or_st(kind, end):
    assert only(mark(kind, 1, end=end)).kind == kind


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (mark("D", 1, status="0"), 0),
        (mark("D", 1, status="-1"), -1),
        (mark("D", 1), None),  # the shell did not say
        (mark("D", 1, status="junk"), None),
        (mark("D", 1, status="9" * 30), None),
        (mark("A", 1, "st=3"), 3),
        (mark("B", 1, "st=3"), 3),
        (mark("D", 1, "st=3", status="4"), 4),
    ],
)
def test_where_the_status_stands(data, status):
    assert only(data).status == status


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("/plain", "/plain"),
        ("/a%3Bb", "/a;b"),
        ("/100%25", "/100%"),
        ("/line%0Aend%1B%07", "/line\nend\x1b\x07"),
        ("/%C3%A9", "/é"),
        ("/é", "/é"),
        ("/a=b", "/a=b"),
        ("/%FF", "/�"),
        ("/%zz", "/%zz"),
        ("", ""),
    ],
)
def test_paths_and_commands_are_percent_encoded(written, meant):
    assert only(mark("A", 1, f"cwd={written}")).cwd == meant
    assert only(mark("C", 1, f"cmd={written}")).cmd == meant


@pytest.mark.parametrize(
    ("written", "milliseconds"),
    [
        ("1700000000.5", 1700000000500),
        ("1700000000,5", 1700000000500),
        ("1700000000", 1700000000000),
        ("", None),
        ("yesterday", None),
        ("1e9", None),
        ("-5", None),
        ("1" * 400, None),
    ],
)
def test_the_shells_clock(written, milliseconds):
    assert only(mark("C", 1, f"t={written}")).ts == milliseconds


def test_offsets_are_of_the_raw_output():
    first, second = mark("A", 1), mark("B", 1)
    output, found = split([b"abc" + first + b"d" + second])
    assert output == b"abcd"
    assert [(m.start, m.end) for m in found] == [(3, 3 + len(first)), (4 + len(first), 4 + len(first) + len(second))]


# What is no mark of ours


@pytest.mark.parametrize(
    "data",
    [
        mark("A", 1, secret=OTHER),
        mark("A", 1, secret=SECRET + "x"),
        mark("A", 1, secret=SECRET[:-1]),
        b"\x1b]133;A\x07",  # any shell's
        b"\x1b]133;A;n=1\x07",
        mark("Z", 1),
        mark("", 1),
        b"\x1b]133;A;aid=s3cret\x07",  # no counter
        mark("A", 1).replace(b"n=1", b"n=x"),
        mark("A", 1).replace(b"]133", b"]1337"),
        mark("A", 1, end=b"\x18"),  # cancelled
        mark("A", 1, end=b"\x1a"),
        mark("A", 1, end=b"\x1b[0m"),  # another sequence began instead
        mark("A", 1, end=b""),
    ],
)
def test_everything_else_passes_as_it_came(data):
    for pieces in every_way(b"a" + data + b"b"):
        assert split(pieces) == (b"a" + data + b"b", [])


def test_without_a_secret_there_are_no_marks():
    data = mark("A", 1, secret="")
    assert split([data], secret="") == (data, [])


@pytest.mark.parametrize(
    "before",
    [
        b"\x1b]0;title",
        b"\x1bPq",
        b"\x1b[31",
        b"\x1b",
        b"\x1b\x1b",
        b"\x1b]133;A;aid=s3cret",
        b"\x1b]133;",
        b"\x1b_x",
        b"\xe2\x82",
    ],
)
def test_a_mark_behind_something_unfinished(before):
    """A program that was killed in the middle of a sequence takes no mark with it."""
    data = mark("D", 2, status="137")
    for pieces in every_way(before + data):
        output, found = split(pieces)
        assert output == before
        assert [(m.kind, m.status, m.start) for m in found] == [("D", 137, len(before))]


# Law 5


@given(st.data(), STREAM)
def test_every_cut_gives_the_same_marks(data, stream):
    whole = split([stream])
    assert split(data.draw(cut(stream))) == whole
    assert split(bytes([byte]) for byte in stream) == whole


@given(STREAM)
def test_nothing_but_marks_is_taken_out(stream):
    output, found = split([stream])
    for one in reversed(found):
        output = (
            output[: one.start - _before(found, one)]
            + stream[one.start : one.end]
            + output[one.start - _before(found, one) :]
        )
    assert output == stream


def _before(found, one):
    return sum(other.end - other.start for other in found if other.end <= one.start)


@given(st.data(), STREAM)
def test_a_new_splitter_goes_on_where_another_stopped(data, stream):
    place = data.draw(st.integers(0, len(stream)))
    first = Marks(SECRET)
    parts = first.split(stream[:place])
    second = Marks(SECRET, first.offset, first.held)
    parts += [*second.split(stream[place:]), second.release()]
    assert b"".join(part for part in parts if isinstance(part, bytes)) == split([stream])[0]
    assert [part for part in parts if isinstance(part, Mark)] == split([stream])[1]


# The secret itself

LONG = "abababab0123456789abcdefabababab"
WORDS = st.lists(
    st.sampled_from([LONG, LONG[:9], LONG[:5], LONG[3:], "ab", "\n", "aid=", "é"]).map(str.encode)
    | st.just(mark("A", 1, secret=LONG))
    | st.just(mark("A", 1, secret=LONG)[:-3])
    | st.binary(max_size=3),
    max_size=12,
).map(b"".join)


def test_a_printed_secret_is_covered_byte_for_byte():
    printed = f"__vantage_aid='aid={LONG}'\n".encode()
    output, _ = split([printed], LONG)
    assert output == b"__vantage_aid='aid=abababab" + b"x" * 24 + b"'\n"


def test_a_directory_or_a_command_named_after_the_secret_does_not_show_it():
    covered = LONG[:8] + "x" * 24
    _, found = split([mark("A", 1, f"cwd=/tmp/{LONG}", secret=LONG), mark("C", 1, f"cmd={LONG}", secret=LONG)], LONG)
    assert [(one.cwd, one.cmd) for one in found] == [(f"/tmp/{covered}", None), (None, covered)]


def test_half_a_mark_of_a_shell_that_was_killed_does_not_show_it():
    output, found = split([mark("A", 1, secret=LONG)[:-2]], LONG)
    assert (LONG.encode() in output, found) == (False, [])


@given(st.data(), WORDS)
def test_the_secret_never_comes_out_however_the_stream_is_cut(data, stream):
    whole, marks = split([stream], LONG)
    assert LONG.encode() not in whole
    assert len(whole) + sum(one.end - one.start for one in marks) == len(stream)
    assert split(data.draw(cut(stream)), LONG) == (whole, marks)
    place = data.draw(st.integers(0, len(stream)))
    first = Marks(LONG)
    parts = first.split(stream[:place])
    second = Marks(LONG, first.offset, first.held, first.spelled)
    parts += [*second.split(stream[place:]), second.release()]
    assert b"".join(part for part in parts if isinstance(part, bytes)) == whole


# Hostile input


@pytest.mark.parametrize("size", [MAX_MARK - 40, MAX_MARK - 8, MAX_MARK - 7, MAX_MARK, MAX_MARK + 1, 3 * MAX_MARK])
@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\"])
def test_the_longest_mark(size, end):
    """Up to a size it is one, beyond it is none, however it comes."""
    stem = mark("A", 1, "cwd=", end=b"")
    data = stem + b"x" * (size - len(stem)) + end
    ways = [
        [data],
        [data[:-1], data[-1:]],
        [data[: MAX_MARK - 1], data[MAX_MARK - 1 :]],
        [data[:MAX_MARK], data[MAX_MARK:]],
    ]
    results = [split([b"<", *pieces, b">"]) for pieces in ways]
    assert all(result == results[0] for result in results)
    assert len(results[0][1]) == (len(data) <= MAX_MARK)


def test_a_giant_sequence_holds_little_and_is_looked_at_once():
    """Bytes that are copied from piece to piece are what would make it quadratic."""
    marks, piece, carried, passed = Marks(SECRET), b"x" * 65536, 0, 0
    for part in [INTRODUCER, *[piece] * 1600]:
        carried += len(marks.held)
        passed += sum(len(out) for out in marks.split(part))
    assert len(marks.held) == 0
    assert carried <= MAX_MARK
    assert passed == len(INTRODUCER) + 1600 * 65536


def test_many_beginnings_hold_only_the_last():
    marks = Marks(SECRET)
    assert sum(len(part) for part in marks.split(INTRODUCER * 100_000)) == len(INTRODUCER) * 99_999
    assert marks.held == INTRODUCER
