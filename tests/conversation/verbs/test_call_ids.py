"""Calls with an id: sent twice, at once or to the next process, they are done once and answered each time."""

import asyncio
import os
import signal
from contextlib import asynccontextmanager

import pytest

from machine import until
from terminal_home import environment, host_pid, wait_until_gone
from vantage.conversation.live.host.client import HostClient
from vantage.conversation.manager import Manager
from vantage.errors import Conflict, Interrupted, Invalid

CALL = {"call_id": "of-a-client-1"}
AGAIN = {**CALL, "call_age_ms": 60_000}
"""As a client sends it that got no answer. The shell is younger."""
SOON = {**CALL, "call_age_ms": 0}
"""The same, where the shell is older than the call."""


class Owner:
    """A process that has the home."""

    def __init__(self, manager):
        self.manager = manager

    async def ask(self, verb, **fields):
        return await self.manager.bus.request("c", verb, **fields)


@asynccontextmanager
async def owner(home, **how):
    async with Manager(home, **how) as manager:
        if not manager.folder("c").settings.exists():
            manager.create("c", env=environment(), user_rc=False, cwd=str(home))
        yield Owner(manager)


@pytest.fixture
def place(private_home):
    os.mkfifo(private_home / "go")
    return private_home


def lines(place):
    try:
        return (place / "log").read_text().splitlines()
    except FileNotFoundError:
        return []


async def printed(place, count):
    """Until a program has written so many lines to its log."""
    await asyncio.to_thread(until, lambda: len(lines(place)) >= count, "it does not write")


SLOW = "echo begun >> log; read -r line < go; echo $line >> log; echo done; (exit 3)"


async def test_a_command_that_has_ended_is_not_run_again(place):
    async with owner(place) as one:
        first = await one.ask("exec_block", command="echo ran >> log; echo out; (exit 4)", **CALL)
        await one.ask("exec_block", command="echo other")
        again = await one.ask("exec_block", command="echo ran >> log; echo out; (exit 4)", **CALL)
    async with owner(place) as next_one:
        later = await next_one.ask("exec_block", command="echo ran >> log; echo out; (exit 4)", **AGAIN)
    for answer in (first, again, later):
        assert (answer["block_id"], answer["output"], answer["exit_code"]) == ("b1", "out\n", 4)
    assert lines(place) == ["ran"]


async def test_a_command_that_runs_is_waited_for(place):
    async with owner(place) as one:
        lost = asyncio.create_task(one.ask("exec_block", command=SLOW, **CALL))
        await printed(place, 1)
        lost.cancel()
    async with owner(place) as next_one:
        asked = asyncio.create_task(next_one.ask("exec_block", command=SLOW, **SOON))
        (place / "go").write_text("on\n")
        answer = await asked
    assert (answer["output"], answer["exit_code"]) == ("done\n", 3)
    assert lines(place) == ["begun", "on"]


async def test_a_program_is_started_once(place):
    async with owner(place) as one:
        first = await one.ask("exec_interactive", command="echo begun >> log; cat", **CALL)
    async with owner(place) as next_one:
        again = await next_one.ask("exec_interactive", command="echo begun >> log; cat", **SOON)
        assert again["session_id"] == first["session_id"]
        await next_one.ask("send", data="to it\n", session_id=again["session_id"], wait_for="to it")
    assert lines(place) == ["begun"]


async def test_two_at_once_are_one(place):
    async with owner(place) as one:
        asked = [asyncio.create_task(one.ask("exec_block", command=SLOW, **CALL)) for _ in range(3)]
        await printed(place, 1)
        asked.pop().cancel()
        (place / "go").write_text("on\n")
        answers = await asyncio.gather(*asked)
    assert [(answer["block_id"], answer["output"]) for answer in answers] == [("b1", "done\n")] * 2
    assert lines(place) == ["begun", "on"]


async def test_a_wait_without_callers_ends(place):
    async with owner(place) as one:
        await one.ask("exec_interactive", command="cat")
        asked = [asyncio.create_task(one.ask("wait_for", match="never", **CALL)) for _ in range(2)]
        await one.ask("status")
        for each in asked:
            each.cancel()
        assert all(
            isinstance(each, asyncio.CancelledError) for each in await asyncio.gather(*asked, return_exceptions=True)
        )
        # The id is free: what is asked with it now is no conflict.
        assert (await one.ask("wait_for", match="EOF", timeout_ms=0, call_id="of-a-client-2"))["reason"] == "timeout"


@pytest.mark.parametrize(
    ("verb", "fields", "typed"),
    [
        ("send", {"data": "text\n"}, "text\n"),
        ("send", {"data_b64": "Ynl0ZXMK"}, "bytes\n"),
        ("keys", {"keys": ["a", "C-v", "C-v", "Enter"]}, "a\x16\n"),
        ("enter", {}, "\n"),
        ("mouse", {"row": 2, "col": 3}, "\x1b[<0;4;3M\x1b[<0;4;3m"),
    ],
)
async def test_input_is_typed_once(place, verb, fields, typed):
    async with owner(place) as one:
        begin = {"command": r"printf '\e[?1000;1006hbegun\n'; cat > log", "wait_for": "begun"}
        await one.ask("exec_interactive", **begin)
        first = await one.ask(verb, **fields, **CALL)
        again = await one.ask(verb, **fields, **CALL)
    async with owner(place) as next_one:
        later = await next_one.ask(verb, **fields, **SOON)
        await next_one.ask("send", data="\nend\n", call_id="of-a-client-2")
        await next_one.ask("ctrl_d")
        await next_one.ask("wait_for", match="PROMPT")
    assert first == again == later
    assert (place / "log").read_text() == f"{typed}\nend\n"


