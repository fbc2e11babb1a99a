"""What a screen showed, as lines: drawn lines once, lines that left it kept, erased screens kept unless redrawn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from term_cases import FOLDER, recordings, size_of
from vantage.terminal.screen.screen import Screen
from vantage.terminal.screen.transcript import MAX_FRAMES, Transcript

ENGINES = ("ghostty", "pyte")
TEN = b"".join(b"line %d\r\n" % number for number in range(10))
TEN_LINES = [f"line {number}" for number in range(10)]

CASES = {
    "a column": (b"name\x1b[12Gsize\r\n", ["name       size", ""]),
    "an erased end": (b"abc\x1b[2D\x1b[Kx", ["ax"]),
    "a table that is drawn again": (b"a 1\r\nb 1\r\n\x1b[2Aa 2\r\nb 2\r\n", ["a 2", "b 2", ""]),
    "a line that wraps": (b"x" * 50 + b"\r\nend", ["x" * 50, "end"]),
    "a wide character that does not fit": (("x" * 19 + "漢字").encode(), ["x" * 19 + "漢字"]),
    "more lines than rows": (TEN + b"\x1b[1A\x1b[2Klast", [*TEN_LINES[:9], "last"]),
    "a screen that is cleared": (b"one\r\ntwo\r\n\x1b[H\x1b[2J\x1b[3Jthree\r\n", ["one", "two", "three", ""]),
    "cleared from the first cell": (b"one\r\n\x1b[H\x1b[Jtwo", ["one", "two"]),
    "a terminal that is reset": (TEN + b"\x1bcend", [*TEN_LINES, "end"]),
    "a scrollback that is erased": (TEN + b"\x1b[3Jend", [*TEN_LINES, "end"]),
    "frames that differ in numbers": (b"".join(b"\x1b[H\x1b[2Jcpu %d%%\r\nok" % n for n in range(9)), ["cpu 8%", "ok"]),
    "frames of other words": (b"\x1b[2J\x1b[Hred\x1b[2J\x1b[Hblue", ["red", "blue"]),
    "an alternate screen": (b"a\r\n\x1b[?1049h\x1b[Hfull\x1b[?1049lb", ["a", "b"]),
    "inside an alternate screen": (b"a\r\n\x1b[?1049h\x1b[Hfull", ["a", ""]),
    "a cursor that waits behind a margin there": (
        b"a\r\n\x1b[?1049h\x1b[?69h\x1b[1;5s\x1b[Hxxxxx",
        ["a", ""],
    ),
    "a long sequence without an end there": (b"a\r\n\x1b[?1049h\x1b]52;c;" + b"x" * 100_000, ["a", ""]),
    "a line below the cursor": (b"one\r\n\r\nthree\x1b[2A", ["one", "", "three"]),
    "margins": (b"\x1b[1;5r" + TEN + b"\x1b[6;1Hbar", [*TEN_LINES, "", "bar"]),
}


def test_wide_characters_that_a_resize_has_cut_while_the_alternate_screen_was_shown():
    transcript = Transcript(Screen(44, 22))
    transcript.feed(b"\x1b[?7lline\r\n\x1b[9999@x" + "👩‍👩‍👧".encode() * 10 + b"\x1b[?47h\r\n")
    transcript.resize(12, 28)
    assert transcript.lines()[0] == "line"


@pytest.mark.parametrize("name", CASES)
def test_lines(name):
    raw, lines = CASES[name]
    assert written(raw) == lines


def written(raw, *, before=b"", cols=20, rows=6, engine="ghostty", resize=None, goes_on=False):
    with Screen(cols, rows, engine=engine) as screen:
        screen.feed(before)
        transcript = Transcript(screen, goes_on=goes_on)
        transcript.feed(raw)
        if resize:
            transcript.resize(*resize)
        return transcript.lines()


@pytest.mark.parametrize("before", [b"$ run\r\n", TEN, b"\x1b[3;1H", b"x" * 30 + b"\r\n"], ids=ascii)
@pytest.mark.parametrize(
    "name", ["a column", "a table that is drawn again", "more lines than rows", "a line that wraps"]
)
def test_lines_above_are_not_its_own(name, before):
    raw, lines = CASES[name]
    assert written(raw, before=before) == lines


def test_what_stood_below_the_cursor_does_not_shine_through():
    assert written(b"1\r\n2\r\n\x1b[1A3", before=b"\x1b[2;1Hold words\r\nold words\x1b[1;1H") == ["1", "3"]


MENU = b"Pick one\r\n> tea\r\n  milk\r\n  [ OK ]\x1b[2;1H"


def test_what_a_program_has_drawn_before_is_seen_and_not_new():
    """Only what changes from a moment on: here the pointer moves down, and the cursor with it."""
    assert written(b"  tea\r\n> milk\r", before=MENU, goes_on=True) == ["  tea", "> milk"]
    assert written(b"\x1b[1B", before=MENU, goes_on=True) == ["  milk"]
    assert written(b"\x1b[1;1Hready\x1b[K\x1b[1;6H", before=MENU, goes_on=True) == ["ready"]
    assert written(b"\x1b[6;1Hdone", before=MENU, goes_on=True)[-1] == "done"


def test_what_a_program_says_last_on_the_alternate_screen_counts():
    """Only what changed since: the program was there before."""
    text = b"\x1b[6;1H3 lines written\r\n\x1b[?25h\x1b[?1049l$ "
    before = b"$ vim\r\n\x1b[?1049h\x1b[Hthe text\x1b[6;1H:wq"
    assert written(text, before=before) == ["3 lines written", "$"]


def test_a_line_above_that_is_written_over_is_its_own():
    assert written(b"b\r\n\x1b[2;1Hnew", before=b"old\r\nold\r\nold\r\n")[:1] == ["new"]


def test_lines_between_those_that_are_written_over_are_not_its_own():
    before = b"one\r\ntwo\r\nthree\r\nfour\r\n$ run\r\n"
    assert written(b"\x1b7\x1b[1;6Hclock\x1b8end\r\n", before=before) == ["one  clock", "end", ""]
    rewritten = b"a\x1b[2;1H\x1b[Knew\x1b[3;1H\x1b[K\x1b[4;1Hlast\x1b[6;1H"
    assert written(rewritten, before=before) == ["new", "", "last", "a"]


def test_a_film_leaves_its_last_picture():
    frames = b"".join(b"\x1b[H\x1b[2Jpicture %s" % (b"ab"[n % 2 :][:1] * n) for n in range(2 * MAX_FRAMES))
    lines = written(frames, cols=500)
    assert lines[-1] == "picture " + "b" * (2 * MAX_FRAMES - 1)
    assert len(lines) <= MAX_FRAMES + 1


def test_a_resize_breaks_no_line():
    assert written(b"x" * 50 + b"\r\n" + b"y" * 70, resize=(33, 9)) == ["x" * 50, "y" * 70]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", recordings())
def test_the_text_of_a_recorded_program_is_its_screen(name, engine):
    """The main screen after the program is the end of the text: whole lines, in order."""
    cols, rows = size_of((FOLDER / name / "size").read_text())
    raw = (FOLDER / name / "recording.raw").read_bytes()
    with Screen(cols, rows, engine=engine) as screen:
        screen.feed(raw)
        shown = [] if screen.alt_screen else [line for line in screen.unwrapped()[0] if line.strip()]
    lines = [line for line in written(raw, cols=cols, rows=rows, engine=engine) if line.strip()]
    assert lines[len(lines) - len(shown) :] == shown


MOVES = [
    "a",
    "bc ",
    "漢",
    "\r\n",
    "\x1b[A",
    "\x1b[2B",
    "\x1b[5G",
    "\x1b[3;4H",
    "\x1b[K",
    "\x1b[L",
    "\x1b[M",
    "\x1bM",
    "\t",
]


@given(st.lists(st.sampled_from(MOVES), max_size=30).map("".join), st.booleans())
def test_nothing_on_the_screen_is_missing(text, twice):
    """Every line that the screen shows is in the transcript, as long as nothing was erased as a whole."""
    raw = text.encode() * (1 + twice)
    with Screen(20, 6) as screen:
        screen.feed(raw)
        shown = [line for line in screen.unwrapped()[0] if line.strip()]
    lines = [line for line in written(raw) if line.strip()]
    assert lines[len(lines) - len(shown) :] == shown
