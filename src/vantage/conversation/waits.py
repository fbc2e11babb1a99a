"""Waiting: a condition over a live terminal, woken by its bytes, never by a clock of its own.

A wait looks at everything from its cursor on exactly once; what it did not match is there for the next one.
"""

import asyncio
import time
from collections.abc import Callable

from vantage.conversation.session import Session
from vantage.terminal.match import SAMPLED, Condition, Found

TAIL_BYTES = 16 * 1024


class Wait:
    """One wait on one session. It is its own view of the terminal."""

    def __init__(
        self, session: Session, condition: Condition, start: int, most: int | None, over: Callable[[], bool], ends: bool
    ) -> None:
        self.session = session
        self.condition = condition
        self.start = start
        self.reason = "timeout"
        self.fired: Condition | None = None
        self._limit = None if most is None else start + most
        self._over = over
        self._ends = ends
        """Whether the end of what is waited on ends the wait."""
        self._began = time.monotonic()
        self._future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._timer: asyncio.TimerHandle | None = None
        self._text: tuple[int, str] = (-1, "")
        self._quiet = [leaf.wanted for leaf in condition.leaves() if leaf.kind == "quiet_ms"]  # type: ignore[attr-defined]
        self._sampled = any(leaf.kind in SAMPLED for leaf in condition.leaves())
        self._searches = condition.searches()

    async def run(self, timeout: float) -> Condition | None:
        """The part that fired; None when none did, with the reason in `reason`."""
        await self._catch_up()
        if self.look():
            return self.fired
        self.session.join(self)
        if self._sampled:
            self.session.watch_settings()
        try:
            async with asyncio.timeout(timeout):
                await self._future
        except TimeoutError:
            self._rewind()
            self._check()
        finally:
            self.session.leave(self)
            if self._sampled:
                self.session.unwatch_settings()
            if self._timer is not None:
                self._timer.cancel()
        return self.fired

    async def _catch_up(self) -> None:
        """Through a long past in windows, so that others get their turn."""
        while any(
            stream.found is None and self.cursor - stream.search.at > stream.search.window for stream in self._searches
        ):
            for stream in self._searches:
                at, end = stream.search.at, self._end()
                if stream.found is None and end - at > stream.search.window:
                    stream.look(self.session.read_spool(at, at + stream.search.window), last=False)
            await asyncio.sleep(0)
            if self._limit is not None and self.cursor >= self._limit:
                return

    def look(self) -> bool:
        if self._future.done():
            return True
        if self._check():
            self._future.set_result(None)
            return True
        if self._quiet and self._timer is None:
            left = max(min(self._quiet) - self.quiet_for(), 1) / 1000
            self._timer = asyncio.get_running_loop().call_later(left, self._timed)
        return False

    def _timed(self) -> None:
        self._timer = None
        self.look()

    def _check(self) -> bool:
        self._search()
        self.fired = self.condition.fired(self)
        if self.fired is not None:
            self.reason = self.fired.kind
            return True
        if self._limit is not None and self.cursor >= self._limit:
            self.reason = "max_bytes"
            return True
        if self._finished():
            self._rewind()
            self._search()
            self.fired = self.condition.fired(self)
            self.reason = self.fired.kind if self.fired else "exited"
            return True
        return False

    def _finished(self) -> bool:
        """Nothing more will come from what is waited on."""
        phase = self.session.state.phase
        return phase == "exited" or (self._ends and phase == "idle" and self._over())

    def _end(self) -> int:
        return self.cursor if self._limit is None else min(self.cursor, self._limit)

    def _search(self) -> None:
        end = self._end()
        for stream in self._searches:
            while stream.found is None and stream.search.at < end:
                at = stream.search.at
                upto = min(at + stream.search.window, end)
                stream.look(self.session.read_spool(at, upto), last=upto == end)
                if upto == end:
                    break

    def _rewind(self) -> None:
        for stream in self._searches:
            if stream.found is None:
                stream.search.rewind()

    def found(self) -> Found | None:
        return self.fired.found if self.fired is not None else None

    # a view of the terminal

    @property
    def cursor(self) -> int:
        return self.session.terminal.cursor

    @property
    def over(self) -> bool:
        return self._over()

    @property
    def awaiting_secret(self) -> bool:
        return self.session.sample.awaiting_secret

    @property
    def foreground(self) -> str | None:
        return self.session.sample.foreground

    @property
    def title(self) -> str:
        screen = self.session.terminal.screen
        return screen.title if screen is not None else ""

    def screen_text(self) -> str:
        screen = self.session.terminal.screen
        if screen is None:
            return ""
        if self._text[0] != self.session.terminal.raw:
            self._text = (self.session.terminal.raw, "\n".join(screen.lines()))
        return self._text[1]

    def quiet_for(self) -> float:
        return (time.monotonic() - max(self.session.last_output, self._began)) * 1000
