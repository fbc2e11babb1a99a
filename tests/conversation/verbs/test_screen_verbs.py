"""The screen verbs: the live screen, its changes, its past. Real programs in a real shell."""

import json

import msgspec
import pytest

from terminal_home import agent_terminal, environment
from vantage.conversation.manager import Manager
from vantage.conversation.store.derived.rebuild import rebuild
from vantage.errors import Conflict, InputError
from vantage.terminal.screen.frames import ScreenDelta, ScreenSnapshot, apply


async def test_a_full_screen_program(home, tmp_path):
    (tmp_path / "note.txt").write_text("first line\nsecond line\n")
    async with agent_terminal(home, cols=60, rows=12) as t:
        await t.exec_block("echo before")
        session = await t.exec_interactive(f"vim -u NONE -N {tmp_path}/note.txt")
        assert (await t.wait_for({"screen": "second line"})).matched
        assert (await t.status()).alt_screen
        await t.keys(["G", "o"])
        await t.send("third line")
        await t.keys(["Escape", ":", "w", "q", "Enter"])
        ended = await t.wait_for("EOF", session_id=session.session_id)
        assert ended.reason == "eof"
        assert (await t.wait_for("PROMPT")).matched
        seen = await t.read_screen()
        assert not seen.alt_screen
        assert "before" in seen.text
        assert "second line" not in seen.text
        block = (await t.read_block(session.block_id)).block
        assert block.alt_screen
    assert (tmp_path / "note.txt").read_text() == "first line\nsecond line\nthird line\n"


async def test_the_foreground_is_a_living_process(home, tmp_path):
    """The leader of a process group may end before the others, and stay a zombie until its parent asks for it."""
    program = tmp_path / "program.py"
    program.write_text(
        "import os, signal\n"
        "signal.signal(signal.SIGTTOU, signal.SIG_IGN)\n"
        "hold, release = os.pipe()\n"
        "leader = os.fork()\n"
        "if not leader:\n"
        "    os.setpgid(0, 0)\n"
        "    os.read(hold, 1)\n"
        "    os._exit(0)\n"
        "while os.getpgid(leader) != leader: pass\n"
        "member = os.fork()\n"
        "if not member:\n"
        "    os.setpgid(0, leader)\n"
        "    os.execvp('sleep', ['sleep', '1000'])\n"
        "while os.getpgid(member) != leader: pass\n"
        "os.tcsetpgrp(0, leader)\n"
        "os.write(release, b'.')\n"
        "os.waitid(os.P_PID, leader, os.WEXITED | os.WNOWAIT)\n"
        "print('a zombie leads', flush=True)\n"
        "os.waitpid(member, 0)\n"
        "os.tcsetpgrp(0, os.getpgrp())\n"
    )
    async with agent_terminal(home) as t:
        await t.exec_interactive(f"python3 {program}")
        assert (await t.wait_for("a zombie leads")).matched
        assert (await t.wait_for({"foreground": "sleep"})).matched
        await t.ctrl_c()
        assert (await t.wait_for("PROMPT")).matched


async def test_a_pager_is_scrolled_by_keys(home):
    async with agent_terminal(home, cols=40, rows=8) as t:
        session = await t.exec_interactive("seq 1 100 | less")
        await t.wait_for({"screen": "7"})
        await t.keys(["PageDown"])
        assert (await t.wait_for({"screen": "14"})).matched
        await t.keys(["G"])
        assert (await t.wait_for({"screen": "100"})).matched
        assert (await t.end_session(session.session_id)).how == "exit"


async def test_regions_cursor_and_styles(home):
    async with agent_terminal(home, cols=40, rows=6) as t:
        await t.exec_block("clear; printf '\\033[1;31mred\\033[0m plain\\nline two\\n'")
        await t.wait_for("PROMPT")
        seen = await t.read_screen(style=True, cursor=True)
        assert seen.rows[:2] == ["red plain", "line two"]
        assert seen.runs[0][0].attrs == ("bold",)
        assert seen.text.endswith("▏")
        assert seen.rows_count == 6
        assert (await t.read_screen(region={"row": 1, "rows": 1, "col": 5})).rows == ["two"]
        with pytest.raises(InputError, match="region"):
            await t.read_screen(region={"rwo": 1})


