"""One conversation: its log, its terminal, the displays it is watched on, the tools it knows."""

import logging
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from vantage.conversation.bus import Bus, Drawn, Lease, SpecSet
from vantage.conversation.event_log import EventLog
from vantage.conversation.files import ConversationFolder, Log, Settings, write_atomically
from vantage.conversation.host import Host
from vantage.conversation.session import Session
from vantage.conversation.verbs import AGENT, AgentTerminal, person
from vantage.errors import InputError, KeyboardTaken
from vantage.events import LIVE_ONLY, ClientConfig, Event, Json, PtyState, TurnComplete, UserMessage
from vantage.presentation import PresentationContext
from vantage.timeline.contexts import Contexts
from vantage.timeline.specs.check import load_spec, spec_hash

_log = logging.getLogger(__name__)


class _Tool(msgspec.Struct, frozen=True):
    """A line of `tools.jsonl`."""

    tool: str
    spec: Json
    after: int = 0
    """The last event before it was registered."""


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
        host: Callable[[], Awaitable[Host]],
    ) -> None:
        self.id = settings.id
        self.folder = folder
        self.events = EventLog(folder.events)
        self.contexts = Contexts(clients=_read_clients(folder))
        self._bus = bus
        self._lease = lease
        self._kept_clients = set(self.contexts.clients)
        """Clients that stay attached without a socket, and are on disk."""
        try:
            self.session = Session(
                folder,
                settings,
                self.events,
                run=run,
                retention=retention,
                host=host,
                publish=lambda events: bus.publish(settings.id, events),
                publish_screen=lambda delta, number: bus.publish(settings.id, [Drawn(number, delta)]),
                publish_output=lambda delta: bus.publish(settings.id, [delta]),
                followed=lambda: bus.followed(settings.id),
            )
        except BaseException:
            self.events.close()
            raise
        self.terminal = AgentTerminal(self.session)

    @property
    def settings(self) -> Settings:
        return self.session.settings

    # what happens in it

    def append(self, events: Iterable[Event]) -> list[Event]:
        """Logs events of the agent, and of those who watch it."""
        taken = list(events)
        contexts = self.contexts
        for event in taken:
            if event.type in LIVE_ONLY:
                raise InputError(f"{event.type} comes from the terminal, live, and is not logged", hint="leave it out")
            contexts = _displays_after(contexts, event)
        self.contexts = contexts
        logged = self.events.append([msgspec.structs.replace(event, raw_offset=None) for event in taken], self.id)
        self._bus.publish(self.id, logged)
        return logged

    # who watches

    def set_client(self, client_id: str, *, keep: bool, **said: Any) -> None:
        """A display says what it can show. `keep`: it stays until it is taken away, also over a restart."""
        self.contexts = self.contexts.apply(client_id, **said)
        if keep:
            self._kept_clients.add(client_id)
        self._write_clients()

    def drop_client(self, client_id: str) -> None:
        """The display has gone, and with it whoever typed there."""
        self.contexts = self.contexts.without(client_id)
        self._kept_clients.discard(client_id)
        self._write_clients()
        self.give_keyboard_back(client_id)

    def _write_clients(self) -> None:
        kept = {name: self.contexts.clients[name].to_dict() for name in sorted(self._kept_clients)}
        if kept or self.folder.clients.exists():
            write_atomically(self.folder.clients, msgspec.json.encode(kept))

    def take_keyboard(self, client_id: str) -> None:
        if self.terminal.keyboard not in (AGENT, person(client_id)):
            raise KeyboardTaken(f"{self.terminal.keyboard} has the keyboard", hint="it must be given back first")
        self.terminal.take_keyboard(client_id)
        self._tell_keyboard()

    def give_keyboard_back(self, client_id: str) -> None:
        before = self.terminal.keyboard
        self.terminal.release_keyboard(client_id)
        if self.terminal.keyboard != before:
            self._tell_keyboard()

    def _tell_keyboard(self) -> None:
        session = self.session
        self.append(
            [
                PtyState(
                    mode=session.terminal.mode,
                    awaiting_secret=session.state.awaiting_secret,
                    foreground=session.state.foreground,
                    keyboard=self.terminal.keyboard,
                )
            ]
        )

    # tools

    def set_tool(self, tool: str, spec: Json) -> str:
        """Takes a tool's render spec for this conversation, and returns its hash."""
        load_spec(spec)
        log = Log(self.folder.tools)
        log.append(msgspec.json.encode(_Tool(tool, spec, self.events.seq)) + b"\n")
        log.close()
        self._bus.publish(self.id, [SpecSet(tool, spec, self.events.seq)])
        return spec_hash(spec)

    def tools(self) -> list[SpecSet]:
        """Every spec that was registered, oldest first: the last one of a tool holds, earlier ones have their rows."""
        if not self.folder.tools.exists():
            return []
        log = Log(self.folder.tools)
        kept: list[_Tool] = []
        try:
            for _, line in log.lines():
                try:
                    kept.append(msgspec.json.decode(line, type=_Tool))
                except msgspec.MsgspecError as error:  # its calls are shown as those of a tool without a spec
                    _log.warning("%s: a line is passed over: %s", self.folder.tools, error)
        finally:
            log.close()
        return [SpecSet(each.tool, each.spec, each.after) for each in kept]

    def rename(self, name: str) -> None:
        self.session.settings = msgspec.structs.replace(self.settings, name=name)
        self.folder.write_settings(self.settings)

    async def close(self) -> None:
        await self.session.close()
        self.events.close()
        self._lease.release()


def _displays_after(contexts: Contexts, event: Event) -> Contexts:
    """The displays, once something has happened: a turn sees them as they were when it began."""
    if isinstance(event, ClientConfig):
        return contexts.apply(event.client_id, terminal_width=event.terminal_width, presentation=event.presentation)
    depth = event.agent.depth if event.agent else 0
    if isinstance(event, UserMessage) and not depth:
        return contexts.begin_turn()
    if isinstance(event, TurnComplete) and not depth:
        return contexts.end_turn()
    return contexts


def _read_clients(folder: ConversationFolder) -> dict[str, PresentationContext]:
    try:
        kept = msgspec.json.decode(folder.clients.read_bytes())
        return {name: PresentationContext.from_dict(said) for name, said in kept.items()}
    except (OSError, msgspec.MsgspecError, InputError, AttributeError):
        return {}
