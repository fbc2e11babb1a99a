"""One conversation: its event log, its terminal, its displays, the tools it knows."""

import shutil
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from vantage.agents.redaction import Redaction
from vantage.conversation.agent.agent import ConversationAgent
from vantage.conversation.bus import HOME, Bus, Lease, Listed, ScreenChanged
from vantage.conversation.displays import Displays
from vantage.conversation.live.host.client import HostClient
from vantage.conversation.live.terminal import LiveTerminal
from vantage.conversation.requests.attention import Activity, Attention, Running, attention_of
from vantage.conversation.requests.requests import Requests
from vantage.conversation.requests.scan import last_events, request_events
from vantage.conversation.secret_prompts import SecretPrompts
from vantage.conversation.store.conversation_folder import ConversationFolder, Settings
from vantage.conversation.store.event_log import EventLog
from vantage.conversation.store.files.open_files import OpenFiles
from vantage.conversation.store.specs.log import SpecLog
from vantage.conversation.verbs.agent_terminal import LocalTerminal
from vantage.conversation.verbs.terminal.pty_terminal import PtyTerminal
from vantage.errors import InputError
from vantage.events import LIVE_ONLY, SERVER_ONLY, Event, Json, PtyState, Request, UnknownEvent
from vantage.timeline.specs.check import spec_hash
from vantage.timeline.specs.registry import SpecSet
from vantage.timeline.tools.registry import ToolRegistry


