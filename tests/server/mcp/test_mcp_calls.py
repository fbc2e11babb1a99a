"""What an agent does with its tools, over every carrier: run, talk, wait, look; and what it is told when it cannot."""

import asyncio
import json
import re

import anyio
import pytest
from mcp.shared.exceptions import MCPError

from home_files import holding
from mcp_clients import CARRIERS, MODES, Refused, agent, over_http, read_only
from server_home import serving
from terminal_home import environment

GUESS = """\
printf 'Guess a number: '
while read -r number; do
  if [ "$number" = 7 ]; then echo 'Correct!'; exit 0; fi
  printf 'No. Guess again: '
done
"""


@pytest.fixture
def guess(server):
    program = server.home / "guess"
    program.write_text(GUESS)
    return f"sh {program}"


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES.keys())
@pytest.mark.parametrize("carrier", CARRIERS)
async def test_guess_the_number(server, guess, carrier, mode):
    async with agent(server, carrier, mode=mode) as player:
        begun = await player.call("pty_exec_interactive", command=guess)
        asked = await player.call("pty_wait_for", match="Guess a number", from_cursor=begun["cursor"])
        assert asked["matched"]
        assert asked["tail"] == "Guess a number: "
        await player.call("pty_send", data="5\r", session_id=begun["session_id"])
        assert (await player.call("pty_wait_for", match="Guess again"))["matched"]
        await player.call("pty_send", data="7\r")
        right = await player.call("pty_wait_for", match="Correct!")
        over = await player.call("pty_wait_for", match="PROMPT", from_cursor=right["cursor"])
        assert (over["matched"], over["last_exit_code"]) == (True, 0)
        assert (await player.call("pty_status"))["mode"] == "idle"
        block = await player.call("pty_read_block", block_id=begun["block_id"])
        assert "No. Guess again: 7" in block["output"]


@pytest.mark.parametrize("carrier", CARRIERS)
async def test_a_command_and_what_it_printed(server, carrier):
    async with agent(server, carrier) as user:
        ran = await user.call("pty_exec_block", command="echo some; echo words; (exit 3)")
        assert (ran["output"], ran["exit_code"]) == ("some\nwords\n", 3)
        assert user.text.startswith("some\nwords\nexit 3")
        assert ran["watch"] == server.url
        assert server.url in user.text
        assert server.token not in user.text
        assert "watch" not in await user.call("pty_exec_block", command="true"), "it is said once"
        assert user.text == "exit 0"


