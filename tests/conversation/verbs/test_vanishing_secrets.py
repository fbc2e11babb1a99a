"""A program asks for a secret and ends before it has read it: the secret is dropped, never run, never logged."""

import asyncio

import pytest

from home_files import holding
from terminal_home import PATIENCE, agent_terminal
from vantage.conversation.verbs.terminal import inputs, prompts
from vantage.conversation.verbs.terminal.keyboard import person
from vantage.errors import Conflict, NoSecretPrompt, SecretGone, VantageError

FIRST, REST = "sesam", "oeffnedich"
SECRET = FIRST + REST
GO = "until [ -e go ]; do sleep 0.02; done"
PYTHON = 'python3 -c "import getpass; getpass.getpass()"'
LEAVES_ECHO_OFF = (
    'python3 -c "import os, termios, time; a = termios.tcgetattr(0); a[3] &= ~termios.ECHO;'
    " termios.tcsetattr(0, termios.TCSANOW, a)\nwhile not os.path.exists('go'): time.sleep(0.02)\nos._exit(1)\""
)


def ended_by(signal, command):
    return f"sh -c '({GO}; kill -{signal} $$) & exec {command}'"


READERS = {
    "the shell's read, until its timeout": ("bash", "read -s -t 2 -p 'Pass''word: ' p"),
    "zsh's read, until its timeout": ("zsh", "read -s -t 2 p"),
    "getpass, terminated": ("bash", ended_by("TERM", PYTHON)),
    "getpass, killed": ("bash", ended_by("KILL", PYTHON)),
    "getpass, terminated in sh": ("sh", ended_by("TERM", PYTHON)),
    "getpass, killed in zsh": ("zsh", ended_by("KILL", PYTHON)),
    "getpass, hung up in fish": ("fish", ended_by("HUP", PYTHON)),
    "another shell's read": ("bash", ended_by("KILL", 'bash -c "read -s p"')),
}
"""Programs that wait for the secret: until a timeout, or until they are killed when the file `go` is there."""
NON_READERS = {
    "echo comes back": ("bash", f"sh -c 'stty -echo; {GO}; stty echo'"),
    "echo comes back in sh": ("sh", f"sh -c 'stty -echo; {GO}; stty echo'"),
    "echo stays off": ("bash", LEAVES_ECHO_OFF),
    "echo stays off in zsh": ("zsh", LEAVES_ECHO_OFF),
    "echo stays off in sh": ("sh", LEAVES_ECHO_OFF),
    "the shell itself": ("bash", f"stty -echo; {GO}; stty echo"),
    "in fish": ("fish", f"sh -c 'stty -echo; {GO}; stty echo'"),
    "killed": ("bash", f"sh -c 'stty -echo; {GO}; kill -9 $$'"),
}
"""Programs that ask and go without reading what was typed, when the file `go` is there."""


PROMPT_OR_SILENCE = {"any": [{"prompt": True}, {"quiet_ms": 60_000}]}
"""The prompt, also of a program that waits for input until then: a wait for silence does not end at its question."""


async def by_hand(t, data, *, secret=False):
    """Types as a person who has the keyboard."""
    return await inputs.type_bytes(t.pty, data.encode(), inputs.Typing(by=person("p"), secret=secret))


async def asking(t, command):
    """The command runs and asks for a secret."""
    ran = await t.exec_block(command, timeout_ms=0)
    waited = await t.wait_for({"secret_prompt": True})
    assert waited.matched, waited
    return ran


def given_to_host(t, monkeypatch):
    """Is set when input was written to the host's socket."""
    given, ask = asyncio.Event(), t.live.link.ask

    async def noted(op, **fields):
        if op == "input":
            asyncio.get_running_loop().call_soon(given.set)
        return await ask(op, **fields)

    monkeypatch.setattr(t.live.link, "ask", noted)
    return given


async def nothing_of_it(t, home, ran):
    """The shell works, and the secret is in none of its commands, nowhere on the screen and in no file."""
    assert (await t.wait_for({"prompt": True}, from_cursor=ran.cursor)).matched
    after = await t.exec_block("echo on")
    assert (after.output, after.exit_code) == ("on\n", 0)
    blocks = (await t.blocks()).blocks
    assert [block.cmd for block in blocks] == [blocks[0].cmd, "echo on"]
    shown = (await t.read_spool(from_cursor=0, max_bytes=1 << 20)).text
    assert FIRST not in shown
    assert REST not in shown
    assert not holding(home, FIRST)
    assert not holding(home, REST)


