"""A flood costs a screen its last lines only, invisibly: in any chunks it gives the same screen and line numbers."""

import pytest

from vantage.terminal.core import TerminalCore
from vantage.terminal.screen.floods import LEAST, margins_set, passable
from vantage.terminal.screen.screen import Screen

LINES = b"".join(b"line %d of a plain log that goes on and on\r\n" % number for number in range(30_000))
WIDE = "".join(f"Zeile {number} — größer, 日本語\r\n" for number in range(30_000)).encode()
LONG = b"".join(b"%d " % number + b"x" * 300 + b"\r\n" for number in range(5_000))

CASES = {
    "plain": LINES,
    "wide characters": WIDE,
    "wrapped lines": LONG,
    "behind colours": b"\x1b[31mred " + LINES + b"$ ",
    "behind a half line": b"abc" + LINES + b"the end",
    "in the middle of the screen": b"\x1b[10;5H" + LINES,
    "on the alternate screen": b"main\r\n\x1b[?1049h" + LINES + b"\x1b[?1049lback",
    "between sequences": LINES[:400_000] + b"\x1b[1mbold\x1b[0m" + LINES[400_000:],
    "within margins": b"\x1b[3;8r\x1b[8;1H" + LINES,
    "after margins": b"\x1b[3;8r\x1b[r" + LINES,
    "with line feeds alone": LINES.replace(b"\r\n", b"\n"),
    "with tabs": LINES.replace(b" of ", b"\tof\t"),
    "with a bell": LINES[:700_000] + b"\x07" + LINES[700_000:],
    "erased behind it": LINES + b"\x1b[2J\x1b[H",
    "one line without an end": b"y" * 900_000,
    "blank lines": b"\r\n" * 450_000,
    "blank lines after text": b"text\r\n" + b"\r\n" * 450_000,
    "tabs": b"\t\r\n" * 300_000,
    "one letter": "é\r\n".encode() * 200_000,
    "marks at the start of lines": "\u0301x\r\n".encode() * 200_000,
    "backspaces at the start of lines": b"\bx\r\n" * 200_000,
}


def seen(data: bytes, size: int):
    terminal = TerminalCore(screen=Screen(60, 12, scrollback=200))
    for start in range(0, len(data), size):
        terminal.feed(data[start : start + size])
        if size < LEAST:
            terminal.screen  # noqa: B018 -- read after each chunk, so nothing is ever passed over
    screen = terminal.screen
    kept = screen.scrollback(None, 150)
    found = (screen.rows(), screen.cursor, kept.lines, kept.first_line, kept.total, screen.take_bell())
    screen.close()
    return found, terminal.drawn


@pytest.mark.parametrize("name", CASES)
def test_a_flood_shows_no_difference(name):
    data = CASES[name]
    watched, drawn = seen(data, 20_000)
    flooded, less = seen(data, 1 << 20)
    assert flooded == watched
    assert drawn == len(data)
    assert less <= drawn


@pytest.mark.parametrize("name", ["plain", "wide characters", "blank lines", "tabs", "one letter"])
def test_it_costs_little(name):
    _, drawn = seen(CASES[name], 1 << 16)
    assert drawn < len(CASES[name]) / 5


def test_what_is_passed_over_ends_a_line():
    flood = passable([b"head\r\n" + LINES], 100)
    assert flood.before == b"head\r\n"
    assert flood.after.startswith(b"line ")
    assert flood.after.count(b"\n") >= 100
    assert 1 + flood.lines + flood.after.count(b"\n") == 30_001


@pytest.mark.parametrize("pieces", [[LINES[:1000]], [b"x" * 100_000], [LINES.replace(b"\r\n", b"\n")]])
def test_nothing_is_passed_over(pieces):
    assert passable(pieces, 100) is None


def test_margins():
    assert margins_set(b"\x1b[2;5r", before=False)
    assert not margins_set(b"\x1b[2;5r text \x1b[r", before=False)
    assert not margins_set(b"\x1bc", before=True)
    assert margins_set(b"\x1b[?69h", before=False)
    assert margins_set(b"plain", before=True)


SLOW = {
    "coloured lines": b"\x1b[31mred\x1b[m line\r\n",
    "line feeds": b"\n",
    "marks": "e\u0301".encode(),
    "a line without an end": b"x",
    "modes": b"\x1b[?25l\x1b[?25h",
    "the alternate screen": b"\x1b[?1049hx\x1b[?1049l",
}


@pytest.mark.parametrize("name", SLOW)
def test_a_step_draws_little(name):
    """Other terminals are served between two steps, so no step may draw all of what came before it."""
    data = SLOW[name] * (1_000_000 // len(SLOW[name]))
    terminal = TerminalCore(screen=Screen(60, 12, scrollback=200))
    most = 0
    for start in range(0, len(data), 1 << 16):
        before = terminal.drawn
        terminal.feed(data[start : start + (1 << 16)])
        most = max(most, terminal.drawn - before)
    assert 0 < most <= 1 << 18
    terminal.screen.close()
