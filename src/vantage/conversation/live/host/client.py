"""The connection to the PTY host: requests with answers, and the host's own events.

One connection serves all conversations of a home. When it breaks, every caller gets an error, and `on_lost` is called.
When the host is silent for a few seconds (it is stopped, or the machine is overloaded), its requests fail. Each request
carries its expiry, so the host never carries out a request after its caller was told that it failed.
"""

import asyncio
import logging
import socket
import time
from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from vantage.errors import (
    Do,
    HostLost,
    HostSilent,
    InputClosed,
    InputFull,
    Interrupted,
    LineTooLong,
    NoSecretPrompt,
    NotRunning,
    OutOfOrder,
    SecretGone,
    SecretPrompt,
    Unavailable,
    VantageError,
)
from vantage.ptyhost import protocol
from vantage.ptyhost.start import connect
from vantage.text.chunks import Lines

_TRIES = 5
LOOK_S, SILENT_LOOKS = 1.0, 3
"""Seconds between two pings while a request is open, and how many of them without an answer make the host silent."""
EXPIRES_S = 3.0
"""A request expires after so long: the host does not begin it, and while the host is silent it has failed."""
SLOWEST = 1 << 20
"""Bytes a second at which a host under load reads a large message at least: so much later it expires."""
_BUFFER = 1 << 16
Tell = Callable[[dict[str, Any]], None]

_log = logging.getLogger(__name__)
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode


REPLACE = "'vantage stop --shells' ends it and its shells; the next command starts a new one"
"""The way out of a host of another version."""
_ENVELOPE = frozenset({"id", "ok", "error", "message"})
"""Fields of every refusal; the others are facts."""


class _Kind(NamedTuple):
    """Events that replace each other."""

    terminal: str
    agent: str
    event: str


class _Meaning(NamedTuple):
    """What a host's refusal means here."""

    kind: type[VantageError]
    advice: str = ""
    steps: tuple[Do, ...] = ()


_ERRORS: dict[str, _Meaning] = {
    protocol.Code.SECRET_PROMPT: _Meaning(
        SecretPrompt,
        "the program asks for a secret, or has switched echo off",
        (Do("send", "answers it", secret=True), Do("ctrl_c", "leaves the prompt")),
    ),
    protocol.Code.NO_SECRET_PROMPT: _Meaning(
        NoSecretPrompt,
        "nothing asks for a secret now: what is typed would be shown",
        (
            Do("wait_for", "waits until a program asks", match={"secret_prompt": True}),
            Do("send", "without `secret` types what is none"),
        ),
    ),
    protocol.Code.SECRET_GONE: _Meaning(
        SecretGone, "what is typed up to Enter is dropped too", (Do("read_screen", "shows what is there now"),)
    ),
    protocol.Code.NOT_RUNNING: _Meaning(NotRunning, "the shell has ended", (Do("exec_block", "starts a fresh one"),)),
    protocol.Code.INPUT_FULL: _Meaning(
        InputFull,
        "the program does not read its input",
        (Do("read_screen", "shows the program"), Do("ctrl_c", "interrupts it")),
    ),
    protocol.Code.LINE_TOO_LONG: _Meaning(
        LineTooLong,
        "this terminal takes lines of at most 4,095 bytes",
        (Do("exec_block", "with a heredoc writes the text to a file"),),
    ),
    protocol.Code.CHANGED: _Meaning(
        Interrupted, "the terminal was in another mode when it began", (Do("read_screen", "shows how far it came"),)
    ),
    protocol.Code.ORDER: _Meaning(OutOfOrder, "the journal has what was sent"),
    protocol.Code.INPUT_CLOSED: _Meaning(InputClosed, "what it does can still be read"),
    protocol.Code.PROTOCOL: _Meaning(Unavailable, REPLACE),
    protocol.Code.STALLED: _Meaning(Unavailable, "free some disk space: nothing is lost meanwhile"),
}


