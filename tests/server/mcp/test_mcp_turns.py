"""Turns over MCP: one call types, waits, and answers with what was printed."""

import json

import pytest

from mcp_clients import CARRIERS, Refused, agent, over_http
from places import ROOT
from server_home import serving

GAME = ROOT / "examples" / "guess"


@pytest.mark.parametrize("carrier", CARRIERS)
async def test_a_game_with_three_answers_is_four_calls(server, carrier):
    async with agent(server, carrier) as player:
        asked = await player.call("pty_exec_interactive", command=f"{GAME} 7", wait_for="10: ")
        assert (asked["matched"], asked["tail"]) == (True, "Guess a number from 1 to 10: ")
        assert player.text.startswith(f"session {asked['session_id']}, matched text '10: '")
        low = await player.call("pty_send", data="3\n", wait_for="10: ")
        high = await player.call("pty_send", data="9\n", wait_for={"match": "10: ", "timeout_ms": 20_000})
        right = await player.call("pty_send", data="7\n", wait_for="PROMPT")
        assert ("Too low." in low["tail"], "Too high." in high["tail"]) == (True, True)
        assert (right["last_exit_code"], "Correct!" in right["tail"]) == (0, True)
        assert "note" not in low, "there is nothing to say beside what came"


async def test_every_tool_that_types_or_starts_waits(server):
    async with agent(server) as user:
        ran = await user.call("pty_exec_block", command="echo up; cat", wait_for="up")
        assert (ran["matched"], ran["running"], ran["tail"]) == (True, True, "up")
        pressed = await user.call("pty_keys", keys=["a", "Enter"], wait_for="a\na")
        assert (pressed["matched"], pressed["tail"].strip("\n")) == (True, "a\na")
        missed = await user.call("pty_keys", keys=["b"], wait_for={"match": "never", "timeout_ms": 1})
        assert (missed["matched"], missed["reason"]) == (False, "timeout")
        assert f"from_cursor={missed['cursor']}" in missed["note"]
        await user.call("pty_keys", keys=["C-c"], wait_for="PROMPT")
        ended = await user.call("pty_exec_block", command="echo whole; false", wait_for="never")
        assert (ended["exit_code"], ended["output"], ended["reason"]) == (1, "whole\n", "exited")
        assert "tail" not in ended, "it is the end of the output"


async def test_a_wait_that_was_written_as_a_text_is_understood(server):
    async with agent(server) as user:
        written = json.dumps({"any": [{"text": "up"}, {"eof": True}]})
        ran = await user.call("pty_exec_interactive", command="echo up; cat", wait_for=written)
        assert (ran["matched"], ran["reason"]) == (True, "text")
        typed = await user.call("pty_send", data="a\n", wait_for=json.dumps({"match": "a\na", "timeout_ms": 9000}))
        assert typed["matched"]
        with pytest.raises(Refused) as refused:
            await user.call("pty_send", data="x\n", wait_for={"txt": "a"})
        assert "there is no condition 'txt'" in refused.value.text


async def test_the_longest_wait_of_a_call_bounds_that_of_a_turn(tmp_path):
    with serving(tmp_path, VANTAGE_MCP_WAIT="1") as server:
        async with agent(server) as user:
            never = {"match": "never", "timeout_ms": 600_000}
            started = await user.call("pty_exec_interactive", command="sleep 1000", wait_for=never)
            assert (started["matched"], started["reason"]) == (False, "timeout")
            typed = await user.call("pty_send", data="x\n", wait_for="never")
            assert (typed["matched"], typed["reason"]) == (False, "timeout")


async def test_a_wait_does_not_match_in_the_echo(server):
    async with agent(server) as user:
        await user.call("pty_exec_interactive", command="python3 -q", wait_for=">>> ")
        said = await user.call("pty_send", data="print('do' + 'ne', 'done')\n", wait_for="done")
        assert said["tail"].splitlines()[1].lstrip("\r") == "done done"


@pytest.mark.parametrize(
    "tool", ["pty_status", "pty_read_screen", "pty_blocks", "pty_search", "display_context", "pty_end_session"]
)
async def test_a_tool_that_looks_or_ends_makes_no_terminal(server, tool):
    fields = {"query": "x"} if tool == "pty_search" else {}
    async with over_http(server, "?tools=all") as user:
        with pytest.raises(Refused) as refused:
            await user.call(tool, conversation_id="not-there", **fields)
        assert refused.value.text.startswith("not_found: there is no terminal 'not-there'. pty_exec_block starts one")
        with pytest.raises(Refused) as refused:
            await user.call(tool, **fields)
        assert refused.value.text.startswith("not_found: there is no terminal yet")
    assert server.get("/v1/conversations/not-there").status == 404


