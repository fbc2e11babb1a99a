"""Requests of a conversation: logged before anything else happens, answered once, expired, kept over a restart."""

import asyncio

import pytest

from terminal_home import PATIENCE
from vantage.conversation.manager import Manager
from vantage.conversation.requests import requests
from vantage.conversation.store.clock import now_ms
from vantage.errors import (
    Conflict,
    Invalid,
    NotFound,
    RequestAnswered,
    RequestChanged,
    RequestOver,
    RequestSecret,
    Unavailable,
)
from vantage.events import Request


@pytest.fixture
def opened(tmp_path):
    return Manager(tmp_path)


def types(conversation):
    return [event.type for event in conversation.events.read()]


async def asked(manager, conversation="work", **fields):
    if not manager.folder(conversation).settings.exists():
        manager.create(conversation)
    given = {"title": "Deploy?", "options": ["yes", "no"], **fields}
    return await manager.handle(conversation, "ask", {name: each for name, each in given.items() if each is not None})


async def answered(manager, question, conversation="work", **fields):
    given = {"request_id": question["request_id"], "hash": question["hash"], "by": "client:phone", **fields}
    return await manager.handle(conversation, "answer_request", given)


async def test_a_question_and_its_answer(opened):
    async with opened as manager:
        question = await asked(manager, text="All tests pass.")
        assert question["state"] == "open"
        (listed,) = (await manager.handle("", "requests", {}))["requests"]
        assert listed["options"][0] == {"id": "yes", "label": "yes", "kind": "choice"}
        assert (listed["conversation_id"], listed["text"]) == ("work", "All tests pass.")
        done = await answered(manager, question, option="yes")
        assert (done["state"], done["answer"]["option"], done["answer"]["by"]) == ("answered", "yes", "client:phone")
        assert (await manager.handle("", "requests", {}))["requests"] == []
        assert types(manager.get("work")) == ["request", "answer"]


async def test_it_is_logged_before_a_follower_sees_it(opened):
    async with opened as manager:
        conversation = manager.create("work")
        seen = []

        def look(messages):
            seen.extend((message.type, conversation.events.read()[-1].seq == message.seq) for message in messages)
            seen.append([entry.request.request_id for entry in conversation.requests.open_entries()])

        following = await manager.bus.subscribe("work", 0, look)
        await asked(manager, request_id="a")
        following.end()
        assert [each for each in seen if each] == [("request", True), ["a"]]


async def test_the_first_answer_wins_and_the_second_is_told_of_it(opened):
    async with opened as manager:
        question = await asked(manager)
        await answered(manager, question, option="yes")
        with pytest.raises(RequestAnswered, match="client:phone has answered it already: yes") as told:
            await answered(manager, question, option="no", by="cli")
        assert told.value.facts["answer"]["option"] == "yes"
        assert types(manager.get("work")) == ["request", "answer"]


async def test_an_answer_to_something_else_is_refused(opened):
    async with opened as manager:
        question = await asked(manager)
        with pytest.raises(RequestChanged) as told:
            await answered(manager, {**question, "hash": "0" * 16}, option="yes")
        assert told.value.facts["hash"] == question["hash"]
        with pytest.raises(NotFound):
            await answered(manager, {**question, "request_id": "none"}, option="yes")
        assert types(manager.get("work")) == ["request"]


async def test_the_same_id_is_the_same_request(opened):
    async with opened as manager:
        first = await asked(manager, request_id="a")
        assert await asked(manager, request_id="a") == first
        with pytest.raises(RequestChanged):
            await asked(manager, request_id="a", title="Delete everything?")
        with pytest.raises(Conflict, match="'work' has a request 'a'"):
            await asked(manager, "other", request_id="a")
        await answered(manager, first, option="no")
        assert (await asked(manager, request_id="a"))["answer"]["option"] == "no"
        assert types(manager.get("work")) == ["request", "answer"]


