"""A request as a value: what may be answered, and what became of it. Surfaces word it; the page makes buttons of it."""

from typing import Literal, get_args

import msgspec

from vantage import events as ev
from vantage.events import Json, text_of_value

Kind = Literal["approval", "question", "secret"]
OptionKind = Literal["allow", "deny", "choice"]
State = Literal["open", "answered", "closed"]


class Option(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of the answers to choose from."""

    id: str
    label: str
    kind: OptionKind
    scope: str = ""
    """How long the choice holds: `once`, `session` or `always`; empty where that is not said."""
    needs_text: bool = False


class Choice(msgspec.Struct, frozen=True):
    """One of the values that a field takes."""

    value: str
    label: str


class Field(msgspec.Struct, frozen=True, omit_defaults=True):
    """A field of a form."""

    name: str
    title: str
    type: Literal["string", "number", "integer", "boolean"]
    description: str = ""
    required: bool = False
    choices: list[Choice] = []
    """Empty: any value of the type."""
    default: Json = None


class Given(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer."""

    by: str = ""
    """`client:<id>`, `bot:<name>:<person>` or `cli`."""
    option: str = ""
    text: str = ""
    values: Json = None
    ts: int | None = None


class RequestCard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    request_id: str
    kind: Kind
    state: State
    hash: str = ""
    """An answer carries it back: it says which content was shown."""
    options: list[Option] = []
    schema: Json = None
    """JSON Schema of a form."""
    fields: list[Field] = []
    """The form's fields, where the schema has only plain ones."""
    expires: int | None = None
    """Milliseconds since the epoch."""
    screen_offset: int | None = None
    """The terminal's raw offset when the request was made."""
    answer: Given | None = None
    """Stays when the request is closed after it was answered."""
    why: str = ""
    """Why it is closed: `expired`, `withdrawn`, `answered_elsewhere`, `too_late` or `lost`."""

    @property
    def takes_text(self) -> bool:
        """Whether it is answered in words alone."""
        return not self.options and self.schema is None and self.kind != "secret"

    def option(self, option_id: str) -> Option | None:
        return next((option for option in self.options if option.id == option_id), None)


def card(request: ev.Request, answer: ev.Answer | None, closed: ev.RequestClosed | None) -> RequestCard:
    """The card of a request whose events so far are these."""
    return RequestCard(
        request_id=request.request_id,
        kind=_KINDS.get(request.kind, "question"),
        state="closed" if closed else "answered" if answer else "open",
        hash=request.hash,
        options=options_of(request),
        schema=request.schema,
        fields=_fields(request.schema),
        expires=request.expires,
        screen_offset=request.screen_offset,
        answer=_given(answer) if answer else None,
        why=closed.why if closed else "",
    )


def _given(answer: ev.Answer) -> Given:
    return Given(answer.by, answer.option or "", answer.text or "", answer.values, answer.ts)


def options_of(request: ev.Request) -> list[Option]:
    given = request.options
    return [_option(each) for each in given if isinstance(each, dict)] if isinstance(given, list) else []


def _option(given: dict[str, Json]) -> Option:
    name = text_of_value(given.get("id"))
    return Option(
        name,
        text_of_value(given.get("label")) or name,
        _OPTION_KINDS.get(text_of_value(given.get("kind")), "choice"),
        text_of_value(given.get("scope")),
        given.get("needs_text") is True,
    )


def _fields(schema: Json) -> list[Field]:
    """The properties of a schema; none where one of them is no plain value."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return []
    required = schema.get("required")
    fields = [_field(name, each, required) for name, each in properties.items()]
    return [field for field in fields if field] if all(fields) else []


def _field(name: str, given: Json, required: Json) -> Field | None:
    if not isinstance(given, dict) or given.get("type", "string") not in _FIELD_TYPES:
        return None
    choices = _choices(given)
    if choices is None:
        return None
    return Field(
        name,
        text_of_value(given.get("title")) or name,
        given.get("type", "string"),
        text_of_value(given.get("description")),
        isinstance(required, list) and name in required,
        choices,
        given.get("default"),
    )


def _choices(given: dict[str, Json]) -> list[Choice] | None:
    """From `enum`, or `oneOf` with constants and titles; none for any value, None where a choice is no text."""
    listed = given.get("enum", given.get("oneOf", []))
    if not isinstance(listed, list):
        return None
    pairs = [(each.get("const"), each.get("title")) if isinstance(each, dict) else (each, each) for each in listed]
    named = [Choice(value, text_of_value(title) or value) for value, title in pairs if isinstance(value, str)]
    return named if len(named) == len(listed) else None


_FIELD_TYPES = ("string", "number", "integer", "boolean")


_KINDS: dict[Json, Kind] = {name: name for name in get_args(Kind)}
_OPTION_KINDS: dict[Json, OptionKind] = {name: name for name in get_args(OptionKind)}
