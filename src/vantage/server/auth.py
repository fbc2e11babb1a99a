"""How somebody shows who they are: a token in a header, or a cookie that a browser got for a one-time link.

The cookie is signed and names the token that it came from: nothing is kept of it here, so it survives a restart, and
it ends with its token. One-time secrets are only in memory, for ten minutes.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable

from vantage.errors import TooMany
from vantage.server.limits import Bucket
from vantage.server.tokens import Token, Tokens

LINK_S = 600
"""How long a one-time link works."""
_MOST_LINKS = 1000
_DAY_S = 24 * 60 * 60


class Auth:
    def __init__(
        self,
        tokens: Tokens,
        port: int,
        *,
        days: int = 30,
        failures: int = 30,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.cookie = f"vantage_{port}"
        """A cookie belongs to a name and all its ports: two servers on one machine must not log each other out."""
        self._tokens = tokens
        self._lasts_s = days * _DAY_S
        self._clock = clock
        self._failures = Bucket(failures / 60, failures)
        self._links: dict[bytes, tuple[str, float]] = {}
        """The hash of a secret → whose it is, and until when."""

    def failed(self, peer: str) -> None:
        """A wrong token or link. The right one is never refused, so nobody can lock others out."""
        if wait := self._failures.take(peer, time.monotonic()):
            raise TooMany("too many wrong tokens", retry_after=wait, hint=f"come again in {wait} s, with a right one")

    # one-time links

    def link(self, token_id: str) -> tuple[str, int]:
        """A secret that logs one browser in, once; and when it ends to work, in milliseconds."""
        secret = secrets.token_urlsafe(24)
        now = self._clock()
        self._links = {key: (whose, until) for key, (whose, until) in self._links.items() if until > now}
        while len(self._links) >= _MOST_LINKS:
            del self._links[next(iter(self._links))]
        self._links[_hash(secret)] = (token_id, now + LINK_S)
        return secret, round((now + LINK_S) * 1000)

    def redeem(self, secret: str) -> Token | None:
        """Whose link it is. It never works again, also when it came too late."""
        whose, until = self._links.pop(_hash(secret), ("", 0.0))
        return self._tokens.by_id(whose) if until > self._clock() else None

    # cookies

    def session(self, token: Token) -> str:
        """The value of `Set-Cookie` that logs a browser in."""
        said = f"{token.id}.{int(self._clock()) + self._lasts_s}.{secrets.token_hex(8)}"
        return self._set_cookie(f"{said}.{self._signature(said)}", self._lasts_s)

    def log_out(self) -> str:
        return self._set_cookie("", 0)

    def _set_cookie(self, value: str, seconds: int) -> str:
        return f"{self.cookie}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict"

    def _signature(self, said: str) -> str:
        # the key is the main token: whoever has that needs no cookie
        return hmac.new(self._tokens.main.encode(), b"cookie " + said.encode(), hashlib.sha256).hexdigest()

    def of_cookies(self, header: str) -> Token | None:
        """Whom the cookies of a request name."""
        for part in header.split(";"):
            name, _, value = part.strip().partition("=")
            if name == self.cookie:
                return self._of_session(value)
        return None

    def _of_session(self, value: str) -> Token | None:
        said, _, signature = value.rpartition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(said).encode()):
            return None
        token_id, until, _ = said.split(".")
        return self._tokens.by_id(token_id) if int(until) > self._clock() else None


def _hash(secret: str) -> bytes:
    # looked up by its hash, so that how long a look takes says nothing about the secret
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
