"""`open_terminal`: a terminal in this process, private and gone afterwards, or at home and taken up again."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from server_home import serving
from terminal_home import PATIENCE, environment, host_pid, leftovers, wait_until_gone
from vantage import open_terminal
from vantage.client import terminal
from vantage.conversation.manager import Manager
from vantage.errors import Busy, HomeTaken, InputError, NotFound, Unavailable
from vantage.terminal.screen.frames import Region


async def test_a_private_one_leaves_nothing(tmp_path):
    async with open_terminal(env=environment(), user_rc=False) as t:
        place = t.live.folder.path.parent.parent
        host = host_pid(place)
        await t.exec_block("sleep 1000 & sleep 1001 &")
        await t.exec_block("nohup sh -c 'trap \"\" HUP TERM; sleep 1002; sleep 1003' >/dev/null 2>&1 &")
        pid = (await t.status()).pid
        assert place.is_dir()
        host = host_pid(place)
        assert host is not None
    wait_until_gone(pid)
    wait_until_gone(host)
    assert not place.exists()
    assert not [line for line in leftovers().values() if "sleep 100" in line]


async def test_a_private_one_that_was_never_used():
    async with open_terminal() as t:
        place = t.live.folder.path.parent.parent
        assert (await t.status()).mode == "idle"
    assert not place.exists()


async def test_a_private_one_that_ends_in_an_error():
    with pytest.raises(RuntimeError, match="mine"):
        async with open_terminal(env=environment(), user_rc=False) as t:
            place = t.live.folder.path.parent.parent
            await t.exec_interactive("cat")
            raise RuntimeError("mine")
    assert not place.exists()


async def test_many_private_ones_at_once():
    async def one(n):
        async with open_terminal(env=environment(), user_rc=False) as t:
            return (await t.exec_block(f"echo {n}")).output

    assert await asyncio.gather(*(one(n) for n in range(4))) == [f"{n}\n" for n in range(4)]


async def test_at_home_it_is_taken_up_again(private_home):
    settings = {"home": private_home, "env": environment(), "user_rc": False}
    async with open_terminal("work", **settings) as t:
        await t.exec_block("v=kept; cd /usr")
        running = await t.exec_interactive('read line; echo "<$line>"')
        pid, cursor = (await t.status()).pid, running.cursor
    assert Path(f"/proc/{pid}").exists()
    async with open_terminal("work", **settings) as t:
        status = await t.status()
        assert (status.pid, status.mode, status.active_session_id) == (pid, "interactive", running.session_id)
        await t.send("again\r", session_id=running.session_id)
        assert (await t.wait_for("<again>", from_cursor=cursor)).matched
        assert (await t.wait_for("EOF", session_id=running.session_id)).matched
        ran = await t.exec_block('echo "$v"; pwd')
        assert (ran.output, ran.note, ran.seq) == ("kept\n/usr\n", "", 3)
    async with Manager(private_home) as manager:
        await manager.delete("work")


async def test_it_has_its_settings_from_when_it_was_made(private_home):
    async with open_terminal("work", home=private_home, env=environment(A="1"), user_rc=False, cols=70) as t:
        await t.exec_block("true")
    async with open_terminal("work", home=private_home, env=environment(A="2"), cols=90) as t:
        assert (await t.exec_block("echo $A; stty size")).output == "1\n40 70\n"
        await t.reset()
        assert (await t.exec_block("echo $A; stty size")).output == "1\n40 70\n"
    async with Manager(private_home) as manager:
        await manager.delete("work")


async def test_two_conversations_of_one_home(private_home):
    for name in ("one", "two"):
        async with open_terminal(name, home=private_home, env=environment(), user_rc=False) as t:
            await t.exec_block(f"me={name}")
    for name in ("one", "two"):
        async with open_terminal(name, home=private_home) as t:
            assert (await t.exec_block("echo $me")).output == f"{name}\n"
    async with Manager(private_home) as manager:
        assert [settings.id for settings in manager.list()] == ["one", "two"]
        await manager.delete("one")
        await manager.delete("two")


SECOND = """
import asyncio, sys
from vantage import open_terminal
from vantage.client import terminal
terminal.SERVER_TIMEOUT_S = 0.1
async def main():
    async with open_terminal(home=sys.argv[1]): pass
