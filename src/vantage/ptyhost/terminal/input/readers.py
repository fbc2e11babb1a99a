"""Whether a program of a terminal's foreground waits for input right now, according to /proc.

A thread that is blocked in `read` on the terminal gets the next line. A thread that is blocked in `poll` or `select`
counts too: finding out which descriptors it waits for takes time, and is done only if a caller needs it. A process that
may not be examined (setuid) gives `unknown`.
"""

import os
from typing import Literal

from vantage.ptyhost import processes
from vantage.ptyhost.terminal.awaits import calls
from vantage.ptyhost.terminal.awaits.descriptors import What, what

Reads = Literal["yes", "no", "unknown"]


def reads(group: int | None, tty: int, *, polls: bool = True) -> Reads:
    """Whether a process of the group waits for input from the terminal; with `polls`, any `poll` or `select` counts."""
    if group is None or not calls.KNOWS_CALLS:
        return "unknown"
    leader = _process_reads(group, tty, polls=polls)
    if leader == "yes":
        return leader
    others = [
        _process_reads(process.pid, tty, polls=polls)
        for process in processes.living()
        if process.group == group and process.pid != group
    ]
    answers = [leader, *others]
    return "yes" if "yes" in answers else "unknown" if "unknown" in answers else "no"


def _process_reads(pid: int, tty: int, *, polls: bool) -> Reads:
    try:
        with processes.spare:
            blocked = [calls.of_thread(pid, int(thread)) for thread in os.listdir(f"/proc/{pid}/task")]
            return "yes" if any(_waits(call, tty, polls=polls) for call in blocked) else "no"
    except OSError:
        # it may not be examined, has ended, is a zombie, or the kernel has no such file
        return "unknown" if processes.is_alive(pid) else "no"


def _waits(call: calls.Call, tty: int, *, polls: bool) -> bool:
    if call.kind in calls.POLLS and polls:
        return True
    if call.kind is not calls.Kind.READ and call.kind not in calls.POLLS:
        return False
    try:
        descriptors = [call.descriptor] if call.kind is calls.Kind.READ else call.inputs()
        return any(what(call.pid, each, tty) is What.TERMINAL for each in descriptors)
    except OSError:
        return False
