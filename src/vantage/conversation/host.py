"""The connection to the PTY host: requests with answers, and what it tells of its own accord.

One connection serves all conversations of a home. When it breaks, whoever waits gets an error, and `on_lost` is called.
"""

import asyncio
import socket
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, cast

import msgspec

from vantage.errors import Conflict, NoSecretPrompt, NotRunning, SecretPrompt, Unavailable, VantageError
from vantage.ptyhost import protocol
from vantage.ptyhost.start import connect

_TRIES = 5
_BUFFER = 1 << 16
Tell = Callable[[dict[str, Any]], None]

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class HostLost(Unavailable):
    """The host went away: its shells are gone, what they printed is kept."""

    code = "host_lost"


class InputFull(Conflict):
    """A program does not read what was sent to it before."""

    code = "input_full"


class LineTooLong(Conflict):
    """A terminal in canonical mode cuts lines at 4,095 bytes."""

    code = "line_too_long"


_ERRORS: dict[str, tuple[type[VantageError], str]] = {
    protocol.Code.SECRET_PROMPT: (
        SecretPrompt,
        "the program asks for a secret; send it with secret: true, or ctrl_c to leave the prompt",
    ),
    protocol.Code.NO_SECRET_PROMPT: (
        NoSecretPrompt,
        "nothing asks for a secret now: what is typed would be shown; send it without secret",
    ),
    protocol.Code.NOT_RUNNING: (NotRunning, "the shell has ended: the next exec_block starts a fresh one"),
    protocol.Code.INPUT_FULL: (InputFull, "the program does not read its input; read the screen, or ctrl_c"),
    protocol.Code.LINE_TOO_LONG: (
        LineTooLong,
        "this terminal takes lines of at most 4,095 bytes; write the text to a file with exec_block and a heredoc",
    ),
    protocol.Code.PROTOCOL: (Unavailable, "'vantage stop --shells' ends it and its shells"),
    protocol.Code.STALLED: (Unavailable, "free some disk space: nothing is lost meanwhile"),
}


class Host(asyncio.BufferedProtocol):
    def __init__(self) -> None:
        self.on_event: Tell = lambda _: None
        self.on_lost: Callable[[], None] = lambda: None
        self.pid = 0
        self._transport: asyncio.Transport | None = None
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._ids = count(1)
        self._rest = b""
        self._buffer = memoryview(bytearray(_BUFFER))
        self._closing = False
        self._ended = asyncio.Event()

    @classmethod
    async def connect(cls, home: Path) -> "Host":
        """To the host of this home; it is started when none runs."""
        for _ in range(_TRIES):
            try:
                host = await cls._reach(home)
                host.pid = (await host.request("hello", protocol=protocol.PROTOCOL))["pid"]
            except HostLost:
                continue  # one that had nothing to do left while we came
            return host
        raise Unavailable("the PTY host leaves as soon as it is started", hint=f"see {home / 'host.log'}")

    @classmethod
    async def _reach(cls, home: Path) -> "Host":
        loop = asyncio.get_running_loop()
        try:
            connecting = loop.run_in_executor(None, connect, str(home))
            try:
                connection = await asyncio.shield(connecting)
            except asyncio.CancelledError:
                connecting.add_done_callback(_unwanted)
                raise
            _, host = await loop.create_unix_connection(cls, sock=connection)
        except OSError as error:
            raise Unavailable(
                f"no PTY host could be started or reached: {error}", hint=f"see {home / 'host.log'}"
            ) from error
        return host

    async def request(self, op: str, **fields: Any) -> dict[str, Any]:
        """Asks, and waits for the answer."""
        return await self.ask(op, **fields)

    def ask(self, op: str, **fields: Any) -> "asyncio.Future[dict[str, Any]]":
        """Asks; the future has the answer."""
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        if self._transport is None or self._transport.is_closing():
            answer.set_exception(HostLost("the PTY host is gone", hint="try again: a new one is started"))
            return answer
        number = next(self._ids)
        self._answers[number] = answer
        self._transport.write(_encode({"id": number, "op": op, **fields}) + b"\n")
        return answer

    def forget(self, answer: "asyncio.Future[dict[str, Any]]") -> None:
        """Nobody waits for this answer any more."""
        for number in [number for number, waited in self._answers.items() if waited is answer]:
            del self._answers[number]

    async def close(self) -> None:
        """Returns when the connection is gone: a host that nobody needs leaves then."""
        self._closing = True
        if self._transport is not None:
            self._transport.close()
            await self._ended.wait()

    # asyncio.BufferedProtocol: one buffer for all that comes, instead of a large one for each line

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # not all loops derive theirs from it

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        *lines, self._rest = (self._rest + bytes(self._buffer[:nbytes])).split(b"\n")
        news: dict[tuple[str, str], dict[str, Any]] = {}
        for line in lines:
            message = _decode(line)
            number = message.get("id")
            if number is None:
                # The last one says what all of them said, and comes where the last one came.
                news.pop((message.get("terminal", ""), message.get("event", "")), None)
                news[message.get("terminal", ""), message.get("event", "")] = message
                continue
            answer = self._answers.pop(number, None)
            if answer is None or answer.done():
                continue
            if message["ok"]:
                answer.set_result(message)
            else:
                code = str(message.get("error", ""))
                answer.set_exception(refusal(code, str(message.get("message", code))))
        for message in news.values():
            self.on_event(message)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._transport = None
        self._ended.set()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(HostLost("the PTY host went away", hint="its shells are gone; try again"))
        self._answers.clear()
        if not self._closing:
            self.on_lost()


def _unwanted(connecting: "asyncio.Future[socket.socket]") -> None:
    """Nobody waits any more for a connection that was being made."""
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().close()


def refusal(code: str, message: str) -> VantageError:
    """What a host's no means here."""
    kind, hint = _ERRORS.get(code, (Unavailable, ""))
    return kind(message, hint=hint)
