"""The two entrances for MCP: `/mcp` of the application, and the socket of `vantage mcp`.

The SDK takes longer to import than everything else together. It is loaded in a thread with the first request for it, so
a server without agents never loads it.
"""

import asyncio
import importlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from types import ModuleType
from typing import Any

from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from vantage.ptyhost.protocol import socket_path
from vantage.server.listening import listen_here
from vantage.server.mcp.lines import NAME, Lines
from vantage.server.services import Services

PATH = "/mcp"


class McpMount:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._wanted = asyncio.Event()
        self._loaded: asyncio.Future[tuple[ModuleType, Any]] | None = None

    def routes(self) -> list[BaseRoute]:
        return [Route(PATH, self), Route(f"{PATH}/{{below:path}}", self)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["path_template"] = PATH
        sdk, manager = await self._ready()
        user = sdk.user(scope["state"]["token_id"])  # a session belongs to its token
        await manager.handle_request({**scope, "user": user}, receive, send)

    async def _ready(self) -> tuple[ModuleType, Any]:
        assert self._loaded is not None
        self._wanted.set()
        return await asyncio.shield(self._loaded)

    async def _sdk(self) -> ModuleType:
        return (await self._ready())[0]

    @asynccontextmanager
    async def lifespan(self, _: object) -> AsyncIterator[None]:
        self._loaded = asyncio.get_running_loop().create_future()
        lines = Lines(self._services, self._sdk)
        path = socket_path(str(self._services.home), NAME)
        try:
            listener = await lines.start(listen_here(path))
        except Exception as error:
            self._services.start_error = error  # the web server logs it, and ends without it
            raise
        leaving = asyncio.Event()
        serving = asyncio.create_task(self._serve(leaving))
        try:
            yield
        finally:
            listener.close()
            await lines.end()
            leaving.set()
            self._wanted.set()
            await serving
            with suppress(FileNotFoundError):
                os.unlink(path)  # noqa: PTH108

    async def _serve(self, leaving: asyncio.Event) -> None:
        """Loads the SDK, then keeps its HTTP side open; it is entered and left in the same task."""
        assert self._loaded is not None
        await self._wanted.wait()
        if leaving.is_set():
            return
        try:
            sdk = await asyncio.to_thread(importlib.import_module, "vantage.server.mcp.sdk")
            async with sdk.serving_http(self._services) as manager:
                self._loaded.set_result((sdk, manager))
                await leaving.wait()
        except Exception as error:  # noqa: BLE001 -- requests for MCP fail with it; the server continues
            if not self._loaded.done():
                self._loaded.set_exception(error)
                self._loaded.exception()
