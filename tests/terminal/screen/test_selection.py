"""What programs mark as selected, on screens of real programs in several states, and on drawn ones."""

from itertools import pairwise

import pytest

from highlights import frames
from vantage.terminal.screen.frames import ScreenSnapshot
from vantage.terminal.screen.screen import Screen
from vantage.terminal.screen.selection import MAX_PAINTED, selected

FRAMES = frames()
HOME, ALT, HIDDEN = "\x1b[H", "\x1b[?1049h", "\x1b[?25l"


def of(text, cols=40, rows=8):
    screen = Screen(cols, rows)
    screen.feed(text.replace("\n", "\r\n").encode())
    return selected(ScreenSnapshot.of(screen, 0, styled=True))


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: f"{frame.name}-{frame.number}")
def test_recorded_programs(frame):
    assert selected(frame.screen) == frame.selected


@pytest.mark.parametrize("name", sorted({frame.name for frame in FRAMES}))
def test_another_selection_is_another_answer(name):
    states = [frame for frame in FRAMES if frame.name == name and frame.selected]
    assert all(one.selected != other.selected for one, other in pairwise(states))


def test_the_programs_of_the_fixtures():
    marking = {frame.name for frame in FRAMES if frame.selected}
    assert {frame.name for frame in FRAMES} - marking == {"badges", "top"}, "no selection in these, one in the others"
    assert marking >= {"dialog-menu", "dialog-checklist", "dialog-yesno", "whiptail-menu", "fzf", "mc", "htop", "tmux"}


def test_reverse_and_background_are_alike():
    menu = "Pick\n\n  one\n  {}two\x1b[0m\n  three\n"
    assert of(ALT + HOME + menu.format("\x1b[7m")) == ["two"]
    assert of(ALT + HOME + menu.format("\x1b[44m")) == ["two"]
    assert of(ALT + HOME + menu.format("\x1b[30;47m")) == ["two"]
    assert of(ALT + HOME + menu.format("\x1b[1;34m")) == [], "a colour of the letters is no highlight"
    whole = "\x1b[37;40m" + ALT + "\x1b[2J" + HOME + menu.replace("\x1b[0m", "\x1b[27m")
    assert of(whole.format("\x1b[7m")) == ["two"], "reverse of colours that the program has set"


def test_wide_characters():
    assert of(ALT + HOME + "\n 一\n 二\x1b[7m三四\x1b[0m五\n 六\n") == ["三四"]


def test_a_menu_below_the_output_of_a_shell():
    menu = "\x1b[41m FAIL \x1b[0m\n$ menu\n  one\n\x1b[7m> two\x1b[0m\n  three\n"
    assert of(menu) == [], "two highlights: colours of what was printed"
    assert of(menu.partition("\n")[2]) == ["> two"]
    plain = "$ menu\n  one\n  \x1b[7mtwo\x1b[0m\n  three\n"
    assert of(plain) == [], "with the cursor elsewhere it may have been printed"
    assert of(plain + HIDDEN) == ["two"]


def test_many_places_are_no_selection():
    rows = "".join(f"row \x1b[7mhit\x1b[0m {n}\n\n" for n in range(3))
    assert of(ALT + HOME + rows) == []


def test_a_picture_is_none():
    rows = "".join(f"\x1b[48;5;{n % 2 + 1}mx" for n in range(MAX_PAINTED + 1))
    assert of(ALT + HOME + rows, 200, 30) == []


@pytest.mark.parametrize("text", ["", "\x1b[7m", "\x1b[7m\x1b[2J", ALT + "\x1b[44m\x1b[2J", HIDDEN + "\x1b[7m \x1b[0m"])
def test_nothing_to_read_is_nothing_selected(text):
    assert of(text) == []
