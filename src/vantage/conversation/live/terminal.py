"""A conversation's terminal, live: what its host writes is derived at once, and waiters are woken.

The files are the truth: when this process dies, the next one resumes at the last checkpoint. Nothing here decides what
an agent may do; that is `verbs`.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from vantage.conversation.live.host.client import HostClient
from vantage.conversation.live.host.link import HostLink
from vantage.conversation.live.host.read_ahead import ReadAhead
from vantage.conversation.live.input_watch import InputWatch
from vantage.conversation.live.output_stream import OutputStream
from vantage.conversation.live.position import Position
from vantage.conversation.live.pump import Pump
from vantage.conversation.live.replies import Replies
from vantage.conversation.live.retention import Retention
from vantage.conversation.live.sampler import Sampler
from vantage.conversation.live.screen_mender import ScreenMender
from vantage.conversation.live.screen_recorder import ScreenRecorder
from vantage.conversation.live.shell.given import GivenCommands
from vantage.conversation.live.shell.hooks import ShellHooks
from vantage.conversation.live.shell.lock import ShellLock
from vantage.conversation.live.shell.start import ShellStart
from vantage.conversation.live.tasks import Tasks
from vantage.conversation.live.waiters import Waiters
from vantage.conversation.store.conversation_folder import ConversationFolder, Settings
from vantage.conversation.store.derived.block_files import Background
from vantage.conversation.store.derived.derivation import Derivation
from vantage.conversation.store.event_log import EventLog
from vantage.conversation.store.files.open_files import OpenFiles
from vantage.errors import HostSilent, NotFound
from vantage.events import AgentBlockDelta, AgentBlockEnd, Event
from vantage.terminal.core import TerminalCore
from vantage.terminal.output.blocks import Block
from vantage.terminal.screen.frames import ScreenDelta
from vantage.terminal.state import State, Step


class LiveTerminal:
    """Wires the objects of one terminal together. Each of them has its own module.

    Half of its methods answer one question of a verb in one line each, hence their number.
    """

    def __init__(
        self,
        folder: ConversationFolder,
        settings: Settings,
        events: EventLog,
        *,
        run: Path,
        retention: int,
        host: Callable[[], Awaitable[HostClient]],
        files: OpenFiles | None,
        publish: Callable[[list[Event]], None],
        publish_screen: Callable[[ScreenDelta, int], None],
        publish_output: Callable[[AgentBlockDelta], None],
        followed: Callable[[], bool],
    ) -> None:
        self.id = settings.id
        self.folder = folder
        self.settings = settings
        self.last_output = time.monotonic()
        self._events = events
        self._files = files
        self._publish = publish
        self._closed = False
        self._tasks = Tasks()
        self.waiters = Waiters(lambda: self.pump.stale)
        self.link = HostLink(self.id, str(folder.terminal), host, wake=self.waiters.wake)
        self.lock = ShellLock(check_open=self._check_open, wake=self.waiters.wake)
        self.given = GivenCommands()
        self.position = Position(folder.position, files)
        self._mender = ScreenMender(self.id, lambda: self.pump, lambda: self.screens)
        self.screens = ScreenRecorder(folder, self.id, publish_screen, files, failed=self._mender.failed)
        self._outputs = OutputStream(self.read_spool, publish_output, followed)
        self._read_ahead = ReadAhead(self.link.move_window, time.monotonic)
        self.pump = Pump(
            self.id,
            self._derive,
            handle=self._handle,
            wake=self.waiters.wake,
            undrawn=self._mender.redraw_later,
            ahead=self._read_ahead,
        )
        self._replies = Replies(self.id, lambda: self.state, self.link.host)
        self.hooks = ShellHooks(run, self._tasks, pump=lambda: self.pump, ask=self.ask)
        self.sampler = Sampler(
            self.link,
            self._tasks,
            state=lambda: self.state,
            ask=self.ask,
            sampled=self.hooks.sampled,
            wake=self.waiters.wake,
        )
        self.input_watch = InputWatch(
            self._tasks,
            self.waiters,
            self.hooks,
            core=lambda: self.terminal,
            settled=lambda: not self.pump.stale and not self.pump.held_up,
            last_output=lambda: self.last_output,
            read_spool=self.read_spool,
            ask=self.ask,
        )
        self._shell_start = ShellStart(folder, run, self.ask)
        self.retention = Retention(retention, self._tasks, self.ask)

    def _derive(self, draw: bool, background: Background) -> Derivation:
        derivation = Derivation(self.folder, self.id, self._events, background=background, files=self._files, draw=draw)
        self.screens.follow(derivation.terminal)
        return derivation

    # what is known

    @property
    def derivation(self) -> Derivation:
        return self.pump.derivation

    @property
    def terminal(self) -> TerminalCore:
        return self.pump.derivation.terminal

    @property
    def state(self) -> State:
        return self.pump.derivation.terminal.state

    @property
    def alive(self) -> bool:
        return self.state.phase not in ("none", "exited")

    @property
    def title(self) -> str:
        """The terminal's title, empty while there is no screen."""
        try:
            screen = self.terminal.screen
            title = screen.title if screen is not None else ""
        except Exception as error:  # noqa: BLE001 -- an error of one terminal must not hide the others of a list
            self._mender.failed(error)
            return ""
        return title

    @property
    def stalled(self) -> str | None:
        """Why output is not derived now. It waits, and nothing is lost."""
        silent = "the PTY host does not answer" if self.link.silent else None
        return self.link.stalled or self.pump.held_up or silent

    def read_spool(self, start: int, end: int) -> bytes:
        return self.derivation.spool.read(start, end)

    def block(self, block_id: str) -> Block:
        """A block that runs or has ended."""
        active = self.state.block
        return active if active is not None and active.block_id == block_id else self.derivation.blocks.get(block_id)

    def last_blocks(self) -> list[Block]:
        """The block that runs, and the last one that has ended."""
        blocks, active = self.derivation.blocks, self.state.block
        ended = [blocks.get(f"b{blocks.count}")] if blocks.count else []
        return [*ended, active] if active is not None else ended

    def block_of(self, session_id: str) -> str | None:
        """The block of an interactive session that runs or has ended."""
        return self.given.block_of(session_id, self.derivation.blocks, self.state.block)

    def block_for(self, request: str) -> str | None:
        """The block of a command that was given with this request id, among the last ones."""
        return self.given.block_for(request, self.derivation.blocks, self.state.block)

    def is_over(self, seq: int) -> bool:
        """Whether the block with this number has ended."""
        return self.derivation.blocks.count >= seq

    def remember_size(self, cols: int, rows: int) -> None:
        """The size for a fresh shell."""
        self.settings = msgspec.structs.replace(self.settings, cols=cols, rows=rows)
        self.folder.write_settings(self.settings)

    # the host

    async def attach(self) -> None:
        """Attaches to the terminal: what happened meanwhile is derived before this returns."""
        answer = await self.link.attach(self._read_ahead.begin(self.terminal.raw))
        self._replies.answered = answer["answered"]
        self.pump.aim(answer["offset"], answer["journal"])
        await self._caught_up()
        if self.state.asked is not None:
            self._replies.cancel(await self.link.host())

    async def join_host(self) -> None:
        """Waits until everything that happened is known. Only a living shell needs a host: without one the files are
        final.
        """
        if not self.link.attached:
            self.pump.aim_at_files()
            await self._caught_up()
            if self.alive:
                await self.attach()
        await self.pump.returned()

    async def refresh(self) -> None:
        """As `join_host`, for reading: does not wait for a host that does not answer."""
        if self.link.attached and self.link.silent:
            return
        try:
            await self.join_host()
        except HostSilent:
            return

    async def _caught_up(self) -> None:
        self.pump.run()
        await self.waiters.until(lambda: not self.pump.busy)

    async def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        """A request to the host about this terminal."""
        await self._joined()
        return await self.link.ask(op, **fields)

    async def tell(self, op: str, **fields: Any) -> "asyncio.Future[dict[str, Any]]":
        """As `HostLink.tell`, after joining the host."""
        await self._joined()
        return await self.link.tell(op, **fields)

    async def _joined(self) -> None:
        self._check_open()
        if not self.link.attached:
            await self.attach()

    def _check_open(self) -> None:
        if self._closed:
            raise NotFound(f"conversation {self.id!r} was closed meanwhile", hint="list them, or create it")

    async def start(self) -> None:
        """A fresh shell."""
        shell_id = await self._shell_start.start(self.settings, self.state.cwd)
        await self.waiters.until(lambda: self.state.shell_id == shell_id)

    # what the host tells

    def told(self, message: dict[str, Any]) -> None:
        kind = message.get("event")
        if kind in ("output", "exit"):
            self.pump.aim(message["offset"], message["journal"])
            self.pump.told()
        elif kind in ("stalled", "resumed"):
            self.link.stall(message.get("why") or "")

    def _handle(self, step: Step) -> None:
        if step.spool:
            self.last_output = time.monotonic()
            self.sampler.soon()
        self.screens.changed(prompt=step.ready)
        if step.events:
            self._publish_step(step)
        self.given.began(step.begun)
        if self.state.block is not None:
            self._outputs.printed(self.state.block, self.terminal.cursor)
        if step.replies or step.asks_more:
            self._tasks.begin(self._replies.respond(step))
        if step.checkpointed:
            self.pump.checkpointed()
            self._mender.checkpointed()
            self.retention.checkpointed(self.derivation)
        self.waiters.wake()

    def _publish_step(self, step: Step) -> None:
        """Publishes events in order: a command begins, prints, ends. Its last output comes before its end."""
        blocks = {block.block_id: block for block in step.ended}
        published = 0
        for place, event in enumerate(step.events):
            if isinstance(event, AgentBlockEnd):
                self._publish(step.events[published:place])
                published = place
                self._outputs.ended(blocks[event.block_id])
        self._publish(step.events[published:])

    async def written(self) -> None:
        """Until everything that is known is written."""
        await self.pump.written()

    async def close(self) -> None:
        """Leaves the terminal. Its shell lives on in the host."""
        self._closed = True
        self.pump.stop()
        self.waiters.close()
        self.sampler.close()
        self.input_watch.close()
        self._mender.close()
        await self._tasks.cancel()
        await self.pump.written()
        self._outputs.close()
        self.screens.close()
        self.position.close()
        self.derivation.close()
