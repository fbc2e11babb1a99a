"""`wait_for`: its conditions, the cursor it resumes at, and its timeout. Against a real shell."""

import asyncio

import pytest

from terminal_home import agent_terminal
from vantage.errors import InputError, NotFound

GUESS = r"""
answer=7
while read -r -p 'Guess a number: ' guess; do
  if [ "$guess" = "$answer" ]; then echo 'Correct!'; exit 0; fi
  if [ "$guess" -lt "$answer" ]; then echo 'Too low.'; else echo 'Too high.'; fi
done
"""


async def test_number_guessing(home, tmp_path):
    """The whole flow: start a program, wait for its question, answer it."""
    (tmp_path / "guess").write_text(GUESS)
    async with agent_terminal(home) as t:
        session = await t.exec_interactive(f"bash {tmp_path}/guess")
        asked = await t.wait_for("Guess a number", from_cursor=session.cursor)
        assert asked.matched
        await t.send("3\r")
        low = await t.wait_for("Too low", from_cursor=asked.cursor)
        await t.send("7\r")
        right = await t.wait_for("Correct!", from_cursor=low.cursor)
        prompt = await t.wait_for("PROMPT", from_cursor=right.cursor)
        assert (low.matched, right.matched, prompt.matched) == (True, True, True)
        assert (await t.status()).mode == "idle"
        block = (await t.read_block(session.block_id)).block
        assert (block.exit_code, block.done_because, block.origin) == (0, "mark", "interactive")


async def test_a_wait_never_sees_the_echo_of_its_own_command(home):
    async with agent_terminal(home) as t:
        started = await t.exec_block("sleep 0.1; echo hel''lo", timeout_ms=0)
        found = await t.wait_for("hel", from_cursor=started.cursor)
        assert found.match_span.start == started.cursor
        assert found.match_text == "hel"


async def test_waits_resume_where_the_last_one_stopped(home):
    async with agent_terminal(home) as t:
        started = await t.exec_block("printf 'ä1 ä2 ä3\\n'")
        spans = []
        cursor = started.cursor
        for _ in range(3):
            found = await t.wait_for("ä[0-9]", regex=True, from_cursor=cursor)
            spans.append((found.match_text, found.match_span.start - started.cursor))
            cursor = found.cursor
        assert spans == [("ä1", 0), ("ä2", 4), ("ä3", 8)]  # bytes, not characters


async def test_without_a_cursor_it_resumes_after_the_last_call(home):
    async with agent_terminal(home) as t:
        await t.exec_block("echo one two one")
        assert (await t.wait_for("one")).match_span.start < (await t.wait_for("one")).match_span.start


async def test_many_waits_at_once(home):
    async with agent_terminal(home) as t:
        started = await t.exec_interactive("cat")
        waits = [asyncio.ensure_future(t.wait_for(f"<{n}>", from_cursor=started.cursor)) for n in range(20)]
        await t.send("".join(f"<{n}>\n" for n in reversed(range(20))))
        assert all(found.matched for found in await asyncio.gather(*waits))
        await t.ctrl_d()
        assert (await t.wait_for("EOF", session_id=started.session_id)).reason == "eof"


async def test_a_timeout_leaves_the_cursor_and_shows_the_tail(home):
    async with agent_terminal(home) as t:
        started = await t.exec_interactive("printf 'Password for bob: '; cat")
        await t.wait_for("bob")
        late = await t.wait_for("never", from_cursor=started.cursor, timeout_ms=50)
        assert (late.matched, late.reason, late.cursor) == (False, "timeout", started.cursor)
        assert late.tail.endswith("Password for bob: ")


async def test_max_bytes_ends_a_wait(home):
    async with agent_terminal(home) as t:
        started = await t.exec_interactive("yes; cat")
        found = await t.wait_for("never", from_cursor=started.cursor, max_bytes=10_000)
        assert (found.matched, found.reason) == (False, "max_bytes")
        await t.ctrl_c()
        assert (await t.wait_for("PROMPT")).matched


async def test_a_wait_on_a_session_ends_with_it(home):
    async with agent_terminal(home) as t:
        started = await t.exec_interactive("echo bye")
        found = await t.wait_for("never", session_id=started.session_id)
        assert (found.matched, found.reason) == (False, "exited")


async def test_a_wait_ends_with_the_shell(home):
    async with agent_terminal(home) as t:
        await t.exec_interactive("read x; exit")
        wait = asyncio.ensure_future(t.wait_for("never"))
        await t.enter()
        assert (await wait).reason == "exited"
        assert (await t.status()).mode == "exited"


async def test_conditions(home):
    async with agent_terminal(home) as t:
        started = await t.exec_interactive("echo ready; cat")
        cursor = started.cursor
        either = await t.wait_for({"any": [{"text": "nothing"}, {"regex": "rea.y"}]}, from_cursor=cursor)
        assert (either.reason, either.match_text) == ("regex", "ready")
        both = await t.wait_for({"all": [{"text": "ready"}, {"screen": "ready"}]}, from_cursor=cursor)
        assert (both.reason, both.cursor) == ("all", cursor + len("ready"))
        assert (await t.wait_for({"foreground": "cat"})).reason == "foreground"
        assert (await t.wait_for({"screen_gone": "not there"})).matched
        assert (await t.wait_for({"quiet_ms": 20})).reason == "quiet_ms"
        await t.send("\x1b]0;a title\x07\n")
        assert (await t.wait_for({"title": "a title"})).reason == "title"
        await t.ctrl_d()
        assert (await t.wait_for({"prompt": True})).matched


async def test_a_secret_prompt_announces_itself(home):
    async with agent_terminal(home) as t:
        await t.exec_interactive("read -r -s -p 'Password: ' secret; echo; echo ${#secret}")
        assert (await t.wait_for({"secret_prompt": True})).matched
        assert (await t.status()).awaiting_secret


@pytest.mark.parametrize(
    ("match", "said"),
    [
        ("", "empty"),
        ({"txt": "a"}, "did you mean 'text'"),
        ({"text": 3}, "takes a text"),
        ({}, "one key"),
        ({"any": []}, "list of conditions"),
        ({"text": "a", "screen": "b"}, "one key"),
        ({"quiet_ms": -1}, "milliseconds"),
    ],
)
async def test_bad_conditions_are_refused(home, match, said):
    async with agent_terminal(home) as t:
        with pytest.raises(InputError, match=said):
            await t.wait_for(match)


async def test_bad_expressions_and_cursors_are_refused(home):
    async with agent_terminal(home) as t:
        with pytest.raises(InputError, match="no regular expression"):
            await t.wait_for("(", regex=True)
        with pytest.raises(InputError, match="not in the spool"):
            await t.wait_for("a", from_cursor=10_000)
        with pytest.raises(NotFound, match="no session"):
            await t.wait_for("a", session_id="s-nope")


async def test_words_that_a_program_draws_apart_are_found(home):
    """Cursor movement separates them: along the line by a blank, to another line by a line end."""
    async with agent_terminal(home) as t:
        drawn = r"printf 'Unable\033[1Cto\033[20Gconnect\033[2;5Hnow\n'"
        begun = await t.exec_block(drawn)
        assert (await t.wait_for("Unable to connect\nnow", from_cursor=begun.cursor)).matched
