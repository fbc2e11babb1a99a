"""The events of agents, terminals and people: one tagged union, and its JSON.

Decoding is forgiving, because a transcript must not lose a line: an unknown type becomes `UnknownEvent`, an unknown
field is kept in `extra`, and so is one of the wrong type, while its text is shown. So `encode_event(decode_event(x))`
has the content of `x`. Both spellings of a key (`toolCallId`, `tool_call_id`) are read.
"""

import json
import math
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, Union

import msgspec

from vantage.errors import EventError, TooDeep

Json = Any
"""A value that came from JSON."""


class Agent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The agent that an event is from: depth 0 is the root agent, greater depths are its sub-agents."""

    id: str = ""
    depth: int = 0
    name: str = ""


_COMMON = ("conversation_id", "raw_offset")


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)


def _camel_but_common(name: str) -> str:
    """Tool events are camelCase on the wire; the fields that all events share are not."""
    return name if name in _COMMON else _camel(name)


class _Event(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type"):
    conversation_id: str | None = None
    seq: int | None = None
    """Assigned by the conversation's log, without gaps."""
    ts: int | None = None
    """Milliseconds since the epoch."""
    agent: Agent | None = None
    raw_offset: int | None = None
    """For events derived from the terminal: where in its output they arose."""
    source: Json = None
    """For events from the stream of an agent that Vantage runs: `{run, offset, index}`, where in it they arose."""
    extra: dict[str, Json] = msgspec.field(default_factory=dict, name="\ue000extra")
    """Fields of the event that its type does not have, unchanged."""

    @property
    def type(self) -> str:
        return str(self.__struct_config__.tag)


class UserMessage(_Event, frozen=True, kw_only=True, tag="user_message"):
    text: str = ""
    by: str | None = None
    """The client that sent it: `client:<id>`, `bot:<name>:<person>` or `cli`."""
    attachments: Json = None
    """Ids of the conversation's assets that go with it."""


class AssistantText(_Event, frozen=True, kw_only=True, tag="assistant_text"):
    text: str = ""
    message_id: str | None = None


class AssistantDelta(_Event, frozen=True, kw_only=True, tag="assistant_delta"):
    """A piece of a message; a later `AssistantText` with the same id has the whole text and replaces it."""

    text: str = ""
    message_id: str | None = None


class AssistantReasoning(_Event, frozen=True, kw_only=True, tag="assistant_reasoning"):
    text: str = ""
    message_id: str | None = None


class ReasoningDelta(_Event, frozen=True, kw_only=True, tag="reasoning_delta"):
    text: str = ""
    message_id: str | None = None


class ToolStart(_Event, frozen=True, kw_only=True, rename=_camel_but_common, tag="tool_start"):
    tool: str = ""
    tool_call_id: str | None = None
    args: Json = None
    render_spec: Json = None
    spec_hash: str | None = None
    render_call: str | None = None
    """ANSI text that the tool's own renderer made of the call."""


class ToolOutput(_Event, frozen=True, kw_only=True, rename=_camel_but_common, tag="tool_output"):
    tool_call_id: str | None = None
    output: Json = None
    mode: Literal["append", "replace"] = "append"


class ToolEnd(_Event, frozen=True, kw_only=True, rename=_camel_but_common, tag="tool_end"):
    tool_call_id: str | None = None
    tool: str | None = None
    args: Json = None
    output: Json = None
    is_error: bool = False
    error: Json = None
    render_result: str | None = None
    details: Json = None
    duration_ms: float | None = None


class Error(_Event, frozen=True, kw_only=True, tag="error"):
    message: str = ""


class Warning(_Event, frozen=True, kw_only=True, tag="warning"):
    message: str = ""


class Canceled(_Event, frozen=True, kw_only=True, tag="canceled"):
    message: str = ""


class TurnComplete(_Event, frozen=True, kw_only=True, tag="turn_complete"):
    finish: Json = None
    usage: Json = None


class ClientConfig(_Event, frozen=True, kw_only=True, tag="client_config"):
    client_id: str = ""
    terminal_width: int | None = None
    presentation: dict[str, Json] | None = None


class AgentBlockBegin(_Event, frozen=True, kw_only=True, tag="agent_block_begin"):
    block_id: str = ""
    block_seq: int | None = None
    cmd: str = ""
    cwd: str | None = None
    session_id: str | None = None
    origin: str = "exec"
    """`exec`, `interactive` or `typed`."""


