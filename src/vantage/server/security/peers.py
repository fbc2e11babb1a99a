"""The user of this machine at the other end of a connection.

On Linux, /proc/net/tcp and tcp6 (proc_pid_net(5)) list every TCP connection of the machine: the line whose local
address is the peer's has the peer's uid. A connection from another machine has no such line.
"""

import ipaddress
import os
import socket
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_Address = tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]


def peer_uid(scope: Mapping[str, Any]) -> int | None:
    """The uid of the process that sent a request; None if it is not known."""
    client, server = scope.get("client"), scope.get("server")
    if client is None:
        return os.getuid()  # the private socket: its mode admits no other user
    if server is None:
        return None
    try:
        ends = (_plain(client[0]), int(client[1])), (_plain(server[0]), int(server[1]))
    except (TypeError, ValueError):
        return None
    ports = f":{ends[0][1]:04X}", f":{ends[1][1]:04X}"
    for table in _TABLES:
        try:
            lines = table.read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if not (fields[1].endswith(ports[0]) and fields[2].endswith(ports[1])):
                continue
            # a socket that its process has closed has no inode, and uid 0 in its line
            if (_address(fields[1]), _address(fields[2])) == ends and fields[9] != "0":
                return int(fields[7])
    return None


def peer_pid(connection: Any) -> int | None:
    """The process that connected to a Unix socket; None for TCP, and where the system does not say."""
    if connection is None or connection.family != socket.AF_UNIX or not hasattr(socket, "SO_PEERCRED"):
        return None
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid: int = struct.unpack("3i", found)[0]
    return pid


def _plain(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """An address as IPv4 where it stands for one: `::ffff:127.0.0.1`."""
    address = ipaddress.ip_address(host.partition("%")[0])
    return getattr(address, "ipv4_mapped", None) or address


def _address(field: str) -> _Address:
    """`0100007F:1EC6` → 127.0.0.1 and 7878. Addresses are words of 32 bits in the machine's byte order."""
    host, _, port = field.partition(":")
    words = bytes.fromhex(host)
    if sys.byteorder == "little":
        words = b"".join(words[at : at + 4][::-1] for at in range(0, len(words), 4))
    address = ipaddress.ip_address(words)
    return getattr(address, "ipv4_mapped", None) or address, int(port, 16)
