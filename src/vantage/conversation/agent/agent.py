"""The agent of a conversation: started, told, interrupted, ended; found again by the next server.

A conversation has one agent at a time. Its process lives in the PTY host and its files in the conversation's folder;
this object is what a server knows of it. When a process has ended, the next message continues its session in a new one.
"""

import asyncio
import logging
import secrets
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from vantage.agents.drivers.driver import Delivery, Options
from vantage.conversation.agent.files import AgentFiles, Kept
from vantage.conversation.agent.launch import command_of, known_agent, mcp_server
from vantage.conversation.agent.records import Record
from vantage.conversation.agent.replay import Replay
from vantage.conversation.agent.run import Hooks, Run
from vantage.conversation.live.host.agent_link import AgentLink, Lengths
from vantage.conversation.live.host.client import HostClient
from vantage.conversation.store.assets import get_asset
from vantage.conversation.store.conversation_folder import ConversationFolder, Settings
from vantage.conversation.store.event_log import EventLog
from vantage.conversation.store.files.open_files import OpenFiles
from vantage.conversation.store.scoped_token import own_environment
from vantage.errors import Busy, Do, NotFound, NotRunning, Unavailable, VantageError
from vantage.events import Agent, AgentState, Event, Json, UserMessage
from vantage.events import Warning as WarningEvent

GRACE_MS = 3000
"""What an agent gets to end itself before it is killed."""
_PAGE = 1000

_log = logging.getLogger(__name__)


class Shared(Protocol):
    """What an agent needs of its conversation."""

    def log_derived(self, events: list[Event]) -> object:
        """Logs what an agent's stream says."""
        ...

    def append(self, events: Iterable[Event]) -> list[Event]: ...

    def display(self) -> str:
        """The display instruction of the people who watch now."""
        ...

    def turn(self, begins: bool) -> None:
        """A turn of the agent begins, or has ended."""
        ...


class Said(NamedTuple):
    seq: int | None
    """The number of the message in the log; none when it was refused."""
    delivery: Delivery


