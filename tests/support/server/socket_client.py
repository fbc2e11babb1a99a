"""A client of `/v1/ws` for tests, and a server in this process whose times and limits a test may choose."""

import asyncio
import json
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from websockets.asyncio.client import connect, unix_connect

from terminal_home import PATIENCE
from vantage.conversation.feed.hub import Hub
from vantage.conversation.manager import Manager
from vantage.server.config import Config
from vantage.server.security.tokens import Tokens
from vantage.server.services import Services
from vantage.server.ws.limits import Limits
from vantage.server.ws.sockets import UVICORN, socket_routes


class Socket:
    """One socket, and what it was sent: rows, position, screen and state of each conversation."""

    def __init__(self, connection):
        self.connection = connection
        self.rows: dict[str, dict[str, dict]] = {}
        self.positions: dict[str, tuple[str, int]] = {}
        self.states: dict[str, dict] = {}
        self.screens: dict[str, dict[int, str]] = {}
        self.blocks: list[dict] = []
        self.block_seq = 0
        self.errors: list[dict] = []
        self.heard: list[str] = []

    def go_on(self, before):
        """Takes over the rows, positions and blocks of another socket."""
        self.rows, self.positions, self.blocks = before.rows, before.positions, before.blocks
        self.block_seq, self.heard = before.block_seq, before.heard

    async def resume(self, conversation, *channels, **fields):
        epoch, seq = self.positions.get(conversation, (None, None))
        return await self.watch(conversation, *channels, epoch=epoch, after=seq, **fields)

    async def say(self, kind, conversation=None, **fields):
        if conversation is not None:
            fields["conversation_id"] = conversation
        await self.connection.send(json.dumps({"type": kind, **fields}))

    async def hello(self, client_id="ada", **fields):
        await self.say("hello", client_id=client_id, **fields)
        return await self.until(lambda message: message["type"] == "welcome")

    async def watch(self, conversation, *channels, surface="plain", **fields):
        """Subscribes, and returns the first answer about it."""
        await self.say("subscribe", conversation, channels=channels or ("rows",), surface=surface, **fields)
        return await self.until(
            lambda message: (
                message.get("conversation_id") == conversation and message["type"] in ("snapshot", "resumed", "error")
            )
        )

    async def hear(self):
        async with asyncio.timeout(PATIENCE):
            message = json.loads(await self.connection.recv())
        self._apply(message)
        return message

    async def until(self, holds):
        """The first message for which the condition holds."""
        while True:
            message = await self.hear()
            if holds(message):
                return message

    async def error(self):
        return await self.until(lambda message: message["type"] == "error")

    async def shown(self, conversation, text, **about):
        """Waits for a row with this text and these values."""
        while True:
            for row in self.rows.get(conversation, {}).values():
                if text in row.get("text", row.get("html", "")) and about.items() <= row["row"].items():
                    return row
            await self.hear()

    async def on_screen(self, conversation, text):
        while not any(text in row for row in self.screens.get(conversation, {}).values()):
            await self.hear()

    async def state(self, conversation, **wanted):
        """Waits until the terminal's state has these values."""
        while not wanted.items() <= self.states.get(conversation, {}).items():
            await self.hear()

    async def closed(self):
        """The code with which the server closes it."""
        async with asyncio.timeout(PATIENCE):
            await self.connection.wait_closed()
        return self.connection.close_code

    def _apply(self, message):
        kind, conversation = message["type"], message.get("conversation_id")
        self.heard.append(kind)
        if kind == "snapshot":
            self.rows[conversation] = {row["row"]["id"]: row for row in message["rows"]}
            self.positions[conversation] = (message["epoch"], message["seq"])
            if message["screen"]:
                self._draw(conversation, message["screen"])
        elif kind == "resumed":
            self.rows.setdefault(conversation, {})
            self.positions[conversation] = (message["epoch"], message["seq"])
        elif kind == "row":
            self.rows[conversation][message["row"]["id"]] = message
            self.positions[conversation] = (self.positions[conversation][0], message["seq"])
        elif kind == "screen_delta":
            self._draw(conversation, message)
        elif kind == "pty_state":
            self.states[conversation] = message
        elif kind == "error":
            self.errors.append(message)
        elif kind.startswith("agent_block_") and message.get("seq", self.block_seq + 1) > self.block_seq:
            self.block_seq = message.get("seq", self.block_seq)
            self.blocks.append(message)

    def _draw(self, conversation, delta):
        self.screens.setdefault(conversation, {}).update({row["row"]: row["text"] for row in delta["rows"]})


@asynccontextmanager
async def open_socket(server, client_id="ada", *, token=None, hello=True, **settings):
    """To a server of `server_home`. Without a client it says nothing yet."""
    token = server.token if token is None else token
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    url = f"ws://127.0.0.1:{server.port}/v1/ws"
    settings = {"additional_headers": headers, "max_size": None, "compression": None, "proxy": None, **settings}
    async with connect(url, **settings) as connection:
        socket = Socket(connection)
        if hello:
            await socket.hello(client_id)
        yield socket


class Here:
    """A server in this process. It has no guard, so a client gives its token with hello."""

    def __init__(self, manager: Manager, services: Services, path: Path) -> None:
        self.manager = manager
        self.services = services
        self.path = path

    @asynccontextmanager
    async def socket(self, client_id="", **settings):
        async with unix_connect(str(self.path), "ws://localhost/v1/ws", compression=None, **settings) as connection:
            socket = Socket(connection)
            if client_id:
                await socket.hello(client_id, token=self.services.tokens.main)
            yield socket


@asynccontextmanager
async def serving_here(home: Path, limits: Limits | None = None, **uvicorn_settings):
    async with Manager(home) as manager:
        hub = Hub(manager.bus, tools=manager.specs.tools)
        services = Services(
            bus=manager.bus,
            hub=hub,
            home=home,
            config=Config(home=home),
            tokens=Tokens(home),
        )
        path = home / "here.sock"
        app = Starlette(routes=socket_routes(services, limits))
        config = uvicorn.Config(
            app, uds=str(path), log_config=None, access_log=False, **{**UVICORN, **uvicorn_settings}
        )
        ready = asyncio.Event()

        class Server(uvicorn.Server):
            async def startup(self, sockets=None):
                await super().startup(sockets)
                ready.set()

        server = Server(config)
        running = asyncio.ensure_future(server._serve())
        try:
            await ready.wait()
            path.chmod(0o600)  # uvicorn makes it 0666, and the PTY host refuses such a home
            yield Here(manager, services, path)
        finally:
            server.should_exit = server.force_exit = True
            await running
            hub.close()
