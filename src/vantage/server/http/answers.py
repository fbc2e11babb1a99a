"""Answers as JSON. Every error has one form."""

from typing import Any

import msgspec

from vantage.errors import TooMany, VantageError, to_wire

JSON = "application/json"


class NoSuchPath(VantageError):
    code = "not_found"
    status = 404

    def __init__(self) -> None:
        super().__init__("there is nothing at this path", hint="what there is stands in /v1/openapi.json")


class NoSuchMethod(VantageError):
    code = "method_not_allowed"
    status = 405

    def __init__(self) -> None:
        super().__init__("this path does not take that method", hint="the header Allow says which it takes")


class Internal(VantageError):
    """A failure of the server. The log has the number, and the lines of code that were running."""

    code = "internal"
    status = 500

    def __init__(self, number: str, log: str) -> None:
        super().__init__(f"something went wrong here: failure {number}", hint=f"{log} says where")


def error_fields(error: VantageError) -> dict[str, Any]:
    """`{"ok": false, "error": {"code", "message", "hint"}}`; `next` of something that is gone, `steps` to take."""
    return {"ok": False, "error": to_wire(error)}


def error_headers(error: VantageError) -> dict[str, str]:
    if isinstance(error, TooMany):
        return {"retry-after": str(error.retry_after)}
    return {"www-authenticate": "Bearer"} if error.status == 401 else {}


def error_answer(error: VantageError) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Headers and body, for callers that write ASGI messages."""
    body = msgspec.json.encode(error_fields(error))
    said = {"content-type": JSON, "content-length": str(len(body)), **error_headers(error)}
    return [(name.encode(), value.encode()) for name, value in said.items()], body
