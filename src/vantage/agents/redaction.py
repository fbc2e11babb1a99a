"""Secrets stay out of what is shown and logged: an agent's stream repeats the calls it made, passwords included.

A call of our tool `pty_send`, under any prefix and in any spelling, with `secret` set has its data replaced, wherever
in an event it stands, and so has what was typed in the answer to that call. An answer whose call is unknown is searched
for everything that was typed in secret. Every way into a log and onto a display uses this one `Redaction`.
"""

import base64
import re
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
from msgspec.structs import replace

from vantage import events as ev
from vantage.agents.values import text
from vantage.events import Event, Json, compact_json
from vantage.timeline.calls import parse_json

REDACTED = "[redacted]"
_TOOL = re.compile(r"pty[^a-z0-9]{0,3}send", re.IGNORECASE)
_TOOL_IN_LINE = re.compile(_TOOL.pattern.encode(), re.IGNORECASE)
_DATA = frozenset({"data", "datab64"})
"""Where `pty_send` takes what it types, without underscores and case."""
_DATA_KEY = re.compile(r"data(?:_?b64)?\\*[\"']", re.IGNORECASE)
_DATA_GIVEN = re.compile(r"data(?:_?b64)?\\*[\"']?\s*[:=]", re.IGNORECASE)
"""In a program that calls the tool: `pty_send(data="…", secret=True)`."""
_SECRET_SET = re.compile(r"secret\\*[\"']?\s*[:=]\s*(?:true|1\b)", re.IGNORECASE)
_NAMES = ("name", "tool", "toolName", "tool_name", "toolCallName", "title", "function", "recipient_name", "method")
_NOT_TYPED = frozenset({"type", "id", "callid", "toolcallid", "sessionid", "conversationid", "conversation", "status"})
"""What a secret call keeps besides its names, without underscores and case. A model may give the secret under any other
name, and the tool refuses that only after the call was logged."""
_PIECES = frozenset({"delta", "partial_json", "partialJson", "arguments", "args", "argsTextDelta", "inputTextDelta"})
"""Where a stream has arguments piece by piece."""
_TELLING = 4
"""Characters below which a gap in a sentence would say what stood in it: then none of the sentence is kept."""
_SHOWN_OF_REQUESTS = ("title", "text", "details", "options", "schema")
_NO = (None, False, 0, "", "0", "false", "False", "no")
_SURELY = (True, "true", "True")
"""What makes a call of any tool secret: a client may give ours another name."""
MAX_CALLS = 1000
MAX_TYPED = 100
"""Open calls, and secrets, that are remembered."""


def names_our_tool(line: bytes) -> bool:
    """Whether a line speaks of the tool that may be given secrets, or of a secret."""
    return b"secret" in line or _TOOL_IN_LINE.search(line) is not None


def may_be_secret(line: bytes, *, is_likely: bool) -> bool:
    """Whether a line that could not be read may hold what was typed in secret.

    It is likely once our tool was named: then any half of a message may be a piece of its arguments.
    """
    return (is_likely and line.lstrip().startswith(b"{")) or (b"data" in line and b"secret" in line)


