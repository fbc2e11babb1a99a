"""`ask_person`: asked once, answered by a person, waited for in several calls."""

import asyncio

import pytest

from mcp_clients import CARRIERS, Refused, agent


def open_request(server, question):
    listed = server.get("/v1/requests").json["requests"]
    return next((each for each in listed if question in each["title"]), None)


def answer(server, request, **fields):
    path = f"/v1/conversations/{request['conversation_id']}/requests/{request['request_id']}/answer"
    return server.post(path, {"hash": request["hash"], **fields})


@pytest.mark.parametrize("carrier", CARRIERS)
async def test_a_question_is_answered_while_the_call_waits(server, carrier):
    async with agent(server, carrier) as user:
        question = f"Deploy to {carrier} now?"
        call = asyncio.create_task(user.call("ask_person", question=question, options=["yes", "no"]))
        while (request := await asyncio.to_thread(open_request, server, question)) is None:
            assert not call.done(), await call
        assert answer(server, request, option="no", by="client:phone").status == 200
        said = await call
        assert (said["state"], said["answer"], said["by"]) == ("answered", "no", "client:phone")


async def test_a_pending_question_is_waited_for_again(server):
    async with agent(server) as user:
        first = await user.call("ask_person", question="Which colour?\n\n- for the *logo*", timeout_ms=0)
        assert first["state"] == "pending"
        assert first["request_id"] in first["note"]
        request = open_request(server, "Which colour?")
        assert (request["title"], request["text"]) == ("Which colour?", "Which colour?\n\n- for the *logo*")
        again = await user.call("ask_person", request_id=first["request_id"], timeout_ms=0)
        assert again["state"] == "pending"
        answer(server, request, text="blue")
        assert (await user.call("ask_person", request_id=first["request_id"]))["answer"] == "blue"


async def test_a_closed_question_is_no_yes(server):
    async with agent(server) as user:
        first = await user.call("ask_person", question="Delete the disk?", options=["yes"], timeout_ms=0)
        request = open_request(server, "Delete the disk?")
        server.ask("DELETE", f"/v1/conversations/{request['conversation_id']}/requests/{request['request_id']}")
        said = await user.call("ask_person", request_id=first["request_id"])
        assert (said["state"], said["why"]) == ("closed", "withdrawn")
        assert "not a yes" in said["note"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [({}, "question"), ({"question": " "}, "question"), ({"request_id": "none"}, "ask again")],
)
async def test_questions_that_are_refused(server, arguments, words):
    async with agent(server) as user:
        await user.call("pty_exec_block", command="true")
        with pytest.raises(Refused) as refused:
            await user.call("ask_person", **arguments)
        assert words in refused.value.text.lower()
