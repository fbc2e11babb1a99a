"""What is returned for reading: what a person would have seen, and every byte that is not in it accounted for."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vantage.terminal.output.blocks import ByteRange
from vantage.terminal.output.reading import Reading, around, fold, read_output, shortened, tail, without_filler
from vantage.terminal.output.spool import Spool
from vantage.terminal.screen.screen import Screen

MEGABYTE = 1 << 20


def read(raw, limit, part="both", *, spool=None, with_raw=True):
    """A block's output read back, as a verb does: from the files of its spool and its raw bytes."""
    spooler = Spool()
    if spool is None:
        spool = spooler.add(raw) + spooler.settle()
    before = b"what was before\n"  # offsets are those of the files, not of the block
    files = before + spool + b"what came after\n", before + raw + b"and after\n"
    return read_output(
        lambda start, end: files[0][start:end],
        ByteRange(len(before), len(before) + len(spool)),
        limit,
        part,
        raw=(lambda start, end: files[1][start:end]) if with_raw else None,
        raw_span=ByteRange(len(before), len(before) + len(raw)) if with_raw else None,
    )


def seen(raw):
    """What a real screen shows of one line."""
    with Screen(400, 2, engine="ghostty") as screen:
        screen.feed(raw)
        return screen.lines()[0]


# Folding


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("plain\n", "plain\n"),
        ("10%\r20%\r100%\n", "100%\n"),
        ("long text\rshort\n", "shorttext\n"),
        ("abc\r", "abc"),
        ("abc\b\bX", "aXc"),
        ("ab\b \b", "a"),
        ("\b\b\bx", "x"),
        ("typo\b\b\b\bword  ", "word  "),
        ("done   \rok", "okne"),
        ("a\r\r\rb\nc\rd\n", "b\nd\n"),
        ("a\x1eb\x1e", "ab"),
        ("漢字\b\b\b\bab", "ab字"),  # wide characters are two cells
        ("a漢\b\b  \b\b", "a"),
        ("漢字\rx", "x 字"),  # half a character is a blank
        ("漢字\b\b\bx", " x字"),
        ("e\u0301x\rE", "Ex"),
        ("a\tb\rX", "X       b"),
        ("a\tb", "a\tb"),  # a line without moves is left alone
        ("a\ufdd0b\rc", "c\ufffdb"),  # a program's own noncharacters erase nothing
        ("a\ufdd2b", "a\ufffdb"),
    ],
)
def test_folding(text, folded):
    assert fold(text) == folded


MOVES = ["a", "bc", "xyz ", "\r", "\b", "\b \b", "漢", "é", "e\u0301", "\x1b[K", "\x1b[0K", "\x1b[1K", "\x1b[2K", "\t"]


@given(st.lists(st.sampled_from(MOVES), max_size=14).map("".join))
@example("abc\x1b[1K\b\bx")
@example("漢\b\x1b[K")
@example("abcdef\x1b[1K\rx")
def test_a_line_is_what_a_screen_would_show(line):
    raw = line.encode()
    shown = read(raw + b"\r\nnext", 10_000).text.split("\n")[0]
    rest = line.lstrip("\r")  # to where the cursor is already, which is no move: tabs stay tabs
    if any(move in rest for move in "\r\b\x1b"):
        assert shown.rstrip(" ") == seen(raw)
    else:
        assert shown == rest


@given(st.lists(st.sampled_from(["a", "b ", "\r", "\b", "\t", "\n"]), max_size=20).map("".join))
def test_folding_never_needs_the_raw_bytes_when_nothing_is_erased(text):
    assert read(text.encode(), 10_000).text == fold(text.replace("\r\n", "\n"))
    assert read(text.encode(), 10_000, with_raw=False).text == fold(text.replace("\r\n", "\n"))


@pytest.mark.parametrize("end", ["\x1b[1Kx", "\x1b[2Kx", "\b\x1b[1Ky", "\x1b[1K\ry", "\x1b[K\b", "\b\b漢"])
def test_folding_costs_what_the_line_is_long(end):
    """Sixty thousand erasures of a line of a million cells: cell by cell that would be an hour."""
    raw = b"a" * 500_000 + end.encode() * 60_000
    assert len(read(raw, 10_000_000).text) <= 700_000


# Erasures, from the raw bytes


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"downloading 10%\r\x1b[Kdone\r\n", "done\n"),
        (b"1234567890\r123\x1b[K\r\n", "123\n"),
        (b"spinner\x1b[2K\rok\r\n", "ok\n"),
        (b"gone\r\x1b[K\n", "\n"),  # the CR and the LF are one line end in the spool
        (b"a\r\nbcd\r\x1b[Kx\r\n", "a\nx\n"),
        (b"bcd\r\x1b[Kx", "x"),
        (b"\x1b]0;never ended\x1b[Kx\ny\r\x1b[K\n", "x\n\n"),
        (b"caf\xc3\xa9 10%\r\x1b[K\xc3\xa9\r\n", "é\n"),
        (
            "\ufdd0abc\r\x1b[Kx\n".encode(),
            "xabc\n",
        ),  # text with the characters that stand for erasures is read without any
    ],
)
def test_progress_bars_that_erase(raw, text):
    assert read(raw, 1000).text == text


