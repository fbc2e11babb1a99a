"""Sessions and one-time links over HTTP: which browsers are logged in, and how to log in another one."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.requests import Request

from vantage.conversation.verbs.verb import Done, NoParams, Result
from vantage.errors import NotFound
from vantage.server.http.route import Call, Route
from vantage.server.security.peers import peer_uid
from vantage.server.security.tokens import MAIN, Scope, Token
from vantage.server.services import Services

SessionId = Annotated[str, Meta(description="The session's id")]
Device = Annotated[str, Meta(description="The device, from what the browser says of itself: `Firefox on Linux`")]
Rights = Annotated[Scope, Meta(description="What it may do: `full`, or `read` to look only")]
Expires = Annotated[int, Meta(description="When it ends by itself, in milliseconds since the epoch")]


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A browser that is logged in."""

    id: SessionId
    device: Device
    scope: Rights
    created: Annotated[int, Meta(description="When it logged in, in milliseconds since the epoch")]
    expires: Expires
    current: Annotated[bool, Meta(description="Whether the request was sent with it")]


class Sessions(Result):
    sessions: Annotated[list[Session], Meta(description="Browsers that are logged in, the oldest first")]


class NewLink(Result):
    id: Annotated[str, Meta(description="For asking whether the link was used")]
    url: Annotated[str, Meta(description="Logs one browser in, once")]
    expires: Expires


class LinkState(Result):
    used: Annotated[bool, Meta(description="Whether a browser has logged in with it")]
    expires: Expires


def sender_uid(services: Services, request: Request) -> int | None:
    """The user of this machine that sent a request; None if it came through a proxy, or is not known."""
    origin = request.headers.get("origin", "").lower()
    if origin in {each.rstrip("/").lower() for each in services.config.origins}:
        return None
    return peer_uid(request.scope)


async def make_link(call: Call) -> Any:
    """A one-time link that logs a browser in, with the rights of the token that asks."""
    services = call.services
    link, secret = services.auth.make_link(call.token_id, sender_uid(services, call.request))
    return NewLink(id=link.id, url=f"{services.url}/login#{secret}", expires=link.expires).to_dict()


async def read_link(call: Call) -> Any:
    """Whether a one-time link was used."""
    link = call.services.auth.link(call.fields["link_id"])
    if link is None:
        raise NotFound("there is no such link", hint="it is older than ten minutes, or the server was restarted since")
    return LinkState(used=link.used, expires=link.expires).to_dict()


async def list_sessions(call: Call) -> Any:
    """The browsers that are logged in, the oldest first. A read-only token sees its own."""
    found = [
        Session(
            id=each.id,
            device=each.name,
            scope=each.scope,
            created=each.created,
            expires=each.expires,
            current=each.id == call.token_id,
        )
        for each in _visible(call.services, call.token_id)
    ]
    return Sessions(sessions=found).to_dict()


async def revoke_session(call: Call) -> Any:
    """Log a browser out, at once."""
    which = call.fields["session_id"]
    if all(each.id != which for each in _visible(call.services, call.token_id)):
        raise NotFound(f"there is no session {which!r}", hint="GET /v1/sessions lists them")
    call.services.tokens.revoke(which)
    return Done().to_dict()


def _visible(services: Services, asking: str) -> Sequence[Token]:
    """All sessions, for a token with full rights; for a read-only one, its own."""
    token = services.tokens.by_id(asking)
    if token is None:
        return []
    mine = {token.id, token.parent} - {MAIN, ""}
    known = services.tokens.sessions()
    return known if token.scope == "full" else [each for each in known if {each.id, each.parent} & mine]


ROUTES = (
    Route("POST", "/v1/links", make_link, NoParams, NewLink, 201),
    Route("GET", "/v1/links/{link_id}", read_link, NoParams, LinkState),
    Route("GET", "/v1/sessions", list_sessions, NoParams, Sessions),
    Route("DELETE", "/v1/sessions/{session_id}", revoke_session, NoParams, Done),
)
