"""The agent that Vantage runs has the token of its conversation: it works there, and gives no person's word."""

import json
import shlex

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from websockets.asyncio.client import unix_connect

from agent_conversation import driven
from mcp_clients import Agent, Refused
from socket_client import Socket
from terminals import VANTAGE

RUN = shlex.join(VANTAGE)


@pytest.fixture
def agent(server):
    with driven(server) as found:
        found.start(env={"PATH": "/usr/bin:/bin", "VANTAGE_TOKEN": server.token})
        yield found


def said(agent, *lines):
    """What the agent says of each line of a message."""
    turns, texts = len(agent.events(kind="turn_complete")), len(agent.texts())
    agent.say("\n".join(lines))
    agent.until_turns(turns + 1)
    return agent.texts()[texts:]


def token_of(agent):
    return said(agent, "run echo $VANTAGE_TOKEN")[0].removeprefix("0: ").strip()


def ask(agent):
    return agent.server.post(f"{agent.path}/requests", {"title": "Deploy?", "options": ["yes"]}).json


def test_its_token_is_of_its_conversation(agent, server):
    token = token_of(agent)
    assert token != server.token, "that of its creator is not passed on"
    assert server.get(agent.path, token=token, unix=True).status == 200
    with server.conversation() as other:
        assert server.get(f"/v1/conversations/{other}", token=token, unix=True).status == 403


def test_it_cannot_answer_or_say(agent, server):
    question = ask(agent)
    token = token_of(agent)
    answer = {"option": "yes", "hash": question["hash"]}
    for path, body in (
        (f"{agent.path}/requests/{question['request_id']}/answer", answer),
        (f"{agent.path}/say", {"text": "go on"}),
    ):
        refused = server.post(path, body, token=token, unix=True)
        assert (refused.status, refused.code) == (403, "forbidden"), path
    for command in (f"answer {question['request_id']} yes", f"say {agent.id} 'go on'"):
        for way in ("", f"env VANTAGE_TOKEN={server.token} "):
            (words,) = said(agent, f"run {way}{RUN} {command} 2>&1")
            assert words.startswith("1: ")
            assert "that is for a person" in words
    assert server.get(f"{agent.path}/requests/{question['request_id']}").json["state"] == "open"
    assert "go on" not in [event["text"] for event in agent.events(kind="user_message")]


async def test_it_cannot_say_over_a_socket(agent, server):
    headers = {"Authorization": f"Bearer {token_of(agent)}"}
    async with unix_connect(server.socket, "ws://localhost/v1/ws", additional_headers=headers) as connection:
        socket = Socket(connection)
        await socket.hello("agent")
        await socket.say("say", agent.id, text="go on")
        assert (await socket.error())["code"] == "forbidden"
    assert "go on" not in [event["text"] for event in agent.events(kind="user_message")]


async def test_its_mcp_server_has_the_rights_of_the_token(agent, server):
    """The server makes the token itself: arguments and journal do not have it."""
    given = json.loads(said(agent, "mcp")[0])["mcpServers"]["vantage"]
    assert "VANTAGE_TOKEN" not in given["env"]
    how = StdioServerParameters(command=given["command"], args=given["args"], env=given["env"], cwd=server.home)
    with server.conversation() as other:
        async with Client(stdio_client(how)) as client:
            user = Agent(client)
            assert (await user.call("pty_exec_block", command="echo hi"))["output"] == "hi\n"
            with pytest.raises(Refused, match="not for"):
                await user.call("pty_exec_block", command="echo hi", conversation_id=other)
            assert (await user.call("ask_person", question="?", timeout_ms=0))["state"] == "pending"
