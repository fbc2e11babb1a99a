"""`python -m vantage.ptyhost --home DIR [--ready-fd N]`: becomes the PTY host of a home, detached from its starter.

Exit status of the process that was started: 0 the host runs, 3 another one does, 1 it cannot. The lock is taken and the
socket bound before detaching, so that the status is true. `--ready-fd` gets one line of JSON.
"""

import argparse
import contextlib
import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import sys
from typing import Any, Final, NoReturn

from vantage.ptyhost import processes
from vantage.ptyhost.host import Host
from vantage.ptyhost.ownership import make_home, tighten
from vantage.ptyhost.protocol import PROTOCOL, VERSION, encode, socket_path
from vantage.ptyhost.shared.child import Inherited

HELD: Final = 3
_LOCK_PATIENCE: Final = 2.0
"""Seconds that a host waits for another one that has the lock but does not listen: it is leaving."""
_PR_SET_CHILD_SUBREAPER: Final = 36


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m vantage.ptyhost", description="Owns the terminals of a home.")
    parser.add_argument("--home", required=True, help="the home directory; made when it is not there")
    parser.add_argument("--ready-fd", type=int, default=-1, help="gets a line of JSON when the host listens, or cannot")
    parser.add_argument("--files", type=int, help="the soft limit on open files that shells get; ours when left out")
    options = parser.parse_args(arguments)
    inherited = _settle(options.ready_fd, options.files)
    home = os.path.abspath(options.home)
    path = ""
    try:
        make_home(home)
        tighten(home)
        lock = _take_lock(home)
        if lock is None:
            _say(options.ready_fd, {"ready": False, "error": "held", **_holder(home)})
            return HELD
        path = socket_path(home)
        listener = _listen(path)
        _detach(os.path.join(home, "host.log"))
        _write_atomically(
            os.path.join(home, "host.json"),
            {"pid": os.getpid(), "socket": path, "protocol": PROTOCOL, "version": VERSION},
        )
        processes.spare.keep()
        host = Host(listener, path, inherited)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(path)
        _say(options.ready_fd, {"ready": False, "error": str(error)})
        print(f"vantage: the PTY host of {home} cannot start: {error}", file=sys.stderr)
        return 1
    _say(options.ready_fd, {"ready": True, "socket": path, "pid": os.getpid()})
    try:
        host.run()
    finally:
        for name in (path, os.path.join(home, "host.json")):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)
        if os.path.dirname(path) != home:
            with contextlib.suppress(OSError):
                os.rmdir(os.path.dirname(path))
        listener.close()
        os.close(lock)
    return 0


def _settle(ready: int, files: int | None) -> Inherited:
    """Removes settings of the starter that do not fit a host, and keeps those that shells get."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) != ready:
            with contextlib.suppress(OSError):
                os.close(int(name))
    if ready >= 0:
        os.set_inheritable(ready, False)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # A terminal takes three descriptors, and 1024 is a common limit.
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return Inherited(umask=os.umask(0o077), files=(soft if files is None else min(files, soft), hard))


def _take_lock(home: str) -> int | None:
    """The lock of this home, held as long as the descriptor is open; None when a host runs."""
    lock = os.open(os.path.join(home, "host.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        # The holder may be leaving and have removed its socket already: wait for the lock, with a short timeout.
        if not _answers(home) and _wait_for(lock):
            return lock
        os.close(lock)
        return None
    return lock


def _wait_for(lock: int) -> bool:
    def too_long(*_: object) -> NoReturn:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, _LOCK_PATIENCE)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
    except TimeoutError:
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return True


def _holder(home: str) -> dict[str, Any]:
    """The process that holds the lock, as it has written to `host.json`."""
    try:
        with open(os.path.join(home, "host.json"), "rb") as file:
            said = json.load(file)
        return {"pid": said["pid"], "socket": said["socket"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {"pid": None, "socket": None}


def _answers(home: str) -> bool:
    path = _holder(home)["socket"]
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True


def _listen(path: str) -> socket.socket:
    """A socket that only we can connect to. We hold the lock, so a socket that is there was left by a killed host."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    os.chmod(path, 0o600)
    listener.listen(128)
    return listener


def _detach(log: str) -> None:
    """Detaches from the starter: from its session, its terminal, its working directory and its streams."""
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
    # Orphans of shells become our children, so we reap them, not process 1. A fork does not inherit this.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.chdir("/")
    nothing = os.open(os.devnull, os.O_RDWR)
    errors = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for target, source in ((0, nothing), (1, nothing), (2, errors)):
        os.dup2(source, target)
    for descriptor in (nothing, errors):
        if descriptor > 2:
            os.close(descriptor)


def _write_atomically(path: str, content: dict[str, Any]) -> None:
    draft = f"{path}.{os.getpid()}"
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, encode(content))
    finally:
        os.close(descriptor)
    os.replace(draft, path)


def _say(ready: int, message: dict[str, Any]) -> None:
    if ready >= 0:
        with contextlib.suppress(OSError), open(ready, "wb", buffering=0) as starter:  # it may be gone by now
            starter.write(encode(message))


if __name__ == "__main__":
    sys.exit(main())
