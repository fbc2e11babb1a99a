"""For clients: the socket of a home's host, which is started if none runs. Waits, but never polls or sleeps."""

import contextlib
import fcntl
import json
import os
import socket
import subprocess
import sys
from typing import Any

from vantage.ptyhost.ownership import check_peer, make_home
from vantage.ptyhost.protocol import socket_path

_TRIES = 3
"""A host may leave between being found and being connected to; it does so only when it has nothing to do."""

shell_files: int | None = None
"""The soft limit on open files that shells get, set by a process that has raised its own."""


class HostError(OSError):
    """The host could not be reached or started."""


def start(home: str) -> str:
    """The socket of the host of this home; starts it if need be. Raises OSError.

    Prefer `connect`: a host that has nothing to do may leave before its path is used.
    """
    with connect(home) as connection:
        return str(connection.getpeername())


def connect(home: str) -> socket.socket:
    """A blocking connection to the host of this home, before its hello; starts it if need be. Raises OSError."""
    home = os.path.abspath(home)
    make_home(home)
    connection = _running(home)
    if connection is not None:
        return connection
    # A second starter waits here for the lock, and then finds the host running.
    turn = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(turn, fcntl.LOCK_EX)
        for _ in range(_TRIES):
            connection = _running(home)
            if connection is not None:
                return connection
            said = _launch(home)
            if not said.get("ready") and said.get("error") != "held":
                raise HostError(f"the PTY host of {home} could not be started: {said.get('error')}")
            connection = _running(home)
            if connection is not None:
                return connection
    finally:
        os.close(turn)
    raise HostError(
        f"the PTY host of {home} does not answer: expected it at the socket named in {home}/host.json; "
        f"it said {said}, its log is {home}/host.log"
    )


def _running(home: str) -> socket.socket | None:
    """A connection to the host that runs, None when none does."""
    try:
        with open(os.path.join(home, "host.json"), "rb") as file:
            path = str(json.load(file)["socket"])
    except (OSError, ValueError, KeyError, TypeError):
        # The file is damaged: a living host listens at the path that would be chosen today.
        path = socket_path(home)
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(path)
        check_peer(connection)
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    except BaseException:
        connection.close()
        raise
    return connection


def _launch(home: str) -> dict[str, Any]:
    """Starts a host and returns what it says when it is ready, or cannot be."""
    reading, writing = os.pipe()
    try:
        # -P: no module of the current directory may stand in for one of ours.
        command = [sys.executable, "-P", "-m", "vantage.ptyhost", "--home", home, "--ready-fd", str(writing)]
        if shell_files is not None:
            command += ["--files", str(shell_files)]
        try:
            process = subprocess.Popen(  # noqa: S603 - our own program
                command,
                pass_fds=[writing],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=_environment(),
            )
        finally:
            os.close(writing)
        with open(reading, "rb", closefd=False) as ready:
            line = ready.readline()
        with process:
            complaint = process.stderr.read() if process.stderr is not None else b""
    finally:
        os.close(reading)
    with contextlib.suppress(ValueError):
        said = json.loads(line)
        if isinstance(said, dict):
            return said
    words = complaint.decode("utf-8", "replace").strip() or "it said nothing"
    return {"ready": False, "error": f"{words} (exit status {process.returncode})"}


def _environment() -> dict[str, str]:
    """Our environment, and the path on which the host finds our package. Shells do not get that path."""
    environment = dict(os.environ)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    # Paths on which Python looks anyway are left out: here they would come before the standard library.
    if os.path.basename(root) not in ("site-packages", "dist-packages"):
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (root, environment.get("PYTHONPATH", ""))))
    return environment
