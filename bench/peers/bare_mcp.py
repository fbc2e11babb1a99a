"""An MCP server with nothing on it: one tool of the official SDK that answers what it always answers.

    python bench/peers/bare_mcp.py stdio
    python bench/peers/bare_mcp.py http      prints its port

The tool is called as ours is, and has its schemas and an answer of ours: what both spend on reading, checking and
writing messages is the same.
"""

import socket
import sys
from typing import Any

import mcp_types as types
import uvicorn
import uvloop
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from vantage.server.mcp.greeting import as_listed
from vantage.server.mcp.tools import TOOLS

TOOL = types.Tool.model_validate(as_listed(TOOLS["pty_status"]))
STATUS: dict[str, Any] = {
    "mode": "idle",
    "cursor": 6367,
    "cwd": "/root",
    "foreground": "bash",
    "cols": 120,
    "rows": 40,
    "last_exit_code": 0,
}
TEXT = "idle, in /root, foreground bash, last exit 0"


async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[TOOL])


async def call_tool(_context: Any, _params: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=TEXT)], structured_content=STATUS)


async def over_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


async def over_http(server: Server[Any]) -> None:
    manager = StreamableHTTPSessionManager(server)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await manager.handle_request(scope, receive, send)

    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", timeout_keep_alive=600)
    async with manager.run():
        await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    bare: Server[Any] = Server("bare", version="0", on_list_tools=list_tools, on_call_tool=call_tool)
    bare.middleware.clear()  # as ours: it would tell a tracer of every message
    uvloop.run({"stdio": over_stdio, "http": over_http}[sys.argv[1]](bare))
