"""What the loop reports of one descriptor, a terminal's master or a pipe: output to read, and room to write.

A terminal that all processes have closed is reported without end. It is left alone for a while, then tried again.
"""

from collections.abc import Callable
from typing import Final

from vantage.ptyhost.loop import READ, Loop, Timer

HUNG_S: Final = 0.25
"""Seconds between tries to read a terminal that no process has open."""


class Listening:
    """Registers one descriptor for what is wanted now, and for nothing while it hangs."""

    __slots__ = ("_closed", "_descriptor", "_interest", "_loop", "_ready", "_timer", "_wanted")

    def __init__(self, loop: Loop, descriptor: int, *, wanted: Callable[[], int], ready: Callable[[int], None]) -> None:
        self._loop = loop
        self._descriptor = descriptor
        self._wanted = wanted
        """The events that are wanted now, as the loop names them; 0 for none."""
        self._ready = ready
        self._interest = 0
        self._timer: Timer | None = None
        self._closed = False

    @property
    def reads(self) -> bool:
        """Whether output is asked for."""
        return bool(self._interest & READ)

    def update(self) -> None:
        """Asks the loop for what is wanted now."""
        if self._closed:
            return
        wanted = 0 if self._timer is not None else self._wanted()
        if wanted == self._interest:
            return
        if not wanted:
            self._loop.unwatch(self._descriptor)
        elif self._interest:
            self._loop.change(self._descriptor, wanted)
        else:
            self._loop.watch(self._descriptor, wanted, self._ready)
        self._interest = wanted

    def hang(self) -> None:
        """Stops listening for a while: the shell lives but has closed the terminal."""
        if self._timer is None and not self._closed:
            self._timer = self._loop.after(HUNG_S, self._unhang)
            self.update()

    def close(self) -> None:
        """Stops listening, before the descriptor is closed."""
        self._closed = True
        self._interest = 0
        self._loop.unwatch(self._descriptor)
        if self._timer is not None:
            self._timer.cancel()

    def _unhang(self) -> None:
        self._timer = None
        self.update()
