"""Input that comes between a command's end and the next prompt: it waits for the prompt, and a Ctrl-C does not."""

import asyncio
import re
import time

import pytest

from socket_client import serving_here
from terminal_home import PATIENCE, agent_terminal, environment
from vantage.conversation.verbs.terminal import held_input
from vantage.errors import Busy, Conflict

WAITS = "while test -e slow; sleep 0.02; end"
SLOW_PROMPTS = {
    "bash": "PROMPT_COMMAND='while test -e slow; do sleep 0.02; done'",
    "zsh": "precmd() { while test -e slow; do sleep 0.02; done }",
    "fish": f"functions -c fish_prompt shown; function fish_prompt; {WAITS}; shown; end",
}
"""Prompts that come when the file `slow` has gone. sh tells of a command's end with its prompt."""
KINDS = ("bash", "zsh", "fish", "sh")


async def between_prompts(t, home, kind):
    """A shell whose command has ended and whose prompt has not come."""
    await t.exec_block(SLOW_PROMPTS[kind])
    assert await t.live.waiters.until(lambda: t.live.state.phase == "idle", 30)
    (home / "slow").touch()
    await t.exec_block("true")
    assert t.live.state.phase == "prompting"


async def held(t, work):
    """Input that waits for the prompt."""
    before = t.pty.held.holds
    task = asyncio.create_task(work)
    async with asyncio.timeout(PATIENCE):
        while t.pty.held.holds is before:
            assert not task.done(), task
            await asyncio.sleep(0.01)
    return task


@pytest.fixture
def patient(monkeypatch):
    """Input is held until the test lets the prompt come, however slow the machine is."""
    monkeypatch.setattr(held_input, "HOLD_S", 2 * PATIENCE)


@pytest.mark.parametrize("kind", SLOW_PROMPTS)
async def test_ctrl_d_before_the_prompt_ends_the_shell(private_home, patient, kind):
    """The terminal is canonical until the line editor comes: a Ctrl-D typed before that would be lost."""
    async with agent_terminal(private_home, shell=kind) as t:
        await between_prompts(t, private_home, kind)
        leaving = await held(t, t.ctrl_d())
        (private_home / "slow").unlink()
        await leaving
        assert await t.live.waiters.until(lambda: not t.live.alive, 30), await t.read_screen()


@pytest.mark.parametrize("kind", KINDS)
async def test_ctrl_d_after_a_line_that_was_typed(home, kind):
    """It is for what the line starts, and when that has ended, for the shell."""
    async with agent_terminal(home, shell=kind) as t:
        await t.exec_block("true")
        await t.send("cat; echo after\n")
        cursor = (await t.ctrl_d()).cursor
        assert (await t.wait_for("^after$", regex=True, from_cursor=cursor)).matched
        assert t.live.alive
        await t.wait_for({"prompt": True})
        await t.send("true\n")
        await t.ctrl_d()
        assert await t.live.waiters.until(lambda: not t.live.alive, 30), await t.read_screen()


UNTIL_GONE = {"fish": WAITS}
"""A command that runs until the file `slow` has gone and reads nothing."""


@pytest.mark.parametrize("kind", KINDS)
async def test_ctrl_d_for_a_command_that_ends_without_reading_it(private_home, patient, kind):
    """It is for the shell: the terminal, canonical while the command runs, would give the line editor a NUL instead."""
    (private_home / "slow").touch()
    async with agent_terminal(private_home, shell=kind) as t:
        await t.exec_interactive(UNTIL_GONE.get(kind, "while test -e slow; do sleep 0.02; done"))
        leaving = asyncio.create_task(t.ctrl_d())
        await t.wait_for({"foreground": "sleep"})
        (private_home / "slow").unlink()
        assert not (await leaving).note
        assert await t.live.waiters.until(lambda: not t.live.alive, 30), await t.read_screen()


@pytest.mark.parametrize("kind", KINDS)
async def test_ctrl_d_for_a_command_that_does_not_read_is_typed_after_a_while(home, kind):
    async with agent_terminal(home, shell=kind) as t:
        await t.exec_interactive("sleep 1000")
        assert "no program read its input within 2 s" in (await t.ctrl_d()).note
        await t.ctrl_c()
        await t.wait_for("PROMPT")
        assert (await t.exec_block("echo on")).output == "on\n"


@pytest.mark.parametrize("kind", KINDS)
async def test_two_ctrl_d_end_the_program_and_then_the_shell(home, kind):
    async with agent_terminal(home, shell=kind) as t:
        await t.exec_interactive("cat")
        await t.ctrl_d()
        await t.ctrl_d()
        assert await t.live.waiters.until(lambda: not t.live.alive, 30), await t.read_screen()


@pytest.mark.parametrize("kind", ["bash", "zsh"])
async def test_text_before_the_prompt_is_typed_at_the_prompt(private_home, patient, kind):
    async with agent_terminal(private_home, shell=kind) as t:
        await between_prompts(t, private_home, kind)
        typing = await held(t, t.send("echo 4''2\n"))
        (private_home / "slow").unlink()
        cursor = (await typing).cursor
        assert (await t.wait_for("^\r?42$", regex=True, from_cursor=cursor)).matched
        shown = (await t.read_spool(from_cursor=cursor, max_bytes=1 << 16)).text
        assert len(re.findall("cho 4''2", shown)) == 1, "echoed by the terminal, and again by the line editor"


