"""Secrets stay out of what is shown and logged: an agent's stream repeats the calls it made, passwords included.

A call of our tool `pty_send`, under any prefix, with `secret` set has its data replaced, wherever in an event it
stands, and so has what was typed in the answer to that call.
"""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from vantage import events as ev
from vantage.agents.values import text
from vantage.events import Event, Json, compact_json
from vantage.timeline.calls import parse_json

REDACTED = "[redacted]"
_TOOL = "pty_send"
_DATA = ("data", "data_b64")
_NAMES = ("name", "tool", "toolName", "tool_name", "toolCallName", "title")
_TELLING = 4
"""Characters below which a gap in a sentence would say what stood in it: then none of the sentence is kept."""
_NO = (None, False, 0, "", "0", "false", "False", "no")


def names_our_tool(line: bytes) -> bool:
    """Whether a line speaks of the tool that may be given secrets."""
    return _TOOL.encode() in line


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
        self._table: dict[type[Event], Callable[[Any], Event]] = {
            ev.ToolStart: self._start,
            ev.ToolOutput: self._output,
            ev.ToolEnd: self._end,
            ev.UnknownEvent: self._unknown,
        }

    def clean(self, event: Event) -> Event:
        clean = self._table.get(type(event))
        if clean is None:
            return event
        try:
            return clean(event)
        except RecursionError:  # nested too deeply to be looked through: then nobody else looks either
            return ev.UnknownEvent(name=event.type, data={"type": event.type, "text": REDACTED})

    def _start(self, event: ev.ToolStart) -> Event:
        typed: list[str] = []
        ours = _is_ours(event.tool)
        args = _scrub(event.args, ours, typed)
        if ours or typed:
            self._typed[event.tool_call_id or ""] = typed
        return replace(event, args=args, render_call=None) if typed else event

    def _output(self, event: ev.ToolOutput) -> Event:
        typed = self._typed.get(event.tool_call_id or "")
        if typed is None:
            return event
        return replace(event, output=_without(_scrub(event.output, True, typed), typed))

    def _end(self, event: ev.ToolEnd) -> Event:
        known = self._typed.pop(event.tool_call_id or "", None)
        ours, typed = known is not None or _is_ours(event.tool or ""), known or []
        args, output = _scrub(event.args, ours, typed), _scrub(event.output, ours, typed)
        if not typed:
            return event
        return replace(
            event,
            args=args,
            output=_without(output, typed),
            error=_without(event.error, typed),
            details=_without(event.details, typed),
            render_result=None,
        )

    def _unknown(self, event: ev.UnknownEvent) -> Event:
        typed: list[str] = []
        data = _scrub(event.data, False, typed)
        return replace(event, data=data) if typed else event


def _is_ours(name: str) -> bool:
    return _TOOL in name


def _scrub(value: Json, ours: bool, typed: list[str]) -> Json:
    """The value with the data of secret calls replaced; what was replaced is added to `typed`."""
    if isinstance(value, list):
        return [_scrub(one, ours, typed) for one in value]
    if isinstance(value, str):
        return _scrub_text(value, ours, typed)
    if not isinstance(value, dict):
        return value
    ours = ours or any(_is_ours(text(value, key)) for key in _NAMES)
    if ours and value.get("secret") not in _NO and any(key in value for key in _DATA):
        typed += [value[key] for key in _DATA if isinstance(value.get(key), str) and value[key].strip()]
        typed += [] if any(isinstance(value.get(key), str) for key in _DATA) else [REDACTED]
        return {key: REDACTED if key in _DATA else one for key, one in value.items()}
    return {key: _scrub(one, ours, typed) for key, one in value.items()}


def _scrub_text(value: str, ours: bool, typed: list[str]) -> str:
    """Arguments may come as the text of an object. One that is cut off may lack the word that makes it secret."""
    if not (ours or _TOOL in value) or "{" not in value:
        return value
    inner = parse_json(value)
    if inner is None:
        if not any(f'"{key}"' in value for key in _DATA):
            return value
        typed.append(REDACTED)
        return REDACTED
    before = len(typed)
    cleaned = _scrub(inner, ours, typed)
    return compact_json(cleaned) if len(typed) > before else value


def _without(value: Json, typed: list[str]) -> Json:
    """The value, with nothing in it of what was typed."""
    if isinstance(value, str):
        for secret in sorted(typed, key=len, reverse=True):
            for form in filter(None, {secret, secret.strip(), _escaped(secret)}):
                if form in value and len(form) < _TELLING:
                    return REDACTED
                value = value.replace(form, REDACTED)
        return value
    if isinstance(value, list):
        return [_without(one, typed) for one in value]
    if isinstance(value, dict):
        return {key: _without(one, typed) for key, one in value.items()}
    return value


def _escaped(secret: str) -> str:
    """As it stands inside a JSON text."""
    return msgspec.json.encode(secret).decode()[1:-1]
