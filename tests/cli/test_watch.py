"""`vantage watch` in a real terminal and in a pipe: rows printed once, live ones below, resumed after a restart."""

import json
import os
import signal

import command_line
from command_line import read_line
from server_home import Server, serving

WORDS = "All done, and this sentence is long enough to be wrapped somewhere in a narrow window."


def emit(server: Server, conversation: str, *events: dict) -> None:
    assert server.post(f"/v1/conversations/{conversation}/events", list(events)).status < 300


def text(words: str) -> dict:
    return {"type": "assistant_text", "text": words}


def started(call: str, command: str) -> dict:
    return {"type": "tool_start", "tool": "shell", "toolCallId": call, "args": {"command": command}}


def finished(call: str, output: str) -> dict:
    return {"type": "tool_end", "toolCallId": call, "output": output}


def test_finished_rows_scroll_away_and_running_ones_are_redrawn(vantage, server, work):
    emit(server, work, text("Before."))
    terminal = vantage.in_terminal("watch", work, columns=60, lines=12)
    terminal.wait_for(lambda t: t.shown == ["• Before."])
    emit(server, work, started("1", "make"), started("2", "lint"))
    terminal.wait_for(lambda t: t.shown == ["• Before.", "", "• Running make", "", "• Running lint"])
    emit(server, work, finished("2", "clean"))
    terminal.wait_for(lambda t: t.shown == ["• Before.", "", "• Ran lint", "  └ clean", "", "• Running make"])
    emit(server, work, finished("1", "built"))
    done = ["• Before.", "", "• Ran lint", "  └ clean", "", "• Ran make", "  └ built"]
    terminal.wait_for(lambda t: t.shown == done)
    os.kill(terminal.process.pid, signal.SIGINT)
    assert terminal.finish() == 130
    assert terminal.shown == done
    assert b"\x1b[1;38;5;" in terminal.raw, "a terminal gets colours"


def test_output_of_a_command_is_shown_while_it_runs(vantage, server, work, tmp_path):
    os.mkfifo(tmp_path / "go")
    terminal = vantage.in_terminal("watch", work, columns=60, lines=12)
    block = server.pty(work, "exec_block", command=f"echo on''ly; cat {tmp_path}/go", timeout_ms=0)["block_id"]
    terminal.wait_for(lambda t: "  └ only" in t.shown and t.shown[0].startswith("• Running"))
    (tmp_path / "go").write_text("and more\n")
    terminal.wait_for(lambda t: t.shown[-2:] == ["  └ only", "    and more"] and t.shown[0].startswith("• Ran"))
    assert server.pty(work, "read_block", block_id=block)["output"] == "only\nand more\n"
    os.kill(terminal.process.pid, signal.SIGTERM)
    assert terminal.finish() == 143


def display(server: Server, conversation: str) -> str:
    return server.get(f"/v1/conversations/{conversation}/instructions").json["text"]


def test_the_agent_learns_of_the_display_and_of_every_resize(vantage, server, work):
    emit(server, work, text(WORDS), started("1", "make"))
    terminal = vantage.in_terminal("watch", work, columns=86, lines=12)
    terminal.wait_for(lambda t: t.shown[-1:] == ["• Running make"])
    assert "Output width: 80 characters." in display(server, work)
    terminal.resize(46, 12)
    emit(server, work, started("2", "a command that is longer than forty characters are"))
    wrapped = ["• Running a command that is longer than", "    forty characters are"]
    terminal.wait_for(lambda t: t.shown[-2:] == wrapped)
    assert "Output width: 40 characters." in display(server, work)
    assert "NARROW" in display(server, work)
    emit(server, work, finished("1", ""), finished("2", ""))
    terminal.wait_for(lambda t: "• Ran make" in t.shown and not any("Running" in line for line in t.shown))
    os.kill(terminal.process.pid, signal.SIGINT)
    terminal.finish()
    assert "".join(terminal.everything).count("All done") == 1, "what was printed is not printed again"


def test_rows_in_the_window_are_drawn_again_for_another_width(vantage, server, work):
    emit(server, work, text("First, a row of the past."), text(WORDS), started("1", "make"))
    terminal = vantage.in_terminal("watch", work, columns=126, lines=14)
    first, make = "• First, a row of the past.", "• Running make"
    terminal.wait_for(lambda t: t.shown == [first, "", f"• {WORDS}", "", make])
    terminal.resize(46, 14)
    narrow = ["• All done, and this sentence is long", "  enough to be wrapped somewhere in a", "  narrow window."]
    terminal.wait_for(lambda t: t.shown == [first, "", *narrow, "", make])
    terminal.resize(126, 14)
    terminal.wait_for(lambda t: t.shown == [first, "", f"• {WORDS}", "", make])
    emit(server, work, finished("1", "built"))
    done = [first, "", f"• {WORDS}", "", "• Ran make", "  └ built"]
    terminal.wait_for(lambda t: t.shown == done)
    os.kill(terminal.process.pid, signal.SIGINT)
    terminal.finish()
    assert terminal.shown == done


