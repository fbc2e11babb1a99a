"""Checks render specs: finds every problem at once, each with its place and a way out.

The types of `model` are walked beside the value, so exactly the declared fields are checked. A problem is fatal when
the spec has no sensible meaning; something that merely comes from a newer version (a block type, a filter, a field) is
not.
"""

import hashlib
import json
from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect

from vantage.errors import InputError, did_you_mean
from vantage.events import Json
from vantage.timeline.specs.filters import FILTERS
from vantage.timeline.specs.model import (
    MAX_BLOCKS,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_LEVELS,
    SPEC_VERSION,
    BlockSpec,
    RenderSpec,
    UnknownSpec,
)
from vantage.timeline.specs.template import Expression, TemplateError, read_template

_KEPT = ("when", "fallback")
"""The part of a block of unknown type that is read."""
ROOTS = ("args", "output", "status", "isPartial", "durationMs", "details")
_BLOCKS: dict[str, type] = {str(cls.__struct_config__.tag): cls for cls in BlockSpec.__args__ if cls is not UnknownSpec}


class Problem(msgspec.Struct, frozen=True):
    code: str
    path: str
    message: str
    hint: str = ""
    fatal: bool = True

    def __str__(self) -> str:
        return f"{self.path or 'spec'}: {self.message}" + (f" ({self.hint})" if self.hint else "")


class SpecError(InputError):
    """A render spec that was refused, with all its problems."""

    code = "bad_spec"
    status = 422

    def __init__(self, problems: list[Problem]) -> None:
        fatal = [problem for problem in problems if problem.fatal]
        more = f", and {len(fatal) - 1} more" if len(fatal) > 1 else ""
        super().__init__(f"not a render spec: {fatal[0]}{more}")
        self.problems = problems


