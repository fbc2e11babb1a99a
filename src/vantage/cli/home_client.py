"""The server of a home, for commands: by HTTP over its private socket, started if the command may start one."""

from vantage.cli.arguments.conversation import place_of
from vantage.client.endpoint import HomeEndpoint
from vantage.client.transport.http_client import HttpClient


class HomeClient(HttpClient):
    def __init__(self, home: str, *, start: bool = True) -> None:
        self.home = home
        self._endpoint = HomeEndpoint(home, may_start=start)
        super().__init__(self._endpoint)

    def never_start(self) -> None:
        """From now on, a server that does not answer is an error: none is started."""
        self._endpoint.may_start = False


def client_of(home: str | None, *, start: bool = True) -> HomeClient:
    """For the home that a command was given, or the default one."""
    return HomeClient(place_of(home), start=start)
