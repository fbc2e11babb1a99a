"""The terminal's screen: how fast it takes bytes in and tells what changed; and what each engine gets right.

What is measured against xterm.js runs under Node, in a process of its own for each round; its start is part of its
time, so the corpora are large.
"""

import random
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import process_time

from bench.run.answers import Several
from bench.run.harness import ROOT
from vantage.terminal.screen.frames import Deltas, ScreenSnapshot
from vantage.terminal.screen.screen import Screen

Run = Callable[[], object]

COLS, ROWS = 120, 40
PIECE = 64 * 1024
LARGE = 128
"""Pieces that we and xterm.js are fed; pyte is fed two of them."""
SMALL = 2
DELTAS, SNAPSHOTS = 1000, 100
NODE = ROOT / ".venv-peers/node"
_WORDS = [
    "GET",
    "POST",
    "request",
    "response",
    "compiled",
    "module",
    "warning",
    "cache",
    "connection",
    "timeout",
    "user",
    "session",
    "token",
    "build",
    "test",
    "passed",
    "src/server/http.py",
    "node_modules/react/index.js",
    "/usr/lib/python3",
    "127.0.0.1:8080",
    "0.43ms",
    "200",
    "OK",
    "404",
    "retry",
    "worker",
    "queue",
]
_INKS = ("1", "31", "32", "33", "34", "35", "36", "90", "1;31", "38;5;208", "38;5;39", "48;5;236")
_NODE_PROGRAM = """
const { Terminal } = require("@xterm/headless");
const fs = require("fs");
const data = fs.readFileSync(process.argv[2]);
const term = new Terminal({ cols: %d, rows: %d, scrollback: 10000, allowProposedApi: true });
(async () => {
  for (let at = 0; at < data.length; at += %d)
    await new Promise((done) => term.write(data.subarray(at, at + %d), done));
  if (term.buffer.active.length === 0) process.exit(1);
})();
""" % (COLS, ROWS, PIECE, PIECE)  # noqa: UP031 -- the text has braces


def _plain(rng: random.Random) -> bytes:
    words = " ".join(rng.choices(_WORDS, k=rng.randint(4, 14)))
    return f"2026-11-15T12:{rng.randint(10, 59)}:{rng.randint(10, 59)}.{rng.randint(100, 999)}Z {words}\r\n".encode()


def _coloured(rng: random.Random) -> bytes:
    level = rng.choice(("32mINFO", "33mWARN", "31;1mERROR", "36mDEBUG"))
    words = " ".join(
        f"\x1b[{rng.choice(_INKS)}m{word}\x1b[0m" if rng.random() < 0.3 else word
        for word in rng.choices(_WORDS, k=rng.randint(4, 14))
    )
    return f"\x1b[2m12:{rng.randint(10, 59)}\x1b[0m \x1b[{level}\x1b[0m {words}\r\n".encode()


def _redraw(rng: random.Random) -> bytes:
    """A frame of a monitor: every row anew, with bars and colours."""
    rows = [b"\x1b[?25l\x1b[H"]
    for row in range(ROWS):
        used = rng.randint(1, 50)
        bar = "|" * used + " " * (50 - used)
        name = rng.choice(_WORDS)
        rows.append(
            f"\x1b[{row + 1};1H\x1b[36m{rng.randint(1, 99999):6d}\x1b[39m {name:20.20} [\x1b[32m{bar}\x1b[39m"
            f"\x1b[1m{used * 2:3d}%\x1b[22m] \x1b[7m{rng.randint(0, 9999):5d}M\x1b[27m\x1b[K".encode()
        )
    return b"".join([*rows, b"\x1b[?25h"])


_CORPORA = {"plain": _plain, "coloured": _coloured, "redraw": _redraw}


