"""`vantage mcp` as a process: it starts a server, shares it, survives it, and leaves shells alive when it goes."""

import asyncio
import os
import signal
import subprocess

import anyio
import pytest

from mcp_clients import MODES, over_stdio
from mcp_pipes import begin, end_server, hear, pipe, say, server_pid
from terminal_home import PATIENCE, environment
from terminals import VANTAGE
from vantage.server.mcp.greeting import greet


async def test_the_server_is_started_and_stays(own_home, tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    async with over_stdio(own_home, cwd=folder, MINE="of the agent") as user:
        ran = await user.call("pty_exec_block", command='pwd; echo "$MINE"')
        assert ran["output"] == f"{folder}\nof the agent\n"
        pid = server_pid(own_home)
        assert os.getsid(pid) != os.getsid(0), "it has a session of its own"
    assert server_pid(own_home) == pid
    os.kill(pid, 0)
    async with over_stdio(own_home, "--conversation", ran["conversation_id"]) as later:
        assert (await later.call("pty_exec_block", command='echo "$MINE"'))["output"] == "of the agent\n"
        assert server_pid(own_home) == pid


async def test_several_that_start_at_once_share_one_server(own_home):
    async def one(number):
        async with over_stdio(own_home) as user:
            return (await user.call("pty_exec_block", command=f"echo {number}"))["output"], server_pid(own_home)

    answers = await asyncio.gather(*(one(number) for number in range(3)))
    assert [output for output, _ in answers] == ["0\n", "1\n", "2\n"]
    assert len({pid for _, pid in answers}) == 1


async def test_two_agents_look_at_each_other(server):
    async with over_stdio(server.home) as one, over_stdio(server.home) as other:
        ran = await one.call("pty_exec_block", command="echo of the first")
        own = await other.call("pty_exec_block", command="true")
        assert own["conversation_id"] != ran["conversation_id"]
        read = await other.call("pty_read_block", block_id=ran["block_id"], conversation_id=ran["conversation_id"])
        assert read["output"] == "of the first\n"
    for conversation in (ran, own):
        server.ask("DELETE", f"/v1/conversations/{conversation['conversation_id']}")


@pytest.mark.parametrize(("mode", "number"), [(MODES["before"], signal.SIGKILL), (MODES["now"], signal.SIGTERM)])
async def test_the_server_ends_in_the_middle(own_home, mode, number):
    async with over_stdio(own_home, mode=mode) as user:
        begun = await user.call("pty_exec_block", command="kept=yes; echo ready")
        before = server_pid(own_home)
        waited = []

        async def waiting():
            waited.append(await user.call("pty_wait_for", match="kept: yes"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(waiting)
            # answered behind it, so the server has it
            await user.call("pty_status")
            end_server(own_home, number)
            await user.call("pty_send", data="echo kept: $kept\n")
        assert waited[0]["matched"], "it waits on at the next server"
        again = await user.call("pty_exec_block", command="echo $kept")
        assert again["output"] == "yes\n", "the shell lived on"
        assert (await user.call("pty_read_block", block_id=begun["block_id"]))["output"] == "ready\n"
        assert server_pid(own_home) != before
        assert (await user.client.list_tools()).tools
        assert '"level":"error"' not in (own_home / "server.log").read_text()


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_every_earlier_revision(server, version):
    with server.conversation() as conversation, pipe(server.home, "--conversation", conversation) as process:
        assert begin(process, version)["protocolVersion"] == version
        say(process, "tools/call", 2, name="pty_exec_block", arguments={"command": "echo old"})
        result = hear(process)["result"]
        assert result["content"][0]["text"].startswith("old\nexit 0")


NOW = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "by hand", "version": "0"},
    }
}
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")


@pytest.mark.parametrize("tools", ["core", "all"])
@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25", "1999-01-01", "2026-07-28"])
def test_what_a_pipe_without_a_server_says_is_what_the_server_says(server, version, tools):
    """While a server starts, the first questions are answered for it: word by word."""
    conversation = "of-the-agent"
    with pipe(server.home, "--conversation", conversation, "--tools", tools) as process:
        if version == "2026-07-28":
            params, methods = NOW, ("server/discover", *LISTS)
        else:
            params, methods = {}, ("ping", *LISTS)
            asked = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "x", "version": "0"}}
            say(process, "initialize", 0, **asked)
            assert hear(process)["result"] == greet({"method": "initialize", "params": asked}, tools, conversation)
            say(process, "notifications/initialized")
        for number, method in enumerate(methods, 1):
            say(process, method, number, **params)
            said = hear(process)["result"]
            assert said == greet({"method": method, "params": params}, tools, conversation), method