def test_where_raw_and_spool_disagree_the_spool_serves():
    """Line by line: what comes before is still read with its erasures."""
    raw = b"abc\r\x1b[Kx\nabc\r\x1b[Ky\n"
    assert read(raw, 100).text == "x\ny\n"
    assert read(raw, 100, spool=b"abc\rx\nother\n").text == "x\nother\n"
    assert read(b"\x1b[K", 100, spool=b"other\n").text == "other\n"
    assert read(raw + b"n\r\x1b[K\n", 100, spool=b"abc\rx\nother\nn\n").text == "x\nother\nn\n"  # nor from there on


def test_a_progress_bar_of_many_megabytes_of_raw_bytes():
    """Colours make the raw bytes many times longer than the spool; nothing may be lost for that."""
    bar = b"".join(b"\r\x1b[K\x1b[1;38;2;1;2;3m\x1b[48;2;9;9;9m%d%%\x1b[0m" % number for number in range(100_000))
    raw = b"begin\r\n" + bar + b"\r\x1b[Kend\r\nlast\r\n"
    reading = read(raw, 1000)
    assert reading.text.startswith("begin\n")
    assert reading.text.endswith("last\n")
    assert account(raw, reading) == "every byte"


# Head and tail


def account(raw, reading):
    """The text is the fold of what is before the hole, a line that says so, and the fold of what is behind."""
    spooler = Spool()
    spool = spooler.add(raw) + spooler.settle()
    start = len(b"what was before\n")
    if reading.omitted is None:
        return "every byte"
    hole = ByteRange(reading.omitted.start - start, reading.omitted.end - start)
    assert 0 <= hole.start < hole.end <= len(spool)
    says = f"… {hole.size:,} bytes left out (spool {reading.omitted.start}–{reading.omitted.end}) …"
    first, _, last = reading.text.partition(says)
    assert says in reading.text
    head, end = spool[: hole.start].decode(), spool[hole.end :].decode()  # which also says that no character was cut
    if b"\x1b" not in raw:  # else it was folded with its erasures, of which the spool knows nothing
        assert first == fold(head) + ("\n" if head and not head.endswith("\n") else "")
        assert last == ("\n" if fold(end) else "") + fold(end)
    assert (first.count("\n"), last.count("\n")) == (
        head.count("\n") + (bool(head) and head[-1] != "\n"),
        end.count("\n") + bool(last),
    )
    return "every byte"


LINE = st.one_of(
    st.text(alphabet="abé漢 \r\b\t", max_size=12),
    st.sampled_from(["", "x" * 40, "é" * 30, "10%\r20%\r30%"]),
)


@given(st.lists(LINE, max_size=12).map("\n".join), st.integers(1, 80), st.sampled_from(["head", "tail", "both"]))
@example("ab\nc", 3, "both")
@example("é" * 30, 11, "both")
def test_nothing_is_lost_silently(text, limit, part):
    raw = text.encode()
    reading = read(raw, limit, part, with_raw=False)
    whole = fold(text.replace("\r\n", "\n"))
    assert (reading.omitted is None) == (len(whole) <= limit)
    if reading.omitted is None:
        assert reading.text == whole
        return
    assert account(raw, reading) == "every byte"
    shown = re.sub(r"\n?… .* bytes left out \(spool \d+–\d+\) …\n?", "", reading.text, count=1)
    assert len(shown) <= limit
    assert reading.text.startswith("…") or part != "tail"
    assert reading.text.endswith("…") or part != "head"


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("head", "one\ntwo\n… 15 bytes left out (spool 24–39) …"),
        ("tail", "… 14 bytes left out (spool 16–30) …\nfour\nfive"),
        ("both", "one\n… 15 bytes left out (spool 20–35) …\nfive"),
    ],
)
def test_parts_are_cut_between_lines(part, text):
    assert read(b"one\ntwo\nthree\nfour\nfive", 10, part).text == text


def test_whole_when_it_just_fits():
    assert read(b"one\ntwo\n", 8) == Reading("one\ntwo\n")
    assert read(b"one\ntwo\n", 7).omitted is not None
    assert read(b"", 1) == Reading("")