@pytest.mark.parametrize("carrier", CARRIERS)
async def test_every_tool_answers_as_it_promised(server, carrier):
    """The client holds every answer against the tool's schema."""
    async with agent(server, carrier) as user:
        listed = set(await user.tools())
        ran = await user.call("pty_exec_block", command="seq 1 60; printf '\\033[31mred\\033[0m\\n'")
        await user.call("pty_resize", cols=100, rows=30)
        await user.call("pty_blocks")
        await user.call("pty_read_block", block_id=ran["block_id"], part="tail", max_output=20)
        hits = (await user.call("pty_search", query="59"))["hits"]
        assert [hit["text"] for hit in hits] == ["59"]
        await user.call("pty_read_raw", from_offset=0, max_bytes=100)
        await user.call("pty_read_spool", from_cursor=ran["cursor"])
        screen = await user.call("pty_read_screen", style=True)
        assert any(run for row in screen["runs"] for run in row if run.get("fg") is not None)
        assert user.text == screen["text"]
        drawn = await user.call("pty_read_screen", cursor=True, region={"rows": 30})
        assert "▏" in drawn["text"]
        await user.call("pty_read_screen", since=screen["delta_cursor"])
        assert (await user.call("pty_screen_status"))["cols"] == 100
        await user.call("pty_read_screen_deltas", cursor=0, limit=5)
        assert (await user.call("pty_read_scrollback", limit=5))["lines"]

        begun = await user.call("pty_exec_interactive", command="cat")
        await user.call("pty_send", data="one")
        await user.call("pty_enter")
        assert (await user.call("pty_wait_for", match="one\none", from_cursor=begun["cursor"]))["matched"]
        await user.call("pty_keys", keys=["t", "w", "o", "Enter"])
        assert (await user.call("pty_wait_for", match={"regex": "^two$"}, from_cursor=begun["cursor"]))["matched"]
        assert (await user.call("pty_status"))["foreground"] == "cat"
        await user.call("pty_ctrl_d")
        await user.call("pty_wait_for", match="EOF", session_id=begun["session_id"])
        assert (await user.call("pty_end_session", session_id=begun["session_id"]))["how"] == "already_ended"

        await user.call("pty_exec_interactive", command="sleep 1000", wait_for={"foreground": "sleep"})
        await user.call("pty_ctrl_c")
        assert (await user.call("pty_wait_for", match="PROMPT"))["last_exit_code"] == 130
        clicking = r"""printf '\033[?1000h\033[?1006hhere\n'; read -r _; printf '\033[?1000l'"""
        await user.call("pty_exec_interactive", command=clicking)
        await user.call("pty_wait_for", match={"screen": "here"})
        await user.call("pty_mouse", on_text="here")
        await user.call("pty_reset")

        emitted = await user.call("timeline_emit", events=[{"type": "assistant_text", "text": "Done."}])
        assert emitted["count"] == 1
        assert (await user.call("display_context"))["text"].startswith("## Display Context")
        assert (await user.call("ask_person", question="Which colour?", timeout_ms=0))["state"] == "pending"
    assert listed == {*(f"pty_{verb}" for verb in _driven()), "ask_person", "timeline_emit", "display_context"}


def _driven() -> list[str]:
    import inspect

    source = inspect.getsource(test_every_tool_answers_as_it_promised)
    return sorted(set(re.findall(r'"pty_(\w+)"', source)))


@pytest.mark.parametrize("carrier", CARRIERS)
async def test_a_full_screen_program_by_keys_and_looks(server, carrier):
    async with agent(server, carrier) as user:
        await user.call("pty_exec_interactive", command=f"vim -u NONE -N -i NONE {carrier}.txt")
        await user.call("pty_wait_for", match={"screen": f"{carrier}.txt"})
        await user.call("pty_keys", keys=["i"])
        await user.call("pty_wait_for", match={"screen": "-- INSERT --"})
        await user.call("pty_send", data="written by keys", paste=True)
        await user.call("pty_keys", keys=["Escape", "0", "x", "i", "W", "Escape"])
        seen = await user.call("pty_wait_for", match={"screen": "Written by keys"})
        assert seen["matched"]
        looked = await user.call("pty_read_screen")
        assert looked["alt_screen"]
        assert looked["text"].splitlines()[0] == "Written by keys"
        missed = await user.call("pty_wait_for", match={"screen": "never there"}, timeout_ms=0)
        assert "Written by keys" in missed["screen"]
        assert "Written by keys" in user.text
        await user.call("pty_keys", keys=[":", "w", "q", "Enter"])
        await user.call("pty_wait_for", match="PROMPT")
        assert (await user.call("pty_exec_block", command=f"cat {carrier}.txt"))["output"] == "Written by keys\n"


SECRET = "correct-horse-battery-staple"
ASK = "read -rsp 'Password: ' it && echo && echo got ${#it}"


@pytest.mark.parametrize("carrier", CARRIERS)
async def test_a_password_is_typed_on_purpose_and_written_nowhere(server, carrier):
    async with agent(server, carrier) as user:
        begun = await user.call("pty_exec_block", command=ASK, timeout_ms=200)
        asked = await user.call("pty_wait_for", match={"secret_prompt": True})
        assert asked["matched"]
        with pytest.raises(Refused) as refused:
            await user.call("pty_send", data="ls\n")
        assert refused.value.code == "secret_prompt"
        assert "pty_send with secret=true" in refused.value.text
        status = await user.call("pty_status")
        assert status["awaiting_secret"]
        assert "secret=true" in status["note"]
        await user.call("pty_send", data=f"{SECRET}\n", secret=True)
        done = await user.call("pty_wait_for", match=f"got {len(SECRET)}", from_cursor=begun["cursor"])
        assert done["matched"]
        await user.call("pty_wait_for", match="PROMPT")
        with pytest.raises(Refused) as refused:
            await user.call("pty_send", data=f"{SECRET}\n", secret=True)
        assert refused.value.code == "no_secret_prompt"
        assert SECRET not in refused.value.text
        assert holding(server.home, SECRET) == []
        assert SECRET not in server.said()


