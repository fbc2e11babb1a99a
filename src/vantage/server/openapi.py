"""The OpenAPI document, made from the tables that the server is made from: routes, verbs and their types.

What a field means is said where the field is: in its annotation, or in the sentence under it.
"""

import ast
import inspect
import textwrap
from functools import cache
from itertools import pairwise
from typing import Any

import msgspec

from vantage import __version__
from vantage.conversation.pty_requests import PTY_VERBS, Asked, Nothing, PtyVerb
from vantage.conversation.results import Result
from vantage.export.conversation import FORMATS
from vantage.server.answers import JSON
from vantage.server.openapi_words import ERRORS, EXAMPLES, FIELDS, INTRODUCTION, PATHS, TAGS
from vantage.server.routes import ROUTES, Route

_REF = "#/components/schemas/"
_EVERYWHERE = (400, 429, 500, 503)
_BEHIND_TOKEN = (401, 403)
_WITH_FIELDS = (413, 422)


@cache
def document(url: str) -> bytes:
    schemas = _Schemas()
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas)
    for name, verb in PTY_VERBS.items():
        paths[f"/v1/conversations/{{conversation_id}}/pty/{name}"] = {"post": _verb(name, verb, schemas)}
    paths["/login"] = _login(schemas)
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
            "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
            "security": [{"token": []}, {"session": []}],
            "paths": paths,
            "components": {
                "schemas": schemas.found,
                "responses": {str(status): _error(status) for status in ERRORS},
                "securitySchemes": {
                    "token": {"type": "http", "scheme": "bearer"},
                    "session": {"type": "apiKey", "in": "cookie", "name": "vantage_7878"},
                },
            },
        }
    )


def _operation(route: Route, schemas: "_Schemas") -> dict[str, Any]:
    said: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "tags": [_tag(route.path)],
        "parameters": [*_path_parameters(route.path), *(_query(route, schemas) if route.reads_query else [])],
    }
    if route.open:
        said["security"] = []
    if not route.reads_query and (route.takes is not Nothing):
        said["requestBody"] = _body(_asked_schema(route, schemas), route.name, required=_needed(route.takes))
    said["responses"] = {
        str(route.status): _success(route, schemas),
        **_errors(
            *_EVERYWHERE,
            *(() if route.open else _BEHIND_TOKEN),
            *(_WITH_FIELDS if route.takes is not Nothing or not route.reads_query else ()),
            *((404, 405, 422) if "{" in route.path else ()),
            *route.errors,
        ),
    }
    return said


def _verb(name: str, verb: PtyVerb, schemas: "_Schemas") -> dict[str, Any]:
    said: dict[str, Any] = {
        "operationId": f"pty_{name}",
        "summary": verb.summary,
        "description": _rights(verb),
        "tags": ["terminal"],
        "parameters": _path_parameters("{conversation_id}"),
    }
    if verb.takes is not Nothing:
        said["requestBody"] = _body(
            schemas.of(verb.takes, f"{verb.takes.__name__}Request"), f"pty_{name}", required=_needed(verb.takes)
        )
    returned = _answer(schemas.of(verb.returns, f"{verb.returns.__name__}Answer"), f"pty_{name}")
    said["responses"] = {
        "200": {"description": "Done.", "content": returned},
        **_errors(*_EVERYWHERE, *_BEHIND_TOKEN, *_WITH_FIELDS, 404, 405, 409),
    }
    return said


def _rights(verb: PtyVerb) -> str:
    if verb.reads:
        return "Changes nothing: a read-only token may ask for it."
    return "Ends what runs." if verb.destructive else "Needs a token that may do more than read."


