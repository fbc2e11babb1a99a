"""A conversation's terminal, live: what its host tells is derived at once, and whoever waits is woken.

The files are the truth: a session that dies (with this process) is picked up by the next one where the checkpoint says.
Nothing here decides what an agent may do; that is `verbs`.
"""

import asyncio
import logging
import os
import secrets
import shutil
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, Protocol

import msgspec

from vantage.conversation.checks import installed_shell
from vantage.conversation.derive import Derivation
from vantage.conversation.event_log import EventLog
from vantage.conversation.files import ConversationFolder, Settings, make_directory, no_room
from vantage.conversation.host import Host
from vantage.conversation.outputs import OutputTeller
from vantage.conversation.screens import ScreenKeeper
from vantage.errors import InputError, Unavailable, VantageError
from vantage.events import AgentBlockDelta, AgentBlockEnd, Event
from vantage.ptyhost import protocol, shells
from vantage.terminal.blocks import Block
from vantage.terminal.core import Terminal
from vantage.terminal.frames import ScreenDelta
from vantage.terminal.state import State, Step

REPLY_WITHIN_MS = 5000
"""A question older than this is not answered any more: nobody waits for it, and the answer would be typed somewhere."""
SAMPLE_S = 0.1
"""Terminal settings and the foreground process cannot announce themselves: how often one looks."""
LOST_HOOKS_S = 0.25
"""A shell at its line editor for so long, without a prompt of ours, has lost its hooks."""
MOST_POKES = 3
"""For one command: what does not help (`read -e` waits in the same line editor) is not done for ever."""
RETRY_S = 1.0
TURN = 1024
TURN_S = 0.01
"""Bytes of text, or seconds, after which others get their turn."""

_log = logging.getLogger(__name__)


class Waiter(Protocol):
    """Somebody who waits for something to become true."""

    def look(self) -> bool:
        """Whether the wait is over."""


class _Until:
    def __init__(self, holds: Callable[[], bool]) -> None:
        self._holds = holds
        self.future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def look(self) -> bool:
        if not self.future.done() and self._holds():
            self.future.set_result(True)
        return self.future.done()

    def give_up(self) -> None:
        if not self.future.done():
            self.future.set_result(False)


class Sample:
    """What was last seen of the terminal's settings and its foreground process."""

    def __init__(self, answer: dict[str, Any] | None = None) -> None:
        answer = answer or {}
        self.awaiting_secret: bool = bool(answer.get("canonical")) and not answer.get("echo", True)
        self.canonical: bool = bool(answer.get("canonical", True))
        self.foreground: str | None = answer.get("foreground")
        self.foreground_pid: int | None = answer.get("foreground_pid")