async def test_another_id_is_a_second_terminal(server):
    async with agent(server) as user:
        first = await user.call("pty_exec_interactive", command="cat")
        with pytest.raises(Refused) as refused:
            await user.call("pty_exec_block", command="echo hi")
        assert "pty_exec_block with another conversation id runs it in a second terminal" in refused.value.text
        second = await user.call("pty_exec_block", command="echo hi", conversation_id="a-second-one")
        assert second["output"] == "hi\n"
        assert first["conversation_id"] != "a-second-one"
    server.ask("DELETE", "/v1/conversations/a-second-one")


async def test_slips_are_noted_with_the_tool_that_helps(server):
    async with agent(server) as user:
        await user.call("pty_exec_block", command="true")
        typed = await user.call("pty_send", data="echo hi\n", wait_for="PROMPT")
        assert typed["note"].startswith("Nothing runs: the shell got this as a command. pty_exec_block runs a command")
        await user.call("pty_exec_interactive", command="cat")
        literal = await user.call("pty_send", data="yes\\n")
        assert 'Enter was not pressed. pty_keys {"keys": ["Enter"]} presses it' in literal["note"]
        assert "notes" not in literal


async def test_a_wait_that_comes_with_a_screen_says_what_is_selected_on_it(server, tmp_path):
    menu = tmp_path / "menu"
    menu.write_text("printf '\\033[?1049h\\033[H one\\n \\033[7mtwo\\033[0m\\n three\\n'; stty raw; head -c 1")
    async with agent(server) as user:
        never = {"match": "never", "timeout_ms": 20_000}
        started = await user.call("pty_exec_interactive", command=f"sh {menu}", wait_for=never)
        assert (started["awaiting"], started["selected"]) == ("key", ["two"])
        assert "selected: 'two'" in user.text
        assert (await user.call("pty_read_screen"))["selected"] == ["two"]


async def test_a_command_that_asks_says_what_and_where(server):
    """The prompt is what the program printed, never the line of the command; of a dialog, what is in its box."""
    async with agent(server) as user:
        asks = await user.call("pty_exec_block", command="dialog --yesno 'Go on?' 8 30")
        assert (asks["awaiting"], asks["prompt"], asks["selected"]) == ("key", "< Yes >   < No  >", ["< Yes >"])
        await user.call("pty_keys", keys=["Enter"], wait_for="PROMPT")
        silent = await user.call("pty_exec_block", command="cat")
        assert (silent["awaiting"], "prompt" in silent) == ("line", False)


async def test_lines_of_a_long_output_are_found_in_it(server):
    async with agent(server) as user:
        ran = await user.call("pty_exec_block", command="seq 1 100000", max_output=100)
        found = await user.call("pty_read_block", block_id=ran["block_id"], search="^4567[78]$", regex=True, context=1)
        assert (found["found"], found["output"]) == (2, "45676-45676\n45677:45677\n45678:45678\n45679-45679\n")
        assert "45677:45677" in user.text


SECRET = "read -r -s -p 'Pass''word: ' word; echo \"<$word>\""


@pytest.mark.parametrize(("key", "seen"), [("Ctrl+C", "PROMPT"), ("^C", "PROMPT"), ("Enter", "<>")])
async def test_keys_as_people_write_them_answer_a_secret_prompt(server, key, seen):
    async with agent(server) as user:
        await user.call("pty_exec_interactive", command=SECRET, wait_for={"secret_prompt": True})
        assert (await user.call("pty_keys", keys=[key], wait_for=seen))["matched"]


async def test_the_directory_is_that_of_the_program_in_the_foreground(server, tmp_path):
    async with agent(server) as user:
        await user.call(
            "pty_exec_interactive", command=f"sh -c 'cd {tmp_path} && exec cat'", wait_for={"foreground": "cat"}
        )
        assert (await user.call("pty_status"))["cwd"] == str(tmp_path)


async def test_ending_a_question_does_not_answer_it(server):
    async with agent(server) as user:
        begun = await user.call(
            "pty_exec_interactive", command="read -p 'Branch''> ' b; echo \"del''eted <$b>\"", wait_for="Branch>"
        )
        ended = await user.call("pty_end_session")
        assert "typed" not in ended
        assert "deleted" not in (await user.call("pty_read_block", block_id=begun["block_id"]))["output"]
