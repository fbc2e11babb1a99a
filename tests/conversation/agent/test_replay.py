"""The replay of a run: the same files give the same events and the same dues, however they are cut and killed.

`World` is a host and an agent without IO: what it is sent is journaled, then the agent prints. `serve` is a server that
is killed after so many steps; the next one begins with the files and the log alone.
"""

import json
import random

import pytest
from msgspec.structs import replace

from scripted_driver import ScriptedDriver
from vantage.agents.drivers.driver import Moment
from vantage.conversation.agent.records import Record, read_records
from vantage.conversation.agent.replay import LOST, Replay
from vantage.events import Answer, RequestClosed, UserMessage, encode_event


class Killed(Exception):
    """The server was killed here."""


class World:
    """The files of a run, the conversation's log, and an agent that answers what it is sent."""

    def __init__(self, *, steers=False):
        self.stream = b""
        self.records = [Record(t="start", at=0, ts=1, run="r1", agent="scripted")]
        self.log = []
        self.steers = steers
        self.display = "40 columns"
        self.heard = lambda event: None
        """What the server that serves now does with an event of the log."""

    def write(self, n, data, key, display):
        sent = [record for record in self.records if record.t == "sent"]
        assert n == len(sent) + 1, "a number is written once"
        assert key not in {record.key for record in sent}, f"{key} is sent twice"
        self.records.append(Record(t="sent", at=len(self.stream), ts=n, n=n, key=key, data=data, display=display))
        self.answer(json.loads(data))

    def answer(self, message):
        match message:
            case {"hello": _}:
                self.print({"ready": "s1"})
            case {"say": text}:
                self.print({"hook": text}, {"text": f"heard|{text}"}, {"ask": 0})
            case {"reply": _, "option": option}:
                self.print({"text": f"you said {option}"}, {"done": True})
            case {"stop": _}:
                self.print({"gone": 0}, {"stopped": True})

    def print(self, *messages):
        self.stream += b"".join(json.dumps(message).encode() + b"\n" for message in messages)

    def end(self, kind="exit", **fields):
        self.records.append(Record(t=kind, at=len(self.stream), ts=99, **fields))

    def append(self, events):
        numbered = [replace(event, seq=len(self.log) + place) for place, event in enumerate(events, 1)]
        self.log += numbered
        for event in numbered:
            self.heard(event)
        return numbered

    def said(self, text):
        self.append([UserMessage(text=text, source={"run": "r1"}, ts=0)])

    def texts(self):
        return [encode_event(replace(event, ts=None)).decode() for event in self.log]


class Server:
    """Reads the files, logs events, sends what is due; is killed before its step number `dies`."""

    def __init__(self, world, dies=None):
        self.world = world
        self.steps = 0
        self.dies = dies
        self.replay = Replay(world.records[0], ScriptedDriver(steers=world.steers), stderr=lambda _: "last words")
        self.taken = 0
        self.position = 0
        for event in world.log:
            self.replay.logged(event)
        world.heard = self.replay.logged

    def may_die(self):
        self.steps += 1
        if self.steps == self.dies:
            raise Killed

    def read(self):
        steps = []
        while self.taken < len(self.world.records):
            record = self.world.records[self.taken]
            steps += self.receive_to(record.at)
            steps += self.replay.apply(record)
            self.taken += 1
        steps += self.receive_to(len(self.world.stream))
        for step in steps:
            if step.last > self.replay.logged_up_to:
                self.may_die()
                self.world.append(step.events)

    def receive_to(self, offset):
        data = self.world.stream[self.position : offset]
        self.position = max(self.position, offset)
        return self.replay.receive(data)

    def work(self):
        self.read()
        while (send := self.replay.due()) is not None:
            self.may_die()
            n = self.replay.n + 1
            display = self.replay.display if self.replay.in_turn else self.world.display
            data = json.dumps(send.make(Moment(n, display)))
            self.world.write(n, data, send.key, display)
            self.may_die()
            self.read()


def conversation(world, serve):
    """Two turns: the first is allowed, the second is interrupted. `serve` lets a server do what is to be done."""
    serve()
    world.said("one")
    world.said("two")
    serve()
    asked = [event for event in world.log if event.type == "request"]
    world.append([Answer(request_id=asked[0].request_id, option="allow", by="cli", ts=0)])
    world.display = "80 columns"
    serve()
    world.append([Answer(request_id=asked[0].request_id + "-unknown", option="deny", by="cli", ts=0)])
    serve()
    asked = [event for event in world.log if event.type == "request"]
    world.append([RequestClosed(request_id=asked[1].request_id, why="expired", ts=0)])
    serve()
    world.print({"text": "half a"})
    world.stream += b'{"text": "cut off'
    world.end(status=3)
    serve()


def undisturbed():
    world = World()
    servers = [Server(world)]
    conversation(world, servers[0].work)
    return world, servers[0]


def test_a_turn_is_said_asked_answered_and_ended():
    world, server = undisturbed()
    kinds = [event.type for event in world.log]
    assert kinds.count("request") == 2
    assert kinds.count("turn_complete") == 2
    sent = [(record.key, json.loads(record.data)) for record in world.records if record.t == "sent"]
    assert [key for key, _ in sent] == [
        "initialize", "say 3", "hook 1", f"answer {requests(world)[0]}",
        "say 4", "hook 2", f"refuse {requests(world)[1]}",
    ]  # fmt: skip
    displays = [message["display"] for key, message in sent if key.startswith(("say", "hook"))]
    assert displays == ["40 columns", "40 columns", "80 columns", "80 columns"]
    assert world.log[-1].state == "exited"
    assert any("cut off" in event.message for event in world.log if event.type == "warning")
    assert server.replay.over


def requests(world):
    return [event.request_id for event in world.log if event.type == "request"]


