"""Tokens and sessions: the home's own token, made on first start, further tokens that can be revoked, and sessions.

A session is the token that a browser gets for a link or a token. It is named after the device, and ends after a time or
with the token that it was made with. A session is accepted wherever a token is. Of further tokens and sessions only
hashes are on disk (each has 256 random bits, so a plain hash is enough), in a file that the command line writes and a
running server reads again when it changes.
"""

import fcntl
import hashlib
import hmac
import os
import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import msgspec

from vantage.conversation.store.clock import now_ms
from vantage.conversation.store.files.writing import make_directory, write_atomically
from vantage.conversation.store.scoped_token import PREFIX, scoped_token, settings_of
from vantage.errors import Conflict, NotFound, Unavailable, did_you_mean

Scope = Literal["full", "read", "agent"]
"""`agent`: what a conversation's own shells and agents have. It reaches that conversation and those made with it."""
MAIN = "main"
"""The id of the home's own token."""
_AGENT = "agent:"
"""How the id of a scoped token begins; the conversation's id follows."""
MAX_SESSIONS = 1000
"""The oldest session ends when there are more."""


class Token(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A token or a session, without its secret."""

    id: str
    name: str = ""
    """The token's purpose; the device of a session."""
    scope: Scope = "full"
    created: int = 0
    hash: str = ""
    parent: str = ""
    """Only a session has one: the id of the token that it was made with."""
    parent_hash: str = ""
    """The hash of that token: the home's own token may have been replaced since."""
    conversation: str = ""
    """Of a token of the scope `agent`."""
    expires: int = 0
    """When a session ends, in milliseconds since the epoch; 0 for a token, which does not end by itself."""


class Tokens:
    def __init__(self, home: Path, *, make_main: bool = True, clock: Callable[[], float] = time.time) -> None:
        """`make_main` False manages further tokens only, and makes no main token."""
        self._home = home
        self._path = home / "tokens.json"
        self._clock = clock
        self._stamp: tuple[int, int, int] | None = None
        self._kept: dict[str, Token] = {}
        self._by_hash: dict[str, Token] = {}
        self._unsaved: dict[str, Token] = {}
        """Sessions that could not be written to disk: they end with the server."""
        self.main = _main_token(home / "token") if make_main else ""
        self._main = Token(id=MAIN, hash=_hash(self.main) if self.main else "")

    def scope(self, token: str) -> Scope | None:
        """The rights of a token; None when it is not valid."""
        known = self.identify(token)
        return known.scope if known else None

    def identify(self, token: str) -> Token | None:
        """The token or session with this secret, if it is valid."""
        given = token.encode("utf-8", "surrogateescape")
        if self.main and hmac.compare_digest(given, self.main.encode()):
            return self._main
        if token.startswith(PREFIX):
            return self._scoped(token)
        self._read()
        # looked up by its hash: the time it takes does not depend on the secret
        return self._valid(self._by_hash.get(_hash(given)))

    def by_id(self, token_id: str) -> Token | None:
        """The token with this id, if it is still valid."""
        if token_id.startswith(_AGENT):
            return self._of_conversation(token_id.removeprefix(_AGENT))
        if token_id != MAIN:  # which is valid as long as the server runs
            self._read()
        return self._valid(self._get(token_id))

    def _scoped(self, secret: str) -> Token | None:
        """The token of a conversation's shells and agents."""
        conversation = secret.removeprefix(PREFIX).partition("_")[2]
        settings = settings_of(self._home, conversation) if self.main else None
        if settings is None:
            return None
        wanted = scoped_token(self.main, settings)
        same = hmac.compare_digest(secret.encode("utf-8", "surrogateescape"), wanted.encode())
        return self._of_conversation(conversation) if same else None

    def _of_conversation(self, conversation: str) -> Token | None:
        if settings_of(self._home, conversation) is None:
            return None
        return Token(id=f"{_AGENT}{conversation}", name=conversation, scope="agent", conversation=conversation)

    def _get(self, token_id: str) -> Token | None:
        if token_id == MAIN:
            return self._main
        return self._kept.get(token_id) or self._unsaved.get(token_id)

    def _valid(self, token: Token | None) -> Token | None:
        """The token, unless it is a session that has expired or whose token is no longer valid."""
        each, now = token, self._clock() * 1000
        while each is not None and each.parent:
            parent = self._get(each.parent)
            if each.expires <= now or parent is None or (parent.hash and parent.hash != each.parent_hash):
                return None
            each = parent
        return token

    # further tokens

    def list(self) -> list[Token]:
        """The further tokens, without sessions."""
        self._read()
        return sorted((each for each in self._kept.values() if not each.parent), key=lambda each: each.created)

    def new(self, name: str = "", scope: Scope = "full") -> tuple[Token, str]:
        """A new token and its secret, which is stored nowhere."""
        token = f"vantage_{secrets.token_urlsafe(32)}"
        known = Token(id=secrets.token_hex(4), name=name, scope=scope, created=now_ms(), hash=_hash(token))
        with self._changing():
            if name and any(each.name == name for each in self._kept.values() if not each.parent):
                raise Conflict(f"there is a token called {name!r} already", hint="revoke it, or choose another name")
            self._kept[known.id] = known
        return known, token

    def revoke(self, which: str) -> Token:
        """Revokes a token, by its id or its name, or a session, by its id. Sessions made with it end too."""
        if session := self._unsaved.pop(which, None):
            del self._by_hash[session.hash]
            return session
        with self._changing():
            tokens = [each for each in self._kept.values() if not each.parent]
            found = self._kept.get(which) or next((each for each in tokens if each.name == which), None)
            if found is None:
                words = [word for each in tokens for word in (each.id, each.name) if word]
                hint = did_you_mean(which, words, otherwise="'vantage token ls' shows them")
                raise NotFound(f"there is no token {which!r}", hint=hint)
            del self._kept[found.id]
        return found

    # sessions

    def sessions(self) -> Sequence[Token]:
        """The valid sessions, oldest first."""
        self._read()
        known = (*self._kept.values(), *self._unsaved.values())
        return sorted((each for each in known if each.parent and self._valid(each)), key=lambda each: each.created)

    def new_session(self, token: Token, device: str, lasts_s: float) -> tuple[Token, str]:
        """A session with the rights of a token, and its secret. One made with a session ends no later than that one."""
        secret = f"vantage_session_{secrets.token_urlsafe(32)}"
        now = self._clock() * 1000
        until = round(now + lasts_s * 1000)
        session = Token(
            id=secrets.token_hex(4),
            name=device,
            scope=token.scope,
            created=round(now),
            hash=_hash(secret),
            parent=token.id,
            parent_hash=token.hash,
            expires=min(until, token.expires or until),
        )
        try:
            with self._changing():
                self._kept[session.id] = session
                kept = [each for each in self._kept.values() if each.parent]
                for old in sorted(kept, key=lambda each: each.created)[:-MAX_SESSIONS]:
                    del self._kept[old.id]
        except (OSError, Unavailable):  # on a full disk a browser can still log in
            self._unsaved[session.id] = session
            self._by_hash[session.hash] = session
        return session, secret

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Locks the file, reads it, and writes it after the change."""
        make_directory(self._home)
        lock = os.open(self._home / "tokens.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._read()
            yield
            valid = [each for each in self._kept.values() if self._valid(each)]
            write_atomically(self._path, msgspec.json.encode(valid))
        finally:
            os.close(lock)
            self._stamp = None

    def _read(self) -> None:
        try:
            now = self._path.stat()
        except FileNotFoundError:
            self._keep(None, [])
            return
        stamp = (now.st_mtime_ns, now.st_ino, now.st_size)
        if stamp == self._stamp:
            return
        try:
            kept = msgspec.json.decode(self._path.read_bytes(), type=list[Token])
        except (OSError, msgspec.MsgspecError) as error:
            # a file that cannot be read grants no access
            self._keep(None, [])
            raise Unavailable(f"{self._path} cannot be read: {error}", hint="repair it, or remove it") from None
        self._keep(stamp, kept)

    def _keep(self, stamp: tuple[int, int, int] | None, kept: Iterable[Token]) -> None:
        self._stamp, self._kept = stamp, {each.id: each for each in kept}
        self._by_hash = {each.hash: each for each in (*self._kept.values(), *self._unsaved.values())}


_TOKEN = re.compile(r"[!-~]{16,}")


def _hash(secret: str | bytes) -> str:
    return hashlib.sha256(secret.encode() if isinstance(secret, str) else secret).hexdigest()


def _read_token(path: Path) -> str:
    try:
        path.chmod(0o600)
        token = path.read_bytes().decode("ascii", "replace").strip()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}", hint="remove it: a new one is made") from None
    if token and not _TOKEN.fullmatch(token):
        expected = "expected a line of 16 or more printable characters"
        raise Unavailable(f"{path} is damaged: {expected}", hint="remove it: a new one is made")
    return token


def _main_token(path: Path) -> str:
    """The token in a file. The file is made atomically: of two processes that make it, both use the first one's."""
    with suppress(FileNotFoundError):
        if token := _read_token(path):
            return token
        path.unlink()
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    write_atomically(temporary, f"{secrets.token_urlsafe(32)}\n".encode())
    try:
        with suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        temporary.unlink()
    return path.read_text(encoding="ascii").strip()
