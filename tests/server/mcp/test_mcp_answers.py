"""Answers over MCP are short and honest: what a model does not know yet, and no note where all is as usual."""

import json

import pytest

from mcp_clients import CARRIERS, agent

BUDGET = 40
"""Characters / 4 of the fields as JSON: what `echo hi` may cost."""
DRAWN = r"printf '\033[?1049h\033]2;a title\007\033[3;5Hdrawn he''re\033[2;2H'; read -r _; printf '\033[?1049l'"
LIMIT = 60


def tokens(said):
    return len(said if isinstance(said, str) else json.dumps(said)) / 4


@pytest.mark.parametrize("carrier", CARRIERS)
async def test_a_small_command_costs_little(server, carrier):
    async with agent(server, carrier) as user:
        first = await user.call("pty_exec_block", command="echo hi")
        assert tokens(first) <= BUDGET
        again = await user.call("pty_exec_block", command="echo hi")
        assert again == {"block_id": "b2", "cursor": again["cursor"], "exit_code": 0, "output": "hi\n"}
        assert user.text == "hi\nexit 0"
        silent = await user.call("pty_exec_block", command="false")
        assert silent == {"block_id": "b3", "cursor": silent["cursor"], "exit_code": 1}


async def test_what_is_as_usual_has_no_note(server):
    async with agent(server) as user:
        usual = [
            await user.call("pty_exec_interactive", command="cat"),
            await user.call("pty_send", data="one\n"),
            await user.call("pty_wait_for", match="one\none"),
            await user.call("pty_keys", keys=["t", "w", "o", "Enter"], wait_for="two\ntwo"),
            await user.call("pty_read_screen"),
            await user.call("pty_end_session"),
            await user.call("pty_status"),
        ]
        assert [each["note"] for each in usual if "note" in each] == []
        assert usual[1] == {"cursor": usual[1]["cursor"]}
        assert usual[5].keys() <= {"how", "typed"}


async def test_what_the_call_said_is_not_repeated(server):
    async with agent(server) as user:
        begun = await user.call("pty_exec_interactive", command="echo up; cat", wait_for={"text": "up"})
        assert begun.keys() == {"session_id", "block_id", "cursor", "matched", "tail", "conversation_id", "watch"}
        one = await user.call("pty_send", data="one\n", wait_for={"regex": "^o.e$"})
        assert (one["match_text"], "reason" in one) == ("one", False)
        two = await user.call("pty_send", data="two\n", wait_for={"any": ["two\ntwo", {"eof": True}]})
        assert (two["match_text"], two["reason"]) == ("two\ntwo", "text")
        missed = await user.call("pty_send", data="x", wait_for={"match": "never", "timeout_ms": 0})
        assert (missed["matched"], missed["reason"] in ("timeout", "awaiting")) == (False, True)
        read = await user.call("pty_read_block", block_id=begun["block_id"])
        assert read["block"] == {"cmd": "echo up; cat", "cwd": read["block"]["cwd"], "running": True} | {
            "session_id": begun["session_id"]
        }
        assert await user.call("pty_resize", cols=90, rows=20) == {}


async def test_status_says_what_is_not_as_usual(server):
    async with agent(server) as user:
        await user.call("pty_exec_block", command="true")
        idle = await user.call("pty_status")
        assert idle.keys() - {"title"} == {"mode", "cursor", "cwd", "foreground", "cols", "rows", "last_exit_code"}
        assert (idle["mode"], idle["last_exit_code"]) == ("idle", 0)


@pytest.mark.parametrize("carrier", CARRIERS)
async def test_a_screen_is_one_text(server, carrier):
    async with agent(server, carrier) as user:
        await user.call("pty_exec_block", command="echo visible")
        shell = await user.call("pty_read_screen")
        assert shell.keys() <= {"text", "title", "delta_cursor"}
        assert "visible" in shell["text"].splitlines()
        drawn = await user.call("pty_exec_interactive", command=DRAWN, wait_for="drawn here")
        assert (drawn["screen"], "tail" in drawn) == ("\n\n    drawn here", False)
        assert user.text.endswith("\n\n    drawn here")
        await user.call("pty_wait_for", match={"title": "a title"})
        looked = await user.call("pty_read_screen")
        assert looked == {
            "text": "\n\n    drawn here",
            "cursor": {"row": 1, "col": 1},
            "title": "a title",
            "alt_screen": True,
            "delta_cursor": looked["delta_cursor"],
        }
        since = await user.call("pty_read_screen", since=looked["delta_cursor"])
        assert since["changed"] == []
        missed = await user.call("pty_wait_for", match="never", timeout_ms=0)
        assert (missed["matched"], missed["screen"]) == (False, "\n\n    drawn here")
        left = await user.call("pty_keys", keys=["Enter"], wait_for="PROMPT")
        assert "screen" not in left


