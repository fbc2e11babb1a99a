"""What a model meets in a terminal, over HTTP and MCP alike: one call a turn, and answers that are what is seen."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from mcp_clients import agent

Call = Callable[..., Awaitable[dict[str, Any]]]
MENU = "dialog --menu 'Pick one' 12 40 4 a Apple b Banana"
TABLE = r"for n in $(seq 1 50); do for row in 1 2 3 4; do printf 'layer %d: %d%%\033[K\n' $row $n; done; {up}; done"


@asynccontextmanager
async def _over_http(server) -> AsyncIterator[Call]:
    with server.conversation() as conversation:

        async def call(verb: str, **fields: Any) -> dict[str, Any]:
            return await asyncio.to_thread(server.pty, conversation, verb, **fields)

        yield call


@asynccontextmanager
async def _over_mcp(server) -> AsyncIterator[Call]:
    async with agent(server) as user:

        async def call(verb: str, **fields: Any) -> dict[str, Any]:
            return await user.call(f"pty_{verb}", **fields)

        yield call


@pytest.fixture(params=[_over_http, _over_mcp], ids=["http", "mcp"])
def terminal(request, server):
    return lambda: request.param(server)


SEEN = {
    "columns": (r"printf 'name\033[20Gsize\n'", ["name               size"]),
    "words at their places": (r"printf 'Welcome\033[1Cto\033[1CClaude\n'", ["Welcome to Claude"]),
    "an erased end": (r"printf 'abc\033[2D\033[Kx\n'", ["ax"]),
    "a box": (r"printf '\033(0lqk\033(B\n'", ["┌─┐"]),
    "a progress bar": (r"for n in 1 50 100; do printf '\r%d%%' $n; done; echo", ["100%"]),
    "a table that is drawn again": (
        TABLE.format(up=r"[ $n = 50 ] || printf '\033[4A'"),
        [f"layer {row}: 50%" for row in (1, 2, 3, 4)],
    ),
    "frames": ("for n in 1 2 3; do clear; echo frame $n; done", ["frame 3"]),
    "tabs and blanks": (r"printf 'a\tb  \n'", ["a\tb  "]),
}


@pytest.mark.parametrize("name", SEEN)
async def test_output_is_what_a_person_saw(terminal, name):
    command, lines = SEEN[name]
    async with terminal() as call:
        assert (await call("exec_block", command=command))["output"].splitlines() == lines


async def test_the_last_screen_of_an_editor_is_in_its_commands_answer(terminal, tmp_path):
    (tmp_path / "note.txt").write_text("first line\n")
    async with terminal() as call:
        ran = await call("exec_block", command=f"vim -u NONE -N {tmp_path}/note.txt -c 'call feedkeys(\":q\\r\")'")
        assert (ran["exit_code"], ran["screen"].splitlines()[0]) == (0, "first line")


async def test_words_at_their_places_are_found_as_words(terminal):
    command = r"printf 'Unable\033[1Cto\033[20Gconn'; printf 'ect\n'; cat"
    async with terminal() as call:
        assert (await call("exec_interactive", command=command, wait_for="Unable to connect"))["matched"]


async def test_another_choice_is_another_answer(terminal):
    async with terminal() as call:
        first = await call("exec_interactive", command=MENU, wait_for={"screen": "Banana"})
        await call("keys", keys=["Down"])
        later = await call("wait_for", match={"quiet_ms": 300})
        looked = await call("read_screen")
        assert "Apple" in first["selected"][0]
        assert "Banana" in later["selected"][0]
        assert looked["selected"] == later["selected"]


QUESTIONS = {
    "a script": 'bash -c \'read -p "Branch to delete: " b; echo de""leted\'',
    "input()": f"{sys.executable} -c \"input('Go on? [Y/n] '); print('del'+'eted')\"",
}


@pytest.mark.parametrize("name", QUESTIONS)
async def test_the_end_of_a_question_is_no_answer(terminal, name):
    async with terminal() as call:
        asked = await call("exec_block", command=QUESTIONS[name])
        assert (asked["awaiting"], asked["running"]) == ("line", True)
        assert (await call("end_session"))["how"] == "ctrl_c"
        assert "deleted" not in (await call("read_block", block_id=asked["block_id"]))["output"]


async def test_the_end_of_input_is_not_lost_behind_a_command(terminal):
    """Ctrl-D comes while the shell makes its prompt: it ends the shell each time."""
    async with terminal() as call:
        for _ in range(5):
            await call("exec_block", command="true")
            assert (await call("keys", keys=["C-d"], wait_for="never"))["reason"] == "exited"
            assert (await call("status"))["mode"] == "exited"


async def test_a_prompt_that_is_there_is_found_each_time(terminal):
    async with terminal() as call:
        await call("exec_block", command="true")
        for _ in range(3):
            assert (await call("wait_for", match="PROMPT"))["matched"]
        await call("send", data="sleep 0.3; echo ma''de\n")
        assert "made" in (await call("wait_for", match="PROMPT"))["tail"].splitlines(), "a command is on its way"


async def test_a_secret_that_is_refused_is_typed_nowhere(terminal):
    async with terminal() as call:
        await call("exec_block", command="read -rs -t 0.2 it; echo go''ne", wait_for="gone")
        with pytest.raises(Exception, match="no_secret_prompt"):
            await call("send", data="hush\n", secret=True)
        assert (await call("exec_block", command="echo next"))["output"] == "next\n"


async def test_a_program_that_ends_before_its_text_came_ends_the_wait(terminal):
    async with terminal() as call:
        over = await call("exec_interactive", command="echo bye; false", wait_for="never")
        assert (over["matched"], over["reason"], over["tail"].splitlines()[0]) == (False, "exited", "bye")


async def test_a_cut_says_how_much_is_missing(terminal):
    async with terminal() as call:
        ran = await call("exec_block", command="seq 100000", max_output=100)
        assert (ran["omitted_bytes"] > 500_000, f"{ran['omitted_bytes']:,} bytes left out" in ran["output"]) == (
            True,
            True,
        )
        assert ran["output"].endswith("\n99999\n100000\n")
