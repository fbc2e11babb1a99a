"""Requests to people over HTTP: asked, held, answered by one of two, refused to tokens that may only watch."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from machine import until
from server_home import serving
from terminal_home import PATIENCE
from vantage.server.security.tokens import Tokens


@pytest.fixture
def work(server):
    with server.conversation() as conversation:
        yield f"/v1/conversations/{conversation}/requests"


def ask(server, work, **fields):
    answer = server.post(work, {"title": "Deploy?", "options": ["yes", "no"], **fields})
    assert answer.status == 200, answer.body
    return answer.json


def answer(server, work, question, **fields):
    return server.post(f"{work}/{question['request_id']}/answer", {"hash": question["hash"], **fields})


def test_asked_listed_answered(server, work):
    question = ask(server, work)
    conversation = work.split("/")[3]
    (listed,) = server.get(f"/v1/requests?conversation={conversation}").json["requests"]
    assert (listed["title"], listed["conversation_id"], listed["state"]) == ("Deploy?", conversation, "open")
    done = answer(server, work, question, option="yes").json
    assert (done["state"], done["answer"]["by"]) == ("answered", "client:main")
    whole = server.get(f"{work}/{question['request_id']}").json
    assert (whole["answer"], whole["request"]["title"]) == (done["answer"], "Deploy?")
    assert server.get(f"/v1/requests?conversation={conversation}").json["requests"] == []


def test_the_same_id_in_the_path_of_two_calls_is_one_request(server, work):
    first = server.post(f"{work}?wait=0", {"title": "?", "request_id": "a-1"}).json
    assert server.post(work, {"title": "?", "request_id": "a-1"}).json == first
    again = server.post(work, {"title": "Another?", "request_id": "a-1"})
    assert (again.status, again.code) == (409, "changed")


def test_calls_are_held_until_the_answer(server, work):
    with ThreadPoolExecutor() as pool:
        asking = pool.submit(server.post, f"{work}?wait={PATIENCE}", {"title": "Colour?", "request_id": "held"})
        until(lambda: server.get(f"{work}/held").status == 200, "it was not asked")
        reading = pool.submit(server.get, f"{work}/held?wait={PATIENCE}")
        question = server.get(f"{work}/held").json
        assert not asking.done()
        answer(server, work, question, text="blue")
        assert asking.result().json["answer"]["text"] == reading.result().json["answer"]["text"] == "blue"


def test_a_client_that_leaves_does_not_take_its_question_back(server, work):
    connection = server.connection()
    headers = {"Authorization": f"Bearer {server.token}"}
    connection.request("POST", f"{work}?wait={PATIENCE}", '{"title": "?", "request_id": "left"}', headers)
    until(lambda: server.get(f"{work}/left").status == 200, "it was not asked")
    connection.close()
    assert server.get(f"{work}/left").json["state"] == "open"


def test_of_two_that_answer_at_once_one_wins_and_the_other_is_told(server, work):
    for number in range(20):
        question = ask(server, work, request_id=f"race-{number}")
        start = threading.Barrier(2)

        def give(option, question=question, start=start):
            start.wait()
            return answer(server, work, question, option=option, by=f"client:{option}")

        with ThreadPoolExecutor() as pool:
            both = list(pool.map(give, ["yes", "no"]))
        assert sorted(each.status for each in both) == [200, 409]
        won, told = sorted(both, key=lambda each: each.status)
        error = told.json["error"]
        assert error["code"] == "answered"
        assert error["facts"]["answer"] == won.json["answer"]
        assert error["message"].startswith(won.json["answer"]["by"])
        assert server.get(f"{work}/race-{number}").json["answer"] == won.json["answer"]


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"hash": "0" * 16, "option": "yes"}, 409, "changed"),
        ({"option": "yes", "hash": None}, 422, "validation"),
        ({"option": "perhaps"}, 422, "validation"),
        ({}, 422, "validation"),
        ({"option": "yes", "by": "the pope"}, 422, "validation"),
        ({"option": "yes", "by": 7}, 422, "validation"),
    ],
)
def test_answers_that_are_refused(server, work, fields, status, code):
    question = ask(server, work)
    refused = answer(server, work, question, **fields)
    assert (refused.status, refused.code) == (status, code)
    assert refused.json["error"]["hint"]
    assert server.get(f"{work}/{question['request_id']}").json["state"] == "open"


def test_unknown_ids(server, work):
    assert server.get(f"{work}/none").status == 404
    assert server.ask("DELETE", f"{work}/none").status == 404
    assert server.post(f"{work}/none/answer", {"hash": "0", "option": "yes"}).status == 404
    elsewhere = "/v1/conversations/there-is-none/requests"
    assert server.post(elsewhere, {"title": "?"}).status == 404
    assert server.get("/v1/requests?state=all").code == "validation"
    assert server.get("/v1/requests?state=all&request_id=none").json["requests"] == []


def test_withdrawn(server, work):
    question = ask(server, work)
    assert server.ask("DELETE", f"{work}/{question['request_id']}").json["closed"] == "withdrawn"
    late = answer(server, work, question, option="yes")
    assert (late.status, late.code, late.json["error"]["facts"]["why"]) == (409, "closed", "withdrawn")


def test_expired(server, work):
    question = ask(server, work, expires=round(time.time() * 1000) + 100)
    ended = server.get(f"{work}/{question['request_id']}?wait={PATIENCE}").json
    assert (ended["state"], ended["closed"]) == ("closed", "expired")


def test_what_an_agent_prints_is_no_request(server, work):
    events = work.replace("/requests", "/events")
    for kind in ("request", "answer", "request_closed", "agent_state"):
        refused = server.post(events, {"type": kind, "request_id": "forged", "state": "idle"})
        assert refused.status == 400, kind
    assert server.get(f"{work}/forged").status == 404


def test_a_token_that_may_only_watch_sees_requests(tmp_path):
    with serving(tmp_path) as server, server.conversation() as conversation:
        _, reader = Tokens(tmp_path).new("reader", "read")
        work = f"/v1/conversations/{conversation}/requests"
        question = ask(server, work)
        assert server.get("/v1/requests", token=reader).json["requests"][0]["request_id"] == question["request_id"]
        assert server.get(f"{work}/{question['request_id']}", token=reader).status == 200
        for method, path in (("POST", work), ("DELETE", f"{work}/x"), ("POST", f"{work}/x/answer")):
            assert server.ask(method, path, {}, token=reader).code == "read_only"


def test_a_killed_server_keeps_questions_and_answers(tmp_path):
    with serving(tmp_path) as server:
        server.post("/v1/conversations", {"id": "work"})
        work = "/v1/conversations/work/requests"
        first, second = ask(server, work), ask(server, work)
        answer(server, work, first, option="no")
        server.kill()
        server.start()
        assert [each["request_id"] for each in server.get("/v1/requests").json["requests"]] == [second["request_id"]]
        assert server.get(f"{work}/{first['request_id']}").json["answer"]["option"] == "no"
        assert answer(server, work, second, option="yes").status == 200
