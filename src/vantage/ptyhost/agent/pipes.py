"""The pipes of a process: what it prints is read into a file, what it is sent is written when it reads."""

import fcntl
import os
import struct
import termios
from collections import deque
from collections.abc import Callable
from typing import Final

from vantage.ptyhost.loop import READ, WRITE, Loop
from vantage.ptyhost.protocol import MAX_PENDING
from vantage.ptyhost.shared.listening import Listening
from vantage.ptyhost.shared.stall import Stall

CHUNK: Final = 65536
"""Bytes read in one turn of the loop: as many as a pipe holds."""


class OutputPipe:
    """Reads one of a process's two outputs into its file: bytes first, then the event."""

    __slots__ = ("_changed", "_descriptor", "_listening", "_stall", "_write")

    def __init__(
        self,
        loop: Loop,
        descriptor: int,
        write: Callable[[bytes], bool],
        *,
        stall: Stall,
        changed: Callable[[], None],
    ) -> None:
        self._descriptor = descriptor
        self._write = write
        """Appends to the file; false when the disk is full."""
        self._stall = stall
        self._changed = changed
        """Called when the file has grown."""
        self._listening = Listening(loop, descriptor, wanted=self._wanted, ready=self._ready)

    def listen(self) -> None:
        """Asks the loop for what is wanted now."""
        self._listening.update()

    def drain(self) -> bool:
        """Reads what the pipe has now, which is all that an ended process has printed. False when it is stalled."""
        if self._descriptor < 0:
            return True
        left = int(struct.unpack("i", fcntl.ioctl(self._descriptor, termios.FIONREAD, b"\0\0\0\0"))[0])
        while left > 0:
            data = os.read(self._descriptor, min(left, CHUNK))
            left -= len(data)
            if not self._take(data):
                return False
        return True

    def close(self) -> None:
        if self._descriptor >= 0:
            self._listening.close()
            os.close(self._descriptor)
            self._descriptor = -1

    def _wanted(self) -> int:
        return 0 if self._stall.active else READ

    def _ready(self, _events: int) -> None:
        try:
            data = os.read(self._descriptor, CHUNK)
        except BlockingIOError:
            return
        if data:
            self._take(data)
        else:  # no process has the other end open any more
            self.close()

    def _take(self, data: bytes) -> bool:
        if not self._write(data):
            self._stall.begin()
            return False
        self._changed()
        return True


class InputPipe:
    """Writes messages in their order, as fast as the process reads. What was taken is never cut and never expires."""

    __slots__ = ("_closing", "_descriptor", "_listening", "_queue", "pending")

    def __init__(self, loop: Loop, descriptor: int) -> None:
        self.pending = 0
        """Bytes that wait until the process reads."""
        self._descriptor = descriptor
        self._queue: deque[memoryview] = deque()
        self._closing = False
        self._listening = Listening(loop, descriptor, wanted=self._wanted, ready=self._ready)

    @property
    def open(self) -> bool:
        """Whether it takes messages."""
        return self._descriptor >= 0 and not self._closing

    def fits(self, size: int) -> bool:
        return self.pending + size <= MAX_PENDING

    def write(self, data: bytes) -> None:
        """Writes what the pipe takes now, and the rest when the process reads."""
        if self._descriptor >= 0 and data:
            self._queue.append(memoryview(data))
            self.pending += len(data)
            self._pump()

    def close_when_written(self) -> None:
        """The process gets the end of its input after everything that waits."""
        self._closing = True
        self._pump()

    def close(self) -> None:
        """Closes the pipe. What waits is not written any more."""
        if self._descriptor >= 0:
            self._listening.close()
            os.close(self._descriptor)
            self._descriptor = -1
            self._queue.clear()
            self.pending = 0

    def _wanted(self) -> int:
        return WRITE if self._queue else 0

    def _ready(self, _events: int) -> None:
        self._pump()

    def _pump(self) -> None:
        if self._descriptor < 0:
            return
        try:
            while self._queue:
                written = os.write(self._descriptor, self._queue[0])
                self.pending -= written
                if written == len(self._queue[0]):
                    self._queue.popleft()
                else:
                    self._queue[0] = self._queue[0][written:]
        except BlockingIOError:
            pass
        except OSError:  # the process has closed its input
            self.close()
            return
        if self._closing and not self._queue:
            self.close()
            return
        self._listening.update()
