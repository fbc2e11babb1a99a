"""What one part of a document says about names that another uses: link and footnote definitions.

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
    """Markdown that says it anywhere."""
    blocks: int
    """How many blocks that makes: none for a link, one for a footnote."""


def key(label: str) -> str:
    """What is equal for labels that mean the same. A label broken across the lines of a quote has `>` in it."""
    return _SPACE.sub(" ", label).strip().casefold()


def labels(text: str) -> set[str]:
    """The keys of everything in brackets: whatever may be a reference, and more."""
    return {key(label) for label in _LABEL.findall(text)} if "[" in text else set()


def definitions(text: str, parser: pyromark.Markdown) -> dict[str, Definition]:
    """Every definition in `text`, by the key of its label."""
    found: dict[str, Definition] = {}
    if "]:" not in text:
        return found
    text = repaired(text, parser)
    for label, link in parser.reference_definitions(text).items():
        if label[0] == "^" and len(label) > 1:
            continue  # the parser reads it as a link's, but takes every use for a footnote's
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
    # The rule ends whatever an indented first line of the document could continue.
    source = "\n".join([*[definition.source for definition in known], "***\n\n"])
    return source, 1 + sum([definition.blocks for definition in known])


def _escaped(text: str) -> str:
    return text.translate(_ENTITIES)