async def test_an_interrupt_is_sent_once(place):
    async with owner(place) as one:
        program = "trap 'echo interrupted >> log' INT; echo ready; while ! read -r line; do :; done; echo over"
        await one.ask(
            "exec_interactive",
            command=f"bash -c '{program}'".replace("'echo interrupted >> log'", '"echo interrupted >> log"'),
            wait_for="ready",
        )
        first = await one.ask("ctrl_c", **CALL)
        await printed(place, 1)
    async with owner(place) as next_one:
        assert await next_one.ask("ctrl_c", **SOON) == first
        await next_one.ask("send", data="x\n", wait_for="over")
    assert lines(place) == ["interrupted"]


async def test_a_wait_begins_where_it_began(place):
    """The first answer has moved the place where waits begin. The echo of the input before is no match either time."""
    async with owner(place) as one:
        await one.ask("exec_interactive", command="cat", wait_for={"match": {"foreground": "cat"}})
        await one.ask("send", data="first\n")
        first = await one.ask("wait_for", match="first", **CALL)
    async with owner(place) as next_one:
        assert (await next_one.ask("wait_for", match="first", **SOON))["match_span"] == first["match_span"]


async def test_a_send_does_not_match_its_echo_when_it_is_sent_again(place):
    async with owner(place) as one:
        await one.ask("exec_interactive", command="stty -icrnl; tr a-z A-Z", wait_for={"match": {"foreground": "tr"}})
        turn = {"data_b64": "bmVlZGxlCg==", "wait_for": {"match": {"regex": "(?i)needle"}}}
        first = await one.ask("send", **turn, **CALL)
    async with owner(place) as next_one:
        again = await next_one.ask("send", **turn, **SOON)
    assert first["match_text"] == again["match_text"] == "NEEDLE"


async def test_ending_ends_nothing_else(place):
    async with owner(place) as one:
        await one.ask("exec_interactive", command="cat", wait_for={"match": {"foreground": "cat"}})
        first = await one.ask("end_session", **CALL)
        await one.ask("exec_interactive", command="cat", wait_for={"match": {"foreground": "cat"}})
        assert await one.ask("end_session", **CALL) == first
    async with owner(place) as next_one:
        assert await next_one.ask("end_session", **SOON) == first
        assert (await next_one.ask("status"))["foreground"] == "cat"


async def test_a_reset_is_done_once(place):
    async with owner(place) as one:
        await one.ask("exec_block", command="true")
        first = await one.ask("reset", **CALL)
        assert await one.ask("reset", **CALL) == first
    async with owner(place) as next_one:
        assert await next_one.ask("reset", **SOON) == first
        assert (await next_one.ask("reset", call_id="of-a-client-2"))["shell_id"] != first["shell_id"]


async def test_an_id_belongs_to_one_call(place):
    async with owner(place) as one:
        await one.ask("exec_block", command="true", **CALL)
        with pytest.raises(Conflict, match="another command"):
            await one.ask("exec_block", command="false", **CALL)
        waiting = asyncio.create_task(one.ask("wait_for", match="never", call_id="of-a-client-2"))
        await one.ask("status")
        with pytest.raises(Conflict, match="something else"):
            await one.ask("wait_for", match="other", call_id="of-a-client-2")
        waiting.cancel()
        for wrong in ("short", "with a blank", 12345678):
            with pytest.raises(Invalid):
                await one.ask("status", call_id=wrong)


@pytest.mark.parametrize("verb", ["send", "keys", "enter", "ctrl_c", "ctrl_d", "end_session", "reset"])
async def test_the_host_has_died_too(place, verb):
    """Whether something was done is not known: nothing is done to the shell that came after it."""
    fields = {"send": {"data": "x\n"}, "keys": {"keys": ["x", "Enter"]}}.get(verb, {})
    async with owner(place) as one:
        await one.ask("exec_interactive", command="cat > log", wait_for={"match": {"foreground": "cat"}})
        host = host_pid(place)
        os.kill(host, signal.SIGKILL)
        wait_until_gone(host)
    async with owner(place) as next_one:
        await next_one.ask("exec_interactive", command="cat > log", wait_for={"match": {"foreground": "cat"}})
        with pytest.raises(Interrupted, match="ended during this call"):
            await next_one.ask(verb, **fields, **AGAIN)
        assert (await next_one.ask("status"))["foreground"] == "cat"
    assert lines(place) == []


@pytest.mark.parametrize("verb", ["send", "end_session", "reset"])
async def test_a_host_of_an_earlier_version(place, verb):
    async def connect(home):
        host = await HostClient.connect(home)
        host.remembers = False
        return host

    fields = {"data": "typed\n"} if verb == "send" else {}
    async with owner(place, connect=connect) as one:
        await one.ask("exec_interactive", command="cat > log", wait_for={"match": {"foreground": "cat"}})
        with pytest.raises(Interrupted):
            await one.ask(verb, **fields, **SOON)
        assert (await one.ask("status"))["foreground"] == "cat"
        await one.ask(verb, **fields, **CALL)
        await one.ask("reset")
        await one.ask("exec_block", command="echo ran >> ran", call_id="of-a-client-2")
    async with owner(place, connect=connect) as next_one:
        again = await next_one.ask("exec_block", command="echo ran >> ran", call_id="of-a-client-2", call_age_ms=1)
    assert again["exit_code"] == 0
    assert (place / "ran").read_text() == "ran\n"
