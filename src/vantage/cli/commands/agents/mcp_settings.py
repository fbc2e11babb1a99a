"""The settings files of MCP clients: where each one is, and its text with Vantage added.

Text in, text out: nothing here reads or writes files. The rest of a file is kept as it is. A file that cannot be parsed
(JSON with comments) is an error, and the lines to add by hand are printed.
"""

import json
import re
import tomllib
from collections.abc import Callable
from typing import Any, NamedTuple

from vantage.errors import InputError, VantageError

NAME = "vantage"
"""What the server is called in every client."""
BEGIN, END = "<!-- vantage: display -->", "<!-- vantage: end -->"
"""The marks around our part of a file of instructions, so that it can be replaced."""


class Launch(NamedTuple):
    """How a client starts `vantage mcp`."""

    command: str
    args: list[str]
    trusted: bool = False
    """Its tools are used without asking a person each time."""


class ClientFile(NamedTuple):
    path: str
    """`~` is the user's home, anything else is in the current directory."""
    edit: Callable[[str, Launch, str], str]
    """The file's text, how to start the server, the display instruction → the new text."""
    purpose: str

    def is_wanted(self, *, display: bool, trust: bool) -> bool:
        return {_DISPLAY: display, _TRUST: trust}.get(self.purpose, True)


class Client(NamedTuple):
    title: str
    files: tuple[ClientFile, ...]
    note: str = ""
    """What the person must know or do in addition."""
    can_trust: bool = False
    """It has a setting for tools that are used without asking."""


def _json_edit(change: Callable[[dict[str, Any], Launch], None]) -> Callable[[str, Launch, str], str]:
    def edit(text: str, launch: Launch, _instruction: str) -> str:
        try:
            settings = json.loads(text) if text.strip() else {}
        except ValueError as error:
            raise InputError(f"it is not plain JSON ({error})", hint="add the lines below by hand") from None
        if not isinstance(settings, dict):
            raise InputError("it is not a JSON object", hint="add the lines below by hand")
        change(settings, launch)
        return json.dumps(settings, indent=_indent(text), ensure_ascii=False) + "\n"

    return edit


def _indent(text: str) -> int | str:
    """The indentation of the file."""
    found = re.search(r"^([ \t]+)\"", text, re.MULTILINE)
    return found[1] if found else 2


def _under(key: str, **more: Any) -> Callable[[dict[str, Any], Launch], None]:
    """`{"mcpServers": {"vantage": {"command", "args"}}}`, the form that most clients have."""

    def change(settings: dict[str, Any], launch: Launch) -> None:
        _object(settings, key)[NAME] = {**more, "command": launch.command, "args": launch.args}

    return change


def _gemini(settings: dict[str, Any], launch: Launch) -> None:
    server = {"command": launch.command, "args": launch.args}
    _object(settings, "mcpServers")[NAME] = {**server, "trust": True} if launch.trusted else server


def _object(settings: dict[str, Any], key: str) -> dict[str, Any]:
    found = settings.setdefault(key, {})
    if not isinstance(found, dict):
        raise InputError(f"{key!r} in it is not an object", hint="add the lines below by hand")
    return found


def _opencode(settings: dict[str, Any], launch: Launch) -> None:
    settings.setdefault("$schema", "https://opencode.ai/config.json")
    _object(settings, "mcp")[NAME] = {"type": "local", "command": [launch.command, *launch.args], "enabled": True}


def _claude_hook(settings: dict[str, Any], launch: Launch) -> None:
    """The hook's output is added to the context of every prompt, so it follows the window's size."""
    hooks = _object(settings, "hooks").setdefault("UserPromptSubmit", [])
    if not isinstance(hooks, list):
        raise InputError("'hooks.UserPromptSubmit' in it is not a list", hint="add the lines below by hand")
    command = f"{_quoted(launch.command)} context"
    ours = re.compile(r"vantage['\"]? context$")
    hooks[:] = [
        group
        for group in hooks
        if not any(
            ours.search(str(hook.get("command", ""))) for hook in group.get("hooks", []) if isinstance(hook, dict)
        )
    ]
    hooks.append({"hooks": [{"type": "command", "command": command}]})


