"""Terminal settings that a command leaves behind do not break the next command."""

import os

import pytest

from terminal_home import agent_terminal

KINDS = ("bash", "zsh", "fish", "sh")
RAW = 'python3 -c "import os, tty; tty.setraw(0); os.{end}"'
LEFT = {
    "raw mode, killed": RAW.format(end="kill(os.getpid(), 9)"),
    "raw mode, failed": RAW.format(end="_exit(3)"),
    "raw mode": RAW.format(end="_exit(0)"),
    "no echo, failed": "sh -c 'stty -echo; exit 1'",
    "no signals": "stty -isig",
    "no signals, no whole lines": "stty -isig -icanon",
}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.mark.parametrize("name", LEFT)
async def test_the_next_command_runs(home, kind, name):
    async with agent_terminal(home, shell=kind) as t:
        left = await t.exec_block(LEFT[name], timeout_ms=20_000)
        assert left.running is False
        ran = await t.exec_block("echo on", timeout_ms=20_000)
        assert (ran.output.replace("\r", ""), ran.exit_code) == ("on\n", 0)
        assert ran.ts_begin - (await t.blocks()).blocks[0].ts_end < 10_000, "it waited for something"


DIED = {
    "a program, killed": LEFT["raw mode, killed"],
    "a program, failed": LEFT["raw mode, failed"],
    "no echo, failed": LEFT["no echo, failed"],
    "no signals, failed": "sh -c 'stty -isig intr x; exit 1'",
    "a list, killed": "stty raw -echo; sh -c 'kill -9 $$'",
    "a list, failed": "stty raw -echo; sh -c 'exit 3'",
    "a nested shell, killed": """bash -c 'bash -c "stty raw -echo"; kill -TERM $$'""",
}


async def settings(t):
    return (await t.exec_block("stty -g", timeout_ms=20_000)).output


async def test_a_program_that_died_leaves_nothing_set(home, kind):
    async with agent_terminal(home, shell=kind) as t:
        await t.exec_block("stty intr ^Y")
        before = await settings(t)
        for name, command in DIED.items():
            await t.exec_block(command, timeout_ms=20_000)
            assert (name, await settings(t)) == (name, before)


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish"])
async def test_a_program_killed_within_a_pipeline_leaves_nothing_set(home, kind):
    """Not in sh, which keeps the status of the last program alone."""
    async with agent_terminal(home, shell=kind) as t:
        before = await settings(t)
        ran = await t.exec_block("sh -c 'stty raw -echo </dev/tty; kill -9 $$' | cat")
        assert (ran.exit_code, await settings(t)) == (0, before)


RAW_CAT = "stty raw -echo; printf 'rea''dy'; cat >/dev/null"


@pytest.mark.parametrize("then", ["", "; true"], ids=["last", "more follows"])
async def test_a_program_that_was_ended_leaves_nothing_set(home, kind, then):
    async with agent_terminal(home, shell=kind) as t:
        before = await settings(t)
        await t.exec_interactive(RAW_CAT + then, wait_for="ready")
        assert (await t.end_session(force=True)).how in ("terminate", "kill")  # a busy machine may take its time
        assert await settings(t) == before
        session = await t.exec_interactive("sh -c 'echo be''gun; exec sleep 1000'", wait_for="begun")
        await t.keys("C-c")
        assert (await t.wait_for("EOF", session_id=session.session_id)).matched
        assert (await t.read_block(session.block_id)).block.exit_code == 130


async def test_a_block_that_was_ended_politely_leaves_nothing_set(home):
    async with agent_terminal(home) as t:
        before = await settings(t)
        await t.exec_block(RAW_CAT, wait_for="ready")
        await t.end_session()
        assert await settings(t) == before


async def test_what_a_command_sets_on_purpose_stays(home, kind):
    async with agent_terminal(home, shell=kind) as t:
        before = await settings(t)
        await t.exec_block("stty intr ^Y -echoctl")
        chosen = await settings(t)
        assert chosen != before
        for command in ("true", "sh -c 'exit 3'", "sh -c 'kill -9 $$'"):
            await t.exec_block(command)
            assert (command, await settings(t)) == (command, chosen)


