"""The handshake of a socket, sans-IO: its states, the events that each allows, and how it ends.

`TRANSITIONS` lists every event that a state allows; any other one raises `HandshakeError`, because then the server and
not the peer has made a mistake. The diagram in docs/websocket.md is made from this table.
"""

from enum import Enum, auto
from typing import NamedTuple


class State(Enum):
    ANONYMOUS = "anonymous"
    """No valid token yet. Only a hello with one is taken."""
    AUTHENTICATED = "authenticated"
    """The token is known, the client is not. Only a hello is taken."""
    READY = "ready"
    """Token and client are known: every message is taken."""
    CLOSED = "closed"


class Event(Enum):
    TOKEN = auto()
    """A valid token came, with the upgrade or with hello."""
    HELLO = auto()
    """The client has named itself."""
    MESSAGE = auto()
    """Any other message."""
    NO_TOKEN = auto()
    """A message came before a token."""
    BAD_TOKEN = auto()
    NO_HELLO = auto()
    """The time limit for the token is over."""
    REVOKED = auto()
    FULL = auto()
    """The limit of open sockets with a token is reached."""
    DISPLACED = auto()
    """Too many sockets without a token are open, and this was the oldest."""
    LEFT = auto()
    """The peer has closed the socket."""


class Closing(NamedTuple):
    """With which code and reason the server closes a socket."""

    code: int
    reason: str


UNAUTHORIZED, TRY_AGAIN_LATER = 4401, 1013

CLOSINGS = {
    Event.NO_TOKEN: Closing(UNAUTHORIZED, "say hello with a token first"),
    Event.BAD_TOKEN: Closing(UNAUTHORIZED, "this token is not valid"),
    Event.NO_HELLO: Closing(UNAUTHORIZED, "no token was shown in time"),
    Event.REVOKED: Closing(UNAUTHORIZED, "this token was revoked"),
    Event.FULL: Closing(TRY_AGAIN_LATER, "too many sockets are open"),
    Event.DISPLACED: Closing(TRY_AGAIN_LATER, "too many sockets wait for their hello"),
}
"""`LEFT` is not here: there is no peer to tell."""

TRANSITIONS: dict[State, dict[Event, State]] = {
    State.ANONYMOUS: {
        Event.TOKEN: State.AUTHENTICATED,
        Event.NO_TOKEN: State.CLOSED,
        Event.BAD_TOKEN: State.CLOSED,
        Event.NO_HELLO: State.CLOSED,
        Event.DISPLACED: State.CLOSED,
        Event.LEFT: State.CLOSED,
    },
    State.AUTHENTICATED: {
        Event.TOKEN: State.AUTHENTICATED,
        Event.HELLO: State.READY,
        Event.BAD_TOKEN: State.CLOSED,
        Event.REVOKED: State.CLOSED,
        Event.FULL: State.CLOSED,
        Event.LEFT: State.CLOSED,
    },
    State.READY: {
        Event.TOKEN: State.READY,
        Event.HELLO: State.READY,
        Event.MESSAGE: State.READY,
        Event.BAD_TOKEN: State.CLOSED,
        Event.REVOKED: State.CLOSED,
        Event.LEFT: State.CLOSED,
    },
    State.CLOSED: {},
}


class HandshakeError(RuntimeError):
    """The server did something that the table does not list."""


class Handshake:
    def __init__(self) -> None:
        self.state = State.ANONYMOUS

    @property
    def closed(self) -> bool:
        return self.state is State.CLOSED

    def allows(self, event: Event) -> bool:
        return event in TRANSITIONS[self.state]

    def on(self, event: Event) -> None:
        if not self.allows(event):
            allowed = ", ".join(each.name for each in TRANSITIONS[self.state]) or "nothing"
            raise HandshakeError(f"{event.name} in state {self.state.name}: expected {allowed}")
        self.state = TRANSITIONS[self.state][event]
