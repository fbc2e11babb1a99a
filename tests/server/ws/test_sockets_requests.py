"""Requests and events over the WebSocket, and the list of conversations with what needs a person."""

from server_home import serving
from socket_client import open_socket
from vantage.server.security.tokens import Tokens


def path(conversation, *more):
    return "/".join([f"/v1/conversations/{conversation}/requests", *more])


def ask(server, conversation, **fields):
    answer = server.post(path(conversation), {"title": "Deploy?", "options": ["yes", "no"], **fields})
    assert answer.status == 200, answer.body
    return answer.json


async def kind(socket, name, **about):
    return await socket.until(lambda message: message["type"] == name and about.items() <= message.items())


async def test_a_person_is_asked_and_answers(server):
    with server.conversation() as c:
        early = ask(server, c, title="Early?")
        async with open_socket(server, "ada") as ada, open_socket(server, "bob") as bob:
            for person in (ada, bob):
                await person.watch(c, "requests")
                shown = await kind(person, "request", conversation_id=c)
                assert (shown["request"]["title"], shown["request"]["hash"]) == ("Early?", early["hash"])
            question = ask(server, c)
            shown = (await kind(ada, "request"))["request"]
            assert shown["request_id"] == question["request_id"]
            given = {"request_id": shown["request_id"], "hash": shown["hash"], "option": "yes"}
            await ada.say("answer", c, **given)
            for person in (ada, bob):
                answer = (await kind(person, "answer"))["answer"]
                assert (answer["option"], answer["by"]) == ("yes", "client:ada")
            await bob.say("answer", c, **{**given, "option": "no"})
            error = await bob.error()
            assert (error["code"], error["about"], error["request_id"]) == ("answered", "answer", given["request_id"])
            assert "client:ada" in error["message"]
            server.ask("DELETE", path(c, early["request_id"]))
            closed = await kind(bob, "request_closed")
            assert (closed["request_id"], closed["why"]) == (early["request_id"], "withdrawn")


async def test_a_client_without_the_channel_is_told_directly(server):
    with server.conversation() as c:
        question = ask(server, c)
        async with open_socket(server) as socket:
            given = {"request_id": question["request_id"], "hash": "0" * 16, "option": "yes"}
            await socket.say("answer", c, **given)
            assert (await socket.error())["code"] == "changed"
            await socket.say("answer", c, **{**given, "hash": question["hash"]})
            assert (await kind(socket, "answer"))["answer"]["option"] == "yes"
            await socket.say("answer", c, request_id="none", hash="0")
            assert (await socket.error())["code"] == "not_found"


async def test_who_resumes_hears_how_requests_ended(server):
    with server.conversation() as c:
        first, second = ask(server, c), ask(server, c)
        async with open_socket(server) as socket:
            await socket.watch(c, "requests")
            await kind(socket, "request")
            epoch, seq = socket.positions[c]
        server.post(path(c, first["request_id"], "answer"), {"hash": first["hash"], "option": "no"})
        server.ask("DELETE", path(c, second["request_id"]))
        third = ask(server, c)
        async with open_socket(server) as socket:
            await socket.watch(c, "requests", epoch=epoch, after=seq)
            assert (await kind(socket, "answer"))["answer"]["request_id"] == first["request_id"]
            assert (await kind(socket, "request_closed"))["request_id"] == second["request_id"]
            assert (await kind(socket, "request"))["request"]["request_id"] == third["request_id"]


async def test_a_thousand_open_requests_and_a_slow_reader(server):
    with server.conversation() as c:
        async with open_socket(server) as socket:
            await socket.watch(c, "requests")
            asked = {ask(server, c, request_id=f"{c}-{number}")["request_id"] for number in range(1000)}
            seen = set()
            while seen != asked:
                seen.add((await kind(socket, "request"))["request"]["request_id"])


