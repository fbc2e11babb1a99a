"""A tool call as presenters get it: the tool, its arguments, its outcome, its output."""

import re
from functools import lru_cache
from typing import Any

import msgspec

from vantage.events import Json, text_of_value

_PREFIXES = ("functions.", "functions/", "tools/", "tools.")
_MCP = re.compile(r"mcp(?::[^.]+\.|__.+?__|_[^_]+_)(?=.)")


@lru_cache(maxsize=1024)
def normal_name(tool: str) -> str:
    """The tool's name as in the tables: lower case, without the prefixes that agents put before it."""
    name = tool.strip().lower()
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return _MCP.sub("", name, count=1) if name.startswith("mcp") else name


def is_foreign(tool: str) -> bool:
    """Whether the tool belongs to an MCP server, whose own render spec is then better than our presenter."""
    name = tool.strip().lower()
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return _MCP.match(name) is not None


def parse_json(text: str) -> Json:
    """The object or array that a text holds, or `None`."""
    stripped = text.strip()
    if not stripped or stripped[0] not in "{[" or stripped[-1] not in "}]":
        return None
    try:
        value = msgspec.json.decode(stripped)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    tool: str
    """The agent's name for the tool."""
    args: dict[str, Any] = {}
    """Empty when the arguments are not an object; then `raw_args` has them."""
    raw_args: Json = None
    proposed: bool = False
    """A person is asked whether it may run."""
    done: bool = False
    output: str = ""
    """The output as text: the `content` of a JSON answer, else all of it."""
    data: Json = None
    """The answer, when it is a JSON object or array."""
    unpacked: bool = False
    """Whether `output` is text from inside `data`."""
    error: str = ""
    """The tool's error message. A command that ran and failed is no error of its tool."""
    failed: bool = False
    details: Json = None
    duration_ms: float | None = None
    render_call: str = ""
    render_result: str = ""

    @property
    def name(self) -> str:
        return normal_name(self.tool)

    def verb(self, proposed: str, running: str, done: str) -> str:
        """The one of these words that fits: `Run`, `Running`, `Ran`."""
        return proposed if self.proposed else done if self.done else running

    def text(self, *keys: str) -> str:
        """The first of these arguments that exists, as text."""
        for key in keys:
            value = self.args.get(key)
            if value is not None and value != "":
                return text_of_value(value)
        return ""


def arguments(raw: Json) -> tuple[dict[str, Any], Json]:
    """Arguments as an object, and unchanged. An object may come as JSON text."""
    if isinstance(raw, dict):
        return raw, raw
    if isinstance(raw, str):
        value = parse_json(raw)
        if isinstance(value, dict):
            return value, value
    return {}, raw


def _content_text(content: Json) -> str | None:
    """The text of a `content`: a string, or a list of text parts as MCP and the model APIs write it."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and content and all(isinstance(part, dict) for part in content):
        texts = [part["text"] for part in content if isinstance(part.get("text"), str)]
        return "\n".join(texts) if texts else None
    return None


def answer(output: Json) -> tuple[str, Json, bool]:
    """A tool's output as text, its data when it is JSON, and whether the text was inside the data."""
    data = parse_json(output) if isinstance(output, str) else output if isinstance(output, dict | list) else None
    content = _content_text(data.get("content")) if isinstance(data, dict) else _content_text(data)
    if content is not None:
        return content, data, True
    return text_of_value(output), data, False


def _message(value: Json) -> str:
    """The message of an error: its text, or the message inside it."""
    if isinstance(value, dict):
        for key in ("message", "error", "detail", "text"):
            if value.get(key):
                return _message(value[key])
    return text_of_value(value)


def failure(output: str, data: Json, error: Json, *, is_error: bool) -> tuple[bool, str]:
    """Whether the tool failed, and its message without the word `Error:` before it."""
    said = error if error not in (None, "", False) else None
    if said is None and isinstance(data, dict) and data.get("error"):
        said = data["error"]
    failed = is_error or said is not None or (isinstance(data, dict) and data.get("success") is False)
    if not failed:
        return False, ""
    message = _message(said) if said is not None and said is not True else output
    if isinstance(data, dict) and message == output and not isinstance(data.get("content"), str):
        message = text_of_value(data.get("message") or data.get("content") or "") or message
    return True, re.sub(r"\A\s*error:\s*", "", message, flags=re.IGNORECASE).strip()