def test_the_first_questions_are_answered_while_the_server_starts(own_home):
    with pipe(own_home) as process:
        begin(process, "2025-11-25")
        say(process, "tools/list", 2)
        assert len(hear(process)["result"]["tools"]) == 10
        say(process, "tools/call", 3, name="pty_exec_block", arguments={"command": "echo then"})
        assert hear(process)["result"]["structuredContent"]["output"] == "then\n"


def test_it_ends_when_its_stdin_is_closed(server):
    with server.conversation() as conversation, pipe(server.home, "--conversation", conversation) as process:
        begin(process, "2025-11-25")
        say(process, "tools/call", 2, name="pty_exec_block", arguments={"command": "echo last words"})
        process.stdin.close()
        assert hear(process)["result"]["structuredContent"]["output"] == "last words\n", "what is open is answered"
        assert process.wait(PATIENCE) == 0
        process.stdin = None


def test_killing_the_pipe_does_not_end_the_program(server):
    with server.conversation() as conversation:
        with pipe(server.home, "--conversation", conversation) as process:
            begin(process, "2025-11-25")
            say(process, "tools/call", 2, name="pty_exec_interactive", arguments={"command": "cat"})
            hear(process)
            process.kill()
        assert server.pty(conversation, "wait_for", match={"foreground": "cat"})["matched"]
        assert server.pty(conversation, "status")["foreground"] == "cat"


def test_a_line_that_is_no_message_is_answered_with_an_error(server):
    with pipe(server.home) as process:
        process.stdin.write(b"hello?\n\n")
        process.stdin.flush()
        answer = hear(process)
        assert answer["error"]["code"] == -32700
        assert "hello" not in answer["error"]["message"]
        begin(process, "2025-11-25")


def test_a_long_message_and_a_long_answer(server):
    with server.conversation() as conversation, pipe(server.home, "--conversation", conversation) as process:
        begin(process, "2025-11-25")
        text = "x" * 3_000_000
        say(process, "tools/call", 2, name="pty_exec_block", arguments={"command": f"x={text}; echo ${{#x}}"})
        assert hear(process)["result"]["structuredContent"]["output"] == "3000000\n"
        long = {"command": "printf '%s\\n' $x", "max_output": 4_000_000}
        say(process, "tools/call", 3, name="pty_exec_block", arguments=long)
        assert len(hear(process)["result"]["structuredContent"]["output"]) > 2_900_000


def test_no_server_can_be_started(own_home):
    (own_home / "config.toml").write_text("port = 'none'\n")
    done = subprocess.run(
        [*VANTAGE, "mcp", "--home", str(own_home)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment(),
        timeout=PATIENCE,
    )
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "could not be started" in done.stderr
    assert "config.toml: port" in done.stderr


def test_a_token_that_is_not_the_homes(server):
    done = subprocess.run(
        [*VANTAGE, "mcp", "--home", str(server.home)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment(VANTAGE_TOKEN="guessed"),
        timeout=PATIENCE,
    )
    assert done.returncode == 3
    assert "the token is not valid here" in done.stderr


def test_nothing_of_the_sdk_is_loaded_by_the_pipe():
    modules = "vantage.cli, vantage.cli.commands.agents.mcp, vantage.cli.commands.agents.mcp_pipe"
    code = f"import sys, {modules}; print(*sorted(sys.modules))"
    loaded = subprocess.run([VANTAGE[0], "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"mcp", "pydantic", "msgspec", "asyncio", "starlette", "http.client", "websockets"} & set(loaded)


async def test_the_conversation_of_the_environment(server):
    with server.conversation() as named, server.conversation() as stated:
        async with over_stdio(server.home, VANTAGE_CONVERSATION=named) as user:
            assert (await user.call("pty_status"))["conversation_id"] == named
        async with over_stdio(server.home, "--conversation", stated, VANTAGE_CONVERSATION=named) as user:
            assert (await user.call("pty_status"))["conversation_id"] == stated