def test_a_server_that_is_killed_anywhere_is_continued_by_the_next():
    whole, server = undisturbed()
    assert server.steps > 25
    for dies in range(1, server.steps + 1):
        world = World()
        current = [Server(world, dies)]

        def serve(world=world, current=current):
            try:
                current[0].work()
            except Killed:
                current[0] = Server(world)
                current[0].work()

        conversation(world, serve)
        assert world.texts() == whole.texts(), f"killed at step {dies}"
        assert [record.key for record in world.records] == [record.key for record in whole.records]


def test_a_server_that_is_killed_again_and_again_loses_and_doubles_nothing():
    whole, _ = undisturbed()
    for seed in range(100):
        chance = random.Random(seed)
        world = World()

        def serve(world=world, chance=chance):
            while True:
                try:
                    return Server(world, chance.randrange(2, 12)).work()
                except Killed:
                    continue

        conversation(world, serve)
        assert world.texts() == whole.texts(), f"seed {seed}"


def test_every_cut_of_the_files_gives_the_same_events():
    world, _ = undisturbed()
    whole = [event.source for event in world.log if isinstance(event.source, dict) and "offset" in event.source]
    for cut in range(len(world.stream) + 1):
        replay = Replay(world.records[0], ScriptedDriver(), stderr=lambda _: "last words")
        found = []
        at = 0
        for record in world.records:
            for end in sorted({min(max(cut, at), record.at), record.at}):
                found += replay.receive(world.stream[at:end])
                at = end
            found += replay.apply(record)
        assert [event.source for step in found for event in step.events] == whole


def test_places_only_grow():
    world, _ = undisturbed()
    places = [
        (event.source["offset"], event.source["index"])
        for event in world.log
        if isinstance(event.source, dict) and "offset" in event.source
    ]
    assert places == sorted(set(places))


def test_a_request_that_is_taken_back_after_its_answer_was_too_late():
    world = World()
    server = Server(world)
    server.work()
    world.said("one")
    server.work()
    world.print({"gone": 0})
    world.append([Answer(request_id=requests(world)[0], option="allow", by="cli")])
    server.work()
    assert [event.why for event in world.log if event.type == "request_closed"] == ["too_late"]
    assert not any(record.key.startswith("answer") for record in world.records)


@pytest.mark.parametrize(
    ("before", "why"),
    [
        ([], ["lost"]),
        ([Answer(option="allow", by="cli")], ["too_late"]),
        ([RequestClosed(why="expired")], ["expired"]),
    ],
)
def test_a_request_of_an_agent_that_is_gone_ends_once(before, why):
    world = World()
    server = Server(world)
    server.work()
    world.said("one")
    server.work()
    world.append([replace(event, request_id=requests(world)[0]) for event in before])
    world.end()
    server.work()
    assert [event.why for event in world.log if event.type == "request_closed"] == why


def test_a_message_that_the_agent_never_got_is_named_when_it_ends():
    world = World()
    server = Server(world)
    server.work()
    world.said("one")
    world.said("two")
    server.work()
    assert server.replay.fates == {3: "now"}
    assert server.replay.undelivered == [4]
    world.end("lost")
    server.work()
    after = [event for event in world.log if event.seq > 4]
    assert [event.why for event in after if event.type == "request_closed"] == ["lost"]
    assert [event.message for event in after if event.type == "warning"] == [
        "the agent ended before it got this message, say it again: two"
    ]
    assert [event.finish for event in after if event.type == "turn_complete"] == ["exited"]
    assert after[-1].error == LOST
    assert server.replay.due() is None


def test_a_message_joins_the_turn_of_an_agent_that_takes_it():
    world = World(steers=True)
    server = Server(world)
    server.work()
    world.said("one")
    world.said("two")
    server.work()
    assert server.replay.fates == {3: "now", 4: "steered"}


def test_a_driver_that_fails_leaves_a_warning_with_the_line():
    world = World()
    server = Server(world)
    server.work()
    world.print({"what": "is this"})
    server.work()
    assert world.log[-1].type == "warning"
    assert '{"what": "is this"}' in world.log[-1].message


def test_what_a_driver_offers_again_is_not_sent_again():
    world = World()
    server = Server(world)
    server.work()
    world.print({"again": "initialize"}, {"again": "new"}, {"again": "new"})
    server.work()
    assert [record.key for record in world.records] == ["", "initialize", "new"]


def test_an_interrupt_is_sent_once_and_only_in_a_turn():
    world = World()
    server = Server(world)
    server.work()
    server.replay.interrupt("interrupt 1")
    server.work()
    assert not any(record.key.startswith("interrupt") for record in world.records)
    world.said("one")
    server.work()
    server.replay.interrupt("interrupt 5")
    server.replay.interrupt("interrupt 5")
    server.work()
    assert [record.key for record in world.records].count("interrupt 5") == 1
    kinds = [event.type for event in world.log if event.type != "agent_state"]
    assert kinds[-3:] == ["request_closed", "canceled", "turn_complete"]
    assert world.log[-1].state == "idle"


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_records_are_read_in_pieces(size):
    journal = (
        b'{"t":"start","at":0,"ts":1,"run":"r1","options":{"run":"r1","cwd":"/"}}\n'
        b"no record\n"
        b'{"t":"sent","at":5,"ts":2,"n":1,"key":"say 1","data":"{}","new":true}\n'
    )
    at, found = 0, []
    while at < len(journal):
        upto = at + size
        records, end = read_records(journal[at:upto], at)
        while end == at and upto < len(journal):
            upto += size
            records, end = read_records(journal[at:upto], at)
        found += records
        at = end
    assert [(placed.record.t, placed.begin) for placed in found] == [("start", 0), ("sent", 82)]