class AgentBlockDelta(_Event, frozen=True, kw_only=True, tag="agent_block_delta"):
    block_id: str = ""
    text: str = ""
    spool: Json = None


class AgentBlockEnd(_Event, frozen=True, kw_only=True, tag="agent_block_end"):
    block_id: str = ""
    exit_code: int | None = None
    done_because: str | None = None
    duration_ms: float | None = None
    bytes: int | None = None


class ScreenDelta(_Event, frozen=True, kw_only=True, tag="screen_delta"):
    rows: Json = None
    cursor: Json = None
    title: str | None = None
    alt_screen: bool = False
    cols: int | None = None
    rows_count: int | None = None
    block_id: str | None = None


class PtyState(_Event, frozen=True, kw_only=True, tag="pty_state"):
    mode: str = ""
    foreground: Json = None
    awaiting_secret: bool = False
    title: str | None = None
    keyboard: str | None = None


class PtyGap(_Event, frozen=True, kw_only=True, rename={"start": "from", "end": "to"}, tag="pty_gap"):
    """Bytes of the terminal's output that retention dropped."""

    start: int | None = None
    end: int | None = None
    why: str = ""


class Request(_Event, frozen=True, kw_only=True, rename={"tool_call_id": "toolCallId"}, tag="request"):
    """A question to a person. It has at most one answer, and no answer never means yes."""

    request_id: str = ""
    kind: str = "question"
    """`approval`, `question` or `secret`."""
    title: str = ""
    text: str | None = None
    """Markdown."""
    tool: str | None = None
    tool_call_id: str | None = None
    args: Json = None
    cwd: str | None = None
    details: Json = None
    """A diff, for example."""
    options: Json = None
    """`[{id, label, kind: allow|deny|choice, scope?, needs_text?}]`."""
    schema: Json = None
    """JSON Schema of a form."""
    expires: int | None = None
    """Milliseconds since the epoch."""
    hash: str = ""
    """Of what is shown; an answer carries the hash of what its client displayed."""
    screen_offset: int | None = None
    """The terminal's raw offset at that moment."""
    protocol_id: Json = None
    """The agent's own id of the request, valid in that run only."""


class Answer(_Event, frozen=True, kw_only=True, tag="answer"):
    request_id: str = ""
    option: str | None = None
    text: str | None = None
    values: Json = None
    by: str = ""
    """`client:<id>`, `bot:<name>:<person>` or `cli`; `agent` too, of a secret that was typed in the terminal."""


class RequestClosed(_Event, frozen=True, kw_only=True, tag="request_closed"):
    """A request that ended without an answer, or whose answer came too late."""

    request_id: str = ""
    why: str = ""
    """`expired`, `withdrawn`, `answered_elsewhere`, `too_late` or `lost`."""


class AgentState(_Event, frozen=True, kw_only=True, tag="agent_state"):
    """What the agent that Vantage runs or follows does; `agent` says which one it is."""

    state: str = ""
    """`starting`, `idle`, `working`, `waiting` or `exited`."""
    session: str | None = None
    """The agent's own id of its session, with which it can be resumed."""
    model: str | None = None
    error: str | None = None


class UnknownEvent(_Event, frozen=True, kw_only=True, tag="unknown"):
    """An event of none of the types above: kept whole."""

    name: str = ""
    data: dict[str, Json] = {}

    @property
    def said(self) -> dict[str, Json]:
        """The event's content, without the fields that all events share."""
        return {key: value for key, value in self.data.items() if key not in ("type", "seq", "ts", "conversation_id")}


Event = (
    UserMessage
    | AssistantText
    | AssistantDelta
    | AssistantReasoning
    | ReasoningDelta
    | ToolStart
    | ToolOutput
    | ToolEnd
    | Error
    | Warning
    | Canceled
    | TurnComplete
    | ClientConfig
    | AgentBlockBegin
    | AgentBlockDelta
    | AgentBlockEnd
    | ScreenDelta
    | PtyState
    | PtyGap
    | Request
    | Answer
    | RequestClosed
    | AgentState
    | UnknownEvent
)

EVENT_TYPES: dict[str, type[Event]] = {
    str(cls.__struct_config__.tag): cls for cls in Event.__args__ if cls is not UnknownEvent
}


