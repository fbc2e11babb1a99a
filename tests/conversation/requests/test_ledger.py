"""The ledger: a fold of events that keeps at most one answer; the hash of what was shown; finding events in a log."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vantage.conversation.requests import scan
from vantage.conversation.requests.hash import SHOWN, request_hash
from vantage.conversation.requests.ledger import Ledger
from vantage.conversation.requests.scan import request_events
from vantage.events import Answer, Request, RequestClosed, UserMessage, decode_event, encode_event

IDS = st.sampled_from(["a", "b"])
EVENTS = st.one_of(
    st.builds(lambda name, title: Request(request_id=name, title=title), IDS, st.sampled_from(["one", "two"])),
    st.builds(lambda name, by: Answer(request_id=name, option="yes", by=by), IDS, st.sampled_from(["cli", "client:x"])),
    st.builds(lambda name, why: RequestClosed(request_id=name, why=why), IDS, st.sampled_from(["expired", "too_late"])),
    st.just(UserMessage(text="hi")),
)


@given(st.lists(EVENTS, max_size=12))
def test_the_first_of_each_counts(events):
    ledger = Ledger()
    changes = [entry for event in events if (entry := ledger.apply(event)) is not None]
    for entry in ledger:
        mine = [each for each in changes if each.request.request_id == entry.request.request_id]
        assert mine[0].request.title == entry.request.title
        assert len([each for each in mine if each.state == "open"]) == 1
        answers = {each.answer.by for each in mine if each.answer is not None}
        assert len(answers) <= 1
        assert (entry in ledger.open()) == (entry.state == "open")
        if entry.state == "closed":
            assert entry.answer is None


@given(st.lists(EVENTS, max_size=12))
def test_a_log_gives_the_same_ledger(tmp_path_factory, events):
    log = tmp_path_factory.mktemp("log") / "events.jsonl"
    log.write_bytes(b"".join(encode_event(event) + b"\n" for event in events))
    live, read = Ledger(), Ledger()
    for event in events:
        live.apply(event)
    for event in request_events(log):
        read.apply(event)
    assert list(read) == list(live)


def test_an_answer_that_came_too_late_is_marked():
    ledger = Ledger()
    ledger.apply(Request(request_id="a"))
    ledger.apply(Answer(request_id="a", option="yes"))
    entry = ledger.apply(RequestClosed(request_id="a", why="too_late"))
    assert (entry.state, entry.closed.why) == ("answered", "too_late")


def test_the_hash_is_of_what_is_shown():
    request = Request(request_id="a", title="Deploy?", args={"b": 1, "a": [2]}, options=[{"id": "yes"}])
    assert request_hash(request) == "352de7eb2b663f05"  # printf of the canonical JSON, piped into sha256sum
    elsewhere = Request(request_id="b", title="Deploy?", args={"a": [2], "b": 1}, options=[{"id": "yes"}], expires=9)
    assert request_hash(elsewhere) == request_hash(request)
    for name in SHOWN:
        other = json.loads(encode_event(request)) | {name: "another"}
        assert request_hash(decode_event(other)) != request_hash(request), name


@pytest.mark.parametrize("size", [30, 31, 64, 1000])
def test_events_are_found_wherever_a_read_ends(tmp_path, monkeypatch, size):
    monkeypatch.setattr(scan, "_READ", size)
    events = [
        Request(request_id="a", title='\n{"type":"request"', args={"type": "request", "lone": "\ud800"}),
        UserMessage(text='{"type":"answer"}\n{"type":"answer","request_id":"a"}'),
        Answer(request_id="a", text="x" * 3),
        RequestClosed(request_id="a", why="too_late"),
    ]
    log = tmp_path / "events.jsonl"
    log.write_bytes(b"".join(encode_event(event) + b"\n" for event in events) + b'{"type":"answer", torn')
    assert [event.type for event in request_events(log)] == ["request", "answer", "request_closed"]
    assert list(request_events(tmp_path / "none")) == []