def test_a_line_that_is_too_long_for_its_share_is_cut_between_characters():
    raw = "é".encode() * 50
    assert read(raw, 10).text == "ééééé\n… 80 bytes left out (spool 26–106) …\nééééé"
    assert read(b"head\n" + raw + b"\ntail\n", 20).text.startswith("head\nééééé\n…")
    assert read(b"head\n" + raw + b"\ntail\n", 20).text.endswith("…\néééé\ntail\n")


@pytest.mark.parametrize("character", ["x", "é", "漢", "👩"])
@pytest.mark.parametrize("part", ["head", "tail", "both"])
def test_a_single_line_of_five_megabytes(character, part):
    raw = b"." + character.encode() * (5_000_000 // len(character.encode()))  # seams fall into characters
    reading = read(raw, 30_000, part)
    assert account(raw, reading) == "every byte"
    assert 30_000 <= len(reading.text) <= 30_100


@pytest.mark.parametrize(("part", "limit"), [("head", 100), ("tail", 30_000), ("both", 30_000), ("both", 2_000_000)])
def test_five_megabytes_of_lines(part, limit):
    raw = b"".join(b"line %d \xc3\xa9\r\n" % number for number in range(300_000))
    reading = read(raw, limit, part)
    assert account(raw, reading) == "every byte"
    assert limit * 0.4 < len(reading.text) <= limit + 100
    assert reading.text.startswith("line 0 é\n") == (part != "tail")
    assert reading.text.endswith("line 299999 é\n") == (part != "head")


def test_more_than_a_window_is_whole_when_it_fits():
    raw = b"line \xc3\xa9\n" * 200_000
    assert read(raw, len(raw)) == Reading(raw.decode())


def test_more_than_a_window_that_folds_to_little():
    """The bars of two windows meet in the middle: nothing is left out, and nothing is there twice."""
    raw = b"".join(b"%d\r\x1b[K" % number + b"\n" * (number % 1000 == 0) for number in range(250_000))
    reading = read(raw, 200_000)
    assert account(raw, reading) == "every byte"
    assert reading.text.count("\n") == 250


def test_empty_lines_cost_no_more_than_others():
    reading = read(b"\n" * (3 * MEGABYTE), 1000)
    assert reading.omitted.size == 3 * MEGABYTE - 1000


# The last lines


def test_tail():
    assert tail(b"a\nb\nc\n", 2) == "b\nc"
    assert tail(b"10%\r20%\n$ \x1e", 5) == "20%\n$ "
    assert tail("é".encode()[1:] + b"x", 5) == "x"
    assert tail(b"x" * 5000, 1) == "x" * 4000
    assert tail(b"", 3) == ""


# Around a match


def shown_around(data, match, limit=1000, before=1000, after=1000):
    at = data.index(match)
    source = lambda start, end: data[start:end]  # noqa: E731
    span = ByteRange(at, at + len(match))
    return around(source, ByteRange(0, len(data)), span, limit, before=before, after=after)


def test_a_match_has_whole_lines_around_it():
    data = b"one\ntwo\nthree\nhere it is\nfive\nsix\n"
    assert shown_around(data, b"here") == data.decode()
    assert shown_around(data, b"here", before=17, after=5) == (
        "… 8 bytes left out (spool 0–8) …\nthree\nhere it is\nfive\n… 4 bytes left out (spool 30–34) …"
    )
    assert shown_around(data, b"here", limit=11) == (
        "… 14 bytes left out (spool 0–14) …\nhere it is\n… 9 bytes left out (spool 25–34) …"
    )


def test_the_line_of_a_match_is_as_it_stood():
    assert shown_around(b"10%\r20%\r30%\ndone\n", b"20%") == "30%\ndone\n"


def test_a_match_in_a_long_line_is_in_what_is_shown():
    line = b"x" * 5000 + b"here" + b"y" * 5000
    assert "xhere" in shown_around(line, b"here", before=100, after=100)


def test_a_text_is_shortened_in_its_middle():
    assert shortened("0123456789", 10) == "0123456789"
    assert shortened("0123456789", 4) == "01\n… 6 characters left out …\n89"
    assert shortened("0123456789", 1) == "0\n… 9 characters left out …"


@pytest.mark.parametrize(
    ("screen", "shown"),
    [
        ("text\n" + "~\n" * 30 + "[No Name]", "text\n~\n… 29 more rows like this …\n[No Name]"),
        ("\n" * 30 + "> apple", "\n… 29 more rows like this …\n> apple"),
        ("top\n" + "   │\n" * 9 + "end", "top\n   │\n… 8 more rows like this …\nend"),
        ("y\n" * 30, "y\n" * 30),
        ("~\n" * 7 + "end", "~\n" * 7 + "end"),
        ("~\n│\n" * 8, "~\n│\n" * 8),
    ],
)
def test_rows_that_show_nothing_are_counted(screen, shown):
    assert without_filler(screen) == shown
