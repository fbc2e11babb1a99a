"""One pseudo-terminal and the process that leads its session.

Every descriptor here is closed on exec, and the other end of the terminal is never kept open: the shell gets 0, 1 and 2
and nothing else, and the terminal hangs up when its last user is gone.
"""

import contextlib
import fcntl
import os
import select
import signal
import struct
import sys
import termios
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from vantage.ptyhost import processes
from vantage.ptyhost.shared.child import Command, Inherited, start
from vantage.ptyhost.terminal.settings import CC, IFLAG, LFLAG, KeptSettings, is_canonical

_IUTF8: Final = 0x4000
"""The kernel erases whole characters, not bytes. `termios` has no name for it before Python 3.13."""
_TIOCGPTPEER: Final = 0x5441
"""Opens the other end without a path, which another mount of devpts could make wrong."""
_SPECIAL: Final = {
    termios.VINTR: b"\x03",
    termios.VQUIT: b"\x1c",
    termios.VERASE: b"\x7f",
    termios.VKILL: b"\x15",
    termios.VEOF: b"\x04",
    termios.VEOL: b"\0",
    termios.VEOL2: b"\0",
    termios.VSTART: b"\x11",
    termios.VSTOP: b"\x13",
    termios.VSUSP: b"\x1a",
    termios.VREPRINT: b"\x12",
    termios.VDISCARD: b"\x0f",
    termios.VWERASE: b"\x17",
    termios.VLNEXT: b"\x16",
}
"""Characters that a canonical terminal acts on, with their usual values."""


@dataclass(frozen=True, slots=True)
class Program:
    """What to start, and the size of its terminal."""

    command: Command
    cols: int
    rows: int
    settings: str = ""
    """The file that has the terminal's settings for the shell's hooks; empty for a program without hooks."""


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


