"""The server of a home, started if none runs: as tmux does. Standard library only, since every thin client begins here.

Who comes while another one starts it waits its turn, and finds it running. The server is told to detach itself (a
session of its own, its words in `server.log`), so it outlives whoever needed it first.
"""

import contextlib
import fcntl
import json
import os
import os.path
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

LOG_NAME = "server.log"
_PATIENCE_S = 20.0
"""For a server that is about to end, and for others that start one: what they do takes a second or two."""
_POLL_S = 0.05


class LaunchError(OSError):
    """No server could be reached or started. The message has the way out."""


def running(home: str) -> dict[str, Any] | None:
    """What `server.json` says, when the server that wrote it answers."""
    try:
        with open(os.path.join(home, "server.json"), "rb") as file:  # noqa: PTH118, PTH123
            said = json.load(file)
        path = said["socket"]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError):
        from vantage.ptyhost.protocol import socket_path

        if not answers(socket_path(home, "server.sock")):
            return None
        raise LaunchError(
            f"{home}/server.json is damaged, and a server runs: end the process that {home}/server.lock names"
        ) from None
    return dict(said) if answers(path) else None


def answers(path: str) -> bool:
    """Whether anybody listens at this socket."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except (FileNotFoundError, ConnectionRefusedError):
            return False
    return True


def ensure_server(home: str) -> dict[str, Any]:
    """What `server.json` says of the server of this home, which is started if need be. Raises LaunchError."""
    home = os.path.abspath(os.path.expanduser(home))  # noqa: PTH100, PTH111
    try:
        said = running(home)
        if said is not None:
            return said
        os.makedirs(home, mode=0o700, exist_ok=True)  # noqa: PTH103
        with _turn(home) as deadline:
            return _start(home, deadline)
    except LaunchError:
        raise
    except OSError as error:
        raise LaunchError(f"the server of {home} cannot be reached: {error}: run 'vantage doctor'") from error


def _start(home: str, deadline: float) -> dict[str, Any]:
    while True:
        said = running(home)
        if said is not None:
            return said
        complaint = _launch(home)
        if complaint is None:
            continue
        # Another one has the home: it has not begun to listen, or is about to end.
        if complaint.get("code") != "home_taken" or time.monotonic() > deadline:
            raise LaunchError(f"the server of {home} could not be started: {complaint['error']}")


def _launch(home: str) -> dict[str, Any] | None:
    """Starts a server and waits until it listens. What it complained about, when it does not."""
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


def detach(ready: int) -> Callable[[dict[str, Any]], None]:
    """In the server: away from the starter, its session and its working directory. What to tell the starter with."""
    os.set_inheritable(ready, False)
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():  # who leads a session can get a terminal by opening one
        os._exit(0)
    os.chdir("/")

    def tell(message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # it has not waited
            os.write(ready, json.dumps(message).encode() + b"\n")
        os.close(ready)

    return tell


# -P: no module of the current directory may stand in for one of ours
_PROGRAM = (sys.executable, "-P", "-m", "vantage")


def _environment() -> dict[str, str]:
    """Ours, and where our package is found the way there: shells get none of it."""
    environment = dict(os.environ)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120
    # Where Python looks anyway must not come before the standard library.
    if os.path.basename(root) not in ("site-packages", "dist-packages"):  # noqa: PTH119
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (root, environment.get("PYTHONPATH", ""))))
    return environment


@contextlib.contextmanager
def _turn(home: str) -> Iterator[float]:
    """One starts a server at a time. Yields until when to be patient."""
    deadline = time.monotonic() + _PATIENCE_S
    lock = os.open(os.path.join(home, "starting.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)  # noqa: PTH118
    try:
        while not _locked(lock):
            if time.monotonic() > deadline:
                raise LaunchError(f"somebody has been starting the server of {home} for long: see {home}/{LOG_NAME}")
            time.sleep(_POLL_S)
        yield time.monotonic() + _PATIENCE_S
    finally:
        os.close(lock)


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
