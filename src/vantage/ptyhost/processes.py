"""Reads /proc: which processes belong to a session, and the name and working directory of a process."""

import contextlib
import os
import signal
from collections.abc import Callable, Collection, Mapping
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
    """Start time in clock ticks. A pid can be reused; pid and start together cannot."""


class Spare:
    """A spare descriptor, closed while /proc is read: without a free one, living processes would look dead.

    Used inside itself, it stays closed until the outermost use ends.
    """

    def __init__(self) -> None:
        self._descriptor: int | None = None
        self._wanted = False
        self._uses = 0

    def keep(self) -> None:
        """Opens the spare descriptor; where none is free, a later call opens it."""
        self._wanted = True
        with contextlib.suppress(OSError):
            self._descriptor = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def __enter__(self) -> None:
        self._uses += 1
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __exit__(self, *_: object) -> None:
        self._uses -= 1
        if self._wanted and not self._uses:
            self.keep()


spare: Final = Spare()


def living() -> list[Process]:
    """Every process that has not ended (a zombie has)."""
    with spare:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        return [process for pid in pids if (process := _read(pid)) is not None]


def is_alive(pid: int) -> bool:
    """Whether a process has not ended; a zombie has."""
    with spare:
        return _read(pid) is not None


def of_session(session: int, tty: int) -> list[int]:
    """Processes of a session, or with this controlling terminal (0: it is closed, ask for the session only)."""
    return [process.pid for process in living() if process.session == session or (tty and process.tty == tty)]


def of_group(group: int, session: int) -> list[int]:
    """Processes of a group, its leader first. Found from the session's leader and from our own children on.

    A process that has lost its parent has become our child (see `__main__`). Reading the children of a few processes
    is an order of magnitude cheaper than reading all processes.
    """
    try:
        waiting = [group, session, *_children(os.getpid())]
        found: dict[int, Process] = {}
        while waiting:
            pid = waiting.pop(0)
            if pid not in found and (process := _read(pid)) is not None:
                found[pid] = process
                # Our other children are other terminals' shells.
                waiting += _children(pid) if pid == session or process.group == group else ()
    except FileNotFoundError:  # the kernel does not list children
        found = {process.pid: process for process in living()}
    members = [pid for pid, process in found.items() if process.group == group]
    return sorted(members, key=lambda pid: pid != group)


def _children(pid: int) -> list[int]:
    """The children of a process. Raises FileNotFoundError when the kernel does not list them."""
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:  # it has ended
        return found
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
        except FileNotFoundError:
            if os.path.exists(f"/proc/{pid}/task/{thread}"):
                raise
        except OSError:
            continue
    return found


def of_terminal(session: int | None, tty: int, before: Mapping[int, int]) -> dict[int, int]:
    """Processes of a terminal, as pid and start: `of_session`, those known before, and their descendants.

    A process that began a session of its own and lost its parent has become our child (see `__main__`): it is in the
    terminal as long as it has it open.
    """

    def belongs(process: Process) -> bool:
        return bool(
            process.session == session
            or (tty and process.tty == tty)
            or before.get(process.pid) == process.started
            or (tty and not process.tty and process.parent == os.getpid() and _has_open(process.pid, terminal))
        )

    def terminal(file: os.stat_result) -> bool:
        return device(file.st_rdev) == tty

    return _with_descendants(belongs)


Pipes = frozenset[tuple[int, int]]
"""Pipes by device and inode, which both ends have in common."""


def of_agent(session: int | None, pipes: Pipes, before: Mapping[int, int], spared: Collection[int]) -> dict[int, int]:
    """Processes of an agent, as pid and start: its session, those known before, and their descendants.

    As in a terminal, an orphan that began a session of its own belongs to the agent as long as it has one of its pipes
    open. Those that are `spared` do not count, nor do their descendants.
    """

    def belongs(process: Process) -> bool:
        return (
            process.session == session
            or before.get(process.pid) == process.started
            or (bool(pipes) and process.parent == os.getpid() and _has_open(process.pid, pipe))
        )

    def pipe(file: os.stat_result) -> bool:
        return (file.st_dev, file.st_ino) in pipes

    return _with_descendants(belongs, spared)


def _with_descendants(belongs: Callable[[Process], bool], spared: Collection[int] = ()) -> dict[int, int]:
    alive = living()
    children: dict[int, list[Process]] = {}
    for process in alive:
        children.setdefault(process.parent, []).append(process)
    found: dict[int, int] = {}
    waiting = [process for process in alive if belongs(process)]
    while waiting:
        process = waiting.pop()
        if process.pid not in found and process.pid not in spared:
            found[process.pid] = process.started
            waiting += children.get(process.pid, ())
    return found


def device(number: int) -> int:
    """A device number as the kernel prints it in /proc/<pid>/stat."""
    major, minor = os.major(number), os.minor(number)
    return (minor & 0xFF) | (major << 8) | ((minor & ~0xFF) << 12)


def _has_open(pid: int, is_it: Callable[[os.stat_result], bool]) -> bool:
    try:
        with spare, os.scandir(f"/proc/{pid}/fd") as entries:
            return any(is_it(os.stat(entry.path)) for entry in entries)
    except OSError:
        return False


def send(pids: list[int], number: signal.Signals) -> int:
    """Sends a signal to each process; returns how many could be signalled."""
    sent = 0
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue
        sent += 1
    return sent


def command_name(group: int) -> tuple[str | None, int | None]:
    """The name and pid of a process group's leader; once that has ended, of a member that lives.

    A leader that has ended is a zombie until its parent waits for it, and a zombie still has a name.
    """
    with spare:
        leader = _read(group)
    members = (leader,) if leader is not None else (each for each in living() if each.group == group)
    for process in members:
        name = name_of(process.pid)
        if name is not None:
            return name, process.pid
    return None, None


def arguments(pid: int) -> list[str]:
    """The command line of a process; nothing for one that has ended."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return [each.decode("utf-8", "replace") for each in file.read().rstrip(b"\0").split(b"\0")]
    except OSError:
        return []


def dies_of(pid: int, number: signal.Signals) -> bool:
    """Whether a process neither catches nor blocks nor ignores a signal; false for one that has ended."""
    fields = (b"SigBlk:", b"SigIgn:", b"SigCgt:")
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            masks = [int(line.split()[1], 16) for line in file if line.startswith(fields)]
    except OSError:
        return False
    return len(masks) == len(fields) and not any(mask >> (number - 1) & 1 for mask in masks)


def started(pid: int) -> int | None:
    """When a process was started, in clock ticks since the machine was; None when it has ended."""
    process = _read(pid)
    return process.started if process is not None else None


def boot() -> str:
    """The id of this start of the machine: start times of processes are of one start only."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def parent(pid: int) -> int | None:
    process = _read(pid)
    return process.parent if process is not None else None


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


def name_of(pid: int) -> str | None:
    """The name of a process's program; None when it has ended."""
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