class Redaction:
    """Takes events in their order, gives them without secrets."""

    def __init__(self) -> None:
        self._typed: dict[str, list[str]] = {}
        """Open call of ours → what was typed in it that is secret."""
        self._others: dict[str, None] = {}
        """Open calls of other tools."""
        self._recent: deque[str] = deque(maxlen=MAX_TYPED)
        """What was typed in secret in any call."""
        self._table: dict[type[Event], Callable[[Any], Event]] = {
            ev.ToolStart: self._start,
            ev.ToolOutput: self._output,
            ev.ToolEnd: self._end,
            ev.Request: self._request,
            ev.UnknownEvent: self._unknown,
            ev.Error: self._message,
            ev.Warning: self._message,
            ev.Canceled: self._message,
        }

    def clean(self, event: Event) -> Event:
        try:
            extra = self._searched(event.extra, ours=False) if event.extra else {}
            clean = self._table.get(type(event))
            event = event if clean is None else clean(event)
            # searched again: it may repeat what the event itself types
            return replace(event, extra=self._searched(extra, ours=False)) if extra else event
        except RecursionError:  # nested too deeply to be looked through, here and by every reader
            return ev.UnknownEvent(name=event.type, data={"type": event.type, "text": REDACTED})

    def _start(self, event: ev.ToolStart) -> Event:
        typed: list[str] = []
        ours = _is_ours(event.tool)
        args = _scrub(event.args, ours, typed)
        call = event.tool_call_id or ""
        if ours or typed:
            self._typed[call] = typed
            self._recent.extend(typed)
            _bound(self._typed)
        else:
            self._others[call] = None
            _bound(self._others)
        return replace(event, args=args, render_call=None) if typed else event

    def _output(self, event: ev.ToolOutput) -> Event:
        known, typed = self._typed_in(event.tool_call_id)
        return replace(event, output=_without(_scrub(event.output, known, typed), typed))

    def _end(self, event: ev.ToolEnd) -> Event:
        known, typed = self._typed_in(event.tool_call_id)
        self._typed.pop(event.tool_call_id or "", None)
        self._others.pop(event.tool_call_id or "", None)
        ours, before = known or _is_ours(event.tool or ""), len(typed)
        args, output = _scrub(event.args, ours, typed), _scrub(event.output, ours, typed)
        error, details = _scrub(event.error, ours, typed), _scrub(event.details, ours, typed)
        self._recent.extend(typed[before:])
        if not typed:
            return event
        cleaned = replace(
            event,
            args=args,
            output=_without(output, typed),
            error=_without(error, typed),
            details=_without(details, typed),
        )
        return cleaned if cleaned == event else replace(cleaned, render_result=None)

    def _typed_in(self, call: str | None) -> tuple[bool, list[str]]:
        """Whether a call is ours, and what was typed in it; of a call without a beginning, all that was typed."""
        if (typed := self._typed.get(call or "")) is not None:
            return True, typed
        return False, [] if (call or "") in self._others else list(self._recent)

    def _unknown(self, event: ev.UnknownEvent) -> Event:
        data = self._searched(event.data, ours=False)
        return replace(event, data=_without_pieces(data) if self._typed else data)

    def _request(self, event: ev.Request) -> Event:
        """A request to make a call repeats its arguments."""
        typed: list[str] = []
        args = _scrub(event.args, _is_ours(event.tool or ""), typed)
        self._recent.extend(typed)
        shown = {key: getattr(event, key) for key in _SHOWN_OF_REQUESTS}
        return replace(
            event, args=args, **{key: self._searched(value, ours=False) for key, value in shown.items() if value}
        )

    def _message(self, event: ev.Error | ev.Warning | ev.Canceled) -> Event:
        return replace(event, message=self._searched(event.message, ours=False))

    def _searched(self, value: Json, *, ours: bool) -> Json:
        """The value without its own secrets and without secrets that were typed before."""
        typed = [one for one in self._recent if len(one.strip()) >= _TELLING]
        before = len(typed)
        cleaned = _scrub(value, ours, typed)
        self._recent.extend(typed[before:])
        return _without(cleaned, typed) if typed else value


