"""A conversation as rows, followed while it happens: one fold for all who watch it here.

Nothing is queued for anybody. Every change has a version, and whoever watches remembers the last one it was shown:
what it gets next is the rows and the part of the screen that are newer, as they are by then. So a slow reader costs
nothing but skips what was in between.
"""

import asyncio
import logging
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from vantage.conversation.block_events import BlockEvents
from vantage.conversation.bus import Bus, Deleted, Drawn, Message, SpecSet, Subscription
from vantage.conversation.drawings import Drawings, Key, Look, draw_row
from vantage.conversation.screen_view import ScreenView
from vantage.conversation.telling import SNAPSHOT_ROWS, Position, Telling, Watcher
from vantage.errors import NotFound, VantageError
from vantage.events import (
    AgentBlockBegin,
    AgentBlockDelta,
    AgentBlockEnd,
    Canceled,
    ClientConfig,
    Event,
    PtyGap,
    PtyState,
    TurnComplete,
    event_to_dict,
)
from vantage.timeline.fold import Timeline
from vantage.timeline.row import Block, Row, TerminalBlock, TextBlock
from vantage.timeline.specs.check import SpecError

__all__ = ["Feed", "Look"]

_log = logging.getLogger(__name__)

OUTPUT_SHOWN = 20_000
"""Characters of a command's output in its row; the whole is in its block."""
INTERVAL_S = 0.05
"""Those who watch are told of changes at most so often: of the first at once, and always of the last."""
RETRY_S = 1.0


