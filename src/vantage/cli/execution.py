"""A command that is run and followed to its end: its output as it comes, its exit code, and Ctrl-C for it.

The socket only says when to look. What is printed is read from the spool by position, so that nothing can be missed or
come twice, however much there is at once; and the agent's own place in the output (`wait`) stays where it is.
"""

import select
import signal
import sys
import time
from typing import Any

import click

from vantage.cli.client import Client, NoServer, Refused, pty_path
from vantage.cli.launch import running
from vantage.cli.link import RETRY_S, Link
from vantage.cli.signals import HasFileno, Wakeups, woken_by
from vantage.cli.streams import foreign
from vantage.cli.verb import INTERRUPTED, TIMED_OUT, note

_SHORT_MS = 100
"""A command that ends within this needs no socket."""
_PIECE = 1 << 20
_PATIENCE_S = 30.0
"""For a server that has gone."""


class Execution:
    def __init__(
        self, client: Client, conversation: str, command: str, cwd: str | None, timeout_ms: int | None
    ) -> None:
        self._client = client
        self._conversation = conversation
        self._asked = {"command": command, "timeout_ms": _SHORT_MS, "max_output": 1}
        if cwd is not None:
            self._asked["cwd"] = cwd
        self._deadline = None if timeout_ms is None else time.monotonic() + timeout_ms / 1000
        self._block: dict[str, Any] = {}
        self._position = 0
        self._interrupts = 0
        self._told_secret = False

    def run(self) -> int:
        """Runs it, and returns what to exit with."""
        with woken_by(signal.SIGINT) as wakeups:
            try:
                return self._run(wakeups)
            except BrokenPipeError:
                # as a program would be ended that writes where nobody reads: `vantage exec -- yes | head`
                self._client.pty(self._conversation, "ctrl_c")
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
        """Has it started. A shell that does not come up can be left, too."""
        connection = self._client.connect()
        try:
            self._client.send(connection, "POST", pty_path(self._conversation, "exec_block"), self._asked)
            sources: list[HasFileno] = [connection, wakeups]
            while connection not in (ready := select.select(sources, [], [])[0]):
                if wakeups in ready and self._interrupted(wakeups):
                    return None
            return self._client.receive(connection)
        finally:
            connection.close()

    def _interrupted(self, wakeups: Wakeups) -> bool:
        """Ctrl-C is for the command; pressed again, it is for us. Whether to leave."""
        wakeups.take()
        self._interrupts += 1
        if self._interrupts > 1:
            return True
        try:
            self._client.pty(self._conversation, "ctrl_c")
        except Refused as refused:
            note(str(refused.message))
        return False

    def _follow(self, seq: int, wakeups: Wakeups) -> int:
        self._client.start = False  # a server that goes was ended by somebody, or is being replaced
        link = self._link()
        try:
            while True:
                try:
                    self._look(seq)
                    if self._block["done_because"] is not None:
                        return self._done()
                    if not link.connected:
                        link.open()
                        continue  # it may have ended before anybody listened
                    if not self._wait(link, wakeups):
                        return self._left(f"it runs on: 'vantage read {self._name}' prints it all", INTERRUPTED)
                except NoServer:
                    self._wait_for_server()
                if self._late():
                    return self._left(
                        f"it runs on after its time: 'vantage wait {self._conversation} --eof'", TIMED_OUT
                    )
        finally:
            link.close()

    def _link(self) -> Link:
        from secrets import token_hex

        about = {"conversation_id": self._conversation, "channels": ["blocks"], "surface": "plain"}
        return Link(self._client.home, f"exec-{token_hex(4)}", subscribe=lambda: about)

    def _look(self, seq: int) -> None:
        """Prints what is new."""
        (self._block,) = self._client.pty(self._conversation, "blocks", after=seq - 1, limit=1)["blocks"]
        end = self._block["spool"][1]
        while self._position < end:
            size = min(end - self._position, _PIECE)
            try:
                read = self._client.pty(
                    self._conversation, "read_spool", from_cursor=self._position, max_bytes=max(size, 4)
                )
            except Refused as refused:
                if refused.next is None:
                    raise
                note(f"{refused.next - self._position:,} bytes were dropped before they could be printed")
                self._position = refused.next
                continue
            text = read["text"].encode()[:size].decode(errors="surrogateescape")
            if read["cursor"] == self._position:
                break  # half a character, whose rest is still to come
            self._position = min(read["cursor"], end)
            sys.stdout.buffer.write(foreign(text).encode(errors="surrogateescape"))
        sys.stdout.buffer.flush()

    def _wait(self, link: Link, wakeups: Wakeups) -> bool:
        """Until there may be something new. False: it is to be left."""
        left = None if self._deadline is None else max(self._deadline - time.monotonic(), 0)
        sources: list[HasFileno] = [*link.sources(), wakeups]
        ready = select.select(sources, [], [], left)[0]
        if wakeups in ready and self._interrupted(wakeups):
            return False
        if any(source is not wakeups for source in ready):
            for message in link.take():
                self._told(message)
        return True

    def _told(self, message: dict[str, Any]) -> None:
        if message["type"] == "error":
            raise Refused({"error": message})
        if message["type"] == "pty_state" and message.get("awaiting_secret") and not self._told_secret:
            self._told_secret = True
            note(f"it asks for a secret: 'vantage send {self._conversation} --secret' answers, in another terminal")

    def _wait_for_server(self) -> None:
        """Another one may be about to take its place."""
        deadline = time.monotonic() + _PATIENCE_S
        while running(self._client.home) is None:
            if time.monotonic() > deadline:
                raise NoServer(f"the server has gone, and the command runs on: 'vantage read {self._name}' prints it")
            time.sleep(RETRY_S)

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
"""`done_because` → what to say of it."""
