"""Other agents' tools as ours: most have a name and arguments that our presenters take as they are."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from vantage.events import Json
from vantage.timeline.calls import normal_name

_OURS = re.compile(r"(?!mcp[_:])([\w-]+?)(?:__|[_./:-])(pty_[a-z_]+)")
"""One of our own tools, behind a server's name that nothing marks as one."""


class Native(NamedTuple):
    """The tool of ours that another's tool is drawn as."""

    tool: str
    args: Mapping[str, str] = {}
    """Their argument → ours."""


def mcp_tool(server: str, tool: str) -> str:
    """The name of an MCP server's tool, as presenters and render specs know it."""
    return f"mcp__{server}__{tool}" if server else tool


def is_built_in(tool: str) -> bool:
    """Whether a tool of this name is drawn without any extension.

    Extensions do not count: an event that is logged must not depend on what is registered when it comes.
    """
    from vantage.timeline.tools.built_in import PRESENTERS  # noqa: PLC0415 -- few protocols ask

    return normal_name(tool) in PRESENTERS


def native(table: Mapping[str, Native], tool: str, args: Json) -> tuple[str, Json]:
    """A call as our presenters know it; one that is not in the table as it came."""
    ours = table.get(tool)
    if ours is None:
        match = _OURS.fullmatch(tool)
        return (mcp_tool(match[1], match[2]) if match else tool), args
    if not isinstance(args, dict):
        return ours.tool, args
    return ours.tool, {ours.args.get(name, name): _plain(value) for name, value in args.items()}


def _plain(value: Json) -> Json:
    """Several names where we take one are read as one."""
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return value


_TASK_RESULT = re.compile(r"\s*<task [^>]*>\s*<task_result>\n?(.*?)\n?</task_result>\s*</task>\s*", re.DOTALL)
_TASK_NOTE = re.compile(r"\nagentId: \w+ \([^\n]*\)(?:\n<usage>.*</usage>)?\s*\Z", re.DOTALL)
_NOTE_LENGTH = 1000
"""A note is at the end, and shorter than this."""


def task_report(output: str) -> str:
    """A sub-agent's report without the tags that opencode puts around it, and what Claude Code adds for the model."""
    match = _TASK_RESULT.fullmatch(output)
    report = match[1] if match else output
    return report[:-_NOTE_LENGTH] + _TASK_NOTE.sub("", report[-_NOTE_LENGTH:])