async def test_a_job_that_fails_in_the_background_takes_nothing_from_a_program(home, kind, tmp_path):
    """Its settings are what the program in the foreground has set."""
    os.mkfifo(tmp_path / "go")
    async with agent_terminal(home, shell=kind, cwd=str(tmp_path)) as t:
        await t.exec_block("sh -c 'read x <go; echo ov''er; exit 3' &")
        shown = "sh -c 'stty raw -echo; echo be''gun; head -c 1 >/dev/null; stty -a; stty sane'"
        session = await t.exec_interactive(shown, wait_for="begun")
        (tmp_path / "go").write_text("on\n")
        assert (await t.wait_for("over", from_cursor=session.cursor)).matched
        await t.send("x", wait_for="EOF")
        words = (await t.read_block(session.block_id)).output.split()
        assert {"-isig", "-icanon", "-echo"} <= set(words)


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish"])
async def test_a_failed_command_takes_nothing_else_back(home, kind):
    async with agent_terminal(home, shell=kind) as t:
        await t.exec_block("stty intr x")
        await t.exec_block("false")
        assert "intr = x" in (await t.exec_block("stty -a")).output


async def test_stopped_output_continues_with_the_next_command(home, kind):
    """Ctrl-S at the prompt, and while a command runs."""
    async with agent_terminal(home, shell=kind) as t:
        await t.exec_block("true")
        await t.live.waiters.until(lambda: t.live.state.phase == "idle", 30)
        await t.keys("C-s")
        assert (await t.exec_block("echo on")).output.endswith("on\n")


async def test_ctrl_c_without_signals_from_the_keyboard(home, kind):
    """In a shell that reads whole lines it would become a part of the next one."""
    async with agent_terminal(home, shell=kind) as t:
        await t.exec_block("stty -isig")
        await t.ctrl_c()
        ran = await t.exec_block("echo on", timeout_ms=20_000)
        assert (ran.output, ran.exit_code) == ("on\n", 0)


async def test_a_ctrl_c_waits_for_the_prompt_of_the_one_before(home, tmp_path):
    """A shell that gets the second one while it makes the prompt of the first may keep it for the next command."""
    prompts = tmp_path / "prompts"
    async with agent_terminal(home, shell="bash") as t:
        await t.exec_block(f"PROMPT_COMMAND='sleep 0.3; echo >> {prompts}'")
        await t.live.waiters.until(lambda: t.live.state.phase == "idle", 30)
        made = len(prompts.read_text())
        await t.ctrl_c()
        await t.ctrl_c()
        assert len(prompts.read_text()) > made, "the second one interrupted the making of the prompt"
        assert (await t.exec_block("echo on")).output == "on\n"


FULL_SCREEN = r"printf '\033[?1049h\033[?25l\033[2J\033[Hfu''ll'; {end}"


async def test_a_program_that_died_leaves_its_alternate_screen(home, kind):
    async with agent_terminal(home, shell=kind) as t:
        await t.exec_block("echo before")
        for end in ("sh -c 'kill -9 $$'", "sh -c 'exit 3'"):
            await t.exec_block(FULL_SCREEN.format(end=end), timeout_ms=20_000)
            seen = await t.read_screen()
            assert (seen.alt_screen, seen.cursor.visible, "before" in seen.text) == (False, True, True)
        await t.exec_interactive(FULL_SCREEN.format(end="cat; true"), wait_for={"screen": "full"})
        await t.end_session(force=True)
        assert not (await t.status()).alt_screen
        typed = await t.send("echo a''fter\n", wait_for="after")
        assert (typed.screen, "after" in typed.tail.splitlines()) == (None, True)


async def test_an_alternate_screen_that_a_command_asks_for_stays(home):
    async with agent_terminal(home) as t:
        await t.exec_block(FULL_SCREEN.format(end="true"))
        await t.exec_block("false")
        assert (await t.read_screen()).alt_screen