async def test_a_caller_waits_for_the_answer(opened):
    async with opened as manager:
        waiting = asyncio.create_task(asked(manager, request_id="a", wait=PATIENCE))
        await asyncio.sleep(0)
        second = asyncio.create_task(manager.handle("work", "request", {"request_id": "a", "wait": PATIENCE}))
        question = await asked(manager, request_id="a")
        await answered(manager, question, option="yes")
        assert (await waiting)["answer"]["option"] == (await second)["answer"]["option"] == "yes"


async def test_a_wait_that_is_over_says_that_it_is_open(opened):
    async with opened as manager:
        assert (await asked(manager, request_id="a", wait=0.001))["state"] == "open"


async def test_withdrawn(opened):
    async with opened as manager:
        question = await asked(manager)
        waiting = asyncio.create_task(
            manager.handle("work", "request", {"request_id": question["request_id"], "wait": PATIENCE})
        )
        await asyncio.sleep(0)
        closed = await manager.handle("work", "withdraw", {"request_id": question["request_id"]})
        assert (closed["state"], closed["closed"]) == ("closed", "withdrawn")
        assert (await waiting)["closed"] == "withdrawn"
        assert (await manager.handle("work", "withdraw", {"request_id": question["request_id"]}))[
            "closed"
        ] == "withdrawn"
        with pytest.raises(RequestOver, match="it was withdrawn"):
            await answered(manager, question, option="yes")
        assert types(manager.get("work")) == ["request", "request_closed"]


async def test_silence_is_never_yes(opened):
    async with opened as manager:
        question = await asked(manager, expires=now_ms() + 50, wait=PATIENCE)
        assert (question["state"], question["closed"]) == ("closed", "expired")
        assert "answer" not in question
        with pytest.raises(RequestOver, match="its time was over"):
            await answered(manager, question, option="yes")


async def test_an_answer_right_after_the_expiry_is_refused(opened, monkeypatch):
    """Also when the timer has not come to it."""
    async with opened as manager:
        ends = now_ms() + 3_600_000
        question = await asked(manager, expires=ends)
        monkeypatch.setattr(requests, "now_ms", lambda: ends)
        with pytest.raises(RequestOver):
            await answered(manager, question, option="yes")


async def test_requests_outlive_the_process(tmp_path):
    async with Manager(tmp_path) as manager:
        stays, done = await asked(manager, request_id="a"), await asked(manager, request_id="b")
        ends = now_ms() + 3_600_000
        await asked(manager, "other", request_id="c", expires=ends)
        await answered(manager, done, option="yes")
        manager.create("quiet")
        log = manager.folder("other").events
    log.write_text(log.read_text().replace(str(ends), "1000"))  # the hour is over
    async with Manager(tmp_path) as manager:
        assert [each.id for each in manager.open_conversations()] == ["other", "work"], "only those with open requests"
        listed = (await manager.handle("", "requests", {}))["requests"]
        assert [each["request_id"] for each in listed] == ["a"]
        assert types(manager.get("other")) == ["request", "request_closed"], "closed when its time was over"
        found = (await manager.handle("", "requests", {"state": "all", "request_id": "b"}))["requests"]
        assert [(each["conversation_id"], each["answer"]["option"]) for each in found] == [("work", "yes")]
        assert (await answered(manager, stays, option="no"))["state"] == "answered"
    async with Manager(tmp_path) as manager:
        assert manager.open_conversations() == ()
        found = (await manager.handle("", "requests", {"state": "all", "request_id": "a"}))["requests"]
        assert found[0]["answer"]["option"] == "no"


