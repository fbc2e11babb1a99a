"""Whether values fit a form: the part of JSON Schema that agents use for forms. Other keywords are not checked."""

from collections.abc import Callable, Mapping
from typing import Any

from vantage.events import Json, compact_json

_TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "string": ("a text", lambda value: isinstance(value, str)),
    "integer": ("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    "number": ("a number", lambda value: isinstance(value, int | float) and not isinstance(value, bool)),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "array": ("a list", lambda value: isinstance(value, list)),
    "object": ("an object", lambda value: isinstance(value, Mapping)),
}


def first_problem(schema: Json, values: Json) -> str | None:
    """What is wrong with the values of a form, if something is."""
    if not isinstance(values, Mapping):
        return "`values`: expected an object"
    properties = schema.get("properties", {})
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if isinstance(name, str) and name not in values:
            return f"missing required field `values.{name}`"
    for name, value in values.items():
        if name not in properties:
            if not schema.get("additionalProperties"):
                return f"`values.{name}`: the form has no such field"
        elif problem := _problem(properties[name], value):
            return f"`values.{name}`: {problem}"
    return None


def _problem(schema: Json, value: Json) -> str | None:
    if not isinstance(schema, Mapping):
        return None
    kind = schema.get("type")
    known = _TYPES.get(kind) if isinstance(kind, str) else None
    if known is not None and not known[1](value):
        return f"expected {known[0]}, got {compact_json(value)[:60]}"
    choices = _choices(schema)
    if choices is not None and value not in choices:
        return f"expected one of {', '.join(map(compact_json, choices))}, got {compact_json(value)[:60]}"
    for name, size, word in _LIMITS:
        limit = schema.get(name)
        measured = size(value)
        if isinstance(limit, int | float) and measured is not None and _exceeds(name, measured, limit):
            return f"expected {word} {limit}, got {measured}"
    if isinstance(value, list):
        return next((problem for each in value if (problem := _problem(schema.get("items"), each))), None)
    return None


def _choices(schema: Mapping[str, Json]) -> list[Json] | None:
    """What the field may be, where the schema lists it: as `enum`, or as constants that each have a title."""
    listed = schema.get("enum")
    if isinstance(listed, list):
        return listed
    for name in ("oneOf", "anyOf"):
        members = schema.get(name)
        if isinstance(members, list) and all(isinstance(each, Mapping) and "const" in each for each in members):
            return [each["const"] for each in members]
    return None


def _length(value: Json) -> int | None:
    return len(value) if isinstance(value, str) else None


def _count(value: Json) -> int | None:
    return len(value) if isinstance(value, list) else None


def _number(value: Json) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


_LIMITS: tuple[tuple[str, Callable[[Json], float | None], str], ...] = (
    ("minLength", _length, "a length of at least"),
    ("maxLength", _length, "a length of at most"),
    ("minItems", _count, "a number of items of at least"),
    ("maxItems", _count, "a number of items of at most"),
    ("minimum", _number, "at least"),
    ("maximum", _number, "at most"),
)


def _exceeds(name: str, measured: float, limit: float) -> bool:
    return measured < limit if name.startswith("min") else measured > limit
