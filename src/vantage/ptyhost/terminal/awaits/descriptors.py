"""What a descriptor of another process is: the terminal, the other side of a terminal, a socket, a pipe."""

import os
import stat
from enum import StrEnum
from typing import Final

from vantage.ptyhost import processes

_CONTROLLING: Final = processes.device(os.makedev(5, 0))
"""/dev/tty: the terminal of the process that has opened it."""
_MASTER: Final = processes.device(os.makedev(5, 2))
"""/dev/ptmx, and the ptmx of every devpts."""
_PROTOCOL: Final = "system.sockprotoname"


class What(StrEnum):
    TERMINAL = "terminal"
    MASTER = "master"
    """A program that has one is a terminal for others: its own input may be theirs."""
    INET = "inet"
    """A socket of any family but AF_UNIX."""
    UNIX = "unix"
    PIPE = "pipe"
    OTHER = "other"


def what(pid: int, descriptor: int | str, tty: int) -> What:
    """What a descriptor is. Raises OSError when it may not be looked at, or is closed."""
    path = f"/proc/{pid}/fd/{descriptor}"
    found = os.stat(path)
    if stat.S_ISCHR(found.st_mode):
        device = processes.device(found.st_rdev)
        if device in (tty, _CONTROLLING):
            return What.TERMINAL
        return What.MASTER if device == _MASTER else What.OTHER
    if stat.S_ISSOCK(found.st_mode):
        try:
            protocol = os.getxattr(path, _PROTOCOL)
        except OSError:
            return What.INET
        return What.UNIX if protocol.startswith(b"UNIX") else What.INET
    return What.PIPE if stat.S_ISFIFO(found.st_mode) else What.OTHER


def all_of(pid: int, tty: int) -> set[What]:
    """What a process has open. Raises OSError when it may not be looked at."""
    found = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            found.add(what(pid, name, tty))
        except FileNotFoundError:  # closed meanwhile
            continue
    return found


def pipe_partner(pid: int, descriptor: int, others: list[int]) -> bool:
    """Whether one of the other processes has the same pipe open."""
    inode = os.stat(f"/proc/{pid}/fd/{descriptor}").st_ino
    for other in others:
        try:
            with os.scandir(f"/proc/{other}/fd") as entries:
                for entry in entries:
                    found = entry.stat()
                    if found.st_ino == inode and stat.S_ISFIFO(found.st_mode):
                        return True
        except OSError:
            continue
    return False
