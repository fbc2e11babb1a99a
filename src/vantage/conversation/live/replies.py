"""Writes what a terminal answers to its programs: replies to queries, and the cancellation of incomplete commands.

A reply is written only while the program that sent the query can still read it, because a line editor would take it for
typed keys.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from vantage.conversation.live.host.client import HostClient
from vantage.errors import VantageError
from vantage.ptyhost import protocol, shells
from vantage.terminal.state import Reply, State, Step

MAX_AGE_MS = 5000
"""Seconds. An older query is not answered: its program has given up, and another one would read the reply."""


class Replies:
    def __init__(self, terminal: str, state: Callable[[], State], host: Callable[[], Awaitable[HostClient]]) -> None:
        self._terminal = terminal
        self._state = state
        self._host = host
        self.answered = -1
        """Raw offset of the last query that was answered."""

    async def respond(self, step: Step) -> None:
        try:
            host = await self._host()
            for reply in step.replies:
                if reply.query > self.answered and time.time() * 1000 - reply.asked < MAX_AGE_MS:
                    self.answered = reply.query
                    await self._reply(host, reply)
            if step.asks_more:
                self.cancel(host)
        except VantageError:
            return  # the shell, or its host, has ended: there is no program to answer

    async def _reply(self, host: HostClient, reply: Reply) -> None:
        """The shell sent the query while it started: it may read the reply at its first prompt, if its editor reads
        replies.
        """
        state = self._state()
        by_shell = reply.phase == "starting" and state.kind in shells.READ_ANSWERS
        still = state.phase in (("starting", "prompting", "idle") if by_shell else (reply.phase,))
        if reply.phase in ("idle", "sent") or not still:
            return
        data = protocol.encode_data(reply.data)
        await host.request("reply", terminal=self._terminal, query=reply.query, data=data, by_shell=by_shell)

    def cancel(self, host: HostClient) -> None:
        """Cancels an incomplete command: the shell waits for the rest of it, and there is none."""
        host.ask("journal", terminal=self._terminal, record={"t": "cancel"}).add_done_callback(_retrieve)
        if keys := shells.CANCEL[self._state().kind]:
            data = protocol.encode_data(keys)
            host.ask("input", terminal=self._terminal, data=data, check="none").add_done_callback(_retrieve)


def _retrieve(answer: "asyncio.Future[Any]") -> None:
    """Retrieves the exception of a request that is allowed to fail, so that asyncio does not log it."""
    answer.exception()
