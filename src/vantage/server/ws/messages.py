"""The messages of clients, typed: one struct for each `type`."""

from typing import Annotated, Any, Literal, Union

import msgspec
from msgspec import Meta

from vantage.conversation.verbs.fields import our_spelling, refusal, unknown_fields
from vantage.errors import Invalid
from vantage.terminal.input.keys import is_interrupt

_MAX_ID = 64
ConversationId = Annotated[str, Meta(max_length=_MAX_ID)]
ClientId = Annotated[str, Meta(min_length=1, max_length=100)]
Channel = Literal["rows", "screen", "blocks", "events", "requests"]
Surface = Literal["html", "terminal", "plain", "telegram", "slack"]


class ClientMessage(msgspec.Struct, tag_field="type"):
    """Unknown fields are ignored; `ignored_fields` names them."""


class InConversation(ClientMessage):
    conversation_id: ConversationId


class Hello(ClientMessage, tag="hello"):
    client_id: ClientId
    token: str | None = None
    terminal_width: int | None = None
    presentation: dict[str, Any] | None = None


class Subscribe(InConversation, tag="subscribe"):
    channels: tuple[Channel, ...] = ("rows",)
    surface: Surface = "html"
    epoch: str | None = None
    after: Annotated[int, Meta(ge=0)] | None = None


class Unsubscribe(InConversation, tag="unsubscribe"):
    pass


class OneAgent(msgspec.Struct):
    id: Annotated[str, Meta(min_length=1, max_length=200)]


class ClientConfig(ClientMessage, tag="client_config"):
    """With `agent`, the display is that agent's in the conversation, and this client's does not change."""

    client_id: ClientId | None = None
    """As in the event of that name; here it can only be the socket's own."""
    agent: OneAgent | None = None
    conversation_id: ConversationId | None = None
    terminal_width: int | None = None
    presentation: dict[str, Any] | None = None
    primary: bool | None = None


class TakeKeyboard(InConversation, tag="take_keyboard"):
    pass


class ReleaseKeyboard(InConversation, tag="release_keyboard"):
    pass


class Input(InConversation, tag="input"):
    """What a person types: `data` is text, `keys` are names of keys."""

    data: str | None = None
    keys: list[str] | None = None
    paste: bool | None = None
    secret: bool | None = None

    @property
    def interrupts(self) -> bool:
        """Whether it begins with Ctrl-C."""
        return (self.data or "").startswith("\x03") or is_interrupt(next(iter(self.keys or ()), ""))

    def given(self) -> dict[str, Any]:
        said = {"data": self.data, "keys": self.keys, "paste": self.paste, "secret": self.secret}
        return {name: value for name, value in said.items() if value is not None}


class SubscribeList(ClientMessage, tag="subscribe_list"):
    pass


class UnsubscribeList(ClientMessage, tag="unsubscribe_list"):
    pass


class Answer(InConversation, tag="answer"):
    """What a person answers to a request. `hash` is that of what was displayed."""

    request_id: Annotated[str, Meta(max_length=200)]
    hash: str
    option: str | None = None
    text: str | None = None
    values: dict[str, Any] | None = None

    def given(self) -> dict[str, Any]:
        said = {"option": self.option, "text": self.text, "values": self.values}
        return {
            "request_id": self.request_id,
            "hash": self.hash,
            **{name: value for name, value in said.items() if value is not None},
        }


class Say(InConversation, tag="say"):
    """A message to the conversation's agent."""

    text: Annotated[str, Meta(min_length=1)]
    attachments: list[str] | None = None
    id: int | str | None = None


class Interrupt(InConversation, tag="interrupt"):
    """Stops the turn of the conversation's agent."""

    id: int | str | None = None


class Ping(ClientMessage, tag="ping"):
    id: int | str | None = None


MESSAGES = (
    Hello,
    Subscribe,
    Unsubscribe,
    SubscribeList,
    UnsubscribeList,
    ClientConfig,
    TakeKeyboard,
    ReleaseKeyboard,
    Input,
    Answer,
    Say,
    Interrupt,
    Ping,
)
_decoder: msgspec.json.Decoder[ClientMessage] = msgspec.json.Decoder(Union[MESSAGES])  # noqa: UP007 -- made of a table
_object: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])
_BY_TYPE: dict[Any, type[ClientMessage]] = {kind.__struct_config__.tag: kind for kind in MESSAGES}


class NotUnderstood(Invalid):
    def __init__(self, message: str, *, hint: str, known: dict[str, Any] | None = None) -> None:
        super().__init__(message, hint=hint)
        self.known = known or {}
        """What could be read of the message: `about`, its type, and `conversation_id`."""


def about(message: ClientMessage) -> dict[str, Any]:
    """How an error names the message it answers: its type, and its conversation."""
    known = {"about": message.__struct_config__.tag}
    if isinstance(message, InConversation | ClientConfig) and message.conversation_id:
        known["conversation_id"] = message.conversation_id
    if isinstance(message, Answer):
        known["request_id"] = message.request_id
    return known


def read(data: str | bytes) -> ClientMessage:
    """Decodes a message; a field may be spelt in camelCase as well. Raises NotUnderstood."""
    try:
        said = _object.decode(data)
        kind = _BY_TYPE.get(said.get("type"))
        return _decoder.decode(data) if kind is None else msgspec.convert(our_spelling(kind, said), kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, TypeError) as error:
        raise _refusal(data, str(error)) from None


def ignored_fields(data: str | bytes) -> list[str]:
    """A sentence for every unknown field of a message that `read` took."""
    said = _object.decode(data)
    kind = _BY_TYPE[said["type"]]
    return unknown_fields(kind, our_spelling(kind, said), "type")


def _refusal(data: str | bytes, error: str) -> NotUnderstood:
    try:
        said = msgspec.json.decode(data, type=dict[str, Any])
        kind = _BY_TYPE[said["type"]]
    except (msgspec.MsgspecError, UnicodeError, RecursionError, LookupError, TypeError):
        types = ", ".join(_BY_TYPE)
        hint = f"a message is a JSON object whose type is one of {types}, with the fields of that type"
        return NotUnderstood(f"not understood: {error}", hint=hint)
    known = {"about": said["type"]}
    if isinstance(stated := said.get("conversation_id"), str) and len(stated) <= _MAX_ID:
        known["conversation_id"] = stated
    wrong = refusal(kind, our_spelling(kind, said), error)
    return NotUnderstood(f"not understood: {wrong.message}", hint=wrong.hint, known=known)
