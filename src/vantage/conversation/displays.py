"""The displays of one conversation: what its clients and agents can show, and which token owns a client id.

`contexts` is the value that instructions are made from. Displays of clients without a socket, and of agents, are kept
in files, because they outlive this process.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from vantage.conversation.store.clock import now_ms
from vantage.conversation.store.conversation_folder import ConversationFolder
from vantage.conversation.store.files.writing import write_atomically
from vantage.errors import ClientTaken, InputError
from vantage.events import Agent, ClientConfig, Event, TurnComplete, UserMessage
from vantage.presentation import PresentationContext, system_instructions
from vantage.timeline.contexts import Contexts
from vantage.timeline.turn_text import TurnText


class Displays:
    def __init__(self, folder: ConversationFolder, *, count_read_only: bool) -> None:
        """`count_read_only`: displays of read-only tokens count for what the agent is told."""
        self.contexts = Contexts(clients=_read(folder.clients), agents=_read(folder.agents))
        self.last_seen: dict[str, int] = {}
        """Client → when it last said what it can show, in milliseconds since the epoch."""
        self.driven = False
        """An agent that Vantage runs says when its turns begin and end; events say nothing of it then."""
        self._said = TurnText()
        self._wide_table = False
        """The last turn had a table wider than the displays that it began with."""
        self._folder = folder
        self._count_read_only = count_read_only
        self._kept = set(self.contexts.clients)
        """Clients that stay attached without a socket, and are on disk."""
        self._owners: dict[str, str] = {}
        """Client → the token that uses this id."""
        self._read_only: dict[str, dict[str, Any]] = {}
        """Client of a read-only token → its display."""

    def claim(self, client_id: str, owner: str) -> None:
        """A client id belongs to the token that used it first, until that client is dropped."""
        if owner and self._owners.setdefault(client_id, owner) != owner:
            raise ClientTaken(f"another token uses the client id {client_id!r}", hint="choose another client_id")

    def set_client(self, client_id: str, *, keep: bool, read_only: bool, owner: str, **said: Any) -> None:
        """Sets what a client can show. `keep`: until it is dropped, also after a restart."""
        self.claim(client_id, owner)
        if read_only:
            self._read_only[client_id] = said
            if not self._count_read_only:
                return
        self.contexts = self.contexts.apply(client_id, **said)
        self.last_seen[client_id] = now_ms()
        if keep:
            self._kept.add(client_id)
        self._write_clients()

    def drop_client(self, client_id: str) -> None:
        self._owners.pop(client_id, None)
        self._read_only.pop(client_id, None)
        self.last_seen.pop(client_id, None)
        self.contexts = self.contexts.without(client_id)
        self._kept.discard(client_id)
        self._write_clients()

    def count_read_only(self, counts: bool) -> None:
        """Sets whether displays of read-only tokens count, including those that are attached already."""
        self._count_read_only = counts
        for client_id, said in self._read_only.items():
            self.contexts = self.contexts.apply(client_id, **said) if counts else self.contexts.without(client_id)

    def set_agent(self, agent_id: str, **said: Any) -> None:
        """Sets the display that an agent writes for; without one, it writes for the clients again."""
        self._set(self.contexts.with_agent(agent_id, said.pop("presentation", None), **said))

    def follow(self, events: Iterable[Event]) -> None:
        """Applies what events say about displays and turns: all of them, or none and InputError."""
        contexts = self.contexts
        seen = []
        before = []
        for event in events:
            before.append((event, contexts))
            contexts = _after(contexts, event, driven=self.driven)
            if isinstance(event, ClientConfig) and event.client_id in contexts.clients:
                seen.append(event.client_id)
        for event, known in before:
            self._said.add(event)
            if not self.driven and _is_edge(event):
                self._close_turn(known)
        self._set(contexts)
        self.last_seen |= dict.fromkeys(seen, now_ms())

    def instruction(self, agent: str | None = None, additional: str | None = None) -> str:
        """What the model is told about the displays that it is read on: the root agent's, or another agent's."""
        wide = self._wide_table and agent is None
        return system_instructions({}, additional, self.contexts.turn_context(agent), wide_table=wide)

    def begin_turn(self) -> None:
        """The displays as they are now hold for the turn that begins."""
        self._close_turn(self.contexts)
        self._set(self.contexts.begin_turn())

    def end_turn(self) -> None:
        self._close_turn(self.contexts)
        self._set(self.contexts.end_turn())

    def _close_turn(self, contexts: Contexts) -> None:
        """Notes for the next instruction what was said until now. Without a turn, what the last one left stays."""
        wide = self._said.has_wide_table(contexts.turn_context())
        self._wide_table = wide or (self._wide_table and not contexts.turn)
        self._said.clear()

    def _set(self, contexts: Contexts) -> None:
        changed = contexts.agents != self.contexts.agents
        self.contexts = contexts
        if changed:
            write_atomically(self._folder.agents, _as_json(contexts.agents))

    def _write_clients(self) -> None:
        kept = {name: self.contexts.clients[name] for name in sorted(self._kept)}
        if kept or self._folder.clients.exists():
            write_atomically(self._folder.clients, _as_json(kept))


def _after(contexts: Contexts, event: Event, *, driven: bool) -> Contexts:
    """The displays after an event. A turn sees them as they were when it began."""
    if isinstance(event, ClientConfig):
        if event.agent is not None and event.agent != Agent():
            return contexts.with_agent(event.agent.id, event.presentation, terminal_width=event.terminal_width)
        return contexts.apply(event.client_id, terminal_width=event.terminal_width, presentation=event.presentation)
    if driven or not _is_edge(event):
        return contexts
    return contexts.begin_turn() if isinstance(event, UserMessage) else contexts.end_turn()


def _is_edge(event: Event) -> bool:
    """Whether a turn of the root agent begins or ends with an event."""
    return isinstance(event, UserMessage | TurnComplete) and not (event.agent and event.agent.depth)


def _as_json(contexts: dict[str, PresentationContext]) -> bytes:
    return msgspec.json.encode({name: context.to_dict() for name, context in contexts.items()})


def _read(path: Path) -> dict[str, PresentationContext]:
    """What a file has kept; nothing when it is missing or cannot be read."""
    try:
        kept = msgspec.json.decode(path.read_bytes())
        return {name: PresentationContext.from_dict(said) for name, said in kept.items()}
    except (OSError, msgspec.MsgspecError, InputError, AttributeError):
        return {}
