"""Many subscribers, slow ones, ones that come and go; and a server that is killed under them."""

import asyncio
import re
from pathlib import Path

from websockets.exceptions import ConnectionClosed

from server_home import serving
from socket_client import open_socket

MANY = 100


def tell(server, conversation, *events):
    answer = server.post(f"/v1/conversations/{conversation}/events", list(events))
    assert answer.status == 200, answer.body


def message(text):
    return {"type": "user_message", "text": text}


def memory(server):
    """Megabytes that the server has in use."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s*(\d+)", status)[1]) / 1024


def files(server):
    return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))


async def test_a_hundred_subscribers_see_the_same(server):
    with server.conversation() as c:
        sockets = [open_socket(server, f"client {number}") for number in range(MANY)]
        opened = await asyncio.gather(*(socket.__aenter__() for socket in sockets))
        try:
            await asyncio.gather(*(socket.watch(c, "rows", "screen") for socket in opened))
            tell(server, c, message("hello, all"))
            server.pty(c, "exec_block", command="echo $((6 * 7)) of them")
            await asyncio.gather(*(socket.shown(c, "42 of them", status="ok") for socket in opened))
            await asyncio.gather(*(socket.on_screen(c, "42 of them") for socket in opened))
            first = {name: row["text"] for name, row in opened[0].rows[c].items()}
            for socket in opened:
                assert {name: row["text"] for name, row in socket.rows[c].items()} == first
        finally:
            await asyncio.gather(*(socket.__aexit__(None, None, None) for socket in sockets))


async def test_a_client_that_reads_nothing_does_not_affect_others(server):
    """Twenty sockets are written to and never read: others see everything, and nothing piles up for the twenty."""
    call = {"type": "tool_start", "tool": "gadget", "toolCallId": "1"}
    with server.conversation() as c:
        tell(server, c, call)
        stuck = [open_socket(server, f"stuck {number}", max_queue=1) for number in range(20)]
        opened = await asyncio.gather(*(socket.__aenter__() for socket in stuck))
        try:
            for socket in opened:
                await socket.say("subscribe", c, surface="plain")
            async with open_socket(server) as reader:
                await reader.watch(c)
                before = memory(server)
                for number in range(300):
                    output = f"{number}.\n" + "x" * 60_000
                    tell(server, c, {"type": "tool_output", "toolCallId": "1", "output": output, "mode": "replace"})
                    if number % 50 == 0:
                        await reader.shown(c, f"{number}.")
                tell(server, c, message("the end"))
                await reader.shown(c, "the end")
                # queued for each of the twenty it would be 360 MB
                assert memory(server) - before < 100
            for socket in opened:  # one that reads later is sent the last state, and not all states before it
                await socket.shown(c, "the end")
                assert socket.heard.count("row") < 150
        finally:
            await asyncio.gather(*(socket.__aexit__(None, None, None) for socket in stuck))


async def test_a_storm_of_reconnecting_clients(server):
    with server.conversation() as c:
        tell(server, c, *(message(f"message {number}") for number in range(150)))
        server.get("/healthz")
        before = files(server)

        async def come_and_go(number):
            last = None
            for turn in range(6):
                async with open_socket(server, f"client {number % 10}") as socket:
                    if last is not None:
                        socket.go_on(last)
                    answer = await socket.resume(c)
                    assert answer["type"] == ("snapshot" if last is None else "resumed")
                    if (number + turn) % 2:
                        socket.connection.transport.abort()
                    last = socket
            return last

        clients = await asyncio.gather(*(come_and_go(number) for number in range(30)))
        async with open_socket(server) as socket:
            socket.go_on(clients[0])
            await socket.resume(c)
            tell(server, c, message("calm"))
            await socket.shown(c, "calm")
            assert len(socket.rows[c]) == 151
        while files(server) > before:
            server.get("/healthz")


LOOP = "for i in $(seq 1 200); do echo line $i; sleep 0.005; done; echo e''nd"


async def test_the_server_is_killed_under_its_subscribers(private_home):
    """Clients resume at the next server: nothing is missed, and nothing comes twice."""
    with serving(private_home) as server, server.conversation() as c:
        tell(server, c, message("message 0"))
        told = await _watch_and_be_cut(server, c, None, "message 0")
        started = server.pty(c, "exec_block", command=LOOP, timeout_ms=0)
        epoch = told.positions[c][0]
        for number in range(1, 4):
            told = await _watch_and_be_cut(server, c, told, f"message {number}")
        server.pty(c, "wait_for", match="PROMPT", from_cursor=started["cursor"])
        for number in range(4, 6):
            server.pty(c, "exec_block", command=f"echo block {number}")
        async with open_socket(server) as socket, open_socket(server) as fresh:
            socket.go_on(told)
            assert (await socket.resume(c, "rows", "blocks"))["type"] == "resumed"
            await socket.shown(c, "block 5", status="ok")
            await fresh.watch(c)
            assert socket.positions[c][0] == epoch
            texts = {name: row["text"] for name, row in socket.rows[c].items()}
            assert texts == {name: row["text"] for name, row in fresh.rows[c].items()}
        said = [text.split()[-1] for text in texts.values() if "message" in text]
        assert said == ["0", "1", "2", "3"]
        output = server.pty(c, "read_block", block_id=started["block_id"])["output"]
        assert output.split("\n") == [*(f"line {number}" for number in range(1, 201)), "end", ""]
        begun_and_ended = [block["type"] for block in socket.blocks if "seq" in block]
        assert begun_and_ended == ["agent_block_begin", "agent_block_end"] * 3
        events = server.get(f"/v1/conversations/{c}/events?limit=10000").json["events"]
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))


async def _watch_and_be_cut(server, conversation, before, text):
    """Follows until a message of ours is seen, and the server dies; a new one is there when this returns."""
    async with open_socket(server) as socket:
        if before is not None:
            socket.go_on(before)
        answer = await socket.resume(conversation, "rows", "blocks")
        assert answer["type"] == ("snapshot" if before is None else "resumed")
        if before is not None:
            tell(server, conversation, message(text))
        await socket.shown(conversation, text)
        server.kill()
        try:
            while True:
                await socket.hear()
        except ConnectionClosed:
            server.start()
        return socket
