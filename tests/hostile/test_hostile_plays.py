"""Whatever a program prints, in whatever pieces, with looks, checkpoints and resizes between them: one screen."""

import random
import re
from collections.abc import Callable, Iterator

import pyghostty
import pytest

from extent import extent, rounds
from sequences import Play, cut, play, sizes_play
from vantage.terminal.engines.ghostty.rows import RowReader
from vantage.terminal.engines.ghostty.terminal import Cells, VtTerminal
from vantage.terminal.screen.history import BIDI
from vantage.terminal.screen.screen import CheckpointError, Screen
from vantage.terminal.screen.transcript import Transcript

SHARE = 1 / 40
FOUND = (5_000_829, 6_005_856, 7_003_614, 7_008_662, 393_212_583_202_154)
"""A gap closed in a row that was looked at; a history of the alternate screen; bytes beyond ASCII in a sequence; a
cursor that was saved while the next character would have wrapped."""
PLAYS = {"ghostty": 600, "pyte": 100}


def everything(screen: Screen) -> dict[str, object]:
    """All that can be seen of it but its replies: those that were taken before a checkpoint are not in it."""
    kept = screen.scrollback()
    return {
        "rows": screen.rows(), "cursor": screen.cursor, "title": screen.title, "cwd": screen.cwd, "modes": screen.modes,
        "alt": screen.alt_screen, "scrollback": kept.lines, "total": kept.total, "first": kept.first_line,
    }  # fmt: skip


def bytewise(screen: Screen, part: bytes, _: random.Random) -> Screen:
    for at in range(len(part)):
        screen.feed(part[at : at + 1])
    return screen


def looked_at(screen: Screen, part: bytes, choose: random.Random) -> Screen:
    for piece in cut(part, choose):
        screen.feed(piece).rows  # noqa: B018 -- looking must change nothing
        screen.scrollback()
    return screen


def from_checkpoints(screen: Screen, part: bytes, choose: random.Random) -> Screen:
    for piece in cut(part, choose):
        screen.feed(piece)
        try:
            encoded = screen.encode()
        except CheckpointError:
            continue  # not in every state: it is made later, or what came is fed again
        again = Screen.decode(encoded, engine=screen.engine)  # one that was made can be read
        screen.close()
        screen = again
    return screen


def whole(screen: Screen, part: bytes, _: random.Random) -> Screen:
    screen.feed(part)
    return screen


def shown(given: Play, engine: str, feed: Callable[[Screen, bytes, random.Random], Screen]) -> dict[str, object]:
    screen = Screen(*given.sizes[0], engine=engine, scrollback=100)
    choose = random.Random(given.data)
    for number, part in enumerate(given.parts):
        screen.resize(*given.sizes[number])
        screen = feed(screen, part, choose)
    assert (screen.cols, screen.rows_count) == given.sizes[-1]
    assert screen.failures == 0
    with screen:
        return everything(screen)


def plays(engine: str) -> Iterator[tuple[int, Play]]:
    for seed in rounds(1, SHARE):
        for number in range(extent(PLAYS[engine], 3000)):
            yield seed * 100_000 + number, play(seed * 100_000 + number)


def check_every_way(seed: int, given: Play, engine: str) -> None:
    expected = shown(given, engine, whole)
    for feed in (bytewise, looked_at, from_checkpoints):
        found = shown(given, engine, feed)
        differs = [name for name in expected if found[name] != expected[name]]
        assert not differs, (seed, feed.__name__, differs, given)


@pytest.mark.parametrize("engine", ["ghostty", "pyte"])
def test_every_way_shows_the_same(engine):
    for seed, given in plays(engine):
        check_every_way(seed, given, engine)


@pytest.mark.parametrize("engine", ["ghostty", "pyte"])
def test_every_way_shows_the_same_after_many_sizes(engine):
    for seed in rounds(1, SHARE):
        for number in range(seed * 100_000, seed * 100_000 + extent(PLAYS[engine], 3000)):
            check_every_way(number, sizes_play(number), engine)


@pytest.mark.parametrize("make", [play, sizes_play])
@pytest.mark.parametrize("engine", ["ghostty", "pyte"])
def test_every_output_has_lines(engine, make):
    """Also in the middle of a sequence, and in states that cannot be copied."""
    for seed in rounds(1, SHARE):
        for number in range(seed * 100_000, seed * 100_000 + extent(PLAYS[engine], 3000)):
            given = make(number)
            with Screen(*given.sizes[0], engine=engine) as screen:
                transcript = Transcript(screen)
                for size, part in zip(given.sizes, given.parts, strict=True):
                    transcript.resize(*size)
                    transcript.feed(part)
                assert all(isinstance(line, str) for line in transcript.lines()), (number, given)
                assert (screen.cols, screen.rows_count, screen.failures) == (*given.sizes[-1], 0), (number, given)


@pytest.mark.parametrize("seed", FOUND)
def test_plays_that_once_differed(seed):
    check_every_way(seed, play(seed), "ghostty")


BEYOND_ASCII = re.compile(rb"\x1b[\x00-\x1f]*(?:\[[^@-~\x18\x1a\x1b]*)?[\x80-\xff]")
"""A character inside an escape or control sequence."""
MANY_REPEATED = re.compile(rb"[0-9]{4,}b")
"""REP, which is bounded by the cells of the screen: the engine alone takes larger numbers modulo 65536."""
SAVED_BEFORE_THE_END = re.compile(rb"(?s)(?=.*(?:69|Z))(?=.*(?:7|s|1048|1049))")
"""A right margin or a tab backwards, and a saved cursor: the engine alone saves that the next character wraps."""


def bare_rows(data: bytes, cols: int, rows: int) -> list[str]:
    """What the library shows by itself."""
    terminal = pyghostty.Terminal(cols, rows)
    terminal.feed(data)
    vt = VtTerminal(terminal._t[0])
    found = dict(RowReader(vt, Cells(vt)).dirty())
    vt.free_render()
    return [BIDI.sub("", found[y].text) if y in found else "" for y in range(rows)]


def test_the_screen_shows_what_its_engine_shows_alone():
    """But for what the engine does not know (DECSTR), what it must not do (DECCOLM), and DEL, which it draws.

    Characters inside a sequence are left out too: the engine alone takes their bytes for C1 controls.
    """
    for seed, given in plays("ghostty"):
        data = given.parts[0].replace(b"\x7f", b"")
        if b"!" in data or b"40" in data or b"4\n0" in data or MANY_REPEATED.search(data) or BEYOND_ASCII.search(data):
            continue
        if SAVED_BEFORE_THE_END.match(data):
            continue
        with Screen(*given.sizes[0]) as screen:
            screen.feed(data)
            assert screen.lines() == bare_rows(data, *given.sizes[0]), (seed, given)
