"""The verbs of requests to people: ask, look, answer, withdraw."""

import secrets
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from vantage.conversation.requests.content import MAX_DETAILS, check_form, check_options
from vantage.conversation.requests.ledger import Entry, as_fields, told
from vantage.conversation.requests.scan import request_events
from vantage.conversation.store.conversation_folder import check_id
from vantage.conversation.verbs.conversation.target import Home, Target
from vantage.conversation.verbs.verb import Params, Result, verb
from vantage.errors import Conflict, Invalid
from vantage.events import Agent, Answer, Request, compact_json

MAX_WAIT_S = 3600
MAX_TEXT = 1 << 16

RequestId = Annotated[
    str, Meta(min_length=1, max_length=200, pattern=r"^[^\s/\x00-\x1f\x7f]+$", description="Which request")
]
WaitSeconds = Annotated[
    float, Meta(ge=0, le=MAX_WAIT_S, description="Seconds to wait for its end; the answer then says how it stands")
]
Word = Annotated[str, Meta(min_length=1, max_length=100)]


class Option(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One way to answer."""

    id: Annotated[Word, Meta(description="What an answer names")]
    label: Annotated[str, Meta(max_length=500, description="What a person reads; the id where it is left out")] = ""
    kind: Annotated[
        Literal["allow", "deny", "choice"], Meta(description="Whether it lets the agent go on, stops it, or chooses")
    ] = "choice"
    scope: Annotated[Literal["once", "session", "always"] | None, Meta(description="How long an approval holds")] = None
    needs_text: Annotated[bool, Meta(description="A text comes with it; the others take none")] = False


class Asker(msgspec.Struct, kw_only=True):
    """The agent that asks."""

    id: Annotated[str, Meta(max_length=200, description="Its id, as in its events")] = ""
    name: Annotated[str, Meta(max_length=200, description="What people call it")] = ""
    depth: Annotated[int, Meta(ge=0, le=1000, description="0 for the root agent, more for sub-agents")] = 0


class Waiting(Params, frozen=True):
    wait: WaitSeconds = 0


class Ask(Params, frozen=True):
    title: Annotated[str, Meta(min_length=1, max_length=1000, description="The question, in one line")]
    request_id: (
        Annotated[RequestId, Meta(description="A name of its own; asked again with it, it is the same request")]
        | UnsetType
    ) = UNSET
    kind: Annotated[
        Literal["question", "approval"], Meta(description="`approval` for something that the agent wants to do")
    ] = "question"
    text: Annotated[str, Meta(max_length=MAX_TEXT, description="More about it, as markdown")] | UnsetType = UNSET
    tool: Annotated[str, Meta(max_length=200, description="The tool that is to be used")] | UnsetType = UNSET
    toolCallId: Annotated[str, Meta(max_length=200, description="The call that waits")] | UnsetType = UNSET  # noqa: N815
    args: Annotated[Any, Meta(description="The tool's arguments")] | UnsetType = UNSET
    cwd: Annotated[str, Meta(max_length=4096, description="Where it would run")] | UnsetType = UNSET
    details: Annotated[str, Meta(max_length=MAX_DETAILS, description="A diff, for example")] | UnsetType = UNSET
    options: (
        Annotated[
            list[Word | Option],
            Meta(max_length=50, description="The answers to choose from; without options and schema, a text is asked"),
        ]
        | UnsetType
    ) = UNSET
    schema: Annotated[dict[str, Any], Meta(description="A form, as JSON Schema of an object")] | UnsetType = UNSET
    expires: (
        Annotated[int, Meta(description="When it closes without an answer, in milliseconds since the epoch")]
        | UnsetType
    ) = UNSET
    agent: Annotated[Asker, Meta(description="The agent that asks")] | UnsetType = UNSET
    wait: WaitSeconds = 0


class ReadRequest(Params, frozen=True):
    request_id: RequestId
    wait: WaitSeconds = 0


class OneRequest(Params, frozen=True):
    request_id: RequestId


class ListRequests(Params, frozen=True):
    state: Annotated[Literal["open", "all"], Meta(description="`all` needs a conversation or a request_id")] = "open"
    conversation: Annotated[str, Meta(max_length=64, description="Only of this conversation")] | UnsetType = UNSET
    request_id: Annotated[str, Meta(max_length=200, description="Only this one")] | UnsetType = UNSET


class AnswerRequest(Params, frozen=True):
    request_id: RequestId
    hash: Annotated[str, Meta(max_length=64, description="The hash of what was displayed")]
    option: Annotated[str, Meta(max_length=200, description="The id of an option")] | UnsetType = UNSET
    text: Annotated[str, Meta(max_length=MAX_TEXT, description="What the person wrote")] | UnsetType = UNSET
    values: Annotated[dict[str, Any], Meta(description="The fields of the form")] | UnsetType = UNSET
    by: Annotated[
        str,
        Meta(
            max_length=300,
            pattern=r"^(cli|client:.+|bot:[^:]+:.+)$",
            description="Who answers: `cli`, `client:<id>` or `bot:<name>:<person>`. Default over HTTP: the token",
        ),
    ] = "cli"


class RequestState(Result):
    """How a request stands."""

    request_id: Annotated[str, Meta(description="Which request")]
    hash: Annotated[str, Meta(description="The hash of what it shows; an answer carries it")]
    state: Annotated[Literal["open", "answered", "closed"], Meta(description="`closed`: it ended without an answer")]
    answer: Annotated[
        dict[str, Any] | None, Meta(description="`option`, `text` or `values`, and `by`, once there is one")
    ] = None
    closed: Annotated[
        str | None,
        Meta(
            description="Why it ended: `expired`, `withdrawn`, `answered_elsewhere` or `lost`; `too_late` where the "
            "answer could not be delivered"
        ),
    ] = None


class WholeRequest(RequestState, kw_only=True):
    request: Annotated[dict[str, Any], Meta(description="The request, as its event has it")]


class RequestList(Result):
    requests: Annotated[
        list[dict[str, Any]],
        Meta(description="Each as its event has it, with `conversation_id` and `state`; the oldest first"),
    ]


@verb("Ask a person. The question stays open until an answer, its expiry or its withdrawal.")
async def ask(target: Target, params: Ask) -> RequestState:
    requests = target.conversation.requests
    request = _request(params)
    if not requests.knows(request.request_id):
        _check_unused(target, request)
    requests.open(request)
    return RequestState(**told(await requests.wait(request.request_id, params.wait)))


@verb("One request, and how it stands; with `wait`, once it has ended.", reads=True, waits=True)
async def request(target: Target, params: ReadRequest) -> WholeRequest:
    entry = await target.conversation.requests.wait(params.request_id, params.wait)
    return WholeRequest(**told(entry), request=as_fields(entry.request))


@verb("Answer a request, once. The first answer counts.")
async def answer_request(target: Target, params: AnswerRequest) -> RequestState:
    given = params.given()
    shown = given.pop("hash")
    return RequestState(**told(target.conversation.requests.answer(Answer(**given), shown)))


@verb("Take a request back: it is closed without an answer.")
async def withdraw(target: Target, params: OneRequest) -> RequestState:
    return RequestState(**told(target.conversation.requests.close(params.request_id, "withdrawn")))


@verb("The open requests of all conversations, the oldest first.", reads=True)
async def requests(home: Home, params: ListRequests) -> RequestList:
    wanted = None if params.request_id is UNSET else params.request_id
    if params.conversation is not UNSET:
        names = [check_id(params.conversation)]
    elif wanted is not None:
        names = _conversations_with(home, wanted)
    elif params.state == "all":
        raise Invalid("`state`: `all` needs more", hint="give `conversation` or `request_id` with it")
    else:
        names = _conversations_with_open(home)
    found = [
        {**as_fields(entry.request), **told(entry), "conversation_id": name}
        for name in names
        for entry in _entries(home, name, params.state)
        if wanted in (None, entry.request.request_id)
    ]
    return RequestList(requests=sorted(found, key=lambda each: each.get("ts", 0)))


def _entries(home: Home, conversation_id: str, state: Literal["open", "all"]) -> list[Entry]:
    held = home.manager.get(conversation_id).requests
    opened = held.open_entries()
    return opened if state == "open" else held.entries()


def _conversations_with_open(home: Home) -> list[str]:
    """Those with open requests: a process that starts opens them all."""
    return [each.id for each in home.manager.open_conversations() if each.requests.has_open]


def _conversations_with(home: Home, request_id: str) -> list[str]:
    """The conversation that has a request: one that is in use, else one whose log has it."""
    in_use = [each.id for each in home.manager.open_conversations() if each.requests.knows(request_id)]
    if in_use:
        return in_use
    return [settings.id for settings in home.manager.list() if _has(home, settings.id, request_id)][:1]


def _has(home: Home, conversation_id: str, request_id: str) -> bool:
    if home.manager.opened(conversation_id) is not None:
        return False
    log = home.manager.folder(conversation_id).events
    return any(isinstance(event, Request) and event.request_id == request_id for event in request_events(log))


def _check_unused(target: Target, request: Request) -> None:
    """An id is used once among the conversations that are in use: an answer may name it without a conversation."""
    for other in target.manager.open_conversations():
        if other.requests.knows(request.request_id):
            raise Conflict(
                f"conversation {other.id!r} has a request {request.request_id!r}", hint="choose another request_id"
            )


def _request(params: Ask) -> Request:
    given = params.given()
    del given["wait"]
    given.setdefault("request_id", f"q-{secrets.token_hex(6)}")
    if "schema" in given:
        check_form(given["schema"])
    if len(compact_json(given.get("args"))) > MAX_DETAILS:
        raise Invalid(f"`args`: more than {MAX_DETAILS:,} characters", hint="say in `text` what they are about")
    if "options" in given:
        options = [_option(each) for each in given["options"]]
        check_options(options)
        given["options"] = options
    if "agent" in given:
        given["agent"] = msgspec.convert(given["agent"], Agent, from_attributes=True)
    if "toolCallId" in given:
        given["tool_call_id"] = given.pop("toolCallId")
    return Request(**given)


def _option(given: str | Option) -> dict[str, Any]:
    option = Option(id=given) if isinstance(given, str) else given
    fields: dict[str, Any] = msgspec.to_builtins(option)
    return {"id": option.id, "label": option.label or option.id, "kind": option.kind, **fields}
