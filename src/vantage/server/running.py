"""The server as a process: it takes the home, listens on loopback and on a socket of the home, and leaves cleanly."""

import asyncio
import os
import signal
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import structlog
import uvicorn

from vantage import __version__
from vantage.conversation.files import damaged, write_atomically
from vantage.conversation.hub import Hub
from vantage.conversation.manager import Manager
from vantage.conversation.search_index import SearchIndex
from vantage.errors import HomeTaken
from vantage.ptyhost.protocol import socket_path
from vantage.server import sockets
from vantage.server.app import make_app
from vantage.server.config import Config
from vantage.server.guard import Guard
from vantage.server.http_protocol import Protocol
from vantage.server.listening import listen, listen_here
from vantage.server.owned import Owned
from vantage.server.services import Services
from vantage.server.tokens import MAIN, Tokens

QUICK_S = 0.5
"""Requests get so long to finish when the server ends; those that still wait then are told that it does."""
GRACE_S = 3
"""After that nobody is waited for."""
KEEP_ALIVE_S = 75

log = structlog.get_logger("vantage.server")


class _Uvicorn(uvicorn.Server):
    """Signals are ours, so that what is left to do after a shutdown is done; and it wakes up to do something only."""

    def __init__(self, config: uvicorn.Config, guard: Guard, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._guard = guard
        self._ready = ready
        self._leaving = asyncio.Event()

    def leave(self) -> None:
        """Ends it; at once when it is told so twice."""
        self.force_exit = self.should_exit
        self.should_exit = True
        self._leaving.set()

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def main_loop(self) -> None:
        while not self.should_exit:
            await self.on_tick(0)  # the date in the answers
            with suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await self._leaving.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        timer = asyncio.get_running_loop().call_later(QUICK_S, self._guard.leave)
        try:
            await super().shutdown(sockets)
        finally:
            timer.cancel()


async def run(config: Config, say: Callable[[str], None] = lambda _: None) -> None:
    """Serves until a signal says otherwise. Shells live on. `say` is told once, how a browser logs in."""
    async with AsyncExitStack() as stack:
        manager = await _take_home(config, stack)
        tcp = listen(config)
        stack.callback(tcp.close)
        port = tcp.getsockname()[1]
        hub = Hub(manager.bus)
        search = SearchIndex(config.home)
        stack.push_async_callback(search.close)
        owned = Owned(config.home, search)
        stack.callback(owned.close)
        manager.also |= owned.requests()
        stack.callback(hub.close)
        services = Services(
            bus=manager.bus,
            hub=hub,
            home=config.home,
            config=config,
            tokens=Tokens(config.home),
            url=_url(config.host, port),
            port=port,
        )
        path = socket_path(str(config.home), "server.sock")
        local = listen_here(path)
        stack.callback(_remove, Path(path))
        address = config.home / "server.json"
        stack.callback(_remove, address)

        def ready() -> None:
            said = {"pid": os.getpid(), "url": services.url, "socket": path, "version": __version__}
            try:
                write_atomically(address, msgspec.json.encode(said))
            except OSError as error:
                raise damaged(address, error) from None
            search.keep_up()
            log.info("serving", **said)
            say(f"{services.url}/login#{services.auth.link(MAIN)[0]}")

        guard = make_app(services)
        server = _Uvicorn(_settings(guard, config), guard, ready)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, server.leave)
        await server.serve(sockets=[tcp, local])
        log.info("ended")


async def _take_home(config: Config, stack: AsyncExitStack) -> Manager:
    try:
        return await stack.enter_async_context(Manager(config.home, retention=config.retention))
    except HomeTaken as error:
        with suppress(OSError, ValueError, KeyError, TypeError):
            said = msgspec.json.decode((config.home / "server.json").read_bytes())
            if error.message.endswith(f" {said['pid']}"):  # a server that was killed leaves its address behind
                error = HomeTaken(f"{error.message}, which serves {said['url']}", hint=error.hint)
        raise error from None


def _settings(guard: Guard, config: Config) -> uvicorn.Config:
    settings: dict[str, Any] = {
        "log_config": None,
        "access_log": False,
        "loop": "uvloop",
        "http": partial(Protocol, patience=config.request_wait),
        **sockets.UVICORN,
        "timeout_graceful_shutdown": GRACE_S,
        "timeout_keep_alive": KEEP_ALIVE_S,
        "server_header": False,
        "lifespan": "on",
        "proxy_headers": False,  # whoever connects is who it is
    }
    return uvicorn.Config(guard, **settings)


def _url(host: str, port: int) -> str:
    """How the server is reached from this machine."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 -- all addresses are ours too
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _remove(path: Path) -> None:
    with suppress(OSError):  # whatever somebody has put in its place is theirs
        path.unlink()