async def test_a_prompt_that_does_not_come(private_home):
    """Input is held for two seconds, once for a prompt; then it is typed, and the caller is told."""
    async with agent_terminal(private_home) as t:
        await between_prompts(t, private_home, "bash")
        began = time.monotonic()
        cursor = (typed := await t.send("echo")).cursor
        assert "no prompt within 2 s" in typed.note
        assert "no prompt within 2 s" in (await t.send(" early\n")).note
        assert time.monotonic() - began > 1.9
        (private_home / "slow").unlink()
        assert (await t.wait_for("^\r?early$", regex=True, from_cursor=cursor)).matched


async def test_ctrl_c_is_not_held_and_drops_what_is(private_home, patient):
    async with agent_terminal(private_home) as t:
        await between_prompts(t, private_home, "bash")
        typing = await held(t, t.send("echo held\n"))
        await t.ctrl_c()
        assert t.live.state.phase == "prompting"
        with pytest.raises(Conflict, match="Ctrl-C came"):
            await typing
        (private_home / "slow").unlink()
        assert (await t.exec_block("echo on")).output == "on\n"
        assert "held" not in (await t.read_spool(from_cursor=0, max_bytes=1 << 16)).text


async def test_input_before_the_first_prompt(home, patient, tmp_path):
    """The shell still reads its rc file."""
    (tmp_path / ".bashrc").write_text("until [ -e ~/go ]; do sleep 0.02; done\n")
    async with agent_terminal(home, env=environment(HOME=str(tmp_path)), user_rc=True) as t:
        starting = asyncio.create_task(t.reset())
        assert await t.live.waiters.until(lambda: t.live.state.phase == "starting", 30)
        leaving = await held(t, t.ctrl_d())
        (tmp_path / "go").touch()
        await leaving
        assert await t.live.waiters.until(lambda: not t.live.alive, 30)
        await starting


@pytest.mark.parametrize("interrupt", [{"data": "\x03"}, {"keys": ["C-c"]}], ids=["data", "keys"])
async def test_ctrl_c_on_a_socket_overtakes_the_input_before_it(private_home, monkeypatch, interrupt):
    """All of it comes from one client, on one socket. What is held is dropped and said; messages stay in order."""
    monkeypatch.setattr(held_input, "HOLD_S", 600)
    async with serving_here(private_home) as here:
        conversation = here.manager.create("c", cwd=str(private_home), env=environment(), user_rc=False)
        async with here.socket("ada") as ada:
            await ada.watch("c")
            await between_prompts(conversation.terminal, private_home, "bash")
            await ada.say("take_keyboard", "c")
            await ada.state("c", keyboard="client:ada")
            for number in range(3):
                await ada.say("input", "c", data=f"echo held {number}\r")
            await ada.say("input", "c", **interrupt)
            await ada.say("ping", id="after")
            await ada.until(lambda message: message["type"] == "pong")
            assert [(error["code"], error["about"]) for error in ada.errors] == [("conflict", "input")] * 3
            assert "Ctrl-C came" in ada.errors[0]["message"]
            (private_home / "slow").unlink()
            await ada.say("release_keyboard", "c")
            await ada.state("c", keyboard="agent")
        assert (await conversation.terminal.exec_block("echo on")).output == "on\n"
        assert "held" not in (await conversation.terminal.read_spool(from_cursor=0, max_bytes=1 << 16)).text


async def test_ctrl_c_on_a_socket_comes_after_the_input_that_can_be_typed(private_home):
    """Nothing is held, so the order is kept. The program reads single keys, the Ctrl-C too."""
    async with serving_here(private_home) as here:
        conversation = here.manager.create("c", cwd=str(private_home), env=environment(), user_rc=False)
        async with here.socket("ada") as ada:
            await ada.watch("c", "screen")
            await conversation.terminal.exec_interactive("stty raw -echo; echo ready; head -c 4 | od -An -tx1")
            await conversation.terminal.wait_for("ready")
            await ada.say("take_keyboard", "c")
            for key in "ab\x03c":
                await ada.say("input", "c", data=key)
            await ada.on_screen("c", "61 62 03 63")
            assert not ada.errors


@pytest.mark.parametrize("kind", KINDS)
async def test_a_line_and_its_end_typed_as_soon_as_the_program_starts(home, kind):
    """In fish a command is said to begin before the editor has left: an Enter typed then ended no line."""
    async with agent_terminal(home, shell=kind) as t:
        for number in range(15):
            started = await t.exec_interactive("cat")
            await t.send(f"line {number}\r")
            await t.ctrl_d()
            assert (await t.wait_for("EOF", session_id=started.session_id, timeout_ms=30_000)).matched
            assert (await t.read_block(started.block_id)).output == f"line {number}\n" * 2


@pytest.mark.parametrize("kind", ["bash", "zsh", "sh"])
async def test_a_command_after_an_interrupt_that_came_too_late(home, kind):
    """A Ctrl-C for a typed command that has just ended is for the prompt after it: the next command waits for that."""
    async with agent_terminal(home, shell=kind) as t:
        for number in range(12):
            await t.exec_block("true")
            await t.send("echo sent\r")
            await t.ctrl_c()
            ran = None
            while ran is None:
                try:
                    ran = await t.exec_block(f"echo {number}")
                except Busy:
                    await t.wait_for("PROMPT")
            assert (ran.output, ran.exit_code) == (f"{number}\n", 0)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_command_right_after_a_ctrl_s_was_typed(home, kind):
    """In sh the Ctrl-S stops the output: it may reach the terminal's line discipline after the command does."""
    async with agent_terminal(home, shell=kind) as t:
        await t.exec_block("true")
        for number in range(10):
            await t.send("\x13")
            ran = await t.exec_block(f"echo {number}")
            assert (ran.output, ran.exit_code) == (f"{number}\n", 0)
