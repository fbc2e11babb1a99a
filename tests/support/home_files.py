"""The files of a home while its server lives and writes.

A temporary file may be renamed between the listing and the look: such a file is passed over, and its new name is read
by the next listing. `holding` lists until two listings agree, so a file that was renamed meanwhile is not missed.
"""

from collections.abc import Iterator
from pathlib import Path
from stat import S_ISREG


def files(folder: Path) -> Iterator[tuple[Path, int]]:
    """Every regular file below a folder with its mode; links, sockets and vanished files are left out."""
    for path in sorted(folder.rglob("*")):
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            continue
        if S_ISREG(mode):
            yield path, mode


def contents(folder: Path) -> dict[Path, bytes]:
    """What every file below a folder holds."""
    held: dict[Path, bytes] = {}
    for path, _ in files(folder):
        try:
            held[path] = path.read_bytes()
        except FileNotFoundError:
            continue
    return held


def holding(folder: Path, secret: str | bytes) -> list[Path]:
    """The files below a folder that contain a text."""
    sought = secret if isinstance(secret, bytes) else secret.encode()
    while True:
        found = contents(folder)
        if found.keys() == {path for path, _ in files(folder)}:
            return [path for path, held in found.items() if sought in held]
