"""Questions to /proc: who belongs to a session, what a process is called and where it is."""

import os
import signal
from dataclasses import dataclass
from typing import Final

_COMM_LENGTH: Final = 15
"""Longer command names are cut by the kernel."""


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    group: int
    session: int
    tty: int
    """Device number of its controlling terminal, 0 for none."""


def living() -> list[Process]:
    """Every process that has not ended (a zombie has)."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [process for pid in pids if (process := _read(pid)) is not None]


def of_session(session: int, tty: int) -> list[int]:
    """Processes of a session, or with this controlling terminal (0: it is closed, ask for the session only)."""
    return [process.pid for process in living() if process.session == session or (tty and process.tty == tty)]


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
    state, _, group, session, tty = text[text.rfind(b")") + 2 :].split(None, 5)[:5]
    return None if state in (b"Z", b"X") else Process(pid, int(group), int(session), int(tty))


def _command(pid: int) -> str | None:
    try:
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
