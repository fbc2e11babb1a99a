"""Bytes → events: lines, the agent that they come from, and lines that are no messages.

Every way of cutting the bytes gives the same result. A message is read when its line is complete, so that a stream can
be watched while it is written; nothing is held back to recognise the agent. A stream that changes to another agent
(concatenated logs) is recognised again.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from vantage.agents.adapter import Adapter, unknown
from vantage.agents.redaction import REDACTED, Redaction, may_be_secret, names_our_tool
from vantage.agents.streams.own import Own
from vantage.agents.values import Object, json_object, text
from vantage.errors import EventError, InputError, TooDeep
from vantage.events import REQUEST_TYPES, Event, UnknownEvent, decode_event, event_to_dict
from vantage.text.chunks import Lines
from vantage.text.sanitize import decode


def _claude() -> Adapter:
    from vantage.agents.streams.claude import Claude  # noqa: PLC0415 -- an adapter is loaded when its stream may come

    return Claude()


def _codex() -> Adapter:
    from vantage.agents.streams.codex import Codex  # noqa: PLC0415

    return Codex()


def _gemini() -> Adapter:
    from vantage.agents.streams.gemini import Gemini  # noqa: PLC0415

    return Gemini()


def _acp() -> Adapter:
    from vantage.agents.streams.acp import Acp  # noqa: PLC0415

    return Acp()


def _ag_ui() -> Adapter:
    from vantage.agents.streams.ag_ui import AgUi  # noqa: PLC0415

    return AgUi()


def _pi() -> Adapter:
    from vantage.agents.streams.pi import Pi  # noqa: PLC0415

    return Pi()


def _opencode() -> Adapter:
    from vantage.agents.streams.opencode import OpenCode  # noqa: PLC0415

    return OpenCode()


_ADAPTERS: dict[str, Callable[[], Adapter]] = {
    "vantage": Own,
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "acp": _acp,
    "ag-ui": _ag_ui,
    "pi": _pi,
    "opencode": _opencode,
}
"""Source → what makes its adapter. Where the source is not given, they are asked in this order."""
SOURCES = ("auto", *_ADAPTERS)

_BEFORE = re.compile(
    rb"(?:\xef\xbb\xbf|[\x00-\x1a\x1c-\x20]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|(data:))+(?=\{)"
)
"""What may stand before a message: a window's title, colours, the field name of server-sent events."""
_FIELD = re.compile(rb"(?:event|id|retry)?:")


_FIRST_FIELD = re.compile(rb"(?:event: ?[\w./-]+|id: ?[\w./-]+|retry: ?\d+|:[^{]*)\r?")
"""How server-sent events may begin, before their first data."""


class StrayLine(NamedTuple):
    """A line that is no message: a warning of some program's, half a message, JSON that is no object."""

    number: int
    """Counted from one."""
    text: str
    """As it came, without its line end; not sanitised. Half a message that may hold a secret is not repeated."""
    why: str
    is_message: bool = False
    """It is a message, of a shape that cannot be taken."""


Item = Event | StrayLine


