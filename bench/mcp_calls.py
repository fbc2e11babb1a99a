"""What a tool call costs over MCP, by the clock on the wall: the official client, over `vantage mcp` and over `/mcp`.

The peer is a server of the same SDK whose tool does nothing (`bare_mcp`), so that what is left is ours. For a command
it is the same command over plain HTTP with such a call behind it.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from typing import Any

import httpx2
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from bench.run.answers import AT_END, Milliseconds
from bench.server import Server, exec_http
from bench.terminal import Run, _Loop

CALLS = 100
PAUSE_S = 0.002
"""Between two calls: the shell is at its prompt by then."""
BARE = Path(__file__).parent / "peers/bare_mcp.py"
READ, EXEC = ("pty_status", {}), ("pty_exec_block", {"command": "true"})

Tool = tuple[str, dict[str, str]]
Opening = Callable[[AsyncExitStack], Any]
"""Gives a transport for the client; what it needs besides is entered into the stack."""


class _Agent:
    """The official client, open between rounds. One task opens and closes it: the SDK wants it so."""

    def __init__(self, opening: Opening) -> None:
        self._loop = _Loop()
        self._leaving = asyncio.Event()
        self._client: Client = self._loop.run(self._open(opening))
        AT_END.insert(0, lambda: self._loop.run(self._close()))

    async def _open(self, opening: Opening) -> Client:
        ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._living = asyncio.create_task(self._live(opening, ready))
        await asyncio.wait([ready, self._living], return_when=asyncio.FIRST_COMPLETED)
        return ready.result() if ready.done() else self._living.result()

    async def _live(self, opening: Opening, ready: asyncio.Future[Client]) -> Any:
        async with AsyncExitStack() as stack:
            transport = await opening(stack)
            ready.set_result(await stack.enter_async_context(Client(transport)))
            await self._leaving.wait()

    async def _close(self) -> None:
        self._leaving.set()
        await self._living

    def called(self, tool: Tool) -> float:
        """Milliseconds of a call, at the median."""
        return self._loop.run(self._called(*tool))

    async def _called(self, name: str, arguments: dict[str, str]) -> float:
        times = []
        for _ in range(CALLS):
            await asyncio.sleep(PAUSE_S)
            start = time.perf_counter()
            answer = await self._client.call_tool(name, arguments)
            times.append(time.perf_counter() - start)
            assert not answer.is_error, answer
        return median(times) * 1000


def _stdio(*command: str) -> Opening:
    async def opening(_: AsyncExitStack) -> Any:
        first, *others = map(str, (sys.executable, *command))
        return stdio_client(StdioServerParameters(command=first, args=others, env=dict(os.environ)))

    return opening


def _http(port: int, query: str = "", token: str = "") -> Opening:
    async def opening(stack: AsyncExitStack) -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        client = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=60))
        return streamable_http_client(f"http://127.0.0.1:{port}/mcp{query}", http_client=client)

    return opening


def _ours_stdio(server: Server) -> Opening:
    return _stdio("-P", "-m", "vantage", "mcp", "--home", server.home, "--conversation", "c")


def _ours_http(server: Server) -> Opening:
    return _http(server.port, "?conversation=c", server.token)


def _bare_stdio() -> Opening:
    return _stdio(str(BARE), "stdio")


def _bare_http() -> Opening:
    process = subprocess.Popen([sys.executable, BARE, "http"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    AT_END.append(lambda: (process.terminate(), process.wait()))
    return _http(int(process.stdout.readline()))


def _ours(carried: Callable[[Server], Opening], tool: Tool) -> Callable[[Path], Run]:
    def prepare(_corpus: Path) -> Run:
        server = Server()
        server.conversation("c")
        agent = _Agent(carried(server))
        agent.called(EXEC)  # there is a shell now
        return lambda: Milliseconds(agent.called(tool))

    return prepare


def _bare(carried: Callable[[], Opening]) -> Callable[[Path], Callable[[], Milliseconds]]:
    def prepare(_corpus: Path) -> Callable[[], Milliseconds]:
        agent = _Agent(carried())
        return lambda: Milliseconds(agent.called(READ))

    return prepare


def _parts(carried: Callable[[], Opening]) -> Callable[[Path], Run]:
    """The command over plain HTTP, and a call of a tool that does nothing: the two together."""

    def prepare(corpus: Path) -> Run:
        over_http, nothing = exec_http(corpus), _bare(carried)(corpus)
        return lambda: Milliseconds(over_http() + nothing())

    return prepare


read_stdio, read_http = _ours(_ours_stdio, READ), _ours(_ours_http, READ)
exec_stdio, exec_mcp = _ours(_ours_stdio, EXEC), _ours(_ours_http, EXEC)
bare_stdio, bare_http = _bare(_bare_stdio), _bare(_bare_http)
parts_stdio, parts_http = _parts(_bare_stdio), _parts(_bare_http)
