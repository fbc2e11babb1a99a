"""Which events make a row: one decision for timelines, search and exports, that can be stored and continued."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from strategies import EVENT
from vantage import Timeline, decode_event
from vantage.events import Agent, Event
from vantage.timeline.grouping import EntryKind, Grouping, Open


class Numbers(msgspec.Struct):
    """The numbers of the events of a group, and of the events outside it that ended it."""

    seqs: list[int]
    ended: list[int] = []
    agent: Agent | None = None
    open: bool = False

    @classmethod
    def of(cls, event: Event, _: EntryKind) -> "Numbers":
        return cls([], agent=event.agent)

    def take(self, event: Event) -> None:
        self.seqs.append(event.seq)
        self.agent = event.agent or self.agent
        if event.type in ("assistant_text", "assistant_reasoning", "user_message"):
            self.open = False

    def close(self, event: Event | None) -> None:
        self.open = False
        self.ended += [event.seq] if event is not None else []


def numbered(events: list[dict]) -> list[Event]:
    return [msgspec.structs.replace(decode_event(event), seq=seq) for seq, event in enumerate(events, 1)]


@given(st.lists(EVENT, max_size=30))
def test_a_row_has_the_numbers_of_the_first_event_and_of_the_last_that_changed_it(events):
    timeline, grouping = Timeline(), Grouping(Numbers.of)
    groups: list[Numbers] = []
    for event in numbered(events):
        row_id = timeline.add(event)
        entry = grouping.add(event)
        assert (row_id is None) == (entry is None)
        assert len(timeline.changed) == len(grouping.closed) + (entry is not None)
        if entry is not None:
            groups += [entry] if len(entry.seqs) == 1 else []
            assert timeline.changed[-1] == row_id == f"r{[each is entry for each in groups].index(True) + 1}"
    assert [(row.begin, row.seq) for row in timeline.rows] == [
        (group.seqs[0], max(group.seqs + group.ended)) for group in groups
    ]
    for row in timeline.rows:
        assert (timeline.begin(row.id), timeline.seq(row.id)) == (row.begin, row.seq)


@given(st.lists(EVENT, max_size=30), st.integers(0, 30))
def test_grouping_continues_from_a_stored_state(events, cut):
    def fold(grouping: Grouping, some: list[Event]) -> list[tuple[list[int], list[int]]]:
        said = []
        for event in some:
            entry = grouping.add(event)
            said.append(([*entry.seqs] if entry else [], [each.seqs[0] for each in grouping.closed]))
        return said

    decoded = numbered(events)
    whole = fold(Grouping(Numbers.of), decoded)
    before = Grouping(Numbers.of)
    fold(before, decoded[:cut])
    kept = msgspec.json.decode(msgspec.json.encode(before.opened), type=Open[Numbers])
    assert fold(Grouping(Numbers.of, kept), decoded[cut:]) == whole[cut:]


def test_the_oldest_is_given_up_where_too_many_are_open():
    grouping = Grouping(Numbers.of, limit=2)
    for seq, call in enumerate(("1", "2", "3"), 1):
        grouping.add(decode_event({"type": "tool_start", "tool": "t", "toolCallId": call, "seq": seq}))
    assert sorted(grouping.opened.calls) == ["2", "3"]
    ended = grouping.add(decode_event({"type": "tool_end", "toolCallId": "1", "seq": 4}))
    assert ended.seqs == [4]
