"""Reads JSON fields as a verb's parameters, and describes mistakes in them as facts.

An unknown field is ignored, as the contract says, and the answer names it. What is wrong with a field is found by
comparing its value with the type, not by reading msgspec's message.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import inspect

from vantage.errors import Invalid, did_you_mean
from vantage.presentation import snake_case

S = TypeVar("S", bound=msgspec.Struct)


def read_params(kind: type[S], fields: Mapping[str, Any], *, strict: bool = True) -> tuple[S, list[str]]:
    """The parameters, and a warning for each field that is not known. Without `strict`, "5" is a number too."""
    fields = our_spelling(kind, fields)
    try:
        params = msgspec.convert(fields, kind, strict=strict)
    except msgspec.ValidationError as error:
        raise refusal(kind, fields, str(error), strict=strict) from None
    return params, unknown_fields(kind, fields)


def checked(params: S) -> S:
    """Parameters that were made in Python, with their limits checked."""
    read, _ = read_params(type(params), msgspec.structs.asdict(params))
    return read


def our_spelling(kind: type[msgspec.Struct], fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Reads `terminalWidth` as `terminal_width`, if that is a field and is not given as well."""
    known = kind.__struct_fields__
    if all(name in known for name in fields):
        return fields
    spelt = {name: snake_case(name) for name in fields if name not in known}
    ours = {name: new for name, new in spelt.items() if new in known and new not in fields}
    return {ours.get(name, name): value for name, value in fields.items()} if ours else fields


def unknown_fields(kind: type[msgspec.Struct], fields: Mapping[str, Any], *extra: str) -> list[str]:
    """A warning for each unknown field; `extra` are known beside those of `kind`."""
    known = (*kind.__struct_fields__, *extra)
    return [
        f"{name!r} is not known here and was ignored: {did_you_mean(str(name), known)}"
        for name in fields
        if name not in known
    ]


class Problem(NamedTuple):
    """What is wrong with one value. `got` is empty when the field is missing."""

    field: str
    expected: str
    got: str = ""
    choice: bool = False
    """`expected` lists the words that the field takes, and goes into the hint."""

    @property
    def message(self) -> str:
        if not self.got:
            return f"missing required field `{self.field}`"
        if self.choice:
            return f"`{self.field}`: {self.got} is not known"
        return f"`{self.field}`: expected {self.expected}, got {self.got}"


def refusal(kind: type[msgspec.Struct], fields: Mapping[str, Any], otherwise: str, *, strict: bool = True) -> Invalid:
    """The error for fields that do not fit; `otherwise` is its message where no field can be named."""
    wanted = msgspec.structs.fields(kind)
    named = ", ".join(each.name if each.required else f"{each.name}?" for each in wanted)
    hint = f"it takes {named}" if named else "it takes nothing"
    found = first_problem(kind, fields, strict=strict)
    if found is None:
        return Invalid(otherwise, hint=hint)
    if found.choice:
        hint = f"`{found.field}` is {found.expected}"
    return Invalid(found.message, hint=hint, facts={"field": found.field, "expected": found.expected, "got": found.got})


def first_problem(kind: type[msgspec.Struct], fields: Mapping[str, Any], *, strict: bool = True) -> Problem | None:
    return next(_in_struct(inspect.type_info(kind), fields, "", strict), None)  # type: ignore[arg-type]


def _in_struct(kind: inspect.StructType, fields: Mapping[str, Any], path: str, strict: bool) -> Iterator[Problem]:
    for field in kind.fields:
        place = f"{path}.{field.encode_name}" if path else field.encode_name
        if field.encode_name in fields:
            yield from _in_value(field.type, fields[field.encode_name], place, strict)
        elif field.required:
            yield Problem(place, _expected(field.type))
    if kind.forbid_unknown_fields:
        known = [field.encode_name for field in kind.fields]
        for name in fields:
            if name not in known:
                place = f"{path}.{name}" if path else str(name)
                yield Problem(place, f"one of the fields {', '.join(known)}", "another one")


