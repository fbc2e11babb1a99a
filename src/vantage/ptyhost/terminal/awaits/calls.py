"""The system call that a thread is blocked in, as /proc/PID/task/TID/syscall tells an ancestor.

The numbers are those of x86_64 and aarch64; on another machine, and for a 32-bit program, no call has a kind. The file
has the arguments as registers: what a pointer points to is read from the process's memory.
"""

import os
import platform
import struct
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

FOREVER: Final = float("inf")
_INT: Final = 0xFFFF_FFFF
_NEGATIVE: Final = 0x8000_0000
_MAX_SET: Final = 4096
"""Descriptors of one poll set that are read."""
_POLLIN: Final = 0x1 | 0x40
"""POLLIN and POLLRDNORM; EPOLLIN and EPOLLRDNORM have the same values."""


class Kind(StrEnum):
    READ = "read"
    """read, readv."""
    POLL = "poll"
    """poll and ppoll: an array of descriptors."""
    SELECT = "select"
    """select and pselect6: sets of bits."""
    EPOLL = "epoll"
    """epoll_wait, epoll_pwait, epoll_pwait2: a descriptor that has the set."""
    IDLE = "idle"
    """futex, sleeps, and waiting for a signal."""
    OTHER = "other"
    RUNNING = "running"
    """In no system call."""


POLLS: Final = frozenset({Kind.POLL, Kind.SELECT, Kind.EPOLL})


@dataclass(frozen=True, slots=True)
class _Known:
    name: str
    kind: Kind
    unit: str = ""
    """What the timeout is: milliseconds (`ms`), or a pointer to a `timeval` or `timespec`."""
    timeout: int = 0
    """Which argument the timeout is."""


_CALLS: Final = {
    "read": _Known("read", Kind.READ),
    "readv": _Known("readv", Kind.READ),
    "poll": _Known("poll", Kind.POLL, "ms", 2),
    "ppoll": _Known("ppoll", Kind.POLL, "timespec", 2),
    "select": _Known("select", Kind.SELECT, "timeval", 4),
    "pselect6": _Known("pselect6", Kind.SELECT, "timespec", 4),
    "epoll_wait": _Known("epoll_wait", Kind.EPOLL, "ms", 3),
    "epoll_pwait": _Known("epoll_pwait", Kind.EPOLL, "ms", 3),
    "epoll_pwait2": _Known("epoll_pwait2", Kind.EPOLL, "timespec", 3),
    **{
        name: _Known(name, Kind.IDLE)
        for name in (
            "futex",
            "futex_waitv",
            "futex_wait",
            "nanosleep",
            "clock_nanosleep",
            "pause",
            "rt_sigsuspend",
            "rt_sigtimedwait",
        )
    },
}
_NUMBERS: Final[dict[str, dict[str, int]]] = {
    "x86_64": {
        "read": 0,
        "poll": 7,
        "readv": 19,
        "select": 23,
        "pause": 34,
        "nanosleep": 35,
        "rt_sigtimedwait": 128,
        "rt_sigsuspend": 130,
        "futex": 202,
        "clock_nanosleep": 230,
        "epoll_wait": 232,
        "pselect6": 270,
        "ppoll": 271,
        "epoll_pwait": 281,
        "epoll_pwait2": 441,
        "futex_waitv": 449,
        "futex_wait": 455,
    },
    "aarch64": {
        "epoll_pwait": 22,
        "read": 63,
        "readv": 65,
        "pselect6": 72,
        "ppoll": 73,
        "futex": 98,
        "nanosleep": 101,
        "clock_nanosleep": 115,
        "rt_sigsuspend": 133,
        "rt_sigtimedwait": 137,
        "epoll_pwait2": 441,
        "futex_waitv": 449,
        "futex_wait": 455,
    },
}
_BY_NUMBER: Final = {number: _CALLS[name] for name, number in _NUMBERS.get(platform.machine(), {}).items()}
KNOWS_CALLS: Final = bool(_BY_NUMBER)
"""Whether the numbers of this machine's system calls are known."""
_OTHER: Final = _Known("", Kind.OTHER)
_RUNNING: Final = _Known("", Kind.RUNNING)


@dataclass(frozen=True, slots=True)
class Call:
    """What one thread is blocked in."""

    pid: int
    known: _Known
    arguments: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return self.known.name

    @property
    def kind(self) -> Kind:
        return self.known.kind

    @property
    def descriptor(self) -> int:
        """The first argument, of a call that takes a descriptor there."""
        return self.arguments[0] & _INT

    def timeout(self) -> float:
        """Seconds after which a poll gives up. Raises OSError."""
        value = self.arguments[self.known.timeout]
        if self.known.unit == "ms":
            value &= _INT
            return FOREVER if value & _NEGATIVE else value / 1000
        if value == 0:
            return FOREVER
        seconds, fraction = struct.unpack("qq", _memory(self.pid, value, 16))
        return float(seconds + fraction / (1e6 if self.known.unit == "timeval" else 1e9))

    def inputs(self) -> list[int]:
        """The descriptors that a poll waits on for something to read. Raises OSError."""
        if self.kind is Kind.EPOLL:
            return _epoll_inputs(self.pid, self.descriptor)
        if self.kind is Kind.SELECT:
            return _bits(self.pid, self.arguments[1], min(self.descriptor, _MAX_SET))
        count = min(self.arguments[1], _MAX_SET)
        entries = struct.iter_unpack("ihh", _memory(self.pid, self.arguments[0], count * 8))
        return [number for number, events, _ in entries if number >= 0 and events & _POLLIN]


def of_thread(pid: int, thread: int) -> Call:
    """What a thread is blocked in. Raises OSError when it may not be looked at."""
    try:
        with open(f"/proc/{pid}/task/{thread}/syscall", "rb") as file:
            number, *arguments = file.read().split() or (b"running",)
    except ProcessLookupError:  # it has ended
        return Call(pid, _RUNNING)
    if not number.isdigit():  # `running`, or -1 in no call
        return Call(pid, _RUNNING)
    known = _BY_NUMBER.get(int(number), _OTHER)
    return Call(pid, known, tuple(int(argument, 16) for argument in arguments[:6]))


def _memory(pid: int, address: int, size: int) -> bytes:
    descriptor = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        data = os.pread(descriptor, size, address)
    except (OverflowError, ValueError) as error:
        raise OSError(f"no address: {address:#x}") from error
    finally:
        os.close(descriptor)
    if len(data) != size:
        raise OSError(f"{len(data)} of {size} bytes at {address:#x}")
    return data


def _bits(pid: int, address: int, count: int) -> list[int]:
    """The numbers of a select set; the kernel reads it in whole words."""
    if not address or count <= 0:
        return []
    data = _memory(pid, address, (count + 63) // 64 * 8)
    return [number for number in range(count) if data[number // 8] >> number % 8 & 1]


def _epoll_inputs(pid: int, descriptor: int) -> list[int]:
    """From lines like `tfd:        0 events:       19 data: …`."""
    found = []
    with open(f"/proc/{pid}/fdinfo/{descriptor}", "rb") as file:
        for line in file:
            words = line.split()
            if words[:1] == [b"tfd:"] and int(words[3], 16) & _POLLIN:
                found.append(int(words[1]))
    return found
