"""One run of an agent, live: what its files have is read, logged and acted on, until it is over and all is logged.

The files are the truth. What is to be sent is written by the host, one message at a time, and counts as sent when its
record is read from the journal; so a message whose answer was lost is found there, and is not sent again.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import msgspec

from vantage import events as ev
from vantage.agents.drivers.driver import Delivery, Moment, Send
from vantage.conversation.agent.files import AgentFiles
from vantage.conversation.agent.records import Record, read_records
from vantage.conversation.agent.replay import Replay, Step
from vantage.conversation.live.host.agent_link import AgentLink
from vantage.errors import InputFull, TooLarge, Unavailable, VantageError
from vantage.events import Event

_PIECE = 1 << 16
"""Bytes that are read at once."""
_TURN_S = 0.01
"""Seconds after which the event loop gets its turn."""
_RETRY_S = 0.5
_SETTLE_S = 5.0
"""Seconds that the caller of `say` waits for what becomes of a message."""

_log = logging.getLogger(__name__)


class Hooks(NamedTuple):
    """What a run needs of its conversation."""

    log: Callable[[list[Event]], object]
    """Logs events that were derived from the stream."""
    display: Callable[[], str]
    """The display instruction of the people who watch now."""
    turn: Callable[[bool], None]
    """A turn begins, or has ended."""
    over: Callable[[], Awaitable[None]]
    """The run is over, and all of it is logged."""


class Run:
    def __init__(self, replay: Replay, begin: int, files: AgentFiles, link: AgentLink, hooks: Hooks) -> None:
        """`begin` is where the run's first record is in the journal."""
        self.replay = replay
        self._files = files
        self._link = link
        self._hooks = hooks
        self._journal = begin
        """Up to where the journal was read."""
        self._target = (0, 0)
        """How long stream and journal are, as far as it is known."""
        self._news = asyncio.Event()
        self._idle = asyncio.Event()
        """Everything was read, and nothing more can be sent now."""
        self._finished = asyncio.Event()
        self._records: deque[Record] = deque()
        """What was read of the journal and is not yet applied."""
        self._unlogged: list[Event] = []
        self._in_turn = False
        self._turn_n = 0
        """The message that began the turn: until its record is read, the turn has not ended."""
        self._detached = False
        self._task: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        return self.replay.run

    @property
    def finished(self) -> bool:
        """It is over, and all of it is logged."""
        return self._finished.is_set()

    def begin(self) -> None:
        """Starts to read and to send. The log's events of this run were given to the replay."""
        self._task = asyncio.get_running_loop().create_task(self._work())

    def told(self, offset: int, journal: int) -> None:
        """The files are so long now."""
        self._target = (max(self._target[0], offset), max(self._target[1], journal))
        self._news.set()

    def wake(self) -> None:
        """Something may be due."""
        self._idle.clear()
        self._news.set()

    def lost(self) -> None:
        """The connection to the host is lost."""
        self._detached = True
        self.wake()

    async def settled(self) -> None:
        """Until everything is read and sent that can be, or that takes long."""
        waits = [asyncio.ensure_future(event.wait()) for event in (self._idle, self._finished)]
        try:
            await asyncio.wait(waits, timeout=_SETTLE_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()

    async def end(self) -> None:
        """Until it is over, and all of it is logged."""
        await self._finished.wait()

    def fate(self, seq: int) -> Delivery:
        """What became of a message by now."""
        return "queued" if seq in self.replay.undelivered else self.replay.fates.get(seq, "queued")

    async def stop(self) -> None:
        """Reads and sends nothing more; the agent works on."""
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    # the work, one thing after another

    async def _work(self) -> None:
        while not self.finished:
            try:
                await self._turn()
            except asyncio.CancelledError:
                raise
            except (OSError, VantageError) as error:
                _log.warning("the agent's run %s is held up: %s", self.name, error)
                await self._pause()
            except Exception:  # noqa: BLE001 -- it must go on when what failed is mended
                _log.exception("the agent's run %s is held up", self.name)
                await self._pause()

    async def _turn(self) -> None:
        if self._detached:
            await self._rejoin()
        await self._read()
        if self.replay.over:
            await self._hooks.over()
            self._finished.set()
            return
        send = self.replay.due()
        if send is not None:
            await self._send(send)
            return
        self._idle.set()
        await self._news.wait()
        self._idle.clear()

    async def _pause(self) -> None:
        """Waits a moment and looks at the files anew: they say what was done and what was not."""
        await asyncio.sleep(_RETRY_S)
        self.told(*self._files.lengths)

    async def _read(self) -> None:
        """Reads the files up to the target, and logs what follows. Other tasks get their turn meanwhile."""
        self._news.clear()
        self._log_rest()
        began = time.monotonic()
        while (steps := self._advance()) is not None:
            for step in steps:
                if step.last > self.replay.logged_up_to:
                    self._unlogged += step.events
            if time.monotonic() - began > _TURN_S:
                self._log_rest()
                await asyncio.sleep(0)
                began = time.monotonic()
        self._log_rest()

    def _log_rest(self) -> None:
        """Logs what was derived; what cannot be logged now (full disk) stays for the next time."""
        if self._unlogged:
            self._hooks.log(self._unlogged)
            self._unlogged = []
        if self.replay.in_turn:
            self._in_turn = True
        elif self._in_turn and (self.replay.n >= self._turn_n or self.replay.over):
            self._in_turn = False
            self._hooks.turn(False)

    def _advance(self) -> list[Step] | None:
        """Takes a piece of the stream, or a record whose bytes were taken; None when there is nothing more."""
        offset, journal = self._target
        if self.replay.over:
            return None
        if self._records:
            if self.replay.at < self._records[0].at:
                return self._receive_to(self._records[0].at)
            return list(self.replay.apply(self._records.popleft()))
        if self._journal < journal and self._read_records(journal):
            return []
        return self._receive_to(offset) if self.replay.at < offset else None

    def _read_records(self, upto: int) -> bool:
        """Reads a piece of the journal, at least one line of it; false when there is no whole line."""
        size = _PIECE
        while True:
            data = self._files.journal.read(self._journal, min(self._journal + size, upto))
            records, end = read_records(data, self._journal)
            if end > self._journal:
                self._records.extend(placed.record for placed in records)
                self._journal = end
                return True
            if self._journal + size >= upto:
                return False
            size *= 2

    def _receive_to(self, offset: int) -> list[Step]:
        data = self._files.stream.read(self.replay.at, min(self.replay.at + _PIECE, offset))
        if not data:
            raise Unavailable(f"the agent's stream is shorter than {offset:,} bytes", hint="it was cut")
        return list(self.replay.receive(data))

    async def _send(self, send: Send) -> None:
        n = self.replay.n + 1
        begins = send.key.startswith("say ") and not self.replay.in_turn
        if begins:
            self._hooks.turn(True)
            self._in_turn, self._turn_n = True, n
        display = self.replay.display if self.replay.in_turn else self._hooks.display()
        shown = "" if send.key.startswith("say ") and not begins else display
        try:
            data = msgspec.json.encode(send.make(Moment(n, shown))) + b"\n"
            journal = await self._link.write(n, data, {"key": send.key, "display": display})
        except InputFull:  # it does not read now
            self._idle.set()
            await self._pause()
        except TooLarge as error:
            self._drop(send.key, error.message)
        except VantageError as error:  # whether it was taken is in the journal
            _log.info("run %s: message %d was not confirmed: %s", self.name, n, error)
            self._detached = True
            await self._pause()
        except Exception as error:  # noqa: BLE001 -- the messages behind it are still to be sent
            _log.exception("run %s: the message %r to the agent could not be made", self.name, send.key)
            self._drop(send.key, type(error).__name__)
        else:
            self.told(0, journal)

    def _drop(self, key: str, why: str) -> None:
        self.replay.drop(key)
        self._hooks.log([ev.Warning(message=f"a message to the agent ({key}) was not sent: {why}")])

    async def _rejoin(self) -> None:
        attached = await self._link.attach()
        self._detached = False
        self.told(attached.lengths.offset, attached.lengths.journal)