class Session:
    def __init__(
        self,
        folder: ConversationFolder,
        settings: Settings,
        events: EventLog,
        *,
        run: Path,
        retention: int,
        host: Callable[[], Awaitable[Host]],
        publish: Callable[[list[Event]], None],
        publish_screen: Callable[[ScreenDelta, int], None],
        publish_output: Callable[[AgentBlockDelta], None],
        followed: Callable[[], bool],
    ) -> None:
        self.folder = folder
        self.settings = settings
        self.events = events
        self.last_output = time.monotonic()
        self.sample = Sample()
        self._run = run
        self._retention = retention
        self._dropping = False
        self._host = host
        self._publish = publish
        self._loop = asyncio.get_running_loop()
        self._waiters: list[Waiter] = []
        self._samplers = 0
        self._sampling: asyncio.TimerHandle | None = None
        self._target = self._aim = (0, 0)
        """How long the files are, and how far we are on the way to."""
        self._steps: Iterator[Step] | None = None
        self._reloading: asyncio.TimerHandle | None = None
        """Something could not be written: nothing is derived until it starts over."""
        self._again = False
        """It starts over, and what is known is of the past: nobody is woken to look at that."""
        self._returning: list[asyncio.Future[None]] = []
        """Those who ask meanwhile."""
        self._answered = -1
        self._poked = (0, 0)
        """How often the last block's shell was asked for its hooks: block, times."""
        self._begun: dict[str | None, str | None] = {}
        """Commands that were given, and their blocks once the shell has begun them."""
        self._sessions: dict[str, str] = {}
        """Interactive sessions and their blocks."""
        self._attached = False
        self._closed = False
        self._held_up = ""
        self.host_stalled = ""
        """Why nothing can be written: here, and in the host."""
        self._working: set[asyncio.Future[None]] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self.screens = ScreenKeeper(folder, settings.id, publish_screen)
        self._outputs = OutputTeller(self.read_spool, publish_output, followed)
        self.derivation = self._derive()

    # what it knows

    @property
    def id(self) -> str:
        return self.settings.id

    @property
    def terminal(self) -> Terminal:
        return self.derivation.terminal

    @property
    def state(self) -> State:
        return self.derivation.terminal.state

    def read_spool(self, start: int, end: int) -> bytes:
        return self.derivation.spool.read(start, end)

    def block(self, block_id: str) -> Block:
        """A block that runs or has ended."""
        active = self.state.block
        return active if active is not None and active.block_id == block_id else self.derivation.blocks.get(block_id)

    def block_of(self, session_id: str) -> str | None:
        """The block of an interactive session, now or before."""
        known = self._sessions.get(session_id)
        if known is None:
            for block in self.derivation.blocks.after(0, self.derivation.blocks.count):
                if block.session_id is not None:
                    self._sessions[block.session_id] = block.block_id
            active = self.state.block
            if active is not None and active.session_id is not None:
                self._sessions[active.session_id] = active.block_id
        return self._sessions.get(session_id)

    def remember(self, *, cols: int, rows: int) -> None:
        """The size a fresh shell gets."""
        self.settings = msgspec.structs.replace(self.settings, cols=cols, rows=rows)
        self.folder.write_settings(self.settings)

    def expect(self, request: str) -> None:
        """A command is about to be given."""
        self._begun[request] = None

    def begun(self, request: str) -> str | None:
        """The block of a command that was given, once the shell has begun it."""
        return self._begun.get(request)

    def expect_no_more(self, request: str) -> str | None:
        """The same, for the last time."""
        return self._begun.pop(request, None)

    def is_over(self, seq: int) -> bool:
        return self.derivation.blocks.count >= seq

    # the host

    async def attach(self) -> None:
        """Joins the terminal where it is: what happened meanwhile is derived before this returns."""
        host = await self._host()
        answer = await host.request("attach", terminal=self.id, folder=str(self.folder.terminal))
        self._attached = True
        self._answered = answer["answered"]
        self._host_stalls(answer.get("stalled") or "")
        self._target = (answer["offset"], answer["journal"])
        await self.caught_up()
        if self.state.asked is not None:
            self._cancel(host)

    async def join_host(self) -> None:
        """Everything that happened is known. Only a shell that lives needs a host: without one the files are final."""
        if not self._attached:
            self._target = self.derivation.ends
            await self.caught_up()
            if self.alive:
                await self.attach()
        if self._again and self._reloading is None:
            self._returning.append(self._loop.create_future())
            await self._returning[-1]

    @property
    def attached(self) -> bool:
        """Whether the host knows this terminal."""
        return self._attached

    async def _joined(self) -> Host:
        """The host, which knows this terminal."""
        if not self._attached:
            await self.attach()
        return await self._host()

    async def caught_up(self) -> None:
        """Until everything the host has told is derived."""
        self._pump()
        await self.until(lambda: self._steps is None)

    @property
    def alive(self) -> bool:
        return self.state.phase not in ("none", "exited")

    async def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        """A request to the host about this terminal."""
        host = await self._joined()
        return await host.request(op, terminal=self.id, **fields)

    async def tell(self, op: str, **fields: Any) -> "asyncio.Future[dict[str, Any]]":
        """A request that is answered only when it fails: what it brings about shows."""
        failed = (await self._joined()).ask(op, terminal=self.id, answer="failure", **fields)
        failed.add_done_callback(lambda _: self._wake())
        return failed

    async def untell(self, failed: "asyncio.Future[dict[str, Any]]") -> None:
        """No failure is waited for any more; one that came is raised."""
        if failed.done():
            if why := failed.result().get("why"):
                raise Unavailable(
                    f"the terminal took only a part of it ({why})", hint="look with read_screen, or reset"
                )
        else:
            (await self._host()).forget(failed)

    async def start(self) -> None:
        """A fresh shell."""
        environment = dict(self.settings.env)
        shell = installed_shell(self.settings.shell, environment)
        cwd = self.state.cwd or self.settings.cwd
        if not Path(cwd).is_dir():
            cwd = self.settings.cwd
        if not Path(cwd).is_dir():
            raise InputError(f"{cwd!r} is no directory to start a shell in", hint="give the conversation another cwd")
        shell_id = f"sh-{secrets.token_hex(4)}"
        secret = secrets.token_hex(16)
        self._forget_shells()
        try:
            private = make_directory(self.shell_folder(shell_id))
            launch = shells.launch(shell, private, secret=secret, env=environment, user_rc=self.settings.user_rc)
        except OSError as error:
            raise no_room(error) from error
        await self.ask(
            "open",
            folder=str(self.folder.terminal),
            argv=launch.argv,
            env=launch.env,
            cwd=cwd,
            cols=self.settings.cols,
            rows=self.settings.rows,
            record={"shell_id": shell_id, "kind": shell.kind, "path": shell.path, "secret": secret, "cwd": cwd},
        )
        await self.until(lambda: self.state.shell_id == shell_id)

    def shell_folder(self, shell_id: str) -> Path:
        return self._run / shell_id

    def _forget_shells(self) -> None:
        """What earlier shells needed on disk."""
        shutil.rmtree(self._run, ignore_errors=True)

    def lost(self) -> None:
        """The host knows nothing of us any more: the connection broke, or it was told to forget."""
        self._attached = False
        self._host_stalls("")

    # what the host tells

    def told(self, message: dict[str, Any]) -> None:
        kind = message.get("event")
        if kind in ("output", "exit"):
            self._target = (message["offset"], message["journal"])
            if self._steps is None:
                self._pump()
        elif kind in ("stalled", "resumed"):
            self._host_stalls(message.get("why") or "")

    def _host_stalls(self, why: str) -> None:
        """The host cannot write: it reads no more, so programs wait. Or it can again."""
        if bool(why) != bool(self.host_stalled):
            if why:
                _log.warning("%s is stalled: %s", self.id, why)
            else:
                _log.info("%s goes on", self.id)
        self.host_stalled = why
        self._wake()

    @property
    def stalled(self) -> str | None:
        """Why output is not taken now; it waits, and nothing is lost."""
        return self.host_stalled or self._held_up or None

    def _pump(self) -> None:
        """Derives what there is; after a slice of a flood, or of many small things, others get their turn first."""
        began = time.monotonic()
        if self._reloading is not None or self._closed:
            return
        try:
            while self._steps is not None or self.derivation.behind(*self._target):
                if self._steps is None:
                    self._aim = self._target
                    self._steps = self.derivation.advance(*self._aim)
                step = next(self._steps, None)
                if step is None:
                    self._steps = None
                    self._go_on()
                    if self.derivation.behind(*self._aim):
                        break  # a file that is shorter than its host said: somebody cut it
                    continue
                self._handle(step)
                if len(step.spool) > TURN or time.monotonic() - began > TURN_S:
                    self._loop.call_soon(self._pump)
                    return
            self._go_on()
        except (Unavailable, OSError) as error:
            self._reload_later(error)
        self._wake()

    def _derive(self) -> Derivation:
        derivation = Derivation(self.folder, self.id, self.events, background=self._in_background)
        self.screens.follow(derivation.terminal)
        return derivation

    def _in_background(self, job: Callable[[], None]) -> None:
        working = self._loop.run_in_executor(None, job)
        self._working.add(working)
        working.add_done_callback(self._background_done)

    def _background_done(self, done: "asyncio.Future[None]") -> None:
        self._working.discard(done)
        if done.cancelled():
            return
        try:
            done.result()
            if self._reloading is None:
                self.derivation.settle()
        except (Unavailable, OSError) as error:
            self._reload_later(error)
        self._wake()

    def _reload_later(self, error: Unavailable | OSError) -> None:
        """The disk is full, say, or a file could not even be opened.

        What is known in here is ahead of what is written, and nothing may be built on it.
        """
        if isinstance(error, OSError):
            error = no_room(error)
        self._steps = None
        if self._reloading is None and not self._closed:
            if not self._held_up:
                _log.warning("%s is held up: %s", self.id, error)
            self._held_up = error.message
            self._reloading = self._loop.call_later(RETRY_S, self._reload)
            self._answer_those_who_asked()

    def _reload(self) -> None:
        """What is derived starts over from the last checkpoint."""
        self._reloading = None
        try:
            derivation = self._derive()
        except (Unavailable, OSError) as error:
            self._reload_later(error)
        else:
            self.derivation.close()
            self.derivation = derivation
            self._again = True
            self._pump()

    def _go_on(self) -> None:
        """All that was to be derived is: if that had to start over, it is where it was."""
        self._again = False
        self._answer_those_who_asked()
        if self._held_up:
            self._held_up = ""
            _log.info("%s goes on", self.id)

    def _answer_those_who_asked(self) -> None:
        """What is known is of now again, or it is known that it will not be for a while."""
        asked, self._returning = self._returning, []
        for each in asked:
            if not each.done():
                each.set_result(None)

    def _handle(self, step: Step) -> None:
        if step.spool:
            self.last_output = time.monotonic()
            self._sample_later(SAMPLE_S)
        self.screens.changed(prompt=step.ready)
        if step.events:
            self._tell(step)
        for block in step.begun:
            if block.exec_id in self._begun:
                self._begun[block.exec_id] = block.block_id
            if block.session_id is not None:
                self._sessions[block.session_id] = block.block_id
        if self.state.block is not None:
            self._outputs.printed(self.state.block, self.terminal.cursor)
        if step.replies or step.asks_more:
            self._begin(self._respond(step))
        if step.checkpointed and self.terminal.raw > self._retention and not self._dropping:
            self._dropping = True
            self._begin(self._drop_old())
        self._wake()

    def _tell(self, step: Step) -> None:
        """What happened, in its order: a command begins, prints, ends."""
        blocks = {block.block_id: block for block in step.ended}
        told = 0
        for place, event in enumerate(step.events):
            if isinstance(event, AgentBlockEnd):
                self._publish(step.events[told:place])
                told = place
                self._outputs.ended(blocks[event.block_id])
        self._publish(step.events[told:])

    async def _drop_old(self) -> None:
        """Keeps the output within its limit; the host punches the hole and writes down that it did."""
        try:
            old = self.derivation.droppable(self._retention)
            if old is not None:
                why = f"the oldest output, to keep it within {self._retention:,} bytes"
                await self.ask("punch", start=old.start, end=old.end, why=why)
        except VantageError:
            return  # a file system that cannot: everything is kept
        finally:
            self._dropping = False

    async def _respond(self, step: Step) -> None:
        try:
            host = await self._host()
            for reply in step.replies:
                if reply.query > self._answered and time.time() * 1000 - reply.asked < REPLY_WITHIN_MS:
                    self._answered = reply.query
                    data = protocol.encode_data(reply.data)
                    await host.request("reply", terminal=self.id, query=reply.query, data=data)
            if step.asks_more:
                self._cancel(host)
        except VantageError:
            return  # the shell, or its host, has ended: nobody waits for an answer

    def _cancel(self, host: Host) -> None:
        """The shell asks for the rest of a command that has none."""
        host.ask("journal", terminal=self.id, record={"t": "cancel"}).add_done_callback(_ignore)
        if keys := shells.CANCEL[self.state.kind]:
            data = protocol.encode_data(keys)
            host.ask("input", terminal=self.id, data=data, check="none").add_done_callback(_ignore)

    # those who wait

    async def until(self, holds: Callable[[], bool], timeout: float | None = None) -> bool:
        """Until something is true of the terminal, asked after every change; False when the time is over."""
        if holds():
            return True
        waiter = _Until(holds)
        self._waiters.append(waiter)
        timer = self._loop.call_later(timeout, waiter.give_up) if timeout is not None else None
        try:
            return await waiter.future
        finally:
            if timer is not None:
                timer.cancel()
            self.leave(waiter)

    def join(self, waiter: Waiter) -> None:
        self._waiters.append(waiter)

    def leave(self, waiter: Waiter) -> None:
        if waiter in self._waiters:
            self._waiters.remove(waiter)

    def _wake(self) -> None:
        if self._waiters and not self._again:
            self._waiters = [waiter for waiter in self._waiters if not waiter.look()]

    # what must be looked at

    def watch_settings(self) -> None:
        """Somebody waits for the terminal's settings or its foreground process."""
        self._samplers += 1
        self._sample_later(0)

    def unwatch_settings(self) -> None:
        self._samplers -= 1

    def _sample_later(self, seconds: float) -> None:
        if self._sampling is None and not self._closed and (self._samplers or self.state.phase == "running"):
            self._sampling = self._loop.call_later(seconds, self._sample_now)

    def _begin(self, work: Coroutine[Any, Any, Any]) -> None:
        """Something that nobody waits for. The loop itself would forget it when it is collected as garbage."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _sample_now(self) -> None:
        self._begin(self.look_at_terminal())

    async def look_at_terminal(self) -> Sample:
        """Asks the host for the terminal's settings and its foreground process."""
        try:
            answer = await self.ask("state", awaiting_secret=self.state.awaiting_secret) if self.alive else {}
            self.sample = Sample(answer)
            if self.state.phase == "running":
                self._mend_hooks(answer)
        except VantageError:  # it may have ended just now
            self.sample = Sample()
        finally:
            self._sampling = None
        if self._samplers:
            self._sample_later(SAMPLE_S)
        self._wake()
        return self.sample

    def _mend_hooks(self, answer: dict[str, Any]) -> None:
        """A shell back at its line editor that told us nothing: a command threw its hooks away."""
        state, pid = self.state, answer.get("pid")
        if not pid or answer.get("foreground_pid") != pid or answer.get("canonical", True) or not self._in_editor():
            return
        poked, times = self._poked
        times = times if poked == state.blocks else 0
        if times == MOST_POKES or not self.is_shell(pid):
            return
        quiet = time.monotonic() - self.last_output
        if quiet < LOST_HOOKS_S:
            self._loop.call_later(LOST_HOOKS_S - quiet, self._sample_later, 0)
            return
        self._poked = (state.blocks, times + 1)
        self._begin(self.poke())

    def is_shell(self, pid: int | None) -> bool:
        """Whether this is the shell that was started with our hooks, or a copy of it that is no other program yet."""
        return pid is not None and _reads(pid, self.shell_folder(self.state.shell_id))

    def _in_editor(self) -> bool:
        """Only a line editor asks for pastes in brackets: `read -n 1` has the terminal in the same mode otherwise."""
        screen = self.terminal.screen
        return screen is not None and screen.modes.bracketed_paste

    async def poke(self) -> None:
        """Has a shell in its line editor print a prompt whose marks are missing."""
        typed = shells.poke(shells.Shell(self.state.kind, ""), self.shell_folder(self.state.shell_id))
        try:
            await self.ask("input", data=protocol.encode_data(typed.data), check="none", echo_off=typed.echo_off)
        except VantageError:
            return

    async def quiet(self) -> None:
        """Until everything that is known is written."""
        while self._working:
            await asyncio.wait(set(self._working))

    async def close(self) -> None:
        """Leaves the terminal as it is: its shell lives on in the host."""
        self._closed = True
        self._steps = None
        self._answer_those_who_asked()
        self._wake()
        for timer in (self._sampling, self._reloading):
            if timer is not None:
                timer.cancel()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.quiet()
        self._outputs.close()
        self.screens.close()
        self.derivation.close()


def _reads(pid: int, folder: Path) -> bool:
    """Whether a process is still the shell that was started with our hooks; `exec bash` makes it another."""
    try:
        started = b"".join(Path(f"/proc/{pid}/{what}").read_bytes() for what in ("cmdline", "environ"))
    except OSError:
        return False
    return os.fsencode(folder) in started


def _ignore(answer: "asyncio.Future[Any]") -> None:
    """What nobody waits for may fail."""
    answer.exception()