@cache
def corpus_of(name: str) -> bytes:
    """The same bytes every time."""
    rng = random.Random(name)
    unit = b"".join(_CORPORA[name](rng) for _ in range(20_000 if name != "redraw" else 400))
    return (unit * (LARGE * PIECE // len(unit) + 1))[: LARGE * PIECE]


def _feed(name: str) -> Callable[[Path], Run]:
    def prepare(_corpus: Path) -> Run:
        data = corpus_of(name)
        pieces = [data[at : at + PIECE] for at in range(0, len(data), PIECE)]

        def run() -> str:
            screen = Screen(COLS, ROWS)
            for piece in pieces:
                screen.feed(piece)
            line = screen.lines()[0]
            screen.close()
            return line

        return run

    return prepare


def _pyte(name: str) -> Callable[[Path], Run]:
    """Pyte as its own manual feeds it, without history and replies."""

    def prepare(_corpus: Path) -> Run:
        import pyte

        data = corpus_of(name)[: SMALL * PIECE]
        pieces = [data[at : at + PIECE] for at in range(0, len(data), PIECE)]

        def run() -> str:
            screen = pyte.Screen(COLS, ROWS)
            stream = pyte.ByteStream(screen)
            for piece in pieces:
                stream.feed(piece)
            return screen.display[0]

        return run

    return prepare


def _xterm(name: str) -> Callable[[Path], Run]:
    def prepare(corpus: Path) -> Run:
        if not (NODE / "node_modules/@xterm/headless").exists():
            raise SystemExit("bench: @xterm/headless is missing: 'make bench' installs it (Node and npm are needed)")
        file, program = corpus / f"screens-{name}.raw", NODE / "feed.js"
        file.write_bytes(corpus_of(name))
        program.write_text(_NODE_PROGRAM)
        return lambda: subprocess.run(["node", program, file], cwd=NODE, check=True, stdin=subprocess.DEVNULL)

    return prepare


feed_plain, feed_coloured, feed_redraw = _feed("plain"), _feed("coloured"), _feed("redraw")
pyte_plain, pyte_coloured, pyte_redraw = _pyte("plain"), _pyte("coloured"), _pyte("redraw")
xterm_plain, xterm_coloured, xterm_redraw = _xterm("plain"), _xterm("coloured"), _xterm("redraw")


def _full_screen() -> Screen:
    screen = Screen(COLS, ROWS)
    screen.feed(_redraw(random.Random("screen")))
    return screen


def delta(_corpus: Path) -> Run:
    """One row changes, and the delta with its styles is made."""
    screen = _full_screen()
    deltas = Deltas(screen, styled=True)
    now = 0

    def run() -> None:
        nonlocal now
        for _ in range(DELTAS):
            now += 1000
            screen.feed(b"\x1b[20;1H\x1b[32m%8d\x1b[m of many\x1b[K" % now)
            assert deltas.take(now), "a row has changed"

    return run


def snapshot(_corpus: Path) -> Run:
    """Every row changes, and the snapshot with its styles is made."""
    screen = _full_screen()
    frames = [_redraw(random.Random(number)) for number in range(2)]

    def run() -> None:
        for number in range(SNAPSHOTS):
            screen.feed(frames[number % 2])
            assert len(ScreenSnapshot.of(screen, 0, styled=True).to_dict()["rows"]) == ROWS

    return run


def _clock(seconds: float) -> Callable[[Path], Run]:
    def prepare(_corpus: Path) -> Run:
        def run() -> None:
            end = process_time() + seconds
            while process_time() < end:
                pass

        return run

    return prepare


clock_delta, clock_snapshot = _clock(0.0002 * DELTAS), _clock(0.005 * SNAPSHOTS)


def _wrong(engine: str) -> Callable[[Path], Run]:
    """How many of the conformance cases an engine does not draw as expected."""

    def prepare(_corpus: Path) -> Run:
        sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tests/support/terminal")]
        from term_cases import conformance

        def run() -> Several:
            right, cases = conformance(engine)
            return Several([cases - right])

        return run

    return prepare


wrong_ours, wrong_pyte = _wrong("ghostty"), _wrong("pyte")