class Conversation:
    def __init__(
        self,
        folder: ConversationFolder,
        settings: Settings,
        *,
        bus: Bus,
        lease: Lease,
        run: Path,
        retention: int,
        host: Callable[[], Awaitable[HostClient]],
        files: OpenFiles | None = None,
        tools: ToolRegistry | None = None,
    ) -> None:
        self.id = settings.id
        self.folder = folder
        self.events = EventLog(folder.events, files)
        self.displays = Displays(folder, count_read_only=settings.read_only_displays)
        kept = list(request_events(folder.events))
        self.requests = Requests(folder, kept, log=self.append)
        self._activity = Activity().after((*kept, *last_events(folder.events)))
        self._bus = bus
        self._lease = lease
        self._run = run
        self._redaction = Redaction()
        self._specs = SpecLog(folder.tools, tools or ToolRegistry())
        try:
            self.live = LiveTerminal(
                folder,
                settings,
                self.events,
                run=run,
                retention=retention,
                host=host,
                files=files,
                publish=self._derived,
                publish_screen=lambda delta, number: bus.publish(settings.id, [ScreenChanged(number, delta)]),
                publish_output=lambda delta: bus.publish(settings.id, [delta]),
                followed=lambda: bus.followed(settings.id),
            )
        except BaseException:
            self.events.close()
            raise
        self.agent = ConversationAgent(folder, lambda: self.settings, self.events, self, host=host, files=files)
        asked = SecretPrompts(self.live, self.requests, lambda request: self.log_derived([request]))
        self.pty = PtyTerminal(self.live, asked)
        self.terminal = LocalTerminal(self.pty)

    @property
    def settings(self) -> Settings:
        return self.live.settings

    # events

    def take(self, events: list[Event]) -> list[Event]:
        """Logs events of agents and clients. Secrets are redacted, events of terminals are refused.

        `source` is dropped: with it an event would count as one of the agent that runs here, or as a message for it.
        """
        for event in events:
            kind = event.name if isinstance(event, UnknownEvent) else event.type
            if kind in SERVER_ONLY:
                raise InputError(
                    f"{kind} is logged by the server only, from what it sees itself",
                    hint="leave it out; a command that ran elsewhere is a tool_start and a tool_end of the tool shell",
                )
        return self.append(_without_source(self._redaction.clean(event)) for event in events)

    def append(self, events: Iterable[Event]) -> list[Event]:
        """Logs events unchanged."""
        taken = list(events)
        for event in taken:
            if event.type in LIVE_ONLY:
                raise InputError(f"{event.type} comes from the terminal, live, and is not logged", hint="leave it out")
        self.displays.follow(taken)
        self.requests.before(taken)
        self._bus.publish(self.id, self._specs.record(taken, self.events.seq))
        logged = self.events.append([msgspec.structs.replace(event, raw_offset=None) for event in taken], self.id)
        changed = self.requests.follow(logged)
        self.agent.logged(logged)
        self._publish(logged)
        self.requests.tell(changed)
        return logged

    def _derived(self, events: list[Event]) -> None:
        """The terminal has logged these."""
        self._publish(events)

    def _publish(self, events: list[Event]) -> None:
        self._activity = self._activity.after(events)
        self._bus.publish(self.id, events)
        self.list_changed()

    def list_changed(self) -> None:
        """Something has changed that lists of conversations may show."""
        self._bus.publish(HOME, [Listed(self.id)])

    @property
    def attention(self) -> Attention:
        """Whether it needs a person, and why."""
        block = self.live.state.block
        running = Running(block.cmd, block.ts_begin) if block is not None else None
        return attention_of(self.requests.open_entries(), self._activity, running)

    # the agent that runs here

    def log_derived(self, events: list[Event]) -> None:
        """Logs what the stream of the conversation's agent says. Secrets are redacted.

        A request knows where the terminal's output was then, so that its screen can be shown.
        """
        clean = [self._redaction.clean(event) for event in events]
        self.append(self._asked(event) if isinstance(event, Request) else event for event in clean)

    def _asked(self, request: Request) -> Request:
        offset = self.live.terminal.raw or None
        return self.requests.prepared(msgspec.structs.replace(request, screen_offset=offset))

    def display(self) -> str:
        """What the model is told about the displays of the people who watch."""
        return self.displays.instruction()

    def turn(self, begins: bool) -> None:
        """A turn of the agent begins with the displays as they are now, or has ended."""
        self.displays.driven = self.agent.alive
        if begins:
            self.displays.begin_turn()
        else:
            self.displays.end_turn()

    # clients

    def count_read_only(self, counts: bool) -> None:
        """Whether displays of read-only tokens count for what the agent is told."""
        self._change(read_only_displays=counts)
        self.displays.count_read_only(counts)

    def drop_client(self, client_id: str) -> None:
        """Forgets a client's display, and gives its keyboard back."""
        self.displays.drop_client(client_id)
        self.release_keyboard(client_id)

    def take_keyboard(self, client_id: str) -> None:
        self.pty.keyboard.take(client_id)
        self._log_keyboard()

    def release_keyboard(self, client_id: str) -> None:
        """Gives the keyboard back to the agent, if this client has it."""
        if self.pty.keyboard.release(client_id):
            self._log_keyboard()

    def _log_keyboard(self) -> None:
        live = self.live
        self.append(
            [
                PtyState(
                    mode=live.terminal.mode,
                    awaiting_secret=live.state.awaiting_secret,
                    foreground=live.state.foreground,
                    keyboard=self.pty.keyboard.holder,
                )
            ]
        )

    # tools

    def set_tool(self, tool: str, spec: Json) -> str:
        """Takes a tool's render spec for this conversation, and returns its hash."""
        self._bus.publish(self.id, [self._specs.register(tool, spec, self.events.seq)])
        return spec_hash(spec)

    def tools(self) -> list[SpecSet]:
        """Every spec that calls were or will be drawn with, oldest first: the last one before a call draws it."""
        return self._specs.read()

    def rename(self, name: str) -> None:
        self._change(name=name)

    def _change(self, **settings: Any) -> None:
        self.live.settings = msgspec.structs.replace(self.settings, **settings)
        self.folder.write_settings(self.settings)
        self.list_changed()

    async def end_shell(self) -> None:
        """Ends the shell, if one lives, and keeps the files."""
        live = self.live
        async with live.lock.ending():
            await live.join_host()
            if live.alive:
                await live.ask("kill")
                # When the disk is full, the shell's end is in the journal only, and is derived when there is room.
                await live.waiters.until(lambda: not live.alive or live.stalled is not None)
            if live.link.attached:
                await live.ask("forget")
                live.link.lost()
            shutil.rmtree(self._run, ignore_errors=True)

    async def close(self) -> None:
        """Closes the files. The shell and the agent live on."""
        await self.agent.close()
        self.requests.leave()
        await self.live.close()
        self.events.close()
        self._lease.release()


def _without_source(event: Event) -> Event:
    if isinstance(event, UnknownEvent):  # it is logged as it came
        data = {name: value for name, value in event.data.items() if name != "source"}
        return msgspec.structs.replace(event, data=data, source=None)
    return msgspec.structs.replace(event, source=None)
