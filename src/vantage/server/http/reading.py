"""Reads the fields of a request from its JSON body or its query. Each mistake in them is an error with a way out."""

from typing import Any
from urllib.parse import parse_qsl

import msgspec

from vantage.conversation.verbs.fields import our_spelling, read_params
from vantage.conversation.verbs.verb import Params
from vantage.errors import InputError

DEEPEST = 64
"""The deepest nesting of lists and objects, so that code that walks a value never recurses too deeply."""

_decode = msgspec.json.Decoder().decode


def read_json(body: bytes) -> Any:
    """The value in a body; an empty object for an empty body."""
    if not body:
        return {}
    try:
        value = _decode(body)
    except UnicodeDecodeError as error:
        raise InputError(f"the body is not UTF-8: {error.reason}", hint="send JSON in UTF-8") from None
    except RecursionError:
        raise _too_deep() from None
    except msgspec.DecodeError as error:
        raise InputError(f"the body is not JSON: {error}", hint="send one JSON value") from None
    if body.count(b"[") + body.count(b"{") > DEEPEST:
        _check_depth(value)
    return value


def read_object(body: bytes) -> dict[str, Any]:
    value = read_json(body)
    if not isinstance(value, dict):
        raise InputError(f"expected a JSON object, got {_kind(value)}", hint='send {"field": value, …}')
    return value


def ignore_body(_: bytes) -> dict[str, Any]:
    """No fields, whatever was sent."""
    return {}


def read_query(query: bytes, takes: type[Params]) -> dict[str, Any]:
    """The fields of a query, converted to their types. A field without a value counts as not given."""
    given = our_spelling(takes, dict(parse_qsl(query.decode("latin-1"), encoding="utf-8", errors="replace")))
    asked, _ = read_params(takes, given, strict=False)
    return {**given, **asked.given()}


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    raise _too_deep()


def _too_deep() -> InputError:
    return InputError(f"the body has more than {DEEPEST} levels", hint="send it flatter")


def _kind(value: Any) -> str:
    return {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}.get(type(value), "a number")
