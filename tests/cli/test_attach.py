"""`vantage attach`: a window onto the agent's terminal, played by a real pseudo-terminal and our own emulator."""

import os
import signal
import subprocess
import sys

import pytest

import command_line
from command_line import SeenTerminal
from home_files import holding
from server_home import Server, serving
from terminals import VANTAGE


@pytest.fixture
def work(server):
    with server.conversation(cols=60, rows=12) as conversation:
        server.pty(conversation, "exec_block", command="PS1='$ '; clear")
        yield conversation


def opened(vantage, work, *flags, columns=70, lines=14) -> SeenTerminal:
    terminal = vantage.in_terminal("attach", work, *flags, columns=columns, lines=lines)
    terminal.wait_for(lambda t: "Ctrl-\\ leaves" in t.bar and t.lines[0].startswith("$"))
    return terminal


def left(terminal: SeenTerminal) -> None:
    terminal.type("\x1c")
    assert terminal.finish() == 0


def keyboard(server: Server, work: str) -> str:
    return server.pty(work, "status")["keyboard"]


def test_the_screen_first_and_then_what_changes(vantage, server, work):
    command = r"printf '\e[1;31mred\e[0m plain \e[48;5;21mblue\e[0m\n\e]2;A title\a\e[5;9Hhere\e[4;2H'; cat"
    server.pty(work, "exec_interactive", command=f"clear; {command}")
    server.pty(work, "wait_for", match={"screen": "here"})
    terminal = vantage.in_terminal("attach", work, columns=90, lines=14)
    terminal.wait_for(lambda t: "here" in t.lines[4])
    theirs = server.pty(work, "read_screen", style=True)
    assert terminal.lines[:12] == [*theirs["rows"], *[""] * (12 - len(theirs["rows"]))]
    seen = terminal.window.rows()[0].runs
    assert [(run.start, run.len, run.fg, run.bg, run.attrs) for run in seen] == [
        (0, 3, 1, None, ("bold",)),
        (10, 4, None, 21, ()),
    ]
    cursor = terminal.window.cursor
    assert (cursor.row, cursor.col, cursor.visible) == (3, 1, True)
    assert (terminal.window.title, terminal.window.alt_screen) == ("", True), "the window keeps its own title"
    assert terminal.bar == f"Ctrl-\\ leaves · {work} · keyboard: agent, typing takes it · 60x12"
    server.pty(work, "send", data="more\r")
    terminal.wait_for(lambda t: t.lines[4].startswith("more"))
    left(terminal)
    assert f"left '{work}': it runs on" in terminal.raw.decode()
    assert not terminal.window.alt_screen


def test_typing_takes_the_keyboard_and_leaving_gives_it_back(vantage, server, work):
    terminal = opened(vantage, work)
    terminal.type("echo ty''ped\r")
    terminal.wait_for(lambda t: t.lines[1] == "typed" and "keyboard: you" in t.bar)
    assert keyboard(server, work) == f"client:attach-{terminal.process.pid}"
    refused = vantage.run("exec", work, "true")
    assert (refused.code, refused.err.count("\n")) == (1, 1)
    assert "has the keyboard" in refused.err
    terminal.type("sleep 1000\r")
    terminal.wait_for(lambda t: "sleep 1000" in t.lines[2])
    assert server.pty(work, "wait_for", match={"foreground": "sleep"})[
        "matched"
    ]  # before that the shell has the Ctrl-C
    terminal.type("\x03")
    terminal.wait_for(lambda t: t.lines[3].startswith("^C") or t.lines[4].startswith("$"))
    left(terminal)
    assert keyboard(server, work) == "agent"
    assert vantage("exec", work, "echo mine again") == "mine again\n"


def test_keys_are_encoded_for_the_program_there(vantage, server, work):
    """The terminal here sends `CSI A`; a program in application mode must get `SS3 A`. Text passes as it is typed."""
    reads = r"clear; printf '\e[?1h'; stty raw -echo; printf 'rea''dy'; head -c 21 | cat -v; stty sane"
    server.pty(work, "exec_interactive", command=reads)
    terminal = vantage.in_terminal("attach", work, columns=70, lines=14)
    terminal.wait_for(lambda t: "ready" in t.lines[0])
    terminal.type("\x1b[A\x1b[1;5C\x1bOP\x1b[3~\x1b\x1b")
    terminal.type("é\x01")
    terminal.wait_for(lambda t: "^A" in t.lines[0])
    assert terminal.lines[0].startswith("ready^[OA^[[1;5C^[OP^[[3~^[^[M-CM-)^A")
    left(terminal)


def test_a_paste_is_a_paste(vantage, server, work):
    server.pty(work, "exec_interactive", command=r"clear; printf '\e[?2004h'; stty raw -echo; printf 'rea''dy'; cat -v")
    terminal = vantage.in_terminal("attach", work, columns=70, lines=14)
    terminal.wait_for(lambda t: "ready" in t.lines[0])
    terminal.type("\x1b[200~two\nlines \x1c\x1b[201~.")
    terminal.wait_for(lambda t: "^[[200~" in t.lines[0] and t.lines[0].endswith("."))
    assert terminal.lines[0] == "ready^[[200~two^Mlines  ^[[201~."
    left(terminal)


