"""The socket of `vantage mcp`: lines of JSON-RPC exactly as on stdio, after one line with the token.

An agent's process is nothing but that pipe, so it starts at once, and all of them share this server.
"""

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import ModuleType
from typing import Any, Literal

import anyio
import msgspec

from vantage.conversation.store.conversation_folder import check_id
from vantage.errors import InputError, VantageError
from vantage.server.mcp.calls import Caller
from vantage.server.security.scoped import Reach
from vantage.server.security.tokens import Token
from vantage.server.services import Services

NAME = "mcp.sock"
MAX_LINE = 16 << 20
HELLO_S = 10.0
LEAVING_S = 1.0
WELCOME = b'{"ok":true,"call_ids":true}\n'
"""The answer to the first line. `call_ids`: a call that is sent again with its id is not done twice."""
REVOKED = b'{"jsonrpc":"2.0","method":"notifications/vantage/revoked"}\n'
"""The last line of a pipe whose token was revoked."""
UNWRITTEN = 64
"""Bytes that are buffered for a slow reader before answers wait for it."""


class Hello(msgspec.Struct):
    """The first line of a pipe."""

    token: str
    conversation: str
    tools: Literal["core", "all"] = "core"
    cwd: str | None = None
    env: dict[str, str] | None = None


class Lines:
    """Serves pipes. `sdk` returns the module for MCP, once it is loaded."""

    def __init__(self, services: Services, sdk: Callable[[], Awaitable[ModuleType]]) -> None:
        self._services = services
        self._sdk = sdk
        self._served: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def start(self, local: socket.socket) -> asyncio.Server:
        return await asyncio.start_unix_server(self._connected, sock=local, limit=MAX_LINE)

    async def end(self) -> None:
        """Aborts the pipes: `vantage mcp` sends the calls that were open to the next server."""
        served = dict(self._served)
        for writer in served.values():
            writer.transport.abort()
        if served:
            _, left = await asyncio.wait(served, timeout=LEAVING_S)
            for task in left:
                task.cancel()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._served[task] = writer
        try:
            with suppress(ConnectionError, asyncio.CancelledError):
                await self._serve(reader, writer)
        finally:
            del self._served[task]
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HELLO_S):
                caller, token = self._caller(await reader.readline())
        except (VantageError, TimeoutError, ValueError) as error:
            await _put(writer, json.dumps({"ok": False, "error": str(error)}).encode() + b"\n")
            return
        await _put(writer, WELCOME)
        sdk = await self._sdk()
        server = sdk.make_server(lambda _: caller)
        incoming, messages = anyio.create_memory_object_stream[Any](0)
        answers, outgoing = anyio.create_memory_object_stream[Any](UNWRITTEN)
        with self._services.revocations.ends(token.id, lambda: _hang_up(writer)):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_read, sdk, reader, writer, incoming)
                tasks.start_soon(_write, sdk, writer, outgoing)
                await server.run(messages, answers, server.create_initialization_options())
                tasks.cancel_scope.cancel()

    def _caller(self, line: bytes) -> tuple[Caller, Token]:
        try:
            hello = msgspec.json.decode(line, type=Hello)
        except msgspec.MsgspecError:  # its message may contain the client's environment
            raise InputError("expected one line that says who it is", hint="update vantage on both sides") from None
        token = self._services.tokens.identify(hello.token)
        if token is None:
            raise InputError("the token is not valid here", hint="is it the token of this --home?")
        given = {"cwd": hello.cwd, "env": hello.env}
        settings = {name: value for name, value in given.items() if value is not None}
        caller = Caller(
            self._services,
            tools=hello.tools,
            scope=token.scope,
            reach=Reach(self._services.home, token) if token.scope == "agent" else None,
            conversation=check_id(hello.conversation),
            settings=settings,
        )
        return caller, token


def _hang_up(writer: asyncio.StreamWriter) -> None:
    """Ends a pipe whose token was revoked, with a reason: it must not connect again."""
    if not writer.is_closing():
        writer.write(REVOKED)
        writer.close()


async def _read(sdk: ModuleType, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, incoming: Any) -> None:
    async with incoming:
        while True:
            try:
                line = await reader.readline()
            except ValueError:  # longer than MAX_LINE
                line = b"-"
            except ConnectionError:
                return
            if not line:
                return
            if not line.strip():
                continue
            try:
                message = sdk.decode(line)
            except ValueError:  # the reason repeats what was sent
                await _put(writer, _NOT_A_MESSAGE)
                continue
            await incoming.send(message)


async def _write(sdk: ModuleType, writer: asyncio.StreamWriter, outgoing: Any) -> None:
    async with outgoing:
        async for message in outgoing:
            await _put(writer, sdk.encode(message))


async def _put(writer: asyncio.StreamWriter, line: bytes) -> None:
    """Writes, unless the client has closed the pipe."""
    if not writer.is_closing():
        with suppress(ConnectionError):
            writer.write(line)
            await writer.drain()


_EXPECTED = f"expected one JSON-RPC message a line, of at most {MAX_LINE:,} bytes"
_NOT_A_MESSAGE = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":%b}}\n' % json.dumps(_EXPECTED).encode()
