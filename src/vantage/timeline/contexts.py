"""The displays of a conversation, as one immutable value: a context per client, a context per agent.

Rows are drawn for the present displays (`for_agent`). An agent is told about a change from its next turn on:
`instruction` is about the displays as they were at `begin_turn`. A refused change leaves the value as it was.
"""

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from vantage.errors import InputError
from vantage.presentation import INSTRUCTED, PresentationContext

_CONVERSATION = ""  # the key, among agents, of all agents without a context of their own


_DEFAULT = PresentationContext()


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """Where a part of the instruction comes from: a field, its value, and the client that decided it."""

    field: Annotated[str, Meta(description="A field of the presentation")]
    value: Annotated[Any, Meta(description="Its value, for all displays together")]
    client_id: Annotated[str | None, Meta(description="The client that decided it; null: none")]


class Contexts(msgspec.Struct, frozen=True, kw_only=True):
    clients: dict[str, PresentationContext] = {}
    agents: dict[str, PresentationContext] = {}
    """Contexts of agents whose output does not go to the clients: a sub-agent that writes a file, for example."""
    primary: str | None = None
    """The client that alone counts while it is attached."""
    turn: dict[str, PresentationContext] = {}
    """The contexts when the running turn began; empty before the first."""

    def apply(
        self, client_id: str, *, terminal_width: Any = None, presentation: Any = None, primary: Any = None
    ) -> "Contexts":
        """The displays after a `client_config`; a field that is `None` changes nothing.

        `presentation` (an object or a `PresentationContext`) replaces the client's context. `terminal_width` alone, a
        resize, changes the width of a known one and makes a default context otherwise. `primary` true makes the client
        the one that counts, false ends that.
        """
        if not isinstance(client_id, str) or not client_id:
            raise InputError("client_id must be a non-empty string", hint="choose one name per client and keep it")
        if primary is not None and not isinstance(primary, bool):
            raise InputError("primary must be true or false", hint="leave it out to keep what holds")
        context = _context(self.clients.get(client_id), terminal_width, presentation)
        chosen = self.primary
        if primary is True:
            chosen = client_id
        elif primary is False and chosen == client_id:
            chosen = None
        return replace(self, clients={**self.clients, client_id: context}, primary=chosen)

    def without(self, client_id: str) -> "Contexts":
        """The displays without a client."""
        return replace(
            self,
            clients={name: context for name, context in self.clients.items() if name != client_id},
            primary=None if self.primary == client_id else self.primary,
        )

    def with_agent(self, agent_id: str, presentation: Any, *, terminal_width: Any = None) -> "Contexts":
        """The displays with one agent's own; with neither field, the agent writes for the clients again.

        An agent that is first declared within a turn begins its own turn with that: it was told nothing before.
        """
        if not isinstance(agent_id, str) or not agent_id:
            raise InputError("agent_id must be a non-empty string", hint="use the id in the agent's events")
        agents = {name: context for name, context in self.agents.items() if name != agent_id}
        if presentation is None and terminal_width is None:
            return replace(self, agents=agents)
        agents[agent_id] = context = _context(self.agents.get(agent_id), terminal_width, presentation)
        turn = {agent_id: context, **self.turn} if self.turn else self.turn
        return replace(self, agents=agents, turn=turn)

    def for_agent(self, agent_id: str | None = None) -> PresentationContext:
        """The agent's own context, else the primary client's, else what all clients can show, else the default."""
        if agent_id and agent_id in self.agents:
            return self.agents[agent_id]
        first, *others = self._counting(agent_id).values() or [_DEFAULT]
        return first.merge(*others)

    def reasons(self, agent_id: str | None = None) -> list[Reason]:
        """Which client each part of the instruction comes from: the width, and what differs from the default.

        There is no client if the part comes from an agent's own display, or from a client that has left since the turn
        began.
        """
        context = self.turn_context(agent_id)
        counting = self._counting(agent_id)
        return [
            Reason(field=field, value=value, client_id=_decider(counting, field, value))
            for field in INSTRUCTED
            if (value := getattr(context, field)) != getattr(_DEFAULT, field) or field == "content_width"
        ]

    def _counting(self, agent_id: str | None) -> dict[str, PresentationContext]:
        """The clients whose displays are merged for an agent."""
        if agent_id and agent_id in self.agents:
            return {}
        if self.primary is not None and self.primary in self.clients:
            return {self.primary: self.clients[self.primary]}
        return self.clients

    def begin_turn(self, agent_id: str | None = None) -> "Contexts":
        """The present displays for the turn that begins: the conversation's, or one sub-agent's only."""
        if agent_id:
            return replace(self, turn={**self.turn, agent_id: self.for_agent(agent_id)})
        return replace(self, turn={**self.agents, _CONVERSATION: self.for_agent()})

    def end_turn(self) -> "Contexts":
        """No turn is running: the instruction follows the present displays."""
        return replace(self, turn={}) if self.turn else self

    def turn_context(self, agent_id: str | None = None) -> PresentationContext:
        """The context that the agent's running turn began with; before any turn, the present one."""
        for key in (agent_id or _CONVERSATION, _CONVERSATION):
            if key in self.turn:
                return self.turn[key]
        return self.for_agent(agent_id)

    def instruction(self, agent_id: str | None = None) -> str:
        """The display instruction of the agent's running turn."""
        return self.turn_context(agent_id).to_system_instruction()


def _decider(clients: Mapping[str, PresentationContext], field: str, value: Any) -> str | None:
    """The first client whose own display has the value; a limit on columns may follow from its width."""
    own = "table_columns" if field == "max_table_columns" else field
    return next((name for name, context in clients.items() if getattr(context, own) == value), None)


def _context(known: PresentationContext | None, terminal_width: Any, presentation: Any) -> PresentationContext:
    if isinstance(presentation, PresentationContext):
        return presentation
    if presentation is None:
        stated = PresentationContext.from_dict({"terminal_width": terminal_width})
        if known is None:
            return stated
        return known if terminal_width is None else dataclasses.replace(known, content_width=stated.content_width)
    if terminal_width is not None and isinstance(presentation, Mapping):
        presentation = {**presentation, "terminal_width": terminal_width}
    return PresentationContext.from_dict(presentation)
