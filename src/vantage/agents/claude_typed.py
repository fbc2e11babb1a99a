"""What people type into Claude Code, as its session files keep it: tags stand around commands and what they printed.

`/model opus` is three tags, `!ls` two messages of them; reminders for the model stand in the same texts.
"""

import re
from html import unescape
from typing import NamedTuple

_TAG = re.compile(
    r"<(command-name|command-message|command-args|local-command-stdout|local-command-stderr|local-command-caveat|"
    r"bash-input|bash-stdout|bash-stderr|system-reminder|task-notification)>(.*?)</\1>\s*",
    re.DOTALL,
)
_FIELD = re.compile(r"<(task-id|status|summary|result)>(.*?)</\1>", re.DOTALL)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Typed(NamedTuple):
    said: str
    """The message itself; a command of Claude Code's own as it was typed."""
    command: str | None = None
    """A command that was typed for the shell."""
    printed: str | None = None
    """What such a command printed, which is told by itself."""
    answered: str = ""
    """What a command of Claude Code's own said."""
    task: dict[str, str] | None = None
    """That a task in the background is over: its `task-id`, `status`, `summary` and `result`."""


def typed(text: str) -> Typed:
    """A text without its tags, and what they say."""
    if "</" not in text:
        return Typed(text)
    tags: dict[str, str] = {}
    for tag, content in _TAG.findall(text):
        tags[tag] = _COLOURS.sub("", content)
    name = tags.get("command-name", "").strip()
    said = " ".join(filter(None, (name, tags.get("command-args", "").strip(), _TAG.sub("", text).strip())))
    command = unescape(tags["bash-input"]).strip() if "bash-input" in tags else None
    return Typed(
        said,
        command,
        _joined(tags, "bash") if "bash-stdout" in tags or "bash-stderr" in tags else None,
        _joined(tags, "local-command"),
        dict(_FIELD.findall(tags["task-notification"])) if "task-notification" in tags else None,
    )


def _joined(tags: dict[str, str], prefix: str) -> str:
    streams = (unescape(tags.get(f"{prefix}-{name}", "")).strip("\n") for name in ("stdout", "stderr"))
    return "\n".join(filter(None, streams))
