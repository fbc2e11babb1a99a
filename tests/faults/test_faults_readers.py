"""Clients of every kind that do not read, and a program that does not read its input: other clients do not wait."""

import asyncio
import json
import os
import socket
import subprocess
import sys

from aftermath import Stage, assert_all_is_well
from command_line import read_line
from extent import extent
from machine import until
from memory import ROOM, bounded, resident
from socket_client import open_socket
from terminal_home import PATIENCE, environment
from terminals import VANTAGE

FLOOD = extent(4, 200)
"""MB that are printed while a client does not read."""
LISTENERS = 10


def flood(stage: Stage, conversation: str) -> dict:
    """A command that prints a lot, and ends however slow others are."""
    command = f"head -c {FLOOD}000000 /dev/zero | tr '\\0' 'x' | fold -w 99; echo $((6 * 7)) over"
    ran = stage.pty(conversation, "exec_block", command=command, timeout_ms=PATIENCE * 1000, max_output=1000)
    assert ran["output"].endswith("42 over\n"), ran["output"][-100:]
    return ran


def unread(stage: Stage, request: bytes) -> socket.socket:
    """A connection that asks and does not read; its window is as small as the machine allows."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", stage.server.port))
    connection.sendall(request)
    return connection


def head(stage: Stage, line: str, *more: str) -> bytes:
    lines = (f"{line} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {stage.server.token}", *more, "", "")
    return "\r\n".join(lines).encode()


def test_clients_that_never_read_an_answer(stage):
    beside, conversation = stage.printer(), stage.conversation()
    stage.watcher()
    flood(stage, conversation)
    path = f"/v1/conversations/{conversation}/pty/read_spool"
    body = json.dumps({"cursor": 0, "max_bytes": 1 << 20})
    asked = (
        head(stage, f"POST {path}", "Content-Type: application/json", f"Content-Length: {len(body)}") + body.encode()
    )
    with bounded(stage):
        lazy = [unread(stage, asked * 20) for _ in range(LISTENERS)]
        for _ in range(20):
            before = beside.lines
            assert stage.pty(conversation, "exec_block", command="echo $((6 * 7))")["output"] == "42\n"
            beside.until(before + 1)
    for connection in lazy:
        connection.close()
    assert_all_is_well(stage)


def test_watchers_that_never_read(stage):
    """Slow clients do not affect others: readers see everything at once, and slow ones when they begin to read."""
    beside, conversation = stage.printer(), stage.conversation()
    stage.watcher()

    async def watch() -> None:
        async with asyncio.TaskGroup() as tasks:
            done = asyncio.Event()
            ready = [asyncio.Event() for _ in range(LISTENERS)]
            for each in ready:
                tasks.create_task(not_reading(each, done))
            for each in ready:
                await each.wait()
            with bounded(stage):
                await asyncio.to_thread(flood, stage, conversation)
                await asyncio.to_thread(beside.further, 10)
            done.set()

    async def not_reading(ready: asyncio.Event, done: asyncio.Event) -> None:
        async with open_socket(stage.server, max_queue=1) as watcher:
            await watcher.watch(conversation, "rows", "blocks", "screen")
            ready.set()
            await done.wait()
            await watcher.shown(conversation, "Ran head", status="ok")  # its end, or a snapshot behind it
            assert len(watcher.heard) < 2000, "it was all kept for it"

    asyncio.run(watch())
    assert_all_is_well(stage)


def test_a_command_line_whose_output_is_not_read(stage):
    """`vantage exec … | (never reads)`: the command runs to its end all the same."""
    beside, conversation = stage.printer(), stage.conversation()
    with bounded(stage):
        over = stage.beside / "over"
        command = f"head -c {FLOOD}000000 /dev/zero | tr '\\0' x | fold -w 99; echo $((6 * 7)) over > {over}"
        piped = subprocess.Popen(
            [*VANTAGE, "exec", "--home", str(stage.home), conversation, "--", "bash", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env=environment(),
        )
        until(
            lambda: over.exists() and over.read_text() == "42 over\n",
            "the command waits for a client that does not read",
        )
        beside.further(10)
    piped.kill()
    piped.communicate()
    assert_all_is_well(stage)


def test_an_agent_that_never_reads_its_pipe(stage):
    """`vantage mcp`: its requests are carried out, and its answers wait in its pipe."""
    beside, conversation = stage.printer(), stage.conversation()
    flood(stage, conversation)
    agent = subprocess.Popen(
        [*VANTAGE, "mcp", "--home", str(stage.home), "--conversation", conversation, "--tools", "all"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        env=environment(),
    )
    try:
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "lazy", "version": "1"}}
        say(agent, "initialize", 0, **client)
        assert "serverInfo" in read_line(agent.stdout)
        agent.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        say(agent, "tools/call", 999, name="pty_status", arguments={})
        assert "mode" in read_line(agent.stdout)  # now the server has loaded what it needs for tools
        # What is kept for it is bounded: answers to a few calls at once, of several hundred MB in all.
        with bounded(stage, 2 * ROOM):
            before = resident(agent.pid)
            wanted = {"block_id": "b1", "max_output": 500_000}
            for number in range(1, 401):
                say(agent, "tools/call", number, name="pty_read_block", arguments=wanted)
            for _ in range(10):
                assert stage.pty(conversation, "exec_block", command="echo $((6 * 7))")["output"] == "42\n"
            beside.further(10)
            assert resident(agent.pid) - before < ROOM
    finally:
        agent.kill()
        agent.wait()
        agent.stdin.close()
        agent.stdout.close()
    assert_all_is_well(stage)


def say(agent: subprocess.Popen, method: str, number: int, **fields) -> None:
    """Its input is read even if its output is not."""
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": fields}
    os.write(agent.stdin.fileno(), json.dumps(message).encode() + b"\n")


def test_a_program_that_never_reads_its_input(stage):
    """Input that the program does not read is counted in the error; a Ctrl-C ends it, and the shell works again."""
    beside, conversation = stage.printer(), stage.conversation()
    program = "import time, tty; tty.setraw(0); print('deaf' + ' now', flush=True); time.sleep(999)"
    stage.pty(conversation, "exec_interactive", command=f'{sys.executable} -c "{program}"')
    assert stage.pty(conversation, "wait_for", match="deaf now")["matched"]
    with bounded(stage):
        path = f"/v1/conversations/{conversation}/pty/send"
        said = stage.server.post(path, {"data": "x" * 10_000_000})
        assert (said.status, said.json["error"]["hint"]) == (400, "at most 8,388,608; write a file")
        said = stage.server.post(path, {"data": "x" * 8_000_000})
        assert said.status == 409
        assert "of 8,000,000 bytes were written, and the rest was dropped" in said.json["error"]["message"]
        beside.further(10)
    stage.pty(conversation, "reset")
    assert stage.pty(conversation, "exec_block", command="echo $((6 * 7))")["output"] == "42\n"
    assert_all_is_well(stage)
