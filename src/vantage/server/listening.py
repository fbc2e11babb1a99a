"""The server's listening sockets: an address of the machine, and Unix sockets that only the home's user can open."""

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
    """Listens on the configured address; with `any_port`, on a free port where the configured one is taken."""
    try:
        family, _, _, _, address = socket.getaddrinfo(config.host, config.port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise InputError(f"{config.host!r} is no address: {error}", hint="give another --host") from None
    tcp = socket.socket(family, socket.SOCK_STREAM)
    tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        tcp.bind(address)
        tcp.listen()  # two processes may bind, one can listen
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
    """Makes a Unix socket of mode 0600. The caller has the home's lock: one that is there is of a killed server."""
    with suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108
    local = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        local.bind(path)
    finally:
        os.umask(before)
    return local