asyncio.run(main())
"""


async def test_the_error_of_a_second_one_names_the_process_that_has_the_home(private_home):
    async with open_terminal(home=private_home, env=environment(), user_rc=False) as t:
        with pytest.raises(HomeTaken, match=f"in use by process {os.getpid()}") as taken:
            async with open_terminal("other", home=private_home):
                pass
        assert (taken.value.code, taken.value.status) == ("home_taken", 409)
        assert (await t.exec_block("echo on")).output == "on\n"
        other = subprocess.run(  # noqa: ASYNC221
            [
                sys.executable,
                "-c",
                SECOND,
                str(private_home),
            ],
            capture_output=True,
            text=True,
        )
        assert f"in use by process {os.getpid()}" in other.stderr
        await t.exec_block("exit")


async def test_while_a_server_runs_it_is_used(private_home):
    with serving(private_home) as server:
        settings = {"home": private_home, "env": environment(A="1"), "user_rc": False, "cols": 70, "rows": 9}
        async with open_terminal("work", **settings) as t:
            assert t.id == "work"
            ran = await t.exec_block("echo $A; stty size", max_output=100)
            assert (ran.output, ran.exit_code, ran["seq"]) == ("1\n9 70\n", 0, 1)
            running = await t.exec_interactive('printf "\\033[1mname? \\033[0m"; read line; echo "<$line>"')
            await t.wait_for("name?")
            screen = t.screen()
            assert (screen.cols, screen.rows_count, len(screen.lines())) == (70, 9, 9)
            assert "name?" in "\n".join(screen.lines())
            assert [run.attrs for row in screen.rows() for run in row.runs if run.attrs] == [("bold",)]
            screen.close()
            with pytest.raises(Busy) as busy:
                await t.exec_block("true")
            assert (busy.value.status, bool(busy.value.hint)) == (409, True)
            await t.send(b"bytes\r", session_id=running.session_id)
            assert (await t.wait_for({"text": "<bytes>"}, timeout_ms=30_000)).matched
            assert (await t.wait_for("EOF", session_id=running.session_id)).reason
            both = await asyncio.gather(t.status(), t.read_screen(region=Region(rows=2)), t.blocks(0, 10))
            assert (both[0].mode, len(both[1].rows)) == ("idle", 2)
            assert [block.cmd.split()[0] for block in both[2].blocks] == ["echo", "printf"]
            block = await t.read_block(running.block_id)
            assert block.block.block_id == running.block_id
            assert (await t.read_raw(0, 4)).data
            with pytest.raises(NotFound):
                await t.read_block("no-such-block")
            with pytest.raises(InputError, match="no-such-key"):
                await t.keys(["no-such-key"])
            with pytest.raises(TypeError):
                await t.exec_block()
            pid = (await t.status()).pid
        assert server.get("/v1/conversations/work").json["state"] == "idle", "its shell lives on"
        async with open_terminal("work", **settings) as t:
            assert (await t.status()).pid == pid
        with pytest.raises(InputError):
            async with open_terminal("../work", home=private_home):
                pass
        async with open_terminal("fresh", **settings) as t:
            assert t.screen().lines() == [""] * len(t.screen().lines())
            server.stop()
            with pytest.raises(Unavailable, match="has gone"):
                await t.status()
        async with open_terminal("work", **settings) as t:
            assert (await t.status()).pid == pid, "without a server it is taken up in this process"
        server.start()


async def test_a_server_that_is_still_starting_is_waited_for(private_home, monkeypatch):
    """The server locks the home before it listens."""
    monkeypatch.setattr(terminal, "SERVER_TIMEOUT_S", PATIENCE)
    with serving(private_home) as server:
        address = private_home / "server.json"
        address.rename(private_home / "hidden.json")
        opening = asyncio.ensure_future(_echo(private_home))
        done, _ = await asyncio.wait([opening], timeout=0.3)
        assert not done
        (private_home / "hidden.json").rename(address)
        assert await opening == "on\n"
        assert server.running


async def _echo(home):
    async with open_terminal("work", home=home, env=environment(), user_rc=False) as t:
        return (await t.exec_block("echo on")).output


async def test_its_arguments(tmp_path):
    async with open_terminal(
        cwd=tmp_path, env=environment(COLOUR="blue", HOME=str(tmp_path)), cols=77, rows=11, shell="zsh", user_rc=False
    ) as t:
        ran = await t.exec_block("pwd; echo $COLOUR; stty size; echo $ZSH_VERSION")
        where, colour, size, version = ran.output.split("\n")[:4]
        assert (where, colour, size) == (str(tmp_path), "blue", "11 77")
        assert version


async def test_without_arguments_it_is_like_here(monkeypatch):
    monkeypatch.setenv("COLOUR", "green")
    async with open_terminal(user_rc=False) as t:
        ran = await t.exec_block("pwd; echo $COLOUR; stty size")
        assert ran.output == f"{Path.cwd()}\ngreen\n40 120\n"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"cols": 1}, "cols"),
        ({"rows": 501}, "rows"),
        ({"cwd": "/nowhere/at/all"}, "no directory"),
        ({"conversation_id": "../up"}, "id"),
        ({"conversation_id": "a" * 65}, "id"),
    ],
)
async def test_bad_arguments(wrong, said):
    with pytest.raises(InputError, match=said):
        async with open_terminal(**wrong):
            pass


async def test_an_unknown_shell_is_said_before_anything_is_made(private_home):
    with pytest.raises(InputError, match="expected one of bash"):
        async with open_terminal(home=private_home, shell="tcsh", env=environment()) as t:
            await t.exec_block("true")


async def test_results_read_as_attributes_and_as_keys():
    async with open_terminal(env=environment(), user_rc=False) as t:
        ran = await t.exec_block("echo on")
        assert ran["output"] == ran.output == ran.get("output") == "on\n"
        assert ran.get("nothing", 3) == 3
        with pytest.raises(KeyError):
            ran["nothing"]
        assert dict(ran)["exit_code"] == 0
        assert ran.to_dict()["ok"] is True
        assert ran.to_dict()["exit_code"] == 0
        assert "note" not in ran.to_dict()
        status = await t.status()
        assert status["mode"] == "idle"
        assert set(status.to_dict()) >= {"mode", "active_session_id", "cwd", "pid", "title", "keyboard", "cursor"}


RC = {
    "bash": (".bashrc", "PS1='mine> '; export MARK=rc; alias hi='echo aliased'"),
    "zsh": (".zshrc", "PS1='mine> '; export MARK=rc; alias hi='echo aliased'"),
    "fish": (
        ".config/fish/config.fish",
        "function fish_prompt; echo -n 'mine> '; end\nset -gx MARK rc\nalias hi='echo aliased'",
    ),
}


@pytest.mark.parametrize("shell", RC)
async def test_the_users_rc_is_read_or_not(home, tmp_path, shell):
    name, text = RC[shell]
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(text + "\n")
    env = environment(HOME=str(tmp_path))
    async with open_terminal(shell=shell, env=env) as t:
        assert (await t.exec_block('echo "[$MARK]"; hi')).output == "[rc]\naliased\n"
        assert (await t.wait_for("PROMPT")).matched
        assert (await t.read_screen()).text.endswith("mine>")
    async with open_terminal(shell=shell, env=env, user_rc=False) as t:
        ran = await t.exec_block('echo "[$MARK]"')
        assert ran.output == "[]\n"
        assert "mine>" not in (await t.read_screen()).text
