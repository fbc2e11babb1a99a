"""What of a conversation can be searched: its rows, each in pieces of text.

The events are grouped into rows as a timeline groups them, so a hit names the event that its row begins with. An entry
is written again when it changes (a message that streams, a call that ends), so the index depends on the log, not on
when the log was read. It depends on no presenter either, because the text is taken from the events.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from vantage import events as ev
from vantage.events import Agent, Event, Json, compact_json, text_of_value
from vantage.terminal.output.blocks import ByteRange
from vantage.terminal.output.reading import Source, fold
from vantage.terminal.output.spool import Spool
from vantage.text.sanitize import TAB_WIDTH, sanitize
from vantage.timeline.calls import answer, arguments
from vantage.timeline.grouping import EntryKind, Grouping, Open
from vantage.timeline.request_card import options_of

MAX_TEXT = 1 << 20
"""How much of one entry is indexed, in characters (bytes, for a command's output): its first half and its last."""
OUTPUT_PIECE = 8 << 10
MESSAGE_PIECE = 64 << 10
"""Words of a query must be in the same piece, or in it and the entry's head."""
MAX_HEAD = 1000
"""Characters of a command or call whose words also count as words of its output."""
_MAX_OPEN = 1000
_LONGEST_LINE = 64 << 10
_FAR = 1 << 62


class Entry(msgspec.Struct):
    """A row as the index knows it: the text that can be found, and where the row begins."""

    begin: int
    """The number of its first event."""
    ts: int
    kind: EntryKind
    """The bodies of `tool` and `command` are indexed as `output`."""
    head: str = ""
    body: str = ""
    block: str = ""
    span: list[int] | None = None
    """Where its output is in the spool, once it has ended."""
    agent: Agent | None = None
    open: bool = False
    cut: bool = False
    """The row has more text than is indexed."""

    @classmethod
    def of(cls, event: Event, kind: EntryKind) -> "Entry":
        ts = min(max(event.ts or 0, -_FAR), _FAR)
        return cls(begin=event.seq or 0, ts=ts, kind=kind, agent=event.agent)

    def take(self, event: Event) -> None:
        self.agent = event.agent or self.agent
        match event:
            case ev.UserMessage() | ev.AssistantText() | ev.AssistantReasoning():
                self._set(event.text)
                self.open = False
            case ev.AssistantDelta() | ev.ReasoningDelta():
                self._add(event.text)
            case ev.ToolStart():
                self.head = _call(event.tool, event.args)
            case ev.ToolOutput():
                (self._set if event.mode == "replace" else self._add)(answer(event.output)[0])
            case ev.ToolEnd():
                self._take_end(event)
            case ev.AgentBlockBegin():
                self.head, self.block = _short(event.cmd), sanitize(event.block_id)
            case ev.AgentBlockDelta() | ev.AgentBlockEnd():
                self.block = sanitize(event.block_id)
            case ev.Error() | ev.Warning() | ev.Canceled():
                self._add(f"{event.type.title()}: {event.message}")
            case ev.PtyGap():
                self._add(f"Gap: {event.why}")
            case ev.Request():
                self._set(_asked(event))
                self.open = True
            case ev.Answer():
                self._add("\n" + " ".join(filter(None, [event.option, event.text, event.by])))
                self.open = False
            case ev.RequestClosed():
                self._add(f"\n{event.why}")
                self.open = False
            case ev.AgentState():
                self._add(f"Agent exited: {event.error}")
            case ev.UnknownEvent():
                self._add(f"{event.name} {compact_json(event.said)}")

    def close(self, _: Event | None) -> None:
        self.open = False

    def _take_end(self, event: ev.ToolEnd) -> None:
        if not self.head:
            self.head = _call(event.tool or "", event.args)
        if event.output is not None:
            self._set(answer(event.output)[0])
        error = text_of_value(event.error)
        if error and error not in self.body:
            self._add("\n" + error)

    def _add(self, text: str) -> None:
        self.body += clean(text)
        if len(self.body) > MAX_TEXT:
            self.body = self.body[: MAX_TEXT // 2] + "\n" + self.body[-MAX_TEXT // 2 + 1 :]
            self.cut = True

    def _set(self, text: str) -> None:
        self.body, self.cut = "", False
        self._add(text)


State = Open[Entry]
"""The entries that a conversation's log has opened and not closed."""


class Document(NamedTuple):
    """A piece of an entry. The index knows it by a number."""

    part: int
    kind: str
    cursor: int | None
    """Where an output's piece begins in the spool."""
    text: str


class Collector:
    """Takes events one by one; `changed` has the entries that must be written."""

    def __init__(self, state: State, printed: Callable[[str], ByteRange | None]) -> None:
        self._grouping = Grouping(Entry.of, state, _MAX_OPEN)
        self._printed = printed
        """Where the output of a block that has ended is."""
        self.changed: dict[int, Entry] = {}
        self.size = 0
        """Bytes of output that are to be read and written."""

    def take(self, event: Event) -> None:
        entry = self._grouping.add(event)
        if entry is None:
            return
        self.changed[entry.begin] = entry
        if isinstance(event, ev.AgentBlockEnd) and (span := self._printed(entry.block)) is not None:
            entry.span = [span.start, span.end]
            entry.cut = span.size > MAX_TEXT
            self.size += min(span.size, MAX_TEXT)


def _call(tool: str, args: Json) -> str:
    """A call in words: the tool and its arguments."""
    named, raw = arguments(args)
    return _short(f"{tool} {_said(named or raw)}".strip())


def _asked(event: ev.Request) -> str:
    """A request in words: what was asked, about which call, with which options."""
    labels = [option.label for option in options_of(event)]
    call = _call(event.tool, event.args) if event.tool else ""
    return "\n".join(filter(None, [event.title, event.text, call, _said(event.details), *labels]))


def _said(value: Json) -> str:
    """A value with its texts unquoted, unlike JSON."""
    if isinstance(value, dict):
        return "\n".join(f"{key}: {_said(each)}" for key, each in value.items())
    if isinstance(value, list):
        return (" " if all(isinstance(each, str) for each in value) else "\n").join(map(_said, value))
    return text_of_value(value)


def _short(text: str) -> str:
    return clean(text[:MAX_TEXT])


def clean(text: str) -> str:
    """Text as it reads on a screen: colours removed, cursor moves carried out, sanitised."""
    if "\x1b" in text:
        text = Spool().add(text.encode("utf-8", "replace")).decode()
    return sanitize(fold(text))


# entries in pieces


def documents(entry: Entry, spool: Source) -> Iterator[Document]:
    """The pieces of an entry, numbered from 0; that with the number 0 is its head, where it has one."""
    if entry.kind not in ("tool", "command"):
        for part, text in enumerate(_pieces(entry.body, MESSAGE_PIECE)):
            yield Document(part, entry.kind, None, text)
        return
    yield Document(0, entry.kind, None, entry.head)
    part = 0
    for text in _pieces(entry.body, OUTPUT_PIECE):
        part += 1
        yield Document(part, "output", None, text)
    for cursor, text in _printed(entry.span, spool) if entry.span else ():
        part += 1
        yield Document(part, "output", cursor, text)


def _pieces(text: str, size: int) -> Iterator[str]:
    """Text in pieces of whole lines, except for lines that are longer than a piece."""
    at = 0
    while at < len(text):
        end = at + size
        if end < len(text):
            end = text.rfind("\n", at, end) + 1 or end
        if text[at:end].strip():
            yield text[at:end]
        at = end


def _printed(span: list[int], spool: Source) -> Iterator[tuple[int, str]]:
    """A command's output in pieces, each with where it begins."""
    start, end = span
    half = MAX_TEXT // 2
    parts = [(start, end)] if end - start <= MAX_TEXT else [(start, start + half), (end - half, end)]
    for first, last in parts:
        data = spool(first, last)
        at = 0
        while at < len(data):
            to = data.find(b"\n", at + OUTPUT_PIECE) + 1 or len(data)
            to = min(to, at + _LONGEST_LINE)
            text = _read(data[at:to])
            if text.strip():
                yield first + at, text
            at = to


_PLAIN = bytes(range(0x20, 0x7F)) + b"\n\t"


def _read(data: bytes) -> str:
    """Spool text as it reads on a screen. Plain ASCII, which most of it is, takes a short way."""
    if not data.translate(None, _PLAIN):
        return data.decode("ascii").replace("\t", " " * TAB_WIDTH)
    return sanitize(fold(data.replace(b"\0", b"").decode("utf-8", "replace")))
