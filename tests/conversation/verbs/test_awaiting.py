"""Calls that return because the program waits for input: when they do, when they do not, and what the host is asked."""

import asyncio

import pytest

from terminal_home import agent_terminal

LONG_MS = 60_000
"""No wait here lasts as long: each is ended by what it waits for, or by the program's question."""
PAUSE_MS = 1_500
"""Long enough for the host to have been asked several times."""


@pytest.fixture
def counted(monkeypatch):
    """Counts what a terminal's host is asked: `counted(t)` is the list of its operations from now on."""

    def count(t):
        asked, ask = [], t.live.link.ask

        async def counting(op, **fields):
            asked.append(op)
            return await ask(op, **fields)

        monkeypatch.setattr(t.live.link, "ask", counting)
        return asked

    return count


@pytest.mark.parametrize(
    ("command", "awaiting", "prompt"),
    [
        ("read -p 'Name: ' name", "line", "Name:"),
        ("python3 -c 'input(\"Age? \")'", "line", "Age?"),
        ("echo Which one; cat", "line", "Which one"),
        ("read -s -p 'Pin: ' pin", "secret", "Pin:"),
        ("read -n 1 -p 'Sure? ' key", "key", "Sure?"),
        ("read -e -p 'Edit: ' line", "line", "Edit:"),
        ("python3 -q -i", "line", ">>>"),
        ("vim -u NONE -N", "key", ""),
        ("cat", "line", ""),
        ("printf '\\n\\n'; cat", "line", ""),
        ("stty raw -echo; cat > /dev/null", "key", ""),
        ("dialog --msgbox 'All done' 8 30", "key", "<  OK  >"),
        ("dialog --inputbox 'Your name' 8 30", "key", "Your name"),
    ],
)
async def test_a_command_returns_at_its_question(home, command, awaiting, prompt):
    async with agent_terminal(home) as t:
        ran = await t.exec_block(command, timeout_ms=LONG_MS)
        assert (ran.running, ran.awaiting, ran.prompt) == (True, awaiting, prompt)
        assert (await t.status()).awaiting == awaiting
        waited = await t.wait_for("never", timeout_ms=LONG_MS)
        assert (waited.matched, waited.reason, waited.awaiting, waited.prompt) == (False, "awaiting", awaiting, prompt)
        assert waited.cursor == ran.cursor


async def test_the_line_of_the_command_is_no_question(home):
    """The answer of a program that reads keys may be overwritten: then its line is empty."""
    async with agent_terminal(home) as t:
        await t.exec_interactive("stty raw -echo; cat", wait_for={"foreground": "cat"})
        typed = await t.send("yes\n", wait_for="never", timeout_ms=LONG_MS)
        assert (typed.awaiting, typed.prompt) == ("key", "")


async def test_each_question_of_a_program_is_told(home):
    async with agent_terminal(home) as t:
        first = await t.exec_block("read -p 'One? ' a; read -s -p 'Two? ' b; echo $a$b", timeout_ms=LONG_MS)
        await t.send("1\n")
        second = await t.wait_for("PROMPT", timeout_ms=LONG_MS)
        await t.send("2\n", secret=True)
        over = await t.wait_for("PROMPT", timeout_ms=LONG_MS)
        assert [first.prompt, second.prompt, over.awaiting] == ["One?", "Two?", None]
        assert (await t.read_block(first.block_id)).output.endswith("12\n")


async def test_a_shell_at_its_prompt_is_not_a_program_that_waits(home, counted):
    async with agent_terminal(home) as t:
        assert (await t.exec_block("true")).awaiting is None
        asked = counted(t)
        waited = await t.wait_for("never", timeout_ms=PAUSE_MS)
        assert (waited.reason, waited.awaiting) == ("timeout", None)
        assert (await t.status()).awaiting is None
        assert "awaits" not in asked


async def test_what_was_typed_outdates_an_answer(home, tmp_path):
    """A secret leaves no echo: only the question asked after it says what the program does now."""
    async with agent_terminal(home) as t:
        first = await t.exec_block(f"mkfifo {tmp_path}/f; read -s a; read b < {tmp_path}/f; :", timeout_ms=LONG_MS)
        assert first.awaiting == "secret"
        await t.send("it\n", secret=True)
        assert (await t.wait_for("never", timeout_ms=PAUSE_MS)).reason == "timeout"
        (tmp_path / "f").write_text("go on\n")
        assert (await t.wait_for("PROMPT", timeout_ms=LONG_MS)).matched


async def test_the_host_is_not_asked_when_output_satisfies_a_wait(home, counted):
    async with agent_terminal(home) as t:
        await t.exec_interactive("echo here; cat")
        asked = counted(t)
        assert (await t.wait_for("here")).matched
        assert "awaits" not in asked


async def test_a_program_that_works_silently_is_asked_about_less_and_less(home, counted):
    async with agent_terminal(home) as t:
        asked = counted(t)
        ran = await t.exec_block("sleep 3", timeout_ms=LONG_MS)
        assert (ran.exit_code, ran.awaiting) == (0, None)
        assert 1 <= asked.count("awaits") <= 8


async def test_a_question_after_a_long_silence_is_found_soon(home, tmp_path):
    """Output makes the pause between two looks short again."""
    async with agent_terminal(home) as t:
        await t.exec_block(f"mkfifo {tmp_path}/f; read b < {tmp_path}/f; read -p 'Name: ' n", timeout_ms=0)
        waiting = asyncio.ensure_future(t.wait_for("never", timeout_ms=LONG_MS))
        assert (await t.wait_for({"quiet_ms": 2_500}, timeout_ms=LONG_MS)).awaiting is None
        (tmp_path / "f").write_text("go on\n")
        assert (await waiting).prompt == "Name:"


async def test_a_wait_for_silence_is_not_cut_short(home):
    async with agent_terminal(home) as t:
        await t.exec_interactive("cat")
        waited = await t.wait_for({"quiet_ms": 1_000})
        assert (waited.matched, waited.reason, waited.awaiting) == (True, "quiet_ms", "line")
        both = {"all": [{"text": "never"}, {"quiet_ms": 200}]}
        assert (await t.wait_for(both, timeout_ms=LONG_MS)).reason == "awaiting"
