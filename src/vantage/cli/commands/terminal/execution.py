"""Runs a command and follows it to its end: prints its output as it arrives, passes Ctrl-C on, returns its exit code.

The socket only says when to look. The output is read from the spool by position, so nothing is missed or printed twice,
and the position from which `wait` looks does not move.
"""

import select
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from vantage.cli.display.printing import note
from vantage.cli.display.signals import HasFileno, Wakeups, woken_by
from vantage.cli.display.streams import foreign
from vantage.cli.errors import INTERRUPTED, TIMED_OUT, failed
from vantage.cli.home_client import HomeClient
from vantage.client import calls
from vantage.client.launch import running
from vantage.client.retry import Retry
from vantage.errors import Gone, NoServer, VantageError, from_wire

if TYPE_CHECKING:
    from vantage.client.transport.link import Link

_SHORT_MS = 100
"""How long a command runs before a socket is opened to follow it."""
_PIECE = 1 << 20
_TIMEOUT_S = 30.0
"""How long a server may be gone."""


class Execution:
    def __init__(
        self, client: HomeClient, conversation: str, command: str, cwd: str | None, timeout_ms: int | None
    ) -> None:
        self._client = client
        self._conversation = conversation
        self._start = calls.exec_block(command, cwd=cwd, timeout_ms=_SHORT_MS, max_output=1)
        self._deadline = None if timeout_ms is None else time.monotonic() + timeout_ms / 1000
        self._block: dict[str, Any] = {}
        self._position = 0
        self._interrupts = 0
        self._told_secret = False

    def run(self) -> int:
        """Runs the command, and returns the exit code of this process."""
        with woken_by(signal.SIGINT) as wakeups:
            try:
                return self._run(wakeups)
            except BrokenPipeError:
                # The reader of our output has gone (`vantage exec -- yes | head`), as SIGPIPE would tell the command.
                self._client.pty(self._conversation, calls.ctrl_c())
                raise

    def _run(self, wakeups: Wakeups) -> int:
        begun = self._begin(wakeups)
        if begun is None:
            return self._left("it may run on: 'vantage status' says so", INTERRUPTED)
        if begun.get("note"):
            note(begun["note"])
        self._position = begun["cursor"]
        return self._follow(begun["seq"], wakeups)

    def _begin(self, wakeups: Wakeups) -> dict[str, Any] | None:
        """Starts the command. None if Ctrl-C was pressed twice before the shell was ready."""
        connection = self._client.connect()
        try:
            connection.send(self._start.request(self._conversation))
            sources: list[HasFileno] = [connection, wakeups]
            while connection not in (ready := select.select(sources, [], [])[0]):
                if wakeups in ready and self._interrupted(wakeups):
                    return None
            return connection.receive()
        finally:
            connection.close()

    def _interrupted(self, wakeups: Wakeups) -> bool:
        """Passes Ctrl-C on to the command; pressed again, it ends this process. Returns whether to leave."""
        wakeups.take()
        self._interrupts += 1
        if self._interrupts > 1:
            return True
        try:
            self._client.pty(self._conversation, calls.ctrl_c())
        except NoServer:
            raise
        except VantageError as error:
            note(failed(error).message)
        return False

    def _follow(self, seq: int, wakeups: Wakeups) -> int:
        self._client.never_start()  # a server that goes was stopped on purpose, or is being replaced
        link: Link | None = None
        try:
            while True:
                try:
                    self._look(seq)
                    if self._block["done_because"] is not None:
                        return self._done()
                    if link is None or not link.connected:
                        link = link or self._link()
                        link.open()
                        continue  # the command may have ended before the socket was open
                    if not self._wait(link, wakeups):
                        return self._left(f"it runs on: 'vantage read {self._name}' prints it all", INTERRUPTED)
                except NoServer:
                    self._wait_for_server()
                if self._late():
                    return self._left(
                        f"it runs on after its time: 'vantage wait {self._conversation} --eof'", TIMED_OUT
                    )
        finally:
            if link is not None:
                link.close()

    def _link(self) -> "Link":
        from secrets import token_hex

        from vantage.client.transport.link import Link  # loads websockets, which a short command does not need

        about = {"conversation_id": self._conversation, "channels": ["blocks"], "surface": "plain"}
        return Link(self._client.endpoint, f"exec-{token_hex(4)}", subscribe=lambda: about)

    def _look(self, seq: int) -> None:
        """Prints the new output."""
        (self._block,) = self._client.pty(self._conversation, calls.blocks(seq - 1, 1))["blocks"]
        end = self._block["spool"][1]
        while self._position < end:
            size = min(end - self._position, _PIECE)
            try:
                read = self._client.pty(self._conversation, calls.read_spool(self._position, max(size, 4)))
            except Gone as gone:
                note(f"{gone.next - self._position:,} bytes were dropped before they could be printed")
                self._position = gone.next
                continue
            text = read["text"].encode()[:size].decode(errors="surrogateescape")
            if read["cursor"] == self._position:
                break  # half a character: its other bytes have not arrived
            self._position = min(read["cursor"], end)
            sys.stdout.buffer.write(foreign(text).encode(errors="surrogateescape"))
        sys.stdout.buffer.flush()

    def _wait(self, link: "Link", wakeups: Wakeups) -> bool:
        """Waits until there may be new output. Returns False when this command is to end."""
        left = None if self._deadline is None else max(self._deadline - time.monotonic(), 0)
        sources: list[HasFileno] = [*link.sources(), wakeups]
        ready = select.select(sources, [], [], left)[0]
        if wakeups in ready and self._interrupted(wakeups):
            return False
        if any(source is not wakeups for source in ready):
            for message in link.take():
                self._take(message)
        return True

    def _take(self, message: dict[str, Any]) -> None:
        if message["type"] == "error":
            raise from_wire(message)
        if message["type"] == "pty_state" and message.get("awaiting_secret") and not self._told_secret:
            self._told_secret = True
            note(f"it asks for a secret: 'vantage send {self._conversation} --secret' answers, in another terminal")

    def _wait_for_server(self) -> None:
        """Waits for the server that replaces the one that has gone."""
        retry = Retry(_TIMEOUT_S)
        while running(self._client.home) is None:
            if not retry.pause():
                raise NoServer(
                    "the server has gone, and the command runs on", hint=f"'vantage read {self._name}' prints it"
                )

    def _late(self) -> bool:
        return self._deadline is not None and time.monotonic() >= self._deadline

    @property
    def _name(self) -> str:
        return f"{self._conversation} {self._block.get('block_id', '')}".strip()

    def _left(self, where: str, code: int) -> int:
        note(where)
        return code

    def _done(self) -> int:
        code = self._block["exit_code"]
        if why := _WHY.get(self._block["done_because"]):
            click.echo(f"Error: {why}", err=True)
        if code is None:
            return 1
        return int(code)


_WHY = {
    "incomplete": "the shell asked for more, and nothing of the open part ran: close the quote or the heredoc",
    "exit": "the shell ended with it: the next command gets a fresh one",
    "ended": "it was ended by 'vantage end'",
    "reset": "it was killed by 'vantage reset'",
    "lost": "the PTY host died, and the command with it: what it printed is kept",
}
"""`done_because` → the error to print."""
