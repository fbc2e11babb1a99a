"""The answers to what every client sends first, without the SDK and without a server: server info and tool list.

A server that has to be started needs a second or two. Clients do not wait for it: they continue without its tools. So a
pipe without a server gives the same answers as that server, word by word.
"""

from collections.abc import Callable
from typing import Any

from vantage import __version__
from vantage.server.mcp.tools import INSTRUCTIONS, Set, Tool, listed

NAME, TITLE = "vantage", "Vantage terminal"
TOOLS_TTL_MS = 3_600_000
_HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
_NOW = ("2026-07-28",)
"""Revisions of the protocol that begin with a handshake; and those since."""
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_SERVER = {"name": NAME, "title": TITLE, "version": __version__}
_ABOUT = {
    "capabilities": {
        "prompts": {"listChanged": False},
        "resources": {"listChanged": False, "subscribe": False},
        "tools": {"listChanged": False},
    },
    "instructions": INSTRUCTIONS,
}


RESOURCES = {
    "display": ("instructions", "text/markdown", "How to format answers for the people who read this conversation"),
    "screen": ("pty_read_screen", "text/plain", "What is on the terminal's screen"),
}
"""Kind of resource → the verb that reads it, its title, its description."""
TEMPLATES = [
    {
        "uriTemplate": f"vantage://conversations/{{conversation_id}}/{kind}",
        "name": kind,
        "description": words,
        "mimeType": mime,
    }
    for kind, (_, mime, words) in RESOURCES.items()
]
PROMPT = {
    "name": "display",
    "title": "Format for the readers",
    "description": "How to format answers for the displays that people read this conversation on",
    "arguments": [
        {"name": "conversation_id", "description": "Which conversation. Default: yours", "required": False},
    ],
}


def greet(message: dict[str, Any], tools: Set, conversation_id: str) -> dict[str, Any] | None:
    """The result of a request; None for one that only the server can answer."""
    params = message.get("params") or {}
    if not isinstance(params, dict):
        return None
    meta = params.get("_meta")
    version = meta.get(_VERSION_KEY) if isinstance(meta, dict) else None
    if version is not None and version not in _NOW:
        return None
    method = message.get("method")
    if method == "initialize":
        asked = params.get("protocolVersion")
        spoken = asked if asked in _HANDSHAKE else _HANDSHAKE[-1]
        return {**_ABOUT, "serverInfo": _SERVER, "protocolVersion": spoken}
    if method == "ping" and version is None:
        return {}
    if method == "server/discover" and version is not None:
        return _fresh_for(0) | _ABOUT | {"supportedVersions": list(_NOW)}
    lists: dict[Any, Callable[[], dict[str, Any]]] = {
        "tools/list": lambda: {"tools": [as_listed(each) for each in listed(tools, reading=False)]},
        "prompts/list": lambda: {"prompts": [PROMPT]},
        "resources/list": lambda: {"resources": resources(conversation_id)},
        "resources/templates/list": lambda: {"resourceTemplates": TEMPLATES},
    }
    if method not in lists:
        return None
    return (_fresh_for(TOOLS_TTL_MS if method == "tools/list" else 0) if version else {}) | lists[method]()


def _fresh_for(ttl_ms: int) -> dict[str, Any]:
    meta = {"io.modelcontextprotocol/serverInfo": _SERVER}
    return {"resultType": "complete", "ttlMs": ttl_ms, "cacheScope": "private", "_meta": meta}


def resources(conversation_id: str) -> list[dict[str, Any]]:
    """The resources of a conversation."""
    return [
        {
            "uri": f"vantage://conversations/{conversation_id}/{kind}",
            "name": f"{kind} of {conversation_id}",
            "description": words,
            "mimeType": mime,
        }
        for kind, (_, mime, words) in RESOURCES.items()
    ]


def as_listed(tool: Tool) -> dict[str, Any]:
    """A tool as an entry of the list."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.takes,
        "outputSchema": tool.returns,
        "annotations": {
            "title": tool.title,
            "readOnlyHint": tool.read_only,
            "destructiveHint": tool.destructive,
            "idempotentHint": tool.idempotent,
            "openWorldHint": tool.open_world,
        },
    }