class ConversationAgent:
    def __init__(
        self,
        folder: ConversationFolder,
        settings: Callable[[], Settings],
        events: EventLog,
        shared: Shared,
        *,
        host: Callable[[], Awaitable[HostClient]],
        files: OpenFiles | None,
    ) -> None:
        self.id = folder.path.name
        self._folder = folder
        self._settings = settings
        self._events = events
        self._shared = shared
        self._link = AgentLink(self.id, str(folder.agent), host)
        self._files = AgentFiles(folder.agent, files)
        self._kept = self._files.kept()
        self._run: Run | None = None
        self._changing = asyncio.Lock()
        """Starting, joining and ending exclude each other."""
        self._closed = False

    # what is known

    @property
    def alive(self) -> bool:
        return self._run is not None and not self._run.replay.over

    @property
    def kept(self) -> Kept | None:
        """The last run."""
        return self._kept

    @property
    def unfinished(self) -> bool:
        """The last run's process may live, or not all that it did is logged."""
        return self._kept is not None and not self._kept.over

    def state(self) -> AgentState | None:
        """What the agent does; None when there was never one."""
        if self._run is not None:
            return self._run.replay.state
        if self._kept is None:
            return None
        kept = self._kept
        agent = Agent(id=kept.agent, name=known_agent(kept.agent).title)
        return AgentState(state="exited", session=kept.session, model=kept.model, error=kept.error, agent=agent)

    @property
    def pid(self) -> int | None:
        return self._pid if self.alive else None

    _pid: int | None = None

    def undelivered(self) -> list[int]:
        """The numbers of the messages that wait for the turn's end."""
        return self._run.replay.undelivered if self._run is not None else []

    # what people want

    async def start(
        self,
        agent: str,
        *,
        command: list[str] | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        model: str | None = None,
        mode: str | None = None,
        resume: str | None = None,
    ) -> None:
        """Starts an agent. Raises Busy while there is one."""
        async with self._changing:
            await self._join()
            if self.alive:
                raise Busy(
                    f"{self._name()} runs in this conversation already",
                    hint="another conversation takes another agent",
                    do=[Do("say", "gives it a message"), Do("end_agent", "ends it")],
                )
            options = Options(
                run=_run_id(), cwd=cwd or self._settings().cwd, model=model, mode=mode, resume=resume, mcp={}
            )
            await self._open(Kept(agent=agent, options=options, command=command, env=env))

    async def say(self, text: str, by: str | None, attachments: list[str] | None = None) -> Said:
        """Gives the agent a message. One whose process has ended is started again, with the session that it had."""
        for name in attachments or ():
            get_asset(self._folder, name)
        message = UserMessage(text=text, by=by, attachments=attachments or None)
        async with self._changing:
            await self._join()
            run = self._run
            if run is None or run.replay.over:
                seq, run = await self._say_to_next(message)
            elif run.replay.driver.delivery() == "refused":
                return Said(None, "refused")
            else:
                seq = self._log_message(message, run.name)
        run.wake()
        await run.settled()
        return Said(seq, run.fate(seq))

    async def _say_to_next(self, message: UserMessage) -> tuple[int, Run]:
        """Logs a message and starts the run that gets it."""
        last = self._kept
        if last is None:
            raise NotRunning(
                "no agent runs in this conversation", hint="start one first", do=[Do("start_agent", "starts one")]
            )
        if last.session is None:
            said = f"{self._name()} has ended and told no session: it begins anew, without what was said before"
            self._shared.append([WarningEvent(message=said)])
        kept = replace(
            last,
            options=replace(last.options, run=_run_id(), resume=last.session),
            session=None,
            error=None,
            over=False,
        )
        seq = self._log_message(message, kept.run)
        try:
            return seq, await self._open(kept, seq - 1)
        except VantageError as error:
            self._shared.append([WarningEvent(message=f"the agent did not get this message: {error.message}")])
            raise

    def _log_message(self, message: UserMessage, run: str) -> int:
        """Logs a message as one that is meant for a run, and returns its number."""
        [logged] = self._shared.append([replace(message, source={"run": run})])
        return logged.seq or 0

    async def interrupt(self) -> bool:
        """Stops the turn that runs; false when none does."""
        async with self._changing:
            await self._join()
            run = self._run
            if run is None or run.replay.over:
                raise NotRunning("no agent runs in this conversation", hint="there is nothing to interrupt")
        if not run.replay.in_turn:
            return False
        run.replay.interrupt(f"interrupt {run.replay.n + 1}")
        run.wake()
        await run.settled()
        return True

    async def end(self) -> None:
        """Ends the agent and everything that it has started; what it said stays."""
        async with self._changing:
            await self._join()
            run = self._run
            if run is not None and not run.replay.over:
                await self._link.kill(GRACE_MS)
                run.told(*self._files.lengths)
                await run.end()

    # the host

    async def attach(self) -> None:
        """Joins an agent that outlived the last server, or learns how it ended; logs what happened meanwhile."""
        async with self._changing:
            await self._join()

    def told(self, message: dict[str, Any]) -> None:
        """An event of the host."""
        if self._run is not None and message.get("event") in ("output", "exit"):
            self._run.told(message["offset"], message["journal"])

    def host_lost(self) -> None:
        """The host died, and the agent with it: the next host says so in the journal."""
        if self._run is not None:
            self._run.lost()

    def logged(self, events: Iterable[Event]) -> None:
        """Called with everything that the conversation logs."""
        run = self._run
        if run is not None and not run.finished:
            for event in events:
                run.replay.logged(event)
            if any(event.type in ("answer", "request_closed") for event in events):
                run.wake()

    async def _join(self) -> None:
        """Joins the last run, unless that was done or it is over."""
        if self._closed:
            raise NotFound(f"conversation {self.id!r} was closed meanwhile", hint="list them, or create it")
        if self._run is not None and self._run.replay.over:
            await self._run.settled()
        if not self.unfinished or (self._run is not None and not self._run.finished):
            return
        kept = self._kept
        assert kept is not None
        attached = await self._link.attach()
        self._pid = attached.pid
        found = self._files.last_start(attached.lengths.journal)
        if found is None or found[0].run != kept.run:  # the server was killed before the process was started
            self._not_started(kept)
            return
        await self._follow(*found, kept, attached.lengths)

    def _not_started(self, kept: Kept) -> None:
        error = "it was not started: the server ended before"
        agent = Agent(id=kept.agent, name=known_agent(kept.agent).title)
        self._keep(replace(kept, over=True, error=error))
        self._shared.append([AgentState(state="exited", agent=agent, session=kept.session, error=error)])

    async def _open(self, kept: Kept, seq: int | None = None) -> Run:
        """Starts the process of a run. `seq` is the last event before those that are meant for it."""
        settings = self._settings()
        home = self._folder.path.parent.parent
        base = settings.env if kept.env is None else kept.env
        environment = {**base, **own_environment(home, settings)}
        options = replace(kept.options, mcp=mcp_server(self.id, home, environment))
        kept = replace(kept, options=options, session=options.resume)
        command = command_of(kept.agent, options, kept.command, environment)
        self._files.create()
        await self._link.attach()  # to be told from its first byte on
        self._keep(kept)
        started_behind = self._events.seq if seq is None else seq
        record = {"agent": kept.agent, "options": msgspec.to_builtins(options), "seq": started_behind}
        try:
            started = await self._link.open(command.argv, run=kept.run, env=command.env, cwd=command.cwd, record=record)
        except VantageError as error:
            self._keep(replace(kept, over=True, error=error.message))
            raise
        self._pid = started.pid
        found = self._files.last_start(started.lengths.journal)
        if found is None:
            raise Unavailable("the agent's journal has no record of its start", hint=f"see {self._files.folder}")
        return await self._follow(*found, kept, started.lengths)

    async def _follow(self, start: Record, begin: int, kept: Kept, lengths: Lengths) -> Run:
        """Follows a run from its first record on."""
        if self._run is not None:
            await self._run.stop()
        driver = known_agent(kept.agent).driver(start.options or kept.options)
        replay = Replay(start, driver, stderr=self._files.last_words, attached=self._attached)
        hooks = Hooks(self._shared.log_derived, self._shared.display, self._shared.turn, self._ended)
        run = self._run = Run(replay, begin, self._files, self._link, hooks)
        after = start.seq
        while page := self._events.read(after, _PAGE):
            for event in page:
                replay.logged(event)
            after += len(page)
            await asyncio.sleep(0)
        run.told(lengths.offset, lengths.journal)
        run.begin()
        await run.settled()
        self._shared.turn(replay.in_turn)
        return run

    async def _ended(self) -> None:
        """A run is over, and all of it is logged."""
        run, kept = self._run, self._kept
        assert run is not None
        assert kept is not None
        state = run.replay.state
        session = state.session or run.replay.driver.session or kept.session
        self._keep(replace(kept, over=True, session=session, model=state.model, error=state.error))
        self._shared.turn(False)
        with suppress(VantageError):  # a host that is gone has none of it
            await self._link.kill(GRACE_MS)  # what it has left behind
            await self._link.forget()
        self._files.close()

    def _keep(self, kept: Kept) -> None:
        self._kept = kept
        self._files.keep(kept)

    def _attached(self, names: list[Json]) -> list[Json]:
        """The pictures of a message, as drivers take them."""
        found: list[Json] = []
        for name in names:
            try:
                asset = get_asset(self._folder, str(name))
            except VantageError:  # removed since
                continue
            path = str(self._folder.assets / str(name))
            data = b64encode(asset.data).decode("ascii")
            found.append({"name": name, "path": path, "mime_type": asset.media, "data": data})
        return found

    def _name(self) -> str:
        return known_agent(self._kept.agent).title if self._kept is not None else "an agent"

    async def close(self) -> None:
        """Leaves the agent as it is: its process lives on in the host."""
        self._closed = True
        if self._run is not None:
            await self._run.stop()
        self._files.close()


def _run_id() -> str:
    return f"r{secrets.token_hex(4)}"
