"""What goes back: JSON, and every error in one form."""

from typing import Any

import msgspec

from vantage.errors import Gone, TooMany, VantageError

JSON = "application/json"


def error_fields(error: VantageError) -> dict[str, Any]:
    """`{"ok": false, "error": {"code", "message", "hint"}}`; where something is gone, `next` says where to go on."""
    fields: dict[str, Any] = {"code": error.code, "message": error.message, "hint": error.hint}
    if isinstance(error, Gone):
        fields["next"] = error.next
    return {"ok": False, "error": fields}


def error_headers(error: VantageError) -> dict[str, str]:
    if isinstance(error, TooMany):
        return {"retry-after": str(error.retry_after)}
    return {"www-authenticate": "Bearer"} if error.status == 401 else {}


def error_answer(error: VantageError) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Headers and body, for those who speak ASGI themselves."""
    body = msgspec.json.encode(error_fields(error))
    said = {"content-type": JSON, "content-length": str(len(body)), **error_headers(error)}
    return [(name.encode(), value.encode()) for name, value in said.items()], body
