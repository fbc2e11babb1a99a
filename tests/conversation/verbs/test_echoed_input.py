"""A wait that follows an input does not match in its echo: tty, readline, and the line editors of real programs."""

import sys

import pytest

from terminal_home import agent_terminal

WITHIN_MS = 10_000
FISH = "fish --no-config -C 'function fish_prompt; echo -n \"fish> \"; end'"
PROGRAMS = {
    "tty": ("sh -c 'while read -r line; do echo \"<$line>\"; done'", "", "done\n", "done", "<done>"),
    "read": ("read -r -p 'Name: ' name; echo \"Hello $name\"; cat", "Name: ", "Bob\n", "Bob", "Hello Bob"),
    "readline": (f"{sys.executable} -q", ">>> ", "print('do' + 'ne', 'done')\n", "done", "done done"),
    "block": (f"{sys.executable} -q", ">>> ", "for i in (7, 8):\n    print(i + 1)\n\n", "8", "8"),
    "node": ("node", "> ", "'do' + 'ne' // done\n", "done", "'done'"),
    "sqlite": ("sqlite3", "sqlite> ", "select 'do' || 'ne'; -- done\n", "done", "done"),
    "bash": ("PS1='sh> ' bash --norc", "sh> ", "printf '%s\\n' do''ne # done\n", "done", "done"),
    "zsh": ("PS1='zsh> ' zsh -f", "zsh> ", "printf '%s\\n' do''ne 'done'\n", "done", "done"),
    "fish": (FISH, "fish> ", "printf '%s\\n' do''ne done\n", "done", "done"),
}


@pytest.mark.parametrize(("command", "prompt", "typed", "match", "line"), PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("calls", ["one", "two"])
async def test_a_wait_matches_the_answer(home, command, prompt, typed, match, line, calls):
    async with agent_terminal(home) as t:
        begun = await t.exec_interactive(command, wait_for=prompt or {"quiet_ms": 50}, timeout_ms=WITHIN_MS)
        assert begun.matched
        if calls == "one":
            found = await t.send(typed, wait_for=match, timeout_ms=WITHIN_MS)
        else:
            await t.send(typed)
            found = await t.wait_for(match, timeout_ms=WITHIN_MS)
        assert found.matched
        before = (await t.read_spool(begun.cursor)).text.encode()[: found.match_span.start - begun.cursor].decode()
        assert "\n" in before.removeprefix(prompt), "not in the line that was typed"
        assert line.startswith(before.rpartition("\n")[2].lstrip("\r") + match)


async def test_what_the_caller_asks_from_an_earlier_cursor_has_the_echo(home):
    async with agent_terminal(home) as t:
        begun = await t.exec_interactive("echo Ready; cat", wait_for="Ready\n")
        await t.send("done\n", wait_for="done")
        assert (await t.wait_for("Ready\ndone\ndone", from_cursor=begun.cursor - len("Ready\n"))).matched


async def test_an_answer_that_repeats_the_input_is_found(home):
    """The tty echoes it once; the line after is the program's."""
    async with agent_terminal(home) as t:
        await t.exec_interactive("cat")
        said = await t.send("same\n", wait_for={"regex": "^same$"})
        assert said.matched
        assert (await t.read_spool(said.match_span.start - len("same\n"))).text == "same\nsame\n"


async def test_a_match_that_reaches_past_the_echo_is_found(home):
    async with agent_terminal(home) as t:
        await t.exec_interactive("cat")
        assert (await t.send("same\n", wait_for="same\nsame")).matched


async def test_what_is_typed_without_enter_is_no_answer(home):
    async with agent_terminal(home) as t:
        await t.exec_interactive("cat")
        missed = await t.send("half", wait_for={"match": "half", "timeout_ms": 300})
        assert (missed.matched, missed.reason) == (False, "timeout")
        assert (await t.send("\n", wait_for="half")).matched


async def test_a_program_that_does_not_echo_is_not_waited_for(home):
    async with agent_terminal(home) as t:
        await t.exec_interactive(
            "stty -echo -icanon; echo Ready; head -c 4 | tr a-z A-Z; echo; cat", wait_for="Ready\n"
        )
        assert (await t.send("yes!", wait_for="YES!")).matched


async def test_keys_are_echoed_too(home):
    async with agent_terminal(home) as t:
        await t.exec_interactive("read -r -p 'Delete? ' it; echo \"said y: $it\"", wait_for="Delete? ")
        found = await t.keys(["y", "Enter"], wait_for="y")
        assert found.tail.startswith("y\nsaid y: y")
        assert found.match_span.start > found.cursor - 3
        assert (await t.read_spool(found.match_span.start)).text.startswith("y: y")


DOTS = "import sys, time\nwhile True:\n    sys.stdout.write('.')\n    sys.stdout.flush()\n    time.sleep(0.0005)\n"


async def test_what_another_program_prints_at_that_moment_makes_no_answer_of_it(home, tmp_path):
    """The echo of the tty stands behind the dots then."""
    (tmp_path / "dots.py").write_text(DOTS)
    async with agent_terminal(home) as t:
        await t.exec_interactive(f"{sys.executable} {tmp_path}/dots.py & cat > /dev/null", wait_for="...")
        for number in range(20):
            missed = await t.send(f"done {number}\n", wait_for={"match": f"done {number}", "timeout_ms": 30})
            assert not missed.matched
        await t.reset()
