"""The load on a home during a fault: programs that print, commands, typing, and a client that watches.

Each of them prints words of its own with numbers, and remembers how far it knows that it got (`Trace`). A server that
is gone, or says that it cannot now, is asked again: that is what a caller would do. What it said is kept.
"""

import asyncio
import http.client
import json
import re
import secrets
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

from machine import until
from places import TESTS
from socket_client import Socket, open_socket
from terminal_home import PATIENCE

if TYPE_CHECKING:
    from aftermath import Stage

PROGRAM = TESTS / "programs" / "witness.py"
AGAIN_S = 0.02
"""Seconds before a refused call is tried again."""
UNAVAILABLE = 503


class Trace:
    """Words that programs print, each with the number up to which it was certainly printed."""

    def __init__(self, conversation: str) -> None:
        self.conversation = conversation
        self.word = f"w{secrets.token_hex(4)}"
        """Prefix of all its words."""
        self.certain: dict[str, int] = {}

    def noted(self) -> dict[str, int]:
        return self.certain

    def printed(self, spool: str) -> dict[str, list[int]]:
        """Its words in a spool, with their numbers in the order in which they are there."""
        found: dict[str, list[int]] = {}
        for word, number in re.findall(rf"^({self.word}\S*) (\d+)$", spool, re.MULTILINE):
            found.setdefault(word, []).append(int(number))
        return found


class Printer(Trace):
    """A program that prints by itself until it is told to stop; `lines` at most, `pause_ms` apart."""

    def __init__(self, stage: "Stage", conversation: str, *, pause_ms: float = 2, lines: int | None = None) -> None:
        super().__init__(conversation)
        self.note = stage.beside / self.word
        self._stop = stage.beside / f"{self.word}.stop"
        command = f"{sys.executable} {PROGRAM} {self.word} {self.note} {pause_ms} {lines or ''}"
        self.started = stage.insist(conversation, "exec_block", command=command, timeout_ms=0)

    def noted(self) -> dict[str, int]:
        return {self.word: int(self.note.read_text() or 0)} if self.note.exists() else {}

    @property
    def lines(self) -> int:
        """How many lines it has printed, as its side file says."""
        return self.noted().get(self.word, 0)

    def until(self, number: int) -> None:
        until(lambda: self.lines >= number, lambda: f"it got to {self.lines}, not to {number}")

    def further(self, lines: int) -> None:
        """Waits until it has printed so many more lines. No clock decides this."""
        self.until(self.lines + lines)

    def stop(self) -> None:
        self._stop.touch()


class Caller(threading.Thread):
    """A client that repeats its requests until it is told to stop."""

    def __init__(self, stage: "Stage", conversation: str) -> None:
        super().__init__(daemon=True)
        self.stage = stage
        self.conversation = conversation
        self.answers: dict[str, str] = {}
        """Refusals by code, each with its last message."""
        self.trouble: BaseException | None = None
        self.turns = 0
        self._over = threading.Event()
        self._turned = threading.Condition()

    def run(self) -> None:
        try:
            while not self._over.is_set():
                self.turn()
                with self._turned:
                    self.turns += 1
                    self._turned.notify_all()
        except BaseException as error:  # noqa: BLE001 -- told where the thread is joined
            self.trouble = error
            with self._turned:
                self._turned.notify_all()

    def turn(self) -> None:
        raise NotImplementedError

    def ask(self, verb: str, **fields: Any) -> dict[str, Any] | None:
        """The answer, or None when there is none now; a failure of the server is one of the test."""
        try:
            answer = self.stage.server.post(f"/v1/conversations/{self.conversation}/pty/{verb}", fields)
            said = answer.json
        except (OSError, http.client.HTTPException, ValueError):
            self._over.wait(AGAIN_S)
            return None
        if answer.status == http.HTTPStatus.OK:
            return said
        assert answer.status in (404, 409, UNAVAILABLE), (verb, answer.status, said)
        self.answers[said["error"]["code"]] = said["error"]["message"] + ": " + said["error"]["hint"]
        self._over.wait(AGAIN_S)
        return None

    def turned(self, more: int = 1) -> None:
        """Waits until it has sent so many more requests, with success or without."""
        with self._turned:
            wanted = self.turns + more
            assert self._turned.wait_for(lambda: self.turns >= wanted or self.trouble, PATIENCE), "it is stuck"

    def stop(self) -> None:
        self._over.set()

    def ended(self) -> None:
        self.join(PATIENCE)
        assert not self.is_alive(), f"{self} still waits for an answer"
        if self.trouble is not None:
            raise self.trouble


