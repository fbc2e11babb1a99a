"""What the token of a conversation's own shells and agents may do, and who counts as a person.

The token reaches its conversation and those that were made with it, over the home's private socket only: what a program
prints may have the token in it, and be read elsewhere. Answers and messages to an agent are a person's to give: a
scoped token gives none, and neither does, with any token, a process that descends from the PTY host. This guards
against an accident. A program of the same user can read the home's own token, and can detach itself from its parents.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vantage.conversation.store.scoped_token import settings_of
from vantage.errors import Forbidden
from vantage.ptyhost import processes
from vantage.server.security.tokens import Token

_HOME_WIDE = {
    ("GET", "/v1/conversations"),
    ("POST", "/v1/conversations"),
    ("GET", "/v1/requests"),
    ("GET", "/v1/tools"),
    ("GET", "/v1/openapi.json"),
    ("POST", "/v1/preview"),
}
"""What a scoped token may ask for beside its conversations; lists are cut down to those."""
_CONVERSATION = re.compile(r"/v1/conversations/([^/]+)(/.*)?", re.DOTALL)
_MAX_DEPTH = 100


class Reach:
    """The conversations that a token reaches."""

    def __init__(self, home: Path, token: Token) -> None:
        self._home = home
        self.conversation = token.conversation
        """Its own; empty for a token that reaches all."""

    def has(self, conversation_id: str) -> bool:
        if not self.conversation:
            return True
        at = conversation_id
        for _ in range(_MAX_DEPTH):
            if at == self.conversation:
                return True
            settings = settings_of(self._home, at)
            if settings is None or not settings.created_by:
                return False
            at = settings.created_by
        return False

    def check(self, conversation_id: str) -> None:
        if not self.has(conversation_id):
            raise Forbidden(
                f"this token is for conversation {self.conversation!r} and those made with it, "
                f"not for {conversation_id[:64]!r}",
                hint="VANTAGE_TOKEN has it: a shell or an agent of that conversation runs this. Ask a person",
            )


def check_request(reach: Reach, scope: Mapping[str, Any], *, carriers: frozenset[str]) -> None:
    """Raises unless a scoped token may make this HTTP request. `carriers` check each message themselves."""
    check_local(scope)
    path = "/" + "/".join(part for part in scope["path"].split("/") if part)
    found = _CONVERSATION.fullmatch(path)
    if found is not None:
        reach.check(found[1])
    elif (scope["method"], path) not in _HOME_WIDE and path not in carriers:
        raise Forbidden(
            "this token is for one conversation, and this is for the whole home",
            hint="VANTAGE_TOKEN has it: a shell or an agent of that conversation runs this. Ask a person",
        )


def check_local(scope: Mapping[str, Any]) -> None:
    if scope.get("client"):
        raise Forbidden(
            "the token of a conversation's shells is taken at the home's private socket only",
            hint="use that socket, or make a token: 'vantage token new'",
        )


def check_person(home: Path, token: Token | None, peer_pid: int | None) -> None:
    """Raises unless an answer or a message to an agent may come from a person."""
    inside = token is not None and token.scope == "agent"
    if inside or (peer_pid is not None and _descends(peer_pid, _host(home))):
        raise Forbidden(
            "a shell or an agent that Vantage started cannot answer, nor give messages to an agent: "
            "that is for a person",
            hint="do it on the page, or in a terminal of your own",
        )


def _host(home: Path) -> int | None:
    try:
        return int(json.loads((home / "host.json").read_bytes())["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _descends(pid: int, ancestor: int | None) -> bool:
    """Whether a process is one, or a descendant of it, by what /proc says of its parents."""
    at: int | None = pid if ancestor is not None else None
    for _ in range(_MAX_DEPTH):
        if at is None or at <= 1:
            return False
        if at == ancestor:
            return True
        at = processes.parent(at)
    return False
