"""Looking into foreign JSON without trusting it: every function gives its own type, whatever is there."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from vantage.events import Json, decode_event, event_to_dict, text_of_value
from vantage.timeline.calls import parse_json

Object = dict[str, Any]

_LARGEST = 1e18


def json_object(line: bytes) -> Object:
    """The object that a line is, read as leniently as it can be. Raises `EventError` for a line that is none."""
    try:
        message = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        message = None
    return message if isinstance(message, dict) else event_to_dict(decode_event(line))


def text(value: Json, *keys: str) -> str:
    """The first of these fields that is a text with something in it."""
    if isinstance(value, dict):
        for key in keys:
            found = value.get(key)
            if isinstance(found, str) and found:
                return found
    return ""


def obj(value: Json, *path: str) -> Object:
    """The object at the end of a path of fields, or an empty one."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def objects(value: Json, key: str) -> list[Object]:
    """The objects in a list; what else is in it is left out."""
    found = value.get(key) if isinstance(value, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def number(value: Json, *keys: str) -> int | float | None:
    """The first of these fields that is a number one can reckon with."""
    if isinstance(value, dict):
        for key in keys:
            found = value.get(key)
            if isinstance(found, int | float) and not isinstance(found, bool) and -_LARGEST < found < _LARGEST:
                return found
    return None


def whole_number(value: Json, *keys: str) -> int | None:
    """The first of these fields that is a number, if it is a whole one."""
    found = number(value, *keys)
    return int(found) if found is not None and abs(found) < 1e15 and found == int(found) else None


def moment(value: Json, *keys: str) -> int | None:
    """A time in milliseconds since the epoch, from a number or an ISO 8601 text."""
    stated = whole_number(value, *keys)
    if stated is not None:
        return stated
    try:
        return round(datetime.fromisoformat(text(value, *keys)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


_WORDS_AND_JSON = re.compile(r"\[?([^\[\]{}]{1,60}?)[\s:]*(\{.*\})\]?\s*", re.DOTALL)
"""An error as some print it: `API Error: 400 {…}`, perhaps in brackets."""


def message_of(value: Json) -> str:
    """The words of an error, however deep they stand in it; an error may also be the JSON of one, or end in it."""
    for _ in range(8):
        inner = parse_json(value) if isinstance(value, str) else value
        if not isinstance(inner, dict):
            break
        found = next((inner[key] for key in ("message", "data", "error", "detail", "name") if inner.get(key)), None)
        if found is None:
            break
        value = found
    said = text_of_value(value)
    if (match := _WORDS_AND_JSON.fullmatch(said)) and (inner := parse_json(match[2])) and "message" in str(inner):
        return f"{match[1]}: {message_of(inner)}"
    return said


def content_text(content: Json) -> str:
    """The text of a content: a string, one part, or a list of parts as MCP and the model APIs write them."""
    if isinstance(content, list):
        return "\n".join(said for said in (content_text(part) for part in content[:10_000]) if said)
    if not isinstance(content, dict):
        return text_of_value(content)
    return "".join(_part(content))


_MEDIA = {
    "image": "image",
    "input_image": "image",
    "image_url": "image",
    "audio": "audio",
    "input_audio": "audio",
    "document": "document",
}
"""Parts whose data is nothing to read, and what they are called when nothing says it better."""
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)[;,]")


def _part(part: Object) -> Iterator[str]:
    kind = text(part, "type")
    if isinstance(part.get("text"), str):
        yield part["text"]
    elif kind == "content":
        yield content_text(part.get("content"))
    elif kind in _MEDIA:
        stated = text(part, "mimeType", "mime_type", "media_type") or text(part.get("source"), "media_type")
        inline = _DATA_URL.match(text(part, "image_url") or text(part.get("image_url"), "url"))
        yield f"[{stated or (inline[1] if inline else _MEDIA[kind])}]"
    elif kind == "resource_link" or text(part, "url"):
        address = text(part, "uri", "url")
        yield f"[{text(part, 'title', 'name') or address}]({address})"
    elif kind == "resource":
        inner = obj(part, "resource")
        yield text(inner, "text") or f"[{text(inner, 'uri') or 'resource'}]"
    else:
        yield text_of_value(part)