def test_a_smaller_window_shows_the_part_with_the_cursor(vantage, server, work):
    server.pty(work, "exec_block", command="clear; for i in $(seq 1 10); do printf 'row %s %34s|\\n' $i end; done")
    terminal = vantage.in_terminal("attach", work, columns=30, lines=6)
    terminal.wait_for(lambda t: t.lines[4].startswith("$"))
    assert [line.split()[:2] for line in terminal.lines[:4]] == [["row", str(number)] for number in (7, 8, 9, 10)]
    assert terminal.bar.startswith(f"Ctrl-\\ leaves · {work}"), "the way out is not what is cut"
    server.pty(work, "send", data="x" * 40)
    terminal.wait_for(lambda t: t.lines[4].endswith("xxx"))
    assert terminal.lines[0].endswith("end|"), "it has moved to the right with the cursor"
    terminal.resize(70, 14)
    terminal.wait_for(lambda t: "keyboard: agent" in t.bar and t.lines[0].startswith("row 1 "))
    assert terminal.lines[10] == "$ " + "x" * 40
    assert (server.pty(work, "status")["cols"], server.pty(work, "status")["rows"]) == (60, 12), "its size stays"
    left(terminal)


def test_read_only(vantage, server, work):
    terminal = opened(vantage, work, "--read-only")
    terminal.type("echo never\r")
    server.pty(work, "exec_block", command="echo the agent goes on")
    terminal.wait_for(lambda t: "the agent goes on" in t.lines[1])
    assert terminal.lines[0] == "$ echo the agent goes on"
    assert keyboard(server, work) == "agent"
    terminal.type("\x03")
    assert terminal.finish() == 0


def test_a_secret_goes_unseen_and_unlogged(vantage, server, work):
    server.pty(work, "exec_interactive", command="clear; read -rsp 'Pass''word: ' word; echo; echo ${#word} characters")
    server.pty(work, "wait_for", match={"secret_prompt": True})
    terminal = vantage.in_terminal("attach", work, columns=120, lines=14)
    terminal.wait_for(lambda t: "a secret is asked for" in t.bar)
    terminal.type("xyz")
    terminal.type("zy-417\r")
    terminal.wait_for(lambda t: "9 characters" in t.lines[1])
    assert b"xyzzy" not in terminal.raw
    terminal.wait_for(lambda t: "keyboard: you" in t.bar)
    left(terminal)
    assert holding(server.home, "xyzzy-417") == []


def test_two_people_and_one_keyboard(vantage, server, work):
    first = opened(vantage, work, columns=120)
    first.type("a")
    first.wait_for(lambda t: "keyboard: you" in t.bar)
    second = vantage.in_terminal("attach", work, columns=120, lines=14)
    second.wait_for(lambda t: f"keyboard: client:attach-{first.process.pid}" in t.bar)
    second.type("b")
    second.wait_for(lambda t: f"client:attach-{first.process.pid} has the keyboard" in t.bar)
    assert second.lines[0].endswith("$ a")
    left(first)
    second.type("b")
    second.wait_for(lambda t: t.lines[0].endswith("$ ab") and "keyboard: you" in t.bar)
    left(second)


def test_a_conversation_without_a_shell_gets_one_from_a_key(vantage, server):
    with server.conversation() as work:
        terminal = vantage.in_terminal("attach", work, columns=80, lines=14)
        terminal.wait_for(lambda t: "no shell runs: a key starts one" in t.bar)
        terminal.type("x")
        terminal.wait_for(lambda t: t.lines[0] and "keyboard" in t.bar)
        left(terminal)


HELD = """
import subprocess, sys, termios
before = termios.tcgetattr(0)
code = subprocess.run(sys.argv[1:]).returncode
print("as it was" if termios.tcgetattr(0) == before else "in another mode", code, flush=True)
"""


@pytest.mark.parametrize(("ending", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), ("deleted", 1)])
def test_the_terminal_is_as_it_was_whatever_happens(vantage, server, ending, code):
    with server.conversation() as work:
        server.pty(work, "exec_block", command="true")
        vantage.env["VANTAGE_HOME"] = str(server.home)
        terminal = SeenTerminal([sys.executable, "-c", HELD, *VANTAGE, "attach", work], **vantage.env)
        terminal.wait_for(lambda t: "Ctrl-\\ leaves" in t.bar and t.window.alt_screen)
        if ending == "deleted":
            vantage("delete", work)
        else:
            os.kill(child_of(terminal.process.pid), ending)
        terminal.wait_for(lambda t: any("as it was" in line for line in t.lines))
        assert f"as it was {code}" in "\n".join(terminal.lines)
        assert not terminal.window.alt_screen
        assert terminal.window.cursor.visible
        assert not terminal.window.modes.bracketed_paste
        assert terminal.finish() == 0


def child_of(pid: int) -> int:
    return int(subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=True).stdout)


def test_a_server_that_is_killed_and_started_again(private_home):
    with serving(private_home) as server, command_line.of(server) as vantage:
        vantage("new", "work", "--no-rc", "--size", "60x12")
        vantage("exec", "PS1='$ '; clear")
        terminal = opened(vantage, "work")
        terminal.type("echo be''fore\r")
        terminal.wait_for(lambda t: t.lines[1] == "before")
        server.kill()
        terminal.wait_for(lambda t: "the server has gone: waiting for it" in t.bar)
        terminal.type("lost")
        server.start()
        terminal.wait_for(lambda t: "typing takes it" in t.bar)
        terminal.type("echo af''ter\r")
        terminal.wait_for(lambda t: t.lines[3] == "after" and "keyboard: you" in t.bar)
        assert terminal.lines[:4] == ["$ echo be''fore", "before", "$ echo af''ter", "after"]
        left(terminal)
        vantage("delete", "work")


def test_it_needs_a_terminal(vantage, work):
    ran = vantage.run("attach", work)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Error: attach needs a terminal")
