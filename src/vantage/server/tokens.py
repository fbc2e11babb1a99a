"""Who may do what: the home's own token, made on first start, and further ones that can be taken back.

Of the further ones only hashes are on disk (a token has 256 random bits, so a plain hash is enough), in a file that
the command line writes and a running server reads again when it changes.
"""

import fcntl
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import msgspec

from vantage.conversation.files import make_directory, now_ms, write_atomically
from vantage.errors import Conflict, NotFound, Unavailable, nearest_word

Scope = Literal["full", "read"]
MAIN = "main"
"""What the home's own token is called."""


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """A token as it is known: never the token itself."""

    id: str
    name: str = ""
    scope: Scope = "full"
    created: int = 0
    hash: str = ""


class Tokens:
    def __init__(self, home: Path, *, make_main: bool = True) -> None:
        """`make_main`: whoever only manages the others needs no main token."""
        self._home = home
        self._path = home / "tokens.json"
        self._stamp: tuple[int, int, int] | None = None
        self._kept: dict[str, Token] = {}
        self.main = _main_token(home / "token") if make_main else ""

    def scope(self, token: str) -> Scope | None:
        """What a token allows; nothing for one that nobody gave out."""
        known = self.identify(token)
        return known.scope if known else None

    def identify(self, token: str) -> Token | None:
        """Whose token it is. Every known one is compared, and each takes as long as the others."""
        given = token.encode("utf-8", "surrogateescape")
        if self.main and hmac.compare_digest(given, self.main.encode()):
            return _MAIN
        self._read()
        if not self._kept:
            return None
        digest = hashlib.sha256(given).hexdigest()
        found = None
        for each in self._kept.values():
            if hmac.compare_digest(digest, each.hash):
                found = each
        return found

    def by_id(self, token_id: str) -> Token | None:
        """A token that holds still: it may have been taken back since."""
        if token_id == MAIN:
            return _MAIN
        self._read()
        return self._kept.get(token_id)

    # further tokens

    def list(self) -> list[Token]:
        self._read()
        return sorted(self._kept.values(), key=lambda each: each.created)

    def new(self, name: str = "", scope: Scope = "full") -> tuple[Token, str]:
        """A token, and the only time that it can be seen."""
        token = f"vantage_{secrets.token_urlsafe(32)}"
        known = Token(
            id=secrets.token_hex(4),
            name=name,
            scope=scope,
            created=now_ms(),
            hash=hashlib.sha256(token.encode()).hexdigest(),
        )
        with self._changing():
            if name and any(each.name == name for each in self._kept.values()):
                raise Conflict(f"there is a token called {name!r} already", hint="revoke it, or choose another name")
            self._kept[known.id] = known
        return known, token

    def revoke(self, which: str) -> Token:
        """Takes a token back, by its id or its name. Those who logged in with it are logged out."""
        with self._changing():
            found = self._kept.get(which) or next((each for each in self._kept.values() if each.name == which), None)
            if found is None:
                known = [word for each in self._kept.values() for word in (each.id, each.name) if word]
                near = nearest_word(which, known)
                hint = f"did you mean {near!r}?" if near else "'vantage token ls' shows them"
                raise NotFound(f"there is no token {which!r}", hint=hint)
            del self._kept[found.id]
        return found

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """One writer at a time, who begins with what the last one wrote."""
        make_directory(self._home)
        lock = os.open(self._home / "tokens.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._read()
            yield
            write_atomically(self._path, msgspec.json.encode(list(self._kept.values())))
        finally:
            os.close(lock)
            self._stamp = None

    def _read(self) -> None:
        try:
            now = self._path.stat()
        except FileNotFoundError:
            self._stamp, self._kept = None, {}
            return
        stamp = (now.st_mtime_ns, now.st_ino, now.st_size)
        if stamp == self._stamp:
            return
        try:
            kept = msgspec.json.decode(self._path.read_bytes(), type=list[Token])
        except (OSError, msgspec.MsgspecError) as error:
            # nobody is let in by a file that cannot be understood
            self._stamp, self._kept = None, {}
            raise Unavailable(f"{self._path} cannot be read: {error}", hint="repair it, or remove it") from None
        self._stamp, self._kept = stamp, {each.id: each for each in kept}


_MAIN = Token(id=MAIN)
_TOKEN = re.compile(r"[!-~]{16,}")


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
    """The token in a file, which is made whole or not at all: of two who make it, the first one's holds."""
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
