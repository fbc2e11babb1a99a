"""What clients say on a socket: one object for each message, its `type` says which."""

from typing import Annotated, Any, Literal, Union

import msgspec
from msgspec import Meta

from vantage.conversation.requests import refusal
from vantage.errors import Invalid

_LONGEST_ID = 64
ConversationId = Annotated[str, Meta(max_length=_LONGEST_ID)]
ClientId = Annotated[str, Meta(min_length=1, max_length=100)]
Channel = Literal["rows", "screen", "blocks"]
Surface = Literal["html", "terminal", "plain", "telegram", "slack"]


class Said(msgspec.Struct, tag_field="type"):
    """Fields that nobody knows are ignored."""


class Hello(Said, tag="hello"):
    client_id: ClientId
    token: str | None = None
    terminal_width: int | None = None
    presentation: dict[str, Any] | None = None


class Subscribe(Said, tag="subscribe"):
    conversation_id: ConversationId
    channels: tuple[Channel, ...] = ("rows",)
    surface: Surface = "html"
    epoch: str | None = None
    after: Annotated[int, Meta(ge=0)] | None = None


class Unsubscribe(Said, tag="unsubscribe"):
    conversation_id: ConversationId


class ClientConfig(Said, tag="client_config"):
    terminal_width: int | None = None
    presentation: dict[str, Any] | None = None
    primary: bool | None = None


class TakeKeyboard(Said, tag="take_keyboard"):
    conversation_id: ConversationId


class ReleaseKeyboard(Said, tag="release_keyboard"):
    conversation_id: ConversationId


class Input(Said, tag="input"):
    """What a person types: `data` is text, `keys` are names of keys."""

    conversation_id: ConversationId
    data: str | None = None
    keys: list[str] | None = None
    paste: bool | None = None
    secret: bool | None = None

    def given(self) -> dict[str, Any]:
        said = {"data": self.data, "keys": self.keys, "paste": self.paste, "secret": self.secret}
        return {name: value for name, value in said.items() if value is not None}


class Ping(Said, tag="ping"):
    id: int | str | None = None


MESSAGES = (Hello, Subscribe, Unsubscribe, ClientConfig, TakeKeyboard, ReleaseKeyboard, Input, Ping)
_decoder: msgspec.json.Decoder[Said] = msgspec.json.Decoder(Union[MESSAGES])  # noqa: UP007 -- made of a table
_BY_TYPE: dict[Any, type[Said]] = {kind.__struct_config__.tag: kind for kind in MESSAGES}


class NotUnderstood(Invalid):
    def __init__(self, message: str, *, hint: str, known: dict[str, Any] | None = None) -> None:
        super().__init__(message, hint=hint)
        self.known = known or {}
        """What could be read of it all the same: `about`, its type, and `conversation_id`."""


def read(data: str | bytes) -> Said:
    try:
        return _decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise _refusal(data, str(error)) from None


def _refusal(data: str | bytes, error: str) -> NotUnderstood:
    try:
        said = msgspec.json.decode(data, type=dict[str, Any])
        kind = _BY_TYPE[said["type"]]
    except (msgspec.MsgspecError, UnicodeError, RecursionError, LookupError, TypeError):
        types = ", ".join(_BY_TYPE)
        hint = f"a message is a JSON object whose type is one of {types}, with the fields of that type"
        return NotUnderstood(f"not understood: {error}", hint=hint)
    known = {"about": said["type"]}
    if isinstance(stated := said.get("conversation_id"), str) and len(stated) <= _LONGEST_ID:
        known["conversation_id"] = stated
    wrong = refusal(kind, error)
    return NotUnderstood(f"not understood: {wrong.message}", hint=wrong.hint, known=known)