async def test_callers_are_told_once_each_is_logged(opened):
    async with opened as manager:
        conversation = manager.create("work")
        heard = []
        stop = conversation.requests.on_answer(lambda request, answer: heard.append((request.title, answer.option)))
        conversation.requests.on_answer(lambda *_: 1 / 0)
        conversation.requests.on_closed(lambda request, why: heard.append((request.title, why)))
        question = await asked(manager, title="One?")
        await answered(manager, question, option="yes")
        second = await asked(manager, title="Two?")
        await manager.handle("work", "withdraw", {"request_id": second["request_id"]})
        stop()
        await answered(manager, await asked(manager, title="Three?"), option="yes")
        assert heard == [("One?", "yes"), ("Two?", "withdrawn")]


async def test_an_answer_that_is_not_logged_is_none(opened, monkeypatch):
    async with opened as manager:
        question = await asked(manager)
        conversation = manager.get("work")

        def full(*_):
            raise Unavailable("the disk is full")

        monkeypatch.setattr(conversation.events, "append", full)
        with pytest.raises(Unavailable):
            await answered(manager, question, option="yes")
        with pytest.raises(Unavailable):
            await asked(manager, request_id="never")
        monkeypatch.undo()
        assert not conversation.requests.knows("never")
        assert (await answered(manager, question, option="no"))["answer"]["option"] == "no"


async def test_a_conversation_that_is_deleted_ends_the_waits(opened):
    async with opened as manager:
        question = await asked(manager)
        waiting = asyncio.create_task(
            manager.handle("work", "request", {"request_id": question["request_id"], "wait": PATIENCE})
        )
        await asyncio.sleep(0)
        await manager.delete("work")
        with pytest.raises(NotFound):
            await waiting
        assert (await manager.handle("", "requests", {}))["requests"] == []


async def test_secrets_are_not_answered(opened):
    async with opened as manager:
        entry = manager.create("work").requests.open(Request(request_id="s", kind="secret", title="[sudo] password:"))
        with pytest.raises(RequestSecret) as told:
            await answered(manager, {"request_id": "s", "hash": entry.request.hash}, text="hunter2")
        assert told.value.do[0].verb == "send"
        assert "hunter2" not in manager.folder("work").events.read_text()
        with pytest.raises(Invalid):
            await asked(manager, kind="secret")


async def test_a_thousand_open_requests(opened):
    async with opened as manager:
        for number in range(1000):
            await asked(manager, request_id=f"q{number}", expires=now_ms() + 3_600_000)
        assert len((await manager.handle("", "requests", {}))["requests"]) == 1000
        question = await asked(manager, request_id="q500", expires=now_ms() + 3_600_000)
        await answered(manager, question, option="yes")
        assert len(manager.get("work").requests.open_entries()) == 999


FORM = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "minLength": 2},
        "size": {"type": "integer", "minimum": 1},
        "kind": {"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}, "maxItems": 2},
    },
}
DENY = {"id": "no", "kind": "deny", "needs_text": True}


@pytest.mark.parametrize(
    ("asks", "answer"),
    [
        ({"options": None}, {"text": "blue"}),
        ({"options": ["yes"]}, {"option": "yes"}),
        ({"options": [DENY]}, {"option": "no", "text": "not on a Friday"}),
        ({"options": None, "schema": FORM}, {"values": {"name": "Ada", "size": 3, "kind": "b", "tags": ["x"]}}),
        ({"options": None, "schema": {**FORM, "required": [["name"], {}, 1]}}, {"values": {}}),
        ({"options": ["send", DENY], "schema": FORM}, {"option": "send", "values": {"name": "Ada"}}),
        ({"options": ["send", DENY], "schema": FORM}, {"option": "no", "text": "none of it"}),
    ],
)
async def test_answers_that_are_taken(opened, asks, answer):
    async with opened as manager:
        question = await asked(manager, **asks)
        assert (await answered(manager, question, **answer))["state"] == "answered"


ASKS_TEXT = {"options": None}


