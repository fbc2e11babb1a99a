"""The OpenAPI document, generated from the route table, the verbs and their msgspec types.

The meaning of a field is in its annotation (`msgspec.Meta`), that of an operation in its function's docstring, and an
example is a value of the type (`examples.py`). This module only puts them together.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec

from vantage import __version__
from vantage.conversation.verbs.table import TERMINAL_VERBS
from vantage.conversation.verbs.verb import NoParams, Params, Result, Verb
from vantage.server.http.answers import JSON
from vantage.server.http.examples import EXAMPLES
from vantage.server.http.route import PATH_PARAMETERS, SET_BY_SERVER, C, File, Route
from vantage.server.http.statuses import STATUSES, failure, failure_example
from vantage.server.http.table import LOGIN, SECTIONS

INTRODUCTION = """\
The terminal and the display of an AI agent. Make a conversation, run commands in its terminal, wait for what they
print, look at its screen; log what an agent says and does, and read it as rows for any display.

Every answer has `ok`. Errors are `{ok: false, error: {code, message, hint}}`: `hint` says what to do instead. A field
that is not known is ignored, and named in `warnings`."""

_REF = "#/components/schemas/"
_EVERYWHERE = (400, 429, 500, 503)
_WITH_TOKEN = (401, 403)
_WITH_FIELDS = (413, 422)
_WITH_PATH = (404, 405, 422)


@dataclass(frozen=True, slots=True)
class Operation:
    """A route or a verb, in the form that the document needs."""

    id: str
    method: str
    path: str
    tag: str
    summary: str
    takes: type[Params]
    returns: type[Result] | File
    status: int
    errors: tuple[int, ...]
    body: Any = None
    description: str = ""
    open: bool = False

    @property
    def in_query(self) -> bool:
        return self.method == "GET"


def operations() -> Iterator[Operation]:
    for section in SECTIONS:
        for route in section.routes:
            if "{verb}" not in route.path:
                yield _of_route(route, section.name)
    yield from map(_of_verb, TERMINAL_VERBS.values())
    yield from (_of_route(route, "server") for route in LOGIN)


def _of_route(route: Route, tag: str) -> Operation:
    errors = (
        *_EVERYWHERE,
        *((403,) if route.open else _WITH_TOKEN),
        *(_WITH_FIELDS if route.takes is not NoParams or not route.reads_query else ()),
        *(_WITH_PATH if "{" in route.path else ()),
        *route.errors,
    )
    return Operation(
        route.name,
        route.method,
        route.path,
        tag,
        route.summary,
        route.takes,
        route.returns,
        route.status,
        errors,
        route.body,
        open=route.open,
    )


def _of_verb(verb: Verb[Any, Any, Any]) -> Operation:
    if verb.reads:
        rights = "Changes nothing: a read-only token may call it."
    else:
        rights = "Ends what runs." if verb.destructive else "Needs a token with full rights."
    errors = (*_EVERYWHERE, *_WITH_TOKEN, *_WITH_FIELDS, *_WITH_PATH, 409)
    path = f"{C}/pty/{verb.name}"
    return Operation(
        f"pty_{verb.name}", "POST", path, "terminal", verb.summary, verb.params, verb.result, 200, errors, None, rights
    )


@cache
def document(url: str) -> bytes:
    schemas = _Schemas()
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations():
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation, schemas)
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "Vantage",
                "version": __version__,
                "description": INTRODUCTION,
                "license": {"name": "MIT", "identifier": "MIT"},
            },
            "servers": [{"url": url}],
            "tags": [{"name": section.name, "description": section.description} for section in SECTIONS],
            "security": [{"token": []}],
            "paths": paths,
            "components": {
                "responses": {str(status): _error(status) for status in STATUSES},
                "schemas": schemas.found,
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            },
        }
    )


def _described(operation: Operation, schemas: "_Schemas") -> dict[str, Any]:
    said: dict[str, Any] = {"operationId": operation.id, "summary": operation.summary, "tags": [operation.tag]}
    if operation.description:
        said["description"] = operation.description
    if operation.open:
        said["security"] = []
    if parameters := [*_in_path(operation.path), *_in_query(operation, schemas)]:
        said["parameters"] = parameters
    if not operation.in_query and set(operation.takes.__struct_fields__) - _elsewhere(operation.path):
        said["requestBody"] = _body(operation, schemas)
    refusals = {str(each): {"$ref": f"#/components/responses/{each}"} for each in sorted(set(operation.errors))}
    said["responses"] = {str(operation.status): _success(operation, schemas), **refusals}
    return said


# parameters


def _in_path(path: str) -> Iterator[dict[str, Any]]:
    for name, kind in PATH_PARAMETERS.items():
        if f"{{{name}}}" in path:
            schema = msgspec.json.schema(kind)
            (example,), description = schema.pop("examples"), schema.pop("description")
            yield _parameter(name, "path", description, schema, example, required=True)


def _in_query(operation: Operation, schemas: "_Schemas") -> Iterator[dict[str, Any]]:
    if not operation.in_query or operation.takes is NoParams:
        return
    schema = schemas.fields(operation.takes)
    example = _example(operation.takes)
    for name, field in schema["properties"].items():
        described = dict(field)
        description = described.pop("description")
        required = name in schema.get("required", ())
        yield _parameter(name, "query", description, described, example.get(name), required=required)


def _parameter(
    name: str, place: str, description: str, schema: dict[str, Any], example: Any, *, required: bool
) -> dict[str, Any]:
    said = {"name": name, "in": place, "required": required, "description": description, "schema": schema}
    return said if example is None else {**said, "example": example}


def _body(operation: Operation, schemas: "_Schemas") -> dict[str, Any]:
    example: Any = _example(operation.takes)
    if operation.body is not None:
        schema = msgspec.json.schema(operation.body)
        (example,) = example.values()
    else:
        schema = schemas.without(operation.takes, _elsewhere(operation.path))
        example = {name: value for name, value in example.items() if name not in _elsewhere(operation.path)}
    required = any(
        field.required and field.name not in _elsewhere(operation.path)
        for field in msgspec.structs.fields(operation.takes)
    )
    return {"required": required, "content": {JSON: {"schema": schema, "example": example}}}


def _elsewhere(path: str) -> frozenset[str]:
    """Fields of parameters that no caller sends in the body."""
    return SET_BY_SERVER | {name for name in PATH_PARAMETERS if f"{{{name}}}" in path}


# answers


def _success(operation: Operation, schemas: "_Schemas") -> dict[str, Any]:
    returns = operation.returns
    if isinstance(returns, File):
        schema: dict[str, Any] = {"type": "object" if returns.media == (JSON,) else "string"}
        if returns.binary:
            schema["format"] = "binary"
        return {"description": returns.description, "content": {each: {"schema": schema} for each in returns.media}}
    content = {"schema": schemas.of(returns), "example": _example(returns)}
    return {"description": "Done.", "content": {JSON: content}}


def _error(status: int) -> dict[str, Any]:
    known = STATUSES[status]
    content = {"schema": failure(status), "example": failure_example(status)}
    said: dict[str, Any] = {"description": known.description, "content": {JSON: content}}
    if known.header:
        name, description = known.header
        said["headers"] = {name: {"schema": {"type": "string"}, "description": description}}
    return said


def _example(kind: type[Params] | type[Result]) -> dict[str, Any]:
    """An example of a type as JSON."""
    value = EXAMPLES[kind]
    found: dict[str, Any] = value.to_dict() if isinstance(value, Result) else msgspec.to_builtins(value)
    return found


class _Schemas:
    """The types of parameters (`…Request`), of results (`…Answer`), and the types that those are made of."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}

    def of(self, kind: type[Result]) -> dict[str, Any]:
        name = f"{kind.__name__}Answer"
        if name not in self.found:
            schema = self.found[name] = self.fields(kind)
            schema["properties"] = {"ok": {"const": True}, **_WARNINGS, **schema["properties"]}
            schema["properties"]["ok"] = {"const": True}
            schema["required"] = ["ok", *schema.get("required", ())]
        return {"$ref": f"{_REF}{name}"}

    def without(self, kind: type[Params], names: frozenset[str]) -> dict[str, Any]:
        """Parameters without some of their fields."""
        name = f"{kind.__name__}Request"
        schema = self.fields(kind)
        schema["properties"] = {each: said for each, said in schema["properties"].items() if each not in names}
        schema["required"] = [each for each in schema.get("required", ()) if each not in names]
        if not schema["required"]:
            del schema["required"]
        self.found[name] = schema
        return {"$ref": f"{_REF}{name}"}

    def fields(self, kind: type[Params] | type[Result]) -> dict[str, Any]:
        """A type as a schema; the types of its fields are kept under their own names."""
        (root,), parts = msgspec.json.schema_components((kind,), ref_template=f"{_REF}{{name}}")
        schema: dict[str, Any] = parts.pop(root["$ref"].removeprefix(_REF))
        for name, part in {**parts, "": schema}.items():
            part.pop("title", None)
            if not part.get("required", True):
                del part["required"]
            for field in part.get("properties", {}).values():
                _lift_description(field)
            if name:
                self.found.setdefault(name, part)
        if issubclass(kind, Result):  # a field with its default value may be absent: no default is stated
            for field in schema["properties"].values():
                field.pop("default", None)
        return schema


def _lift_description(field: dict[str, Any]) -> None:
    """A field that may be null has the description of its other type."""
    described = [each for each in field.get("anyOf", ()) if "description" in each]
    if "description" not in field and len(described) == 1:
        field["description"] = described[0].pop("description")


_WARNINGS = {
    "warnings": {"type": "array", "items": {"type": "string"}, "description": "Fields that were sent and are unknown"}
}
