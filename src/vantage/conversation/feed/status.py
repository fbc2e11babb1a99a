"""A conversation's `pty_state` as a pure fold: the terminal's mode, the keyboard, whether the agent works."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from vantage.events import AgentBlockBegin, AgentBlockEnd, Event, PtyState
from vantage.timeline.turns import Turn

_SHELL_GONE = ("exit", "reset", "lost")


class Status(msgspec.Struct, frozen=True):
    mode: str | None = None
    foreground: Any = None
    awaiting_secret: bool = False
    title: str | None = None
    keyboard: str | None = None
    turn: Literal["working", "done"] = "done"
    """Whether the agent works on what it was asked for."""


class StatusFold:
    def __init__(self) -> None:
        self.status = Status()
        self.version = 0
        self._turn = Turn()

    def load(self, about: Mapping[str, Any]) -> None:
        """Applies the answer to `status` or `describe`. Whether there is a turn is known from events only."""
        said = {name: about.get(name) for name in ("mode", "foreground", "title", "keyboard")}
        self._set(Status(**said, awaiting_secret=bool(about.get("awaiting_secret")), turn=self.status.turn))

    def set_title(self, title: str) -> None:
        if title != self.status.title:
            self._set(msgspec.structs.replace(self.status, title=title))

    def add(self, event: Event) -> None:
        self._turn = self._turn.after(event)
        turn: Literal["working", "done"] = "working" if self._turn.working else "done"
        if turn != self.status.turn:
            self._set(msgspec.structs.replace(self.status, turn=turn))
        change = _CHANGES.get(type(event))
        if change is not None:
            # a new mode comes with a new foreground process: when none is named, the old one has gone
            fresh = {"foreground": None, "awaiting_secret": False, **change(event)}
            self._set(msgspec.structs.replace(self.status, **fresh))

    def _set(self, status: Status) -> None:
        self.status = status
        self.version += 1


def _said(event: PtyState) -> dict[str, Any]:
    stated: dict[str, Any] = {"foreground": event.foreground, "awaiting_secret": event.awaiting_secret}
    if event.mode:
        stated["mode"] = event.mode
    if event.title is not None:
        stated["title"] = event.title
    if event.keyboard is not None:
        stated["keyboard"] = event.keyboard
    return stated


def _begun(event: AgentBlockBegin) -> dict[str, Any]:
    return {"mode": "interactive" if event.origin == "interactive" else "block_running"}


def _ended(event: AgentBlockEnd) -> dict[str, Any]:
    return {"mode": "exited" if event.done_because in _SHELL_GONE else "idle"}


_CHANGES: dict[type[Event], Callable[[Any], dict[str, Any]]] = {
    PtyState: _said,
    AgentBlockBegin: _begun,
    AgentBlockEnd: _ended,
}
