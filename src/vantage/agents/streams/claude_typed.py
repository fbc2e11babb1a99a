"""What people type into Claude Code, as its session files keep it: tags stand around commands and what they printed.

`/model opus` is three tags, `!ls` two messages of them; reminders for the model stand in the same texts.
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
    """What is outside of the tags, and what is in each. One that is never closed is none, and is looked for once."""
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
