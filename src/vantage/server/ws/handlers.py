"""The handler of each message of a client: a table from its type to a function."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from vantage.errors import Invalid
from vantage.presentation import warnings_about
from vantage.server.ws.messages import (
    Answer,
    ClientConfig,
    ClientMessage,
    Hello,
    Input,
    Interrupt,
    Ping,
    ReleaseKeyboard,
    Say,
    Subscribe,
    SubscribeList,
    TakeKeyboard,
    Unsubscribe,
    UnsubscribeList,
)

if TYPE_CHECKING:
    from vantage.server.ws.socket import Socket


async def hello(socket: "Socket", message: Hello) -> None:
    if message.token is not None:
        socket.identity.show(message.token)
    scope = socket.identity.admit(socket)
    socket.identity.name(message.client_id)
    if message.presentation is not None or message.terminal_width is not None:
        socket.subscriptions.set_display(terminal_width=message.terminal_width, presentation=message.presentation)
    warnings = [*socket.inbox.ignored, *warnings_about(message.presentation)]
    said = {"warnings": warnings} if warnings else {}
    await socket.connection.say("welcome", client_id=message.client_id, scope=scope, **said)


async def subscribe(socket: "Socket", message: Subscribe) -> None:
    await socket.subscriptions.add(message)


async def unsubscribe(socket: "Socket", message: Unsubscribe) -> None:
    socket.subscriptions.remove(message.conversation_id)


async def client_config(socket: "Socket", message: ClientConfig) -> None:
    client_id = socket.identity.client_id
    if message.client_id not in (None, client_id):
        raise Invalid(f"this socket belongs to {client_id}", hint="leave client_id out")
    warnings = [*socket.inbox.ignored, *warnings_about(message.presentation)]
    if message.agent is not None:
        await _set_agent_display(socket, message.agent.id, message)
    else:
        if message.primary is not None:
            socket.identity.must_write()
        socket.subscriptions.set_display(terminal_width=message.terminal_width, presentation=message.presentation)
        await socket.subscriptions.declare(message.primary)
    if warnings:
        await socket.connection.say("warnings", about="client_config", warnings=warnings)


async def _set_agent_display(socket: "Socket", agent_id: str, message: ClientConfig) -> None:
    """Sets the display of one agent: in the named conversation, else in the only one that the socket follows."""
    socket.identity.must_write()
    conversation_id = message.conversation_id or socket.subscriptions.only
    if conversation_id is None:
        raise Invalid("client_config with an agent needs a conversation_id", hint="name the agent's conversation")
    given = {"presentation": message.presentation, "terminal_width": message.terminal_width}
    stated = {name: value for name, value in given.items() if value is not None}
    await socket.bus.request(conversation_id, "set_agent" if stated else "drop_agent", agent_id=agent_id, **stated)


async def take_keyboard(socket: "Socket", message: TakeKeyboard) -> None:
    await socket.keyboard.take(message.conversation_id)
    socket.subscriptions.come(message.conversation_id)


async def release_keyboard(socket: "Socket", message: ReleaseKeyboard) -> None:
    await socket.keyboard.release(message.conversation_id)


async def type_input(socket: "Socket", message: Input) -> None:
    await socket.keyboard.type(message)


async def subscribe_list(socket: "Socket", _: SubscribeList) -> None:
    await socket.subscriptions.follow_list()


async def unsubscribe_list(socket: "Socket", _: UnsubscribeList) -> None:
    socket.subscriptions.leave_list()


async def answer(socket: "Socket", message: Answer) -> None:
    """A subscriber of requests hears of the answer there; another client is told directly."""
    socket.identity.must_be_person()
    by = f"client:{socket.identity.client_id}"
    said = await socket.bus.request(message.conversation_id, "answer_request", **message.given(), by=by)
    if not socket.subscriptions.hears_requests(message.conversation_id):
        await socket.connection.say("answer", conversation_id=message.conversation_id, answer=said["answer"])


async def say(socket: "Socket", message: Say) -> None:
    socket.identity.must_be_person()
    given = {} if message.attachments is None else {"attachments": message.attachments}
    by = f"client:{socket.identity.client_id}"
    answer = await socket.bus.request(message.conversation_id, "say", text=message.text, by=by, **given)
    said = {"conversation_id": message.conversation_id, "delivery": answer["delivery"]}
    seq = {"seq": answer["seq"]} if "seq" in answer else {}
    await socket.connection.say("said", **said, **seq, **_named(message.id))


async def interrupt(socket: "Socket", message: Interrupt) -> None:
    socket.identity.must_write()
    answer = await socket.bus.request(message.conversation_id, "interrupt")
    done = {"conversation_id": message.conversation_id, "interrupted": answer["interrupted"]}
    await socket.connection.say("interrupted", **done, **_named(message.id))


def _named(message_id: int | str | None) -> dict[str, Any]:
    """An answer names the message that it answers, where that has an id."""
    return {} if message_id is None else {"id": message_id}


async def ping(socket: "Socket", message: Ping) -> None:
    await socket.connection.say("pong", **_named(message.id))


Handler = Callable[["Socket", Any], Awaitable[None]]

HANDLERS: dict[type[ClientMessage], Handler] = {
    Hello: hello,
    Subscribe: subscribe,
    Unsubscribe: unsubscribe,
    ClientConfig: client_config,
    TakeKeyboard: take_keyboard,
    ReleaseKeyboard: release_keyboard,
    Input: type_input,
    SubscribeList: subscribe_list,
    UnsubscribeList: unsubscribe_list,
    Answer: answer,
    Say: say,
    Interrupt: interrupt,
    Ping: ping,
}
