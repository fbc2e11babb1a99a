"""Derives what the PTY host has written, in slices, between which the event loop serves other conversations.

The derivation is ahead of its checkpoint. After an error it is discarded and made again from the last checkpoint,
because nothing may be built on it. An error never leaves this module, because the host's connection serves all
conversations.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from enum import Enum, auto

from vantage.conversation.live.host.read_ahead import ReadAhead
from vantage.conversation.store.derived.block_files import Background
from vantage.conversation.store.derived.derivation import Derivation
from vantage.conversation.store.files.disk_errors import no_room
from vantage.errors import Unavailable
from vantage.terminal.state import Step

RETRY_S = 1.0
MAX_RETRY_S = 60.0
TURN_BYTES = 1024
TURN_S = 0.01
"""Bytes of text, or seconds, after which the event loop runs other tasks."""

_log = logging.getLogger(__name__)


class Phase(Enum):
    CURRENT = auto()
    """Everything that the host has written is derived."""
    DERIVING = auto()
    FAILED = auto()
    """A retry is due. The known state is current, and may be ahead of the files."""
    REDERIVING = auto()
    """Re-deriving from a checkpoint: the known state is of the past."""
    FAILED_AGAIN = auto()
    """A retry is due, and the known state is of the past."""
    CLOSED = auto()


class Happening(Enum):
    BEGAN = auto()
    """There is something to derive."""
    ENDED = auto()
    """There is nothing more to derive."""
    FAILED = auto()
    RESTARTED = auto()
    """A derivation was made from the last checkpoint."""
    CLOSED = auto()


TRANSITIONS: dict[Phase, dict[Happening, Phase]] = {
    Phase.CURRENT: {
        Happening.BEGAN: Phase.DERIVING,
        Happening.ENDED: Phase.CURRENT,
        Happening.FAILED: Phase.FAILED,
        Happening.RESTARTED: Phase.REDERIVING,
        Happening.CLOSED: Phase.CLOSED,
    },
    Phase.DERIVING: {
        Happening.BEGAN: Phase.DERIVING,
        Happening.ENDED: Phase.CURRENT,
        Happening.FAILED: Phase.FAILED,
        Happening.RESTARTED: Phase.REDERIVING,
        Happening.CLOSED: Phase.CLOSED,
    },
    Phase.FAILED: {
        Happening.FAILED: Phase.FAILED,
        Happening.RESTARTED: Phase.REDERIVING,
        Happening.CLOSED: Phase.CLOSED,
    },
    Phase.REDERIVING: {
        Happening.BEGAN: Phase.REDERIVING,
        Happening.ENDED: Phase.CURRENT,
        Happening.FAILED: Phase.FAILED_AGAIN,
        Happening.CLOSED: Phase.CLOSED,
    },
    Phase.FAILED_AGAIN: {
        Happening.FAILED: Phase.FAILED_AGAIN,
        Happening.RESTARTED: Phase.REDERIVING,
        Happening.CLOSED: Phase.CLOSED,
    },
    Phase.CLOSED: {Happening.CLOSED: Phase.CLOSED},
}
"""The diagram in docs/architecture.md is made from this table."""
_RETRY_DUE = (Phase.FAILED, Phase.FAILED_AGAIN)
_STALE = (Phase.REDERIVING, Phase.FAILED_AGAIN)


def after(phase: Phase, happening: Happening) -> Phase:
    row = TRANSITIONS[phase]
    if happening not in row:
        expected = ", ".join(each.name for each in row)
        raise RuntimeError(f"{happening.name} while the pump is {phase.name}: expected {expected}")
    return row[happening]


def retry_delay(failures: int) -> float:
    """Seconds before the next try: none after the first failure, then doubling up to `MAX_RETRY_S`."""
    return min(RETRY_S * 2 ** (failures - 1), MAX_RETRY_S) if failures else 0.0


class Pump:
    def __init__(
        self,
        name: str,
        derive: Callable[[bool, Background], Derivation],
        *,
        handle: Callable[[Step], None],
        wake: Callable[[], None],
        undrawn: Callable[[], None],
        ahead: ReadAhead,
    ) -> None:
        """`derive(draw, background)` makes a derivation from the last checkpoint, with a screen or without one.

        `handle` gets every step, `wake` is called after changes, `undrawn` when output was derived without a screen.
        `ahead` measures how fast deriving is.
        """
        self.phase = Phase.CURRENT
        self.held_up = ""
        """Why nothing can be derived now."""
        self._name = name
        self._derive = derive
        self._handle = handle
        self._wake = wake
        self._undrawn = undrawn
        self._ahead = ahead
        self._loop = asyncio.get_running_loop()
        self._target = self._aim = (0, 0)
        """Lengths of raw output and journal: as the host last said, and up to which `_steps` derives."""
        self._steps: Iterator[Step] | None = None
        self._draws = True
        """Whether the derivation has a screen. It has none after an error that may have been the emulator's."""
        self._failures = 0
        self._retry: asyncio.TimerHandle | None = None
        self._returning: list[asyncio.Future[None]] = []
        """Callers that wait until re-deriving has caught up."""
        self._working: set[asyncio.Future[None]] = set()
        self.derivation = derive(self._draws, self.in_background)

    @property
    def stale(self) -> bool:
        """Whether the known state is of the past."""
        return self.phase in _STALE

    @property
    def behind(self) -> bool:
        """Whether the host has written something that is not derived yet."""
        return self._steps is not None or self.derivation.behind(*self._target)

    @property
    def busy(self) -> bool:
        """Whether a slice is under way."""
        return self._steps is not None

    def aim(self, offset: int, journal: int) -> None:
        """Sets the lengths of the files."""
        self._target = (offset, journal)

    def aim_at_files(self) -> None:
        """Sets the lengths of the files as they are: no host writes them any more."""
        self._target = self.derivation.ends

    async def returned(self) -> None:
        """Waits until the known state is current again, or until it is known that this will take a while."""
        if self.phase is Phase.REDERIVING:
            self._returning.append(self._loop.create_future())
            await self._returning[-1]

    def told(self) -> None:
        """The host has written more."""
        if self._steps is None:
            self.run()

    def run(self) -> None:
        """Derives up to the target; after a slice of a flood the event loop runs other tasks first."""
        began = time.monotonic()
        if self.phase in _RETRY_DUE or self.phase is Phase.CLOSED:
            return
        try:
            while self._steps is not None or self.derivation.behind(*self._target):
                self._ahead.working()
                if self._steps is None:
                    self._aim = self._target
                    self._steps = self.derivation.advance(*self._aim)
                    self.phase = after(self.phase, Happening.BEGAN)
                step = next(self._steps, None)
                if step is None:
                    self._steps = None
                    self._caught_up()
                    if self.derivation.behind(*self._aim):
                        break  # the file is shorter than the host said: it was cut
                    continue
                self._handle(step)
                self._ahead.derived(self.derivation.terminal.raw)
                if len(step.spool) > TURN_BYTES or time.monotonic() - began > TURN_S:
                    self._loop.call_soon(self.run)
                    return
            self._caught_up()
            self._ahead.idle()
        except Exception as error:  # noqa: BLE001 -- it must not reach the host's connection, which all share
            self._fail(error)
        self._wake()

    def _caught_up(self) -> None:
        self.phase = after(self.phase, Happening.ENDED)
        self._answer_returning()
        if not self._draws:
            self._draws = True
            self._undrawn()
        if self.held_up:
            self.held_up = ""
            self._ahead.restore(self.derivation.terminal.raw)
            _log.info("%s goes on", self._name)

    def checkpointed(self) -> None:
        """A checkpoint was written, so earlier failures count no more."""
        self._failures = 0

    # in the background

    def in_background(self, job: Callable[[], None]) -> None:
        """Writes something in a thread; an error there starts the derivation over."""
        working = self._loop.run_in_executor(None, job)
        self._working.add(working)
        working.add_done_callback(self._background_done)

    def _background_done(self, done: "asyncio.Future[None]") -> None:
        self._working.discard(done)
        if done.cancelled():
            return
        try:
            done.result()
            if self.phase not in _RETRY_DUE:
                self.derivation.settle()
        except Exception as error:  # noqa: BLE001
            if self.phase not in _RETRY_DUE:
                self._fail(error)
        self._wake()

    async def written(self) -> None:
        """Waits until everything known is written."""
        while self._working:
            await asyncio.wait(set(self._working))

    # failing and starting over

    def _fail(self, error: Exception) -> None:
        """Schedules the derivation to be made again from the last checkpoint.

        A scarce resource (disk, descriptors) is retried soon. Any other error is ours or the emulator's: it is retried
        without a screen at once, then less and less often.
        """
        self._steps = None
        if self.phase is Phase.CLOSED:
            return
        if isinstance(error, Unavailable | OSError):
            scarce = error if isinstance(error, Unavailable) else no_room(error)
            self._retry_later(RETRY_S, scarce.message, str(scarce))
            return
        place = self.derivation.terminal.raw
        _log.error("%s: its output cannot be derived near byte %d", self._name, place, exc_info=error)
        why = f"its output cannot be derived ({type(error).__name__}, see the server's log)"
        delay = 0.0
        if self._draws:
            self._draws = False
        else:
            self._failures += 1
            delay = retry_delay(self._failures)
        self._retry_later(delay, why, why)

    def _retry_later(self, seconds: float, why: str, words: str) -> None:
        self.phase = after(self.phase, Happening.FAILED)
        if not self.held_up:
            _log.warning("%s is held up: %s", self._name, words)
        self.held_up = why
        self._ahead.lift()
        self._retry = self._loop.call_later(seconds, self.restart)
        self._answer_returning()

    def restart(self) -> None:
        """Makes the derivation again from the last checkpoint."""
        try:
            derivation = self._derive(self._draws, self.in_background)
        except Exception as error:  # noqa: BLE001
            self._fail(error)
        else:
            self.phase = after(self.phase, Happening.RESTARTED)
            self.derivation.close()
            self.derivation = derivation
            self._steps = None
            self.run()

    def _answer_returning(self) -> None:
        returning, self._returning = self._returning, []
        for each in returning:
            if not each.done():
                each.set_result(None)

    def stop(self) -> None:
        """Stops deriving."""
        self.phase = after(self.phase, Happening.CLOSED)
        self._steps = None
        self._answer_returning()
        if self._retry is not None:
            self._retry.cancel()
