"""One HTTP connection to a server, on the standard library's `http.client`: JSON out, JSON in, errors raised.

`compose` and `parse` use `http.client` without a socket, for asyncio.
"""

import json
import select
from http.client import HTTPConnection, HTTPException, HTTPResponse
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from vantage.client.endpoint import Endpoint, no_server
from vantage.client.requests import Request
from vantage.errors import NoServer, from_wire
from vantage.ptyhost.ownership import NotPrivate

if TYPE_CHECKING:
    from socket import socket


class Answer(NamedTuple):
    status: int
    body: bytes


class Connection:
    """Requests go one after the other. A connection that failed is closed and not used again."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._http = _dialled(endpoint)

    def fileno(self) -> int:
        """For `select`: readable when an answer arrives."""
        return self._socket.fileno()

    @property
    def _socket(self) -> "socket":
        return cast("socket", self._http.sock)

    @property
    def usable(self) -> bool:
        """Whether another request can be sent: a server closes connections that are idle for long."""
        return self._http.sock is not None and not select.select([self._http.sock], [], [], 0)[0]

    def send(self, request: Request) -> None:
        try:
            self._http.request(request.method, request.path, request.body or None, _headers(self._endpoint, request))
        except (OSError, HTTPException) as error:
            raise self._lost(error) from error

    def receive(self) -> dict[str, Any]:
        """The answer. An error answer is raised as the class that the server raised."""
        try:
            answer = _whole(self._http.getresponse())
        except (OSError, HTTPException) as error:
            raise self._lost(error) from error
        return decoded(answer, self._endpoint)

    def _lost(self, error: Exception) -> NoServer:
        self.close()
        return lost(error)

    def close(self) -> None:
        self._http.close()


def _dialled(endpoint: Endpoint) -> HTTPConnection:
    """A connection; the server is started if none runs and the endpoint may start one."""
    try:
        return endpoint.dial()
    except NotPrivate as error:
        raise no_server(endpoint, error) from error
    except OSError:
        endpoint.start()
    try:
        return endpoint.dial()
    except OSError as error:
        raise no_server(endpoint, error) from error


def lost(error: Exception) -> NoServer:
    return NoServer(f"the server has gone ({error})", hint="its shells live on, and the next call finds them")


def decoded(answer: Answer, endpoint: Endpoint) -> dict[str, Any]:
    try:
        said = json.loads(answer.body)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise NoServer(f"what answers in {endpoint.name} is not a Vantage server", hint="run 'vantage doctor'")
    if answer.status >= 400:
        error = said.get("error")
        raise from_wire(error if isinstance(error, dict) else {})
    return said


def _headers(endpoint: Endpoint, request: Request) -> dict[str, str]:
    headers = {"Authorization": f"Bearer {endpoint.token()}"}
    return {**headers, "Content-Type": "application/json"} if request.body else headers


class _Composer(HTTPConnection):
    """A connection that keeps what it would send."""

    def __init__(self) -> None:
        super().__init__("localhost")
        self.sent = bytearray()

    def connect(self) -> None:
        pass

    def send(self, data: Any) -> None:
        self.sent += data


def compose(request: Request, endpoint: Endpoint) -> bytes:
    """The bytes of a request whose answer is the last thing on its connection."""
    composer = _Composer()
    headers = {**_headers(endpoint, request), "Connection": "close"}
    composer.request(request.method, request.path, request.body or None, headers)
    return bytes(composer.sent)


class _Received:
    """The part of a socket that HTTPResponse reads from."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, _mode: str) -> BytesIO:
        return BytesIO(self._data)


def parse(data: bytes) -> Answer:
    """A whole answer. Raises HTTPException when it is cut short."""
    response = HTTPResponse(cast("socket", _Received(data)))
    response.begin()
    return _whole(response)


def _whole(response: HTTPResponse) -> Answer:
    """An answer that ends within its head looks like one without a body, and the server's answers all have one."""
    body = response.read()
    if not body:
        raise HTTPException("it closed the connection in the middle of an answer")
    return Answer(response.status, body)
