"""The players of `bench/turns`: what they count, that a wrong answer fails, and the table in the documentation."""

import sys

import pytest

from places import ROOT

sys.path.insert(0, str(ROOT))

from bench.run.answers import AT_END
from bench.turns import __main__ as command
from bench.turns import codex_player, vantage_player
from bench.turns.count import Call, Played, Sheet, Wrong
from bench.turns.steps import apart, exec_block, exec_command, exec_interactive, send, write_stdin
from bench.turns.tasks import TASKS, Task


def task(name):
    return next(one for one in TASKS if one.name == name)


@pytest.fixture
def played():
    """Our player with a server that goes at the end."""
    yield vantage_player.played
    while AT_END:
        AT_END.pop()()


def test_a_task_costs_half_the_calls_that_it_did(played):
    one = task("a password")
    assert played(tasks=[one]).calls == 2
    former = played(tasks=[one], former=True)
    assert [call.tool for call in former.played[0].calls] == [
        "pty_exec_interactive", "pty_wait_for", "pty_send", "pty_wait_for",
    ]  # fmt: skip


def test_codex_plays_a_task_with_its_own_tools():
    sheet = codex_player.played([task("a password")])
    calls = sheet.played[0].calls
    assert [call.tool for call in calls[:2]] == ["exec_command", "write_stdin"]
    assert "The vault is open." in calls[-1].shown
    assert sheet.tools > 0


def test_a_wrong_answer_fails_the_run(played):
    wrong = Task("wrong", [exec_block("echo no", "yes")], [exec_command("echo no", "yes")])
    with pytest.raises(Wrong, match=r"wrong: pty_read_screen \{\}: expected \['yes'\]"):
        played(tasks=[wrong])
    with pytest.raises(SystemExit, match="Codex did not finish 'wrong'"):
        codex_player.played([wrong])


def test_a_wait_that_times_out_fails_the_run(played):
    never = Task("never", [exec_interactive("cat", {"match": "no", "timeout_ms": 1})], [])
    with pytest.raises(Wrong, match="never: pty_exec_interactive"):
        played(tasks=[never])


def test_the_former_pattern_waits_apart():
    steps = [send("a\n", "b", "c"), send("a\n", {"match": "b", "timeout_ms": 9}), exec_block("ls", "d")]
    assert [(step.tool, step.args, step.shows) for step in apart(steps)] == [
        ("pty_send", {"data": "a\n"}, ()),
        ("pty_wait_for", {"match": "b"}, ("c",)),
        ("pty_send", {"data": "a\n"}, ()),
        ("pty_wait_for", {"match": "b", "timeout_ms": 9}, ()),
        ("pty_exec_block", {"command": "ls"}, ("d",)),
    ]


def test_every_task_is_played_with_both_sets_of_tools():
    for one in TASKS:
        assert {step.tool for step in one.codex} <= set(codex_player.TOOLS)
        assert one.ours
        assert any(step.shows for step in one.ours)
        assert any(step.shows for step in one.codex)


def sheet(calls, tokens):
    call = Call("tool", "a" * 2 * tokens, "b" * 2 * tokens, "b" * tokens)
    return Sheet([Played("a task", [call] * calls)], 1000)


def test_a_run_in_the_documentation(tmp_path):
    """A new run takes the place of the last one."""
    page = tmp_path / "page.md"
    page.write_text(f"before\n\n{command.BEGIN}last year\n{command.END}\nafter\n")
    command.write({"ours": sheet(2, 100), "codex": sheet(4, 100), "before": sheet(8, 100)}, page)
    assert page.read_text() == (
        f"before\n\n{command.BEGIN}"
        "| task | calls | Codex | before | tokens | Codex | before | as text |\n"
        "|---|--:|--:|--:|--:|--:|--:|--:|\n"
        "| a task | 2 | 4 | 8 | 200 | 400 | 800 | 150 |\n"
        "| the list of tools, once | | | | 1,000 | 1,000 | 1,000 | 1,000 |\n"
        "| **together** | 2 | 4 | 8 | 1,200 | 1,400 | 1,800 | 1,150 |\n"
        "| ours to that | | 0.50 | 0.25 | | 0.86 | 0.67 | |\n"
        f"{command.END}\nafter\n"
    )
    assert command.BEGIN in command.PAGE.read_text()


def test_the_documented_table_has_every_task():
    """`make bench-turns` writes it; a task that was added or renamed needs a new run."""
    run = command.PAGE.read_text().partition(command.BEGIN)[2].partition(command.END)[0]
    assert [line.split(" | ")[0].removeprefix("| ") for line in run.splitlines()[2:-3]] == [one.name for one in TASKS]


def test_a_report_has_every_call():
    sheets = {name: sheet(2, 10) for name in ("ours", "codex", "before")}
    tasks = command.report(sheets)["players"]["ours"]["tasks"]
    assert [(one["name"], len(one["calls"]), one["tokens"]) for one in tasks] == [("a task", 2, 20)]


def test_input_goes_to_the_program_that_was_started_last():
    steps = [exec_command("one", "running"), exec_command("two", "running"), write_stdin("x", "exited")]
    playing = codex_player._script(Task("two programs", [], steps))
    next(playing)
    playing.send("running with session ID 7")
    (call,) = playing.send("running with session ID 8")
    assert call.args == {"session_id": 8, "chars": "x"}


def test_an_answer_that_came_too_early_costs_a_poll():
    playing = codex_player._script(Task("slow", [], [exec_command("slow", "done")]))
    next(playing)
    (poll,) = playing.send("Process running with session ID 7\nOutput:\n")
    assert (poll.tool, poll.args["session_id"], "chars" in poll.args) == ("write_stdin", 7, False)
    with pytest.raises(StopIteration):
        playing.send("Process exited with code 0\nOutput:\ndone\n")
