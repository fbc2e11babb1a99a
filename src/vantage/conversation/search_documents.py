"""What of a conversation can be searched: entries, as its rows are, each in pieces of text.

An entry begins with the event that its row begins with, and has that event's number. It is made again when more comes
to it (a message that streams, a call that ends), so what is in the index depends on the log, not on when it was read.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from vantage import events as ev
from vantage.events import Agent, Event, Json, compact_json, text_of_value
from vantage.terminal.blocks import Span
from vantage.terminal.reading import Source, fold
from vantage.terminal.spool import Spool
from vantage.text.sanitize import TAB_WIDTH, sanitize
from vantage.timeline.calls import answer, arguments

MOST_TEXT = 1 << 20
"""Of one entry that is indexed, in characters (bytes, of a command's output): its first half and its last."""
OUTPUT_PIECE = 8 << 10
MESSAGE_PIECE = 64 << 10
"""Words of a query must be in the same piece, or in it and the entry's head."""
MOST_HEAD = 1000
"""Characters of a command or call that count as said over its output too."""
_MOST_OPEN = 1000
_LONGEST_LINE = 64 << 10
_FAR = 1 << 62


class Entry(msgspec.Struct):
    """Something that happened, and what can be found of it."""

    begin: int
    """Its first event."""
    ts: int
    kind: str
    """`user`, `message`, `reasoning`, `notice`, `event`; `tool` and `command`, whose bodies are `output`."""
    head: str = ""
    body: str = ""
    block: str = ""
    span: list[int] | None = None
    """Where its output is in the spool, once it has ended."""
    agent: Agent | None = None
    open: bool = True
    cut: bool = False
    """Some of it is too much for the index."""

    def add(self, text: str) -> None:
        self.body += clean(text)
        if len(self.body) > MOST_TEXT:
            self.body = self.body[: MOST_TEXT // 2] + "\n" + self.body[-MOST_TEXT // 2 + 1 :]
            self.cut = True

    def set(self, text: str) -> None:
        self.body, self.cut = "", False
        self.add(text)


class Document(NamedTuple):
    """A piece of an entry: what the index knows by a number."""

    part: int
    kind: str
    cursor: int | None
    """Where an output's piece begins in the spool."""
    text: str


class State(msgspec.Struct):
    """What a conversation's log has opened and not closed."""

    calls: dict[str, Entry] = {}
    messages: dict[str, Entry] = {}
    commands: dict[str, Entry] = {}


class Collector:
    """Takes in events one by one; `changed` has the entries that must be written."""

    def __init__(self, state: State, printed: Callable[[str], Span | None]) -> None:
        self.state = state
        self._printed = printed
        """Says of a block that has ended where its output is."""
        self.changed: dict[int, Entry] = {}
        self.size = 0
        """Bytes of output that are to be read and written."""

    def take(self, event: Event) -> None:
        handler = _HANDLERS.get(type(event))
        entry = handler(self, event) if handler is not None else None
        if entry is not None:
            self.changed[entry.begin] = entry
            entry.agent = event.agent or entry.agent
            for message in self.state.messages.values():
                if message is not entry and message.agent == entry.agent:
                    message.open = False

    def _fixed(self, event: Event, kind: str, text: str) -> Entry:
        entry = _entry(event, kind)
        entry.add(text)
        return entry

    def _whole(self, event: ev.UserMessage | ev.AssistantText | ev.AssistantReasoning) -> Entry | None:
        kind = _MESSAGES[type(event)]
        name = None if isinstance(event, ev.UserMessage) else event.message_id
        entry = self.state.messages.pop(_key(kind, name), None) if name else None
        if entry is None:
            if not event.text.strip():
                return None
            entry = _entry(event, kind)
        entry.set(event.text)
        return entry

    def _delta(self, event: ev.AssistantDelta | ev.ReasoningDelta) -> Entry:
        kind = _MESSAGES[type(event)]
        key = _key(kind, event.message_id)
        entry = self.state.messages.get(key)
        if entry is None or (not event.message_id and not entry.open):
            entry = self.state.messages[key] = _entry(event, kind)
            _keep_last(self.state.messages)
        entry.open = True
        entry.add(event.text)
        return entry

    def _turn_complete(self, _: ev.TurnComplete) -> None:
        self.state.messages.clear()

    def _tool_start(self, event: ev.ToolStart) -> Entry:
        entry = self.state.calls[_key("call", event.tool_call_id)] = _entry(event, "tool")
        _keep_last(self.state.calls)
        entry.head = _call(event.tool, event.args)
        return entry

    def _tool_output(self, event: ev.ToolOutput) -> Entry:
        key = _key("call", event.tool_call_id)
        entry = self.state.calls.get(key)
        if entry is None:
            entry = self.state.calls[key] = _entry(event, "tool")
            _keep_last(self.state.calls)
        (entry.set if event.mode == "replace" else entry.add)(answer(event.output)[0])
        return entry

    def _tool_end(self, event: ev.ToolEnd) -> Entry:
        entry = self.state.calls.pop(_key("call", event.tool_call_id), None) or _entry(event, "tool")
        if not entry.head:
            entry.head = _call(event.tool or "", event.args)
        if event.output is not None:
            entry.set(answer(event.output)[0])
        error = text_of_value(event.error)
        if error and error not in entry.body:
            entry.add("\n" + error)
        return entry

    def _notice(self, event: ev.Error | ev.Warning | ev.Canceled) -> Entry:
        return self._fixed(event, "notice", f"{event.type.title()}: {event.message}")

    def _gap(self, event: ev.PtyGap) -> Entry:
        return self._fixed(event, "notice", f"Gap: {event.why}")

    def _unknown(self, event: ev.UnknownEvent) -> Entry:
        shown = {key: value for key, value in event.data.items() if key not in _NOT_SAID}
        return self._fixed(event, "event", f"{event.name} {compact_json(shown)}")

    def _command(self, event: ev.AgentBlockBegin) -> Entry:
        entry = self.state.commands[sanitize(event.block_id)] = _entry(event, "command")
        _keep_last(self.state.commands)
        entry.head, entry.block = _short(event.cmd), sanitize(event.block_id)
        return entry

    def _command_end(self, event: ev.AgentBlockEnd) -> Entry:
        block_id = sanitize(event.block_id)
        entry = self.state.commands.pop(block_id, None) or _entry(event, "command")
        entry.block = block_id
        span = self._printed(block_id)
        if span is not None:
            entry.span = [span.start, span.end]
            entry.cut = span.size > MOST_TEXT
            self.size += min(span.size, MOST_TEXT)
        return entry


_NOT_SAID = ("type", "seq", "ts", "conversation_id")
_MESSAGES: dict[type[Event], str] = {
    ev.UserMessage: "user",
    ev.AssistantText: "message",
    ev.AssistantDelta: "message",
    ev.AssistantReasoning: "reasoning",
    ev.ReasoningDelta: "reasoning",
}
_HANDLERS: dict[type[Event], Callable[[Collector, Any], Entry | None]] = {
    ev.UserMessage: Collector._whole,  # noqa: SLF001 -- the table is part of the class
    ev.AssistantText: Collector._whole,  # noqa: SLF001
    ev.AssistantReasoning: Collector._whole,  # noqa: SLF001
    ev.AssistantDelta: Collector._delta,  # noqa: SLF001
    ev.ReasoningDelta: Collector._delta,  # noqa: SLF001
    ev.ToolStart: Collector._tool_start,  # noqa: SLF001
    ev.ToolOutput: Collector._tool_output,  # noqa: SLF001
    ev.ToolEnd: Collector._tool_end,  # noqa: SLF001
    ev.Error: Collector._notice,  # noqa: SLF001
    ev.Warning: Collector._notice,  # noqa: SLF001
    ev.Canceled: Collector._notice,  # noqa: SLF001
    ev.TurnComplete: Collector._turn_complete,  # noqa: SLF001
    ev.AgentBlockBegin: Collector._command,  # noqa: SLF001
    ev.AgentBlockEnd: Collector._command_end,  # noqa: SLF001
    ev.PtyGap: Collector._gap,  # noqa: SLF001
    ev.UnknownEvent: Collector._unknown,  # noqa: SLF001
}


def _entry(event: Event, kind: str) -> Entry:
    ts = min(max(event.ts or 0, -_FAR), _FAR)
    return Entry(begin=event.seq or 0, ts=ts, kind=kind, agent=event.agent)


def _key(kind: str, name: str | None) -> str:
    return f"{kind} {sanitize(name or '')}"


def _keep_last(opened: dict[str, Any]) -> None:
    while len(opened) > _MOST_OPEN:
        del opened[next(iter(opened))]


def _call(tool: str, args: Json) -> str:
    """A call in words: the tool, and what it was given."""
    named, raw = arguments(args)
    return _short(f"{tool} {_said(named or raw)}".strip())


def _said(value: Json) -> str:
    """A value with its texts as they are, not as JSON would quote them."""
    if isinstance(value, dict):
        return "\n".join(f"{key}: {_said(each)}" for key, each in value.items())
    if isinstance(value, list):
        return (" " if all(isinstance(each, str) for each in value) else "\n").join(map(_said, value))
    return text_of_value(value)


def _short(text: str) -> str:
    return clean(text[:MOST_TEXT])


def clean(text: str) -> str:
    """Text as somebody reads it: without colours, moves carried out, harmless."""
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
    """Text in pieces of whole lines, as far as lines are no longer than a piece."""
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
    half = MOST_TEXT // 2
    parts = [(start, end)] if end - start <= MOST_TEXT else [(start, start + half), (end - half, end)]
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
    """Spool text as somebody reads it. Most is plain, and is not looked into."""
    if not data.translate(None, _PLAIN):
        return data.decode("ascii").replace("\t", " " * TAB_WIDTH)
    return sanitize(fold(data.replace(b"\0", b"").decode("utf-8", "replace")))