def _claude_trust(settings: dict[str, Any], _launch: Launch) -> None:
    allowed = _object(settings, "permissions").setdefault("allow", [])
    if not isinstance(allowed, list):
        raise InputError("'permissions.allow' in it is not a list", hint="add the lines below by hand")
    if f"mcp__{NAME}" not in allowed:
        allowed.append(f"mcp__{NAME}")


def _quoted(word: str) -> str:
    return word if re.fullmatch(r"[\w./~+-]+", word) else "'" + word.replace("'", "'\\''") + "'"


def _codex(text: str, launch: Launch, _instruction: str) -> str:
    """The server's section, at the end or in place of the existing one.

    `required`: without it Codex does not wait for a server, and begins its first turn without the tools.
    """
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"it is not TOML ({error})", hint="add the lines below by hand") from None
    section = "\n".join(
        [
            f"[mcp_servers.{NAME}]",
            f"command = {json.dumps(launch.command)}",
            f"args = {json.dumps(launch.args)}",
            "required = true",
            "startup_timeout_sec = 30",
            "tool_timeout_sec = 120",
            *(['default_tools_approval_mode = "approve"'] if launch.trusted else []),
        ]
    )
    present = re.compile(rf"^\[mcp_servers\.{NAME}\]\n(?:(?!\[).*\n?)*", re.MULTILINE)
    if present.search(text):
        edited = present.sub(lambda _: section + "\n\n", text, count=1).rstrip("\n") + "\n"
    else:
        edited = text.rstrip("\n") + ("\n\n" if text.strip() else "") + section + "\n"
    if tomllib.loads(edited)["mcp_servers"][NAME]["args"] != launch.args:
        raise VantageError("the section could not be put into it", hint="add the lines below by hand")
    return edited


def _instructions(text: str, _launch: Launch, instruction: str) -> str:
    """The display instruction between two marks; the text around them stays."""
    ours = f"{BEGIN}\n{instruction}\n{END}"
    between = re.compile(re.escape(BEGIN) + r".*?" + re.escape(END), re.DOTALL)
    if between.search(text):
        return between.sub(lambda _: ours, text, count=1)
    return text.rstrip("\n") + ("\n\n" if text.strip() else "") + ours + "\n"


_SERVER, _DISPLAY, _TRUST = "the MCP server", "what the display can show", "leave to use the terminal without asking"
_NOW = "The display is described as it is now: run this again when you move to another window size."

CLIENTS: dict[str, Client] = {
    "claude": Client(
        "Claude Code",
        (
            # alwaysLoad: Claude Code waits for it, and shows its tools without a search
            ClientFile("~/.claude.json", _json_edit(_under("mcpServers", type="stdio", alwaysLoad=True)), _SERVER),
            ClientFile("~/.claude/settings.json", _json_edit(_claude_hook), _DISPLAY),
            ClientFile("~/.claude/settings.json", _json_edit(_claude_trust), _TRUST),
        ),
        can_trust=True,
    ),
    "codex": Client(
        "Codex",
        (
            ClientFile("~/.codex/config.toml", _codex, _SERVER),
            ClientFile("~/.codex/AGENTS.md", _instructions, _DISPLAY),
        ),
        f"Codex waits for Vantage when it starts; required = false changes that.\n{_NOW}",
        can_trust=True,
    ),
    "gemini": Client(
        "Gemini CLI",
        (
            ClientFile("~/.gemini/settings.json", _json_edit(_gemini), _SERVER),
            ClientFile("~/.gemini/GEMINI.md", _instructions, _DISPLAY),
        ),
        _NOW,
        can_trust=True,
    ),
    "opencode": Client(
        "opencode",
        (
            ClientFile("~/.config/opencode/opencode.json", _json_edit(_opencode), _SERVER),
            ClientFile("~/.config/opencode/AGENTS.md", _instructions, _DISPLAY),
        ),
        _NOW,
    ),
    "pi": Client(
        "pi",
        (ClientFile("~/.pi/agent/mcp.json", _json_edit(_under("mcpServers", directTools=True)), _SERVER),),
        "pi speaks MCP through an extension: pi install npm:pi-mcp-adapter",
    ),
    "cursor": Client("Cursor", (ClientFile("~/.cursor/mcp.json", _json_edit(_under("mcpServers")), _SERVER),)),
    "vscode": Client(
        "VS Code",
        (ClientFile(".vscode/mcp.json", _json_edit(_under("servers", type="stdio")), _SERVER),),
        "Written for the workspace in the current directory.",
    ),
}