def _login(schemas: "_Schemas") -> dict[str, Any]:
    cookie = {"Set-Cookie": {"schema": {"type": "string"}, "description": "The session: HttpOnly, SameSite=Strict."}}
    exchange = {
        "type": "object",
        "properties": {
            "secret": {"type": "string", "description": "What stands behind the # of a one-time link"},
            "token": {"type": "string", "description": "Or a token"},
        },
        "oneOf": [{"required": ["secret"]}, {"required": ["token"]}],
    }
    schemas.found["LoginRequest"] = exchange
    schemas.found["LoginAnswer"] = {
        "type": "object",
        "properties": {"ok": {"const": True}, "scope": {"enum": ["full", "read"], "description": "What it may do"}},
        "required": ["ok", "scope"],
    }
    done = schemas.of(_route("delete_conversation").returns, "DoneAnswer")
    return {
        "get": {
            "operationId": "login_page",
            "summary": "The page that logs a browser in.",
            "tags": ["server"],
            "security": [],
            "responses": {
                "200": {"description": "The page.", "content": {"text/html": {"schema": {"type": "string"}}}},
                **_errors(*_EVERYWHERE, 403),
            },
        },
        "post": {
            "operationId": "log_in",
            "summary": "Exchange the secret of a one-time link, or a token, for a session cookie.",
            "tags": ["server"],
            "security": [],
            "requestBody": _body({"$ref": f"{_REF}LoginRequest"}, "log_in", required=True),
            "responses": {
                "200": {
                    "description": "Logged in.",
                    "headers": cookie,
                    "content": _answer({"$ref": f"{_REF}LoginAnswer"}, "log_in"),
                },
                **_errors(*_EVERYWHERE, 401, 403, 413),
            },
        },
        "delete": {
            "operationId": "log_out",
            "summary": "Give the session cookie back.",
            "tags": ["server"],
            "security": [],
            "responses": {
                "200": {"description": "Logged out.", "headers": cookie, "content": _answer(done, "log_out")},
                **_errors(*_EVERYWHERE, 403, 413),
            },
        },
    }


def _route(name: str) -> Route:
    return next(route for route in ROUTES if route.name == name)


def _tag(path: str) -> str:
    if path.startswith("/v1/conversations"):
        return "timeline" if path.endswith(("/events", "/rows", "/rows/{row_id}", "/export")) else "conversations"
    return {"/v1/tools": "conversations", "/v1/tools/{tool}": "conversations", "/v1/search": "timeline"}.get(
        path, "server"
    )


# what is asked


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, **said} for name, said in PATHS.items() if f"{{{name}}}" in path
    ]


def _query(route: Route, schemas: "_Schemas") -> list[dict[str, Any]]:
    if route.takes is Nothing:
        return []
    schema = schemas.fields(route.takes)
    examples = EXAMPLES.get(route.name, ({}, None))[0] or {}
    parameters = []
    for name, field in schema["properties"].items():
        described = dict(field)
        parameter: dict[str, Any] = {
            "name": name,
            "in": "query",
            "required": name in schema.get("required", ()),
            "description": described.pop("description"),
            "schema": described,
        }
        if name in examples:
            parameter["example"] = examples[name]
        parameters.append(parameter)
    return parameters


def _asked_schema(route: Route, schemas: "_Schemas") -> dict[str, Any]:
    if route.name != "append_events":
        return schemas.of(route.takes, f"{route.takes.__name__}Request")
    schemas.found["Event"] = {
        "type": "object",
        "description": "Something that an agent or a person said or did. Fields of its type stand beside `type`.",
        "properties": {"type": {"description": "`user_message`, `assistant_text`, `tool_start`, …"}},
    }
    one = {"$ref": f"{_REF}Event"}
    return {"anyOf": [one, {"type": "array", "items": one, "maxItems": 10_000}]}


def _body(schema: dict[str, Any], name: str, *, required: bool) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": schema}
    example = EXAMPLES.get(name, (None, None))[0]
    if example is not None:
        content["example"] = example
    return {"required": required, "content": {JSON: content}}


def _needed(takes: type[Asked]) -> bool:
    return any(field.required for field in msgspec.structs.fields(takes))


# what is answered