def test_rows_that_have_left_the_window_stay_as_they_were(vantage, server, work):
    many = [f"Row {number}: {WORDS}" for number in range(20)]
    emit(server, work, *map(text, many))
    terminal = vantage.in_terminal("watch", work, columns=126, lines=10)
    terminal.wait_for(lambda t: t.shown and t.shown[-1] == f"• {many[-1]}")
    terminal.resize(46, 10)
    terminal.wait_for(lambda t: t.shown[-1] == "  a narrow window." and max(map(len, t.shown)) <= 40)
    os.kill(terminal.process.pid, signal.SIGINT)
    terminal.finish()
    everything = "\n".join(terminal.everything)
    assert [number for number in range(20) if f"• Row {number}: " not in everything] == [], "no row is lost"


def test_in_a_pipe_each_row_is_printed_once_and_not_wrapped(vantage, server, work):
    emit(server, work, text(WORDS), started("1", "make"))
    process = vantage.start("watch", work)
    assert read_line(process.stdout) == f"• {WORDS}\n"
    emit(server, work, {"type": "tool_output", "toolCallId": "1", "output": "step"}, finished("1", "built"))
    assert [read_line(process.stdout) for _ in range(3)] == ["\n", "• Ran make\n", "  └ built\n"]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out, err) == (130, b"", b"")


def test_only_so_much_of_the_past(vantage, server, work):
    emit(server, work, *(text(f"Row {number}.") for number in range(5)))
    process = vantage.start("watch", work, "--last", "2")
    assert [read_line(process.stdout) for _ in range(3)] == ["• Row 3.\n", "\n", "• Row 4.\n"]
    process.kill()
    process.communicate()


def used(server: Server, conversation: str) -> int:
    return server.get(f"/v1/conversations/{conversation}").json["last_activity"]


def test_it_follows_the_conversation_that_was_used_last_and_says_so(vantage, server, work):
    with server.conversation() as newer:
        emit(server, work, text("Older."))
        emit(server, newer, text("Newer."))
        while used(server, newer) <= used(server, work):  # the times of files are those of a tick
            emit(server, newer, text("Newer."))
        process = vantage.start("watch")
        assert read_line(process.stdout) == "• Newer.\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate()[1].decode() == f"vantage: watching {newer}, which was used last\n"


def test_a_server_that_is_killed_and_started_again(private_home):
    with serving(private_home) as server, command_line.of(server) as vantage:
        vantage("new", "work", "--no-rc")
        emit(server, "work", text("Before."), started("1", "make"))
        terminal = vantage.in_terminal("watch", "work", columns=60, lines=20)
        terminal.wait_for(lambda t: t.shown == ["• Before.", "", "• Running make"])
        server.kill()
        waits = ["• Before.", "", "• Running make", "", "• the server has gone: waiting for it"]
        terminal.wait_for(lambda t: t.shown == waits)
        # what happens while no server runs is in the log of the next one
        server.start()
        emit(server, "work", finished("1", "built"), text("After."))
        whole = ["• Before.", "", "• Ran make", "  └ built", "", "• After."]
        terminal.wait_for(lambda t: t.shown == whole)
        os.kill(terminal.process.pid, signal.SIGINT)
        terminal.finish()
        assert terminal.everything == whole
        more_than_a_snapshot_has(vantage, server)
        vantage("delete", "work")


def more_than_a_snapshot_has(vantage, server):
    """Rows that changed while the watcher was disconnected are printed whole and once, however many they are."""
    process = vantage.start("watch", "work", "--last", "1")
    assert read_line(process.stdout) == "• After.\n"
    process.send_signal(signal.SIGSTOP)
    server.kill()
    server.start()
    emit(server, "work", *(text(f"Row {number}.") for number in range(450)))
    process.send_signal(signal.SIGCONT)
    printed = [read_line(process.stdout) for _ in range(900)]
    assert printed == [line for number in range(450) for line in ("\n", f"• Row {number}.\n")]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (out, err.decode()) == (b"", "vantage: the server has gone: waiting for it\n")


def test_a_conversation_that_is_deleted(vantage, server):
    with server.conversation() as conversation:
        emit(server, conversation, text("Here."))
        process = vantage.start("watch", conversation)
        assert read_line(process.stdout) == "• Here.\n"
        assert json.loads(vantage("delete", conversation, "--json"))["ok"] is True
        out, err = process.communicate()
        assert (process.returncode, out) == (1, b"")
        assert err.decode().startswith(f"Error: conversation '{conversation}' was deleted")


