"""The host: listens, keeps the terminals, reaps their processes, and ends when it is not needed any more."""

import contextlib
import os
import resource
import signal
import socket
import struct
import time
from typing import Final

from vantage.ptyhost.connection import Connection, Request
from vantage.ptyhost.loop import READ, Loop
from vantage.ptyhost.ops import Refused, perform
from vantage.ptyhost.protocol import Code, Op
from vantage.ptyhost.terminal.hosted import HostedTerminal
from vantage.ptyhost.terminal.pty import Inherited, reap

GRACE: Final = 10.0
"""Seconds a host waits for its first client."""
ENDING: Final = 1.0
"""Seconds that shells get when the host is told to end."""
RESERVE: Final = 8
"""Descriptors kept free when a shell is started: running terminals need some briefly, and a server must connect."""
FULL: Final = 0.25
"""Seconds before a host without descriptors accepts connections again."""
LAST_WORDS: Final = 10.0
"""Seconds after which a host that was told to end exits anyway (a full disk, a process that cannot die)."""


class Host:
    """The connections, the terminals and the loop of the process."""

    def __init__(self, listener: socket.socket, path: str, inherited: Inherited) -> None:
        self.loop = Loop()
        self.inherited = inherited
        self.terminals: dict[str, HostedTerminal] = {}
        self.greeted = False
        """A client has said hello."""
        self.leaving = False
        self._started = time.monotonic()
        self._overdue = False
        self._listener = listener
        self._path = path
        self._connections: set[Connection] = set()
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
        """Runs until no client or terminal needs it, then removes the socket."""
        while True:
            while not self._done():
                self.loop.turn()
            # A client may have connected just now. Moving the socket keeps others from connecting; this one is served.
            away = f"{self._path}.leaving"
            with contextlib.suppress(FileNotFoundError):
                os.rename(self._path, away)
            self._accept(0)
            if self.leaving or not self._connections:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(away)
                return
            with contextlib.suppress(FileNotFoundError):
                os.rename(away, self._path)

    def terminal(self, name: str, folder: str) -> HostedTerminal:
        """The terminal of this name; made if it does not exist. Raises Refused when name and folder do not fit."""
        known = self.terminals.get(name)
        if known is None:
            taken = next((other.name for other in self.terminals.values() if other.folder == folder), None)
            if taken is not None:
                raise Refused(Code.EXISTS, f"folder {folder} belongs to terminal {taken}: a folder holds one terminal")
            known = self.terminals[name] = HostedTerminal(self.loop, name, folder)
        elif known.folder != folder:
            raise Refused(Code.BAD_REQUEST, f"terminal {name} is in {known.folder}, not in {folder}: forget it first")
        else:
            known.look_again()
        return known

    def known(self, name: str) -> HostedTerminal:
        try:
            return self.terminals[name]
        except KeyError:
            raise Refused(Code.UNKNOWN_TERMINAL, f"terminal {name} is not known: attach to it or open it") from None

    def forget(self, terminal: HostedTerminal) -> None:
        for connection in self._connections:
            connection.watching.discard(terminal)
            terminal.unwatch(connection)
        terminal.rest()
        del self.terminals[terminal.name]

    def end(self) -> None:
        """Ends every shell, then leaves."""
        if self.leaving:
            return
        self.leaving = True
        self.loop.after(LAST_WORDS, self._give_up)
        for terminal in self.terminals.values():
            try:
                if terminal.running is not None:
                    terminal.kill(ENDING, lambda _left: None)
            except Exception:  # noqa: BLE001 -- an error in one must not keep the others from ending
                self.loop.report()

    def _give_up(self) -> None:
        self._overdue = True

    def _done(self) -> bool:
        if self._overdue:
            return True
        if not self.leaving:
            if self._connections:
                return False
            if not self.greeted and time.monotonic() - self._started < GRACE:
                return False
        return not any(terminal.busy for terminal in self.terminals.values())

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
        _, user, _ = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if user in (os.geteuid(), 0):
            self._connections.add(Connection(self.loop, client, self._handle, self._connections.discard))
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
        if request.fields.get("op") == Op.OPEN and not _room():
            limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
            why = f"Too many open files: the PTY host may open {limit:,} and its terminals take nearly all of them"
            request.refuse(Code.FAILED, f"no shell can be started. {why}")
            return
        perform(self, request)

    def _signaled(self, _events: int) -> None:
        with contextlib.suppress(BlockingIOError):
            if signal.SIGTERM in self._signals.recv(4096):
                self.end()
        self._reap()

    def _reap(self) -> None:
        """Reaps shells that have ended, and their orphans, which became our children."""
        found = reap()
        if not found.ended and not found.stopped:
            return
        for terminal in tuple(self.terminals.values()):
            try:
                running = terminal.running
                if running is not None and running.pty.pid in found.stopped:
                    running.stopped()
                if running is not None and running.pty.pid in found.ended:
                    terminal.reaped(running, found.ended[running.pty.pid])
                terminal.killing.check()
            except Exception:  # noqa: BLE001 -- the others have ended all the same, and are not reported again
                self.loop.report()


def _room() -> bool:
    """Whether enough descriptors are free to start a shell. The lowest free number says how many are taken."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return True
    try:
        free = os.dup(2)
    except OSError:
        return False
    os.close(free)
    return free < limit - RESERVE
