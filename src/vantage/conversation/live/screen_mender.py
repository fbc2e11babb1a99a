"""Draws a terminal's screen anew after its engine failed. Everything else of the terminal continues without a
screen.
"""

import asyncio
import logging
from collections.abc import Callable

from vantage.conversation.live.pump import Pump, retry_delay
from vantage.conversation.live.screen_recorder import ScreenRecorder

MAX_REDRAWS = 2
"""How often in a row the screen is drawn again from the output. After that, a screen that still fails starts empty."""

_log = logging.getLogger(__name__)


class ScreenMender:
    def __init__(self, name: str, pump: Callable[[], Pump], recorder: Callable[[], ScreenRecorder]) -> None:
        self._name = name
        self._pump = pump
        self._recorder = recorder
        self._failures = 0
        self._redrawing: asyncio.TimerHandle | None = None
        self._closed = False

    def failed(self, error: Exception) -> None:
        """The engine failed while the screen was read."""
        terminal = self._pump().derivation.terminal
        if terminal.screen_as_it_is is None or self._closed:
            return
        _log.error("%s: its screen is drawn anew", self._name, exc_info=error)
        terminal.screen = None
        self._recorder().follow(terminal)
        self.redraw_later()

    def redraw_later(self) -> None:
        if self._redrawing is None:
            loop = asyncio.get_running_loop()
            self._redrawing = loop.call_later(retry_delay(self._failures), self._redraw)
            self._failures += 1

    def _redraw(self) -> None:
        self._redrawing = None
        if not self._closed:
            self._pump().derivation.redraw(empty=self._failures > MAX_REDRAWS)
            self._recorder().changed(prompt=True)

    def checkpointed(self) -> None:
        """A checkpoint was written; if a screen is in it, earlier failures count no more."""
        if self._pump().derivation.terminal.screen_as_it_is is not None:
            self._failures = 0

    def close(self) -> None:
        self._closed = True
        if self._redrawing is not None:
            self._redrawing.cancel()
