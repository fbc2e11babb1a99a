"""Readable cases for terminal screens: what is fed, and the screen that must come of it."""

import codecs
import re
from collections.abc import Callable, Iterable
from typing import NamedTuple
from unicodedata import normalize

from places import FIXTURES
from vantage.terminal.engines.values import Row
from vantage.terminal.screen.frames import ScreenSnapshot
from vantage.terminal.screen.screen import Screen

FOLDER = FIXTURES / "term"


class Case(NamedTuple):
    name: str
    size: tuple[int, int]
    steps: tuple[bytes | tuple[int, int], ...]
    """Bytes to feed, or a size to resize to."""
    screen: list[str]
    facts: dict[str, str]
    """`title`, `cwd`, `alt`, `reply`, `scrollback`, `runs N`"""
    needs: str | None


def unescape(text: str) -> bytes:
    """`\\e` and Python's escapes; `\\xff` is a byte, everything else is UTF-8."""
    found = b""
    for part in re.split(r"(\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\[a-z\\])", text):
        if part == r"\e":
            found += b"\x1b"
        elif part.startswith(r"\x"):
            found += bytes.fromhex(part[2:])
        elif part.startswith("\\"):
            found += codecs.decode(part, "unicode_escape").encode()
        else:
            found += part.encode()
    return found


def size_of(text: str) -> tuple[int, int]:
    cols, _, rows = text.strip().partition("x")
    return int(cols), int(rows)


def cases() -> list[Case]:
    found = []
    for file in sorted((FOLDER / "conformance").glob("*.txt")):
        found += [_case(block) for block in re.split(r"(?m)^== ", file.read_text())[1:]]
    return found


def _case(block: str) -> Case:
    name, *lines = block.strip().split("\n")
    size, steps, screen, facts, needs = (20, 4), [], [], {}, None
    for line in lines:
        word, _, rest = line.partition(" ")
        if line.startswith("> "):
            steps.append(unescape(line[2:]))
        elif line.startswith("|"):
            screen.append(line[1:-1].rstrip(" "))
        elif word == "size":
            size = size_of(rest)
        elif word == "resize":
            steps.append(size_of(rest))
        elif word == "needs":
            needs = rest
        elif match := re.match(r"(title|cwd|alt|reply|scrollback|runs \d+): ?(.*)", line):
            facts[match[1]] = match[2]
        else:
            assert not line, f"{name}: what is {line!r}?"
    return Case(name, size, tuple(steps), screen, facts, needs)


def recordings() -> list[str]:
    return sorted(folder.parent.name for folder in FOLDER.glob("*/recording.raw"))


def run(case: Case, engine: str, pieces: Callable[[bytes], Iterable[bytes]] = lambda data: [data]) -> Screen:
    screen = Screen(*case.size, engine=engine)
    for step in case.steps:
        if isinstance(step, bytes):
            for piece in pieces(step):
                screen.feed(piece)
        else:
            screen.resize(*step)
    return screen


def runs(row: Row) -> str:
    return ", ".join(
        " ".join(
            [f"{run.start}+{run.len}"]
            + [f"{name}={value}" for name in ("fg", "bg", "link") if (value := getattr(run, name)) is not None]
            + list(run.attrs)
        )
        for row_run in [row.runs]
        for run in row_run
    )


def seen(screen: Screen, case: Case) -> tuple[list[str], dict]:
    """The same facts of a screen as the case has them."""
    facts = {}
    for name in case.facts:
        if name == "title":
            facts[name] = screen.title
        elif name == "cwd":
            facts[name] = screen.cwd
        elif name == "reply":
            facts[name] = screen.take_replies()
        elif name == "alt":
            facts[name] = "yes" if screen.alt_screen else "no"
        elif name == "scrollback":
            facts[name] = "|".join(screen.scrollback().lines)
        else:
            facts[name] = runs(screen.row(int(name.split()[1])))
    shown = ScreenSnapshot.of(screen, 0).text(trimmed=False, cursor=True)
    return normalize("NFC", shown).split("\n"), facts


def expected(case: Case) -> tuple[list[str], dict]:
    return case.screen, {name: unescape(fact) if name == "reply" else fact for name, fact in case.facts.items()}


def conformance(engine: str) -> tuple[int, int]:
    """How many of the cases an engine draws as expected, and how many there are."""
    found = cases()
    return sum(seen(run(case, engine), case) == expected(case) for case in found), len(found)