_SEED_NAMES: dict[str, type[Event]] = {
    "ToolCall": ToolStart,
    "ToolComplete": ToolEnd,
    "AssistantTurnComplete": TurnComplete,
    "ClientConfigRequest": ClientConfig,
}
"""Names that agents written in other languages give to events, if they are not just another spelling of ours."""
_AFFIX = "EventType"
"""What these agents put before or after the name of a constant: `EventTypeToolCall`."""


def _type_named(name: str) -> type[Event] | None:
    """The type that is meant: `tool_start`, `ToolStart`, `ToolCall`, `EventTypeToolCall`, `ToolCallEventType`."""
    bare = name.removeprefix(_AFFIX).removesuffix(_AFFIX)
    return EVENT_TYPES.get(name) or _SEED_NAMES.get(bare) or EVENT_TYPES.get(_snake(bare))


LIVE_ONLY = frozenset({"agent_block_delta", "screen_delta"})
"""Events of a terminal for its live subscribers only: they are not logged."""
TERMINAL_ONLY = LIVE_ONLY | {"agent_block_begin", "agent_block_end", "pty_state", "pty_gap"}
"""What the server derives from its own terminals: it takes none of it from outside."""
REQUEST_TYPES = frozenset({"request", "answer", "request_closed"})
SERVER_ONLY = TERMINAL_ONLY | REQUEST_TYPES | {"agent_state"}
"""What only the server may log: requests come from drivers and authenticated calls, never from what an agent prints."""


def compact_json(value: Json) -> str:
    """A value as JSON on one line, `{"a": 1}`."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return repr(type(value))


def text_of_value(value: Json) -> str:
    """A value as text: strings unchanged, null as an empty text, anything else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else compact_json(value)


# What a field takes: a value that fits, or the text to show of one that does not.
_MISFIT = object()


def _take_text(value: Json) -> Any:
    return value if isinstance(value, str) else _MISFIT


def _take_int(value: Json) -> Any:
    if isinstance(value, bool):
        return _MISFIT
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else _MISFIT


def _take_number(value: Json) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else _MISFIT


def _take_bool(value: Json) -> Any:
    return value if isinstance(value, bool) else _MISFIT


def _take_object(value: Json) -> Any:
    return value if isinstance(value, dict) else _MISFIT


def _take_mode(value: Json) -> Any:
    return value if value in ("append", "replace") else _MISFIT


def _take_any(value: Json) -> Any:
    return value


def _take_agent(value: Json) -> Any:
    """An agent with known fields only; anything else is of the wrong type, and only its depth is used."""
    if not isinstance(value, dict) or not value.keys() <= {"id", "name", "depth"}:
        return _MISFIT
    try:
        return msgspec.convert(value, Agent)
    except (msgspec.ValidationError, UnicodeError):  # half a character, which cannot be quoted in the error
        return _MISFIT


def _salvage_agent(value: Json) -> Agent | None:
    if not isinstance(value, dict):
        return Agent(id=value) if isinstance(value, str) else None
    depth = str(value.get("depth", 0))
    return Agent(
        id=text_of_value(value.get("id")),
        name=text_of_value(value.get("name")),
        depth=int(depth) if depth.isascii() and depth.isdigit() and len(depth) < 7 else 0,
    )


_Taker = Callable[[Json], Any]
_TAKERS: dict[Any, _Taker] = {
    str: _take_text,
    str | None: _take_text,
    int | None: _take_int,
    float | None: _take_number,
    bool: _take_bool,
    dict[str, Json] | None: _take_object,
    Agent | None: _take_agent,
    Json: _take_any,
    Literal["append", "replace"]: _take_mode,
}


class _Field(msgspec.Struct, frozen=True):
    name: str
    wire: str
    take: _Taker
    textual: bool


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


_fields: dict[type[_Event], dict[str, _Field]] = {}


def _fields_of(cls: type[_Event]) -> dict[str, _Field]:
    """Every spelling of every key → its field."""
    known = _fields.get(cls)
    if known is None:
        known = {}
        for field in msgspec.structs.fields(cls):
            if field.name == "extra" or (cls is UnknownEvent and field.name in ("name", "data")):
                continue
            entry = _Field(field.name, field.encode_name, _TAKERS[field.type], field.type in (str, str | None))
            known |= {field.name: entry, _camel(field.name): entry, field.encode_name: entry}
        _fields[cls] = known
    return known


