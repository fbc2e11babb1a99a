"""The socket of a command that follows a conversation: lost with the server, it is there again when the server is.

Every try is the same: hello, then subscribe. What the command knows already it says in what it subscribes with, so that
attaching and attaching again are one operation.
"""

import time
from collections.abc import Callable
from typing import Any

from vantage.cli.client import NoServer, Refused, read_token, server_socket
from vantage.cli.websocket import Rejected, WebSocket

RETRY_S = 0.25
"""Between two looks for a server that has gone. It says nothing when it comes back."""


class Link:
    def __init__(
        self,
        home: str,
        client_id: str,
        *,
        hello: Callable[[], dict[str, Any]] = dict,
        subscribe: Callable[[], dict[str, Any]],
    ) -> None:
        self.client_id = client_id
        self._home = home
        self._hello = hello
        self._subscribe = subscribe
        self._socket: WebSocket | None = None
        self._tried = 0.0

    @property
    def connected(self) -> bool:
        return self._socket is not None

    def open(self) -> None:
        """Connects, or says that nobody is there."""
        if not self.retry():
            raise NoServer(
                f"no server runs in {self._home}: 'vantage serve', 'vantage new' or 'vantage exec' starts one"
            )

    def retry(self) -> bool:
        """Tries once to connect."""
        self._tried = time.monotonic()
        try:
            self._socket = WebSocket(server_socket(self._home), "/v1/ws", token := read_token(self._home))
            self._socket.send("hello", client_id=self.client_id, token=token, **self._hello())
            self._socket.send("subscribe", **self._subscribe())
        except OSError:
            self._lose()
        except Rejected as rejected:
            raise _not_let_in(rejected) from rejected
        return self.connected

    def sources(self) -> list[WebSocket]:
        """What to select on."""
        return [] if self._socket is None else [self._socket]

    def patience(self) -> float | None:
        """How long to select at most: until the next try, or until something comes."""
        return None if self.connected else max(self._tried + RETRY_S - time.monotonic(), 0)

    def due(self) -> bool:
        """Whether it is time to try again."""
        return not self.connected and self.patience() == 0

    def take(self) -> list[dict[str, Any]]:
        """What has come. The end of the connection is no message: it shows in `connected`."""
        if self._socket is None:
            return []
        try:
            return self._socket.take()
        except OSError:
            self._lose()
            return []
        except Rejected as rejected:
            raise _not_let_in(rejected) from rejected

    def send(self, type: str, **fields: Any) -> None:
        """Says something, if anybody is there."""
        if self._socket is not None:
            try:
                self._socket.send(type, **fields)
            except OSError:
                self._lose()

    def _lose(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def close(self) -> None:
        self._lose()


def _not_let_in(rejected: Rejected) -> Refused:
    """No use in trying again with the same token."""
    hint = "unset VANTAGE_TOKEN, or set it to a token of this home: 'vantage token new' makes one"
    return Refused({"error": {"code": "unauthorized", "message": f"the token is refused ({rejected})", "hint": hint}})
