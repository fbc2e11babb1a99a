"""The token of a conversation's own shells and agents: what it reaches, and that it answers nothing."""

import json
import shlex
from pathlib import Path

import pytest
from websockets.asyncio.client import unix_connect

from agent_conversation import Driven
from mcp_clients import Refused, over_stdio
from server_home import serving
from socket_client import open_socket
from terminals import VANTAGE

RUN = shlex.join(VANTAGE)


@pytest.fixture
def home(tmp_path):
    with serving(tmp_path) as server:
        for name in ("work", "other"):
            server.post("/v1/conversations", {"id": name, "user_rc": False, "cwd": str(tmp_path)})
        yield server


def printed(server, command, conversation="work"):
    return server.pty(conversation, "exec_block", command=command)


def token_of(server, conversation="work"):
    return printed(server, "echo $VANTAGE_TOKEN", conversation)["output"].strip()


def ask(server, conversation="work", **fields):
    said = server.post(f"/v1/conversations/{conversation}/requests", {"title": "?", "options": ["yes"], **fields})
    assert said.status == 200, said.body
    return said.json


def test_a_shell_cannot_answer_its_own_question(home):
    ask(home, request_id="mine")
    for way in ("", "env -u VANTAGE_TOKEN ", f"env -u VANTAGE_TOKEN VANTAGE_TOKEN={home.token} "):
        ran = printed(home, f"{way}{RUN} answer mine yes")
        assert ran["exit_code"] == 1, way
        assert "cannot answer, nor give messages" in ran["output"], way
    assert home.get("/v1/conversations/work/requests/mine").json["state"] == "open"
    answer = {"hash": ask(home, request_id="mine")["hash"], "option": "yes"}
    assert home.post("/v1/conversations/work/requests/mine/answer", answer, unix=True).status == 200


@pytest.mark.parametrize("end", ["/answer", "//answer/", "/answer%0A", "%2Fanswer", "/%61nswer"])
def test_no_spelling_of_the_path_answers(home, end):
    token = token_of(home)
    answer = {"hash": ask(home, request_id="mine")["hash"], "option": "yes"}
    refused = home.post(f"/v1/conversations/work/requests/mine{end}", answer, token=token, unix=True)
    assert (refused.status, refused.code) == (403, "forbidden")
    assert home.get("/v1/conversations/work/requests/mine").json["state"] == "open"


def test_a_shell_cannot_give_messages_to_its_agent(home):
    for way in ("", f"VANTAGE_TOKEN={home.token} "):
        ran = printed(home, f"{way}{RUN} say work hello")
        assert ran["exit_code"] == 1, way
        assert "nor give messages to an agent" in ran["output"], way
    refused = home.post("/v1/conversations/work/say", {"text": "hello"}, token=token_of(home), unix=True)
    assert refused.code == "forbidden"
    assert home.post("/v1/conversations/work/say", {"text": "hello"}).code == "not_running", "that of a person"


@pytest.mark.parametrize(
    "message",
    [
        {"type": "say", "text": "hello"},
        {"type": "answer", "request_id": "mine", "hash": "0" * 16, "option": "yes"},
    ],
    ids=lambda message: message["type"],
)
async def test_what_is_for_people_is_refused_on_a_socket(home, message):
    ask(home, request_id="mine")
    path = str(home.home / "server.sock")
    async with unix_connect(path, "ws://vantage/v1/ws") as socket:
        await socket.send(json.dumps({"type": "hello", "client_id": "agent", "token": token_of(home)}))
        assert json.loads(await socket.recv())["scope"] == "agent"
        await socket.send(json.dumps({"conversation_id": "work", **message}))
        error = json.loads(await socket.recv())
        assert (error["type"], error["code"], error["about"]) == ("error", "forbidden", message["type"])


def test_an_agent_has_the_token_of_its_conversation(home):
    agent = Driven(home, "work")
    pid = agent.start()["pid"]
    environ = dict(each.split("=", 1) for each in Path(f"/proc/{pid}/environ").read_text().split("\0") if each)
    token = environ["VANTAGE_TOKEN"]
    assert token not in Path(f"/proc/{pid}/cmdline").read_text(), "other users read that"
    assert [file for file in home.home.rglob("*") if file.is_file() and token.encode() in file.read_bytes()] == []
    assert token == token_of(home)
    config = next(word for word in Path(f"/proc/{pid}/cmdline").read_text().split("\0") if "mcpServers" in word)
    assert json.loads(config)["mcpServers"]["vantage"]["args"][-1] == "--scoped"


