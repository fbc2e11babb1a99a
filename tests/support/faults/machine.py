"""Questions to the machine: which processes belong to a home, what they have open, how they are."""

import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from terminal_home import PATIENCE

Answer = TypeVar("Answer")
MARK = "VANTAGE_TEST_STAGE"
"""In the environment of all that is started on a stage: the home it belongs to."""


def descriptors(pid: int) -> Counter[str]:
    """What a process has open: paths in its home by their names, the rest by their kinds."""
    home = next(part for part in _environment(pid).split(b"\0") if part.startswith(MARK.encode())).decode()
    found: Counter[str] = Counter()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            found[_named(str(entry.readlink()), home.partition("=")[2])] += 1
    return found


def _named(target: str, home: str) -> str:
    if target.startswith(f"{home}/"):
        return target[len(home) + 1 :]
    if target.endswith(" (deleted)"):
        return "deleted"
    if target == "/":  # what the event loop keeps for when there is none left: before it was needed, /dev/null
        return "/dev/null"
    kinds = {"socket:": "socket", "pipe:": "pipe", "anon_inode:": "anon", "/dev/ptmx": "ptmx", "/dev/pts/ptmx": "ptmx"}
    return next((kind for begin, kind in kinds.items() if target.startswith(begin)), target)


def marked(home: Path) -> dict[int, str]:
    """Living processes that belong to a home."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and f"{MARK}={home}".encode() in _environment(int(entry.name)).split(b"\0"):
            with suppress(OSError):
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return found


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def stat(pid: int) -> list[str]:
    """The fields behind the name: state, parent, group, session, terminal, foreground group; none when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def living(pid: int | None) -> bool:
    return pid is not None and stat(pid)[:1] not in ([], ["Z"], ["X"])


def until(holds: Callable[[], Answer], why: str | Callable[[], str]) -> Answer:
    """Repeats a question until the answer is true, and returns it. The server, the disk or the kernel answers."""
    deadline = time.monotonic() + PATIENCE / 3
    while not (answer := holds()):
        assert time.monotonic() < deadline, why if isinstance(why, str) else why()
    return answer
