"""Markdown that arrives in pieces: blocks that no longer change, and a live tail.

At any time `committed` and `tail(final=True)` together are what `parse` returns for the text so far. A block is
committed once a blank line and a further block have followed it: from then on only a late definition of a link or
footnote can change it, and `revision` counts those changes. The cost of `feed` is linear in the text, however it is
cut: uncommitted text is parsed again only after it has grown by half.
"""

import re

import msgspec
from msgspec.structs import replace

from vantage.document.definitions import Definition, definitions, labels, preamble
from vantage.document.markdown import PARSER, normal, parse_normal
from vantage.document.nodes import Block, FootnoteDef, ListBlock, Paragraph, Quote, Table

COMMIT_SIZE = 2048
"""Characters. A shorter text is not divided."""

_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_BLANK_END = re.compile(r"\n[ \t>]*\n[ \t>]*\Z")


def parse_growing(text: str) -> list[Block]:
    """The blocks of a text that has not ended: a table at its end, which may still get rows, is held back."""
    stream = MarkdownStream(commit_size=len(text) + 1)
    stream.feed(text)
    return stream.tail()


class _Segment(msgspec.Struct):
    """A part of the document whose blocks are committed."""

    source: str
    labels: set[str]
    """The bracketed texts in it; a definition of none of these changes nothing."""
    blocks: list[Block]


