"""`vantage attach`: this terminal shows the agent's terminal, and what is typed here is typed there."""

import os
import select
import signal
import sys
import termios
import time
import tty
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from vantage.cli.arguments.command import Verb
from vantage.cli.arguments.conversation import chosen, conversation_argument, home_option, place_of
from vantage.cli.display.local_keys import LocalKeys, Typed
from vantage.cli.display.printing import note
from vantage.cli.display.signals import HasFileno, woken_by
from vantage.cli.display.viewport import ENTER, LEAVE, Viewport
from vantage.cli.errors import WrongUsage, failed
from vantage.cli.home_client import HomeClient
from vantage.client import calls
from vantage.client.endpoint import HomeEndpoint
from vantage.client.transport.link import Link
from vantage.errors import VantageError, from_wire

_ESCAPE_S = 0.05
"""An Escape with no byte after it for this long is the key itself."""
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_STDIN, _STDOUT = 0, 1
_GOODBYE_S = 2.0
_RELEASED = 0
"""The id of the ping after `release_keyboard`. Pings after input count from 1."""


@click.command(cls=Verb)
@conversation_argument
@click.option("--read-only", is_flag=True, help="Only look. Ctrl-C leaves, too.")
@home_option
def attach(conversation: str | None, read_only: bool, home: str | None) -> None:
    r"""Show the terminal of CONVERSATION here, live, and type into it.

    The first key takes the keyboard from the agent; Ctrl-\ leaves and gives it back. The agent's terminal keeps its
    size: in a smaller window, the part with the cursor is shown.
    """
    if not (os.isatty(_STDIN) and os.isatty(_STDOUT)):
        raise WrongUsage("attach needs a terminal for keyboard and screen: 'vantage screen' and 'vantage watch' do not")
    place = place_of(home)
    chosen_one = chosen(conversation, place)
    view = Attachment(place, chosen_one, read_only=read_only)
    code = view.run()
    note(f"left '{chosen_one}': it runs on")
    sys.exit(code)


@contextmanager
def _taken_over() -> Iterator[None]:
    """The terminal in raw mode, on its alternate screen. At the end it is as before, also after an error."""
    before = termios.tcgetattr(_STDIN)
    try:
        _take_over()
        yield
    finally:
        _write(LEAVE)
        termios.tcsetattr(_STDIN, termios.TCSAFLUSH, before)


def _take_over() -> None:
    tty.setraw(_STDIN)
    _write(ENTER)


def _write(text: str) -> None:
    data = text.encode("utf-8", "replace")
    try:
        while data:
            data = data[os.write(_STDOUT, data) :]
    except OSError:
        pass  # the window is closed: SIGHUP says so, too


