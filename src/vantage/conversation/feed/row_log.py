"""The rows of a conversation and when each of them changed. Pure: events in, row ids out.

Every change has a version, and events have a `seq`; a reader remembers the last one that it has and asks for the rows
that are newer. A version also counts a change without an event: output of a running command.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Any

from vantage.errors import NotFound
from vantage.events import AgentBlockBegin, AgentBlockEnd, Event
from vantage.timeline.fold import Timeline
from vantage.timeline.row import Row
from vantage.timeline.specs.registry import SpecSet
from vantage.timeline.tools.registry import ToolRegistry


class RowLog:
    def __init__(self, tools: ToolRegistry | None = None) -> None:
        self.seq = 0
        """The number of the last event that was folded."""
        self.version = 0
        """The version of the last change of any row."""
        self._timeline = Timeline(tools)
        self._order: list[str] = []
        self._versions: dict[str, int] = {}
        """Row → the version of its last change, in that order."""
        self._by_event: dict[str, None] = {}
        """The rows in the order of the events that last changed them."""
        self._commands: dict[str, str] = {}
        """Running command → its row."""

    def know(self, spec: SpecSet) -> None:
        """Takes a render spec for calls after `spec.after`."""
        self._timeline.know(spec)

    def add(self, event: Event) -> None:
        self.seq = event.seq or self.seq
        row_id = self._timeline.add(event)
        if row_id is not None and row_id not in self._versions:
            self._order.append(row_id)
        for changed in self._timeline.changed:
            self._change(changed)
            self._by_event.pop(changed, None)
            self._by_event[changed] = None
        if row_id is None:
            return
        if isinstance(event, AgentBlockBegin):
            self._commands[event.block_id] = row_id
        elif isinstance(event, AgentBlockEnd):
            self._commands.pop(event.block_id, None)

    def printed(self, block_id: str) -> None:
        """A running command has printed something. Output has no `seq`."""
        row_id = self._commands.get(block_id)
        if row_id is not None:
            self._change(row_id)

    def _change(self, row_id: str) -> None:
        self.version += 1
        self._versions.pop(row_id, None)
        self._versions[row_id] = self.version

    def last(self, limit: int) -> list[str]:
        return self._order[-limit:]

    def before(self, seq: int, limit: int) -> list[str]:
        """The last rows among those that began before an event."""
        end = bisect_left(self._order, seq, key=self.begin)
        return self._order[max(end - limit, 0) : end]

    def after(self, seq: int, limit: int | None = None) -> list[str]:
        """Rows that changed after an event, in the order of their changes; with a limit, those that changed first.

        Rows that one event changed stay together, so asking again after the last one misses none.
        """
        changed = _newer(self._by_event, self.seq_of, seq)
        if limit is not None and len(changed) > limit:
            end = self.seq_of(changed[limit - 1])
            changed = [row_id for row_id in changed if self.seq_of(row_id) <= end]
        return self.in_order(changed)

    def newer(self, version: int, limit: int | None = None) -> list[str]:
        """Rows that changed after a version, in the order of their changes; with a limit, those that changed last."""
        return self.in_order(_newer(self._versions, self.version_of, version, limit))

    @staticmethod
    def in_order(rows: Iterable[str]) -> list[str]:
        """The rows sorted by where they began."""
        return sorted(rows, key=_place)

    @property
    def running(self) -> Iterable[str]:
        """The rows of running commands."""
        return self._commands.values()

    def row(self, row_id: str) -> Row:
        """The row without the output of its commands. Raises NotFound."""
        self.seq_of(row_id)
        return self._timeline.row(row_id)

    def begin(self, row_id: str) -> int:
        """The event that a row began with."""
        return self._timeline.begin(row_id) or 0

    def seq_of(self, row_id: str) -> int:
        """The event that last changed a row. Raises NotFound."""
        if row_id not in self._versions:
            raise NotFound(f"there is no row {row_id!r}", hint=f"the last one is {(self._order or ['none'])[-1]}")
        return self._timeline.seq(row_id) or 0

    def version_of(self, row_id: str) -> int:
        """The version of a row's last change; 0 for an unknown row."""
        return self._versions.get(row_id, 0)


def _place(row_id: str) -> int:
    """Rows are called r1, r2, … in the order in which they begin."""
    return int(row_id[1:])


def _newer(changed: dict[str, Any], number_of: Callable[[str], int], than: int, limit: int | None = None) -> list[str]:
    """The rows with a higher number, from a dict that is ordered by it; with a limit, the last of them."""
    found: list[str] = []
    for row_id in reversed(changed):
        if number_of(row_id) <= than or len(found) == limit:
            break
        found.append(row_id)
    return found[::-1]
