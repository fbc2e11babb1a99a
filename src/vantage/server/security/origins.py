"""The names of the server, and the origins whose pages may send requests to it.

A foreign page whose own name was made to point here (DNS rebinding) sends that name in `Host`; any other foreign page
sends its origin in `Origin`. Both are refused, with or without a token.
"""

import ipaddress
import re

from vantage.errors import Forbidden
from vantage.server.config import Config, is_loopback

_HERE = ("localhost", "127.0.0.1", "::1")


class Origins:
    def __init__(self, config: Config, port: int) -> None:
        names = {*_HERE, config.host, *(_parsed(name)[0] for name in config.hosts)}
        self._names = {name.lower() for name in names if name}
        self._any_address = config.expose and not is_loopback(config.host)
        """DNS rebinding needs a name, so an exposed server accepts every IP address as its own."""
        self._port = port
        self._origins = {origin.rstrip("/").lower() for origin in config.origins}
        self._seen: dict[bytes, bool] = {}

    def check_host(self, header: bytes | None) -> None:
        if header is None:
            raise Forbidden("the request has no Host header", hint="send one")
        allowed = self._seen.get(header)
        if allowed is None:
            allowed = self._knows(_parsed(header.decode("latin-1"))[0])
            if len(self._seen) < 100:
                self._seen[header] = allowed
        if not allowed:
            raise Forbidden(
                f"this server is not called {_shown(header)}",
                hint="use localhost or 127.0.0.1, or add the name to `hosts` in config.toml",
            )

    def check_origin(self, header: bytes | None) -> None:
        if header is None:
            return
        origin = header.decode("latin-1").lower()
        if origin in self._origins:
            return
        scheme, _, place = origin.partition("://")
        name, port = _parsed(place)
        if scheme != "http" or (port or 80) != self._port or not self._knows(name):
            raise Forbidden(
                f"pages of {_shown(header)} may not send requests to this server",
                hint="open its own page, or add the origin to `origins` in config.toml",
            )

    def _knows(self, name: str) -> bool:
        name = name.lower().rstrip(".")
        if name in self._names:
            return True
        if not self._any_address:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def _parsed(place: str) -> tuple[str, int | None]:
    """`[::1]:7878` → `::1` and 7878; an empty name if it is no place."""
    found = _PLACE.fullmatch(place)
    return (found[1].strip("[]"), int(found[2]) if found[2] else None) if found else ("", None)


_PLACE = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^:/@\[\]\s]+)(?::(\d{1,5}))?")


def _shown(header: bytes) -> str:
    return repr(header[:100].decode("latin-1"))
