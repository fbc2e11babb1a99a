"""Where a server is and which token it gets: that of a home, at its private Unix socket, or one at a URL.

Both kinds open a connection for the standard library's HTTP and a stream for asyncio. The socket of a home is used only
if a process of the same user, or of root, listens there.
"""

import socket
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Protocol

from vantage.client.home_files import home_token, server_socket, stated_token
from vantage.errors import InputError, NoServer
from vantage.ptyhost.ownership import NotPrivate, check_peer

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter


class Endpoint(Protocol):
    @property
    def name(self) -> str:
        """What the server is called in errors: its home, or its URL."""

    def dial(self) -> HTTPConnection:
        """A connection to a server that runs. Raises OSError when none does."""

    async def dial_async(self) -> "tuple[StreamReader, StreamWriter]":
        """The same for asyncio."""

    def start(self) -> None:
        """Starts the server, if that is possible and allowed, else raises NoServer."""

    def token(self) -> str: ...


class HomeEndpoint:
    """The server of a home. `may_start`: one is started if none runs."""

    def __init__(self, home: str, *, may_start: bool = True) -> None:
        self.home = home
        self.may_start = may_start

    @property
    def name(self) -> str:
        return self.home

    def dial(self) -> HTTPConnection:
        connection = UnixConnection(server_socket(self.home))
        connection.connect()
        return connection

    async def dial_async(self) -> "tuple[StreamReader, StreamWriter]":
        from asyncio import open_unix_connection  # the command line does without asyncio

        reader, writer = await open_unix_connection(server_socket(self.home))
        try:
            check_peer(writer.get_extra_info("socket"))
        except NotPrivate:
            writer.close()
            raise
        return reader, writer

    def start(self) -> None:
        if not self.may_start:
            raise NoServer(
                f"no server runs in {self.home}", hint="'vantage serve', 'vantage new' or 'vantage exec' starts one"
            )
        from vantage.client.launch import ensure_server  # most commands find a server

        ensure_server(self.home)

    def token(self) -> str:
        return stated_token(self.home) or home_token(self.home)


class UrlEndpoint:
    """A server at a URL: `http://127.0.0.1:7878`, or `https://…` behind a proxy."""

    def __init__(self, url: str, token: str) -> None:
        from urllib.parse import urlsplit  # the command line has no URL

        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
            raise InputError(f"{url!r} is not the URL of a server", hint="write it as http://127.0.0.1:7878")
        self.name = url
        self._token = token
        self._tls = parts.scheme == "https"
        self._host = parts.hostname
        self._port = parts.port or (443 if self._tls else 80)

    def dial(self) -> HTTPConnection:
        from http.client import HTTPSConnection  # not every Python has ssl

        connection = (HTTPSConnection if self._tls else HTTPConnection)(self._host, self._port)
        connection.auto_open = 0
        connection.connect()
        return connection

    async def dial_async(self) -> "tuple[StreamReader, StreamWriter]":
        from asyncio import open_connection

        return await open_connection(self._host, self._port, ssl=self._tls or None)

    def start(self) -> None:
        raise NoServer(f"no server answers at {self.name}", hint="start it there with 'vantage serve'")

    def token(self) -> str:
        return self._token


class UnixConnection(HTTPConnection):
    """HTTP over a Unix socket, if a process of this user, or of root, listens there."""

    auto_open = 0  # a lost connection is an error, not a new connection to a server that may be another one

    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        try:
            self.sock.connect(self._path)
            check_peer(self.sock)
        except OSError:
            self.close()
            raise


def no_server(endpoint: Endpoint, error: OSError) -> NoServer:
    """The error for a server that cannot be reached, for another reason than that none runs."""
    if isinstance(error, NotPrivate):
        return NoServer(error.message, hint=error.hint)
    return NoServer(f"the server of {endpoint.name} cannot be reached: {error}", hint="run 'vantage doctor'")
