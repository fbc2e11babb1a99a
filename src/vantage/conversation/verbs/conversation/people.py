"""The verbs of people who type: take the keyboard, type, give it back."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from vantage.conversation.verbs.conversation.displays import ClientId, OneClient
from vantage.conversation.verbs.conversation.target import Target
from vantage.conversation.verbs.terminal import inputs
from vantage.conversation.verbs.terminal.keyboard import person
from vantage.conversation.verbs.terminal.results import Cursor
from vantage.conversation.verbs.verb import Done, Params, Result, verb
from vantage.errors import Invalid


class TypeInput(Params, frozen=True):
    """Types for the person who has the keyboard."""

    client_id: ClientId
    owner: Annotated[
        str, Meta(description="The token that the client id belongs to; empty for callers within this process")
    ] = ""
    data: Annotated[str, Meta(description="Text")] | UnsetType = UNSET
    keys: Annotated[list[str], Meta(description="Names of keys")] | UnsetType = UNSET
    paste: Annotated[bool, Meta(description="As a paste")] = False
    secret: Annotated[bool, Meta(description="It is the answer to a password prompt")] = False
    hold: Annotated[
        bool,
        Meta(description="False: it is dropped where it would have to wait for a prompt, since a Ctrl-C follows it"),
    ] = True


class KeyboardState(Result):
    keyboard: Annotated[str, Meta(description="Who types: `agent`, or `client:<id>`")]


@verb("Type as a person: the agent is refused until the keyboard is given back.")
async def take_keyboard(target: Target, params: OneClient) -> KeyboardState:
    target.conversation.displays.claim(params.client_id, params.owner)
    target.conversation.take_keyboard(params.client_id)
    return KeyboardState(keyboard=target.conversation.pty.keyboard.holder)


@verb("Give the keyboard back to the agent.")
async def release_keyboard(target: Target, params: OneClient) -> KeyboardState:
    target.conversation.displays.claim(params.client_id, params.owner)
    target.conversation.release_keyboard(params.client_id)
    return KeyboardState(keyboard=target.conversation.pty.keyboard.holder)


@verb("Type what a person types.")
async def type_(target: Target, params: TypeInput) -> Cursor:
    target.conversation.displays.claim(params.client_id, params.owner)
    how = inputs.Typing(by=person(params.client_id), secret=params.secret, hold=params.hold)
    terminal = target.conversation.pty
    if params.keys is not UNSET and params.data is UNSET:
        return await inputs.press_keys(terminal, params.keys, msgspec.structs.replace(how, secret=False))
    if params.data is UNSET or params.keys is not UNSET:
        raise Invalid("give one of data and keys", hint="data is text, keys are names of keys")
    if params.paste:
        return await inputs.type_text(terminal, params.data, how, paste=True)
    return await inputs.type_bytes(terminal, params.data.encode(), how)  # a person's Ctrl-J is no Enter


@verb("Drop input that waits for the prompt, because a Ctrl-C follows it.")
async def drop_held(target: Target, params: OneClient) -> Done:
    target.conversation.displays.claim(params.client_id, params.owner)
    terminal = target.conversation.pty
    terminal.keyboard.check(person(params.client_id))
    terminal.held.drop()
    return Done()
