"""Other agents' tools as ours: most are only renamed, with their arguments."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from vantage.events import Json
from vantage.timeline.calls import normal_name

_OURS = re.compile(r"(?!mcp[_:])([\w-]+?)(?:__|[_./:-])(pty_[a-z_]+)")
"""A tool of ours behind the name of an MCP server, without the `mcp` prefix."""


class Native(NamedTuple):
    """The tool of ours as which another agent's tool is drawn."""

    tool: str
    args: Mapping[str, str] = {}
    """Their argument → ours."""


def mcp_tool(server: str, tool: str) -> str:
    """The name under which presenters and render specs know a tool of an MCP server."""
    return f"mcp__{server}__{tool}" if server else tool


def is_built_in(tool: str) -> bool:
    """Whether a tool of this name is drawn without any extension.

    Extensions do not count: an event that is logged must not depend on what is registered when it comes.
    """
    from vantage.timeline.tools.built_in import PRESENTERS  # noqa: PLC0415 -- few protocols need it

    return normal_name(tool) in PRESENTERS


def native(table: Mapping[str, Native], tool: str, args: Json) -> tuple[str, Json]:
    """A call under our names. A tool that is not in the table keeps its name and arguments."""
    ours = table.get(tool)
    if ours is None:
        match = _OURS.fullmatch(tool)
        return (mcp_tool(match[1], match[2]) if match else tool), args
    if not isinstance(args, dict):
        return ours.tool, args
    return ours.tool, {ours.args.get(name, name): _plain(value) for name, value in args.items()}


def _plain(value: Json) -> Json:
    """A list of names becomes one text, for arguments that take one."""
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return value


_TASK_RESULT = re.compile(r"\s*<task [^>]*>\s*<task_result>\n?(.*?)\n?</task_result>\s*</task>\s*", re.DOTALL)
_TASK_NOTE = re.compile(r"\nagentId: \w+ \([^\n]*\)(?:\n<usage>.*</usage>)?\s*\Z", re.DOTALL)
_NOTE_LENGTH = 1000
"""A note is at the end of a text, and shorter than this."""


def task_report(output: str) -> str:
    """A sub-agent's report without the tags that opencode puts around it, and without the note of Claude Code for the
    model.
    """
    match = _TASK_RESULT.fullmatch(output)
    report = match[1] if match else output
    return report[:-_NOTE_LENGTH] + _TASK_NOTE.sub("", report[-_NOTE_LENGTH:])
