"""`vantage.open_terminal`: a terminal for a program, in this process or, where a server has the home, the server's."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, cast

import msgspec

from vantage.client.async_server import AsyncServer
from vantage.client.calls import Call
from vantage.client.endpoint import HomeEndpoint
from vantage.client.requests import given
from vantage.client.retry import SOON_S, Retry
from vantage.client.settings import Settings
from vantage.conversation.embedded import home_terminal, private_terminal
from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.conversation.store.derived.past_screen import last_screen
from vantage.conversation.verbs.agent_terminal import AgentTerminal
from vantage.conversation.verbs.terminal.pty_terminal import PtyTerminal
from vantage.conversation.verbs.verb import P, R, Verb
from vantage.errors import HomeTaken, NoServer, Unavailable
from vantage.terminal.screen.screen import Screen

SERVER_TIMEOUT_S = 5.0
"""Seconds in which a server that has just taken the home answers. Another program that has the home never does."""


@asynccontextmanager
async def open_terminal(
    conversation_id: str = "main",
    *,
    home: str | os.PathLike[str] | None = None,
    shell: str = "bash",
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    cols: int = 120,
    rows: int = 40,
    user_rc: bool = True,
    allow_secret_input: bool = False,
    engine: str | None = None,
) -> AsyncIterator[AgentTerminal]:
    """A conversation's terminal in this process, with its shell in a host of its own.

    Without `home` everything is private and gone at the end. With a home, the conversation is taken up where it was
    left, and its shell lives on afterwards. While a server runs on that home, the terminal is the server's: the same
    verbs, asked for over its socket. A home that another program has without serving it raises `HomeTaken`.
    """
    settings: dict[str, Any] = {
        "shell": shell,
        "cwd": os.fspath(cwd) if cwd is not None else None,
        "env": dict(os.environ if env is None else env),
        "cols": cols,
        "rows": rows,
        "user_rc": user_rc,
        "allow_secret_input": allow_secret_input,
        "engine": engine,
    }
    async with AsyncExitStack() as stack:
        if home is None:
            yield await stack.enter_async_context(private_terminal(conversation_id, settings))
            return
        place = Path(home).expanduser().absolute()
        server = await _running(place)
        if server is None:
            try:
                terminal = await stack.enter_async_context(home_terminal(place, conversation_id, settings))
            except HomeTaken:
                server = await _starting(place)
                if server is None:
                    raise
            else:
                yield terminal
                return
        given = {name: value for name, value in settings.items() if value is not None}
        await server.conversation(conversation_id, **cast("Settings", given))
        yield ServedTerminal(server, conversation_id, place)


class ServedTerminal(AgentTerminal):
    """The terminal of a conversation that a server has: its verbs are asked for over the server's socket."""

    def __init__(self, server: AsyncServer, id: str, home: Path) -> None:
        self._id = id
        self._server = server
        self._home = home

    @property
    def id(self) -> str:
        return self._id

    async def call(self, verb: Verb[PtyTerminal, P, R], params: P) -> R:
        call = Call(verb.name, given(**msgspec.to_builtins(params)))
        try:
            return await self._server.call(call.request(self._id), verb.result)
        except NoServer as error:
            raise Unavailable(
                f"the server of {self._home} has gone ({error.message})",
                hint="its shells live on: open the terminal again",
            ) from error

    def screen(self) -> Screen:
        """The screen as it is now, drawn from the conversation's files."""
        return last_screen(ConversationFolder(self._home / "conversations" / self.id))


async def _running(home: Path) -> AsyncServer | None:
    """The server of a home, if one answers now."""
    endpoint = HomeEndpoint(str(home), may_start=False)
    try:
        _, writer = await endpoint.dial_async()
    except OSError:
        return None
    writer.close()
    return AsyncServer(endpoint)


async def _starting(home: Path) -> AsyncServer | None:
    """The server that has the home, once it answers. A server takes the home before it listens."""
    with suppress(OSError):
        if (home / "server.lock").read_bytes() == str(os.getpid()).encode():
            return None  # this program has the home itself: no server is about to listen
    retry = Retry(pause_s=SOON_S)
    try:
        async with asyncio.timeout(SERVER_TIMEOUT_S):
            while (server := await _running(home)) is None:
                await retry.pause_async()
            return server
    except TimeoutError:
        return None
