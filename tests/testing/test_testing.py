"""`vantage.testing`: a terminal of Python functions behaves like one of processes; what a screen shows."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from terminal_home import environment, leftovers
from vantage import open_terminal
from vantage.errors import Busy, NoSecretPrompt, SecretPrompt, VantageError
from vantage.testing import fake_terminal, says, screen_text


async def ask(pty):
    pty.print("Go on? [y/n] ")
    answer = await pty.line()
    pty.print(f"<{answer}>\n")
    return 0 if answer == "y" else 3


async def login(pty):
    word = await pty.secret("Password: ")
    pty.print(f"{len(word)} letters\n")


async def echo_keys(pty):
    pty.print("keys\n")
    while (key := await pty.key()) != b"q":
        pty.print(f"{key!r}\n")


async def copy(pty):
    while True:
        try:
            pty.print(f"{await pty.line()}\n")
        except EOFError:
            return


async def for_ever(pty):
    pty.print("on and on\n")
    await asyncio.Event().wait()


FAKES = {
    "printf 'one\\ntwo\\n'": "one\ntwo\n",
    "false": says("", 1),
    "sh -c 'printf half; exit 7'": says("half", 7),
    "./ask": ask,
    "./login": login,
    "./keys": echo_keys,
    "cat": copy,
    "./on": for_ever,
}
SCRIPTS = {
    "ask": """printf 'Go on? [y/n] '; read -r x; echo "<$x>"; [ "$x" = y ] || exit 3""",
    "login": """stty -echo; printf 'Password: '; read -r x; stty echo; echo; echo "${#x} letters" """,
    "on": "echo on and on; sleep 1000",
}
"""The same as real programs."""


@asynccontextmanager
async def real(folder):
    for name, script in SCRIPTS.items():
        (folder / name).write_text(f"#!/bin/bash\n{script}\n")
        (folder / name).chmod(0o755)
    async with open_terminal(env=environment(), cwd=folder, user_rc=False) as t:
        yield t


@pytest.fixture(params=["fake", "real"])
def terminal(request, tmp_path):
    """Each test runs with the fake terminal and with a real one: both must behave alike."""
    return fake_terminal(FAKES, cwd=tmp_path) if request.param == "fake" else real(tmp_path)


async def test_blocks(terminal, tmp_path):
    async with terminal as t:
        ran = [await t.exec_block(command) for command in list(FAKES)[:3]]
        assert [(each.output, each.exit_code, each.done_because) for each in ran] == [
            ("one\ntwo\n", 0, "mark"),
            ("", 1, "mark"),
            ("half", 7, "mark"),
        ]
        (tmp_path / "inner").mkdir()
        assert (await t.exec_block("false", cwd="inner")).cwd == str(tmp_path / "inner")
        assert [block.cmd for block in (await t.blocks()).blocks] == [*list(FAKES)[:3], "false"]


async def test_a_dialogue(terminal):
    async with terminal as t:
        session = await t.exec_interactive("./ask")
        assert (await t.wait_for("[y/n] ")).matched
        with pytest.raises(Busy):
            await t.exec_block("false")
        assert (await t.status()).mode == "interactive"
        await t.send("yes\x7f\x7f\n", session_id=session.session_id)
        assert (await t.wait_for("EOF", session_id=session.session_id)).matched
        read = await t.read_block(session.block_id)
        assert (read.output.endswith("<y>\n"), (await t.status()).last_exit_code) == (True, 0)


async def test_a_secret(terminal):
    async with terminal as t:
        await t.exec_interactive("./login")
        assert (await t.wait_for({"secret_prompt": True})).matched
        with pytest.raises(SecretPrompt):
            await t.send("seen\n")
        await t.send("unseen\n", secret=True)
        assert (await t.wait_for("6 letters")).matched
        await t.wait_for("PROMPT")
        with pytest.raises(NoSecretPrompt):
            await t.send("seen\n", secret=True)
        assert "seen" not in "\n".join((await t.read_screen()).rows)


async def test_the_end_of_input(terminal):
    async with terminal as t:
        session = await t.exec_interactive("cat")
        await t.send("twice\n")
        assert (await t.wait_for("twice\ntwice\n")).matched
        await t.ctrl_d()
        assert (await t.wait_for("EOF", session_id=session.session_id)).matched
        assert (await t.status()).last_exit_code == 0


async def test_ways_to_end_a_program(terminal):
    async with terminal as t:
        await t.exec_interactive("./on")
        await t.wait_for("on and on")
        await t.ctrl_c()
        await t.wait_for("PROMPT")
        assert (await t.status()).last_exit_code == 130
        session = await t.exec_interactive("./on")
        await t.wait_for("on and on")
        assert (await t.end_session(session.session_id, force=True)).how == "terminate"
        await t.exec_interactive("./on")
        shell = (await t.status()).shell_id
        await t.reset()
        assert ((await t.status()).shell_id != shell, (await t.status()).mode) == (True, "idle")
        assert [block.done_because for block in (await t.blocks()).blocks] == ["mark", "ended", "reset"]


async def test_a_line_typed_at_the_prompt_is_a_block(terminal):
    async with terminal as t:
        await t.exec_block("false")
        await t.send("nothing\x03")
        await t.send("printf 'one\\ntwo\\n'\n")
        assert (await t.wait_for("one\ntwo\n")).matched
        await t.wait_for("PROMPT")
        last = (await t.blocks()).blocks[-1]
        assert (last.cmd, last.origin) == ("printf 'one\\ntwo\\n'", "typed")


async def test_a_shell_that_ends(terminal):
    async with terminal as t:
        assert (await t.exec_block("cd ..")).exit_code == 0
        assert (await t.exec_block("cd nowhere")).exit_code == 1
        ended = await t.exec_block("exit 5")
        assert (ended.exit_code, ended.done_because) == (5, "exit")
        assert (await t.status()).mode == "exited"
        again = await t.exec_block("false")
        assert ("fresh" in again.note, again.exit_code) == (True, 1)
        await t.ctrl_d()
        assert (await t.wait_for("exit")).matched


async def test_its_files_can_be_rebuilt(tmp_path):
    from vantage.conversation.store.derived.rebuild import rebuild

    async with fake_terminal(FAKES, cwd=tmp_path) as t:
        for command in list(FAKES)[:3]:
            await t.exec_block(command)
        await t.live.written()
        assert rebuild(t.live.folder, t.id, check=True).differences == []


async def test_keys_and_sizes():
    sizes = []

    async def resized(pty):
        sizes.append(pty.size)
        pty.print("ready")
        await pty.key()
        sizes.append(pty.size)

    async with fake_terminal({**FAKES, "resized": resized}, cols=70, rows=20) as t:
        await t.exec_interactive("./keys")
        await t.wait_for("keys")
        await t.keys(["Up"])
        assert (await t.wait_for(r"b'\x1b[A'")).matched
        await t.send("q")
        await t.wait_for("PROMPT")
        await t.exec_interactive("resized")
        await t.wait_for("ready")
        await t.resize(90, 30)
        await t.enter()
        await t.wait_for("PROMPT")
    assert sizes == [(70, 20), (90, 30)]


async def test_a_program_that_asks_its_terminal():
    async def where(pty):
        pty.print("\x1b[6n")
        pty.print(repr(await pty.key()) + "\n")

    async with fake_terminal({"where": where}) as t:
        assert (await t.exec_block("where")).output == r"b'\x1b[2;1R'" + "\n"


async def test_a_program_for_all_commands_of_a_name():
    async def git(pty):
        pty.print(f"{pty.command} in {pty.cwd}\n")

    async with fake_terminal({"git": git, "git push": says("no\n", 1)}, cwd="/usr") as t:
        assert (await t.exec_block("git status")).output == "git status in /usr\n"
        assert (await t.exec_block("git push")).exit_code == 1
        other = await t.exec_block("svn up")
        assert (other.exit_code, "there is no program for 'svn up'" in other.output) == (127, True)
        assert "'git', 'git push'" in other.output


async def test_a_program_that_fails_fails_the_test():
    async def broken(pty):
        raise ValueError("a mistake")

    with pytest.raises(ValueError, match="a mistake"):
        async with fake_terminal({"broken": broken}) as t:
            ran = await t.exec_block("broken")
            assert (ran.output, ran.exit_code) == ("ValueError: a mistake\n", 1)


async def test_the_test_s_own_failure_comes_first():
    async def broken(pty):
        raise ValueError("a mistake")

    with pytest.raises(VantageError, match="no session"):
        async with fake_terminal({"broken": broken}) as t:
            await t.exec_block("broken")
            await t.end_session("s-none")


async def test_no_process_is_started():
    before = leftovers()
    async with fake_terminal({"./on": for_ever}) as t:
        place = t.live.folder.path.parent.parent
        await t.exec_interactive("./on")
        assert not (place / "host.json").exists()
        assert leftovers() == before
    assert not place.exists()


def test_screen_text():
    assert screen_text("one\ntwo\x1b[1;5Hthree\n") == "one three\ntwo"
    assert screen_text(b"\xe4\xb8\xad\xe6\x96\x87", cols=3, rows=2) == "中\n文"
    assert screen_text("".join(f"{n}\n" for n in range(30)), rows=4) == "27\n28\n29"
    assert screen_text("") == ""