class MarkdownStream:
    def __init__(self, *, commit_size: int = COMMIT_SIZE) -> None:
        self.revision = 0
        """How often committed blocks were changed by a definition that came after them."""
        self._commit_size = commit_size
        self._committed: list[Block] = []
        self._segments: list[_Segment] = []
        self._uses: dict[str, list[int]] = {}
        """label → the segments that it stands in."""
        self._defined: dict[str, Definition] = {}
        """The definitions in committed source."""
        self._assumed: dict[str, Definition] = {}
        """The definitions that the tail adds, if the text ends here."""
        self._chunks: list[str] = []
        self._size = 0
        self._next_look = commit_size
        self._held = ""
        """The last character, when the next one decides what it means."""
        self._tails: dict[bool, list[Block]] = {}

    def feed(self, delta: str) -> None:
        if not delta:
            return
        self._tails.clear()
        if self._assumed:
            self._assume({})
        delta = self._held + delta
        self._held = delta[-1] if delta[-1] == "\r" or "\ud800" <= delta[-1] <= "\udbff" else ""
        delta = normal(delta[:-1] if self._held else delta)
        self._chunks.append(delta)
        self._size += len(delta)
        if self._size >= self._next_look:
            self._commit()

    @property
    def committed(self) -> list[Block]:
        """The blocks that no longer change: one list, which only grows until `revision` changes."""
        return self._committed

    def tail(self, *, final: bool = False) -> list[Block]:
        """The blocks after the committed ones, parsed when asked for.

        Without `final`, a table that has not ended yet is held back. With it, the text ends here: definitions in the
        tail reach the committed blocks too (and are taken back if more text comes).
        """
        blocks = self._tails.get(final)
        if blocks is None:
            blocks = self._tails[final] = self._final_tail() if final else self._live_tail()
        return blocks

    def finish(self) -> list[Block]:
        """All blocks, at the end of the text: what `parse` returns for the whole."""
        tail = self.tail(final=True)
        return self._committed + tail

    def _text(self) -> str:
        if len(self._chunks) > 1:
            self._chunks = ["".join(self._chunks)]
        return self._chunks[0] if self._chunks else ""

    def _final_tail(self) -> list[Block]:
        text = self._text() + normal(self._held)
        if self._segments:
            found = definitions(text, PARSER)
            self._assume({label: found[label] for label in found.keys() - self._defined.keys()})
        return self._parse(text)

    def _live_tail(self) -> list[Block]:
        text = self._text()
        line = text.rfind("\n") + 1
        if text[line:].strip(" \t>") == "|":
            # the first character of a row, which is no row yet: it would end the table
            text = text[:line]
        blocks = self._parse(text)
        if not blocks or _BLANK_END.search(text):
            return blocks
        start = _table_start(text)
        if start < len(text) and isinstance(_last_leaf(blocks), Paragraph):
            return self._parse(text[:start])
        return _without_last_table(blocks)

    def _parse(self, source: str, names: set[str] | None = None) -> list[Block]:
        """The blocks of a part, with the definitions in the rest of the document."""
        if not self._defined and not self._assumed:
            return parse_normal(source)
        names = labels(source) if names is None else names
        known = self._assumed | self._defined if self._assumed else self._defined
        before, count = preamble([known[name] for name in names & known.keys()])
        return parse_normal(before + source)[count:]

    def _commit(self) -> None:
        text = self._text()
        cut = _last_boundary(text)
        if cut:
            source, rest = text[:cut], text[cut:]
            names = labels(source)
            found = definitions(source, PARSER)
            new = {label: found[label] for label in found.keys() - self._defined.keys()}
            self._defined |= new
            self._reparse(new)
            for name in names:
                self._uses.setdefault(name, []).append(len(self._segments))
            blocks = self._parse(source, names)
            self._segments.append(_Segment(source if names else "", names, blocks))
            self._committed += blocks
            self._chunks = [rest]
            self._size = len(rest)
        self._next_look = max(self._commit_size, self._size + self._size // 2)

    def _assume(self, assumed: dict[str, Definition]) -> None:
        changed = assumed.items() ^ self._assumed.items()
        self._assumed = assumed
        self._reparse(dict(changed))

    def _reparse(self, names: dict[str, Definition]) -> None:
        """Committed blocks again, where they use a name whose meaning changed."""
        changed = False
        for index in {index for name in names for index in self._uses.get(name, ())}:
            segment = self._segments[index]
            blocks = self._parse(segment.source, segment.labels)
            changed = changed or blocks != segment.blocks
            segment.blocks = blocks
        if changed:
            self._committed[:] = [block for segment in self._segments for block in segment.blocks]
            self.revision += 1


def _last_boundary(text: str) -> int:
    """Where the last block begins that has a blank line before it; 0 when the text before it can still change.

    Only whole lines count: `1` ends a list that `1. x` continues. A line that begins a block at the top level has
    closed every open block, and the blank line makes sure that a repaired table ends there as well. An indented line
    may begin a block only because of the lines above it.
    """
    complete = text[: text.rfind("\n") + 1]
    if not _BLANK_LINE.search(complete):
        return 0
    starts: list[int] = []
    depth = 0
    for event, span in PARSER.events_with_range(complete):
        if event == "Rule" or "Start" in event:
            if not depth:
                starts.append(span["start"])
            depth += event != "Rule"
        elif "End" in event:
            depth -= 1
    source = complete.encode()
    for start in reversed(starts):
        line = source.rfind(b"\n", 0, start) + 1
        previous = source.rfind(b"\n", 0, max(line - 1, 0)) + 1
        indented = b"\t" in source[line:start] or start - line > 3
        if line and not indented and not source[previous : line - 1].strip(b" \t"):
            return len(source[:line].decode())
    return 0


def _table_start(text: str) -> int:
    """Where the lines begin, at the end of a paragraph, that may turn out to be a table."""
    lines: list[str] = []
    start = position = len(text)
    while position:
        position = text.rfind("\n", 0, position - 1) + 1
        line = text[position:start].strip(" \t>\n")
        if not line.startswith(("|", "+-")) and line != "+":
            break
        lines.append(line)
        start = position
    match lines[::-1]:
        case [first, *_] if first.startswith("+"):
            return start
        case [_] | [_, ""]:
            return start
        case [_, delimiter] if not delimiter.strip("-|: \t"):
            return start
    return len(text)


def _last_leaf(blocks: list[Block]) -> Block | None:
    last: Block | None = None
    while blocks:
        last = blocks[-1]
        match last:
            case Quote(children=children) | FootnoteDef(children=children):
                blocks = children
            case ListBlock(items=[*_, item]):
                blocks = item.children
            case _:
                break
    return last


def _without_last_table(blocks: list[Block]) -> list[Block]:
    last = blocks[-1] if blocks else None
    match last:
        case Table():
            return blocks[:-1]
        case Quote(children=children) | FootnoteDef(children=children):
            return [*blocks[:-1], replace(last, children=_without_last_table(children))]
        case ListBlock(items=[*items, item]):
            shown = replace(item, children=_without_last_table(item.children))
            return [*blocks[:-1], replace(last, items=[*items, shown])]
    return blocks
