"""Events → rows: the groups of events, drawn.

`grouping` decides which events belong together; a timeline keeps an entry for each group and draws it as a `Row` when
the row is read. The same events give the same rows, however their text is cut into deltas.
"""

from vantage import events as ev
from vantage.events import Event, Json
from vantage.timeline.entries import Call, CallStyle, Entry, Fixed, Message, TerminalCommand
from vantage.timeline.grouping import EntryKind, Grouping
from vantage.timeline.present import spec_comes_first
from vantage.timeline.requests import RequestEntry
from vantage.timeline.row import Row
from vantage.timeline.specs.history import SpecHistory
from vantage.timeline.specs.model import RenderSpec
from vantage.timeline.specs.registry import SpecRegistry, SpecSet
from vantage.timeline.tools.registry import ToolRegistry


def row_name(number: int) -> str:
    """Rows are called r1, r2, … in the order in which they begin."""
    return f"r{number}"


class Timeline:
    """Events in, rows out, in the order in which they began; a row that changes keeps its place and its id."""

    def __init__(self, tools: ToolRegistry | None = None) -> None:
        self._tools = tools or ToolRegistry()
        self._history: SpecHistory | None = None
        """Made when the first spec comes; until then the registry's specs are used."""
        self._entries: dict[str, Entry] = {}
        self._grouping = Grouping(self._begin)
        self._changed: Entry | None = None
        self._count = 0

    @property
    def rows(self) -> list[Row]:
        return [entry.row for entry in self._entries.values()]

    def row(self, row_id: str) -> Row:
        return self._entries[row_id].row

    def is_open(self, row_id: str) -> bool:
        """Whether more is expected for a row."""
        return self._entries[row_id].open

    def begin(self, row_id: str) -> int | None:
        """The number of the event that the row began with, without drawing the row."""
        return self._entries[row_id].begin

    def seq(self, row_id: str) -> int | None:
        """The number of the last event that changed the row, without drawing the row."""
        return self._entries[row_id].seq

    def add(self, event: Event | bytes | str | dict[str, Json]) -> str | None:
        """Takes an event, or the JSON of one. Returns the id of the row it added or changed, if any."""
        if isinstance(event, (bytes, str, dict)):
            event = ev.decode_event(event)
        if self._history is not None:
            self._history.advance(event.seq)
        entry = self._changed = self._grouping.add(event)
        if entry is None:
            return None
        self._entries[entry.row_id] = entry
        return entry.row_id

    @property
    def changed(self) -> list[str]:
        """The rows that the last event changed: messages that it ended, then the row that it belongs to."""
        closed = [entry.row_id for entry in self._grouping.closed]
        return closed if self._changed is None else [*closed, self._changed.row_id]

    def finish(self) -> None:
        """Nothing more will come: messages that stream have ended."""
        self._grouping.finish()

    def forget(self, row_id: str) -> None:
        """Drops a row that is not read again. An open row stays."""
        entry = self._entries.get(row_id)
        if entry is not None and not entry.open:
            del self._entries[row_id]

    def _begin(self, event: Event, kind: EntryKind) -> Entry:
        self._count += 1
        row_id = row_name(self._count)
        match kind:
            case "tool":
                return Call(row_id, event, CallStyle(self._tools, *self._spec_of(event)))
            case "command":
                return TerminalCommand(row_id, event)
            case "request":
                return RequestEntry(row_id, event, CallStyle(self._tools, *self._spec_of(event)))
            case "notice" | "event":
                return Fixed(row_id, event, kind)
            case _:
                return Message(row_id, event, kind)

    # render specs

    @property
    def specs(self) -> SpecRegistry:
        """The render specs of this timeline, above those of its tool registry."""
        return self._spec_history().own

    def know(self, spec: SpecSet) -> None:
        """Registers a spec with its place in the log: it draws no call that came before it."""
        self._spec_history().expect(spec)

    def _spec_history(self) -> SpecHistory:
        if self._history is None:
            self._history = SpecHistory(self._tools.specs)
        return self._history

    def _spec_of(self, event: Event) -> tuple[RenderSpec | None, tuple[str, ...]]:
        """The spec that a call is drawn with from now on: one that is registered later does not redraw it."""
        if isinstance(event, ev.ToolEnd | ev.Request):
            return self._known_spec(event.tool) if event.tool else (None, ())
        if not isinstance(event, ev.ToolStart):
            return None, ()
        if event.render_spec is not None:
            from vantage.timeline.specs.check import SpecError  # noqa: PLC0415 -- few conversations bring specs

            try:
                self.specs.register(event.tool, event.render_spec)
            except SpecError as error:
                return self.specs.find(event.tool), (str(error),)
        if event.spec_hash and (known := self.specs.find(event.tool, event.spec_hash)) is not None:
            return known, ()
        return self._known_spec(event.tool)

    def _known_spec(self, tool: str) -> tuple[RenderSpec | None, tuple[str, ...]]:
        """The spec of a tool whose call brings none, and remarks about it."""
        specs = self._tools.specs if self._history is None else self._history.own
        found = specs.find(tool)
        if found is not None:
            return found, ()
        wanted = self._tools.presenter_for(tool) is None or spec_comes_first(tool)
        problems = self._tools.discover() if wanted else None
        if problems is not None:
            found = specs.find(tool)
        refusal = specs.refusal(tool) if found is None else ""
        return found, (*(problems or ()), *((refusal,) if refusal else ()))
