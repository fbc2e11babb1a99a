"""A shell whose hooks cannot run any more: its command ends soon, the next one is refused, and `reset` helps."""

import pytest

from terminal_home import agent_terminal
from vantage.errors import Unavailable

DISABLE = {
    "a restricted bash": ("bash", "set -r"),
    "a restricted zsh": ("zsh", "set -r"),
    "a zsh without free descriptors": ("zsh", "ulimit -n 10"),
    "a bash that another one has replaced": ("bash", "exec bash --norc"),
    "a zsh that a bash has replaced": ("zsh", "exec bash --norc"),
}


@pytest.mark.parametrize(("kind", "command"), DISABLE.values(), ids=DISABLE)
async def test_a_shell_whose_hooks_were_disabled(home, kind, command):
    async with agent_terminal(home, shell=kind) as t:
        ran = await t.exec_block(command)
        assert (ran.running, ran.exit_code, ran.done_because) == (False, None, "lost")
        assert "reset" in ran.note
        with pytest.raises(Unavailable, match="no longer says when a command begins and ends") as refused:
            await t.exec_block("echo on")
        assert "reset" in refused.value.hint
        await t.reset()
        assert (await t.exec_block("echo on")).output == "on\n"


READERS = {"bash": "read -e x; echo got $x", "zsh": "vared -c x; echo got $x", "fish": "read x; echo got $x"}


@pytest.mark.parametrize("kind", READERS)
async def test_a_command_that_reads_with_the_line_editor_is_left_alone(home, kind):
    """The shell answers that it reads, so it is not taken for one without hooks."""
    async with agent_terminal(home, shell=kind) as t:
        started = await t.exec_interactive(READERS[kind])
        assert await t.live.waiters.until(lambda: t.live.state.pokes_read == 3, 30)
        assert not (await t.wait_for("EOF", session_id=started.session_id, timeout_ms=1500)).matched
        await t.send("abc\n")
        assert (await t.wait_for("EOF", session_id=started.session_id)).matched
        assert "got abc\n" in (await t.read_block(started.block_id)).output
        assert (await t.exec_block("echo on")).output == "on\n"


@pytest.mark.parametrize("cols", [2, 3])
async def test_fish_on_a_terminal_too_narrow_for_a_prompt(home, cols):
    async with agent_terminal(home, shell="fish", cols=cols) as t:
        ran = await t.exec_block("echo on; sh -c 'exit 3'")
        assert (ran.output, ran.exit_code) == ("on\n", 3)
        await t.resize(80, 24)
        assert (await t.exec_block("echo wide")).output == "wide\n"
        await t.resize(cols, 24)
        assert (await t.exec_block("echo narrow")).output == "narrow\n"
