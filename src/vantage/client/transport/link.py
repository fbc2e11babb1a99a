"""A WebSocket that survives its server: it is lost with the server and connected again when the server is back.

Every attempt is the same: `hello`, then `subscribe`. The subscription says which event the client saw last, so
attaching and attaching again are one operation.
"""

import time
from collections.abc import Callable
from typing import Any

from vantage.client.endpoint import Endpoint, no_server
from vantage.client.retry import RETRY_S
from vantage.client.transport.websocket import Rejected, WebSocket
from vantage.errors import NoServer, Unauthorized
from vantage.ptyhost.ownership import NotPrivate


class Link:
    def __init__(
        self,
        endpoint: Endpoint,
        client_id: str,
        *,
        hello: Callable[[], dict[str, Any]] = dict,
        subscribe: Callable[[], dict[str, Any]],
    ) -> None:
        self.client_id = client_id
        self._endpoint = endpoint
        self._hello = hello
        self._subscribe = subscribe
        self._socket: WebSocket | None = None
        self._tried = 0.0

    @property
    def connected(self) -> bool:
        return self._socket is not None

    def open(self) -> None:
        """Connects. Raises NoServer if no server runs."""
        if not self.retry():
            raise NoServer(
                f"no server runs in {self._endpoint.name}",
                hint="'vantage serve', 'vantage new' or 'vantage exec' starts one",
            )

    def retry(self) -> bool:
        """Tries once to connect, and says whether it could."""
        self._tried = time.monotonic()
        try:
            self._socket = WebSocket(self._endpoint)
            self._socket.send("hello", client_id=self.client_id, token=self._endpoint.token(), **self._hello())
            self._socket.send("subscribe", **self._subscribe())
        except NotPrivate as error:
            raise no_server(self._endpoint, error) from error
        except OSError:
            self.close()
        except Rejected as rejected:
            raise refused(rejected) from rejected
        return self.connected

    def sources(self) -> list[WebSocket]:
        """What to select on."""
        return [] if self._socket is None else [self._socket]

    def timeout(self) -> float | None:
        """How many seconds to select at most: until the next attempt; without limit while connected."""
        return None if self.connected else max(self._tried + RETRY_S - time.monotonic(), 0)

    def due(self) -> bool:
        """Whether it is time for the next attempt."""
        return not self.connected and self.timeout() == 0

    def take(self) -> list[dict[str, Any]]:
        """The messages that have arrived. The end of the connection is no message: `connected` says so."""
        if self._socket is None:
            return []
        try:
            return self._socket.take()
        except OSError:
            self.close()
            return []
        except Rejected as rejected:
            raise refused(rejected) from rejected

    def send(self, type: str, **fields: Any) -> None:
        """Sends a message, if connected."""
        if self._socket is not None:
            try:
                self._socket.send(type, **fields)
            except OSError:
                self.close()

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def refused(rejected: Rejected) -> Unauthorized:
    """Another attempt with the same token would be refused too."""
    return Unauthorized(
        f"the token is refused ({rejected})",
        hint="unset VANTAGE_TOKEN, or set it to a token of this home: 'vantage token new' makes one",
    )
