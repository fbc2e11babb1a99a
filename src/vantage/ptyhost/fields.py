"""The fields of a request, checked: each function returns a value of its type, or refuses the request.

`Refused` says what was expected, what came and the way out.
"""

import os
from typing import Any

from vantage.ptyhost.connection import Request
from vantage.ptyhost.protocol import Code, decode_data
from vantage.ptyhost.shared.child import Command


class Refused(Exception):
    """The request is refused, with an error code, a message, and facts for the client."""

    def __init__(self, code: Code, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.code = code
        self.facts = facts


def folder(request: Request) -> str:
    folder = text(request, "folder")
    if not os.path.isabs(folder):
        raise Refused(Code.BAD_REQUEST, f"expected an absolute path as folder, got {folder!r}")
    return os.path.normpath(folder)


def text(request: Request, name: str) -> str:
    value = request.fields.get(name)
    if not isinstance(value, str) or not value or "\0" in value:
        raise Refused(Code.BAD_REQUEST, f"expected text as {name}, got {value!r}")
    return value


def number(request: Request, name: str, low: int, high: int, default: int | None = None) -> int:
    value = request.fields.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise Refused(Code.BAD_REQUEST, f"expected a number from {low} to {high} as {name}, got {value!r}")
    return value


def text_list(request: Request, name: str) -> list[str]:
    value = request.fields.get(name)
    if (
        not isinstance(value, list)
        or not value
        or not all(isinstance(item, str) and "\0" not in item for item in value)
    ):
        raise Refused(Code.BAD_REQUEST, f"expected a list of texts as {name}, got {value!r}")
    return value


def text_map(request: Request, name: str) -> dict[str, str]:
    value = request.fields.get(name)
    # The values stay out of the message: environments hold secrets.
    if not isinstance(value, dict):
        raise Refused(Code.BAD_REQUEST, f"expected an object as {name}, got {type(value).__name__}")
    for key, item in value.items():
        if not isinstance(item, str) or not key or "=" in key or "\0" in key + item:
            raise Refused(Code.BAD_REQUEST, f"expected names and texts in {name}, got another thing at {key!r}")
    return value


def data(request: Request) -> bytes:
    value = request.fields.get("data")
    try:
        return decode_data(value if isinstance(value, str) else "?")
    except ValueError:
        # Without the value: it may be a secret.
        raise Refused(Code.BAD_REQUEST, "expected base64 text as data, got something else") from None


def command(request: Request) -> Command:
    """What to run: `argv`, `env` and `cwd`."""
    return Command(text_list(request, "argv"), text_map(request, "env"), text(request, "cwd"))


def facts(request: Request, name: str) -> dict[str, Any]:
    """An object that is kept as it is; empty when it is left out."""
    value = request.fields.get(name, {})
    if not isinstance(value, dict):
        raise Refused(Code.BAD_REQUEST, f"expected an object as {name}, got {value!r}")
    return value