async def test_control_c_leaves_a_password_prompt(server):
    async with agent(server) as user:
        await user.call("pty_exec_interactive", command=ASK)
        await user.call("pty_wait_for", match={"secret_prompt": True})
        await user.call("pty_keys", keys=["C-c"])
        assert (await user.call("pty_wait_for", match="PROMPT"))["matched"]


async def test_a_command_that_takes_longer_keeps_running(server):
    async with agent(server) as user:
        begun = await user.call("pty_exec_block", command="echo before; read -r line; echo after $line", timeout_ms=300)
        assert begun["running"]
        assert begun["output"] == "before\n"
        assert "exit_code" not in begun
        again = json.loads(re.search(r"pty_wait_for (\{.*?\})", begun["note"])[1])
        await user.call("pty_send", data="all\n")
        assert (await user.call("pty_wait_for", **again))["matched"]
        read = json.loads(re.search(r"pty_read_block (\{.*?\})", begun["note"])[1])
        assert (await user.call("pty_read_block", **read))["output"].endswith("after all\n")


async def test_a_wait_without_a_running_program_returns_at_once(server):
    async with agent(server) as user:
        with anyio.fail_after(30):  # it would take longer if it waited
            waited = await user.call("pty_wait_for", match="never", timeout_ms=600_000)
        assert not waited["matched"]
        assert "Nothing runs in this terminal" in waited["note"]


async def test_a_wait_that_times_out_at_the_prompt_does_not_advise_to_wait_again(server):
    async with agent(server) as user:
        await user.call("pty_exec_block", command="echo something else")
        waited = await user.call("pty_wait_for", match="never", timeout_ms=0)
        assert "so it may never come. pty_exec_block or" in waited["note"]
        assert "Not yet" not in waited["note"]
        assert f"from_cursor={waited['cursor']}" in waited["note"], "a background job may print it after all"


async def test_notes_are_sentences(server):
    async with agent(server) as user:
        await user.call("pty_exec_block", command="exit")
        begun = await user.call("pty_exec_interactive", command="cat")
        assert begun["note"] == "The shell had ended: this runs in a fresh one"


async def test_a_command_without_an_exit_code_is_listed_with_what_became_of_it(server):
    async with agent(server) as user:
        await user.call("pty_exec_block", command="echo 'open")
        await user.call("pty_blocks")
        assert user.text.startswith("b1 [incomplete] echo 'open")


@pytest.mark.parametrize("events", [{"type": "warning", "message": "x"}, '[{"type": "warning", "message": "x"}]'])
async def test_one_event_needs_no_list_and_a_list_may_be_a_text(server, events):
    async with agent(server) as user:
        assert (await user.call("timeline_emit", events=events))["count"] == 1


