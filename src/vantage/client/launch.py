"""Starts the server of a home if none runs, as tmux does. Standard library only, because every command begins here.

Clients that start one at the same time take turns, and the later ones find it running. The server detaches itself (a
session of its own, its output in `server.log`), so it outlives the client that started it.
"""

import contextlib
import fcntl
import json
import os
import os.path
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from vantage.client.retry import SOON_S, Retry
from vantage.errors import NoServer
from vantage.ptyhost.ownership import NotPrivate, check_home, check_peer

LOG_NAME = "server.log"
_TIMEOUT_S = 20.0
"""How long to wait for a server that is about to end, and for other clients that start one: each takes a second or
two.
"""


def running(home: str) -> dict[str, Any] | None:
    """The content of `server.json`, if the server that wrote it answers."""
    try:
        check_home(home)
        with open(os.path.join(home, "server.json"), "rb") as file:  # noqa: PTH118, PTH123
            said = json.load(file)
        path = said["socket"]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except NotPrivate as error:
        raise NoServer(error.message, hint=error.hint) from error
    except (OSError, ValueError, KeyError, TypeError):
        from vantage.ptyhost.protocol import socket_path

        if not answers(socket_path(home, "server.sock")):
            return None
        raise NoServer(
            f"{home}/server.json is damaged, and a server runs", hint=f"end the process that {home}/server.lock names"
        ) from None
    return dict(said) if answers(path) else None


def answers(path: str) -> bool:
    """Whether a process of ours listens at this socket. Raises NoServer if another user's does."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
            check_peer(probe)
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        except NotPrivate as error:
            raise NoServer(error.message, hint=error.hint) from error
    return True


def ensure_server(home: str) -> dict[str, Any]:
    """The content of `server.json` of this home's server, which is started if none runs. Raises NoServer."""
    home = os.path.abspath(os.path.expanduser(home))  # noqa: PTH100, PTH111
    try:
        said = running(home)
        if said is not None:
            return said
        os.makedirs(home, mode=0o700, exist_ok=True)  # noqa: PTH103
        with _turn(home) as retry:
            return _start(home, retry)
    except OSError as error:
        raise NoServer(f"the server of {home} cannot be reached: {error}", hint="run 'vantage doctor'") from error


def _start(home: str, retry: Retry) -> dict[str, Any]:
    while True:
        said = running(home)
        if said is not None:
            return said
        complaint = _launch(home)
        if complaint is None:
            continue
        # Another server has the home: it does not listen yet, or is about to end.
        if complaint.get("code") != "home_taken" or not retry.pause():
            raise NoServer(f"the server of {home} could not be started: {complaint['error']}")


def _launch(home: str) -> dict[str, Any] | None:
    """Starts a server and waits until it listens. Returns its error message if it does not."""
    log = os.path.join(home, LOG_NAME)  # noqa: PTH118
    reading, writing = os.pipe()
    with open(reading, "rb") as ready:  # noqa: PTH123
        words = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        before = os.fstat(words).st_size
        try:
            subprocess.run(  # noqa: S603 -- our own program; it returns once it has detached itself
                [*_PROGRAM, "serve", "--home", home, "--ready-fd", str(writing)],
                pass_fds=[writing],
                stdin=subprocess.DEVNULL,
                stdout=words,
                stderr=words,
                env=_environment(),
                check=False,
            )
        finally:
            os.close(writing)
            os.close(words)
        line = ready.readline()
    if line:
        said: dict[str, Any] = json.loads(line)
        return None if said.get("ready") else said
    with open(log, "rb") as file:  # noqa: PTH123
        file.seek(before)
        lines = file.read().decode("utf-8", "replace").strip().splitlines()
    return {"error": f"{lines[-1] if lines else 'it said nothing'} (its log is {log})"}


# -P: no module of the current directory may stand in for one of ours
_PROGRAM = (sys.executable, "-P", "-m", "vantage")


def _environment() -> dict[str, str]:
    """The environment of this process with the path to our package. Shells do not get it."""
    environment = dict(os.environ)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120
    # A directory of Python's own path must not come before the standard library.
    if os.path.basename(root) not in ("site-packages", "dist-packages"):  # noqa: PTH119
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (root, environment.get("PYTHONPATH", ""))))
    return environment


@contextlib.contextmanager
def _turn(home: str) -> Iterator[Retry]:
    """Lets one client at a time start a server. Yields the seconds that are left to try."""
    log = os.path.join(home, LOG_NAME)  # noqa: PTH118
    turn = Retry(_TIMEOUT_S, pause_s=SOON_S)
    lock = os.open(os.path.join(home, "starting.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)  # noqa: PTH118
    try:
        while not _locked(lock):
            if not turn.pause():
                raise NoServer(f"another client has been starting the server of {home} for long", hint=f"see {log}")
        yield Retry(_TIMEOUT_S, pause_s=SOON_S)
    finally:
        os.close(lock)


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
