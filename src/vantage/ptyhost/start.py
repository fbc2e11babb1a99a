"""For clients: the socket of a home's host, which is started if none runs. Waits, but never polls or sleeps."""

import contextlib
import fcntl
import json
import os
import socket
import subprocess
import sys
from typing import Any

from vantage.ptyhost.protocol import socket_path

_TRIES = 3
"""A host may leave between being found and being connected to; it does so only when it has nothing to do."""


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
    os.makedirs(home, mode=0o700, exist_ok=True)
    connection = _running(home)
    if connection is not None:
        return connection
    # Who comes while another one starts it waits here, and finds it running.
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
        # Somebody has damaged it: a host that lives all the same listens where it would listen today.
        path = socket_path(home)
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(path)
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
    """Ours, and where our package is found the way there: shells get none of it."""
    environment = dict(os.environ)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    # Where Python looks anyway must not come before the standard library.
    if os.path.basename(root) not in ("site-packages", "dist-packages"):
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (root, environment.get("PYTHONPATH", ""))))
    return environment
