"""Which token and which client a socket belongs to, and what that token may do."""

from collections.abc import Callable
from contextlib import suppress

from vantage.errors import Invalid, ReadOnly, TooMany
from vantage.server.security.scoped import Reach, check_person
from vantage.server.security.tokens import Token
from vantage.server.services import Services
from vantage.server.ws.connection import Connection
from vantage.server.ws.handshake import Event
from vantage.server.ws.limits import Counted, SocketRegistry


class Identity:
    def __init__(
        self, services: Services, connection: Connection, registry: SocketRegistry, peer: str, pid: int | None
    ) -> None:
        """`peer` is the client's address, `pid` its process where it came by the private socket."""
        self._home = services.home
        self._peer_pid = pid
        self._is_local = not peer
        self.client_id = ""
        self._tokens = services.tokens
        self._auth = services.auth
        self._revocations = services.revocations
        self._connection = connection
        self._registry = registry
        self._peer = peer
        self._token_id: str | None = None
        self._release: Callable[[], None] = lambda: None
        """Stops watching the token."""

    @property
    def owner(self) -> str:
        """The token that owns the client id: the id cannot be used with another one."""
        return self._token_id or ""

    @property
    def named(self) -> dict[str, str]:
        """The client, under the name that requests to a conversation use."""
        return {"client_id": self.client_id, "owner": self.owner}

    @property
    def scope(self) -> str | None:
        """`full` or `read`; None without a token that is still valid."""
        token = self._tokens.by_id(self._token_id) if self._token_id is not None else None
        return token.scope if token is not None else None

    def check(self) -> None:
        """Ends the socket if its token was revoked."""
        if self._token_id is not None and self.scope is None:
            self._connection.refuse(Event.REVOKED)

    @property
    def reach(self) -> Reach:
        """The conversations that the token reaches; none without a token."""
        token = self._tokens.by_id(self._token_id) if self._token_id is not None else None
        return Reach(self._home, token if token is not None else Token(id="", conversation="-"))

    def must_be_person(self) -> None:
        """Raises for a shell or an agent that Vantage started, and for a token that may only watch."""
        token = self._tokens.by_id(self._token_id) if self._token_id is not None else None
        check_person(self._home, token, self._peer_pid)
        self.must_write()

    def must_write(self) -> None:
        if self.scope not in ("full", "agent"):
            raise ReadOnly("this token may only watch", hint="connect with one that may do more")

    def show(self, token: str) -> None:
        """Takes the token of a hello. An invalid one ends the socket."""
        known = self._tokens.identify(token)
        if known is None:
            with suppress(TooMany):  # the socket is closed either way
                self._auth.failed(self._peer)
            self._connection.refuse(Event.BAD_TOKEN)
        if known.scope == "agent" and not self._is_local:
            self._connection.refuse(Event.BAD_TOKEN)
        if self.client_id and known.id != self._token_id:
            raise Invalid("this socket belongs to another token", hint="open another one for another token")
        self.authenticate(known.id)

    def authenticate(self, token_id: str) -> None:
        """Takes a valid token, and ends the socket when it is revoked."""
        self._connection.handshake.on(Event.TOKEN)
        self._token_id = token_id
        self._release()
        self._release = self._revocations.hold(token_id, lambda: self._connection.end(Event.REVOKED))

    def admit(self, socket: Counted) -> str:
        """Counts the socket among those with a token, and returns the token's scope."""
        if self._token_id is None:
            self._connection.refuse(Event.NO_TOKEN)
        scope = self.scope
        if scope is None:
            self._connection.refuse(Event.REVOKED)
        if not self._registry.admit(socket):
            self._connection.refuse(Event.FULL)
        return scope

    def name(self, client_id: str) -> None:
        """Takes the client of a hello."""
        if self.client_id not in ("", client_id):
            raise Invalid(f"this socket belongs to {self.client_id}", hint="open another one for another client")
        self._connection.handshake.on(Event.HELLO)
        self.client_id = client_id

    def close(self) -> None:
        self._release()