async def test_a_screen_has_no_rows_of_filler(server):
    async with agent(server) as user:
        vim = await user.call("pty_exec_interactive", command="vim -u NONE -N new.txt", wait_for={"screen": "New"})
        looked = await user.call("pty_read_screen")
        for text in (vim["screen"], looked["text"]):
            assert (text.count("~"), "37 more rows like this" in text) == (1, True)
        part = await user.call("pty_read_screen", region={"row": 10, "rows": 10})
        assert part["text"] == "\n".join("~" * 10)


async def test_a_wait_shows_its_match_and_nothing_older(server):
    async with agent(server) as user:
        await user.call("pty_exec_block", command="echo older")
        newer = await user.call("pty_exec_interactive", command="echo newer; cat", wait_for="newer")
        assert newer["tail"] == "newer"
        await user.call("pty_keys", keys=["C-d"], wait_for="PROMPT")
        begun = await user.call("pty_exec_interactive", command="seq 1 2000; echo nee''dle; echo fi''nished; cat")
        await user.call("pty_wait_for", match="finished")
        found = await user.call("pty_wait_for", match="needle", from_cursor=begun["cursor"])
        assert found["tail"].endswith("\n1999\n2000\nneedle\nfinished")
        assert found["tail"].startswith("… "), "what is missing is counted"
        assert len(found["tail"]) < 1100
        missed = await user.call("pty_wait_for", match="never", timeout_ms=0)
        assert missed["tail"].strip("\n") == "finished"


async def test_every_tool_that_returns_text_takes_max_output(server):
    async with agent(server) as user:
        tools = await user.tools()
        assert {name for name, tool in tools.items() if "max_output" in tool.input_schema["properties"]} == {
            "pty_exec_block",
            "pty_exec_interactive",
            "pty_send",
            "pty_keys",
            "pty_wait_for",
            "pty_read_screen",
            "pty_read_block",
        }
        ran = await user.call("pty_exec_interactive", command="read -r _; seq 1 500")
        sent = await user.call("pty_send", data="\n", wait_for="PROMPT", max_output=LIMIT)
        assert len(sent["tail"]) < LIMIT + 60, "the mark comes on top"
        assert "bytes left out" in sent["tail"]
        whole = await user.call("pty_wait_for", match="PROMPT", from_cursor=ran["cursor"])
        assert whole["tail"].splitlines()[1:501] == [str(number) for number in range(1, 501)]
        seen = await user.call("pty_read_screen", max_output=LIMIT)
        assert "characters left out" in seen["text"]
        begun = await user.call("pty_exec_block", command="seq 1 500; cat", wait_for="500", max_output=LIMIT)
        assert len(begun["tail"]) < LIMIT + 60


TABLE = r"""while read -r _; do printf 'name\033[20Gsize\n'; done"""


async def test_a_turn_shows_what_was_drawn(server):
    async with agent(server) as user:
        await user.call("pty_exec_interactive", command=TABLE)
        turn = await user.call("pty_send", data="go\n", wait_for="size")
        assert turn["tail"] == "go\nname               size"


async def test_output_is_what_a_person_saw(server):
    async with agent(server) as user:
        ran = await user.call("pty_exec_block", command=r"printf 'abc\033[2D\033[Kx\n'")
        assert ran["output"] == "ax\n"


async def test_one_call_ends_a_program_in_raw_mode(server):
    async with agent(server) as user:
        await user.call("pty_exec_interactive", command="stty raw -echo; echo up; cat > /dev/null", wait_for="up")
        await user.call("pty_end_session")
        await user.call("pty_exec_block", command="sleep 1000", wait_for={"foreground": "sleep"})
        assert (await user.call("pty_keys", keys=["C-c"], wait_for="PROMPT"))["matched"]


FULL_SCREEN = r"printf '\033[?1049h\033[2J\033[Hfu''ll'; cat > /dev/null"


async def test_a_program_that_is_ended_leaves_its_alternate_screen(server):
    async with agent(server) as user:
        await user.call("pty_exec_interactive", command=FULL_SCREEN, wait_for={"screen": "full"})
        await user.call("pty_end_session")
        assert "alt_screen" not in await user.call("pty_status")
        typed = await user.call("pty_send", data="echo a''fter\n", wait_for="after")
        assert ("screen" in typed, "after" in typed["tail"].splitlines()) == (False, True)


async def test_what_stood_on_the_screen_is_not_output(server):
    async with agent(server) as user:
        await user.call("pty_exec_block", command="seq 100")
        ran = await user.call("pty_exec_block", command=r"printf 'a\033[5;40Hto\033[5;60Hconnect\033[40;3H b\n'")
        assert len(ran["output"].splitlines()) == 2
