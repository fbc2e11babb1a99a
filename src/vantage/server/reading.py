"""What a request says, taken out of it: a JSON object, or the fields of a query. Whatever is wrong is a clear error."""

from typing import Any
from urllib.parse import parse_qsl

import msgspec

from vantage.conversation.pty_requests import Asked
from vantage.conversation.requests import read_fields
from vantage.errors import InputError

DEEPEST = 64
"""Levels of lists and objects in one another: what reads them need not be afraid of the depth."""

_decode = msgspec.json.Decoder().decode


def read_json(body: bytes) -> Any:
    """The value in a body; an empty object in an empty one."""
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


def read_query(query: bytes, takes: type[Asked]) -> dict[str, Any]:
    """The fields of a query, as the values that they stand for. One without a value was not given."""
    given = dict(parse_qsl(query.decode("latin-1"), encoding="utf-8", errors="replace"))
    asked, _ = read_fields(takes, given, strict=False)
    return {**given, **asked.arguments()}


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
