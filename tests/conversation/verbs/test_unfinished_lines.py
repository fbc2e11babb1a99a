"""A command runs alone, whatever was typed at the prompt before it and not finished."""

import pytest

from terminal_home import agent_terminal

SHELLS = ("bash", "zsh", "fish", "sh")
PROBE, PRINTED = "echo on; sh -c 'exit 4'", ("on\n", 4)
AT_PROMPT = {
    "half a command": "echo half",
    "a blank": " ",
    "an Escape": "\x1b",
    "half a key sequence": "\x18",
    "a quoted key": "\x16",
    "a search": "\x12fir",
    "a completion that asks": "\t\t",
    "an open quote": "echo 'a\n",
    "an open heredoc": "cat <<X\nb\n",
    "an open block": "if true\n",
    "a line that goes on": "echo a \\\n",
    "characters of many bytes": "żółć 漢",
}
"""What was typed."""
LEFT_UNREAD = {
    "half a word": "ab",
    "an Escape": "\x1b",
    "a quoted key": "\x16",
    "a Ctrl-C": "\x03",
    "a search": "\x12fir",
}
"""What was typed for a program that ends without reading."""


async def _commands(t):
    return [block.cmd for block in (await t.blocks()).blocks]


@pytest.mark.parametrize("kind", SHELLS)
async def test_a_command_after_keys_at_the_prompt(home, kind):
    wrong = {}
    for name, typed in AT_PROMPT.items():
        async with agent_terminal(home, shell=kind) as t:
            await t.exec_block("echo first")
            await t.send(typed)
            ran = await t.exec_block(PROBE)
            again = await t.exec_block(PROBE)
            commands = await _commands(t)
        seen = ((ran.output, ran.exit_code), (again.output, again.exit_code), commands)
        if seen != (PRINTED, PRINTED, ["echo first", PROBE, PROBE]):
            wrong[name] = seen
    assert not wrong


@pytest.mark.parametrize("settings", ["stty raw -echo", "stty -icanon", "stty echo"])
@pytest.mark.parametrize("kind", SHELLS)
async def test_a_command_after_input_that_a_program_did_not_read(home, kind, settings):
    wrong = {}
    for name, typed in LEFT_UNREAD.items():
        if (name, settings) == ("a Ctrl-C", "stty echo"):
            continue  # there it ends the program
        async with agent_terminal(home, shell=kind) as t:
            command = f"{settings}; echo begun; sleep 0.3; stty sane; true"
            await t.exec_block(command, wait_for={"regex": "begun"})
            await t.send(typed)
            await t.wait_for("PROMPT")
            ran = await t.exec_block(PROBE)
            again = await t.exec_block(PROBE)
            commands = await _commands(t)
        seen = ((ran.output, ran.exit_code), (again.output, again.exit_code), commands)
        if seen != (PRINTED, PRINTED, [command, PROBE, PROBE]):
            wrong[name] = seen
    assert not wrong


@pytest.mark.parametrize("kind", SHELLS)
async def test_a_command_after_a_program_that_was_ended_in_raw_mode(home, kind):
    async with agent_terminal(home, shell=kind) as t:
        ran = await t.exec_block("stty raw -echo; echo begun; sleep 300", wait_for="begun")
        ended = await t.end_session()
        assert ended.how == "terminate", ran
        for _ in range(2):
            ran = await t.exec_block(PROBE)
            assert (ran.output, ran.exit_code) == PRINTED


@pytest.mark.parametrize("kind", SHELLS)
async def test_lines_that_are_finished_run(home, kind):
    """What was typed with its Enter is not interrupted, nor is what comes in parts."""
    async with agent_terminal(home, shell=kind) as t:
        await t.exec_block("echo first")
        for part in ("echo o", "ne-$(", "echo 1"):
            await t.send(part)
        await t.send(")\n", wait_for="PROMPT")
        ran = await t.exec_block("echo two")
        assert ran.output == "two\n"
        await t.send("three")
        await t.ctrl_c()
        ran = await t.exec_block("echo four")
        assert ran.output == "four\n"
        text = (await t.read_spool()).text
        assert "one-1\n" in text, text
        assert "three" not in await _commands(t)