def _load(data: bytes | str) -> Json:
    """Reads JSON as leniently as possible: broken UTF-8, lone surrogates and a byte order mark are not fatal.

    Numbers that JSON cannot express (NaN, 1e999) stay texts.
    """
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    if isinstance(data, bytes):
        data = data.decode("utf-8", "replace")
    try:
        return json.loads(data.removeprefix("\ufeff"), parse_constant=str, parse_float=_finite)
    except ValueError as error:
        raise EventError(f"not JSON: {error}") from None
    except RecursionError:
        raise TooDeep("not JSON that can be read: it is nested too deeply") from None


def _finite(number: str) -> float | str:
    value = float(number)
    return value if math.isfinite(value) else number


@cache
def _strict() -> msgspec.json.Decoder[Event]:
    """Reads events without mistakes, which most are."""
    return msgspec.json.Decoder(Union[tuple(EVENT_TYPES.values())])  # noqa: UP007 -- made of a table


def decode_event(data: bytes | str | dict[str, Json]) -> Event:
    """An event from a JSON line or its object. Raises `EventError` only for invalid JSON or JSON that is no object."""
    if not isinstance(data, dict):
        try:
            return _strict().decode(data)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            pass  # its mistakes are handled below
    obj = data if isinstance(data, dict) else _load(data)
    if not isinstance(obj, dict):
        raise EventError(f'an event is a JSON object with a "type", not {_kind(obj)}')
    name = obj.get("type")
    cls = _type_named(name) if isinstance(name, str) else None
    if cls is None:
        common = _assign(UnknownEvent, {key: value for key, value in obj.items() if key in _fields_of(UnknownEvent)})
        common.pop("extra", None)
        return UnknownEvent(name=text_of_value(name), data=obj, **common)
    return cls(**_assign(cls, obj))


def _assign(cls: type[_Event], obj: dict[str, Json]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    extra: dict[str, Json] = {}
    fields = _fields_of(cls)
    for key, value in obj.items():
        if key == "type":
            continue
        field = fields.get(key)
        if field is None or field.name in values:
            extra[key] = value
            continue
        if value is None:
            continue
        taken = field.take(value)
        if taken is _MISFIT:
            extra[key] = value
            if field.textual:
                taken = text_of_value(value)
            elif field.take is _take_bool:
                taken = value not in (0, "", "0", "false", "False", "no")
            elif field.take is _take_agent:
                taken = _salvage_agent(value)
            else:
                continue
        values[field.name] = taken
    if extra:
        values["extra"] = extra
    return values


def _kind(value: Json) -> str:
    names = {list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), "null")


def _agent_object(agent: Agent) -> dict[str, Json]:
    named = {"name": agent.name} if agent.name else {}
    return {"id": agent.id, **named, "depth": agent.depth}


def event_to_dict(event: Event) -> dict[str, Json]:
    """The event as JSON values: the fields that are set, and `extra`."""
    if isinstance(event, UnknownEvent):
        return dict(event.data)
    out: dict[str, Json] = {"type": event.type}
    for name, wire, default in _written(type(event)):
        value = getattr(event, name)
        if value is None or (value == default and name not in _ALWAYS):
            continue
        out[wire] = _agent_object(value) if isinstance(value, Agent) else value
    for key, value in event.extra.items():
        field_of_key = _fields_of(type(event)).get(key)
        if field_of_key is not None:
            out.pop(field_of_key.wire, None)
        out[key] = value
    return out


@cache
def _written(cls: type[_Event]) -> tuple[tuple[str, str, Any], ...]:
    """Name, key and default of each field that is written."""
    fields = msgspec.structs.fields(cls)
    return tuple((field.name, field.encode_name, field.default) for field in fields if field.name != "extra")


_ALWAYS = frozenset({"text", "tool", "kind", "message", "cmd", "block_id", "origin", "awaiting_secret"})


def encode_event(event: Event) -> bytes:
    """The event as one line of JSON, without the line end."""
    data = event_to_dict(event)
    try:
        return msgspec.json.encode(data)
    except (UnicodeError, TypeError, ValueError, msgspec.MsgspecError):
        return json.dumps(data, default=str).encode()