class Runner(Caller, Trace):
    """Runs commands whose output only their shell can know: it counts them. A fresh shell begins a fresh word.

    With `noise` each prints so many lines more: some thousands, and there is a checkpoint at its end.
    """

    def __init__(self, stage: "Stage", conversation: str, *, noise: int = 0) -> None:
        Caller.__init__(self, stage, conversation)
        Trace.__init__(self, conversation)
        self._command = f"echo {self.word}-$$ $((n_{self.word}=n_{self.word}+1))" + (f"; seq {noise}" if noise else "")

    def turn(self) -> None:
        said = self.ask("exec_block", command=self._command)
        if said is not None and said.get("done_because") == "mark":
            word, number, *_ = said["output"].split()
            self.certain[word] = int(number)


class Typist(Caller, Trace):
    """Types numbers into a program that prints those it has heard; begins anew when the program is gone."""

    def __init__(self, stage: "Stage", conversation: str) -> None:
        Caller.__init__(self, stage, conversation)
        Trace.__init__(self, conversation)
        self._name = ""
        self._last = 0

    def turn(self) -> None:
        status = self.ask("status")
        if status is None:
            return
        if status["mode"] != "interactive":
            self._name, self._last = f"{self.word}-{len(self.certain)}", 0
            note = self.stage.beside / self._name
            started = self.ask("exec_interactive", command=f"{sys.executable} {PROGRAM} {self._name} {note} hear")
            if started is not None:
                self.certain[self._name] = 0
            return
        if self._name not in self.certain:  # the answer was lost, the program is there
            self.certain[self._name] = 0
        sent = self.ask("send", data=f"{self._last + 1}\r")
        if sent is None:
            return
        words = {"any": [{"regex": rf"\b{self._name} {self._last + 1}\n"}, {"eof": True}]}
        heard = self.ask("wait_for", match=words, from_cursor=0, timeout_ms=2000)
        if heard is not None and heard.get("match_text"):
            self._last += 1
            self.certain[self._name] = self._last

    def ended(self) -> None:
        super().ended()
        if self.stage.pty(self.conversation, "status")["mode"] == "interactive":
            self.stage.pty(self.conversation, "send", data="end\r")


class Watcher(threading.Thread):
    """A client that watches all conversations from their beginning. When cut off, it resumes with what it has."""

    def __init__(self, stage: "Stage", conversations: list[str]) -> None:
        super().__init__(daemon=True)
        self.stage = stage
        self.conversations = conversations
        self.kept: Socket = Socket(None)
        self.cut = 0
        self.why = ""
        """How often the connection was lost, and how the last time."""
        self.trouble: BaseException | None = None
        self._over = threading.Event()
        self._begun = threading.Event()
        self.start()
        assert self._begun.wait(PATIENCE), (self.trouble, self.why, self.kept.errors, self.kept.heard[-5:])

    def run(self) -> None:
        try:
            asyncio.run(self._follow())
        except BaseException as error:  # noqa: BLE001 -- told where the thread is joined
            self.trouble = error

    async def _follow(self) -> None:
        while not self._over.is_set():
            try:
                async with open_socket(self.stage.server, "watcher") as socket:
                    socket.go_on(self.kept)
                    self.kept = socket
                    for conversation in self.conversations:
                        await socket.resume(conversation, "rows", "blocks")
                    self._begun.set()
                    await self._listen(socket)
            except (ConnectionClosed, OSError, InvalidHandshake, InvalidMessage, EOFError, TimeoutError) as error:
                self.cut += 1
                self.why = repr(error)
                await asyncio.sleep(AGAIN_S)

    async def _listen(self, socket: Socket) -> None:
        while not self._over.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(AGAIN_S):
                    socket._apply(json.loads(await socket.connection.recv()))

    def view(self, conversation: str) -> dict[str, tuple[int, str]]:
        """The rows it has now: id → number of the last event in it, and text."""
        rows = dict(self.kept.rows.get(conversation, {}))
        return {name: (row["row"]["seq"], row["text"]) for name, row in rows.items()}

    def stop(self) -> None:
        self._over.set()
        self.join(PATIENCE)
        assert not self.is_alive(), "the watcher does not end"
        if self.trouble is not None:
            raise self.trouble
