"""The verbs of displays: what clients and agents can show, and the instruction for the model that follows from it."""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from vantage.conversation.verbs.conversation.target import Target
from vantage.conversation.verbs.verb import Done, NoParams, Params, Result, verb
from vantage.errors import Invalid, NotFound
from vantage.presentation import warnings_about
from vantage.timeline.contexts import Reason

ClientId = Annotated[str, Meta(min_length=1, max_length=100, description="The client's own name for itself")]
AgentId = Annotated[str, Meta(min_length=1, max_length=200, description="Which agent, by the id in its events")]


class SetClient(Params, frozen=True):
    client_id: ClientId
    terminal_width: Annotated[int, Meta(description="Columns that the display has")] | UnsetType = UNSET
    presentation: (
        Annotated[dict[str, Any], Meta(description="What the display can show: any field of a presentation context")]
        | UnsetType
    ) = UNSET
    primary: Annotated[bool, Meta(description="Whether this display decides alone")] | UnsetType = UNSET
    keep: Annotated[bool, Meta(description="Without a socket that says when it is gone")] = False
    read_only: Annotated[bool, Meta(description="The token may only watch")] = False
    owner: Annotated[
        str, Meta(description="The token that the client id belongs to; nothing for callers within this process")
    ] = ""


class OneClient(Params, frozen=True):
    client_id: ClientId
    owner: Annotated[
        str, Meta(description="The token that the client id belongs to; empty for callers within this process")
    ] = ""


class SetAgent(Params, frozen=True):
    agent_id: AgentId
    presentation: (
        Annotated[dict[str, Any], Meta(description="What the display can show: any field of a presentation context")]
        | UnsetType
    ) = UNSET
    terminal_width: Annotated[int, Meta(description="Columns that the display has")] | UnsetType = UNSET


class OneAgent(Params, frozen=True):
    agent_id: AgentId


class Instructions(Params, frozen=True):
    agent: Annotated[str, Meta(description="An agent with a context of its own")] | UnsetType = UNSET
    additional: Annotated[str, Meta(description="More text for the model, before the instruction")] | UnsetType = UNSET
    explain: Annotated[bool, Meta(description="Say which client decided what")] = False


class Configured(Result):
    """A display in the words of the client."""

    warnings: Annotated[tuple[str, ...], Meta(description="Fields of the presentation that mean nothing here")] = ()


class Context(Result):
    presentation: Annotated[
        dict[str, Any] | None, Meta(description="What the client declared; absent when it is not known")
    ] = None


class Client(msgspec.Struct, kw_only=True):
    client_id: Annotated[str, Meta(description="The client's own name for itself")]
    presentation: Annotated[dict[str, Any], Meta(description="What it can show")]
    primary: Annotated[bool, Meta(description="Whether it alone counts")]
    last_seen: Annotated[
        int | None,
        Meta(description="Its last message, in milliseconds since the epoch; null: none since the server started"),
    ]


class Clients(Result):
    clients: Annotated[tuple[Client, ...], Meta(description="The displays that count")]


class Text(Result):
    text: Annotated[str, Meta(description="The instruction, ready for a system prompt")]


class Instruction(Text):
    because: Annotated[
        tuple[Reason, ...],
        Meta(
            description="With `explain`: the width and each field that is no default, with the client that decided it"
        ),
    ] = ()


@verb("Say what a display can show. It counts until it is taken away.")
async def set_client(target: Target, params: SetClient) -> Configured:
    said = params.given()
    target.conversation.displays.set_client(said.pop("client_id"), **said)
    return Configured(warnings=tuple(warnings_about(params.presentation)))


@verb("Take a display away.")
async def drop_client(target: Target, params: OneClient) -> Done:
    conversation = target.conversation
    conversation.displays.claim(params.client_id, params.owner)
    known = params.client_id in conversation.displays.contexts.clients
    conversation.drop_client(params.client_id)
    if not known:
        raise NotFound(f"there is no client {params.client_id!r}", hint="it may have left already")
    return Done()


@verb("Reserve a client id for a token.")
async def claim_client(target: Target, params: OneClient) -> Done:
    target.conversation.displays.claim(params.client_id, params.owner)
    return Done()


@verb("What a client said of its display.", reads=True)
async def client(target: Target, params: OneClient) -> Context:
    known = target.conversation.displays.contexts.clients.get(params.client_id)
    return Context(presentation=known.to_dict() if known is not None else None)


@verb("The displays that count for what the agent is told.", reads=True)
async def clients(target: Target, _: NoParams) -> Clients:
    contexts = target.conversation.displays.contexts
    return Clients(
        clients=tuple(
            Client(
                client_id=name,
                presentation=context.to_dict(),
                primary=name == contexts.primary,
                last_seen=target.conversation.displays.last_seen.get(name),
            )
            for name, context in contexts.clients.items()
        )
    )


@verb("Say what the display of one agent can show. Its instruction follows it, the clients' does not.")
async def set_agent(target: Target, params: SetAgent) -> Configured:
    said = params.given()
    if not said.keys() & {"presentation", "terminal_width"}:
        hint = "say what the agent's display can show, or terminal_width alone"
        raise Invalid("missing required field `presentation`", hint=hint)
    target.conversation.displays.set_agent(said.pop("agent_id"), **said)
    return Configured(warnings=tuple(warnings_about(params.presentation)))


@verb("Let an agent write for the clients' displays again.")
async def drop_agent(target: Target, params: OneAgent) -> Done:
    if params.agent_id not in target.conversation.displays.contexts.agents:
        raise NotFound(
            f"agent {params.agent_id!r} has no presentation of its own", hint="it is told of the clients' displays"
        )
    target.conversation.displays.set_agent(params.agent_id)
    return Done()


@verb("What to tell the model about the displays that it is read on.", reads=True)
async def instructions(target: Target, params: Instructions) -> Instruction:
    displays = target.conversation.displays
    agent = None if params.agent is UNSET else params.agent
    additional = None if params.additional is UNSET else params.additional
    because = tuple(displays.contexts.reasons(agent)) if params.explain else ()
    return Instruction(text=displays.instruction(agent, additional), because=because)
