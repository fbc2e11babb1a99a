"""The tool `ask_person`: a model's question becomes a request, and its call waits a while for the answer.

A call that a client sends again is the same request, because its id is made of the call's id. A call with the
`request_id` of an earlier answer goes on waiting.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from vantage.conversation.verbs.fields import read_params
from vantage.conversation.verbs.verb import Params, Result
from vantage.errors import Invalid, NotFound

REQUEST = "ask"
_MAX_TITLE = 200


class AskPerson(Params, frozen=True):
    question: Annotated[str, Meta(max_length=1 << 16, description="Markdown")] | UnsetType = UNSET
    options: (
        Annotated[list[str], Meta(max_length=50, description="Answers to choose from; without: free text")] | UnsetType
    ) = UNSET
    timeout_ms: Annotated[int, Meta(ge=0, description="Wait so long")] | UnsetType = UNSET
    request_id: Annotated[str, Meta(max_length=200, description="Of an earlier answer: wait on")] | UnsetType = UNSET


class Asked(Result):
    """How a question stands."""

    state: Annotated[Literal["answered", "pending", "closed"], Meta(description="`pending`: no answer yet")]
    request_id: Annotated[str, Meta(description="To wait on")]
    answer: Annotated[str | None, Meta(description="The option that was chosen, or the text")] = None
    by: Annotated[str | None, Meta(description="Who answered")] = None
    why: Annotated[str | None, Meta(description="Why it was closed without an answer")] = None


async def ask(caller: Any, conversation_id: str, given: dict[str, Any], call_id: Any, longest: float) -> dict[str, Any]:
    """Asks or waits on, at most `longest` seconds."""
    params, ignored = read_params(AskPerson, given)
    wait = longest if params.timeout_ms is UNSET else min(params.timeout_ms / 1000, longest)
    bus = caller.services.bus
    if params.request_id is not UNSET and params.question is UNSET:
        try:
            entry = await bus.request(conversation_id, "request", request_id=params.request_id, wait=wait)
        except NotFound as error:
            raise NotFound(error.message, hint="ask again, with question and without request_id") from None
    else:
        entry = await bus.request(conversation_id, "ask", **_fields(params, call_id), wait=wait)
    answered = _told(entry).to_dict()
    return {**answered, "warnings": ignored} if ignored else answered


def _fields(params: AskPerson, call_id: Any) -> dict[str, Any]:
    if params.question is UNSET or not params.question.strip():
        raise Invalid("missing required field `question`", hint="or give request_id, to wait on")
    question = params.question.strip()
    first = question.splitlines()[0]
    title = first if len(first) <= _MAX_TITLE else f"{first[: _MAX_TITLE - 1]}…"
    fields: dict[str, Any] = {"title": title}
    if title != question:
        fields["text"] = question
    if params.options is not UNSET and params.options:
        fields["options"] = [each if len(each) <= _MAX_TITLE // 2 else _long(each) for each in params.options]
    if params.request_id is not UNSET:
        fields["request_id"] = params.request_id
    elif isinstance(call_id, str) and call_id:
        fields["request_id"] = f"ask-{call_id}"
    return fields


def _long(option: str) -> dict[str, str]:
    """An option whose text is too long for an id."""
    return {"id": f"{option[: _MAX_TITLE // 2 - 1]}…", "label": option}


def _told(entry: dict[str, Any]) -> Asked:
    if entry["state"] == "open":
        return Asked(state="pending", request_id=entry["request_id"])
    answer = entry.get("answer")
    if answer is None:
        return Asked(state="closed", request_id=entry["request_id"], why=entry.get("closed"))
    said = ": ".join(answer[name] for name in ("option", "text") if answer.get(name) is not None)
    return Asked(state="answered", request_id=entry["request_id"], answer=said, by=answer.get("by"))
