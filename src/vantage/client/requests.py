"""Requests to a server as values: a method, a path and a body. Standard library only."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

CONVERSATIONS = "/v1/conversations"


class Request(NamedTuple):
    method: str
    path: str
    body: bytes = b""
    """JSON, or nothing."""


def request(method: str, path: str, fields: Mapping[str, Any] | Sequence[Any] | None = None) -> Request:
    return Request(method, path, b"" if fields is None else json.dumps(fields).encode())


def given(**fields: Any) -> dict[str, Any]:
    """The fields that have a value. A missing field is left to the server."""
    return {name: value for name, value in fields.items() if value is not None}


def conversation_path(conversation: str, below: str = "", **query: Any) -> str:
    path = f"{CONVERSATIONS}/{quote(conversation, safe='')}{below}"
    asked = urlencode(given(**query))
    return f"{path}?{asked}" if asked else path


def list_conversations() -> Request:
    return request("GET", CONVERSATIONS)


def create(fields: Mapping[str, Any]) -> Request:
    return request("POST", CONVERSATIONS, given(**fields))


def describe(conversation: str) -> Request:
    return request("GET", conversation_path(conversation))


def rename(conversation: str, name: str) -> Request:
    return request("PATCH", conversation_path(conversation), {"name": name})


def close(conversation: str) -> Request:
    return request("POST", conversation_path(conversation, "/close"), {})


def delete(conversation: str) -> Request:
    return request("DELETE", conversation_path(conversation))


def append(conversation: str, events: Sequence[Mapping[str, Any]]) -> Request:
    return request("POST", conversation_path(conversation, "/events"), events)


def start_agent(conversation: str, agent: str, fields: Mapping[str, Any]) -> Request:
    return request("POST", conversation_path(conversation, "/agent"), {"agent": agent, **given(**fields)})


def agent(conversation: str) -> Request:
    return request("GET", conversation_path(conversation, "/agent"))


def end_agent(conversation: str) -> Request:
    return request("DELETE", conversation_path(conversation, "/agent"))


def say(conversation: str, text: str, *, attachments: Sequence[str] | None = None, by: str | None = None) -> Request:
    fields = given(text=text, attachments=attachments, by=by)
    return request("POST", conversation_path(conversation, "/say"), fields)


def interrupt(conversation: str) -> Request:
    return request("POST", conversation_path(conversation, "/interrupt"), {})


def agents() -> Request:
    return request("GET", "/v1/agents")


def events(conversation: str, *, after: int, limit: int) -> Request:
    return request("GET", conversation_path(conversation, "/events", after=after, limit=limit))


def rows(
    conversation: str,
    *,
    surface: str,
    after: int,
    limit: int,
    width: int | None = None,
    client_id: str | None = None,
) -> Request:
    asked = given(surface=surface, after=after, limit=limit, width=width, client_id=client_id)
    return request("GET", conversation_path(conversation, "/rows", **asked))


def instructions(
    conversation: str, *, agent: str | None = None, additional: str | None = None, explain: bool = False
) -> Request:
    asked = given(agent=agent, additional=additional, explain=1 if explain else None)
    return request("GET", conversation_path(conversation, "/instructions", **asked))


# requests to people


def ask(conversation: str, fields: Mapping[str, Any]) -> Request:
    return request("POST", conversation_path(conversation, "/requests"), given(**fields))


def read_request(conversation: str, request_id: str, *, wait: float | None = None) -> Request:
    return request("GET", conversation_path(conversation, _request_path(request_id), wait=wait))


def withdraw(conversation: str, request_id: str) -> Request:
    return request("DELETE", conversation_path(conversation, _request_path(request_id)))


def answer(conversation: str, request_id: str, fields: Mapping[str, Any]) -> Request:
    return request("POST", conversation_path(conversation, f"{_request_path(request_id)}/answer"), given(**fields))


def list_requests(*, conversation: str | None = None, request_id: str | None = None, every: bool = False) -> Request:
    """The open requests; `every`: those that have ended too, of the conversation or with the id."""
    asked = given(conversation=conversation, request_id=request_id, state="all" if every else None)
    return request("GET", f"/v1/requests?{urlencode(asked)}" if asked else "/v1/requests")


def _request_path(request_id: str) -> str:
    return f"/requests/{quote(request_id, safe='')}"