def _without_pieces(value: Json) -> Json:
    """A message while a call of ours is open, without pieces of arguments: a piece may lack the word that makes it
    secret.
    """
    if isinstance(value, list):
        return [_without_pieces(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: REDACTED if key in _PIECES and isinstance(one, str) and parse_json(one) is None else _without_pieces(one)
        for key, one in value.items()
    }


def _bound(calls: dict[str, Any]) -> None:
    """Limits what is remembered of calls that never end."""
    while len(calls) > MAX_CALLS:
        del calls[next(iter(calls))]


def _is_ours(name: str) -> bool:
    return _TOOL.search(name) is not None


def _plain(key: str) -> str:
    return key.replace("_", "").lower()


def _scrub(value: Json, ours: bool, typed: list[str], *, secret: bool = False) -> Json:
    """The value with the data of secret calls replaced; what was replaced is added to `typed`.

    `secret`: an object around it says that the call is secret.
    """
    if isinstance(value, list):
        return [_scrub(one, ours, typed, secret=secret) for one in value]
    if isinstance(value, str):
        return _scrub_text(value, ours, typed, secret=secret)
    if not isinstance(value, dict):
        return value
    ours = ours or any(_is_ours(text(value, key)) for key in _NAMES)
    said = next((one for key, one in value.items() if _plain(key) == "secret"), None)
    secret = secret or (ours and said not in _NO)
    cleaned: dict[str, Json] = {}
    for key, one in value.items():
        if _plain(key) in _DATA and (secret or said in _SURELY):
            typed += _typed_as(one, encoded=_plain(key) == "datab64") or [REDACTED]
            cleaned[key] = REDACTED
        elif secret and isinstance(one, str) and key not in _NAMES and _plain(key) not in _NOT_TYPED | {"secret"}:
            inner = _scrub_text(one, ours, typed, secret=True)
            typed += _typed_as(one) if inner == one else []
            cleaned[key] = REDACTED if inner == one else inner
        else:
            cleaned[key] = _scrub(one, ours, typed, secret=secret)
    return cleaned


def _typed_as(value: Json, *, encoded: bool = False) -> list[str]:
    """The texts that a value types; of base64 (`encoded`) also what it stands for."""
    if isinstance(value, (list, dict)):
        parts = value.values() if isinstance(value, dict) else value
        return [text for one in parts for text in _typed_as(one, encoded=encoded)]
    if not isinstance(value, str) or not value.strip() or value == REDACTED:
        return []
    if encoded:
        with suppress(ValueError):
            return [value, *_typed_as(base64.b64decode(value).decode())]
    return [value]


def _scrub_text(value: str, ours: bool, typed: list[str], *, secret: bool = False) -> str:
    """Arguments may come as the text of an object. One that is cut off may lack the word that makes it secret."""
    if _TOOL.search(value) and _SECRET_SET.search(value) and _DATA_GIVEN.search(value) and parse_json(value) is None:
        typed.append(REDACTED)
        return REDACTED
    if "{" not in value or not (ours or _TOOL.search(value) or _SECRET_SET.search(value)):
        return value
    inner = parse_json(value)
    if inner is None:
        if not _DATA_KEY.search(value):
            return value
        typed.append(REDACTED)
        return REDACTED
    before = len(typed)
    cleaned = _scrub(inner, ours, typed, secret=secret)
    return compact_json(cleaned) if len(typed) > before else value


def _without(value: Json, typed: list[str]) -> Json:
    """The value, with nothing in it of what was typed."""
    return _replaced(value, _forms(typed)) if typed else value


def _forms(typed: list[str]) -> list[str]:
    """How what was typed may stand in a text, the longest first: whole, line by line, and inside JSON."""
    lines = {line.strip() for one in typed for line in one.splitlines() if len(line.strip()) >= _TELLING}
    whole = {form for one in typed for form in (one, one.strip())} | lines
    return sorted(filter(None, {form for one in whole for form in (one, _escaped(one))}), key=len, reverse=True)


def _replaced(value: Json, forms: list[str]) -> Json:
    if isinstance(value, str):
        for form in forms:
            if form in value and len(form) < _TELLING:
                return REDACTED
            value = value.replace(form, REDACTED)
        return value
    if isinstance(value, list):
        return [_replaced(one, forms) for one in value]
    if isinstance(value, dict):
        return {str(_replaced(key, forms)): _replaced(one, forms) for key, one in value.items()}
    return value


def _escaped(secret: str) -> str:
    """As it stands inside a JSON text."""
    return msgspec.json.encode(secret).decode()[1:-1]
