"""The bus in one process: an owner answers, followers hear everything once and in order, one owner at a time."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vantage.conversation.bus import PAGE, Deleted, LocalBus, SpecSet
from vantage.errors import Conflict, NotFound, Unavailable
from vantage.events import AgentBlockDelta, UserMessage


class Notes:
    """An owner with a log in memory."""

    def __init__(self, bus, count=0):
        self.bus = bus
        self.log = []
        self.write(count)

    def write(self, count=1):
        events = [UserMessage(text="hi", seq=len(self.log) + place) for place in range(1, count + 1)]
        self.log += events
        self.bus.publish("c", events)

    async def handle(self, conversation_id, name, fields):
        if name != "greet":
            raise NotFound(f"nothing is called {name!r}")
        return {"ok": True, "said": f"hello {fields['who']}, this is {conversation_id or 'home'}"}

    def read_log(self, conversation_id, after, limit):
        assert conversation_id == "c"
        return self.log[after : after + limit]


async def test_the_owner_answers_and_its_errors_come_through():
    bus = LocalBus()
    bus.serve(Notes(bus))
    assert (await bus.request("c", "greet", who="Ada"))["said"] == "hello Ada, this is c"
    assert (await bus.request("", "greet", who="Ada"))["said"] == "hello Ada, this is home"
    with pytest.raises(NotFound):
        await bus.request("c", "sing")


async def test_without_an_owner():
    with pytest.raises(Unavailable, match="connect again"):
        await LocalBus().request("c", "greet", who="Ada")


async def test_there_is_one_owner_at_a_time():
    bus = LocalBus()
    first, second = Notes(bus), Notes(bus)
    lease = bus.hold("c", first)
    with pytest.raises(Conflict):
        bus.hold("c", second)
    lease.release()
    held = bus.hold("c", second)
    lease.release()  # it was given back already: that of the second holds
    with pytest.raises(Conflict):
        bus.hold("c", first)
    held.release()


@given(
    before=st.integers(0, 3 * PAGE),
    after=st.floats(0, 1),
    meanwhile=st.lists(st.integers(1, 3), max_size=5),
    later=st.lists(st.integers(1, 3), max_size=5),
)
def test_every_event_is_sent_once_and_in_order(before, after, meanwhile, later):
    """From any event on, also when events are written while the log is still read."""

    async def follow():
        bus = LocalBus()
        notes = Notes(bus, before)
        bus.serve(notes)
        heard = []
        pauses = iter(meanwhile)

        def listen(messages):
            heard.extend(message.seq for message in messages)
            notes.write(next(pauses, 0))

        start = int(after * before)
        subscription = await bus.subscribe("c", start, listen)
        for count in later:
            notes.write(count)
        notes.write(next(pauses, 0))
        subscription.end()
        told = len(notes.log)
        notes.write(5)
        assert heard == list(range(start + 1, told + 1))

    asyncio.run(follow())


async def test_messages_without_a_seq_are_sent_live_only():
    """Output from before the log was caught up with is not sent; a spec and a deletion always are."""
    bus = LocalBus()
    notes = Notes(bus, 2 * PAGE)
    bus.serve(notes)
    heard = []

    def listen(messages):
        heard.extend(messages)
        if len(heard) == PAGE:
            bus.publish("c", [AgentBlockDelta(text="early"), SpecSet("t", {})])

    await bus.subscribe("c", 0, listen)
    bus.publish("c", [AgentBlockDelta(text="now"), Deleted()])
    others = [message for message in heard if not isinstance(message, UserMessage)]
    assert others == [SpecSet("t", {}), AgentBlockDelta(text="now"), Deleted()]


async def test_a_follower_that_fails_does_not_affect_others(caplog):
    bus = LocalBus()
    notes = Notes(bus)
    bus.serve(notes)
    heard = []

    def fail(_):
        raise RuntimeError("no")

    await bus.subscribe("c", 0, fail)
    await bus.subscribe("c", 0, heard.extend)
    notes.write(2)
    assert [event.seq for event in heard] == [1, 2]
    assert "a follower of c failed" in caplog.text


async def test_whether_a_conversation_is_followed():
    bus = LocalBus()
    bus.serve(Notes(bus))
    assert not bus.followed("c")
    one = await bus.subscribe("c", 0, lambda _: None)
    two = await bus.subscribe("c", 0, lambda _: None)
    one.end()
    one.end()
    assert bus.followed("c")
    two.end()
    assert not bus.followed("c")


async def test_a_log_that_cannot_be_read():
    class Broken(Notes):
        def read_log(self, *_):
            raise Unavailable("the disk is gone")

    bus = LocalBus()
    bus.serve(Broken(bus))
    with pytest.raises(Unavailable):
        await bus.subscribe("c", 0, lambda _: None)
    assert not bus.followed("c")
