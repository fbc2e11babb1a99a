"""What the server listens on: an address of the machine, and sockets of the home that only its user can open."""

import errno
import os
import socket
from contextlib import suppress

import msgspec

from vantage.errors import Conflict, InputError
from vantage.server.config import Config


class AddressTaken(Conflict):
    code = "address_taken"


def listen(config: Config) -> socket.socket:
    """On the address of the configuration; where a free port will do, on that."""
    try:
        family, _, _, _, address = socket.getaddrinfo(config.host, config.port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise InputError(f"{config.host!r} is no address: {error}", hint="give another --host") from None
    tcp = socket.socket(family, socket.SOCK_STREAM)
    tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        tcp.bind(address)
        tcp.listen()  # two may bind, only one can listen
    except OSError as error:
        tcp.close()
        if config.any_port and error.errno == errno.EADDRINUSE:
            return listen(msgspec.structs.replace(config, port=0, any_port=False))
        raise _complaint(config, error) from None
    return tcp


def _complaint(config: Config, error: OSError) -> Conflict:
    place = f"{config.host}:{config.port}"
    if error.errno == errno.EADDRINUSE:
        hint = "end that program, or give another --port (0 picks a free one)"
        return AddressTaken(f"another program listens on {place}", hint=hint)
    hint = "give another --host" if error.errno == errno.EADDRNOTAVAIL else "give a --port above 1023"
    return AddressTaken(f"cannot listen on {place}: {error.strerror}", hint=hint)


def listen_here(path: str) -> socket.socket:
    """Whoever has the home's lock may replace what a killed server left."""
    with suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108
    local = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        local.bind(path)
    finally:
        os.umask(before)
    return local