def spec_hash(value: Json) -> str:
    """The first 16 hex digits of the SHA-256 of the spec as JSON with sorted keys and no spaces."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def load_spec(value: Json) -> tuple[RenderSpec, list[Problem]]:
    """A spec from its JSON value, and its warnings. Raises `SpecError` when it must be refused."""
    problems = check_spec(value)
    if any(problem.fatal for problem in problems):
        raise SpecError(problems)
    return msgspec.convert(_known(value), RenderSpec), problems


def _levels_exceed(value: Json, most: int) -> bool:
    """Whether a value is nested deeper than that. It does not recurse: a client chooses how deep the value is."""
    level = [value]
    for _ in range(most + 1):
        inner = [each for each in level if isinstance(each, dict | list)]
        level = [item for each in inner for item in (each.values() if isinstance(each, dict) else each)]
    return bool(level)


def check_spec(value: Json) -> list[Problem]:
    """All errors and warnings of a spec."""
    if _levels_exceed(value, MAX_LEVELS):
        return [Problem("too_deep", "", f"it has more than {MAX_LEVELS} levels")]
    try:
        size = len(json.dumps(value, ensure_ascii=False).encode())  # half a character is no JSON of ours
    except (ValueError, TypeError, RecursionError):
        return [Problem("too_deep", "", "it is nested too deeply, or not JSON")]
    if size > MAX_BYTES:
        return [Problem("too_large", "", f"it has {size} bytes, at most {MAX_BYTES} are allowed")]
    walker = _Walker()
    walker.check(value, _spec_type(), "")
    if walker.blocks > MAX_BLOCKS:
        walker.say("too_many_blocks", "expanded.blocks", f"{walker.blocks} blocks, at most {MAX_BLOCKS} are allowed")
    version = value.get("specVersion") if isinstance(value, dict) else None
    if isinstance(version, int) and version > SPEC_VERSION:
        walker.say("newer", "specVersion", f"version {version} is newer than {SPEC_VERSION}", fatal=False)
    return walker.problems


@cache
def _spec_type() -> inspect.Type:
    return inspect.type_info(RenderSpec)


_NAMES: dict[type, str] = {
    dict: "an object", list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number",
    type(None): "null",
}  # fmt: skip


class _Walker:
    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.blocks = 0

    def say(self, code: str, path: str, message: str, hint: str = "", *, fatal: bool = True) -> None:
        self.problems.append(Problem(code, path, message, hint, fatal))

    def wrong(self, value: Json, path: str, expected: str) -> None:
        self.say("wrong_type", path, f"expected {expected}, got {_NAMES.get(type(value), 'something else')}")

    def check(self, value: Json, kind: inspect.Type, path: str, depth: int = 0) -> None:
        _CHECKS[type(kind)](self, value, kind, path, depth)

    def check_struct(self, value: Json, kind: inspect.StructType, path: str, depth: int) -> None:
        if not isinstance(value, dict):
            self.wrong(value, path, "an object")
            return
        fields = {field.encode_name: field for field in kind.fields}
        for name in value:
            if name not in fields and name != kind.tag_field:
                where = f"{path}.{name}" if path else name
                self.say(
                    "unknown_field",
                    where,
                    f"there is no field {name!r}",
                    did_you_mean(name, sorted(fields)),
                    fatal=False,
                )
        for name, field in fields.items():
            where = f"{path}.{name}" if path else name
            if name in value:
                self.check(value[name], field.type, where, depth)
            elif field.required:
                self.say("missing_field", where, f"{name!r} is missing")

    def check_union(self, value: Json, kind: inspect.UnionType, path: str, depth: int) -> None:
        members = kind.types
        if isinstance(value, dict):
            tagged = [member for member in members if isinstance(member, inspect.StructType) and member.tag_field]
            if tagged:
                self.check_block(value, path, depth)
                return
        for member in members:
            if _accepts(member, value):
                self.check(value, member, path, depth)
                return
        self.wrong(value, path, " or ".join(sorted({_named(member) for member in members} - {"null"})))

    def check_block(self, value: dict[str, Json], path: str, depth: int) -> None:
        self.blocks += 1
        name = value.get("type")
        if not isinstance(name, str):
            self.say("missing_field", f"{path}.type", "a block needs a type", f"one of {', '.join(sorted(_BLOCKS))}")
        elif depth >= MAX_DEPTH:
            self.say("too_deep", path, f"blocks are nested more than {MAX_DEPTH} deep")
        elif name not in _BLOCKS:
            hint = did_you_mean(name, sorted(_BLOCKS))
            self.say("unknown_block", f"{path}.type", f"there is no block type {name!r}", hint, fatal=False)
            for field in inspect.type_info(UnknownSpec).fields:  # type: ignore[attr-defined]
                if field.name in _KEPT and field.name in value:
                    self.check(value[field.name], field.type, f"{path}.{field.name}", depth + 1)
        else:
            self.check(value, inspect.type_info(_BLOCKS[name]), path, depth + 1)

    def check_list(self, value: Json, kind: inspect.ListType, path: str, depth: int) -> None:
        if not isinstance(value, list):
            self.wrong(value, path, "an array")
            return
        for index, item in enumerate(value):
            self.check(item, kind.item_type, f"{path}[{index}]", depth)

    def check_literal(self, value: Json, kind: inspect.LiteralType, path: str, _depth: int) -> None:
        if not isinstance(value, str):
            self.wrong(value, path, "a string")
        elif value not in kind.values:
            self.say(
                "unknown_value",
                path,
                f"{value!r} is not possible here",
                did_you_mean(value, sorted(map(str, kind.values))),
            )

    def check_meta(self, value: Json, kind: inspect.Metadata, path: str, depth: int) -> None:
        self.check(value, kind.type, path, depth)
        extra = kind.extra or {}
        if isinstance(value, str) and extra.get("template"):
            self.check_template(value, path)
        elif isinstance(value, str) and extra.get("path"):
            self.check_template(f"{{{{{value}}}}}", path)

    def check_template(self, text: str, path: str) -> None:
        try:
            template = read_template(text)
        except TemplateError as error:
            self.say("bad_template", path, f"at character {error.position}: {error}", f"in {text[:60]!r}")
            return
        for expression in template.expressions:
            self.check_expression(expression, path)
        if path.endswith(".when") and not any(template.expressions):
            hint = f"did you mean '{{{{{text}}}}}'?"
            self.say("constant_condition", path, "a condition without {{…}} is always the same", hint, fatal=False)

    def check_expression(self, expression: Expression, path: str) -> None:
        root = str(expression.path[0])
        if root not in ROOTS and (hint := did_you_mean(root, ROOTS, otherwise="", cutoff=0.75)):
            self.say("unlikely_path", path, f"{root!r} is looked up in the block's source", hint, fatal=False)
        for call in expression.filters:
            known = FILTERS.get(call.name)
            if known is None:
                hint = did_you_mean(call.name, sorted(FILTERS))
                self.say("unknown_filter", path, f"there is no filter {call.name!r}", hint, fatal=False)
            elif not known.least <= len(call.arguments) <= known.most:
                wanted = known.least if known.least == known.most else f"{known.least} to {known.most}"
                self.say("bad_argument", path, f"{call.name} takes {wanted} arguments, got {len(call.arguments)}")
            elif known.whole and call.arguments and not call.arguments[0].isdecimal():
                self.say("bad_argument", path, f"{call.name} takes a whole number, got {call.arguments[0]!r}")

    def check_int(self, value: Json, kind: inspect.IntType, path: str, _depth: int) -> None:
        if isinstance(value, bool) or not isinstance(value, int):
            self.wrong(value, path, "a whole number")
        elif kind.ge is not None and value < kind.ge:
            self.say("out_of_range", path, f"expected at least {kind.ge}, got {value}")

    def check_text(self, value: Json, _kind: inspect.Type, path: str, _depth: int) -> None:
        if not isinstance(value, str):
            self.wrong(value, path, "a string")

    def check_null(self, value: Json, _kind: inspect.Type, path: str, _depth: int) -> None:
        if value is not None:
            self.wrong(value, path, "null")

    def check_any(self, _value: Json, _kind: inspect.Type, _path: str, _depth: int) -> None:
        pass


_CHECKS: dict[type, Callable[[_Walker, Json, Any, str, int], None]] = {
    inspect.StructType: _Walker.check_struct,
    inspect.UnionType: _Walker.check_union,
    inspect.ListType: _Walker.check_list,
    inspect.LiteralType: _Walker.check_literal,
    inspect.Metadata: _Walker.check_meta,
    inspect.IntType: _Walker.check_int,
    inspect.StrType: _Walker.check_text,
    inspect.NoneType: _Walker.check_null,
    inspect.AnyType: _Walker.check_any,
}

# Which JSON values a kind of type accepts, and its name in messages.
_ACCEPTED: dict[type, tuple[tuple[type, ...], str]] = {
    inspect.StructType: ((dict,), "an object"),
    inspect.ListType: ((list,), "an array"),
    inspect.LiteralType: ((str,), "a string"),
    inspect.IntType: ((int,), "a whole number"),
    inspect.StrType: ((str,), "a string"),
    inspect.NoneType: ((type(None),), "null"),
}


def _bare(kind: inspect.Type) -> inspect.Type:
    return kind.type if isinstance(kind, inspect.Metadata) else kind


def _accepts(kind: inspect.Type, value: Json) -> bool:
    types, _ = _ACCEPTED[type(_bare(kind))]
    return isinstance(value, types) and not (isinstance(value, bool) and int in types)


def _named(kind: inspect.Type) -> str:
    return _ACCEPTED[type(_bare(kind))][1]


def _known(value: Json, *, block: bool = False) -> Json:
    """The spec with blocks of unknown types marked as such, so that it decodes."""
    if isinstance(value, list):
        return [_known(item, block=block) for item in value]
    if not isinstance(value, dict):
        return value
    out = {key: _known(item, block=key in ("blocks", "fallback")) for key, item in value.items()}
    if block and str(out.get("type")) not in _BLOCKS:  # in a field of a newer version it may be anything
        kept = {key: out[key] for key in _KEPT if key in out}
        return {"type": "unknown", "name": str(out.get("type")), **kept}
    return out
