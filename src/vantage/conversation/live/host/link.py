"""One terminal's side of the connection to the PTY host, which all conversations of a home share."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from vantage.conversation.live.host.client import HostClient
from vantage.errors import Do, Unavailable

_log = logging.getLogger(__name__)


class HostLink:
    def __init__(
        self, terminal: str, folder: str, connect: Callable[[], Awaitable[HostClient]], *, wake: Callable[[], None]
    ) -> None:
        """`connect` gives the home's host, starting one when none runs; `wake` is called when a request fails."""
        self.attached = False
        """Whether the host knows this terminal."""
        self.stalled = ""
        """Why the host cannot write and therefore reads no more."""
        self._terminal = terminal
        self._folder = folder
        self._connect = connect
        self._wake = wake
        self._seen: HostClient | None = None

    @property
    def silent(self) -> bool:
        """Whether the host did not answer the last request."""
        return self._seen is not None and self._seen.silent

    async def host(self) -> HostClient:
        self._seen = await self._connect()
        return self._seen

    async def attach(self, window: int) -> dict[str, Any]:
        """Attaches to the terminal in its present state.

        The answer says how long its files are, and which query was answered last. The host pauses reading at the offset
        `window`, if it can.
        """
        host = await self.host()
        upto = {"upto": window} if host.pauses else {}
        answer = await host.request("attach", terminal=self._terminal, folder=self._folder, **upto)
        self.attached = True
        self.stall(answer.get("stalled") or "")
        return answer

    def move_window(self, upto: int | None) -> None:
        """The host may read up to this offset before it pauses; None: it does not pause."""
        if self.attached and self._seen is not None and self._seen.pauses:
            self._seen.ask("window", terminal=self._terminal, upto=upto).add_done_callback(_ignore)

    def lost(self) -> None:
        """The host does not know this terminal any more: the connection broke, or the host was told to forget it."""
        self.attached = False
        self.stall("")

    def stall(self, why: str) -> None:
        """Notes that the host cannot write, so programs wait; or, without a reason, that it can again."""
        if bool(why) != bool(self.stalled):
            if why:
                _log.warning("%s is stalled: %s", self._terminal, why)
            else:
                _log.info("%s goes on", self._terminal)
        self.stalled = why
        self._wake()

    async def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        """A request about this terminal, which must be attached."""
        return await (await self.host()).request(op, terminal=self._terminal, **fields)

    async def tell(self, op: str, **fields: Any) -> "asyncio.Future[dict[str, Any]]":
        """A request that is answered only when it fails; its success is seen in the output."""
        failure = (await self.host()).ask(op, terminal=self._terminal, answer="failure", **fields)
        failure.add_done_callback(lambda _: self._wake())
        return failure

    async def cancel_failure(self, failure: "asyncio.Future[dict[str, Any]]") -> None:
        """Ignores a failure of a `tell` from now on; raises one that has come already."""
        if failure.done():
            if why := failure.result().get("why"):
                raise Unavailable(
                    f"the terminal took only a part of it ({why})",
                    do=[Do("read_screen", "shows the terminal"), Do("reset", "starts a fresh shell")],
                )
        else:
            (await self._connect()).forget(failure)


def _ignore(answer: "asyncio.Future[dict[str, Any]]") -> None:
    """The host is gone, and its window with it."""
    if not answer.cancelled():
        answer.exception()
