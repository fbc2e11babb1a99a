"""One pseudo-terminal and the process that leads its session.

Every descriptor here is closed on exec, and the other end of the terminal is never kept open: the shell gets 0, 1 and 2
and nothing else, and the terminal hangs up when its last user is gone.
"""

import contextlib
import fcntl
import os
import resource
import signal
import struct
import sys
import termios
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NoReturn

from vantage.ptyhost import processes

_IUTF8: Final = 0x4000
"""The kernel erases whole characters, not bytes. `termios` has no name for it before Python 3.13."""
_TIOCGPTPEER: Final = 0x5441
"""Opens the other end without a path, which another mount of devpts could make wrong."""
_IFLAG, _LFLAG = 0, 3


@dataclass(frozen=True, slots=True)
class Inherited:
    """What shells get from the process that started the host, and not from the host itself."""

    umask: int
    files: tuple[int, int]
    """Limits on open files."""


@dataclass(frozen=True, slots=True)
class Program:
    """What to start, and the size of its terminal."""

    argv: list[str]
    env: Mapping[str, str]
    cwd: str
    cols: int
    rows: int


@dataclass(frozen=True, slots=True)
class Modes:
    """Settings of the terminal."""

    echo: bool
    canonical: bool
    isig: bool

    @property
    def secret(self) -> bool:
        """No echo, but whole lines: a program asks for a password."""
        return self.canonical and not self.echo


class SpawnError(OSError):
    """The program could not be started."""


class Pty:
    """A running process with its terminal. `master` does not block."""

    __slots__ = ("cols", "master", "pid", "rows", "tty")

    def __init__(self, master: int, pid: int, tty: int, cols: int, rows: int) -> None:
        self.master = master
        self.pid = pid
        self.tty = tty
        """The device number as /proc has it."""
        self.cols = cols
        self.rows = rows

    def close(self) -> None:
        """Hangs up."""
        if self.master >= 0:
            os.close(self.master)
        self.master = -1
        self.tty = 0

    def modes(self) -> Modes:
        """Of the other end: on Linux the master answers for it."""
        flags = termios.tcgetattr(self.master)[_LFLAG]
        return Modes(
            echo=bool(flags & termios.ECHO), canonical=bool(flags & termios.ICANON), isig=bool(flags & termios.ISIG)
        )

    def stop_echo(self) -> None:
        """What is typed from now on is not shown, until somebody says otherwise."""
        settings = termios.tcgetattr(self.master)
        settings[_LFLAG] &= ~termios.ECHO
        termios.tcsetattr(self.master, termios.TCSANOW, settings)

    def resize(self, cols: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
        self.cols, self.rows = cols, rows

    def foreground(self) -> int | None:
        """The process group that gets the keyboard's signals."""
        try:
            group = os.tcgetpgrp(self.master)
        except OSError:
            return None
        return group if group > 1 else None

    def members(self) -> list[int]:
        """Processes of the session, or with this terminal."""
        return processes.of_session(self.pid, self.tty)

    def discard_input(self) -> None:
        """Throws away what was typed and not yet read."""
        # On its way to the line discipline ...
        with contextlib.suppress(termios.error):
            termios.tcflush(self.master, termios.TCOFLUSH)
        # ... and in it, which only the other end can ask for.
        try:
            peer = fcntl.ioctl(self.master, _TIOCGPTPEER, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError:
            return
        try:
            with contextlib.suppress(termios.error):
                termios.tcflush(peer, termios.TCIFLUSH)
        finally:
            os.close(peer)


def spawn(program: Program, inherited: Inherited) -> Pty:
    """Starts a program in a session of its own, on a terminal of its own. Raises SpawnError.

    A fork, not posix_spawn: that cannot set a controlling terminal. The host has one thread, so nothing is held.
    """
    master, slave = os.openpty()
    try:
        attributes = termios.tcgetattr(slave)
        attributes[_IFLAG] |= _IUTF8
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", program.rows, program.cols, 0, 0))
        tty = processes.device(os.fstat(slave).st_rdev)
        os.set_blocking(master, False)
        trouble, report = os.pipe()
        # Until the child has taken our handlers off, a signal to it would come out of our wakeup socket as ours.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            pid = os.fork()
            if pid == 0:
                _become(program, slave, report, inherited)
        except OSError:
            os.close(trouble)
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            os.close(report)
        said = os.read(trouble, 65536)  # ends when exec closes the other end
        os.close(trouble)
    except BaseException:
        os.close(master)
        raise
    finally:
        os.close(slave)
    if said:
        os.close(master)
        os.waitpid(pid, 0)
        raise SpawnError(said.decode("utf-8", "replace"))
    return Pty(master, pid, tty, program.cols, program.rows)


def _become(program: Program, slave: int, report: int, inherited: Inherited) -> NoReturn:
    """The child: becomes the program or says why not."""
    doing = "start a session"
    try:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for descriptor in (0, 1, 2):
            os.dup2(slave, descriptor)
        doing = f"enter the folder {program.cwd}"
        os.chdir(program.cwd)
        doing = f"run {program.argv[0]}"
        os.umask(inherited.umask)
        resource.setrlimit(resource.RLIMIT_NOFILE, inherited.files)
        for number in signal.valid_signals():
            if number not in (signal.SIGKILL, signal.SIGSTOP):
                # glibc keeps two of the real-time signals to itself.
                with contextlib.suppress(OSError):
                    signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execvpe(program.argv[0], program.argv, program.env)  # noqa: S606 - running what it is told to is the host's job
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


def reap() -> list[tuple[int, int]]:
    """Every child that has ended, as pid and wait status."""
    ended: list[tuple[int, int]] = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended.append((pid, status))


if sys.platform != "linux":  # pragma: no cover
    raise ImportError("the PTY host needs Linux: epoll, /proc and its pseudo-terminals")
