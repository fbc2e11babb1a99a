"""The `pty_state` that each event leads to."""

import pytest

from vantage.conversation.feed.status import StatusFold
from vantage.events import decode_event


def status_after(*events, **about):
    fold = StatusFold()
    fold.load(about)
    for event in events:
        fold.add(decode_event(event))
    return fold.status


SAID = {"type": "user_message", "text": "go"}
DONE = {"type": "turn_complete"}
BEGUN = {"type": "agent_block_begin", "block_id": "b", "origin": "exec"}


@pytest.mark.parametrize(
    ("events", "turn"),
    [
        ([], "done"),
        ([SAID], "working"),
        ([SAID, DONE], "done"),
        ([SAID, {"type": "canceled"}], "done"),
        ([BEGUN], "done"),
        ([{"type": "pty_state", "mode": "idle"}], "done"),
        ([{"type": "client_config", "client_id": "a"}], "done"),
        ([{**SAID, "agent": {"id": "sub", "depth": 1}}], "done"),
        ([SAID, {**DONE, "agent": {"id": "sub", "depth": 1}}], "working"),
    ],
)
def test_turns(events, turn):
    assert status_after(*events).turn == turn


@pytest.mark.parametrize(
    ("events", "mode"),
    [
        ([BEGUN], "block_running"),
        ([{**BEGUN, "origin": "interactive"}], "interactive"),
        ([BEGUN, {"type": "agent_block_end", "block_id": "b", "done_because": "mark"}], "idle"),
        ([BEGUN, {"type": "agent_block_end", "block_id": "b", "done_because": "exit"}], "exited"),
        ([{"type": "pty_state"}], "idle"),
    ],
)
def test_modes(events, mode):
    assert status_after(*events, mode="idle").mode == mode


def test_a_new_mode_ends_what_was_known_of_the_foreground():
    asking = {"type": "pty_state", "mode": "block_running", "foreground": "sudo", "awaiting_secret": True}
    assert status_after(asking).awaiting_secret
    after = status_after(asking, {"type": "agent_block_end", "block_id": "b"}, keyboard="agent", title="t")
    assert (after.foreground, after.awaiting_secret) == (None, False)
    assert (after.keyboard, after.title) == ("agent", "t"), "what an event does not name stays"


def test_versions_count_changes():
    fold = StatusFold()
    fold.load({"title": "a"})
    before = fold.version
    fold.set_title("a")
    assert fold.version == before
    fold.set_title("b")
    assert fold.version == before + 1
