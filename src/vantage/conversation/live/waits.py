"""Waiting: a condition on a live terminal, checked when its state changes, never by polling.

A wait also ends when the program waits for input: then nothing would happen until something is typed. A wait looks at
all output from its cursor exactly once; what it did not match is left for the next wait.
"""

import asyncio
import time
from collections.abc import Callable

from vantage.conversation.live.input_watch import Awaited, Caller
from vantage.conversation.live.terminal import LiveTerminal
from vantage.errors import NotFound
from vantage.terminal.output.echo import EchoFilter
from vantage.terminal.output.match import SAMPLED, Condition, Found, Stream
from vantage.terminal.screen.screen import Screen

TAIL_BYTES = 16 * 1024


def _scan(stream: Stream, read: Callable[[int, int], bytes], end: int) -> None:
    """Makes a search look at everything up to `end` that it has not looked at."""
    while stream.found is None and stream.search.at < end:
        at = stream.search.at
        upto = min(at + stream.search.window, end)
        stream.look(read(at, upto), last=upto == end)
        if upto == end:
            return


class Wait:
    """One wait on one terminal, and the view of the terminal that its condition reads.

    It has more than 20 methods, because the view is a method for each fact that a condition can ask for.
    """

    def __init__(
        self,
        live: LiveTerminal,
        condition: Condition,
        start: int,
        most: int | None,
        over: Callable[[], bool],
        ends: bool,
        echo: EchoFilter | None = None,
        across: Condition | None = None,
        unseen: str = "",
        idle: Callable[[], bool] = lambda: False,
    ) -> None:
        """`echo` covers the echo of the input that the wait follows. `across` is the same condition once more: it
        looks at what is covered too, and counts where it matches past the echo. `unseen` is how the line begins that
        shows the command on the main screen: a wait for what the command shows does not look there. `idle` says that
        the shell is at its prompt and nothing was given to it.
        """
        self.live = live
        self.condition = condition
        self.start = start
        self.reason = "timeout"
        self.fired: Condition | None = None
        self.awaited: Awaited | None = None
        """What the program waits for, if that ended the wait or was known at its end."""
        self._limit = None if most is None else start + most
        self._echo = echo
        self._unseen = unseen
        self._over = over
        self._idle = idle
        self._ends = ends
        """Whether the end of the awaited command or shell ends the wait."""
        self._began = time.monotonic()
        self._future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._timer: asyncio.TimerHandle | None = None
        self._input: Caller | None = None
        self._text: tuple[int, str] = (-1, "")
        self._quiet = [leaf.wanted for leaf in condition.leaves() if leaf.kind == "quiet_ms"]  # type: ignore[attr-defined]
        self._sampled = any(leaf.kind in SAMPLED for leaf in condition.leaves())
        self._searches = condition.searches()
        self._across = across.searches() if across is not None else []

    async def run(self, timeout: float) -> Condition | None:
        """The part that fired; None when none did, with the reason in `reason`."""
        await self._catch_up()
        if self.look():
            await self._future
            return self.fired
        self.live.waiters.join(self)
        self._input = self.live.input_watch.begin()
        if self._sampled:
            self.live.sampler.watch()
        try:
            async with asyncio.timeout(timeout):
                await self._future
        except TimeoutError:
            self._rewind()
            self._check()
        finally:
            self.live.waiters.leave(self)
            self._input.end()
            if self._sampled:
                self.live.sampler.unwatch()
            if self._timer is not None:
                self._timer.cancel()
        return self.fired

    async def _catch_up(self) -> None:
        """Searches a long past in windows, between which other tasks run."""
        while any(
            stream.found is None and self.cursor - stream.search.at > stream.search.window for stream in self._searches
        ):
            for stream in self._searches:
                at, end = stream.search.at, self._end()
                if stream.found is None and end - at > stream.search.window:
                    stream.look(self._read(at, min(at + stream.search.window, end)), last=False)
            await asyncio.sleep(0)
            if self._limit is not None and self.cursor >= self._limit:
                return

    def look(self) -> bool:
        if self._future.done():
            return True
        try:
            over = self._check()
        except Exception as error:  # noqa: BLE001 -- the error belongs to this wait; the terminal and other waits continue
            self._future.set_exception(error)
            return True
        if over:
            self._future.set_result(None)
            return True
        if self._quiet and self._timer is None:
            left = max(min(self._quiet) - self.quiet_for(), 1) / 1000
            self._timer = asyncio.get_running_loop().call_later(left, self._timed)
        return False

    def give_up(self) -> None:
        if not self._future.done():
            self._future.set_exception(
                NotFound("the conversation was closed meanwhile", hint="list them, or create it")
            )

    def _timed(self) -> None:
        self._timer = None
        self.look()

    def _check(self) -> bool:
        self.awaited = self._input.awaited if self._input is not None else None
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
        if self.awaited is not None and not self._falls_silent():
            self.reason = "awaiting"
            return True
        return False

    def _falls_silent(self) -> bool:
        """Whether the condition is silence that must last longer: a program that waits for input is silent."""
        return bool(self._quiet) and self.quiet_for() < max(self._quiet)

    def _finished(self) -> bool:
        """Nothing more will come from the awaited command or shell."""
        phase = self.live.state.phase
        return phase == "exited" or (self._ends and phase == "idle" and self._over())

    def _end(self) -> int:
        end = self.cursor if self._limit is None else min(self.cursor, self._limit)
        return end if self._echo is None else self._echo.searchable(end)

    def _read(self, start: int, end: int) -> bytes:
        return self.live.read_spool(start, end) if self._echo is None else self._echo.read(start, end)

    def _search(self) -> None:
        end = self._end()
        for stream in self._searches:
            _scan(stream, self._read, end)
        for stream, across in zip(self._searches, self._across, strict=False):
            _scan(across, self.live.read_spool, end)
            if across.found is not None and self._echo is not None and not self._echo.has(across.found):
                stream.accept(across.found)

    def _rewind(self) -> None:
        for stream in (*self._searches, *self._across):
            if stream.found is None:
                stream.search.rewind()

    def found(self) -> Found | None:
        return self.fired.found if self.fired is not None else None

    # a view of the terminal

    @property
    def cursor(self) -> int:
        return self.live.terminal.cursor

    @property
    def over(self) -> bool:
        return self._over()

    @property
    def at_prompt(self) -> bool:
        return self._idle()

    @property
    def awaiting_secret(self) -> bool:
        return self.live.sampler.sample.awaiting_secret

    @property
    def foreground(self) -> str | None:
        return self.live.sampler.sample.foreground

    @property
    def title(self) -> str:
        screen = self.live.terminal.screen
        return screen.title if screen is not None else ""

    def screen_text(self) -> str:
        screen = self.live.terminal.screen
        if screen is None:
            return ""
        if self._text[0] != self.live.terminal.raw:
            self._text = (self.live.terminal.raw, "\n".join(self._seen_lines(screen)))
        return self._text[1]

    def _seen_lines(self, screen: Screen) -> list[str]:
        """The screen's rows; without those of the command's own line, if that is on it."""
        rows = screen.rows()
        if not self._unseen or screen.alt_screen:
            return [row.text for row in rows]
        seen: list[str] = []
        line: list[str] = []
        for row in rows:
            line.append(row.text)
            if not row.wrapped or row is rows[-1]:
                seen += line if not "".join(line).startswith(self._unseen) else [""] * len(line)
                line = []
        return seen

    def quiet_for(self) -> float:
        return (time.monotonic() - max(self.live.last_output, self._began)) * 1000
