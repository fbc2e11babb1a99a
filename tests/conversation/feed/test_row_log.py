"""The row log alone, without IO: which rows are newer than a version, changed after an event, began before one."""

from hypothesis import given
from hypothesis import strategies as st

from strategies import EVENT
from vantage.conversation.feed.row_log import RowLog
from vantage.events import decode_event
from vantage.timeline.fold import Timeline

LIVE_ONLY = ("agent_block_delta", "screen_delta")
EVENTS = st.lists(EVENT.filter(lambda event: event.get("type") not in LIVE_ONLY), max_size=15)


def decoded(events):
    return [decode_event({**event, "seq": seq}) for seq, event in enumerate(events, 1)]


@given(EVENTS, st.integers(0, 20))
def test_a_reader_with_any_position_gets_exactly_what_changed_since(events, cut):
    """Rows as they are at the cut, replaced by those that are newer, are all rows as they are at the end."""
    log, events = RowLog(), decoded(events)
    for event in events[:cut]:
        log.add(event)
    version, seq = log.version, log.seq
    had = {row_id: log.row(row_id) for row_id in log.last(100)}
    for event in events[cut:]:
        log.add(event)
    for newer in (log.newer(version), log.after(seq)):
        has = had | {row_id: log.row(row_id) for row_id in newer}
        assert has == {row_id: log.row(row_id) for row_id in log.last(100)}
        assert newer == log.in_order(newer)


@given(EVENTS)
def test_rows_and_their_order_are_the_timelines(events):
    log, timeline = RowLog(), Timeline()
    for event in decoded(events):
        log.add(event)
        timeline.add(event)
    assert [log.row(row_id) for row_id in log.last(100)] == timeline.rows


@given(EVENTS, st.integers(1, 4))
def test_pages_before_an_event_join_without_gap(events, limit):
    log = RowLog()
    for event in decoded(events):
        log.add(event)
    pages, before = [], len(events) + 1
    while page := log.before(before, limit):
        pages = page + pages
        before = log.begin(page[0])
        assert len(page) <= limit
    assert pages == log.last(100)


@given(EVENTS, st.integers(1, 4))
def test_pages_after_an_event_miss_nothing(events, limit):
    """A page ends with all rows of its last event, so the next one begins after that event."""
    log = RowLog()
    for event in decoded(events):
        log.add(event)
    seen, after = set(), 0
    while page := log.after(after, limit):
        seen.update(page)
        after = max(log.seq_of(row_id) for row_id in page)
    assert log.in_order(seen) == log.last(100)


def test_output_of_a_running_command_is_a_version_without_an_event():
    log = RowLog()
    log.add(decode_event({"type": "agent_block_begin", "block_id": "b", "cmd": "make", "seq": 1}))
    version = log.version
    log.printed("b")
    log.printed("another")
    assert (log.newer(version), log.after(1), list(log.running)) == (["r1"], [], ["r1"])
    log.add(decode_event({"type": "agent_block_end", "block_id": "b", "exit_code": 0, "seq": 2}))
    version = log.version
    log.printed("b")
    assert (log.version, list(log.running)) == (version, [])