async def test_only_what_changed(home):
    async with agent_terminal(home, cols=40, rows=8) as t:
        await t.exec_block("clear")
        await t.wait_for("PROMPT")
        first = await t.read_screen()
        session = await t.exec_interactive("for i in $(seq 50); do printf '\\rspin %s' $i; done; cat")
        await t.wait_for("spin 50")
        changed = await t.read_screen(since=first.delta_cursor)
        assert len(changed.changed) <= 4  # the command, however it wraps, and one row of fifty states
        assert any("spin 50" in row.text for row in changed.changed)
        again = await t.read_screen(since=changed.delta_cursor)
        assert again.changed == []
        await t.end_session(session.session_id)


async def test_deltas_applied_to_any_earlier_record_give_the_screen(home):
    async with agent_terminal(home, cols=40, rows=8) as t:
        for command in ("ls /", "clear; echo one", "printf '\\033[3;5Hhere'", "echo done"):
            await t.exec_block(command)
            await t.wait_for("PROMPT")
            await t.read_screen()  # takes a delta
        seen = await t.read_screen()
        lines = t.live.folder.screen_log.read_bytes().splitlines()
        deltas = [msgspec.json.decode(line, type=ScreenDelta) for line in lines]
        assert len(deltas[0].rows) == 8
        snapshot = ScreenSnapshot(
            rows=("",) * 8, cursor=deltas[0].cursor, title="", alt_screen=False, cols=40, rows_count=8, ts=0
        )
        for delta in deltas:
            snapshot = apply(snapshot, delta)
        assert list(snapshot.rows) == seen.rows
        read = await t.read_screen_deltas(0, 2)
        assert (len(read.deltas), read.cursor) == (2, 2)
        assert read.deltas[0]["type"] == "screen_delta"


async def test_the_snapshot_file_is_there_at_a_prompt(home):
    async with agent_terminal(home, cols=40, rows=8) as t:
        await t.exec_block("echo on file")
        await t.wait_for("PROMPT")
        await t.read_screen()
        t.live.screens.flush(force=True)
        snapshot = json.loads(t.live.folder.screen_snapshot.read_text())
        assert snapshot["rows_count"] == 8
        assert len(snapshot["rows"]) == 8


async def test_any_moment_of_the_past(home):
    async with agent_terminal(home, cols=40, rows=8) as t:
        moments = []
        for number in range(5):
            await t.exec_block(f"clear; echo moment {number}; seq 1 20000 | tail -n 3")
            await t.wait_for("PROMPT")
            seen = await t.read_screen()
            moments.append((seen.raw_offset, seen.text))
            if number == 2:
                await t.resize(50, 10)
        for offset, text in moments:
            assert (await t.read_screen(at_offset=offset)).text == text


async def test_scrollback_by_line_number_survives_resizes_and_restarts(private_home):
    settings = {"cwd": str(private_home), "env": environment(), "user_rc": False}
    async with Manager(private_home) as manager:
        t = manager.create("c", **settings, cols=40, rows=8).terminal
        await t.exec_block("clear")
        first = await t.read_scrollback()
        await t.exec_block("seq 1 50000")
        before = await t.read_scrollback(first.total + 10, 5)
        assert len(before.lines) == 5
        assert [int(line) for line in before.lines] == list(range(int(before.lines[0]), int(before.lines[0]) + 5))
        await t.resize(100, 20)
        assert (await t.read_scrollback(before.first_line, 5)).lines == before.lines
    async with Manager(private_home) as manager:
        t = manager.get("c").terminal
        assert (await t.read_scrollback(before.first_line, 5)).lines == before.lines
        await manager.delete("c")


async def test_programs_get_their_answers_once(home):
    """A program that asks for the cursor's position reads one answer; nothing is left over for the prompt."""
    async with agent_terminal(home) as t:
        asked = await t.exec_block("IFS= read -rs -d R -p $'\\033[6n' answer; echo; printf '%q\\n' \"$answer\"")
        assert "$'\\E[" in asked.output
        assert (await t.exec_block("echo clean")).output == "clean\n"


async def test_the_mouse_is_refused_when_no_program_asked_for_it(home):
    async with agent_terminal(home) as t:
        await t.exec_block("echo click me")
        with pytest.raises(Conflict, match="mouse"):
            await t.mouse("click", on_text="click me")


async def test_a_click_on_a_text(home):
    async with agent_terminal(home) as t:
        await t.exec_interactive("printf '\\033[?1000h\\033[?1006h\\033[H\\033[2Jpress %s now' OK; cat -v")
        await t.wait_for({"screen": "press OK"})
        clicked = await t.mouse("click", on_text="OK")
        assert (clicked.row, clicked.col) == (0, 6)
        assert (await t.wait_for("[<0;7;1M")).matched