@pytest.mark.parametrize(
    ("asks", "answer", "said"),
    [
        ({}, {}, "missing required field `option`"),
        ({}, {"option": "maybe"}, "has no option 'maybe'"),
        ({}, {"option": "yes", "text": "but"}, "takes no text"),
        ({}, {"option": "yes", "values": {}}, "has no form"),
        ({"options": [DENY]}, {"option": "no"}, "needs a text"),
        (ASKS_TEXT, {}, "missing required field `text`"),
        (ASKS_TEXT, {"text": ""}, "missing required field `text`"),
        (ASKS_TEXT, {"option": "yes"}, "has no option 'yes'"),
        ({"options": None, "schema": FORM}, {}, "missing required field `values`"),
        ({"options": None, "schema": FORM}, {"text": "Ada"}, "has a form"),
        ({"options": None, "schema": FORM}, {"values": {}}, "missing required field `values.name`"),
        ({"options": None, "schema": FORM}, {"values": {"name": 3}}, "expected a text, got 3"),
        ({"options": None, "schema": FORM}, {"values": {"name": "A"}}, "a length of at least 2, got 1"),
        ({"options": None, "schema": FORM}, {"values": {"name": "Ada", "size": 0}}, "at least 1, got 0"),
        ({"options": None, "schema": FORM}, {"values": {"name": "Ada", "size": True}}, "a whole number"),
        ({"options": None, "schema": FORM}, {"values": {"name": "Ada", "kind": "c"}}, 'one of "a", "b"'),
        ({"options": None, "schema": FORM}, {"values": {"name": "Ada", "tags": ["z"]}}, 'one of "x", "y"'),
        ({"options": None, "schema": FORM}, {"values": {"name": "Ada", "more": 1}}, "has no such field"),
        ({"options": ["send", DENY], "schema": FORM}, {"option": "send"}, "missing required field `values`"),
    ],
)
async def test_answers_that_are_refused(opened, asks, answer, said):
    async with opened as manager:
        question = await asked(manager, **asks)
        with pytest.raises(Invalid, match=said.replace("(", r"\(")) as refused:
            await answered(manager, question, **answer)
        assert refused.value.hint
        assert types(manager.get("work")) == ["request"]


PASSWORD = {"type": "object", "properties": {"p": {"type": "string", "format": "password"}}}
HIDDEN = {"type": "object", "properties": {"p": {"anyOf": [{"properties": {"q": {"format": "password"}}}]}}}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"title": ""}, "`title`"),
        ({"title": "x" * 1001}, "`title`"),
        ({"schema": PASSWORD}, "takes no passwords"),
        ({"schema": HIDDEN}, "takes no passwords"),
        ({"schema": {"type": "string"}}, "an object with properties"),
        ({"options": ["a", "a"]}, "two have the id 'a'"),
        ({"options": [{"label": "no id"}]}, "missing required field `options"),
        ({"options": ["x"] * 51}, "`options`"),
        ({"request_id": "a b"}, "request_id"),
        ({"request_id": "../x"}, "request_id"),
        ({"request_id": ""}, "request_id"),
        ({"args": {"x": "y" * (1 << 20)}}, "`args`"),
        ({"wait": -1}, "wait"),
        ({"wait": 1e9}, "wait"),
    ],
)
async def test_questions_that_are_refused(opened, fields, said):
    async with opened as manager:
        manager.create("work")
        with pytest.raises(Invalid, match=said):
            await asked(manager, **fields)
        assert types(manager.get("work")) == []


async def test_hostile_texts_stay_what_they_are(opened):
    async with opened as manager:
        nasty = '\x1b]0;owned\x07\u202e<script>alert(1)</script>\u2028"}\n{"type":"answer"}'
        question = await asked(
            manager, title=nasty, text=nasty, details=nasty, options=[nasty[:50], "no"], args=[nasty]
        )
        await answered(manager, question, option=nasty[:50])
        held = manager.get("work").requests.get(question["request_id"])
        assert (held.request.title, held.request.args, held.answer.option) == (nasty, [nasty], nasty[:50])
        assert types(manager.get("work")) == ["request", "answer"]
