"""Whether the program that runs waits for input, for callers that wait on it.

The host is asked only while a caller waits, a command runs and its output has been quiet for `QUIET_S`, so a flood
costs nothing. While the answer is not `yes`, the pause between two questions grows to `MAX_PAUSE_S`; output makes it
short again. An answer holds until something is printed, and counts only for callers that waited before the question:
input that was typed in between may have changed it.

A shell at its prompt is not a program that waits. A shell that is in its line editor while a command runs may have lost
its hooks (`ShellHooks` finds out); it waits for input only if it has not: in `read -e`.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from vantage.conversation.live.host.awaits import Awaiting, Because, HostAnswer, ask_awaits
from vantage.conversation.live.shell.hooks import ShellHooks
from vantage.conversation.live.tasks import Tasks
from vantage.conversation.live.waiters import Waiters
from vantage.terminal.core import TerminalCore
from vantage.terminal.modes import Phase
from vantage.text.width import take

QUIET_S = 0.1
MAX_PAUSE_S = 1.0
GLANCE = {"samples": 2, "every_ms": 50}
"""How the host samples for a caller that does not wait."""
MAX_ASKED = 1 << 14
"""Bytes of the output in which the line that asks is looked for."""
_BOX = re.compile("[\u2500-\u257f]+")


class Awaited(msgspec.Struct, frozen=True):
    """A program waits for input."""

    what: Awaiting
    because: Because
    prompt: str
    """The line that asks: the last one at the cursor or above it; empty in a full-screen program, and while the command
    has printed nothing."""


class InputWatch:
    def __init__(
        self,
        tasks: Tasks,
        waiters: Waiters,
        hooks: ShellHooks,
        *,
        core: Callable[[], TerminalCore],
        settled: Callable[[], bool],
        last_output: Callable[[], float],
        read_spool: Callable[[int, int], bytes],
        ask: Callable[..., Awaitable[dict[str, Any]]],
    ) -> None:
        """`settled` says that the files have everything that `core` knows: only then has every wait seen it."""
        self._tasks = tasks
        self._waiters = waiters
        self._hooks = hooks
        self._core = core
        self._settled = settled
        self._last_output = last_output
        self._read_spool = read_spool
        self._ask = ask
        self._callers = 0
        self._pause = QUIET_S
        self._asked_at = -1
        """How long the raw output was at the last question."""
        self._timer: asyncio.TimerHandle | None = None
        self._asking = False
        self._answer: HostAnswer | None = None
        self._began = 0.0
        """When the question of `_answer` was asked."""
        self._closed = False

    def begin(self) -> "Caller":
        """Begins a caller's wait, until its `end`."""
        self._callers += 1
        if self._callers == 1:
            self._waiters.join(self)
        self._sooner()
        return Caller(self)

    def end(self) -> None:
        self._callers -= 1
        if not self._callers:
            self._waiters.leave(self)
            self._cancel()

    async def until(self, holds: Callable[[], bool], timeout: float) -> Awaited | None:
        """Waits until `holds()`, the timeout, or until the program waits for input, which is returned unless
        `holds()`.
        """
        caller = self.begin()
        try:
            await self._waiters.until(lambda: holds() or caller.awaited is not None, timeout)
            return None if holds() else caller.awaited
        finally:
            caller.end()

    def answered_since(self, began: float) -> Awaited | None:
        """What the program waits for now, if the host was asked after this moment."""
        return self._current(self._answer) if self._began >= began else None

    async def glance(self) -> Awaited | None:
        """What the program waits for now, by a short question: for callers that do not wait."""
        if self._core().state.phase != Phase.RUNNING:
            return None
        return self._current(await ask_awaits(self._ask, **GLANCE))

    def prompt(self) -> str:
        """The line that asks, if a program does: the last one at the cursor or above it; else empty."""
        return _prompt(self._core(), self._rows())

    def close(self) -> None:
        self._closed = True
        self._cancel()

    # a waiter: called after every change of the terminal

    def look(self) -> bool:
        if self._pause > QUIET_S and self._core().raw != self._asked_at:
            self._sooner()
        elif self._timer is None and not self._asking:
            self._schedule(QUIET_S)
        return False

    def give_up(self) -> None:
        self._cancel()

    def _sooner(self) -> None:
        self._cancel()
        self._pause = QUIET_S
        self._schedule(QUIET_S)

    def _schedule(self, seconds: float) -> None:
        """Schedules a question. While no command runs there is none: the next command begins with output."""
        if self._callers and not self._asking and not self._closed and self._core().state.phase == Phase.RUNNING:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._due)

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _due(self) -> None:
        self._timer = None
        quiet = time.monotonic() - self._last_output()
        if quiet < QUIET_S:
            self._schedule(QUIET_S - quiet)
        else:
            self._asking = True
            self._tasks.begin(self._question())

    async def _question(self) -> None:
        began, raw = time.monotonic(), self._core().raw
        try:
            answer = await ask_awaits(self._ask)
        finally:
            self._asking = False
        self._answer, self._began = answer, began
        self._pause = QUIET_S if raw != self._asked_at else min(self._pause * 2, MAX_PAUSE_S)
        self._asked_at = raw
        self._schedule(self._pause)
        if answer.waits == "yes":
            self._waiters.wake()

    def _current(self, answer: HostAnswer | None) -> Awaited | None:
        core = self._core()
        if answer is None or answer.waits != "yes" or answer.what is None or not self._settled():
            return None
        if core.state.phase != Phase.RUNNING or core.raw != answer.offset or self._may_be_at_prompt(answer.because):
            return None
        return Awaited(_kind(answer.what, answer.because, core), answer.because, self.prompt())

    def _rows(self) -> int:
        """How many rows at the cursor are certainly not of the command itself, but of its output."""
        core = self._core()
        block, end = core.state.block, core.cursor
        start = max(block.spool.start if block is not None else 0, end - MAX_ASKED)
        output = self._read_spool(start, end)
        return output.count(b"\n") + 1 if output.strip() else 0

    def _may_be_at_prompt(self, because: Because) -> bool:
        """Whether the shell itself is in its line editor, and not known to be in `read -e`."""
        shell = because.pid is not None and because.pid == self._core().state.pid
        return shell and not because.canonical and self._hooks.in_editor() and not self._hooks.reads_in_editor


class Caller:
    """One caller that waits."""

    def __init__(self, watch: InputWatch) -> None:
        self._watch = watch
        self._began = time.monotonic()

    @property
    def awaited(self) -> Awaited | None:
        """What the program waits for, if that was found out since this caller began to wait."""
        return self._watch.answered_since(self._began)

    def end(self) -> None:
        self._watch.end()


def _kind(what: Awaiting, because: Because, core: TerminalCore) -> Awaiting:
    """Whether a line editor reads the keys. It asks for bracketed pastes, or is a known library."""
    screen = core.screen
    if what != "key" or screen is None or screen.alt_screen:
        return what
    return "line" if screen.modes.bracketed_paste or because.line_editor else what


def _prompt(core: TerminalCore, rows: int) -> str:
    """The line that asks, among so many rows up to the cursor; in a box of lines, what stands between them."""
    screen = core.screen
    if screen is None or screen.alt_screen or not rows:
        return ""
    caret = screen.cursor
    lines = screen.lines()[max(caret.row + 1 - rows, 0) : caret.row + 1]
    if _BOX.search(lines[-1]):
        lines = [_BOX.sub("", line) for line in lines]
    else:
        lines[-1] = take(lines[-1], caret.col)  # what stands behind it is older
    return next((line for line in reversed(lines) if line.strip()), "").strip()
