"""A terminal's secret prompts as requests of kind `secret`, so that people learn of them wherever requests are shown.

A program begins to ask: a request is opened, once. A line is typed into it: that is its answer, of which only who typed
it is logged. The program goes on or ends without one: the request is closed as `withdrawn`. The secret itself never
comes here.

A program may ask again without turning the terminal's echo on in between. So after an answer the host is asked whether
the program waits for input again.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from vantage.conversation.live.input_watch import Caller
from vantage.conversation.live.terminal import LiveTerminal
from vantage.conversation.requests.ledger import Entry
from vantage.conversation.requests.requests import Requests
from vantage.errors import VantageError
from vantage.events import Request

PREFIX = "secret-"
"""How the ids of these requests begin."""
CONFIRM_S = 0.1
SAMPLE_S = 1.0
"""Seconds until the next sample of a terminal that asks, before that is certain and from then on: a program need not
print anything when it gives up."""
MAX_TITLE = 200

_log = logging.getLogger(__name__)


class SecretPrompts:
    def __init__(self, live: LiveTerminal, requests: Requests, ask: Callable[[Request], object]) -> None:
        """`ask` logs a request. A request that an earlier process has logged is found in `requests`."""
        self._live = live
        self._requests = requests
        self._ask = ask
        self._last = next((each for each in reversed(requests.entries()) if _is_ours(each)), None)
        """The request of the last prompt, as it was then; None once that prompt is gone."""
        self._again: Caller | None = None
        """Waits for the program to ask again, after an answer."""
        self._seen = -1
        """The raw output that a late sample is due for: a program may turn the echo off after its line."""
        self._closed = False
        self._typing = 0
        """How many inputs are being written."""
        self._due: asyncio.Handle | None = None
        self._timer: asyncio.TimerHandle | None = None
        live.waiters.join(self)

    # a waiter: called after every change of the terminal

    def look(self) -> bool:
        if self._closed:
            return True
        if self._due is None and (self._last is not None or self._live.state.awaiting_secret):
            self._due = asyncio.get_running_loop().call_soon(self._follow)
        elif self._live.terminal.raw != self._seen:
            self._seen = self._live.terminal.raw
            self._sample_later(SAMPLE_S)
        return False

    def give_up(self) -> None:
        self._closed = True
        for handle in (self._due, self._timer):
            if handle is not None:
                handle.cancel()
        self._end_watch()

    # what is typed

    async def open(self, secret: bool) -> str | None:
        """The id of the request for what is asked now, None if there is none. Looks afresh before a secret is typed."""
        if secret and self._open_id() is None:
            await self._live.sampler.look()
            self._follow()
        return self._open_id()

    @contextmanager
    def typing(self) -> Iterator[None]:
        """While it is entered, no request is closed: a program may read the line and end before its writer hears that
        the line was written.
        """
        self._typing += 1
        try:
            yield
        finally:
            self._typing -= 1
            self.look()

    def entered(self, request_id: str | None, by: str) -> None:
        """A line was typed to the program that asked with this request."""
        if request_id is None:
            return
        try:
            self._requests.answered_in_terminal(request_id, by)
        except (VantageError, OSError) as error:  # it was typed: a caller that heard of an error would type it again
            _log.warning("%s: it could not be logged that a secret was typed: %s", self._live.id, error)

    # what is asked

    def _follow(self) -> None:
        self._due = None
        if self._live.pump.stale:
            return
        try:
            self._compare()
        except (VantageError, OSError) as error:  # a full disk, say: the next sample tries again
            _log.warning("%s: its secret prompt could not be logged: %s", self._live.id, error)

    def _compare(self) -> None:
        state, last = self._live.state, self._last
        asks = state.awaiting_secret and (state.block is not None or state.unhooked)
        if last is not None and (not asks or self._block_of(last) != self._block()):
            if self._typing:
                return
            self._gone(last)
            last = None
        if not asks:
            return
        self._sample_later(SAMPLE_S if self._live.sampler.sample.awaiting_secret else CONFIRM_S)
        if last is not None:
            if self._requests.get(last.request.request_id).state != "answered" or not self._asks_again():
                return
            self._end_watch()
        if self._live.sampler.sample.awaiting_secret:
            self._open()

    def _open(self) -> None:
        state, request_id = self._live.state, f"{PREFIX}{secrets.token_hex(6)}"
        who = state.foreground or "a program"
        self._ask(
            Request(
                request_id=request_id,
                kind="secret",
                title=self._live.input_watch.prompt()[:MAX_TITLE] or f"{who} asks for a secret",
                args={"foreground": state.foreground, "block_id": self._block()},
                cwd=self._live.sampler.sample.cwd or state.cwd,
            )
        )
        self._last = self._requests.get(request_id)

    def _gone(self, last: Entry) -> None:
        """The prompt is not there any more."""
        self._requests.close(last.request.request_id, "withdrawn")
        self._end_watch()
        self._last = None

    def _asks_again(self) -> bool:
        """Whether the program has read the answer, and waits for another one."""
        if self._again is None:
            self._again = self._live.input_watch.begin()
        awaited = self._again.awaited
        return awaited is not None and awaited.what == "secret"

    def _end_watch(self) -> None:
        if self._again is not None:
            self._again.end()
            self._again = None

    def _sample_later(self, seconds: float) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._sample)

    def _sample(self) -> None:
        self._timer = None
        self._live.sampler.soon(0)

    def _open_id(self) -> str | None:
        if self._last is None:
            return None
        request_id = self._last.request.request_id
        return request_id if self._requests.get(request_id).state == "open" else None

    def _block(self) -> str:
        block = self._live.state.block
        return block.block_id if block is not None else ""

    def _block_of(self, entry: Entry) -> str:
        args = entry.request.args
        return str(args.get("block_id", "")) if isinstance(args, dict) else ""


def _is_ours(entry: Entry) -> bool:
    request = entry.request
    return request.kind == "secret" and request.request_id.startswith(PREFIX) and entry.closed is None
