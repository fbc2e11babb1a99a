"""The server as a process: it locks the home, listens on loopback and on a socket of the home, and shuts down
cleanly.
"""

import asyncio
import os
import resource
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

from vantage import __version__, extensions
from vantage.conversation.feed.hub import Hub
from vantage.conversation.manager import Manager
from vantage.conversation.search.index import SearchIndex
from vantage.conversation.store.files.disk_errors import damaged
from vantage.conversation.store.files.writing import write_atomically
from vantage.errors import HomeTaken, Unavailable, UnsafeHome
from vantage.ptyhost import start
from vantage.ptyhost.ownership import NotPrivate
from vantage.ptyhost.protocol import socket_path
from vantage.server.app import make_app
from vantage.server.config import Config
from vantage.server.http.protocol import SPARE, Protocol
from vantage.server.listening import listen, listen_here
from vantage.server.search_export import SearchAndExport
from vantage.server.security.guard import Guard
from vantage.server.security.tokens import MAIN, Tokens
from vantage.server.services import Services
from vantage.server.ws import sockets
from vantage.timeline.tools.registry import ToolRegistry

QUICK_S = 0.5
"""Seconds that requests may continue when the server ends. After that they are answered 503."""
GRACE_S = 3
"""Seconds that connections may stay open when the server ends. After that they are closed."""
KEEP_ALIVE_S = 75
OTHER_FILES = 100
"""Descriptors kept free for search, exports, past screens and the host: neither connections nor conversations' logs."""
LEAST_CONNECTIONS = 16

log = structlog.get_logger("vantage.server")


class _Uvicorn(uvicorn.Server):
    """uvicorn without its signal handlers, so that `run` cleans up after a shutdown; its loop wakes once a second."""

    def __init__(self, config: uvicorn.Config, guard: Guard, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._guard = guard
        self._ready = ready
        self._leaving = asyncio.Event()

    def leave(self) -> None:
        """Ends the server; without waiting for connections when it is called a second time."""
        self.force_exit = self.should_exit
        self.should_exit = True
        self._leaving.set()

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.should_exit:
            self._ready()

    async def main_loop(self) -> None:
        while not self.should_exit:
            await self.on_tick(0)  # this sets the date header
            with suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await self._leaving.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        timer = asyncio.get_running_loop().call_later(QUICK_S, self._guard.leave)
        try:
            await super().shutdown(sockets)
        finally:
            timer.cancel()


def raise_file_limit() -> None:
    """Raises the soft limit on open files to the hard one. Shells get the limit that the server was started with."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        start.shell_files = soft
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _most_connections(files: int) -> int:
    """How many connections may be open at once, so that descriptors are left for everything else."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max((soft if soft != resource.RLIM_INFINITY else 1 << 20) - files - OTHER_FILES - SPARE, LEAST_CONNECTIONS)


async def run(config: Config, say: Callable[[str], None] = lambda _: None) -> None:
    """Serves until SIGINT or SIGTERM. Shells live on. `say` is called once, with a link that logs a browser in."""
    raise_file_limit()
    async with AsyncExitStack() as stack:
        installed = extensions.installed(lambda problem: log.warning("an extension is left out", why=problem))
        manager = await _take_home(config, installed, stack)
        tcp = listen(config)
        stack.callback(tcp.close)
        port = tcp.getsockname()[1]
        await asyncio.to_thread(installed.discover)  # now: a later import would hold up every conversation
        hub = Hub(manager.bus, tools=manager.specs.tools)
        search = SearchIndex(config.home)
        stack.push_async_callback(search.close)
        search_export = SearchAndExport(config.home, search, manager.specs.tools)
        stack.callback(search_export.close)
        manager.extra_handlers |= search_export.requests()
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
        path = _socket_path(config.home)
        local = listen_here(path)
        stack.callback(_remove, Path(path))
        address = config.home / "server.json"
        stack.callback(_remove, address)

        def ready() -> None:
            said = {"pid": os.getpid(), "url": services.url, "socket": path, "version": __version__}
            try:
                write_atomically(address, msgspec.json.encode(said))
            except Unavailable as error:  # a full disk: a client that knows the address can still connect
                log.warning("the address is not written down", path=str(address), why=str(error))
            except OSError as error:
                raise damaged(address, error) from None
            search.keep_up()
            log.info("serving", **said)
            say(f"{services.url}/login#{services.auth.make_link(MAIN, os.getuid())[1]}")

        guard = make_app(services)
        server = _Uvicorn(_settings(guard, config, _most_connections(manager.max_files)), guard, ready)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, server.leave)
        try:
            await server.serve(sockets=[tcp, local])
        finally:
            if services.start_error is not None:
                raise services.start_error
        log.info("ended")


async def _take_home(config: Config, installed: ToolRegistry, stack: AsyncExitStack) -> Manager:
    manager = Manager(config.home, retention=config.retention, engine=config.engine, installed=installed)
    try:
        return await stack.enter_async_context(manager)
    except HomeTaken as error:
        with suppress(OSError, ValueError, KeyError, TypeError):
            said = msgspec.json.decode((config.home / "server.json").read_bytes())
            if error.message.endswith(f" {said['pid']}"):  # a killed server leaves its address in the file
                error = HomeTaken(f"{error.message}, which serves {said['url']}", hint=error.hint)
        raise error from None


def _socket_path(home: Path) -> str:
    try:
        return socket_path(str(home), "server.sock")
    except NotPrivate as error:
        raise UnsafeHome(
            error.message, hint=f"{error.hint}, or set XDG_RUNTIME_DIR to a directory of your own"
        ) from None
    except OSError as error:
        raise Unavailable(str(error), hint="run 'vantage doctor'") from None


def _settings(guard: Guard, config: Config, most: int) -> uvicorn.Config:
    settings: dict[str, Any] = {
        "log_config": None,
        "access_log": False,
        "loop": "uvloop",
        "http": partial(Protocol, timeout=config.request_wait, max_connections=most),
        **sockets.UVICORN,
        "timeout_graceful_shutdown": GRACE_S,
        "timeout_keep_alive": KEEP_ALIVE_S,
        "server_header": False,
        "lifespan": "on",
        "proxy_headers": False,  # a header must not replace the peer's address
    }
    return uvicorn.Config(guard, **settings)


def _url(host: str, port: int) -> str:
    """The server's address, as this machine reaches it."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 -- all addresses are ours too
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _remove(path: Path) -> None:
    with suppress(OSError):  # a directory in its place is not ours to remove
        path.unlink()
