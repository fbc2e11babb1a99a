"""The followers' copy of a screen: deltas from any number on, gaps noticed, sizes changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vantage.conversation.bus import ScreenChanged
from vantage.conversation.feed.screen_mirror import ScreenMirror
from vantage.terminal.screen.frames import Deltas, ScreenSnapshot, apply
from vantage.terminal.screen.screen import Screen

OUTPUT = st.lists(st.text("ab漢\x1b[31m\r\n", min_size=1, max_size=12), min_size=1, max_size=8)


def read(screen, number):
    """As `read_screen` answers."""
    snapshot = ScreenSnapshot.of(screen, 1, raw_offset=0, styled=True)
    return {**snapshot.to_dict(), "delta_cursor": number}


@given(OUTPUT, st.data())
def test_one_delta_since_any_number_gives_the_screen(output, data):
    screen = Screen(12, 4)
    deltas = Deltas(screen, styled=True)
    mirror = ScreenMirror("c")
    mirror.load(read(screen, 0))
    shown = {0: deltas.snapshot(1)}
    for number, text in enumerate(output, 1):
        if data.draw(st.booleans()):
            screen.resize(data.draw(st.integers(2, 15)), data.draw(st.integers(1, 6)))
        screen.feed(text.encode())
        delta = deltas.take(number * 1000, force=True)
        if delta is not None:
            mirror.apply(ScreenChanged(deltas.number, delta))
            shown[deltas.number] = deltas.snapshot(1)
    last = deltas.snapshot(1)
    assert not mirror.incomplete
    for number, snapshot in shown.items():
        since = mirror.since(number)
        assert (since is None) == (number == deltas.number)
        if since is not None and (snapshot.cols, snapshot.rows_count) == (last.cols, last.rows_count):
            assert apply(snapshot, since).rows == last.rows
    whole = mirror.since(-1)
    assert [row.text for row in whole.rows] == list(last.rows)
    assert [row.runs for row in whole.rows] == list(last.runs)


@pytest.fixture
def changes():
    screen = Screen(12, 4)
    deltas = Deltas(screen, styled=True)
    first = read(screen, 0)
    changed = []
    for number in range(1, 5):
        screen.feed(b"line\r\n")
        changed.append(ScreenChanged(number, deltas.take(number * 1000, force=True)))
    return first, changed, read(screen, 4)


def test_a_missing_delta_is_noticed_and_nothing_wrong_is_shown(changes):
    first, (one, two, three, _), last = changes
    mirror = ScreenMirror("c")
    mirror.apply(one)
    assert not mirror.incomplete, "nothing is followed before it is loaded"
    mirror.load(first)
    assert mirror.incomplete, "the answer is older than a delta that came"
    mirror.apply(one)
    assert (mirror.incomplete, mirror.number) == (False, 1)
    mirror.apply(three)
    assert (mirror.incomplete, mirror.number) == (True, 1)
    mirror.apply(two)
    assert (mirror.incomplete, mirror.number) == (True, 2)
    mirror.load(last)
    assert (mirror.incomplete, mirror.number) == (False, 4)


def test_a_delta_that_is_in_the_screen_already_changes_nothing(changes):
    _, (one, *_), last = changes
    mirror = ScreenMirror("c")
    mirror.load(last)
    mirror.apply(one)
    assert (mirror.number, mirror.incomplete, mirror.since(4)) == (4, False, None)