async def test_a_refusal_names_the_calls_that_help(server):
    async with agent(server) as user:
        begun = await user.call("pty_exec_interactive", command="cat")
        with pytest.raises(Refused) as refused:
            await user.call("pty_exec_block", command="ls")
        assert refused.value.code == "busy"
        end = json.loads(re.search(r"pty_end_session (\{.*?\})", refused.value.text)[1])
        assert end == {"session_id": begun["session_id"]}
        assert (await user.call("pty_end_session", **end))["how"] in ("ctrl_c", "exit")

        block = await user.call("pty_exec_block", command="sleep 1000", timeout_ms=0)
        assert (await user.call("pty_end_session"))["how"] in ("ctrl_c", "terminate")
        block = await user.call("pty_exec_block", command="sleep 1000", timeout_ms=0)
        with pytest.raises(Refused) as refused:
            await user.call("pty_exec_block", command="ls")
        assert "pty_send answers it" in refused.value.text, "it may wait for a yes or no"
        assert json.loads(re.search(r"pty_read_block (\{.*?\})", refused.value.text)[1]) == {
            "block_id": block["block_id"]
        }
        # a Ctrl-C that comes before bash has started it is bash's
        assert (await user.call("pty_wait_for", match={"foreground": "sleep"}))["matched"]
        stop = json.loads(re.search(r"pty_keys (\{.*?\})", refused.value.text)[1])
        await user.call("pty_keys", **stop)
        wait = json.loads(re.search(r"pty_wait_for (\{.*?\})", refused.value.text)[1])
        assert (await user.call("pty_wait_for", **wait))["matched"]


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "words"),
    [
        ("pty_keys", {"keys": ["Ctrl+Cc"]}, "bad_input", "pty_send types text"),
        ("pty_keys", {}, "validation", "keys"),
        ("pty_exec_block", {"command": 5}, "validation", "command"),
        ("pty_exec_block", {"command": "ls", "cwd": "/no/such/place"}, "bad_input", "cwd"),
        ("pty_wait_for", {"match": {"screan": "x"}}, "bad_input", "Did you mean 'screen'"),
        ("pty_wait_for", {"match": "(", "regex": True}, "bad_input", "RE2"),
        ("pty_wait_for", {"match": "x", "from_cursor": 10**9}, "bad_input", "cursor"),
        ("pty_wait_for", {"match": "x", "timeout_ms": "soon"}, "validation", "timeout_ms"),
        ("pty_read_block", {"block_id": "b99"}, "not_found", "The last one is b1"),
        ("pty_end_session", {"session_id": "s-none"}, "not_found", "pty_exec_interactive"),
        ("pty_send", {"data": "x", "session_id": "s-none"}, "not_found", "pty_exec_interactive"),
        ("pty_send", {}, "bad_input", "data"),
        ("pty_status", {"conversation_id": "../etc"}, "bad_input", "letters, digits"),
        ("pty_status", {"conversation_id": 7}, "bad_input", "conversation_id"),
        ("timeline_emit", {"events": [{"type": "screen_delta"}]}, "bad_input", "screen_delta"),
    ],
)
async def test_errors_say_what_was_wrong_and_the_way_out(server, tool, arguments, code, words):
    async with agent(server) as user:
        await user.call("pty_exec_block", command="true")
        with pytest.raises(Refused) as refused:
            await user.call(tool, **arguments)
        assert refused.value.code == code
        assert refused.value.text.startswith(f"{code}: ")
        assert words in refused.value.text


async def test_an_unknown_tool_is_refused(server):
    async with agent(server) as user:
        with pytest.raises(MCPError, match="Did you mean 'pty_exec_block'"):
            await user.call("pty_exec_blok", command="ls")


async def test_common_mistakes_of_models_are_understood(server):
    async with agent(server) as user:
        ran = await user.call("pty_exec_block", command="echo x", cwd=None, session="s")
        assert "'session' is not known here" in ran["note"]
        await user.call("pty_wait_for", match='{"prompt": true}')
        await user.call("pty_keys", keys='["e", "c", "h", "o", "Space", "y", "Enter"]')
        assert (await user.call("pty_wait_for", match={"regex": "^y$"}, from_cursor=ran["cursor"]))["matched"]


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES.keys())
@pytest.mark.parametrize("carrier", CARRIERS)
async def test_a_wait_that_is_given_up_ends(server, carrier, mode):
    """Else it would move the cursor when what it waited for comes at last."""
    async with agent(server, carrier, mode=mode) as user:
        await user.call("pty_exec_interactive", command="read -r _; echo nee''dle")
        with anyio.move_on_after(0.3):
            await user.call("pty_wait_for", match="needle")
        await user.call("pty_enter")
        while (await user.call("pty_status"))["mode"] != "idle":
            pass
        assert (await user.call("pty_wait_for", match="needle", timeout_ms=0))["matched"]


