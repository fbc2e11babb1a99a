"""Questions to /proc: who belongs to a session, what a process is called and where it is."""

import contextlib
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_COMM_LENGTH: Final = 15
"""Longer command names are cut by the kernel."""


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    parent: int
    group: int
    session: int
    tty: int
    """Device number of its controlling terminal, 0 for none."""
    started: int
    """In ticks of the machine's clock: a pid is given out again, with another start."""


class Spare:
    """A descriptor that is given up while /proc is looked at: who has no other must not take the living for dead."""

    def __init__(self) -> None:
        self._descriptor: int | None = None
        self._wanted = False

    def keep(self) -> None:
        """From now on there is one; where none can be had, there is one later."""
        self._wanted = True
        with contextlib.suppress(OSError):
            self._descriptor = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def __enter__(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __exit__(self, *_: object) -> None:
        if self._wanted:
            self.keep()


spare: Final = Spare()


def living() -> list[Process]:
    """Every process that has not ended (a zombie has)."""
    with spare:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        return [process for pid in pids if (process := _read(pid)) is not None]


def of_session(session: int, tty: int) -> list[int]:
    """Processes of a session, or with this controlling terminal (0: it is closed, ask for the session only)."""
    return [process.pid for process in living() if process.session == session or (tty and process.tty == tty)]


def of_terminal(session: int | None, tty: int, before: Mapping[int, int]) -> dict[int, int]:
    """Everybody in a terminal, as pid and start: `of_session`, those who were in it before, and who descends from them.

    One who began a session of its own and lost its parent has become our child (see `__main__`): it is in the terminal
    as long as it has it open.
    """
    alive = living()
    children: dict[int, list[Process]] = {}
    for process in alive:
        children.setdefault(process.parent, []).append(process)
    found: dict[int, int] = {}
    waiting = [
        process
        for process in alive
        if process.session == session
        or (tty and process.tty == tty)
        or before.get(process.pid) == process.started
        or (tty and not process.tty and process.parent == os.getpid() and _has_open(process.pid, tty))
    ]
    while waiting:
        process = waiting.pop()
        if process.pid not in found:
            found[process.pid] = process.started
            waiting += children.get(process.pid, ())
    return found


def device(number: int) -> int:
    """A device number as the kernel prints it in /proc/<pid>/stat."""
    major, minor = os.major(number), os.minor(number)
    return (minor & 0xFF) | (major << 8) | ((minor & ~0xFF) << 12)


def _has_open(pid: int, tty: int) -> bool:
    try:
        with spare, os.scandir(f"/proc/{pid}/fd") as entries:
            return any(device(os.stat(entry.path).st_rdev) == tty for entry in entries)
    except OSError:
        return False


def send(pids: list[int], number: signal.Signals) -> int:
    """Signals them; returns how many could be."""
    sent = 0
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue
        sent += 1
    return sent


def command_name(group: int) -> tuple[str | None, int | None]:
    """The name and pid of a process group's leader; when it has ended before the others, of one of them."""
    pid = group
    name = _command(pid)
    if name is None:
        pid = next((process.pid for process in living() if process.group == group), 0)
        name = _command(pid) if pid else None
    return (name, pid) if name is not None else (None, None)


def working_directory(pid: int) -> str | None:
    try:
        return os.readlink(b"/proc/%d/cwd" % pid).decode("utf-8", "replace")
    except OSError:
        return None


def _read(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except OSError:
        return None
    # The name stands in parentheses and may hold anything: state, parent, group, session, tty come after the last one.
    state, parent, group, session, tty, *more = text[text.rfind(b")") + 2 :].split(None, 20)
    if state in (b"Z", b"X"):
        return None
    return Process(pid, int(parent), int(group), int(session), int(tty), int(more[14]))


def _command(pid: int) -> str | None:
    try:
        with spare:
            with open(f"/proc/{pid}/comm", "rb") as file:
                name = file.read().rstrip(b"\n")
            if len(name) == _COMM_LENGTH:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    whole = os.path.basename(file.read().split(b"\0", 1)[0])
                if whole.startswith(name):
                    name = whole
    except OSError:
        return None
    return name.decode("utf-8", "replace")
