"""A flood costs a screen its last lines only, and nobody can tell: whatever the chunks, the same screen and numbers."""

import pytest

from vantage.terminal.core import Terminal
from vantage.terminal.floods import LEAST, margins_set, passable
from vantage.terminal.screen import Screen

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
}


def seen(data: bytes, size: int):
    terminal = Terminal(screen=Screen(60, 12, scrollback=200))
    for start in range(0, len(data), size):
        terminal.feed(data[start : start + size])
        if size < LEAST:
            terminal.screen  # noqa: B018 -- somebody looks all the time, so nothing is ever passed over
    screen = terminal.screen
    kept = screen.scrollback(None, 150)
    found = (screen.rows(), screen.cursor, kept.lines, kept.first_line, kept.total, screen.take_bell())
    screen.close()
    return found, terminal.drawn


@pytest.mark.parametrize("name", CASES)
def test_nobody_can_tell(name):
    data = CASES[name]
    watched, drawn = seen(data, 20_000)
    flooded, less = seen(data, 1 << 20)
    assert flooded == watched
    assert drawn == len(data)
    assert less <= drawn


@pytest.mark.parametrize("name", ["plain", "wide characters"])
def test_it_costs_little(name):
    _, drawn = seen(CASES[name], 1 << 20)
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