@pytest.fixture(scope="module")
def short_of_patience(tmp_path_factory):
    """A server whose calls wait four seconds at most."""
    with serving(tmp_path_factory.mktemp("home"), VANTAGE_MCP_WAIT="4") as running:
        yield running


@pytest.mark.parametrize(("carrier", "mode"), [("stdio", MODES["before"]), ("http", MODES["now"])])
async def test_a_long_wait_is_several_short_calls(short_of_patience, carrier, mode):
    heard, fifo = [], short_of_patience.home / f"fifo-{carrier}"

    async def progress(done, total, message):
        heard.append((done, total, message))

    async with agent(short_of_patience, carrier, mode=mode) as user:
        command = f"mkfifo {fifo}; read -r line < {fifo}; echo got $line"
        begun = await user.call("pty_exec_interactive", command=command)
        waited = await user.call("pty_wait_for", progress, match="got it", timeout_ms=600_000)
        assert not waited["matched"]
        assert waited["reason"] == "timeout"
        assert waited["cursor"] == begun["cursor"]
        assert f"from_cursor={begun['cursor']}" in waited["note"]
        assert heard[0] == (3, 4, "waiting, 3 of 4 s")
        fifo.write_text("it\n")
        assert (await user.call("pty_wait_for", match="got it", from_cursor=waited["cursor"]))["matched"]


@pytest.mark.parametrize("carrier", CARRIERS)
async def test_a_command_that_asks_returns_at_the_question(server, carrier):
    async with agent(server, carrier) as user:
        asked = await user.call("pty_exec_block", command="read -p 'Name: ' name; echo Hello $name", timeout_ms=60_000)
        assert (asked["running"], asked["awaiting"], asked["prompt"]) == (True, "line", "Name:")
        assert asked["because"] | {"pid": 0} == {
            "process": "bash",
            "pid": 0,
            "call": "read",
            "echo": True,
            "canonical": True,
        }
        assert "awaiting line" in user.text
        assert "pty_send" in asked["note"]
        status = await user.call("pty_status")
        assert (status["awaiting"], status["prompt"]) == ("line", "Name:")
        assert "pty_send" in status["note"]
        await user.call("pty_send", data="Ada\n")
        assert (await user.call("pty_wait_for", match="Hello Ada"))["matched"]
        assert "awaiting" not in await user.call("pty_wait_for", match="PROMPT")


async def test_a_wait_returns_when_the_program_asks_for_something_else(server):
    async with agent(server) as user:
        await user.call("pty_exec_interactive", command=ASK)
        asked = await user.call("pty_wait_for", match="got", timeout_ms=60_000)
        assert (asked["matched"], asked["reason"], asked["awaiting"]) == (False, "awaiting", "secret")
        assert asked["awaiting_secret"]
        assert "secret=true" in asked["note"]
        await user.call("pty_keys", keys=["C-c"])
        await user.call("pty_wait_for", match="PROMPT")
        await user.call("pty_exec_interactive", command="vim -u NONE -N")
        shown = await user.call("pty_wait_for", match="never", timeout_ms=60_000)
        assert (shown["awaiting"], "VIM - Vi IMproved" in shown["screen"]) == ("key", True)
        await user.call("pty_send", data=":q!\r")


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES.keys())
async def test_over_http_a_terminal_is_made_and_said(server, mode):
    async with over_http(server, mode=mode) as user:
        first = await user.call("pty_exec_block", command="x=kept")
        conversation = first["conversation_id"]
        try:
            assert first["watch"] == server.url
            again = await user.call("pty_exec_block", command="echo $x", conversation_id=conversation)
            assert again["output"] == "kept\n"
            assert "conversation_id" not in again, "the call named it"
            if mode == "legacy":  # there the protocol has sessions
                assert (await user.call("pty_exec_block", command="echo $x"))["output"] == "kept\n"
            else:
                assert f'conversation_id="{conversation}"' in first["note"]
        finally:
            server.ask("DELETE", f"/v1/conversations/{conversation}")