def ask(server: Server, conversation: str, title: str, *options: object) -> dict:
    fields = {"title": title, "options": list(options) or ["yes", "no"]}
    answer = server.post(f"/v1/conversations/{conversation}/requests", fields)
    assert answer.status == 200, answer.body
    return answer.json


def answered(server: Server, conversation: str, asked: dict) -> str | None:
    whole = server.get(f"/v1/conversations/{conversation}/requests/{asked['request_id']}").json
    return whole.get("answer", {}).get("option")


def press(terminal, key: str, asked: dict) -> None:
    """Presses a key once the keys of a request are shown."""
    terminal.wait_for(lambda t: t.shown[-1:] and t.shown[-1].startswith(f"{asked['request_id']}: press 1"))
    terminal.type(key)


def leave(terminal) -> None:
    os.kill(terminal.process.pid, signal.SIGINT)
    assert terminal.finish() == 130


def test_a_digit_answers_an_open_request(vantage, server, work):
    asked = ask(server, work, "Deploy?")
    terminal = vantage.in_terminal("watch", work, columns=80, lines=12)
    press(terminal, "2", asked)
    terminal.wait_for(lambda t: t.shown == ["? Asked: Deploy?", "  └ → no (the command line)"])
    assert answered(server, work, asked) == "no"
    leave(terminal)


def test_other_keys_answer_nothing(vantage, server, work):
    asked = ask(server, work, "Deploy?")
    terminal = vantage.in_terminal("watch", work, columns=80, lines=12)
    for key in ("3", "y", "\x1b[A", "12", "\r"):
        press(terminal, key, asked)
        emit(server, work, text(f"After {key!r}."))
        terminal.wait_for(lambda t, key=key: any(f"After {key!r}." in line for line in t.shown))
    assert answered(server, work, asked) is None
    leave(terminal)


def test_two_presses_at_once_answer_one_request(vantage, server, work):
    first, second = ask(server, work, "First?"), ask(server, work, "Second?")
    terminal = vantage.in_terminal("watch", work, columns=80, lines=16)
    press(terminal, "11", first)
    press(terminal, "", second)
    assert (answered(server, work, first), answered(server, work, second)) == ("yes", None)
    leave(terminal)


def test_escape_leaves_a_request_open(vantage, server, work):
    first, second = ask(server, work, "First?"), ask(server, work, "Second?")
    terminal = vantage.in_terminal("watch", work, columns=80, lines=16)
    press(terminal, "\x1b", first)
    press(terminal, "1", second)
    terminal.wait_for(lambda t: any("? Asked: Second?" in line for line in t.shown))
    terminal.wait_for(lambda t: not any("press 1" in line for line in t.shown))
    assert (answered(server, work, first), answered(server, work, second)) == (None, "yes")
    leave(terminal)


def test_keys_of_a_request_that_is_answered_elsewhere_go_away(vantage, server, work):
    asked = ask(server, work, "Deploy?")
    terminal = vantage.in_terminal("watch", work, columns=80, lines=12)
    terminal.wait_for(lambda t: any("press 1" in line for line in t.shown))
    path = f"/v1/conversations/{work}/requests/{asked['request_id']}/answer"
    assert server.post(path, {"option": "no", "hash": asked["hash"], "by": "client:phone"}).status == 200
    terminal.wait_for(lambda t: t.shown == ["? Asked: Deploy?", "  └ → no (client phone)"])
    leave(terminal)


def test_a_request_that_needs_words_has_no_keys(vantage, server, work):
    ask(server, work, "Why?", {"id": "say", "label": "Say why", "needs_text": True})
    terminal = vantage.in_terminal("watch", work, columns=80, lines=12)
    terminal.wait_for(lambda t: any("vantage answer" in line for line in t.shown))
    assert not any("press" in line for line in terminal.shown)
    leave(terminal)


def test_in_a_pipe_a_request_is_printed_when_it_is_made_and_when_it_is_answered(vantage, server, work):
    asked = ask(server, work, "Deploy?")
    process = vantage.start("watch", work)
    lines = [read_line(process.stdout) for _ in range(4)]
    assert lines[0] == "? Asks: Deploy?\n"
    assert lines[3] == f"    answer: vantage answer {asked['request_id']} OPTION\n"
    path = f"/v1/conversations/{work}/requests/{asked['request_id']}/answer"
    server.post(path, {"option": "yes", "hash": asked["hash"], "by": "cli"})
    lines = [read_line(process.stdout) for _ in range(3)]
    assert lines == ["\n", "? Asked: Deploy?\n", "  └ → yes (the command line)\n"]
    process.kill()
    process.communicate()
