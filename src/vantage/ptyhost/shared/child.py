"""Starts a program as a child of the host, in a session of its own, and says how children have ended."""

import contextlib
import fcntl
import os
import resource
import signal
import termios
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn


@dataclass(frozen=True, slots=True)
class Inherited:
    """What programs get from the process that started the host, and not from the host itself."""

    umask: int
    files: tuple[int, int]
    """Limits on open files."""


@dataclass(frozen=True, slots=True)
class Command:
    """What to run, and where."""

    argv: list[str]
    env: Mapping[str, str]
    cwd: str


class SpawnError(OSError):
    """The program could not be started."""


def start(command: Command, streams: tuple[int, int, int], inherited: Inherited, *, terminal: int | None = None) -> int:
    """Starts a program with these descriptors as 0, 1 and 2, and returns its pid. Raises SpawnError.

    `terminal` becomes the controlling terminal of its session: hence a fork, for posix_spawn cannot set one. The host
    has one thread, so no lock is held in the child.
    """
    trouble, report = os.pipe()
    # Until the child has taken our handlers off, a signal to it would come out of our wakeup socket as ours.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        pid = os.fork()
        if pid == 0:
            _become(command, streams, terminal, report, inherited)
    except OSError:
        os.close(trouble)
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(report)
    said = os.read(trouble, 65536)  # ends when exec closes the other end
    os.close(trouble)
    if said:
        os.waitpid(pid, 0)
        raise SpawnError(said.decode("utf-8", "replace"))
    return pid


def _become(
    command: Command, streams: tuple[int, int, int], terminal: int | None, report: int, inherited: Inherited
) -> NoReturn:
    """The child: becomes the program or says why not."""
    doing = "start a session"
    try:
        os.setsid()
        if terminal is not None:
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        for descriptor, stream in enumerate(streams):
            os.dup2(stream, descriptor)
        doing = f"enter the folder {command.cwd}"
        os.chdir(command.cwd)
        doing = f"run {command.argv[0]}"
        os.umask(inherited.umask)
        resource.setrlimit(resource.RLIMIT_NOFILE, inherited.files)
        for number in signal.valid_signals():
            if number not in (signal.SIGKILL, signal.SIGSTOP):
                # glibc keeps two of the real-time signals to itself.
                with contextlib.suppress(OSError):
                    signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execvpe(command.argv[0], command.argv, command.env)  # noqa: S606 - running what it is told to is the host's job
    except BaseException as error:  # noqa: BLE001 - nothing of the host may run on in here
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        with contextlib.suppress(OSError):
            os.write(report, f"cannot {doing}: {why}".encode("utf-8", "replace")[:4096])
    finally:
        os._exit(127)


def explain(status: int) -> tuple[int | None, int | None]:
    """A wait status as exit status and signal, one of which is None."""
    code = os.waitstatus_to_exitcode(status)
    return (code, None) if code >= 0 else (None, -code)


@dataclass(frozen=True, slots=True)
class Reaped:
    """Children that have ended, as pid and wait status, and children that were stopped."""

    ended: dict[int, int]
    stopped: set[int]


def reap() -> Reaped:
    ended: dict[int, int] = {}
    stopped: set[int] = set()
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
        except ChildProcessError:
            break
        if pid == 0:
            break
        if os.WIFSTOPPED(status):
            stopped.add(pid)
        else:
            ended[pid] = status
    return Reaped(ended, stopped)
