"""Drivers on recorded conversations with real agents: what they say and send, and that a replay changes nothing.

`VANTAGE_GOLDEN=write make test` writes the pages anew; `scripts/record-drivers` records the conversations anew.
"""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations import AGENTS
from driven import Call, Exit, Line, Playing, Record, Sent, Start, read
from places import FIXTURES
from vantage.agents.drivers.driver import Moment
from vantage.events import AssistantDelta, ReasoningDelta, UnknownEvent, encode_event

RECORDINGS = sorted((FIXTURES / "drivers").glob("*/*.jsonl"))
recordings = pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.name}/{path.stem}")


def state(playing: Playing) -> tuple:
    driver = playing.driver
    return driver.state, driver.session, driver.delivery(), list(playing.requests)


def sends(playing: Playing, moment: Moment) -> list[tuple]:
    return [(key, make(moment)) for key, make in playing.sends.items()]


def played(records: list[Record]) -> Playing:
    playing = Playing(records[0])
    for record in records:
        playing.play(record)
    return playing


def told(records: list[Record]) -> str:
    """What a conversation's driver says and sends, line by line."""
    playing, lines = Playing(records[0]), []
    for record in records:
        before = len(playing.events)
        if isinstance(record, Sent):
            lines.append(f"> {record.n} {record.key}")
        playing.play(record)
        whole = [one for one in playing.events[before:] if not isinstance(one, AssistantDelta | ReasoningDelta)]
        lines += [encode_event(event).decode() for event in whole]
    return "\n".join(lines) + "\n"


def test_every_agent_that_is_tested_has_its_recordings():
    for agent, of in AGENTS.items():
        recorded = {path.stem for path in RECORDINGS if path.parent.name == agent}
        assert recorded >= {"talk", "stopped", *(["resumed"] if of.resumes else [])}


@recordings
def test_a_driver_says(path):
    shown = told(read(path.read_bytes()))
    expected = path.with_suffix(".txt")
    if os.environ.get("VANTAGE_GOLDEN") == "write":
        expected.write_text(shown)
    assert shown == expected.read_text()


@recordings
def test_every_message_of_the_agent_is_known(path):
    assert [event for event in played(read(path.read_bytes())).events if isinstance(event, UnknownEvent)] == []


@recordings
def test_what_was_sent_is_what_the_driver_sends(path):
    playing = None
    for record in read(path.read_bytes()):
        if isinstance(record, Start):
            playing = Playing(record)
        if isinstance(record, Sent):
            assert next(iter(playing.sends)) == record.key, "the first that waits is sent"
            assert playing.sends[record.key](Moment(record.n, record.display)) == record.message
        playing.play(record)
    assert playing.sends == {}
    assert playing.driver.state == "exited"


@recordings
def test_each_message_is_offered_once(path):
    records = read(path.read_bytes())
    playing, keys = Playing(records[0]), []
    for record in records:
        playing.play(record)
        keys += playing.sends
        playing.sends.clear()
    assert sorted(keys) == sorted({one.key for one in records if isinstance(one, Sent)})


@recordings
def test_a_driver_that_starts_later_goes_on_as_the_one_that_ran_through(path):
    """Exactly once: after each record, a new driver with the records so far waits to send the same messages."""
    records = read(path.read_bytes())
    through, moment = Playing(records[0]), Moment(77, "The display has changed.")
    for k, record in enumerate(records):
        through.play(record)
        # what a person did is in the log; what of it is not in the journal is given to the new driver again
        later = Playing(records[0])
        for one in records[: k + 1]:
            if not isinstance(one, Call):
                later.play(one)
        for one in records[: k + 1]:
            if isinstance(one, Call) and is_pending(one, records[: k + 1]):
                later.play(one)
        assert state(later) == state(through)
        assert sends(later, moment) == sends(through, moment), record
        assert [one for one in later.events if one not in through.events] == []


def is_pending(call: Call, records: list[Record]) -> bool:
    return not any(isinstance(one, Sent) and one.key == call.key for one in records)


@recordings
def test_a_driver_that_starts_later_ends_with_the_same_events(path):
    records = read(path.read_bytes())
    through = played(records)
    for k in range(1, len(records), max(len(records) // 20, 1)):
        later = played(records[:k])
        for record in records[k:]:
            later.play(record)
        assert later.events == through.events
        assert state(later) == state(through)


@recordings
@given(data=st.data())
def test_what_a_person_wants_changes_nothing_until_it_is_sent(path, data):
    """`say`, `interrupt`, `answer` and `refuse` only return: asked at any time, they leave the driver as it was."""
    records = read(path.read_bytes())
    at = data.draw(st.integers(1, len(records) - 1))
    asked, alone = played(records[:at]), played(records[:at])
    calls = [Call("say", "say 99", text="hello"), Call("interrupt", "interrupt 99")]
    for request in asked.requests:
        calls += [Call("answer", f"answer {request}", request, one) for one in ("allow", "deny", "1", "decline", "?")]
        calls.append(Call("refuse", f"refuse {request}", request, text="expired"))
    for call in data.draw(st.lists(st.sampled_from(calls), max_size=5)):
        asked._called(call)
    assert state(asked) == state(alone)
    for record in records[at:]:
        asked.play(record)
        alone.play(record)
    assert asked.events == alone.events
    assert state(asked) == state(alone)


@recordings
@given(data=st.data())
def test_a_damaged_stream_is_told_and_never_raises(path, data):
    """Lines that are cut, doubled, left out or garbage: each gives events, and the driver can still be spoken to."""
    records = read(path.read_bytes())
    playing = Playing(records[0])
    for record in records:
        if isinstance(record, Line) and data.draw(st.integers(0, 4)) == 0:
            text = record.text
            cut = data.draw(st.integers(0, len(text)))
            damaged = data.draw(
                st.sampled_from(["", text[:cut], text[cut:], text + text, "[]", "null", "{}", "\0\x1b["])
            )
            playing.take(playing.driver.receive(damaged.encode(), record.offset))
        elif isinstance(record, Call) and record.request and record.request not in playing.requests:
            continue  # the request was in a line that is lost
        else:
            playing.play(record)
        if playing.driver.state in ("idle", "working", "waiting"):
            assert playing.driver.delivery() in ("now", "queued", "steered")
    assert isinstance(records[-1], Exit)
    assert playing.driver.state == "exited"
