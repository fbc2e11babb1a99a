"""A home's one connection to its PTY host, made when it is needed and shared by all conversations.

After a host did not answer, no request is sent for `SILENT_PAUSE_S`: callers fail at once instead of waiting.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from vantage.conversation.live.host.client import HostClient
from vantage.errors import HostSilent, Unavailable, VantageError

SILENT_PAUSE_S = 2.0

_log = logging.getLogger(__name__)

Connect = Callable[[Path], Awaitable[HostClient]]


class HomeHost:
    def __init__(
        self,
        home: Path,
        connect: Connect,
        *,
        on_event: Callable[[dict[str, Any]], None],
        on_lost: Callable[[], None],
    ) -> None:
        self._home = home
        self._connect = connect
        self._on_event = on_event
        self._on_lost = on_lost
        self._host: HostClient | None = None
        self._connecting = asyncio.Lock()
        self._silent_until = 0.0
        self._closed = False
        self._retrying: asyncio.Task[None] | None = None

    async def rejoin(self, attach: Callable[[HostClient], Awaitable[None]], *, needed: bool = False) -> None:
        """Calls `attach` with the host that a process before this one started, if any; a silent one is retried.

        `needed`: also when there is none, with a new host.
        """
        if not needed and not any((self._home / name).exists() for name in ("host.json", "host.sock")):
            return
        try:
            await attach(await self.get())
        except HostSilent as error:  # the files are served meanwhile
            _log.warning("shells are joined later: %s", error)
            self._retrying = asyncio.get_running_loop().create_task(self._retry(attach))

    async def _retry(self, attach: Callable[[HostClient], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(SILENT_PAUSE_S)
            try:
                await attach(await self.get())
            except HostSilent:
                continue
            except VantageError as error:
                _log.warning("shells cannot be joined: %s", error)
            return

    async def get(self) -> HostClient:
        """The connection. Starts a host when none runs; raises HostSilent when one does not answer."""
        async with self._connecting:
            if self._closed:
                raise Unavailable(f"{self._home} was closed", hint="open it again")
            if self._host is None:
                if time.monotonic() < self._silent_until:
                    raise HostSilent("the PTY host does not answer", hint="it is stopped, or the machine is overloaded")
                try:
                    self._host = await self._connect(self._home)
                except HostSilent:
                    self._silent_until = time.monotonic() + SILENT_PAUSE_S
                    raise
                self._host.on_event = self._on_event
                self._host.on_lost = self._lost
            return self._host

    def _lost(self) -> None:
        self._host = None
        self._on_lost()

    def forbid(self) -> None:
        """No connection is made from now on: a late caller must not start a host again."""
        self._closed = True
        if self._retrying is not None:
            self._retrying.cancel()

    async def close(self) -> None:
        self.forbid()
        if self._host is not None:
            await self._host.close()
            self._host = None
