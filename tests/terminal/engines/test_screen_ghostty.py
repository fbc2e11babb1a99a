"""What the ghostty engine adds to its library: lines taken in time, and rows read that it calls unchanged."""

import pytest

from vantage.terminal.screen.screen import Screen

WAYS_INTO_THE_ALTERNATE_SCREEN = (
    b"\x1b[?47h", b"\x1b[?4\xef\xbf\xbd7h", b"\x1b[?4\xff7h", "\x1b[?1é047h".encode(), b"\x1b[?\xc2\x9b47h",
    b"\x1b[?4\x007h",
)  # fmt: skip


@pytest.mark.parametrize("sequence", WAYS_INTO_THE_ALTERNATE_SCREEN)
def test_bytes_beyond_ascii_in_a_sequence_do_not_hide_it(sequence):
    """Lines that left the screen are counted before the alternate screen hides them."""
    with Screen(10, 2) as screen:
        screen.feed(b"one\r\ntwo\r\nthree\r\n" + sequence)
        assert screen.alt_screen
        assert screen.scrollback().lines == ["one", "two"]


@pytest.mark.parametrize("sequence", [b"\x1bc", b"\x1b\xff\xffc", b"\x1b\xff[3J", "\x1b[é3J".encode()])
def test_bytes_beyond_ascii_do_not_hide_what_erases_the_history(sequence):
    """A look in between makes no difference to the numbers of lines."""
    scrolled = b"one\r\ntwo\r\nthree\r\nfour"
    with Screen(10, 2) as screen, Screen(10, 2) as looked_at:
        screen.feed(scrolled + sequence + scrolled)
        looked_at.feed(scrolled)
        looked_at.scrollback()
        looked_at.feed(sequence + scrolled)
        assert screen.scrollback() == looked_at.scrollback()
        assert screen.scrollback().oldest == 2


def test_characters_in_a_sequence_are_no_controls():
    """The bytes of U+6772 hold 9D: in a sequence, alone, that would begin a string that swallows all that follows."""
    with Screen(10, 3) as screen, Screen(10, 3) as bytewise:
        data = "\x1b[>0;2杲m\x1b]0;杲\x07one\r\n\x1b杲7漢".encode()
        screen.feed(data)
        for at in range(len(data)):
            bytewise.feed(data[at : at + 1])
        assert screen.lines() == bytewise.lines() == ["one", "漢", ""]
        assert screen.title == bytewise.title == "杲"


def test_a_row_that_wraps_is_the_same_after_a_checkpoint_and_two_resizes():
    """The library lets rows grow in place when they were longer before, and a decoded terminal's never were."""
    with Screen(80, 3, engine="ghostty") as screen:
        screen.feed(b"\x1b[?1049h")
        screen.resize(10, 3)
        screen.feed(b"\x1b[H0123456789abc")
        with Screen.decode(screen.encode(), engine="ghostty") as again:
            for cols in (40, 10):
                screen.resize(cols, 3)
                again.resize(cols, 3)
                assert screen.rows() == again.rows()
