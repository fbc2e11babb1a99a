"""Runs a program that can reach nothing but a listener on loopback: `only_loopback.py SOCKET PORT COMMAND…`.

Run inside `unshare -n`. The listener is passed to the process that listens at the socket's path, outside.
"""

import fcntl
import os
import socket
import struct
import sys

_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
    fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", _IFF_UP))
with (
    socket.create_server(("127.0.0.1", int(sys.argv[2])), backlog=64) as listener,
    socket.socket(socket.AF_UNIX) as door,
):
    door.connect(sys.argv[1])
    socket.send_fds(door, [b"."], [listener.fileno()])
os.execvp(sys.argv[3], sys.argv[3:])
