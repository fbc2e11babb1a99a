"""A program in a real pseudo-terminal, its screen kept by pyte: what a person at the keyboard would see."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pyte

PATIENCE = 30
"""Seconds after which a test gives up. Nothing waits this long unless it is broken."""


class Terminal:
    def __init__(self, command: list[str], *, columns: int = 80, lines: int = 24, stdin: int | None = None, **env: str):
        self.master, slave = pty.openpty()
        self._screen = pyte.HistoryScreen(columns, lines, history=1000)
        self._stream = pyte.ByteStream(self._screen)
        self.raw = b""
        self.resize(columns, lines)
        environment = {
            "PATH": os.environ["PATH"],
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "HOME": "/nonexistent",
            "PYTHONFAULTHANDLER": "1",
        }
        self.process = subprocess.Popen(
            command,
            stdin=slave if stdin is None else stdin,
            stdout=slave,
            stderr=slave,
            env={**environment, **env},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(1, termios.TIOCSCTTY, 0),
        )
        os.close(slave)

    def resize(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self._screen.resize(lines, columns)

    @property
    def shown(self) -> list[str]:
        """The lines of the window, without empty ones at its end."""
        lines = [line.rstrip() for line in self._screen.display]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    @property
    def everything(self) -> list[str]:
        """What has scrolled away, and the window."""
        above = [
            "".join(line[column].data for column in range(self._screen.columns)) for line in self._screen.history.top
        ]
        return [line.rstrip() for line in above] + self.shown

    def wait_for(self, condition) -> None:
        """Reads until the condition holds of the terminal."""
        deadline = time.monotonic() + PATIENCE
        while not condition(self):
            left = deadline - time.monotonic()
            assert left > 0, f"timed out; the screen shows:\n{chr(10).join(self.shown)}"
            if select.select([self.master], [], [], left)[0] and not self._read():
                assert condition(self), f"the program ended; the screen shows:\n{chr(10).join(self.shown)}"
                return

    def finish(self) -> int:
        """Reads to the end and returns the exit code. A program that does not end says where it is, and fails."""
        deadline = time.monotonic() + PATIENCE
        while select.select([self.master], [], [], max(deadline - time.monotonic(), 0))[0]:
            if not self._read():
                os.close(self.master)
                return self.process.wait(PATIENCE)
        self.process.send_signal(signal.SIGABRT)  # PYTHONFAULTHANDLER prints the stacks
        while self._read():
            pass
        raise AssertionError(f"it did not end in {PATIENCE} s:\n{self.raw[-4000:].decode(errors='replace')}")

    def _read(self) -> bool:
        try:
            data = os.read(self.master, 65536)
        except OSError:  # Linux says EIO when the last slave is closed
            return False
        self.raw += data
        self._stream.feed(data)
        return bool(data)


VANTAGE = [sys.executable, "-m", "vantage"]
