"""Logging a browser in: the secret of a one-time link, or a token, is exchanged for a session.

No header that a browser sends by itself authenticates: cookies are not bound to a port, so every other server on the
host would get them. The page keeps its session in the storage of its origin and sends it as a token (`tokens.py`).
Links are kept in memory only, for ten minutes. A link works once, and only for the user of this machine that asked for
it, if that user is known.
"""

import hashlib
import secrets
import time
from collections.abc import Callable

import msgspec

from vantage.errors import Forbidden, TooMany, Unauthorized
from vantage.server.security.limits import Bucket
from vantage.server.security.tokens import Token, Tokens

LINK_S = 600
"""Seconds that a one-time link works."""
_MAX_LINKS = 1000
_DAY_S = 24 * 60 * 60
_ROOT = 0
"""root can read the home's token anyway, so a link is not refused to it"""


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A one-time link, without its secret."""

    id: str
    token_id: str
    """The session gets the rights of this token, and ends with it."""
    expires: int
    """In milliseconds since the epoch."""
    uid: int | None = None
    """The user of this machine that asked for the link; None where it is not known."""
    used: bool = False


class Auth:
    def __init__(
        self,
        tokens: Tokens,
        *,
        days: int = 30,
        failures: int = 30,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._tokens = tokens
        self._lasts_s = days * _DAY_S
        self._clock = clock
        self._failures = Bucket(failures / 60, failures)
        self._links: dict[str, Link] = {}
        """By id, used ones included, until they expire."""

    def failed(self, peer: str) -> None:
        """Counts wrong tokens and links. Right ones are not counted, so their owner is not locked out."""
        if wait := self._failures.take(peer, time.monotonic()):
            raise TooMany("too many wrong tokens", retry_after=wait, hint=f"try again in {wait} s, with a valid one")

    # one-time links

    def make_link(self, token_id: str, uid: int | None = None) -> tuple[Link, str]:
        """A new link that logs one browser in, once, and its secret."""
        secret = secrets.token_urlsafe(24)
        now = self._clock()
        self._links = {key: link for key, link in self._links.items() if link.expires > now * 1000}
        while len(self._links) >= _MAX_LINKS:
            del self._links[next(iter(self._links))]
        link = Link(id=_id_of(secret), token_id=token_id, expires=round((now + LINK_S) * 1000), uid=uid)
        self._links[link.id] = link
        return link, secret

    def link(self, link_id: str) -> Link | None:
        """A link that has not expired."""
        link = self._links.get(link_id)
        return link if link is not None and link.expires > self._clock() * 1000 else None

    def redeem(self, secret: str, sender_uid: Callable[[], int | None] = lambda: None) -> Token:
        """The token that a link was made with. The link is then used up, unless another user of this machine sent it.

        `sender_uid` is called only for a link that works, because it is slow: wrong guesses stay cheap.
        """
        link = self.link(_id_of(secret))
        token = self._tokens.by_id(link.token_id) if link is not None and not link.used else None
        if link is None or token is None:
            raise Unauthorized(
                "this link was used before, or is too old",
                hint="'vantage open' makes a link that works once, for ten minutes",
            )
        uid = sender_uid() if link.uid is not None else None
        if uid is not None and uid not in (link.uid, _ROOT):
            raise Forbidden(
                f"this link is for the user with uid {link.uid}, and uid {uid} sent it",
                hint="run 'vantage open' as the user whose browser it is for, or log in with a token",
            )
        self._links[link.id] = msgspec.structs.replace(link, used=True)
        return token

    # sessions

    def new_session(self, token: Token, device: str) -> tuple[Token, str]:
        """A session with the rights of a token, and its secret."""
        return self._tokens.new_session(token, device, self._lasts_s)


def _id_of(secret: str) -> str:
    # looked up by its hash, so that the time it takes does not depend on the secret
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:32]
