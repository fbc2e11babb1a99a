"""Recorded programs, replayed to the screens they had: whole, byte by byte, and in pieces cut anywhere."""

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from term_cases import FOLDER, recordings, size_of
from vantage.terminal.screen.frames import Deltas, ScreenSnapshot, apply
from vantage.terminal.screen.screen import Screen

FULL_SCREEN = ("vim", "less", "htop", "mc", "tmux", "nano", "fzf", "textual")
NAMES = recordings()
ENGINES = ("ghostty", "pyte")


class Recording:
    def __init__(self, name):
        folder = FOLDER / name
        self.raw = (folder / "recording.raw").read_bytes()
        self.size = size_of((folder / "size").read_text())
        self.moment = int((folder / "moment").read_text())
        self.screen = (folder / "screen.txt").read_text().removesuffix("\n").split("\n")
        self.after = (folder / "after.txt").read_text().removesuffix("\n").split("\n")


def replay(recording, engine, pieces):
    screen = Screen(*recording.size, engine=engine)
    for piece in pieces:
        screen.feed(piece)
    return ScreenSnapshot.of(screen, 0).text(trimmed=False, cursor=True).split("\n")


def cut(data, at):
    edges = [0, *sorted(at), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


def test_all_programs_are_recorded():
    assert set(NAMES) >= {"dialog", "python", "progress", "spinner", *FULL_SCREEN}
    for name in NAMES:
        assert len(Recording(name).raw) < 60_000


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", NAMES)
def test_whole(name, engine):
    recording = Recording(name)
    assert replay(recording, engine, [recording.raw[: recording.moment]]) == recording.screen
    assert replay(recording, engine, [recording.raw]) == recording.after


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", NAMES)
def test_byte_by_byte(name, engine):
    recording = Recording(name)
    assert replay(recording, engine, cut(recording.raw, range(1, len(recording.raw)))) == recording.after


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32), pieces=st.integers(1, 200))
def test_in_random_pieces(name, seed, pieces):
    recording = Recording(name)
    cuts = random.Random(seed).choices(range(recording.moment), k=pieces)
    assert replay(recording, "ghostty", cut(recording.raw[: recording.moment], cuts)) == recording.screen


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", FULL_SCREEN)
def test_the_main_screen_is_intact_after_a_full_screen_program(name, engine):
    recording = Recording(name)
    screen = Screen(*recording.size, engine=engine)
    screen.feed(recording.raw[: recording.moment])
    assert screen.alt_screen
    screen.feed(recording.raw[recording.moment :])
    assert not screen.alt_screen
    text = "\n".join(screen.lines()).strip()
    assert text.startswith("before\n$ run\n")
    assert text.endswith("after\n$")
    assert screen.cursor.visible
    assert not screen.modes.application_cursor
    assert screen.modes.mouse == "none"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_checkpoint_in_the_middle_changes_nothing(name, engine):
    recording = Recording(name)
    for at in range(0, len(recording.raw), max(len(recording.raw) // 9, 1)):
        first = Screen(*recording.size, engine=engine)
        first.feed(recording.raw[:at])
        second = Screen.decode(first.encode(), engine=engine)
        second.feed(recording.raw[at:])
        assert ScreenSnapshot.of(second, 0).text(trimmed=False, cursor=True).split("\n") == recording.after
        first.feed(recording.raw[at:])
        assert second.rows() == first.rows()
        assert second.modes == first.modes
        assert second.scrollback() == first.scrollback()


@pytest.mark.parametrize("name", NAMES)
def test_deltas_give_the_screen(name):
    recording = Recording(name)
    screen = Screen(*recording.size)
    deltas = Deltas(screen, styled=True)
    shown = deltas.snapshot(0)
    for now, piece in enumerate(cut(recording.raw, range(0, len(recording.raw), 37))):
        screen.feed(piece)
        if delta := deltas.take(now * 10):
            shown = apply(shown, delta)
    if delta := deltas.take(10**9, force=True):
        shown = apply(shown, delta)
    last = ScreenSnapshot.of(screen, 0, styled=True)
    assert (shown.rows, shown.runs, shown.cursor, shown.title) == (last.rows, last.runs, last.cursor, last.title)


def test_a_spinner_of_ten_seconds_leaves_one_line_and_few_deltas():
    screen = Screen(60, 8)
    deltas = Deltas(screen)
    taken = []
    for now in range(0, 10_000, 8):  # 125 frames a second
        screen.feed(f"\r{'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'[now // 8 % 10]} Waiting for auth… {now // 1000} s".encode())
        if delta := deltas.take(now):
            taken.append(delta)
    screen.feed("\r\x1b[2K✓ Signed in\r\n".encode())
    taken.append(deltas.take(10_050))
    assert [line for line in screen.lines() if line] == ["✓ Signed in"]
    assert 150 <= len(taken) <= 201
    assert all(len(delta.rows) == 1 for delta in taken)
    assert taken[-1].rows[0].text == "✓ Signed in"
