"""Readable cases for terminal screens: what is fed, and the screen that must come of it."""

import codecs
import re
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "fixtures/term"


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
