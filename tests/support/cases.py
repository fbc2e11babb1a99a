"""Fixtures that people can read: markdown files of cases, each a heading and some fences."""

import re
from typing import NamedTuple

from places import FIXTURES

_FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Fence(NamedTuple):
    kind: str
    option: str
    text: str


class Case(NamedTuple):
    file: str
    title: str
    fences: list[Fence]

    def first(self, kind: str) -> str:
        return next((fence.text for fence in self.fences if fence.kind == kind), "")

    def __str__(self) -> str:
        return f"{self.file}: {self.title}"


def cases(folder: str) -> list[Case]:
    """Every `## heading` of every file in a folder of fixtures, with the fences below it."""
    found = []
    for path in sorted((FIXTURES / folder).glob("*.md")):
        for part in re.split(r"^## ", path.read_text(), flags=re.MULTILINE)[1:]:
            title, _, body = part.partition("\n")
            fences = [Fence(kind, option, text) for kind, option, text in _FENCE.findall(body)]
            found.append(Case(path.stem, title, fences))
    assert found, f"no cases in {folder}"
    return found
