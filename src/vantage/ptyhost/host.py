"""The host: listens, knows the terminals and the agents, reaps, and leaves when it is not needed any more."""

import contextlib
import os
import resource
import signal
import socket
import struct
import time
from typing import Final, NamedTuple

from vantage.ptyhost.agent.hosted import HostedAgent
from vantage.ptyhost.connection import Connection, Request
from vantage.ptyhost.loop import READ, Loop
from vantage.ptyhost.ops import perform
from vantage.ptyhost.protocol import Code, Op
from vantage.ptyhost.shared.child import Inherited, reap
from vantage.ptyhost.shared.registry import Registry
from vantage.ptyhost.terminal.hosted import HostedTerminal

GRACE: Final = 10.0
"""Seconds a host waits for its first client."""
ENDING: Final = 1.0
"""Seconds that shells get when the host is told to end."""
RESERVE: Final = 8
"""Descriptors kept free when a shell is started: running terminals need some briefly, and a server must connect."""
AGENT_RESERVE: Final = 16
"""As many when an agent is started: it keeps six itself."""
FULL: Final = 0.25
"""Seconds before a host without descriptors accepts connections again."""
LAST_WORDS: Final = 10.0
"""Seconds after which a host that was told to end leaves whatever is left (a full disk, a process that cannot die)."""


class Host:
    """The connections, the terminals, the agents and the loop of the process."""

    def __init__(self, listener: socket.socket, path: str, inherited: Inherited) -> None:
        self.loop = Loop()
        self.inherited = inherited
        self.terminals = Registry(
            "terminal", Code.UNKNOWN_TERMINAL, lambda name, folder: HostedTerminal(self.loop, name, folder)
        )
        self.agents = Registry(
            "agent", Code.UNKNOWN_AGENT, lambda name, folder: HostedAgent(self.loop, name, folder, spared=self._clients)
        )
        self.greeted = False
        """A client has said hello."""
        self.leaving = False
        self._started = time.monotonic()
        self._overdue = False
        self._listener = listener
        self._path = path
        self.connections: set[Connection] = set()
        self._signals, wakeup = socket.socketpair()
        self._signals.setblocking(False)
        wakeup.setblocking(False)
        self._wakeup = wakeup
        signal.set_wakeup_fd(wakeup.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_IGN)
        self.loop.watch(self._signals.fileno(), READ, self._signaled)
        listener.setblocking(False)
        self._listen()
        # The timer only wakes the loop, which then checks the clock.
        self.loop.after(GRACE, lambda: None)

    def run(self) -> None:
        """Runs until no client, terminal or agent needs it, then removes the socket."""
        while True:
            while not self._done():
                self.loop.turn()
            # A client may have connected just now. Moving the socket keeps others from connecting; this one is served.
            away = f"{self._path}.leaving"
            with contextlib.suppress(FileNotFoundError):
                os.rename(self._path, away)
            self._accept(0)
            if self.leaving or not self.connections:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(away)
                return
            with contextlib.suppress(FileNotFoundError):
                os.rename(away, self._path)

    def end(self) -> None:
        """Ends every shell and agent, then leaves."""
        if self.leaving:
            return
        self.leaving = True
        self.loop.after(LAST_WORDS, self._give_up)
        for each in (*self.terminals, *self.agents):
            try:
                if each.running is not None:
                    each.kill(ENDING, lambda _left: None)
            except Exception:  # noqa: BLE001 -- the others are ended all the same
                self.loop.report()

    def _give_up(self) -> None:
        self._overdue = True

    def _done(self) -> bool:
        if self._overdue:
            return True
        if not self.leaving:
            if self.connections:
                return False
            if not self.greeted and time.monotonic() - self._started < GRACE:
                return False
        return not (self.terminals.busy or self.agents.busy)

    def perform_soon(self, request: Request) -> None:
        """Performs a request in a turn of its own."""
        self.loop.after(0, lambda: perform(self, request))

    def _clients(self) -> set[int]:
        """The processes at the other ends. An agent may have started a server: it is not ended with the agent."""
        return {connection.pid for connection in self.connections}

    def _accept(self, _events: int) -> None:
        try:
            client, _ = self._listener.accept()
        except BlockingIOError:
            return
        except OSError:  # no descriptor is left: new clients wait, and the loop must not spin meanwhile
            self.loop.report()
            self.loop.unwatch(self._listener.fileno())
            self.loop.after(FULL, self._listen)
            return
        # The socket's mode says the same; this holds where a file system does not.
        pid, user, _ = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if user in (os.geteuid(), 0):
            self.connections.add(Connection(self.loop, client, pid, self._handle, self.connections.discard))
        else:
            client.close()

    def _listen(self) -> None:
        self.loop.watch(self._listener.fileno(), READ, self._accept)

    def _handle(self, request: Request) -> None:
        expires = request.fields.get("expires")
        if isinstance(expires, int) and time.monotonic() * 1000 > expires:
            # This process may have been stopped. The sender's request has timed out, and it may have been sent again.
            request.refuse(Code.EXPIRED, "the request came too late: nothing was done")
            return
        opened = _OPENS.get(request.fields.get("op", ""))
        if opened is not None and not _room(opened.reserve):
            limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
            why = f"Too many open files: the PTY host may open {limit:,} and its terminals take nearly all of them"
            request.refuse(Code.FAILED, f"no {opened.what} can be started. {why}")
            return
        perform(self, request)

    def _signaled(self, _events: int) -> None:
        with contextlib.suppress(BlockingIOError):
            if signal.SIGTERM in self._signals.recv(4096):
                self.end()
        self._reap()

    def _reap(self) -> None:
        """Reaps shells and agents that have ended, and their orphans, which became our children."""
        found = reap()
        if not found.ended and not found.stopped:
            return
        for each in (*self.terminals, *self.agents):
            try:
                each.reap(found)
            except Exception:  # noqa: BLE001 -- the others have ended all the same, and are not told again
                self.loop.report()


class _Opened(NamedTuple):
    """What an operation starts."""

    what: str
    reserve: int


_OPENS: Final = {Op.OPEN: _Opened("shell", RESERVE), Op.AGENT_OPEN: _Opened("agent", AGENT_RESERVE)}


def _room(reserve: int) -> bool:
    """Whether so many descriptors are free. The lowest free number says how many are taken."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return True
    try:
        free = os.dup(2)
    except OSError:
        return False
    os.close(free)
    return free < limit - reserve