class HostClient(asyncio.BufferedProtocol):
    """Speaks the highest version that the host speaks too. An older host lists fewer operations, or none."""

    def __init__(self) -> None:
        self.on_event: Tell = lambda _: None
        self.on_lost: Callable[[], None] = lambda: None
        self.pid = 0
        self.pauses = False
        """Whether it can pause reading at a window; a host of an earlier version lists no operations and cannot."""
        self.remembers = False
        """Whether it remembers calls; a host of an earlier version does not."""
        self.runs_agents = False
        """Whether it runs agents; a host of protocol 1 does not."""
        self._transport: asyncio.Transport | None = None
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._expire: dict[int, float] = {}
        self._ids = count(1)
        self._lines = Lines()
        self._buffer = memoryview(bytearray(_BUFFER))
        self.silent = False
        """Whether it did not answer the last pings."""
        self._looks = 0
        self._looking: asyncio.TimerHandle | None = None
        self._closing = False
        self._ended = asyncio.Event()

    @classmethod
    async def connect(cls, home: Path) -> "HostClient":
        """To the host of this home; it is started when none runs."""
        version = protocol.PROTOCOL
        for _ in range(_TRIES):
            host = await cls._reach(home)
            try:
                hello = await host.request("hello", protocol=version)
            except HostLost:
                continue  # an idle host ended itself while we connected
            except Unavailable as refused:
                await host.close()
                lower = [each for each in protocol.SPOKEN if each < version and each in _speaks(refused)]
                if not lower:
                    raise
                version = max(lower)
                continue
            host.greeted(hello)
            return host
        raise Unavailable("the PTY host leaves as soon as it is started", hint=f"see {home / 'host.log'}")

    @classmethod
    async def _reach(cls, home: Path) -> "HostClient":
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

    def greeted(self, hello: dict[str, Any]) -> None:
        """Takes the answer to the hello, which says what this host can do."""
        self.pid, operations = hello["pid"], hello.get("operations", ())
        self.pauses = protocol.Op.WINDOW in operations
        self.remembers = protocol.Op.REMEMBER in operations
        self.runs_agents = protocol.Op.AGENT_OPEN in operations

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
        self._expire[number] = time.monotonic() + EXPIRES_S + len(fields.get("data", "")) / SLOWEST
        expires = round(self._expire[number] * 1000)
        self._transport.write(_encode({"id": number, "op": op, "expires": expires, **fields}) + b"\n")
        if self._looking is None:
            self._looks = 0
            self._looking = answer.get_loop().call_later(LOOK_S, self._look)
        return answer

    def _look(self) -> None:
        """Counts looks without a sign of life, not seconds: this loop may have been held up itself."""
        self._looking = None
        if not self._answers or self._transport is None:
            return
        self._looks += 1
        if self._looks > SILENT_LOOKS:
            self._fail_expired()
        # Every living host answers an unknown operation at once, with a refusal.
        self._transport.write(_encode({"id": 0, "op": "ping"}) + b"\n")
        self._looking = asyncio.get_running_loop().call_later(LOOK_S, self._look)

    def _fail_expired(self) -> None:
        if not self.silent:
            self.silent = True
            _log.warning("the PTY host (process %d) does not answer", self.pid)
        now = time.monotonic()
        for number in [number for number, expires in self._expire.items() if expires < now]:
            del self._expire[number]
            answer = self._answers.pop(number, None)
            if answer is not None and not answer.done():
                answer.set_exception(silence(self.pid))

    def forget(self, answer: "asyncio.Future[dict[str, Any]]") -> None:
        """Drops a request whose answer is not needed any longer."""
        for number in [number for number, waited in self._answers.items() if waited is answer]:
            del self._answers[number]
            self._expire.pop(number, None)

    async def close(self) -> None:
        """Returns when the connection is gone. A host without clients and shells ends itself then."""
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
        self._looks = 0
        self.silent = False
        news: dict[_Kind, dict[str, Any]] = {}
        for line in self._lines.feed(bytes(self._buffer[:nbytes])):
            try:
                message = _decode(line)
            except msgspec.MsgspecError:
                _log.warning("the PTY host said something that is no message: %r", line[:80])
                continue
            number = message.get("id")
            if "event" in message:
                # The last event of a kind replaces the earlier ones, and takes the last one's place.
                kind = _Kind(message.get("terminal", ""), message.get("agent", ""), message["event"])
                news.pop(kind, None)
                news[kind] = message
            elif isinstance(number, int):
                answer = self._answers.pop(number, None)
                self._expire.pop(number, None)
                if answer is not None and not answer.done():
                    _settle(answer, message)
        for message in news.values():
            try:
                self.on_event(message)
            except Exception:  # noqa: BLE001 -- the loop would close the connection, which all conversations share
                whose = message.get("terminal") or message.get("agent")
                _log.exception("an event of %s could not be taken", whose)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._transport = None
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None
        self._ended.set()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(HostLost("the PTY host went away", hint="its shells are gone; try again"))
        self._answers.clear()
        if not self._closing:
            self.on_lost()


def _unwanted(connecting: "asyncio.Future[socket.socket]") -> None:
    """Closes a connection whose caller was cancelled while it was made."""
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().close()


def silence(pid: int) -> HostSilent:
    hint = "it is stopped, or the machine is overloaded; what was asked is not done later"
    return HostSilent(f"the PTY host (process {pid}) does not answer", hint=hint)


def _settle(answer: "asyncio.Future[dict[str, Any]]", message: dict[str, Any]) -> None:
    if message.get("ok"):
        answer.set_result(message)
    else:
        code = str(message.get("error", ""))
        facts = {name: value for name, value in message.items() if name not in _ENVELOPE}
        answer.set_exception(refusal(code, str(message.get("message", code)), facts))


def refusal(code: str, message: str, facts: Mapping[str, Any] | None = None) -> VantageError:
    """The error for a host's refusal."""
    meaning = _ERRORS.get(code, _Meaning(Unavailable))
    return meaning.kind(message, hint=meaning.advice, do=meaning.steps, facts=facts)


def _speaks(refused: Unavailable) -> list[Any]:
    """The versions that the host speaks, when that was why it refused."""
    speaks = refused.facts.get("speaks")
    return speaks if isinstance(speaks, list) else []
