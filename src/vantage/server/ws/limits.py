"""The limits of sockets, and the registry that counts sockets."""

from dataclasses import dataclass
from typing import Protocol

from vantage.server.ws.handshake import Event

MAX_BYTES = 1 << 20
"""Bytes of a client's message; a longer one closes the socket with 1009."""
MESSAGE_COST = 1024
"""Bytes that a waiting message counts for besides its own: about a thousand may wait."""
PING_S = 20.0
"""Seconds between pings. A peer that does not answer one before the next is due is gone."""


@dataclass(frozen=True, slots=True)
class Limits:
    hello_s: float = 5.0
    """Seconds after which a socket without a valid token is closed."""
    anonymous: int = 256
    anonymous_of_peer: int = 128
    """Sockets without a token, of all addresses and of one. A new one displaces the oldest: a client says hello at
    once, so it is never the one that is closed."""
    linger_s: float = 30.0
    """Seconds that a client without a socket stays present: its context holds, and it keeps the keyboard."""
    redraw_s: float = 0.25
    """All rows are drawn again for another display at most so often."""
    list_s: float = 0.25
    """Changes of the list of conversations are sent at most so often."""
    sockets: int = 1000
    """Sockets with a token. Those without one are counted separately."""
    subscriptions: int = 100
    """Conversations of one socket."""


class Counted(Protocol):
    def end(self, event: Event) -> None: ...


class SocketRegistry:
    """All open sockets: those with a token, and the anonymous ones."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._authenticated: set[Counted] = set()
        self._anonymous: dict[Counted, str] = {}
        """→ the address of its peer, oldest first."""

    def add_anonymous(self, socket: Counted, peer: str) -> None:
        """Counts a socket without a token. Where there are too many, the oldest one is closed."""
        of_peer = [other for other, address in self._anonymous.items() if address == peer]
        if len(of_peer) >= self._limits.anonymous_of_peer:
            self._displace(of_peer[0])
        elif len(self._anonymous) >= self._limits.anonymous:
            self._displace(next(iter(self._anonymous)))
        self._anonymous[socket] = peer

    def admit(self, socket: Counted) -> bool:
        """Counts a socket that has shown a valid token; False when the limit is reached."""
        self._anonymous.pop(socket, None)
        if socket not in self._authenticated and len(self._authenticated) >= self._limits.sockets:
            return False
        self._authenticated.add(socket)
        return True

    def remove(self, socket: Counted) -> None:
        self._authenticated.discard(socket)
        self._anonymous.pop(socket, None)

    def _displace(self, socket: Counted) -> None:
        del self._anonymous[socket]
        socket.end(Event.DISPLACED)
