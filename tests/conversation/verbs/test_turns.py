"""A verb with `wait_for`: the input and the wait for what comes of it, as one call. Against a real shell."""

import asyncio

import pytest

from terminal_home import agent_terminal
from vantage.errors import InputError, Invalid, NotFound

GUESS = r"""
while read -r -p 'Guess a number: ' guess; do
  if [ "$guess" = 7 ]; then echo 'Correct!'; exit 0; fi
  if [ "$guess" -lt 7 ]; then echo 'Too low.'; else echo 'Too high.'; fi
done
"""


async def test_a_turn_has_what_a_separate_wait_would_have(home):
    async with agent_terminal(home) as t:
        started = await t.exec_interactive("while read -r line; do echo got $line; done")
        apart = await t.send("one\n")
        waited = await t.wait_for("got one", from_cursor=apart.cursor)
        turned = await t.send("one\n", wait_for={"match": "got one", "from_cursor": apart.cursor})
        assert turned.matched is True
        for name in ("cursor", "reason", "match_text", "match_span"):
            assert turned[name] == waited[name]
        assert turned.tail.startswith(waited.tail)
        assert (await t.wait_for("got one", session_id=started.session_id)).cursor > turned.cursor, (
            "the next wait goes on"
        )


async def test_three_answers_are_four_calls(home, tmp_path):
    (tmp_path / "guess").write_text(GUESS)
    async with agent_terminal(home) as t:
        asked = await t.exec_interactive(f"bash {tmp_path}/guess", wait_for="number: ")
        assert (asked.matched, asked.tail) == (True, "Guess a number: ")
        low = await t.send("3\n", wait_for="number: ")
        high = await t.send("9\n", wait_for="number: ")
        right = await t.send("7\n", wait_for="PROMPT")
        assert "Too low." in low.tail
        assert "Too high." in high.tail
        assert (right.reason, "Correct!" in right.tail) == ("prompt", True)
        assert (await t.status()).mode == "idle"


async def test_keys_wait_too(home):
    async with agent_terminal(home) as t:
        await t.exec_interactive("cat")
        pressed = await t.keys(["h", "i", "Enter"], wait_for={"regex": "^hi$"})
        assert (pressed.matched, pressed.match_text) == (True, "hi")
        assert (await t.keys("C-d", wait_for="PROMPT")).matched


async def test_a_command_is_waited_for_until_its_text_or_its_end(home):
    async with agent_terminal(home) as t:
        ready = await t.exec_block("echo starting; echo ready; cat", wait_for="ready")
        assert (ready.matched, ready.running, ready.output) == (True, True, None)
        assert ready.tail == "starting\nready"
        over = await t.keys("C-d", wait_for="PROMPT")
        assert over.matched
        ended = await t.exec_block("echo other; (exit 3)", wait_for="ready")
        assert (ended.matched, ended.reason, ended.running) == (False, "exited", False)
        assert (ended.exit_code, ended.output) == (3, "other\n")


async def test_the_end_of_the_program_ends_the_turn(home):
    async with agent_terminal(home) as t:
        await t.exec_interactive("read -r line; echo got $line")
        said = await t.send("it\n", wait_for="never")
        assert (said.matched, said.reason) == (False, "exited")


async def test_the_timeout_of_the_wait_counts_before_that_of_the_call(home):
    async with agent_terminal(home) as t:
        command = "sleep 0.3; echo done; cat"
        ran = await t.exec_block(command, timeout_ms=1, wait_for={"match": "done", "timeout_ms": 20_000})
        assert ran.matched
        missed = await t.send("x", timeout_ms=20_000, wait_for={"text": "never", "timeout_ms": 1})
        assert (missed.matched, missed.reason) == (False, "timeout")
        missed = await t.send("x", timeout_ms=1, wait_for="never")
        assert missed.reason == "timeout"
        await t.wait_for({"foreground": "cat"})  # a Ctrl-C before that is the shell's
        await t.keys("C-c", wait_for="PROMPT")
        started = await t.exec_block("echo done; cat", timeout_ms=0, wait_for="done")
        assert started.matched, "0 means that the end is not waited for"


@pytest.mark.parametrize(
    ("wait_for", "error", "says"),
    [
        ("", InputError, "match is empty"),
        ({}, InputError, "a condition is an object with one key, not {}"),
        ({"txt": "x"}, InputError, "there is no condition 'txt'"),
        ({"match": "(", "regex": True}, InputError, "'(' is no regular expression"),
        ({"match": "x", "timeout_ms": -1}, Invalid, "`timeout_ms`: expected a whole number from 0 on, got -1"),
        ({"match": "x", "timeout": 5}, Invalid, "`wait_for`: 'timeout' is not known here"),
        ({"match": "x", "from_cursor": 1 << 40}, InputError, "cursor 1099511627776 is not in the spool"),
        ({"match": "x", "session_id": "s-none"}, NotFound, "there is no session 's-none'"),
    ],
)
async def test_a_wrong_wait_types_nothing(home, wait_for, error, says):
    async with agent_terminal(home) as t:
        cat = await t.exec_interactive("cat")
        with pytest.raises(error) as refused:
            await t.send("typed\n", wait_for=wait_for)
        assert refused.value.message.startswith(says)
        await t.send("after\n", wait_for="after")
        assert "typed" not in (await t.read_spool(cat.cursor)).text


async def test_a_caller_that_leaves_cancels_the_wait_and_not_the_input(home):
    async with agent_terminal(home) as t:
        cat = await t.exec_interactive("cat")
        turn = asyncio.create_task(t.send("whole\n", wait_for="never"))
        assert (await t.wait_for("whole\nwhole", from_cursor=cat.cursor)).matched
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert (await t.send("next\n", wait_for="next")).matched
