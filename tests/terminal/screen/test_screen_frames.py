"""Snapshots and deltas: their shapes, when a delta is due, and the law that deltas add up."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vantage.errors import InputError
from vantage.events import ScreenDelta as ScreenDeltaEvent
from vantage.events import decode_event
from vantage.terminal.screen.frames import Deltas, Region, ScreenSnapshot, apply, cells, with_cursor
from vantage.terminal.screen.screen import Screen

WORDS = st.sampled_from([
    b"word ", b"\r\n", "日本".encode(), b"\x1b[31mred\x1b[m", b"\x1b[2J", b"\x1b[H", b"\x1b[3;5H", b"\x1b[K",
    b"\x1b[?1049h",
    b"\x1b[?1049l", b"\x1b]0;one\x07", b"\x1b]0;two\x07", b"\x1b[?25l", b"\x1b[?25h", b"\x1b[2;4r\n\n", b"\x1b[L",
])  # fmt: skip
STEPS = st.lists(
    st.lists(WORDS, max_size=6).map(b"".join) | st.tuples(st.integers(2, 30), st.integers(1, 8)), max_size=25
)


def step(screen, action):
    screen.feed(action) if isinstance(action, bytes) else screen.resize(*action)


@pytest.mark.parametrize("engine", ["ghostty", "pyte"])
@given(steps=STEPS, styled=st.booleans())
def test_deltas_in_order_on_any_earlier_snapshot_give_the_later_one(engine, steps, styled):
    screen = Screen(12, 5, engine=engine)
    deltas = Deltas(screen, styled=styled)
    snapshots = [deltas.snapshot(0)]
    for now, action in enumerate(steps):
        step(screen, action)
        delta = deltas.take(now * 20, raw_offset=now)
        if delta:
            snapshots = [apply(snapshot, delta) for snapshot in snapshots]
            snapshots.append(deltas.snapshot(now * 20, raw_offset=now))
    assert all(snapshot == snapshots[-1] for snapshot in snapshots)
    if delta := deltas.take(10**6, force=True):
        snapshots = [apply(snapshot, delta) for snapshot in snapshots]
    now = ScreenSnapshot.of(screen, snapshots[-1].ts, raw_offset=snapshots[-1].raw_offset, styled=styled)
    assert snapshots[-1] == now


@given(steps=STEPS, at=st.integers(0, 30))
def test_what_changed_since_an_earlier_delta_in_one(steps, at):
    screen = Screen(12, 5)
    deltas = Deltas(screen, per_second=1000)
    snapshots = [deltas.snapshot(0)]
    for now, action in enumerate(steps):
        step(screen, action)
        if deltas.take(now * 20):
            snapshots.append(deltas.snapshot(0))
    number = min(at, deltas.number)
    delta = deltas.since(number, 0)
    assert (apply(snapshots[number], delta) if delta else snapshots[number]) == snapshots[-1]
    with pytest.raises(InputError, match=f"a number from 0 to {deltas.number}"):
        deltas.since(deltas.number + 1, 0)


def test_a_snapshot_has_the_seeds_shape():
    screen = Screen(20, 3)
    screen.feed(b"\x1b]0;Gemini\x07one\r\ntwo")
    snapshot = ScreenSnapshot.of(screen, 1767572000, raw_offset=21)
    assert json.loads(msgspec.json.encode(snapshot)) == snapshot.to_dict() | {"rows": ["one", "two", ""]}
    assert snapshot.to_dict() == {
        "rows": ("one", "two", ""),
        "cursor": {"row": 1, "col": 3, "visible": True, "shape": "block"},
        "title": "Gemini",
        "alt_screen": False,
        "cols": 20,
        "rows_count": 3,
        "ts": 1767572000,
        "raw_offset": 21,
    }


def test_a_delta_has_the_seeds_shape_and_is_an_event():
    screen = Screen(20, 3)
    deltas = Deltas(screen, styled=True, conversation_id="abc")
    screen.feed("⠙ \x1b[1;32mWaiting\x1b[m".encode())
    delta = deltas.take(5, raw_offset=22, block_id="b1")
    assert json.loads(msgspec.json.encode(delta)) == {
        "type": "screen_delta",
        "conversation_id": "abc",
        "rows": [{"row": 0, "text": "⠙ Waiting", "runs": [{"start": 2, "len": 7, "fg": 2, "attrs": ["bold"]}]}],
        "cursor": {"row": 0, "col": 9, "visible": True, "shape": "block"},
        "title": "",
        "alt_screen": False,
        "cols": 20,
        "rows_count": 3,
        "raw_offset": 22,
        "block_id": "b1",
        "ts": 5,
    }
    event = decode_event(msgspec.json.encode(delta))
    assert isinstance(event, ScreenDeltaEvent)
    assert not event.extra
    plain = Deltas(screen)
    screen.feed(b"!")
    assert msgspec.to_builtins(plain.take(9).rows) == ({"row": 0, "text": "⠙ Waiting!"},)


def test_the_first_delta_comes_at_once_the_others_wait_and_the_last_comes():
    screen = Screen(20, 3)
    deltas = Deltas(screen, per_second=20)
    assert deltas.due_at() is None
    assert deltas.take(0) is None
    screen.feed(b"a")
    assert deltas.due_at() == 0
    assert deltas.take(1000).rows[0].text == "a"
    assert deltas.due_at() is None
    screen.feed(b"b")
    assert deltas.due_at() == 1050
    assert deltas.take(1010) is None
    screen.feed(b"c")
    assert deltas.take(1049) is None
    assert deltas.take(1050).rows[0].text == "abc"
    screen.feed(b"d")
    assert deltas.take(1051, force=True).rows[0].text == "abcd"


def test_nothing_when_nothing_changed():
    screen = Screen(20, 3)
    deltas = Deltas(screen)
    screen.feed(b"a")
    assert deltas.take(0)
    screen.feed(b"\r\x1b[Ka")
    assert deltas.due_at() is not None
    assert deltas.take(100) is None
    assert deltas.due_at() is None
    assert deltas.number == 1


def test_a_style_is_a_change_only_for_who_asked_for_styles():
    screen = Screen(20, 3)
    plain, styled = Deltas(screen), Deltas(screen, styled=True)
    screen.feed(b"a")
    assert plain.take(0)
    assert styled.take(0)
    screen.feed(b"\r\x1b[1ma")
    assert plain.take(100) is None
    assert styled.take(100).rows[0].runs[0].attrs == ("bold",)


def test_a_frame_is_not_shown_before_it_is_finished():
    screen = Screen(20, 3)
    deltas = Deltas(screen)
    screen.feed(b"\x1b[?2026hhalf")
    assert deltas.take(1000) is None
    assert deltas.due_at() == 2000
    assert deltas.snapshot(1000).rows == ("", "", "")
    screen.feed(b" and half\x1b[?2026l")
    assert deltas.due_at() == 0
    assert deltas.take(1001).rows[0].text == "half and half"


def test_a_frame_that_never_ends_is_shown_after_a_second():
    screen = Screen(20, 3)
    deltas = Deltas(screen)
    screen.feed(b"\x1b[?2026hhalf")
    assert deltas.take(1000) is None
    assert deltas.take(1999) is None
    assert deltas.take(2000).rows[0].text == "half"
    screen.feed(b"more")
    assert deltas.take(2100) is None
    assert deltas.take(3100).rows[0].text == "halfmore"


@pytest.mark.parametrize("rate", [0, -1])
def test_a_rate_is_more_than_nothing(rate):
    with pytest.raises(InputError, match="more than 0"):
        Deltas(Screen(20, 3), per_second=rate)


# For reading


def shown(data, cols=20, rows=5):
    screen = Screen(cols, rows)
    screen.feed(data)
    return ScreenSnapshot.of(screen, 0, styled=True)


def test_empty_rows_at_the_end_cost_nothing():
    assert shown(b"one\r\n\r\nthree\r\n").text() == "one\n\nthree"
    assert shown(b"").text() == ""
    assert shown(b"one").text(trimmed=False) == "one\n\n\n\n"


def test_the_cursor_is_drawn_on_request():
    assert shown(b"one\r\ntwo\x1b[2;2H").text(cursor=True) == "one\nt▏wo"
    assert shown(b"one\x1b[1;7H").text(cursor=True) == "one   ▏"
    assert shown(b"one\x1b[?25l").text(cursor=True) == "one"
    assert shown("日本\x1b[1;3H".encode()).text(cursor=True) == "日▏本"


def test_a_region():
    snapshot = shown(b"abcdef\r\nghi\x1b[31mjkl\x1b[m\r\nmnopqr\x1b[2;4H")
    region = Region(row=1, col=2, rows=2, cols=3)
    assert snapshot.text(region=region) == "ijk\nopq"
    part = snapshot.crop(region)
    assert (part.rows, part.cols, part.rows_count) == (("ijk", "opq"), 3, 2)
    assert (part.cursor.row, part.cursor.col, part.cursor.visible) == (0, 1, True)
    assert [(run.start, run.len, run.fg) for run in part.runs[0]] == [(1, 2, 1)]
    assert not snapshot.crop(Region(row=3)).cursor.visible
    with pytest.raises(InputError, match="rows 0 to 4"):
        snapshot.crop(Region(row=5))


@pytest.mark.parametrize(
    ("text", "start", "count", "found"),
    [("abc", 1, 1, "b"), ("日本語", 2, 2, "本"), ("日本語", 1, 3, "本"), ("é日x", 1, None, "日x"), ("abc", 9, 2, "")],
)
def test_cells_of_a_row(text, start, count, found):
    assert cells(text, start, count) == found


def test_a_cursor_beyond_the_text():
    assert with_cursor("ab", 4) == "ab  ▏"
    assert with_cursor("日", 1) == "▏日"
