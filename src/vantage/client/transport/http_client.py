"""Asks a server by HTTP, with blocking calls and answers as JSON objects. Standard library only.

Connections are kept and used again. Each call has one to itself, so several threads may share a client.
"""

from typing import Any, Self

from vantage.client.calls import Call
from vantage.client.endpoint import Endpoint
from vantage.client.requests import Request
from vantage.client.transport.connection import Connection
from vantage.errors import VantageError


class HttpClient:
    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._idle: list[Connection] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def connect(self) -> Connection:
        """A connection for this caller alone, which closes it."""
        return Connection(self.endpoint)

    def answer(self, request: Request) -> dict[str, Any]:
        """The server's answer. An error that it answers with is raised; NoServer when it cannot be reached."""
        connection = self._take()
        try:
            connection.send(request)
            said = connection.receive()
        except VantageError:
            self._give_back(connection)
            raise
        except BaseException:  # interrupted: the answer must not be taken for that of the next request
            connection.close()
            raise
        self._give_back(connection)
        return said

    def pty(self, conversation: str, call: Call) -> dict[str, Any]:
        """The answer of a verb of a conversation's terminal."""
        return self.answer(call.request(conversation))

    def _take(self) -> Connection:
        while self._idle:
            connection = self._idle.pop()
            if connection.usable:
                return connection
            connection.close()
        return self.connect()

    def _give_back(self, connection: Connection) -> None:
        if connection.usable:
            self._idle.append(connection)
        else:
            connection.close()