@pytest.mark.parametrize("name", NON_READERS)
async def test_a_line_that_is_never_read(private_home, monkeypatch, name):
    """The program is there when the secret is typed, and leaves it unread."""
    kind, command = NON_READERS[name]
    async with agent_terminal(private_home, shell=kind) as t:
        ran = await asking(t, command)
        given = given_to_host(t, monkeypatch)
        sending = asyncio.create_task(t.send(SECRET + "\n", secret=True))
        await given.wait()
        await t.status()  # the host takes one request after the other: it has the secret now
        (private_home / "go").touch()
        with pytest.raises(Conflict) as refused:
            await sending
        assert (refused.value.code, refused.value.status) == ("secret_gone", 409)
        await nothing_of_it(t, private_home, ran)


async def test_a_program_that_does_not_read(private_home):
    """It may read later, or not at all: the caller is told, and the next reader does not find the secret."""
    async with agent_terminal(private_home) as t:
        ran = await asking(t, NON_READERS["echo comes back"][1])
        with pytest.raises(Conflict, match=r"does not read its input: 0 of 16"):
            await t.send(SECRET + "\n", secret=True)
        (private_home / "go").touch()
        await nothing_of_it(t, private_home, ran)


@pytest.mark.parametrize("name", READERS | NON_READERS)
async def test_a_line_that_comes_too_late(private_home, name):
    kind, command = (READERS | NON_READERS)[name]
    async with agent_terminal(private_home, shell=kind) as t:
        ran = await asking(t, command)
        (private_home / "go").touch()
        assert (await t.wait_for(PROMPT_OR_SILENCE, from_cursor=ran.cursor)).reason == "prompt"
        with pytest.raises((NoSecretPrompt, SecretGone)):
            await t.send(SECRET + "\n", secret=True)
        await nothing_of_it(t, private_home, ran)


@pytest.mark.parametrize("name", READERS | NON_READERS)
async def test_a_person_in_the_middle_of_typing_a_secret(private_home, name):
    """Keys come one by one: some as a secret, the rest after the client has heard that no secret is asked for."""
    kind, command = (READERS | NON_READERS)[name]
    async with agent_terminal(private_home, shell=kind) as t:
        ran = await asking(t, command)
        t.pty.keyboard.take("p")
        for key in FIRST:
            await by_hand(t, key, secret=True)
        (private_home / "go").touch()
        assert (await t.wait_for(PROMPT_OR_SILENCE, from_cursor=ran.cursor)).reason == "prompt"
        codes = []
        for key in REST:
            with pytest.raises(VantageError) as refused:
                await by_hand(t, key)
            codes.append(refused.value.code)
        with pytest.raises(SecretGone, match="nothing of it was run"):
            await by_hand(t, "\r")
        assert set(codes) == {"secret_gone"}
        cursor = (await by_hand(t, "echo by hand\r")).cursor
        assert (await t.wait_for("^by hand$", regex=True, from_cursor=cursor)).matched
        t.pty.keyboard.release("p")
        await t.wait_for({"prompt": True})
        shown = (await t.read_spool(from_cursor=0, max_bytes=1 << 20)).text
        assert FIRST not in shown
        assert REST not in shown
        assert not holding(private_home, FIRST)


async def test_keys_of_a_secret_that_is_read(private_home):
    """Typed key by key it reaches its program whole, with what was rubbed out."""
    async with agent_terminal(private_home) as t:
        ran = await asking(t, "read -s p; echo ${#p}")
        t.pty.keyboard.take("p")
        for key in (*FIRST, "x", "\x7f", *REST, "\r"):
            await by_hand(t, key, secret=True)
        assert (await t.wait_for(f"{len(SECRET)}\n", from_cursor=ran.cursor)).matched


async def test_a_refused_secret_delays_nothing(private_home, monkeypatch):
    """A command waits so long for the prompt after a line that was typed; here none was."""
    monkeypatch.setattr(prompts, "LINE_TIMEOUT_S", 2 * PATIENCE)
    async with agent_terminal(private_home) as t:
        await t.exec_block("true")
        with pytest.raises(NoSecretPrompt):
            await t.send(SECRET + "\n", secret=True)
        ran = await t.exec_block("echo on")
        assert ran.output == "on\n"
        waited_ms = ran.ts_begin - (await t.blocks()).blocks[0].ts_end
        assert waited_ms < PATIENCE * 1000, "it waited for a line that was never typed"
