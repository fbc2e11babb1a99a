"""One look at the processes of a terminal's foreground: does one of them wait for input right now?

`yes` needs a thread that is blocked in `read` on the terminal, or in a poll that has the terminal in its set, without a
timeout or with one of at least `PATIENT_S`, and without a socket to elsewhere or another terminal in the set. The other
threads of its process may only poll, sleep or wait for each other. A process that has the other side of a terminal
open passes input on to other programs, and one that may not be looked at tells nothing: both make the answer `unknown`.
"""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from vantage.ptyhost import processes
from vantage.ptyhost.terminal.awaits import calls, descriptors
from vantage.ptyhost.terminal.awaits.calls import POLLS, Call, Kind
from vantage.ptyhost.terminal.awaits.descriptors import What

Waits = Literal["yes", "no", "unknown"]

PATIENT_S: Final = 1.0
"""Seconds. A program that polls more often works in between."""
_QUIET_KINDS: Final = POLLS | {Kind.IDLE}
_LINE_EDITORS: Final = (b"/libreadline.so", b"/libedit.so")
_ELF_CLASS: Final = 4
_ELF_64: Final = b"\2"


@dataclass(frozen=True, slots=True)
class Look:
    """A finding, and which process it is about."""

    waits: Waits
    why: str
    """A word for the finding: `read` or `poll` for `yes`, else the reason against it."""
    pid: int | None = None
    call: str = ""
    """The system call in which it waits."""
    thread: int | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """How often and how long threads have run, as two looks compare it."""

    runs: int
    nanoseconds: int


def look(group: int, leader: int, tty: int, *, canonical: bool) -> tuple[Look, list[int]]:
    """Whether a process of the group waits for input from the terminal, and the processes of the group.

    `leader` leads the session; `canonical` says that the terminal gives whole lines.
    """
    if not calls.KNOWS_CALLS:
        return Look("unknown", "platform"), []
    with processes.spare:
        members = processes.of_group(group, leader)
        found = [_process(pid, members, tty) for pid in members]
        return _together(found, tty, canonical), members


def _together(found: list[Look], tty: int, canonical: bool) -> Look:
    """One answer for the group. A proxy speaks for all; else one process that waits is enough."""
    waiting = next((each for each in found if each.waits == "yes"), None)
    opaque = next((each for each in found if each.why == "opaque"), None)
    if waiting is None:
        unknown = opaque or next((each for each in found if each.waits == "unknown"), None)
        return unknown or _idle_proxy(found, tty, canonical) or (found[0] if found else Look("no", "ended"))
    proxy = next((each for each in found if each.pid is not None and _is_proxy(each.pid, tty)), None)
    if proxy is not None:
        return Look("unknown", "proxy", proxy.pid)
    return opaque or waiting


def _idle_proxy(found: list[Look], tty: int, canonical: bool) -> Look | None:
    """A process that passes input on, or has given the terminal to another one.

    It has the other side of a terminal, or it has set this one to keys, reads none, and talks to a server (tmux).
    """
    signs = {What.MASTER} if canonical else {What.MASTER, What.UNIX, What.INET}
    for each in found:
        try:
            if each.pid is not None and descriptors.all_of(each.pid, tty) & signs:
                return Look("unknown", "proxy", each.pid)
        except OSError:
            continue
    return None


def _is_proxy(pid: int, tty: int) -> bool:
    try:
        return What.MASTER in descriptors.all_of(pid, tty)
    except OSError:
        return processes.is_alive(pid)


def _process(pid: int, group: list[int], tty: int) -> Look:
    try:
        if _acts_for_another(pid):
            return Look("unknown", "opaque", pid)
        threads = {int(name): calls.of_thread(pid, int(name)) for name in os.listdir(f"/proc/{pid}/task")}
        answers = {thread: _thread(call, group, tty) for thread, call in threads.items()}
        waiting = next((thread for thread, answer in answers.items() if answer == "yes"), None)
        if waiting is None:
            proxy = "unknown" in answers.values()
            return Look("unknown", "proxy", pid) if proxy else Look("no", _doing(threads.values()), pid)
        if any(call.kind not in _QUIET_KINDS for thread, call in threads.items() if answers[thread] != "yes"):
            return Look("no", "works", pid)
        if not _is_64_bit(pid):
            return Look("unknown", "platform", pid)
        call = threads[waiting]
        return Look("yes", "read" if call.kind is Kind.READ else "poll", pid, call.name, waiting)
    except PermissionError:
        return Look("unknown", "opaque", pid)
    except OSError:  # it is being started, or ends
        return Look("no", "works", pid)


def _doing(threads: Iterable[Call]) -> str:
    return "works" if any(call.kind is Kind.RUNNING for call in threads) else "elsewhere"


def _thread(call: Call, group: list[int], tty: int) -> Waits:
    """Whether a thread waits for the terminal."""
    if call.kind is Kind.READ:
        return "yes" if _what(call.pid, call.descriptor, tty) is What.TERMINAL else "no"
    if call.kind not in POLLS:
        return "no"
    inputs = call.inputs()
    kinds = {number: _what(call.pid, number, tty) for number in inputs}
    if What.TERMINAL not in kinds.values():
        return "no"
    if {What.INET, What.MASTER} & set(kinds.values()):
        return "unknown"
    if call.timeout() < PATIENT_S:
        return "no"
    others = [pid for pid in group if pid != call.pid]
    pipes = [number for number, found in kinds.items() if found is What.PIPE]
    return "no" if any(descriptors.pipe_partner(call.pid, number, others) for number in pipes) else "yes"


def _what(pid: int, descriptor: int, tty: int) -> What:
    try:
        return descriptors.what(pid, descriptor, tty)
    except FileNotFoundError:
        return What.OTHER


def _acts_for_another(pid: int) -> bool:
    """Whether a program runs with another user's rights by its file (sudo, su): then only a superuser can look."""
    found = os.stat(f"/proc/{pid}/exe")
    return bool(found.st_mode & stat.S_ISUID) and found.st_uid != os.stat(f"/proc/{pid}").st_uid


def _is_64_bit(pid: int) -> bool:
    with open(f"/proc/{pid}/exe", "rb") as file:
        return file.read(_ELF_CLASS + 1)[_ELF_CLASS:] == _ELF_64


def has_line_editor(pid: int) -> bool:
    """Whether a program has loaded a library that edits lines. Shells have their own, and are not recognised."""
    try:
        with open(f"/proc/{pid}/maps", "rb") as file:
            mapped = file.read()
    except OSError:
        return False
    return any(name in mapped for name in _LINE_EDITORS)


def use(pid: int, thread: int | None = None) -> Use:
    """How often and how long a process, or one of its threads, has run. For an ended one, the values of none."""
    try:
        names = [str(thread)] if thread is not None else os.listdir(f"/proc/{pid}/task")
    except OSError:
        return Use(0, 0)
    runs = nanoseconds = 0
    for name in names:
        try:
            with open(f"/proc/{pid}/task/{name}/schedstat", "rb") as file:
                ran, _, times = file.read().split()
        except (OSError, ValueError):
            continue
        runs += int(times)
        nanoseconds += int(ran)
    return Use(runs, nanoseconds)
