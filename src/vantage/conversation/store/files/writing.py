"""Writes whole files and directories, private to the user (0700, files 0600).

`write_all` writes every byte or raises; `write_atomically` leaves the old content or the new; `sweep` removes the
temporary files of writers that were killed.
"""

import contextlib
import os
import re
from pathlib import Path

from vantage.conversation.store.files.disk_errors import is_scarcity, no_room
from vantage.conversation.store.processes import is_running

PRIVATE_DIRECTORY = 0o700
PRIVATE_FILE = 0o600
_TEMPORARY = re.compile(r"\..+\.(\d+)")


def make_directory(path: Path) -> Path:
    """Makes a private directory and its parents. `mkdir(parents=True)` would make the parents readable for all."""
    try:
        path.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
    except FileNotFoundError:
        make_directory(path.parent)
        path.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
    return path


def write_all(fd: int, data: bytes, offset: int) -> None:
    """Writes all bytes; raises Unavailable with the reason."""
    try:
        written = os.pwrite(fd, data, offset)
        if written == len(data):
            return
        offset += written
        view = memoryview(data)[written:]
        while view:
            written = os.pwrite(fd, view, offset)
            offset += written
            view = view[written:]
    except OSError as error:
        raise no_room(error) from error


def write_atomically(path: Path, data: bytes) -> None:
    """Replaces a file's content. A crash leaves the old content or the new, never a mixture."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, PRIVATE_FILE)
    except OSError as error:
        if is_scarcity(error):
            raise no_room(error) from error
        raise
    try:
        write_all(descriptor, data, 0)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)


def sweep(*folders: Path) -> None:
    """Removes the temporary files of killed processes."""
    for folder in folders:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            for path in folder.iterdir():
                temporary = _TEMPORARY.fullmatch(path.name)
                if temporary and path.is_file() and not is_running(int(temporary[1])):
                    path.unlink(missing_ok=True)