class Pty:
    """A running process with its terminal. `master` does not block."""

    __slots__ = ("cols", "kept", "master", "pid", "rows", "tty")

    def __init__(self, master: int, pid: int, tty: int, cols: int, rows: int, kept: KeptSettings | None = None) -> None:
        self.master = master
        self.pid = pid
        self.tty = tty
        """The device number as /proc has it."""
        self.cols = cols
        self.rows = rows
        self.kept = kept or KeptSettings(termios.tcgetattr(master))

    def close(self) -> None:
        """Hangs up."""
        if self.master >= 0:
            os.close(self.master)
        self.master = -1
        self.tty = 0

    def modes(self) -> Modes:
        """Settings of the other end: on Linux the master answers for it."""
        flags = termios.tcgetattr(self.master)[LFLAG]
        return Modes(
            echo=bool(flags & termios.ECHO), canonical=bool(flags & termios.ICANON), isig=bool(flags & termios.ISIG)
        )

    def quoted(self, line: bytes) -> bytes:
        """A line as it must be typed to reach a canonical reader unchanged, whatever the terminal's settings are.

        `stty intr x` or `stty erase o` would cut it. Where the terminal has no quoting character (`stty lnext undef`,
        `stty -iexten`), settings that meet a byte of the line get their usual values instead.
        """
        settings = termios.tcgetattr(self.master)
        flags, characters = settings[LFLAG], settings[CC]
        text = line.removesuffix(b"\n")
        if not flags & termios.ICANON:
            return line
        met = {number for number in _SPECIAL if characters[number] != b"\0" and characters[number] in text}
        if not met:
            return line
        quote = characters[termios.VLNEXT]
        if flags & termios.IEXTEN and quote != b"\0":
            special = {characters[number] for number in (*met, termios.VLNEXT)}
            typed = (text[at : at + 1] for at in range(len(text)))
            return b"".join(quote + byte if byte in special else byte for byte in typed) + line[len(text) :]
        for number in met:
            characters[number] = _SPECIAL[number]
        termios.tcsetattr(self.master, termios.TCSANOW, settings)
        return line

    def stop_echo(self) -> None:
        """Switches the echo off: input is not shown until a program switches it on again."""
        settings = termios.tcgetattr(self.master)
        settings[LFLAG] &= ~termios.ECHO
        termios.tcsetattr(self.master, termios.TCSANOW, settings)

    def command_given(self, *, edits: bool) -> None:
        """The shell, at its prompt, gets a command: with its line editor or without one."""
        self.kept.given(termios.tcgetattr(self.master), edits=edits)

    def command_over(self, *, failed: bool) -> None:
        """A mark says that a command has ended. Notes what it has left, or puts back what was there before it.

        The hooks of a shell do that themselves. This is for those that were lost, and for a line that a person types in
        sh, which has no hook between a command and its prompt.
        """
        now = termios.tcgetattr(self.master)
        if self.kept.edits and (not is_canonical(now) or self.unread_output()):
            return  # the line editor has begun, or is about to
        if not failed:
            self.kept.left(now)
        elif now != self.kept.base:
            termios.tcsetattr(self.master, termios.TCSANOW, self.kept.base)

    def resize(self, cols: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
        self.cols, self.rows = cols, rows

    def unread_output(self) -> int:
        """Bytes that programs have printed and the host has not read yet."""
        return int(struct.unpack("i", fcntl.ioctl(self.master, termios.FIONREAD, b"\0\0\0\0"))[0])

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
        with contextlib.suppress(OSError, termios.error), self._other_end() as peer:
            termios.tcflush(peer, termios.TCIFLUSH)

    def interrupt(self) -> tuple[str, int | None]:
        """Delivers a Ctrl-C. Returns how (`typed`, as a `signal`, or `failed`) and to which process group."""
        modes, group = self.modes(), self.foreground()
        # Without signals from the keyboard, in canonical mode, it would become a part of the line: so it is signalled.
        if modes.isig or not modes.canonical:
            with contextlib.suppress(OSError):
                if os.write(self.master, b"\x03"):
                    return "typed", group
        if group is not None and (modes.isig or modes.canonical):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGINT)
                return "signal", group
        return "failed", None

    def unread(self) -> int:
        """Bytes that were typed and not yet read; of an unfinished line in canonical mode, none."""
        with contextlib.suppress(OSError), self._other_end() as peer:
            return int.from_bytes(fcntl.ioctl(peer, termios.FIONREAD, b"\0" * 4), sys.byteorder)
        return 0

    def has_unread_input(self) -> bool:
        """Whether a `read` would return at once. In canonical mode a whole line or a Ctrl-D makes it return."""
        with contextlib.suppress(OSError), self._other_end() as peer:
            # poll, unlike FIONREAD, also counts bytes that are still on their way to the line discipline.
            waiting = select.poll()
            waiting.register(peer, select.POLLIN)
            return any(events & select.POLLIN for _, events in waiting.poll(0))
        return False

    def resume_output(self) -> None:
        """Lets output flow again that a Ctrl-S has stopped."""
        self.has_unread_input()  # a Ctrl-S that was just written takes effect now
        # TCOON alone continues only what a TCOOFF has stopped.
        with contextlib.suppress(OSError, termios.error), self._other_end() as peer:
            termios.tcflow(peer, termios.TCOOFF)
            termios.tcflow(peer, termios.TCOON)

    @contextlib.contextmanager
    def _other_end(self) -> Iterator[int]:
        """The terminal as its programs have it, for a moment. Raises OSError."""
        peer = fcntl.ioctl(self.master, _TIOCGPTPEER, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            yield peer
        finally:
            os.close(peer)


def spawn(program: Program, inherited: Inherited) -> Pty:
    """Starts a program in a session of its own, on a terminal of its own. Raises SpawnError."""
    master, slave = os.openpty()
    try:
        attributes = termios.tcgetattr(slave)
        attributes[IFLAG] |= _IUTF8
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", program.rows, program.cols, 0, 0))
        tty = processes.device(os.fstat(slave).st_rdev)
        os.set_blocking(master, False)
        pid = start(program.command, (slave, slave, slave), inherited, terminal=slave)
    except BaseException:
        os.close(master)
        raise
    finally:
        os.close(slave)
    return Pty(master, pid, tty, program.cols, program.rows, KeptSettings(attributes, program.settings))


if sys.platform != "linux":  # pragma: no cover
    raise ImportError("the PTY host needs Linux: epoll, /proc and its pseudo-terminals")
