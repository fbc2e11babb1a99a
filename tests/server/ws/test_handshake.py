"""The handshake's table: every pair of state and event is listed or raises, and the docs show the same table."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from places import ROOT
from state_diagram import mermaid
from vantage.server.ws.handshake import CLOSINGS, TRANSITIONS, Event, Handshake, HandshakeError, State
from vantage.server.ws.limits import MAX_BYTES, PING_S, Limits

PAGE = (ROOT / "docs/websocket.md").read_text()
PAIRS = [(state, event) for state in State for event in Event]


@pytest.mark.parametrize(("state", "event"), PAIRS, ids=[f"{state.name}-{event.name}" for state, event in PAIRS])
def test_an_event_leads_where_the_table_says_or_raises(state, event):
    handshake = Handshake()
    handshake.state = state
    if event in TRANSITIONS[state]:
        assert handshake.allows(event)
        handshake.on(event)
        assert handshake.state is TRANSITIONS[state][event]
    else:
        assert not handshake.allows(event)
        with pytest.raises(HandshakeError, match=f"{event.name} in state {state.name}: expected "):
            handshake.on(event)
        assert handshake.state is state


@given(st.lists(st.sampled_from(Event)))
def test_no_message_is_taken_before_a_token_and_a_hello(events):
    handshake, taken = Handshake(), []
    for event in events:
        if handshake.allows(event):
            handshake.on(event)
            taken.append(event)
    if Event.MESSAGE in taken:
        before = taken[: taken.index(Event.MESSAGE)]
        assert Event.TOKEN in before
        assert Event.HELLO in before
        assert before.index(Event.TOKEN) < before.index(Event.HELLO)


def test_every_event_that_the_server_closes_with_has_a_code():
    closing = {event for row in TRANSITIONS.values() for event, after in row.items() if after is State.CLOSED}
    assert closing == {*CLOSINGS, Event.LEFT}
    assert not TRANSITIONS[State.CLOSED]


def test_every_state_is_reached():
    reached, new = set(), {Handshake().state}
    while new:
        reached |= new
        new = {after for state in new for after in TRANSITIONS[state].values()} - reached
    assert reached == set(State)


def test_the_diagram_in_the_docs_is_the_table():
    drawn = mermaid(Handshake().state, TRANSITIONS)
    [shown] = re.findall(r"```mermaid\n(.*?)\n```", PAGE, re.DOTALL)
    assert shown == drawn, f"docs/websocket.md should have:\n{drawn}"


def test_every_closing_is_in_the_docs():
    for closing in CLOSINGS.values():
        assert f"| {closing.code} | {closing.reason} |" in PAGE, closing


def test_limits_in_the_docs_are_those_of_the_code():
    limits = Limits()
    for sentence in (
        f"{limits.sockets} sockets with a token are open",
        f"{limits.anonymous_of_peer} sockets without a token are open from this address, or {limits.anonymous} in all",
        f"most {limits.subscriptions} conversations",
        f"until {limits.linger_s:.0f} seconds after its last socket",
        f"a message of more than {MAX_BYTES >> 20} MiB",
        f"a ping was not answered for {PING_S:.0f} seconds",
    ):
        assert sentence in PAGE
