"""What a definition of a link or footnote in one part of a document means for another part.

Labels are compared as the parser does: without regard to case, with runs of white space as one.
"""

import re

import msgspec
import pyromark

from vantage.document.repair import repaired

_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.)+)\]", re.DOTALL)
_SPACE = re.compile(r"[\s>]+")
_ENTITIES = {ord(character): f"&#{ord(character)};" for character in '&\\"<>\n\r'}


class Definition(msgspec.Struct, frozen=True):
    source: str
    """Markdown that defines it in any place."""
    blocks: int
    """How many blocks that markdown makes: none for a link, one for a footnote."""


def key(label: str) -> str:
    """A key that is equal for equal labels. A label that is broken across the lines of a quote has `>` in it."""
    return _SPACE.sub(" ", label).strip().casefold()


def labels(text: str) -> set[str]:
    """The keys of all bracketed texts: every possible reference, and more."""
    return {key(label) for label in _LABEL.findall(text)} if "[" in text else set()


def definitions(text: str, parser: pyromark.Markdown) -> dict[str, Definition]:
    """Every definition in `text`, by the key of its label."""
    found: dict[str, Definition] = {}
    if "]:" not in text:
        return found
    text = repaired(text, parser)
    for label, link in parser.reference_definitions(text).items():
        if label[0] == "^" and len(label) > 1:
            continue  # the parser reads the definition as a link's, but every use as a footnote's
        restated = f'[{" ".join(label.split())}]: <{_escaped(link["dest"])}> "{_escaped(link["title"] or "")}"\n'
        found.setdefault(key(label), Definition(restated, 0))
    if "[^" in text:
        for event in parser.events(text):
            match event:
                case {"Start": {"FootnoteDefinition": label}}:
                    found.setdefault(key(f"^{label}"), Definition(f"[^{label}]: .\n", 1))
    return found


def preamble(known: list[Definition]) -> tuple[str, int]:
    """Markdown that defines these names ahead of a document, and how many blocks it adds to it."""
    if not known:
        return "", 0
    # the rule ends whatever an indented first line of the document could continue
    source = "\n".join([*[definition.source for definition in known], "***\n\n"])
    return source, 1 + sum([definition.blocks for definition in known])


def _escaped(text: str) -> str:
    return text.translate(_ENTITIES)
