"""What people type into Claude Code, as its session files keep it: commands and their output are wrapped in tags.

`/model opus` is three tags, `!ls` two messages with tags; reminders for the model are in the same texts.
"""

import re
from html import unescape
from typing import NamedTuple

_TAG = re.compile(
    r"<(command-name|command-message|command-args|local-command-stdout|local-command-stderr|local-command-caveat|"
    r"bash-input|bash-stdout|bash-stderr|system-reminder|task-notification)>"
)
_FIELD = re.compile(r"<(task-id|status|summary|result)>")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Typed(NamedTuple):
    said: str
    """The message itself; for a command of Claude Code, as it was typed."""
    command: str | None = None
    """A command that was typed for the shell."""
    printed: str | None = None
    """The output of such a command, emitted as its own event."""
    answered: str = ""
    """The output of a command of Claude Code."""
    task: dict[str, str] | None = None
    """The end of a background task: its `task-id`, `status`, `summary` and `result`."""


def typed(text: str) -> Typed:
    """Splits a text into what is outside the tags and what the tags say."""
    if "</" not in text:
        return Typed(text)
    rest, tags = _split(text, _TAG)
    name = tags.get("command-name", "").strip()
    said = " ".join(filter(None, (name, tags.get("command-args", "").strip(), rest.strip())))
    command = unescape(tags["bash-input"]).strip() if "bash-input" in tags else None
    return Typed(
        said,
        command,
        _joined(tags, "bash") if "bash-stdout" in tags or "bash-stderr" in tags else None,
        _joined(tags, "local-command"),
        _split(tags["task-notification"], _FIELD)[1] if "task-notification" in tags else None,
    )


def _split(text: str, opening: re.Pattern[str]) -> tuple[str, dict[str, str]]:
    """The text outside the tags, and the content of each tag. A tag that is never closed is text; its end is searched
    for once.
    """
    outside: list[str] = []
    tags: dict[str, str] = {}
    unclosed: set[str] = set()
    kept = at = 0
    while (found := opening.search(text, at)) is not None:
        at, name = found.end(), found[1]
        end = -1 if name in unclosed else text.find(f"</{name}>", at)
        if end < 0:
            unclosed.add(name)
            continue
        outside.append(text[kept : found.start()])
        tags[name] = _COLOURS.sub("", text[at:end])
        kept = at = end + len(name) + 3
    return "".join([*outside, text[kept:]]), tags


def _joined(tags: dict[str, str], prefix: str) -> str:
    streams = (unescape(tags.get(f"{prefix}-{name}", "")).strip("\n") for name in ("stdout", "stderr"))
    return "\n".join(filter(None, streams))