async def test_the_pipe_of_an_agent_reaches_its_conversation_only(home):
    async with over_stdio(home.home, "--conversation", "work", "--scoped", VANTAGE_TOKEN=home.token) as user:
        assert (await user.call("pty_exec_block", command="echo hi"))["output"] == "hi\n"
        with pytest.raises(Refused, match="not for 'other'"):
            await user.call("pty_exec_block", command="echo hi", conversation_id="other")


def test_a_shell_may_ask_and_use_its_own_conversation(home):
    ask(home, "other", request_id="theirs")
    assert printed(home, f"{RUN} status --json")["exit_code"] == 0
    listed = json.loads(printed(home, f"{RUN} ls --json")["output"])["conversations"]
    assert [each["id"] for each in listed] == ["work"]
    assert json.loads(printed(home, f"{RUN} requests --json")["output"])["requests"] == []
    refused = printed(home, f"{RUN} read other b1")
    assert (refused["exit_code"], "not for 'other'" in refused["output"]) == (1, True)


def test_what_it_made_is_its_own_too(home):
    token = token_of(home)
    made = home.post("/v1/conversations", {"id": "child"}, token=token, unix=True)
    assert made.status == 201, made.body
    assert home.get("/v1/conversations/child", token=token, unix=True).status == 200
    listed = home.get("/v1/conversations", token=token, unix=True).json["conversations"]
    assert {each["id"] for each in listed} == {"work", "child"}
    forged = home.post("/v1/conversations", {"id": "forged", "created_by": "other"}, token=token, unix=True)
    assert forged.status == 201
    assert home.get("/v1/conversations/forged", token=token_of(home, "other"), unix=True).status == 403


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/conversations/other"),
        ("GET", "//v1//conversations/other/events/"),
        ("DELETE", "/v1/conversations/other"),
        ("POST", "/v1/conversations/other/pty/exec_block"),
        ("POST", "/v1/conversations/other/requests"),
        ("POST", "/v1/links"),
        ("GET", "/v1/sessions"),
        ("GET", "/v1/search?q=x"),
        ("PUT", "/v1/tools/deploy"),
        ("GET", "/metrics"),
    ],
)
def test_what_it_does_not_reach(home, method, path):
    refused = home.ask(method, path, {}, token=token_of(home), unix=True)
    assert (refused.status, refused.code) == (403, "forbidden")


def test_it_is_taken_at_the_private_socket_only(home):
    """A program may print it, and a token that may only watch shows what is printed."""
    token = token_of(home)
    assert home.get("/v1/conversations/work", token=token).code == "forbidden"
    assert home.ask("POST", "/login", {"token": token}, token="").code == "forbidden"


def test_others_are_not_valid(home):
    token = token_of(home)
    for wrong in (token[:-1], token.replace("_work", "_other"), "vantage_agent_", "vantage_agent__../x"):
        assert home.get("/v1/conversations/work", token=wrong, unix=True).status == 401
    home.ask("DELETE", "/v1/conversations/work")
    home.post("/v1/conversations", {"id": "work"})
    assert home.get("/v1/conversations/work", token=token, unix=True).status == 401, "it was of the deleted one"


async def test_a_socket_with_it(home):
    token = token_of(home)
    question = ask(home)
    async with open_socket(home, token="", hello=False) as socket:
        await socket.say("hello", client_id="agent", token=token)
        assert await socket.closed() == 4401, "over TCP"
    assert home.get("/v1/conversations/work/requests/" + question["request_id"]).json["state"] == "open"


async def test_mcp_with_it(home):
    env = {"VANTAGE_TOKEN": token_of(home), "VANTAGE_HOME": str(home.home)}
    async with over_stdio(home.home, "--conversation", "work", **env) as user:
        assert (await user.call("pty_exec_block", command="echo hi"))["output"] == "hi\n"
        with pytest.raises(Refused, match="not for 'other'"):
            await user.call("pty_exec_block", command="echo hi", conversation_id="other")
        await user.call("pty_exec_block", command="echo hi", conversation_id="made-by-mcp")
        assert (await user.call("ask_person", question="?", timeout_ms=0))["state"] == "pending"
