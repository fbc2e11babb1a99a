"""Logging a browser in and out. The page itself is in `static.py`; the session is sent to its script, not as a cookie.

Only a POST uses up a link. A program that fetches the address for a preview changes nothing, and does not get the part
after the #.
"""

from functools import partial
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from vantage.conversation.verbs.verb import Done, NoParams, Params, Result
from vantage.errors import Forbidden, InputError, Unauthorized
from vantage.server.http.reading import ignore_body
from vantage.server.http.route import Call, Route
from vantage.server.http.routes.static import LOGIN_PAGE
from vantage.server.security.devices import device
from vantage.server.security.sessions import Device, Expires, Rights, SessionId, sender_uid
from vantage.server.security.tokens import Token


class LogIn(Params, frozen=True):
    """One of the two must be given."""

    secret: Annotated[str, Meta(description="What stands after the # of a one-time link")] | UnsetType = UNSET
    token: Annotated[str, Meta(description="A token, instead of a secret")] | UnsetType = UNSET


class LoggedIn(Result):
    token: Annotated[str, Meta(description="The session's secret: it is sent as a token is")]
    id: SessionId
    device: Device
    scope: Rights
    expires: Expires


async def log_in(call: Call) -> Any:
    """Exchange the secret of a one-time link, or a token, for a session."""
    auth, request = call.services.auth, call.request
    try:
        token = _shown(call)
    except Unauthorized:
        auth.failed(request.client.host if request.client else "")
        raise
    session, secret = auth.new_session(token, device(request.headers))
    return LoggedIn(
        token=secret, id=session.id, device=session.name, scope=session.scope, expires=session.expires
    ).to_dict()


def _shown(call: Call) -> Token:
    """The token that the secret or the token in the body stands for."""
    secret, token = call.fields.get("secret"), call.fields.get("token")
    if isinstance(secret, str) and token is None:
        return call.services.auth.redeem(secret, partial(sender_uid, call.services, call.request))
    if not isinstance(token, str) or secret is not None:
        raise InputError("login takes one of secret and token", hint="a secret stands after the # of a link")
    found = call.services.tokens.identify(token)
    if found is None:
        raise Unauthorized("this token is not valid", hint="'vantage open' makes a link that logs a browser in")
    if found.scope == "agent":
        raise Forbidden("the token of a conversation's shells logs no browser in", hint="use one of your own")
    return found


async def log_out(call: Call) -> Any:
    """End the session that the request is sent with.

    The answer is the same for any other token, which stays valid.
    """
    tokens = call.services.tokens
    kind, _, shown = call.request.headers.get("authorization", "").partition(" ")
    found = tokens.identify(shown.strip()) if kind.lower() == "bearer" else None
    if found is not None and found.parent:
        tokens.revoke(found.id)
    return Done().to_dict()


ROUTES = (
    LOGIN_PAGE,
    Route("POST", "/login", log_in, LogIn, LoggedIn, open=True, errors=(401,)),
    Route("DELETE", "/login", log_out, NoParams, Done, read_body=ignore_body, open=True),
)
