"""Every command gets its exit code and its own output, whatever was done to the shell before: see shell_situations."""

import asyncio
import re

import pytest

from shell_situations import SITUATIONS, UNFINISHED, Situation
from terminal_home import agent_terminal, environment
from vantage.conversation.manager import Manager
from vantage.errors import VantageError

PLUMBING = re.compile(r"(?<!in function ')__vantage|\]133;|aid=|520[0-6]~|/run/c-")
AT_ONCE = 4
AFTER = ("echo on; sh -c 'exit 4'", "on\n", 4)


def _matches(expected, output):
    if isinstance(expected, re.Pattern):
        return expected.fullmatch(output) is not None
    return expected is None or expected == output


async def _went_wrong(t, situation: Situation) -> list[str]:
    """The differences from the expected outputs and exit codes, as text."""
    wrong = []
    for command, output, code in (*situation.steps, situation.probe, situation.probe):
        try:
            ran = await t.exec_block(command)
        except VantageError as error:
            return [*wrong, f"{command[:60]!r}: {error}; {error.hint}"]
        if ran.running:
            return [*wrong, f"{command[:60]!r} does not end"]
        if not _matches(output, ran.output):
            wrong.append(f"{command[:60]!r} printed {ran.output!r}, expected {output!r}")
        if code is not None and ran.exit_code != code:
            wrong.append(f"{command[:60]!r} ended with {ran.exit_code} ({ran.done_because}), expected {code}")
        if ran.note:
            wrong.append(f"{command[:60]!r}: {ran.note}")
    seen = (line for line in (await t.read_spool()).text.split("\n") if PLUMBING.search(line))
    typed = " ".join(step.command for step in situation.steps)
    return wrong + [f"our plumbing is seen: {line!r}" for line in seen if PLUMBING.search(line).group() not in typed]


@pytest.mark.parametrize("kind", list(SITUATIONS))
async def test_situations(home, kind, tmp_path):
    """Each in a shell of its own, some at once."""
    wrong = {}
    turns = asyncio.Semaphore(AT_ONCE)

    async def try_out(manager, number, name, situation):
        async with turns:
            place = tmp_path / str(number)
            place.mkdir()
            conversation = manager.create(shell=kind, env=environment(), user_rc=False, cwd=str(place))
            try:
                if went := await _went_wrong(conversation.terminal, situation):
                    wrong[name] = went
            finally:
                await manager.delete(conversation.id)

    async with Manager(home) as manager, asyncio.TaskGroup() as group:
        for number, (name, situation) in enumerate(SITUATIONS[kind].items()):
            group.create_task(try_out(manager, number, name, situation))
    assert not wrong, "\n".join(f"{name}: {went}" for name, went in wrong.items())


@pytest.mark.parametrize("kind", list(UNFINISHED))
async def test_commands_without_an_end(home, kind):
    wrong = {}
    async with agent_terminal(home, shell=kind) as t:
        for command in UNFINISHED[kind]:
            ran = await t.exec_block(command)
            after = await t.exec_block(AFTER[0])
            if (ran.done_because, ran.exit_code) != ("incomplete", None) or (after.output, after.exit_code) != AFTER[
                1:
            ]:
                wrong[command] = (ran.done_because, ran.exit_code, ran.output, after.output, after.exit_code)
    assert not wrong, "\n".join(f"{name}: {went}" for name, went in wrong.items())


KEYS = {"C-z": 148, "C-\\": 131, "C-c": 130}


@pytest.mark.parametrize("kind", list(SITUATIONS))
async def test_keys_that_stop_or_end_a_command(home, kind):
    async with agent_terminal(home, shell=kind) as t:
        for key, code in KEYS.items():
            for begin in (t.exec_interactive, lambda command: t.exec_block(command, timeout_ms=0)):
                started = await begin("sh -c 'ulimit -c 0; echo up; exec sleep 100'")
                assert (await t.wait_for("up\n", from_cursor=started.cursor)).matched
                await t.keys([key])
                assert (await t.wait_for("PROMPT", from_cursor=started.cursor)).matched
                block = (await t.read_block(started.block_id)).block
                assert (key, block.exit_code, block.done_because) == (key, code, "mark")
        ran = await t.exec_block(AFTER[0])
        assert (ran.output, ran.exit_code) == AFTER[1:]


@pytest.mark.parametrize("kind", list(SITUATIONS))
@pytest.mark.parametrize("inner", ["bash --norc", "zsh -f", "fish --no-config", "dash"])
async def test_a_nested_shell_gives_its_own_code(home, kind, inner):
    async with agent_terminal(home, shell=kind) as t:
        started = await t.exec_interactive(inner)
        await t.send("sh -c 'exit 7'; echo in''side\r")
        assert (await t.wait_for("inside\n", from_cursor=started.cursor)).matched
        await t.send("exit 3\r")
        assert (await t.wait_for("EOF", session_id=started.session_id)).matched
        block = (await t.read_block(started.block_id)).block
        assert (block.exit_code, block.done_because) == (3, "mark")
        ran = await t.exec_block(AFTER[0])
        assert (ran.output, ran.exit_code) == AFTER[1:]