def _in_value(kind: inspect.Type, value: Any, place: str, strict: bool) -> Iterator[Problem]:
    """The problems of a value, the innermost first."""
    for each in _members(kind):
        if isinstance(each, inspect.StructType) and isinstance(value, Mapping):
            yield from _in_struct(each, value, place, strict)
        elif isinstance(each, inspect.ListType | inspect.VarTupleType) and isinstance(value, list | tuple):
            for number, item in enumerate(value):
                yield from _in_value(each.item_type, item, f"{place}[{number}]", strict)
        elif isinstance(each, inspect.DictType) and isinstance(value, Mapping):
            for name, item in value.items():
                yield from _in_value(each.value_type, item, f"{place}.{name}", strict)
    if not any(_fits(each, value, strict) for each in _members(kind)):
        choice = isinstance(value, str) and any(isinstance(each, inspect.LiteralType) for each in _members(kind))
        yield Problem(place, _expected(kind), _got(value, kind), choice)


def _members(kind: inspect.Type) -> list[inspect.Type]:
    """The alternatives of a type, without the wrappers that carry descriptions."""
    if isinstance(kind, inspect.Metadata):
        return _members(kind.type)
    if isinstance(kind, inspect.UnionType):
        return [member for each in kind.types for member in _members(each)]
    return [kind]


def _fits(kind: inspect.Type, value: Any, strict: bool) -> bool:
    """Whether a value has this type and is within its limits. Values inside it are checked elsewhere."""
    match kind:
        case inspect.IntType():
            number = _number(value, strict)
            return number is not None and _within(number, kind.ge, kind.le)
        case inspect.FloatType():
            return isinstance(value, int | float) and not isinstance(value, bool)
        case inspect.BoolType():
            return isinstance(value, bool) or (not strict and str(value).lower() in ("true", "false", "1", "0"))
        case inspect.StrType():
            return isinstance(value, str) and _within(len(value), kind.min_length, kind.max_length)
        case inspect.LiteralType():
            return value in kind.values
        case inspect.NoneType():
            return value is None
        case inspect.ListType() | inspect.VarTupleType():
            return isinstance(value, list | tuple) and _within(len(value), kind.min_length, kind.max_length)
        case inspect.DictType() | inspect.StructType():
            return isinstance(value, Mapping)
    return True


def _number(value: Any, strict: bool) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if not strict and isinstance(value, str) and value.lstrip("+-").isdecimal():
        return int(value)
    return None


def _within(number: int, least: float | None, most: float | None) -> bool:
    return (least is None or number >= least) and (most is None or number <= most)


_WORDS: dict[type[inspect.Type], str] = {
    inspect.IntType: "a whole number",
    inspect.FloatType: "a number",
    inspect.BoolType: "true or false",
    inspect.StrType: "a text",
    inspect.NoneType: "null",
    inspect.ListType: "a list",
    inspect.VarTupleType: "a list",
    inspect.DictType: "an object",
    inspect.StructType: "an object",
}


def _expected(kind: inspect.Type) -> str:
    shown = [each for each in _members(kind) if not isinstance(each, inspect.NoneType)]
    return " or ".join(dict.fromkeys(map(_one_expected, shown)))


def _one_expected(kind: inspect.Type) -> str:
    if isinstance(kind, inspect.LiteralType):
        return f"one of {', '.join(map(str, kind.values))}"
    word = _WORDS.get(type(kind), "a value")
    if isinstance(kind, inspect.IntType):
        return word + _limits(kind.ge, kind.le)
    if isinstance(kind, inspect.StrType) and (kind.min_length or kind.max_length):
        return f"{word} of{_limits(kind.min_length or 0, kind.max_length)} characters"
    if isinstance(kind, inspect.ListType | inspect.VarTupleType) and kind.max_length:
        return f"{word} of at most {kind.max_length}"
    return word


def _limits(least: float | None, most: float | None) -> str:
    if most is not None:
        return f" from {least or 0} to {most}"
    return f" from {least} on" if least is not None else ""


def _got(value: Any, kind: inspect.Type) -> str:
    """The value if it is informative and cannot be a secret, else its type."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        if any(isinstance(each, inspect.LiteralType) for each in _members(kind)):
            return repr(value[:60])
        too_long = any(isinstance(each, inspect.StrType) for each in _members(kind))
        return f"one of {len(value)}" if too_long else "a text"
    if isinstance(value, list | tuple):
        return (
            f"one of {len(value)}" if any(isinstance(each, inspect.ListType) for each in _members(kind)) else "a list"
        )
    return "an object" if isinstance(value, Mapping) else type(value).__name__
