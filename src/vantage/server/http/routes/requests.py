"""Requests to people over HTTP: ask, look, answer, withdraw. `wait` holds a call until the request has ended."""

from typing import Any

from vantage.conversation.verbs.conversation import requests
from vantage.errors import Invalid
from vantage.server.http.held import held
from vantage.server.http.reading import read_query
from vantage.server.http.route import C, Call, Route, verb_route

_ONE = f"{C}/requests/{{request_id}}"


async def list_requests(call: Call) -> Any:
    """The open requests of all conversations, the oldest first."""
    answer = await call.ask("requests")
    answer["requests"] = [each for each in answer["requests"] if call.reach.has(each["conversation_id"])]
    return answer


async def ask(call: Call) -> Any:
    """Ask a person. The question stays open until an answer, its expiry or its withdrawal.

    The same `request_id` with the same content is the same request, so a call can be sent again. `wait` may stand in
    the query as well.
    """
    query = read_query(call.request.scope["query_string"], requests.Waiting)
    return await held(call, call.ask("ask", **query))


async def read_request(call: Call) -> Any:
    """One request, and how it stands; with `wait`, once it has ended."""
    return await held(call, call.ask("request"))


async def answer_request(call: Call) -> Any:
    """Answer a request, once. The first answer counts; a later one is told who answered what.

    `hash` is that of what was displayed: an answer to something else is refused. Without `by`, the answer is from the
    token that it is sent with.
    """
    by = call.fields.get("by")
    if by is not None and not isinstance(by, str):
        raise Invalid("`by`: expected a text, got something else", hint="leave it out")
    return await call.ask("answer_request", by=by or f"client:{call.token_id}")


ROUTES = (
    Route("GET", "/v1/requests", list_requests, requests.ListRequests, requests.RequestList, errors=(404,)),
    Route("POST", f"{C}/requests", ask, requests.Ask, requests.RequestState, errors=(409,)),
    Route("GET", _ONE, read_request, requests.Waiting, requests.WholeRequest),
    verb_route("DELETE", _ONE, "withdraw_request", requests.withdraw),
    Route(
        "POST",
        f"{_ONE}/answer",
        answer_request,
        requests.AnswerRequest,
        requests.RequestState,
        person=True,
        errors=(409,),
    ),
)
