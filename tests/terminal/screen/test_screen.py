"""The screen through its public door: changes, modes, scrollback, replies, checkpoints, and hostile programs."""

import gc
import resource
import weakref
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vantage.errors import InputError
from vantage.terminal.engines import available, kind_of
from vantage.terminal.screen.frames import ScreenSnapshot
from vantage.terminal.screen.screen import CheckpointError, Screen
from vantage.text.width import width

pytestmark = pytest.mark.parametrize("engine", ["ghostty", "pyte"])

WORDS = st.sampled_from([
    *(b"a", b"word ", "日本".encode(), "é".encode(), "e\u0301".encode(), b"\r\n", b"\n", b"\r", b"\b", b"\t"),
    *(b"\x1b[31m", b"\x1b[m", b"\x1b[44;1m", b"\x1b[2J", b"\x1b[H", b"\x1b[3;5H", b"\x1b[K", b"\x1b[1K", b"\x1b[J"),
    *(b"\x1b[3J", b"\x1b[2L", b"\x1b[M", b"\x1b[2P", b"\x1b[3@", b"\x1b[2;4r", b"\x1b[r", b"\x1bM", b"\x1bD", b"\x1bE"),
    *(b"\x1b7", b"\x1b8", b"\x1b[S", b"\x1b[T", b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?47h", b"\x1b[?47l"),
    *(b"\x1b[?25l", b"\x1b[?25h", b"\x1b[?7l", b"\x1b[?7h", b"\x1b[?6h", b"\x1b[?6l", b"\x1b[4h", b"\x1b[4l"),
    *(b"\x1b]0;title\x07", b"\x1b]7;file:///tmp\x1b\\", b"\x1b]8;;http://a/\x07", b"\x1b]8;;\x07", b"\x1b[?2004h"),
    *(b"\x1b[5b", b"\x1b(0", b"\x1b(B", b"\x1b[6n", b"\x1b[?6n", b"\x1b[c", b"\x1b[!p", b"\x1bc", b"\x07"),
    *(b"\x1b[?1000h", b"\x1b[>1u", b"\x1b[<u", b"line\r\n" * 9, b"long " * 30),
])  # fmt: skip
STREAM = st.lists(WORDS, max_size=40).map(b"".join)


def everything(screen):
    return (
        ScreenSnapshot.of(screen, 0, styled=True), screen.modes, screen.scrollback(), screen.cwd, screen.take_replies(),
        [row.wrapped for row in screen.rows()],
    )  # fmt: skip


def test_changes_say_what_is_different(engine):
    screen = Screen(20, 5, engine=engine)
    changes = screen.feed(b"one\r\n\r\nthree\x07\x1b]2;now\x07")
    assert changes.rows == (0, 2)
    assert (changes.cursor, changes.title, changes.bell) == (True, True, True)
    assert (changes.alt_screen, changes.cwd, changes.size) == (False, False, False)
    assert not screen.feed(b"")
    assert not screen.feed(b"\x1b[m")
    again = screen.feed(b"\x1b[1;1Hone\x1b[3;6H")
    assert not again.rows, "the same text again is no change"
    assert not again
    assert screen.feed(b"\x1b]7;file:///tmp\x07").cwd
    assert screen.feed(b"\x1b[?1049h").alt_screen
    assert screen.resize(30, 5).size


def test_changes_that_were_not_read_are_seen_later(engine):
    screen = Screen(20, 5, engine=engine)
    screen.feed(b"one\r\n")
    assert screen.feed(b"two").rows == (0, 1)
    assert screen.feed(b"!").rows == (1,)


def test_a_style_alone_is_a_change(engine):
    screen = Screen(20, 3, engine=engine)
    assert screen.feed(b"text").rows == (0,)
    assert screen.feed(b"\r\x1b[1mtext").rows == (0,)


MODES = {
    b"\x1b[?1h": ("application_cursor", True),
    b"\x1b=": ("application_keypad", True),
    b"\x1b[?66h": ("application_keypad", True),
    b"\x1b[?67h": ("backarrow_sends_backspace", True),
    b"\x1b[20h": ("newline", True),
    b"\x1b[?2004h": ("bracketed_paste", True),
    b"\x1b[?1004h": ("focus_events", True),
    b"\x1b[?2026h": ("synchronized", True),
    b"\x1b[>4;2m": ("modify_other_keys", 2),
    b"\x1b[>5u": ("kitty_flags", 5),
    b"\x1b[?9h": ("mouse", "x10"),
    b"\x1b[?1000h": ("mouse", "normal"),
    b"\x1b[?1002h": ("mouse", "button"),
    b"\x1b[?1003h": ("mouse", "any"),
    b"\x1b[?1005h": ("mouse_encoding", "utf8"),
    b"\x1b[?1006h": ("mouse_encoding", "sgr"),
    b"\x1b[?1015h": ("mouse_encoding", "urxvt"),
    b"\x1b[?1016h": ("mouse_encoding", "sgr_pixels"),
    b"\x1b[?5h": ("reverse_video", True),
}


@pytest.mark.parametrize("sequence", MODES)
def test_modes(engine, sequence):
    name, value = MODES[sequence]
    screen = Screen(20, 5, engine=engine)
    before = screen.modes
    assert getattr(before, name) != value
    screen.feed(sequence)
    assert getattr(screen.modes, name) == value
    screen.feed(b"\x1bc")
    assert screen.modes == before


@pytest.mark.parametrize(
    ("sequence", "cursor"),
    [
        (b"", (True, "block")),
        (b"\x1b[?25l", (False, "block")),
        (b"\x1b[3 q", (True, "underline")),
        (b"\x1b[6 q", (True, "bar")),
    ],
)
def test_the_cursors_shape(engine, sequence, cursor):
    screen = Screen(20, 5, engine=engine)
    screen.feed(sequence)
    assert (screen.cursor.visible, screen.cursor.shape) == cursor


def test_replies_are_given_once(engine):
    screen = Screen(20, 5, engine=engine)
    screen.feed(b"\x1b[5n")
    assert screen.take_replies() == b"\x1b[0n"
    assert screen.take_replies() == b""
    screen.feed(b"\x1b[5n" * 100_000)
    assert len(screen.take_replies()) <= 1 << 16, "a flood of questions is not answered without end"
    screen.feed(b"\x1b[5n")
    assert screen.take_replies() == b"\x1b[0n", "but the next one is"


def test_a_title_has_no_control_characters(engine):
    screen = Screen(20, 5, engine=engine)
    screen.feed("\x1b]2;a\x01b\u0085c\x07".encode())
    assert screen.title in {"abc", ""}
    screen.feed(b"\x1b]2;" + b"x" * 5000 + b"\x07")
    assert len(screen.title) <= 1024


def test_what_is_no_path_is_no_working_directory(engine):
    screen = Screen(20, 5, engine=engine)
    for address, path in {b"http://a/b": "", b"file://host/a%0Ab": "/ab", b"file:///c%C3%A9": "/cé", b"": ""}.items():
        screen.feed(b"\x1bc\x1b]7;" + address + b"\x07")
        assert screen.cwd == path


# Scrollback


def numbered(first, last):
    return b"".join(b"%d\r\n" % number for number in range(first, last))


def test_scrollback_numbers_are_line_numbers(engine):
    screen = Screen(20, 5, engine=engine)
    screen.feed(numbered(0, 3000))
    found = screen.scrollback(100, 3)
    assert (found.lines, found.first_line, found.total) == (["100", "101", "102"], 100, 2996)
    assert screen.scrollback(limit=2).lines == ["2994", "2995"]
    assert screen.scrollback(5000, 10).lines == []
    assert screen.scrollback(0, 10**9).lines == [str(number) for number in range(2996)]


def test_numbers_stay_when_old_lines_go(engine):
    screen = Screen(20, 5, engine=engine, scrollback=100)
    screen.feed(numbered(0, 1000))
    found = screen.scrollback(0, 10**6)
    assert (found.first_line, found.oldest, found.total) == (896, 896, 996)
    assert found.lines == [str(number) for number in range(896, 996)]
    assert Screen(20, 5, engine=engine, scrollback=0).feed(numbered(0, 50)) is not None


def test_numbers_stay_when_the_screen_is_resized(engine):
    screen = Screen(30, 5, engine=engine)
    screen.feed(b"".join(b"line %d is twenty chars\r\n" % number for number in range(100)))
    before = screen.scrollback(50, 5)
    for cols, rows in ((10, 5), (7, 20), (50, 3), (30, 5)):
        screen.resize(cols, rows)
        assert screen.scrollback(50, 5).lines == before.lines
        assert screen.scrollback(50, 5).first_line == before.first_line


def test_a_line_over_many_rows_is_one(engine):
    screen = Screen(10, 4, engine=engine)
    long = "".join(f"{number:04} " for number in range(400))
    screen.feed(b"first\r\n" + long.encode() + b"\r\nlast\r\n" + b"\r\n" * 5)
    assert screen.scrollback(0, 3).lines == ["first", long.rstrip(), "last"]


def test_blank_lines_count(engine):
    screen = Screen(10, 3, engine=engine)
    screen.feed(b"a\r\n\r\n\r\nb\r\n\r\n\r\n\r\n\r\n")
    assert screen.scrollback().lines == ["a", "", "", "b", "", ""]
    screen.feed(b"\r\n" * 5000)
    assert screen.scrollback().total == 5006


def test_erased_numbers_are_not_used_again(engine):
    screen = Screen(10, 3, engine=engine)
    screen.feed(numbered(0, 50))
    assert screen.scrollback().total == 48
    screen.feed(b"\x1b[3J" + numbered(50, 60))
    found = screen.scrollback()
    assert found.lines == ["48", "49", *map(str, range(50, 58))]
    assert found.first_line == 48
    screen.feed(b"\x1bc")
    assert screen.scrollback().lines == []
    assert screen.scrollback().total >= 58


@pytest.mark.parametrize("size", [(2, 3), (80, 24), (300, 60), (1000, 500)])
def test_no_line_is_lost_in_a_flood(engine, size):
    if engine == "pyte" and size == (1000, 500):
        return  # the same code as for the others, and minutes of it
    screen = Screen(*size, engine=engine, scrollback=10**6)
    count = 9000 if engine == "ghostty" else 1500
    data = b"".join(b"%x\r\n" % (number % 90) for number in range(count))
    screen.feed(data)
    found = screen.scrollback(0, 10**6)
    assert found.total == count - size[1] + 1
    assert found.lines == [f"{number % 90:x}" for number in range(found.total)]


@settings(max_examples=60)
@given(lines=st.lists(st.text("ab 日", max_size=30), max_size=60), cuts=st.lists(st.integers(0, 3000), max_size=20))
def test_scrollback_and_screen_hold_every_line(engine, lines, cuts):
    data = "".join(f"{line}\r\n" for line in lines).encode()
    screen = Screen(12, 4, engine=engine)
    for start, end in pairwise([0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]):
        screen.feed(data[start:end])
    found = screen.scrollback()
    rows = screen.rows()
    joined = [""]
    for row in rows:
        joined[-1] += row.text
        if not row.wrapped:
            joined.append("")
    kept = [line.rstrip() for line in [*found.lines, *joined]]
    expected = [line.rstrip() for line in lines]
    while kept and not kept[-1]:
        kept.pop()
    while expected and not expected[-1]:
        expected.pop()
    if " " not in "".join(lines):  # blanks at the edge of a wrapped row are not kept
        assert kept[-3:] == expected[-3:] or rows[0].wrapped or any(width(line) > 12 for line in lines)
    assert found.total <= len(lines)


# Any stream, however it is cut, and from whatever checkpoint


@given(data=STREAM, cuts=st.lists(st.integers(0, 2000), max_size=12))
def test_every_chunking_gives_the_same(engine, data, cuts):
    whole, pieces = Screen(12, 5, engine=engine), Screen(12, 5, engine=engine)
    whole.feed(data)
    for start, end in pairwise([0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]):
        pieces.feed(data[start:end]).rows  # noqa: B018 -- looking must change nothing either
    assert everything(pieces) == everything(whole)


@given(data=STREAM, at=st.integers(0, 2000), size=st.tuples(st.integers(2, 30), st.integers(1, 9)))
def test_a_checkpoint_anywhere_changes_nothing(engine, data, at, size):
    at %= len(data) + 1
    first = Screen(12, 5, engine=engine)
    first.feed(data[:at])
    second = Screen.decode(first.encode(), engine=engine)
    first.take_replies()
    first.scrollback()  # encoding looks at it too
    for screen in (first, second):
        screen.feed(data[at:])
    assert everything(second) == everything(first)
    for screen in (first, second):
        screen.resize(*size)
        screen.feed(b"\r\nend")
    assert second.rows() == first.rows()


@given(
    data=st.lists(WORDS | st.binary(max_size=30), max_size=20).map(b"".join),
    sizes=st.lists(st.tuples(st.integers(2, 40), st.integers(1, 12)), max_size=4),
)
def test_nothing_breaks_it(engine, data, sizes):
    screen = Screen(10, 4, engine=engine)
    for cols, rows in sizes:
        screen.feed(data)
        screen.resize(cols, rows)
        shown = screen.rows()
        assert len(shown) == rows
        assert screen.cursor.row < rows
        assert screen.cursor.col < cols
        assert all(run.start + run.len <= cols for row in shown for run in row.runs)


@given(text=st.text("abcdefghij", min_size=1, max_size=60), sizes=st.lists(st.integers(2, 50), max_size=5))
def test_text_survives_any_widths(engine, text, sizes):
    if engine == "pyte":
        return  # its limits say so: no reflow
    screen = Screen(20, 40, engine=engine)
    screen.feed(text.encode())
    for cols in (*sizes, 20):
        screen.resize(cols, 40)
        assert "".join(screen.lines()) == text


def test_a_checkpoint_without_scrollback_keeps_the_numbers(engine):
    screen = Screen(20, 5, engine=engine)
    screen.feed(numbered(0, 2000))
    small, large = screen.encode(scrollback=False), screen.encode()
    assert len(small) < len(large)
    restored = Screen.decode(small, engine=engine)
    assert restored.lines() == screen.lines()
    assert restored.scrollback().lines == []
    restored.feed(numbered(2000, 2010))
    assert restored.scrollback().first_line == 1996
    assert restored.scrollback().lines[0] == "1996"


def test_a_checkpoint_of_something_else_is_refused(engine, monkeypatch):
    screen = Screen(20, 5, engine=engine)
    screen.feed(b"text")
    data = screen.encode()
    other = "pyte" if engine == "ghostty" else "ghostty"
    with pytest.raises(CheckpointError, match="feed the bytes again"):
        Screen.decode(data, engine=other)
    with pytest.raises(CheckpointError, match="no checkpoint"):
        Screen.decode(b"something", engine=engine)
    with pytest.raises(CheckpointError, match="damaged"):
        Screen.decode(data[:-5], engine=engine)
    monkeypatch.setattr(kind_of(engine), "build", "a later one")
    with pytest.raises(CheckpointError, match=r"a later one.*feed the bytes again"):
        Screen.decode(data, engine=engine)


# Hostile input

MEGABYTE = 1 << 20
HOSTILE = {
    "an OSC without end": b"\x1b]0;" + b"x" * MEGABYTE,
    "a clipboard without end": b"\x1b]52;c;" + b"QUJD" * (MEGABYTE // 4),
    "a DCS without end": b"\x1bP" + b"q" * MEGABYTE,
    "an APC without end": b"\x1b_G" + b"A" * MEGABYTE,
    "parameters without end": b"\x1b[" + b"1;" * (MEGABYTE // 2),
    "digits without end": b"\x1b[" + b"9" * MEGABYTE,
    "marks on one character": b"a" + "\u0301".encode() * (MEGABYTE // 2),
    "escapes": b"\x1b" * MEGABYTE,
    "bells": b"\x07" * MEGABYTE,
    "titles": b"\x1b]0;%s\x07" % (b"t" * 500) * 2000,
    "links": b"".join(b"\x1b]8;;http://%d/\x07x" % number for number in range(30_000)),
    "styles": b"".join(b"\x1b[38;2;%d;%d;%dmx" % (n & 255, n >> 8 & 255, n >> 3 & 255) for n in range(60_000)),
    "repeats": b"x\x1b[65535b" * 100,
    "scrolls": b"\x1b[9999S" * 500,
    "kitty's keyboard": b"\x1b[>1u" * 100_000,
    "saved cursors": b"\x1b7\x1b[s" * 100_000,
    "screens": b"\x1b[?1049hx\x1b[?1049l" * 20_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_neither_hurts_nor_grows(engine, name):
    data = HOSTILE[name]
    if engine == "pyte":
        data = data[: MEGABYTE // 16]
    screen = Screen(40, 10, engine=engine)
    screen.feed(data)
    screen.lines()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(20 if engine == "ghostty" else 2):
        screen.feed(data)
        screen.take_replies()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 48 * 1024, f"{grown} KiB more than after the first time"
    assert len(screen.lines()) == 10
    screen.feed(b"\x1b\\\x18\x1bcstill here")
    assert screen.lines()[0] == "still here"


def test_a_hundred_megabytes_of_one_string(engine):
    if engine == "pyte":
        return  # the same code meets a megabyte above; a hundred would take minutes
    screen = Screen(40, 10, engine=engine)
    screen.feed(b"\x1b]0;")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    piece = b"x" * MEGABYTE
    for _ in range(100):
        screen.feed(piece)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 * 1024
    with pytest.raises(CheckpointError, match="make it later"):
        screen.encode()
    screen.feed(b"\x07ok")
    assert screen.lines()[0] == "ok"
    screen.encode()


def test_two_hundred_idle_screens_are_cheap(engine):
    first = Screen(120, 40, engine=engine)
    first.feed(b"$ ")
    first.lines()
    before = resident()
    screens = []
    for _ in range(200):
        screen = Screen(120, 40, engine=engine)
        screen.feed(b"\x1b[32m$\x1b[m make test\r\n")
        screen.lines()
        screens.append(screen)
    each = (resident() - before) / len(screens)
    for screen in screens:
        screen.close()
    assert each < 400 * 1024


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


# A program cannot change the size

RESIZING = (
    b"\x1b[?40h\x1b[?3l", b"\x1b[?40h\x1b[?3h", b"\x1b[?40;3h", b"\x1b[?40;3l", b"\x1b[?3h", b"\x1b[?0040h\x1b[?03h",
    b"\x1b[?4\n0h\x1b[?3h", b"\x1b[?40\xffh\x1b[?3h", b"\x1b[?3;40h\x1b[?3s\x1b[?3l\x1b[?3r",
    b"\x1b[?40h\x1b[?40s\x1b[?40l\x1b[?40r\x1b[?3h", b"\x1b[8;5;20t", b"\x1b[80$|", b"\x1b[10*|", b"\x1b[36t",
    b"\x1b[?95h\x1b[?40h\x1b[?3h",
)  # fmt: skip


@pytest.mark.parametrize("sequence", RESIZING)
def test_no_sequence_changes_the_size(engine, sequence):
    for pieces in ([sequence], [sequence[at : at + 1] for at in range(len(sequence))]):
        screen = Screen(120, 10, engine=engine)
        screen.feed(numbered(0, 30))
        for piece in pieces:
            screen.feed(piece)
        screen.feed(b"\x1b[10;1H\r\n" + b"x" * 120 + b"\r\n" + numbered(0, 30))
        assert (screen.cols, screen.rows_count, screen.failures) == (120, 10, 0)
        assert "x" * 120 in screen.scrollback().lines
        assert screen.lines()[:2] == ["21", "22"]


def test_a_change_of_columns_erases_where_it_is_allowed(engine):
    screen = Screen(80, 4, engine=engine)
    screen.feed(b"one\r\ntwo\x1b[?3h!")
    assert screen.lines()[:2] == ["one", "two!"]
    screen.feed(b"\x1b[2;3r\x1b[?40h\x1b[?3lX")
    assert screen.lines()[:2] == ["X", ""]


def test_a_soft_reset_leaves_the_cursor_where_it_is(engine):
    screen = Screen(40, 6, engine=engine)
    screen.feed(b"one\r\ntwo\r\nthree\x1b[!pX")
    assert screen.lines()[:3] == ["one", "two", "threeX"]
    screen.feed(b"\x1b[2;4r\x1b[?6h\x1b[2;2H\x1b[1m\x1b[4h\x1b[!pY")
    assert screen.lines()[2] == "tYreeX"
    assert not screen.rows()[2].runs
    screen.feed(b"\x1b[1;1HZ")
    assert screen.lines()[0] == "Zne"


@pytest.mark.parametrize("name", ["feed", "drain", "dirty", "cursor", "title", "cwd", "modes", "resize", "encode"])
def test_an_engine_that_fails_costs_the_screen_at_most(engine, name, monkeypatch):
    screen = Screen(20, 5, engine=engine)
    screen.feed(numbered(0, 20) + b"last")
    kept = screen.scrollback().total
    screen.rows()

    def fail(*_, **__):
        raise RuntimeError("broken")

    monkeypatch.setattr(screen._engine, name, fail)
    screen.feed(b"!")
    everything(screen)
    screen.resize(30, 5)
    screen.encode()
    assert screen.failures == 1
    screen.feed(b"\x1b[Hgoes on")
    assert screen.lines()[0].startswith("goes on")
    assert screen.scrollback().total >= kept


def test_a_repetition_is_no_longer_than_the_screen(engine):
    screen = Screen(10, 4, engine=engine)
    screen.feed(b"x\x1b[65535b\r\n")
    assert screen.scrollback().total + screen.lines().count("x" * 10) <= 5


# Ends


def test_closing(engine):
    with Screen(20, 5, engine=engine) as screen:
        screen.feed(b"x")
        screen.lines()
    screen.close()
    with pytest.raises(InputError, match="closed"):
        screen.feed(b"y")
    with pytest.raises(InputError, match="closed"):
        screen.lines()


def test_a_forgotten_screen_is_freed(engine):
    screen = Screen(20, 5, engine=engine)
    screen.feed(b"\x1b[c\x07")
    gone = weakref.ref(screen._engine)
    del screen
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("size", [(1, 5), (0, 0), (1001, 5), (20, 0), (20, 501), (-1, 5)])
def test_sizes_have_limits(engine, size):
    with pytest.raises(InputError, match="columns and"):
        Screen(*size, engine=engine)
    with pytest.raises(InputError, match="columns and"):
        Screen(20, 5, engine=engine).resize(*size)


def test_the_largest_and_the_smallest(engine):
    for size in ((1000, 500), (2, 1)):
        screen = Screen(*size, engine=engine)
        screen.feed(b"abc\r\n" * 600)
        assert len(screen.lines()) == size[1]


def test_engines_have_names(engine):
    assert engine in available()
    assert Screen(20, 5).engine == available()[0]
    with pytest.raises(InputError, match="did you mean 'ghostty'"):
        Screen(20, 5, engine="gostty")
