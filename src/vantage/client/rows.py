"""Rows of a timeline as a client receives them, and the position from which following them resumes. No IO."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from vantage.errors import from_wire

PAGE = 500
"""Rows in one answer, at most."""


class TimelineRow(msgspec.Struct, kw_only=True, frozen=True):
    """One row, drawn for a surface. A later row with the same id replaces it."""

    seq: int
    """The number of the last event that this row includes."""
    row: dict[str, Any]
    """The row's fields without its drawing: `id`, `kind`, `title`, `status` and more, as in the schema of rows."""
    text: str = ""
    """For the surfaces `plain` and `terminal`."""
    html: str = ""
    """For the surface `html`."""
    messages: tuple[dict[str, Any], ...] = ()
    """For the surfaces `telegram` and `slack`."""

    @property
    def id(self) -> str:
        return str(self.row["id"])

    @property
    def title(self) -> str:
        return str(self.row.get("title", ""))

    @property
    def status(self) -> str:
        """`running`, `ok`, `warning`, `error`, or `none` for what has no outcome."""
        return str(self.row["status"])


class RowPage(msgspec.Struct, kw_only=True):
    rows: list[TimelineRow]
    next: int | None = None
    """The number to ask for next; None when there is no more."""


class Position(NamedTuple):
    """Up to which event a timeline is known. Numbers of one epoch mean nothing in another."""

    epoch: str
    seq: int


class RowFollower:
    """Turns the messages of a subscription into rows, and knows how to subscribe again after a lost connection."""

    def __init__(self, conversation: str, surface: str, position: Position | None) -> None:
        self.position = position
        self._about = {"conversation_id": conversation, "channels": ["rows"], "surface": surface}

    def subscription(self) -> dict[str, Any]:
        if self.position is None:
            return self._about
        return {**self._about, "epoch": self.position.epoch, "after": self.position.seq}

    def missed_since(self, message: dict[str, Any]) -> int | None:
        """The event after which a snapshot may lack changed rows, if there is such a gap.

        A snapshot has the last rows only. If it comes instead of the tail that was asked for, earlier rows may have
        changed as well: they are read by HTTP before the snapshot is taken.
        """
        if message["type"] != "snapshot" or self.position is None or self.position.epoch != message["epoch"]:
            return None
        return self.position.seq

    def take(self, message: dict[str, Any]) -> list[TimelineRow]:
        """The rows that a message brings. An error message is raised."""
        handler = _HANDLERS.get(message["type"])
        return handler(self, message) if handler is not None else []

    def snapshot(self, message: dict[str, Any]) -> list[TimelineRow]:
        known = self.position.seq if self.missed_since(message) is not None and self.position else -1
        self.position = Position(message["epoch"], message["seq"])
        rows = msgspec.convert(message["rows"], list[TimelineRow])
        return [row for row in rows if row.seq > known or row.status == "running"]

    def resumed(self, message: dict[str, Any]) -> list[TimelineRow]:
        self.position = Position(message["epoch"], message["seq"])
        return []

    def row(self, message: dict[str, Any]) -> list[TimelineRow]:
        if self.position is not None:
            self.position = Position(self.position.epoch, max(self.position.seq, message["seq"]))
        return [msgspec.convert(message, TimelineRow)]

    def error(self, message: dict[str, Any]) -> list[TimelineRow]:
        raise from_wire(message)


_HANDLERS = {
    "snapshot": RowFollower.snapshot,
    "resumed": RowFollower.resumed,
    "row": RowFollower.row,
    "error": RowFollower.error,
}


def without(rows: Iterable[TimelineRow], message: dict[str, Any]) -> list[TimelineRow]:
    """The rows that a snapshot does not have."""
    shown = {each["row"]["id"] for each in message["rows"]}
    return [row for row in rows if row.id not in shown]
