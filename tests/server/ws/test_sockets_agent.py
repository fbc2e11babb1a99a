"""Messages to an agent over the WebSocket: said, queued, refused to clients that only watch, interrupted."""

from agent_conversation import driven
from server_home import serving
from socket_client import open_socket
from vantage.server.security.tokens import Tokens


async def kind(socket, name):
    return await socket.until(lambda message: message["type"] == name)


async def test_a_client_talks_to_an_agent_and_sees_its_rows(server):
    with driven(server) as agent:
        agent.start()
        async with open_socket(server, "ada") as socket:
            await socket.watch(agent.id)
            await socket.say("say", agent.id, text="text hello there\nhang", id=7)
            said = await kind(socket, "said")
            assert (said["delivery"], said["id"]) == ("now", 7)
            await socket.shown(agent.id, "hello there")
            await socket.say("interrupt", agent.id)
            assert (await kind(socket, "interrupted"))["interrupted"] is True
            agent.until_turns(1)
            (message,) = agent.events(kind="user_message")
            assert (message["seq"], message["by"]) == (said["seq"], "client:ada")


async def test_a_conversation_without_an_agent_says_so(server):
    with server.conversation() as c:
        async with open_socket(server) as socket:
            await socket.say("say", c, text="hello")
            error = await socket.error()
            assert (error["code"], error["about"]) == ("not_running", "say")


async def test_a_client_that_may_only_watch_cannot_talk(private_home):
    with serving(private_home) as server, server.conversation() as c:
        _, token = Tokens(private_home).new("reader", "read")
        async with open_socket(server, token=token) as socket:
            for message in ({"kind": "say", "text": "hello"}, {"kind": "interrupt"}):
                await socket.say(message.pop("kind"), c, **message)
                assert (await socket.error())["code"] == "read_only"
        for path, body in (("say", {"text": "hello"}), ("interrupt", {}), ("agent", {"agent": "claude"})):
            assert server.post(f"/v1/conversations/{c}/{path}", body, token=token).status == 403