async def test_events_come_as_they_are_logged(server):
    with server.conversation() as c:
        events = f"/v1/conversations/{c}/events"
        server.post(events, [{"type": "user_message", "text": str(number)} for number in range(3)])
        async with open_socket(server) as live, open_socket(server, "bob") as late:
            await live.watch(c, "events", "rows")
            server.post(events, [{"type": "user_message", "text": str(number)} for number in range(3, 600)])
            question = ask(server, c)
            seen = [(await kind(live, "event"))["event"] for _ in range(3, 601)]
            assert [event["seq"] for event in seen] == list(range(4, 602))
            assert (seen[-1]["type"], seen[-1]["request_id"]) == ("request", question["request_id"])
            await late.watch(c, "events", epoch=live.positions[c][0], after=0)
            assert [(await kind(late, "event"))["event"]["seq"] for _ in range(601)] == list(range(1, 602))


async def test_the_list_says_what_needs_a_person(server):
    async with open_socket(server) as socket:
        await socket.say("subscribe_list")
        await kind(socket, "conversations")
        with server.conversation() as c:

            async def listed(**about):
                def holds(message):
                    found = [each for each in message.get("changed", ()) if each["id"] == c]
                    return found and about.items() <= {**found[0], **found[0]["attention"]}.items()

                message = await socket.until(holds)
                return next(each for each in message["changed"] if each["id"] == c)

            await listed()
            server.ask("PATCH", f"/v1/conversations/{c}", {"name": "The build"})
            assert (await listed(name="The build"))["attention"]["state"] == "idle"
            question = ask(server, c)
            needs = (await listed(state="needs_person"))["attention"]
            assert needs["because"] == [{"source": "request", "evidence": "Deploy?"}]
            assert server.get(f"/v1/conversations/{c}").json["attention"] == needs
            server.post(path(c, question["request_id"], "answer"), {"hash": question["hash"], "option": "no"})
            events = f"/v1/conversations/{c}/events"
            server.post(events, [{"type": "assistant_text", "text": "On it."}])
            assert (await listed())["attention"]["state"] in ("idle", "working")
            server.post(events, [{"type": "turn_complete"}])
            await listed(state="done")
            server.post(events, [{"type": "error", "message": "out of credit"}, {"type": "turn_complete"}])
            await listed(state="failed")
            await socket.say("unsubscribe_list")
        await socket.say("subscribe_list")
        first = await kind(socket, "conversations")
        assert c not in [each["id"] for each in first["changed"]]
        with server.conversation() as gone:
            await socket.until(lambda message: gone in [each["id"] for each in message.get("changed", ())])
        await socket.until(lambda message: gone in message.get("removed", ()))


async def test_attention_outlives_the_server(tmp_path):
    with serving(tmp_path) as server:
        for name in ("asks", "done"):
            server.post("/v1/conversations", {"id": name})
        ask(server, "asks")
        server.post(
            "/v1/conversations/done/events", [{"type": "assistant_text", "text": "Hi"}, {"type": "turn_complete"}]
        )
        before = {each["id"]: each["attention"] for each in server.get("/v1/conversations").json["conversations"]}
        assert {name: each["state"] for name, each in before.items()} == {"asks": "needs_person", "done": "done"}
        server.kill()
        server.start()
        after = {each["id"]: each["attention"] for each in server.get("/v1/conversations").json["conversations"]}
        assert after == before


async def test_a_token_that_may_only_watch_answers_nothing(tmp_path):
    with serving(tmp_path) as server, server.conversation() as c:
        _, reader = Tokens(tmp_path).new("reader", "read")
        question = ask(server, c)
        async with open_socket(server, token=reader) as socket:
            await socket.watch(c, "requests", "events")
            assert (await kind(socket, "request"))["request"]["request_id"] == question["request_id"]
            await socket.say("answer", c, request_id=question["request_id"], hash=question["hash"], option="yes")
            assert (await socket.error())["code"] == "read_only"
        assert server.get(path(c, question["request_id"])).json["state"] == "open"
