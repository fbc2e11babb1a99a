"""A query: words and phrases, found literally anywhere in a text. Case does not matter, and a line end counts as a
space.

A word is found inside longer ones: people look for parts of paths, of identifiers, of numbers. Nothing in a query is an
operator, so no query is wrong.
"""

import re
from typing import NamedTuple

import msgspec

from vantage.text.sanitize import sanitize

GRAM = 3
"""Characters of an entry of the index. Shorter words are searched in the texts themselves."""
MAX_GRAMS = 48
"""How many triples of a query are looked up: further ones would exclude hardly anything more."""
SNIPPET = 240
SNIPPET_LINES = 3
_BEFORE = 60
"""Characters shown before the first match, at most."""
_OCCURRENCES = 64
"""How many occurrences of a word are weighed to choose the excerpt."""
_TERM = re.compile(r'"([^"]*)(?:"|\Z)|(\S+)')


def plain(text: str) -> str:
    """Text in the form in which it is compared, character for character: `plain(text)[n]` is `text[n]`."""
    lower = text.lower()
    if len(lower) != len(text):  # İ is two characters in lower case
        lower = "".join([small if len(small := char.lower()) == 1 else char for char in text])
    lower = lower.replace("\n", " ")
    return lower if lower.isascii() else lower.replace("ς", "σ")


class Range(msgspec.Struct, frozen=True, array_like=True):
    """Characters (code points) from `start` up to `end`."""

    start: int
    end: int


class Snippet(NamedTuple):
    text: str
    ranges: list[Range]


class Query:
    """Words that must all occur. A quoted phrase counts as one word, with its spaces."""

    def __init__(self, text: str) -> None:
        found = [(match[1] or "").strip() or match[0] for match in _TERM.finditer(sanitize(text))]
        self.words = list(dict.fromkeys(map(plain, found)))

    def grams(self) -> str | None:
        """The query in the index's own language; empty when all words are too short for the index."""
        grams = dict.fromkeys(word[at : at + GRAM] for word in self.words for at in range(len(word) - GRAM + 1))
        quoted = ['"' + gram.replace('"', '""') + '"' for gram in [*grams][:MAX_GRAMS]]
        return " ".join(quoted) or None

    def matches(self, text: str, head: str = "") -> bool:
        """Whether every word is in the text or in its head, and at least one in the text."""
        return self.are_in(plain(text), head)

    def are_in(self, lower: str, head: str = "") -> bool:
        """`matches` for a text that is `plain` already."""
        here = [word in lower for word in self.words]
        if all(here):
            return bool(here)
        if not head or not any(here):
            return False
        head = plain(head)
        return all(found or word in head for found, word in zip(here, self.words, strict=True))

    def snippet(self, text: str, lower: str | None = None) -> Snippet:
        """The excerpt of a text that has most of the words, a few lines long, and where they are in it.

        `lower` is `plain(text)`, if the caller has it already.
        """
        lower = plain(text) if lower is None else lower
        places = sorted([(at, len(word), word) for word in self.words for at in _places(lower, word)])
        start, end = _window(text, _best(places)) if places else (0, min(len(text), SNIPPET))
        shown = text[start:end].rstrip()
        end = start + len(shown)
        lead, trail = "…" if start and text[start - 1] != "\n" else "", "…" if text[end:].strip() else ""
        moved = len(lead) - start
        ranges = [(at + moved, min(at + size, end) + moved) for at, size, _ in places if start <= at < end]
        return Snippet(lead + shown + trail, _joined(ranges))


def _places(text: str, word: str) -> list[int]:
    places: list[int] = []
    at = text.find(word)
    while at >= 0 and len(places) < _OCCURRENCES:
        places.append(at)
        at = text.find(word, at + len(word))
    return places


def _best(places: list[tuple[int, int, str]]) -> int:
    """The first place where most of the different words are close together."""
    best, most = places[0][0], 0
    if len({word for _, _, word in places}) == 1:
        return best
    for number, (at, _, _) in enumerate(places):
        near = set()
        for other, _, word in places[number:]:
            if other - at > SNIPPET - _BEFORE:
                break
            near.add(word)
        if len(near) > most:
            best, most = at, len(near)
    return best


def _window(text: str, at: int) -> tuple[int, int]:
    start = max(text.rfind("\n", 0, at) + 1, at - _BEFORE)
    end = min(start + SNIPPET, len(text))
    line = start
    for _ in range(SNIPPET_LINES):
        line = text.find("\n", line, end) + 1
        if not line:
            return start, end
    return start, line - 1


def _joined(ranges: list[tuple[int, int]]) -> list[Range]:
    """Ranges in order; touching ones are joined."""
    joined: list[list[int]] = []
    for start, end in ranges:
        if joined and start <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    return [Range(start, end) for start, end in joined]
