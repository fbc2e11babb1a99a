"""Agents for tests: the official MCP client, over `vantage mcp` as a real process or over HTTP.

An `Agent` calls tools in one conversation. What it gets is checked against the tool's schema by the client itself.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from server_home import Server
from terminal_home import PATIENCE, environment
from terminals import VANTAGE
from vantage.server.security.tokens import Tokens

CARRIERS = ("stdio", "http")
MODES = {"now": "auto", "before": "legacy"}
"""The protocol as it is, and as it was: with a handshake, and over HTTP with sessions."""


def read_only(server: Server) -> str:
    """A token that may only look."""
    return Tokens(server.home).new(scope="read")[1]


class Refused(Exception):
    """An error that a tool answered with."""

    def __init__(self, result: Any) -> None:
        self.text = result.content[0].text
        self.error = result.meta["vantage/error"]
        self.code = self.error["code"]
        super().__init__(self.text)


class Agent:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.text = ""
        """Beside the fields of the last answer."""

    async def call(self, tool: str, progress: Any = None, /, **arguments: Any) -> dict[str, Any]:
        """The fields of an answer; raises Refused."""
        result = await self.client.call_tool(tool, arguments, PATIENCE, progress)
        self.text = result.content[0].text
        if result.is_error:
            assert result.structured_content is None
            raise Refused(result)
        assert "ok" not in result.structured_content
        return result.structured_content

    async def tools(self) -> dict[str, Any]:
        return {tool.name: tool for tool in (await self.client.list_tools()).tools}


def command(home: Path, *flags: str, cwd: Path | None = None, **env: str) -> StdioServerParameters:
    """How an agent starts its `vantage mcp`."""
    return StdioServerParameters(
        command=VANTAGE[0],
        args=[*VANTAGE[1:], "mcp", "--home", str(home), *flags],
        env=environment(**env),
        cwd=cwd or home,
    )


@asynccontextmanager
async def over_stdio(home: Path, *flags: str, mode: str = "auto", **how: Any) -> AsyncIterator[Agent]:
    async with Client(stdio_client(command(home, *flags, **how)), mode=mode) as client:
        yield Agent(client)


@asynccontextmanager
async def over_http(
    server: Server, query: str = "", *, token: str | None = None, mode: str = "auto"
) -> AsyncIterator[Agent]:
    headers = {"Authorization": f"Bearer {server.token if token is None else token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
        transport = streamable_http_client(f"{server.url}/mcp{query}", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield Agent(client)


@asynccontextmanager
async def agent(server: Server, carrier: str = "stdio", *, mode: str = "auto", **settings: Any) -> AsyncIterator[Agent]:
    """An agent with all tools, in a conversation of its own."""
    with server.conversation(**settings) as conversation:
        if carrier == "stdio":
            async with over_stdio(server.home, "--tools", "all", "--conversation", conversation, mode=mode) as found:
                yield found
        else:
            async with over_http(server, f"?tools=all&conversation={conversation}", mode=mode) as found:
                yield found