class StreamReader:
    """Takes an agent's output, gives events. Sub-agents are nested, calls paired, nothing is said twice."""

    def __init__(self, source: str = "auto") -> None:
        if source not in SOURCES:
            raise InputError(f"there is no stream '{source}'", hint=f"expected one of {', '.join(SOURCES)}")
        self.source: str | None = None if source == "auto" else source
        """Whose stream it is; `None` until that is known."""
        self.unknown = 0
        """How many messages were of an unknown type. They are among the events, as `UnknownEvent`s."""
        self.resembles: str | None = None
        """Whose stream it rather looks like, when one was named and its messages are another's."""
        self._fixed = self.source is not None
        self._began_as = self.source
        """Whose stream it was at first."""
        self._adapters: dict[str, Adapter] = {}
        self._redaction: Redaction | None = None
        """From the first line on in which our tool is named that may be given secrets."""
        self._lines = Lines()
        self._number = 0
        self._server_sent = False
        self._fields: list[StrayLine] = []
        """Lines that are fields of server-sent events if data follows, and strays if not."""

    @property
    def number(self) -> int:
        """How many lines are complete: of the events that came last, the line that brought them."""
        return self._number

    def feed(self, data: bytes) -> list[Item]:
        """Takes the next bytes, cut anywhere. Gives what the lines that are now complete say."""
        out: list[Item] = []
        for line in self._lines.feed(data):
            out += self._line(line)
        return out

    def finish(self) -> list[Item]:
        """The input has ended, perhaps within a line or a turn. What is open stays open."""
        last = self._lines.finish()
        out = [*(self._line(last) if last else []), *self._no_fields()]
        adapter = self._adapters.get(self.source or "")
        return [*out, *self._cleaned(adapter.finish() if adapter else [])]

    def _line(self, line: bytes) -> list[Item]:
        self._number += 1
        if not line.strip() or (self._server_sent and _FIELD.match(line) and not line.startswith(b"data:")):
            return []
        if not self._server_sent:
            if _FIRST_FIELD.fullmatch(line):
                self._fields.append(
                    StrayLine(self._number, decode(line.rstrip(b"\r")), "not JSON: a field without data")
                )
                return []
            if self._fields and line.startswith(b"data:"):
                self._fields, self._server_sent = [], True
            elif self._fields:
                return [*self._no_fields(), *self._whole_line(line)]
        return self._whole_line(line)

    def _no_fields(self) -> list[Item]:
        strays, self._fields = self._fields, []
        return list(strays)

    def _whole_line(self, line: bytes) -> list[Item]:
        if self._redaction is None and names_our_tool(line):
            self._redaction = Redaction()
        try:
            if self.source == "vantage" and line.startswith(b"{"):
                event = decode_event(line)
                if isinstance(event, UnknownEvent) and not self._fixed:
                    return self._cleaned(self._again([event], event.data))
                return self._cleaned([event])
            message = self._message(line)
        except EventError as error:
            hidden = may_be_secret(line, is_likely=self._redaction is not None)
            shown = REDACTED if hidden else decode(line.removesuffix(b"\r"))
            return [StrayLine(self._number, shown, str(error), isinstance(error, TooDeep))]
        return self._cleaned(self._understand(message))

    def _message(self, line: bytes) -> Object:
        if not line.startswith(b"{") and (before := _BEFORE.match(line)):
            line = line[before.end() :]
            self._server_sent = self._server_sent or before[1] is not None
        return json_object(line)

    def _understand(self, message: Object) -> list[Event]:
        if self.source is None:
            self.source = self._recognise(message)
        if self.source is None:
            return [decode_event(message)]
        events = self._feed(self.source, message)
        if len(events) == 1 and isinstance(events[0], UnknownEvent):
            if not self._fixed:
                return self._again(events, message)
            self.resembles = self.resembles or self._recognise(message)
        return events

    def _again(self, events: list[Event], message: Object) -> list[Event]:
        """A message that the stream's adapter does not know may be the first of another stream."""
        other = self._recognise(message)
        if other is None or other == self.source:
            return events
        held = self._adapter(self.source or other).finish()
        self.source = other
        return [*held, *self._feed(other, message)]

    def _recognise(self, message: Object) -> str | None:
        return next((name for name in _ADAPTERS if self._adapter(name).recognises(message)), None)

    def _feed(self, source: str, message: Object) -> list[Event]:
        try:
            return self._adapter(source).feed(message)
        except Exception:  # noqa: BLE001 -- one adapter's bug must not take the stream down: the message is shown as it is
            return [unknown(text(message, "type"), message)]

    def _adapter(self, name: str) -> Adapter:
        adapter = self._adapters.get(name)
        if adapter is None:
            adapter = self._adapters[name] = _ADAPTERS[name]()
        return adapter

    def _cleaned(self, events: list[Event]) -> list[Item]:
        if self._began_as is None:
            self._began_as = self.source
        if self._began_as != "vantage":
            events = [_without_requests(event) for event in events]
        for event in events:
            self.unknown += type(event) is UnknownEvent
        return list(map(self._redaction.clean, events) if self._redaction else events)


def _without_requests(event: Event) -> Event:
    """Only a log of Vantage has requests: in the stream of another agent, a message that looks like one is unknown."""
    return unknown(event.type, event_to_dict(event)) if event.type in REQUEST_TYPES else event