def _success(route: Route, schemas: "_Schemas") -> dict[str, Any]:
    if route.name == "export_conversation":
        kinds = {made.content_type.partition(";")[0]: {"schema": {"type": "string"}} for made in FORMATS.values()}
        return {"description": "The file.", "content": kinds}
    if route.name == "get_asset":
        picture = {"schema": {"type": "string", "format": "binary"}}
        kinds = dict.fromkeys(("image/png", "image/jpeg", "image/gif", "image/webp"), picture)
        return {"description": "The picture.", "content": kinds}
    if route.name == "read_openapi":
        return {"description": "The document.", "content": {JSON: {"schema": {"type": "object"}}}}
    if route.media != JSON:
        return {"description": "The numbers.", "content": {"text/plain": {"schema": {"type": "string"}}}}
    schema = schemas.of(route.returns, f"{route.returns.__name__}Answer")
    return {"description": "Done.", "content": _answer(schema, route.name)}


def _answer(schema: dict[str, Any], name: str) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": schema}
    example = EXAMPLES.get(name, (None, None))[1]
    if example is not None:
        content["example"] = example
    return {JSON: content}


def _errors(*statuses: int) -> dict[str, Any]:
    return {str(status): {"$ref": f"#/components/responses/{status}"} for status in sorted(set(statuses))}


def _error(status: int) -> dict[str, Any]:
    codes, text, example = ERRORS[status]
    error: dict[str, Any] = {
        "type": "object",
        "properties": {
            "code": {"enum": codes, "description": "What is wrong, for programs"},
            "message": {"type": "string", "description": "What is wrong, for people"},
            "hint": {"type": "string", "description": "The way out"},
        },
        "required": ["code", "message", "hint"],
    }
    if "gone" in codes:
        error["properties"]["next"] = {"type": "integer", "description": "Where to go on, when something is `gone`"}
    schema = {
        "type": "object",
        "properties": {"ok": {"const": False}, "error": {**error, "description": "What went wrong"}},
        "required": ["ok", "error"],
    }
    message, hint = example
    shown = {"ok": False, "error": {"code": codes[0], "message": message, "hint": hint}}
    said: dict[str, Any] = {"description": text, "content": {JSON: {"schema": schema, "example": shown}}}
    if status == 429:
        said["headers"] = {"Retry-After": {"schema": {"type": "string"}, "description": "Seconds"}}
    if status == 401:
        said["headers"] = {"WWW-Authenticate": {"schema": {"type": "string"}, "description": "Bearer"}}
    return said


class _Schemas:
    """The types that the operations name, each with a sentence for every field."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}

    def of(self, kind: type[Asked] | type[Result], name: str) -> dict[str, Any]:
        if name not in self.found:
            self.found[name] = self.fields(kind)
        return {"$ref": f"{_REF}{name}"}

    def fields(self, kind: type[Asked] | type[Result]) -> dict[str, Any]:
        """A type as a schema; what it is made of goes to the others."""
        (root,), parts = msgspec.json.schema_components((kind,), ref_template=f"{_REF}{{name}}")
        schema: dict[str, Any] = parts.pop(root["$ref"].removeprefix(_REF))
        schema.pop("title", None)
        sentences = _sentences(kind)
        for field, described in schema["properties"].items():
            said = FIELDS.get(f"{kind.__name__}.{field}") or sentences.get(field) or FIELDS.get(field)
            if said:
                described.setdefault("description", said)
            if issubclass(kind, Result):
                described.pop("default", None)
        if issubclass(kind, Result):
            schema["properties"]["ok"] = {"const": True}
            schema["properties"]["warnings"] = {
                "type": "array",
                "items": {"type": "string"},
                "description": "What was sent and means nothing here",
            }
            schema["required"] = ["ok", *schema["required"]]
        for name, part in parts.items():
            part.pop("title", None)
            for field, described in part.get("properties", {}).items():
                if said := FIELDS.get(f"{name}.{field}") or FIELDS.get(field):
                    described.setdefault("description", said)
            self.found.setdefault(name, part)
        return schema


def _sentences(kind: type) -> dict[str, str]:
    """Field → the sentence under it in the class, or in one that it comes from."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(each)))
        except (OSError, TypeError, SyntaxError):
            continue
        body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
        for field, under in pairwise(body):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(under, ast.Expr)
                and isinstance(under.value, ast.Constant)
            ):
                found[field.target.id] = inspect.cleandoc(str(under.value.value))
    return found