class Feed:
    def __init__(
        self,
        bus: Bus,
        conversation_id: str,
        *,
        drawings: Drawings | None = None,
        interval_s: float = INTERVAL_S,
        on_deleted: Callable[[], None] = lambda: None,
    ) -> None:
        self.id = conversation_id
        self.epoch = ""
        self.seq = 0
        """Of the last event that was folded."""
        self.version = 0
        self.state: dict[str, Any] = {}
        """The last `pty_state`."""
        self._turn = "done"
        """Or `working`: whether the agent is at what it was asked for."""
        self.screen = ScreenView(conversation_id)
        self._bus = bus
        self._loop = asyncio.get_running_loop()
        self._drawings = drawings or Drawings()
        self._on_deleted = on_deleted
        self._timeline = Timeline()
        self._specs: deque[SpecSet] = deque()
        """Render specs whose turn in the log is still to come."""
        self._order: list[str] = []
        self._begins: list[int] = []
        """The rows in their order, and the events that they began with."""
        self._changed: dict[str, int] = {}
        self._seqs: dict[str, int] = {}
        """row → the version, and the event, with which it last changed; both in the order of these."""
        self._commands: dict[str, str] = {}
        self._begun: dict[str, Event] = {}
        """Commands that run: their rows, and what was said when they began."""
        self.block_events = BlockEvents(conversation_id)
        self._drawing: dict[Key, tuple[int, asyncio.Task[str]]] = {}
        self._telling: dict[Look | None, Telling] = {}
        """Those who watch, by how they look at rows; None for those who are shown none."""
        self._preparing: dict[Look, asyncio.Task[None]] = {}
        self.stopped = False
        self._subscription: Subscription | None = None
        self._interval_s = interval_s
        self._next_ring = 0.0
        self._rung = 0
        """The version of which those who watch were told."""
        self._ringing: asyncio.TimerHandle | None = None
        self._loading: asyncio.Task[None] | None = None
        """The screen, once somebody wants it."""

    async def start(self) -> None:
        """Reads the log, and follows from there."""
        specs = (await self._bus.request(self.id, "specs"))["tools"]
        self._specs.extend(msgspec.convert(each, SpecSet) for each in specs)
        subscription = await self._bus.subscribe(self.id, self.seq, self.told)
        if self.stopped:
            subscription.end()
            raise NotFound(f"conversation {self.id!r} was deleted meanwhile", hint="list them, or create it")
        self._subscription = subscription
        about = await self._bus.request(self.id, "describe")
        self.epoch = about["epoch"]
        with suppress(VantageError):  # rows can be watched without the terminal
            about = await self._bus.request(self.id, "status")
        self.state = {name: about.get(name) for name in _STATE}
        self.state["awaiting_secret"] = bool(self.state["awaiting_secret"])
        self.state["turn"] = self._turn
        self._rung = self.version

    def stop(self) -> None:
        self.stopped = True
        if self._subscription is not None:
            self._subscription.end()
            self._subscription = None
        for running in (self._ringing, self._loading, *self._preparing.values()):
            if running is not None:
                running.cancel()
        self._drawings.forget(self)

    def join(self, watcher: Watcher, look: Look | None) -> Telling:
        telling = self._telling.get(look)
        if telling is None:
            telling = self._telling[look] = Telling(self, look or Look.of("plain"))
        telling.watchers.add(watcher)
        return telling

    def leave(self, watcher: Watcher, look: Look | None) -> None:
        telling = self._telling.get(look)
        if telling is not None:
            telling.watchers.discard(watcher)
            if not telling.watchers:
                del self._telling[look]

    @property
    def watched(self) -> bool:
        return bool(self._telling)

    @property
    def now(self) -> Position:
        return Position(self.version, self.seq)

    # the screen

    async def want_screen(self) -> None:
        """From now on the screen is followed too. Where it cannot be read yet, it comes when it can."""
        if self._loading is None:
            self._loading = self._loop.create_task(self._load_screen())
        await asyncio.shield(self._loading)

    async def _load_screen(self) -> None:
        try:
            self.screen.load(await self._bus.request(self.id, "read_screen", style=True))
        except VantageError:
            self._loop.call_later(RETRY_S, self._load_again)
        else:
            self._news()

    def _load_again(self) -> None:
        if self._subscription is not None:
            self._loading = self._loop.create_task(self._load_screen())

    def _drawn(self, change: Drawn) -> None:
        if 0 <= self.screen.number < change.number - 1 and self._loading is not None and self._loading.done():
            self._load_again()  # one is missing in between
        elif self.screen.apply(change):
            self.version += 1
        if change.delta.title != self.state.get("title"):
            self.state = {**self.state, "title": change.delta.title}
            self.version += 1

    # what happens

    def told(self, messages: Sequence[Message]) -> None:
        before = self.version
        for message in messages:
            if isinstance(message, Drawn):
                self._drawn(message)
            elif isinstance(message, SpecSet):
                self._specs.append(message)
                self._know_specs(self.seq + 1)
            elif isinstance(message, Deleted):
                self._on_deleted()
                for watcher in [each for telling in self._telling.values() for each in telling.watchers]:
                    watcher.deleted()
            elif isinstance(message, AgentBlockDelta):
                self._output(message)
            else:
                self._fold(message)
        if self.version != before:
            self._news()

    def _news(self) -> None:
        """Tells those who watch, unless they were told just now: then a little later."""
        for telling in self._telling.values():
            telling.outdated()
        if self._ringing is None and self._telling:
            now = self._loop.time()
            if now >= self._next_ring:
                self._ring()
            else:
                self._ringing = self._loop.call_at(self._next_ring, self._ring)

    def _ring(self) -> None:
        self._ringing = None
        self._next_ring = self._loop.time() + self._interval_s
        rows, self._rung = self.newer(self._rung, SNAPSHOT_ROWS), self.version
        for look in tuple(self._telling):
            if look is None or all(self.known_drawing(row_id, look) is not None for row_id in rows):
                self._wake(look)
            elif look not in self._preparing:
                self._preparing[look] = self._loop.create_task(self._prepare(look, rows))

    async def _prepare(self, look: Look, rows: list[str]) -> None:
        """Has rows drawn before many come for them at once."""
        try:
            with suppress(VantageError):  # whoever comes for them is told
                for row_id in rows:
                    await self.drawing(row_id, look)
        finally:
            del self._preparing[look]
            self._wake(look)

    def _wake(self, look: Look | None) -> None:
        if look in self._telling:
            for watcher in tuple(self._telling[look].watchers):
                watcher.wake()

    def _know_specs(self, seq: int) -> None:
        """Registers what was registered before an event: a spec draws no call that came before it."""
        while self._specs and self._specs[0].after < seq:
            known = self._specs.popleft()
            with suppress(SpecError):  # it was refused when it came
                self._timeline.specs.register(known.tool, known.spec)

    def _output(self, event: AgentBlockDelta) -> None:
        row_id = self._commands.get(event.block_id)
        if row_id is not None:
            self._touch(row_id)
        self._keep_block_event(event)

    def _fold(self, event: Event) -> None:
        self.seq = event.seq or self.seq
        if self._specs:
            self._know_specs(self.seq)
        if isinstance(event, PtyState):
            self._say({name: value for name, value in event_to_dict(event).items() if name in _STATE})
            return
        self._follow_turn(event)
        row_id = self._timeline.add(event)
        for closed in self._timeline.closed:
            self._touch(closed, self.seq)
        if row_id is None:
            return
        if row_id not in self._seqs:
            self._order.append(row_id)
            self._begins.append(self.seq)
        self._touch(row_id, self.seq)
        if isinstance(event, AgentBlockBegin):
            self._commands[event.block_id], self._begun[event.block_id] = row_id, event
            self._keep_block_event(event)
            self._say({"mode": "interactive" if event.origin == "interactive" else "block_running"})
        elif isinstance(event, AgentBlockEnd):
            self._commands.pop(event.block_id, None)
            self._begun.pop(event.block_id, None)
            self._keep_block_event(event)
            self._say({"mode": "exited" if event.done_because in _SHELL_GONE else "idle"})

    def _follow_turn(self, event: Event) -> None:
        """A turn lasts from the first thing the root agent is told, or says, to the end that it announces."""
        if isinstance(event, _BESIDE_TURNS) or (event.agent is not None and event.agent.depth):
            return
        turn = "done" if isinstance(event, TurnComplete | Canceled) else "working"
        if turn != self._turn:
            self._turn = turn
            self.state = {**self.state, "turn": turn}
            self.version += 1

    def _say(self, said: dict[str, Any]) -> None:
        """The terminal does something else now."""
        self.state = {**self.state, "foreground": None, "awaiting_secret": False, **said}
        self.version += 1

    def _touch(self, row_id: str, seq: int | None = None) -> None:
        self.version += 1
        self._changed.pop(row_id, None)
        self._changed[row_id] = self.version
        if seq is not None:
            self._seqs.pop(row_id, None)
            self._seqs[row_id] = seq

    def _keep_block_event(self, event: Event) -> None:
        self.version += 1
        self.block_events.keep(self.version, event)

    # which rows

    def last(self, limit: int) -> list[str]:
        return self._order[-limit:]

    def before(self, seq: int, limit: int) -> list[str]:
        """Rows that began before an event, the last ones of them."""
        end = bisect_left(self._begins, seq)
        return self._order[max(end - limit, 0) : end]

    def after(self, seq: int, limit: int | None = None) -> list[str]:
        """Rows that changed after an event, in the order in which they began; with a limit those that changed first.

        Rows that one event changed are never parted: whoever goes on behind the last of them misses nothing.
        """
        changed = _newer(self._seqs, seq)
        if limit is not None and len(changed) > limit:
            end = self._seqs[changed[limit - 1]]
            changed = [row_id for row_id in changed if self._seqs[row_id] <= end]
        return self.in_order(changed)

    def newer(self, version: int, limit: int | None = None) -> list[str]:
        """Rows that changed behind a version, in the order in which they began; or the last to change."""
        return self.in_order(_newer(self._changed, version, limit))

    @staticmethod
    def in_order(rows: Iterable[str]) -> list[str]:
        return sorted(rows, key=_place)

    @property
    def running(self) -> Collection[str]:
        """The rows of commands that run."""
        return self._commands.values()

    @property
    def begun(self) -> Collection[Event]:
        """What was said when they began."""
        return self._begun.values()

    def begin(self, row_id: str) -> int:
        """The number of the event that a row began with."""
        return self._begins[_place(row_id) - 1]

    def seq_of(self, row_id: str) -> int:
        return self._seqs[row_id]

    # how they look

    async def row(self, row_id: str) -> Row:
        """A row with what its commands printed."""
        if row_id not in self._seqs:
            raise NotFound(f"there is no row {row_id!r}", hint=f"the last one is {(self._order or ['none'])[-1]}")
        row = self._timeline.row(row_id)
        if any(isinstance(block, TerminalBlock) for block in row.blocks):
            blocks: list[Block] = []
            for block in row.blocks:
                blocks += await self._with_output(block) if isinstance(block, TerminalBlock) else [block]
            row = msgspec.structs.replace(row, blocks=blocks)
        return row

    async def _with_output(self, block: TerminalBlock) -> list[Block]:
        try:
            read = await self._bus.request(self.id, "read_block", block_id=block.block_id, max_output=OUTPUT_SHOWN)
        except VantageError as error:
            return [msgspec.structs.replace(block, content=str(error))]
        output = read.get("screen") or read["output"]
        return [msgspec.structs.replace(block, content=output)] if output.strip() else []

    def outline(self, row: Row) -> dict[str, Any]:
        """What is known of a row without drawing it."""
        about = {name: value for name in _OUTLINE if (value := getattr(row, name)) not in (None, "", [])}
        begin = self.begin(row.id)
        return {**about, "title": row.text, "depth": row.depth, "seq": self.seq_of(row.id), "begin": begin}

    async def drawn(self, row_id: str, look: Look) -> bytes:
        """A row as it travels: `{"seq", "row", "html"}`."""
        return f'{{"seq":{self._seqs.get(row_id)},{await self.drawing(row_id, look)}'.encode()

    def known_drawing(self, row_id: str, look: Look) -> str | None:
        """The part of a row's message that says nothing of when, if the row was drawn as it is now."""
        return self._drawings.find(Key(self, row_id, look), self._changed.get(row_id, 0))

    async def drawing(self, row_id: str, look: Look) -> str:
        """The same, drawn if need be."""
        version = self._changed.get(row_id, 0)
        key = Key(self, row_id, look)
        found = self._drawings.find(key, version)
        if found is not None:
            return found
        running = self._drawing.get(key)
        if running is None or running[0] != version:
            task = self._loop.create_task(self._draw(key, version))
            running = self._drawing[key] = (version, task)
        return await asyncio.shield(running[1])

    async def _draw(self, key: Key, version: int) -> str:
        """By itself, in a turn of its own: whoever asked for it may leave, and many drawings hold nobody up."""
        try:
            row = await self.row(key.row_id)
            try:
                made = await draw_row(row, key.look, self.outline(row))
            except Exception as error:  # noqa: BLE001 -- one row must not take the others down
                _log.exception("row %s of %s", key.row_id, self.id)
                plain = TextBlock(content=f"this row cannot be drawn: {error!r}", style="error")
                made = await draw_row(msgspec.structs.replace(row, blocks=[plain]), key.look, self.outline(row))
            self._drawings.keep(key, version, made)
            return made
        finally:
            if self._drawing.get(key, (None,))[0] == version:
                del self._drawing[key]


_SHELL_GONE = ("exit", "reset", "lost")
_BESIDE_TURNS = (AgentBlockBegin, AgentBlockDelta, AgentBlockEnd, ClientConfig, PtyGap)
"""What happens whether or not the agent is at work."""
_STATE = ("mode", "foreground", "awaiting_secret", "title", "keyboard")
_OUTLINE = (
    "id",
    "kind",
    "status",
    "agent",
    "icon",
    "icon_color",
    "trailing",
    "ts",
    "duration_ms",
    "tool",
    "diagnostics",
)


def _place(row_id: str) -> int:
    """Rows are called r1, r2, … in the order in which they begin."""
    return int(row_id[1:])


def _newer(changes: dict[str, int], than: int, limit: int | None = None) -> list[str]:
    """Rows that changed later than that, in the order of their changes."""
    found: list[str] = []
    for row_id in reversed(changes):
        if changes[row_id] <= than or len(found) == limit:
            break
        found.append(row_id)
    return found[::-1]