async def test_an_unknown_conversation_id_creates_a_conversation(server):
    async with over_http(server) as user:
        try:
            made = await user.call("pty_exec_block", command="echo here", conversation_id="made-by-name")
            assert made["output"] == "here\n"
            assert server.get("/v1/conversations/made-by-name").status == 200
        finally:
            server.ask("DELETE", "/v1/conversations/made-by-name")


async def test_a_read_only_token_can_use_the_reading_tools(server):
    with server.conversation(env=environment()) as conversation:
        server.pty(conversation, "exec_block", command="echo visible")
        async with over_http(server, f"?tools=all&conversation={conversation}", token=read_only(server)) as watcher:
            assert "visible" in (await watcher.call("pty_read_screen"))["text"].splitlines()
            with pytest.raises(Refused) as refused:
                await watcher.call("pty_exec_block", command="true")
            assert refused.value.code == "read_only"
            with pytest.raises(Refused) as refused:
                await watcher.call("pty_status", conversation_id="not-there")
            assert refused.value.code == "not_found"
        async with over_http(server, token=read_only(server)) as watcher:
            with pytest.raises(Refused) as refused:
                await watcher.call("pty_status")
            assert "conversation_id" in refused.value.text
    assert server.get("/v1/conversations/not-there").status == 404


@pytest.mark.parametrize("carrier", CARRIERS)
async def test_the_display_is_a_resource_and_a_prompt(server, carrier):
    async with agent(server, carrier) as user:
        await user.call("pty_exec_block", command="echo on the screen")
        client = user.client
        resources = (await client.list_resources()).resources
        assert [str(each.uri).rpartition("/")[2] for each in resources] == ["display", "screen"]
        display, screen = [(await client.read_resource(each.uri)).contents[0].text for each in resources]
        assert display.startswith("## Display Context")
        assert "on the screen" in screen
        templates = (await client.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == [
            "vantage://conversations/{conversation_id}/display",
            "vantage://conversations/{conversation_id}/screen",
        ]
        assert [each.name for each in (await client.list_prompts()).prompts] == ["display"]
        assert (await client.get_prompt("display")).messages[0].content.text == display
        with pytest.raises(MCPError, match="vantage://conversations/<id>/display"):
            await client.read_resource("vantage://elsewhere")
        with pytest.raises(MCPError, match="'display'"):
            await client.get_prompt("dispaly")


async def test_the_display_instruction_follows_the_watching_clients(server):
    with server.conversation() as conversation:
        phone = {"terminal_width": 38, "presentation": {"supports_tables": False}}
        assert server.ask("PUT", f"/v1/conversations/{conversation}/clients/phone", phone).status == 200
        async with over_http(server, f"?tools=all&conversation={conversation}") as user:
            assert "38 characters" in (await user.call("display_context"))["text"]


async def test_a_person_has_the_keyboard(server):
    async with agent(server) as user:
        conversation = (await user.call("pty_exec_block", command="true"))["conversation_id"]
        from websockets.asyncio.client import connect

        url = server.url.replace("http", "ws")
        headers = {"Authorization": f"Bearer {server.token}"}
        async with connect(f"{url}/v1/ws", additional_headers=headers) as socket:
            await socket.send(json.dumps({"type": "hello", "client_id": "person"}))
            await socket.send(json.dumps({"type": "subscribe", "conversation_id": conversation}))
            await socket.send(json.dumps({"type": "take_keyboard", "conversation_id": conversation}))
            async with asyncio.timeout(30):
                async for message in socket:
                    said = json.loads(message)
                    if said["type"] == "pty_state" and said["keyboard"] != "agent":
                        break
            with pytest.raises(Refused) as refused:
                await user.call("pty_exec_block", command="true")
            assert refused.value.code == "keyboard_taken"
            assert "pty_status" in refused.value.text
            assert "person" in (await user.call("pty_status"))["note"]