async def test_unknown_keys_send_nothing(home):
    async with agent_terminal(home) as t:
        await t.exec_interactive("cat -v")
        before = (await t.status()).cursor
        with pytest.raises(InputError, match="did you mean"):
            await t.keys(["a", "Entre"])
        await t.keys(["b", "Enter"])
        await t.wait_for("b\nb")
        assert (await t.read_spool(before)).text == "b\nb\n"


async def test_a_fresh_shell_has_a_fresh_screen(home):
    """What a killed program left set (alternate screen, mouse, colours) is not inherited by the next shell."""
    async with agent_terminal(home, cols=40, rows=8) as t:
        await t.exec_interactive("printf '\\033[?1049h\\033[?1000h\\033[?25l\\033[41mfull screen'; cat")
        await t.wait_for({"screen": "full screen"})
        assert t.screen().alt_screen
        await t.reset()
        ran = await t.exec_block("echo plain")
        assert ran.output == "plain\n"
        await t.wait_for("PROMPT")
        seen = await t.read_screen(style=True)
        assert not seen.alt_screen
        assert seen.cursor.visible
        assert t.screen().modes.mouse == "none"
        row = seen.rows.index("plain")
        assert seen.runs[row] == ()


async def test_progress_bars_of_several_lines_of_script(home):
    """The line editor prints a mark for each line; erasures are carried out all the same."""
    async with agent_terminal(home) as t:
        ran = await t.exec_block("echo one\nprintf 'Downloading 100%%\\r\\033[Kdone\\n'\necho two")
        assert ran.output == "one\ndone\ntwo\n"


async def test_the_past_behind_a_very_long_command(home):
    async with agent_terminal(home, cols=40, rows=8) as t:
        await t.exec_block("clear\n: " + "x" * 600_000)
        await t.resize(50, 10)
        await t.exec_block("clear; echo behind it")
        await t.wait_for("PROMPT")
        seen = await t.read_screen()
        past = await t.read_screen(at_offset=seen.raw_offset)
        assert (past.cols, past.rows_count, past.rows) == (50, 10, seen.rows)


async def test_a_program_that_asks_for_other_columns(home):
    """DECCOLM, as vttest and the strings of `reset` send it: the size stays, and the program continues."""
    async with agent_terminal(home, cols=120, rows=10) as t:
        await t.exec_block("seq 1 30; printf '\\033[?40h\\033[?3l'; seq 1 30")
        status = await t.status()
        assert (status.cols, status.rows) == (120, 10)
        assert "21" in (await t.read_scrollback()).lines
        ran = await t.exec_block("printf '\\033[?40h\\033[?3h\\033[?3l%.0s' {1..200}; tput cols")
        assert ran.output.split()[-1] == "120"
        assert (await t.exec_block("echo on")).output == "on\n"
        assert len((await t.read_screen()).rows) <= 10


async def test_a_fresh_shell_draws_below_what_was_there(home):
    async with agent_terminal(home, cols=40, rows=12) as t:
        await t.exec_block("seq 1 40")
        await t.exec_block("exit 3")
        assert (await t.exec_block("echo new")).output == "new\n"
        await t.wait_for("PROMPT")
        seen = await t.read_screen()
        assert "new" in seen.rows
        assert "40" in seen.rows[: seen.rows.index("new")], seen.rows
        assert not "".join(seen.rows[seen.cursor.row + 1 :]).strip(), seen.rows


async def test_the_engine_is_chosen_for_a_conversation(private_home):
    settings = {"cwd": str(private_home), "env": environment(), "user_rc": False}
    async with Manager(private_home, engine="pyte") as manager:
        t = manager.create("c", **settings, cols=40, rows=8).terminal
        await t.exec_block("seq 1 100")
        assert (await t.status()).engine == "pyte"
        there = manager.get("c").live.terminal.raw
        other = manager.create("d", **settings, engine="ghostty").terminal
        await other.exec_block("echo x")
        assert (await other.status()).engine == "ghostty"
        with pytest.raises(InputError, match="no screen engine 'vt52'") as refused:
            manager.create("e", **settings, engine="vt52")
        assert "auto, ghostty, pyte" in refused.value.hint
        await manager.delete("d")
    async with Manager(private_home) as manager:
        t = manager.get("c").terminal
        assert (await t.status()).engine == "pyte"
        assert "99" in (await t.read_screen(at_offset=there)).rows
        assert "92" in (await t.read_scrollback()).lines
        report = rebuild(manager.folder("c"), "c", check=True)
        assert not report.differences
        await manager.delete("c")
