"""How much of the machine's memory a process has, and that it does not grow without end."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aftermath import Stage

ROOM = 60 << 20
"""Bytes that a server may grow by, whatever others do: its caches, and what the machine's sockets do not hold."""


def resident(pid: int) -> int:
    """Bytes in memory now."""
    return _status(pid, "VmRSS")


def highest(pid: int) -> int:
    """The peak of its memory, in bytes."""
    return _status(pid, "VmHWM")


def _status(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) << 10


@contextmanager
def bounded(stage: Stage, room: int = ROOM) -> Iterator[None]:
    """The server does not grow by more than so many bytes meanwhile, not even for a moment."""
    pid = stage.server.process.pid
    Path(f"/proc/{pid}/clear_refs").write_text("5")  # the highest is what it is now
    before = resident(pid)
    yield
    assert stage.server.process.pid == pid
    grown = highest(pid) - before
    print(f"the server had {before >> 20} MB, and {grown >> 20} MB more")
    assert grown < room, f"the server grew by {grown >> 20} MB"
