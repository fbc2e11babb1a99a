"""An outline: lines with lines under them, the text form of a diagram."""

import re

import msgspec

from vantage.document.nodes import Block, Item, ListBlock, Paragraph, Text

_LINE_BREAK = re.compile(r"<br\s*/?>|\\n", re.IGNORECASE)
_ENTITY = re.compile(r"#(\w+);")
_ENTITIES = {"quot": '"', "amp": "&", "lt": "<", "gt": ">", "nbsp": " ", "semi": ";", "colon": ":", "hash": "#"}


class Entry(msgspec.Struct):
    text: str
    children: list["Entry"] = []


class NotUnderstoodError(Exception):
    """A line that is not understood: the diagram is then shown as it was written."""


def label(text: str) -> str:
    """A label as it reads: without quotes and line breaks, entities resolved."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1].strip()
    if len(text) > 1 and text[0] == text[-1] == "`":
        text = text[1:-1]
    text = _LINE_BREAK.sub(" ", text)
    return " ".join(_ENTITY.sub(_entity, text).split())


def _entity(match: re.Match[str]) -> str:
    name = match[1]
    if name.isdecimal() and name.isascii() and 32 <= int(name[:7]) < 0xD800:
        return chr(int(name[:7]))
    return _ENTITIES.get(name, match[0])


def arrow(operator: str) -> str:
    """A connection's direction, from the heads it was written with."""
    head, tail = operator[-1] in ">xo)", operator[0] in "<xo"
    return "↔" if head and tail else "→" if head else "←" if tail else "—"


def blocks_of(title: str, entries: list[Entry]) -> list[Block]:
    out: list[Block] = [Paragraph([Text(f"{title}:")])]
    if entries:
        out.append(_list(entries))
    return out


def _list(entries: list[Entry]) -> ListBlock:
    items: list[Item] = []
    for entry in entries:
        children: list[Block] = [Paragraph([Text(entry.text)])]
        if entry.children:
            children.append(_list(entry.children))
        items.append(Item(children))
    return ListBlock(items)