class Attachment:
    def __init__(self, home: str, conversation: str, *, read_only: bool) -> None:
        self._home = home
        self._conversation = conversation
        self._read_only = read_only
        about = {"conversation_id": conversation, "channels": ["screen"], "surface": "terminal"}
        self._link = Link(HomeEndpoint(home, may_start=False), f"attach-{os.getpid()}", subscribe=lambda: about)
        self._keys = LocalKeys()
        self._state: dict[str, Any] = {}
        self._told = ""
        """The last error, shown until the next key."""
        self._sent: deque[tuple[int, dict[str, Any]]] = deque()
        """Input that the server has not confirmed."""
        self._failed: dict[str, Any] | None = None
        """The error about the first of these inputs, if there was one."""
        self._count = 0
        self._asked_for_keyboard = False
        self._shell = True
        """Whether a shell runs, as far as is known."""
        self._starting = False
        size = os.get_terminal_size(_STDOUT)
        self._view = Viewport(size.columns, size.lines)

    def run(self) -> int:
        """Runs until the person leaves. Returns the exit code."""
        self._link.open()
        with HomeClient(self._home, start=False) as client:
            self._shell = client.pty(self._conversation, calls.status())["pid"] is not None
        try:
            with woken_by(signal.SIGWINCH, signal.SIGCONT, *_ENDING) as wakeups, _taken_over():
                while True:
                    sources: list[HasFileno | int] = [_STDIN, wakeups, *self._link.sources()]
                    ready = select.select(sources, [], [], self._timeout())[0]
                    if wakeups in ready:
                        came = wakeups.take()
                        if ended := [number for number in came if number in _ENDING]:
                            return 128 + ended[0]
                        if signal.SIGCONT in came:  # another program may have changed its modes meanwhile
                            _take_over()
                        size = os.get_terminal_size(_STDOUT)
                        self._view.resize(size.columns, size.lines)
                    if any(source in self._link.sources() for source in ready):
                        self._listen()
                    if not self._type(ready):
                        return 0
                    if self._link.due() and self._link.retry():
                        self._asked_for_keyboard = False
                    _write(self._view.frame(self._bar(), alarm=bool(self._told or self._secret)))
        finally:
            self._give_keyboard_back()
            self._link.close()

    def _give_keyboard_back(self) -> None:
        """Releases the keyboard, and waits until the server has done so."""
        if not self._mine and not self._asked_for_keyboard:
            return
        self._link.send("release_keyboard", conversation_id=self._conversation)
        self._link.send("ping", id=_RELEASED)
        deadline = time.monotonic() + _GOODBYE_S
        while self._link.connected and (left := deadline - time.monotonic()) > 0:
            select.select(self._link.sources(), [], [], left)
            if any(message["type"] == "pong" and message.get("id") == _RELEASED for message in self._link.take()):
                return

    def _timeout(self) -> float | None:
        timeout = self._link.timeout()
        if not self._keys.waiting:
            return timeout
        return _ESCAPE_S if timeout is None else min(timeout, _ESCAPE_S)

    def _listen(self) -> None:
        for message in self._link.take():
            match message["type"]:
                case "snapshot":
                    self._snapshot(message)
                case "screen_delta":
                    self._view.apply(message)
                case "pty_state":
                    self._pty_state(message)
                case "pong":
                    self._pong(message)
                case "error":
                    self._error(message)
        if not self._link.connected:
            self._sent.clear()

    def _snapshot(self, message: dict[str, Any]) -> None:
        if message.get("screen"):
            self._view.apply(message["screen"])
        if message.get("state"):
            self._state = message["state"]

    def _pty_state(self, message: dict[str, Any]) -> None:
        if message.get("mode") == "exited" != self._state.get("mode"):
            self._shell = False
        self._state = message

    @property
    def _secret(self) -> bool:
        return bool(self._state.get("awaiting_secret"))

    @property
    def _mine(self) -> bool:
        return self._state.get("keyboard") == f"client:{self._link.client_id}"

    def _bar(self) -> str:
        if not self._link.connected:
            how = "the server has gone: waiting for it"
        elif self._told:
            how = self._told
        elif self._secret:
            how = "a secret is asked for: it is typed unseen and logged nowhere"
        elif not self._shell:
            how = "no shell runs" if self._read_only else "no shell runs: a key starts one"
        else:
            keyboard = self._state.get("keyboard", "agent")
            how = "keyboard: you" if self._mine else f"keyboard: {keyboard}"
            if not self._mine and not self._read_only:
                how += ", typing takes it"
        # the key to leave comes first: a narrow window cuts off the end
        about = ["Ctrl-\\ leaves", self._conversation, how, self._view.size, self._view.part]
        return " · ".join(filter(None, about))

    def _type(self, ready: list[Any]) -> bool:
        """Sends what was typed. Returns False to leave."""
        if _STDIN in ready:
            data = os.read(_STDIN, 1 << 16)
            if not data or (self._read_only and b"\x03" in data):
                return False
            typed = self._keys.feed(data)
        else:
            typed = self._keys.flush() if self._keys.waiting else []
        if not self._read_only:
            for each in typed:
                self._pass_on(each)
        return not self._keys.left

    def _pass_on(self, typed: Typed) -> None:
        self._told = ""
        if not self._link.connected:
            return
        if not self._shell:
            self._start_shell()
            return
        if not self._mine and not self._asked_for_keyboard:
            self._asked_for_keyboard = True
            self._link.send("take_keyboard", conversation_id=self._conversation)
        if self._secret:
            self._input({"data": typed.raw.decode("utf-8", "replace"), "secret": True})
        elif typed.keys:
            self._input({"keys": list(typed.keys)})
        else:
            self._input({"data": typed.data, **({"paste": True} if typed.paste else {})})

    def _input(self, said: dict[str, Any]) -> None:
        """Types into the agent's terminal. The server handles messages in order, so a pong confirms the input before
        it.
        """
        self._count += 1
        self._sent.append((self._count, said))
        self._link.send("input", conversation_id=self._conversation, **said)
        self._link.send("ping", id=self._count)

    def _start_shell(self) -> None:
        """Starts a shell. Only the agent may start one, so the keyboard is released first."""
        if not self._starting:
            self._starting = True
            self._asked_for_keyboard = False
            self._link.send("release_keyboard", conversation_id=self._conversation)
            self._link.send("ping", id=_RELEASED)

    def _released(self) -> None:
        try:
            with HomeClient(self._home, start=False) as client:
                if client.pty(self._conversation, calls.status())["pid"] is None:
                    client.pty(self._conversation, calls.reset())
            self._shell = True
        except VantageError as error:
            self._told = failed(error).message
        self._starting = False

    def _pong(self, message: dict[str, Any]) -> None:
        if message.get("id") == _RELEASED:
            self._released()
            return
        failed, self._failed = self._failed, None
        if not self._sent or self._sent[0][0] != message.get("id"):
            return
        _, said = self._sent.popleft()
        if failed is None:
            return
        if failed["code"] == "not_running":
            self._start_shell()
        elif failed["code"] == "secret_prompt" and "data" in said and "secret" not in said:
            self._input({"data": said["data"], "secret": True})  # the prompt came before its `pty_state`
        elif failed["code"] != "keyboard_taken":  # the answer to take_keyboard has the same news
            self._told = failed["message"]

    def _error(self, message: dict[str, Any]) -> None:
        about = message.get("about")
        if about == "input":
            self._failed = message
        elif about == "take_keyboard":
            self._asked_for_keyboard = False
            self._told = message["message"]
        elif message["code"] == "deleted" or about == "subscribe":
            raise from_wire(message)
        else:
            self._told = message["message"]
