"""The verbs on the command line, against a real server and real shells."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

import command_line
from command_line import CommandLine
from server_home import serving
from terminal_home import PATIENCE, wait_until_gone
from terminals import VANTAGE
from vantage.cli import main

GUESS = """
import sys
while True:
    guess = input("Guess a number: ")
    if guess == "7":
        print("Correct" + "!")
        break
    print("Too " + ("low" if int(guess) < 7 else "high"))
"""


def test_guess_the_number(vantage, work, tmp_path):
    """A program that asks and answers, driven by nothing but commands."""
    (tmp_path / "guess.py").write_text(GUESS)
    session = vantage("run", work, "--", "python3", str(tmp_path / "guess.py")).strip()
    assert vantage("wait", work, "Guess a number") == "Guess a number\n"
    vantage("send", work, "3", "--enter")
    assert vantage("wait", work, "--regex", "Too (low|high)") == "Too low\n"
    vantage("send", work, "7", "--enter", "--session", session)
    assert vantage("wait", work, "Correct!") == "Correct!\n"
    vantage("wait", work, "--prompt")
    assert json.loads(vantage("status", work, "--json"))["mode"] == "idle"
    assert vantage("read", work) == "Guess a number: 3\nToo low\nGuess a number: 7\nCorrect!\n"


def test_guess_the_number_with_one_command_a_turn(vantage, work, tmp_path):
    (tmp_path / "guess.py").write_text(GUESS)
    session, asked = vantage("run", work, "--wait", "number: ", "--", "python3", str(tmp_path / "guess.py")).split(
        "\n", 1
    )
    assert asked == "Guess a number: \n"
    assert vantage("send", work, "3", "--enter", "--wait", "number: ").endswith("Too low\nGuess a number: \n")
    won = json.loads(vantage("send", work, "7", "--enter", "--wait", "EOF", "--session", session, "--json"))
    assert (won["matched"], won["reason"]) == (True, "eof")
    assert vantage("keys", work, "Enter", "--wait", '{"prompt": true}') != ""
    assert json.loads(vantage("status", work, "--json"))["mode"] == "idle"


def test_a_turn_that_times_out_has_the_exit_code_of_a_wait(vantage, work):
    said = vantage.run("run", work, "--wait", "never", "--timeout", "0.2", "--", "cat")
    assert (said.code, said.err) == (124, "Error: it did not happen within 0.2 s\n"), "cat has printed nothing"
    said = vantage.run("send", work, "here", "--enter", "--wait", "never", "--timeout", "0.2")
    assert (said.code, said.out.endswith("here\nhere\n")) == (124, True)
    said = vantage.run("keys", work, "C-d", "--wait", "{never", "--timeout", "0.2")
    assert (said.code, said.err.split(":")[1]) == (2, " --wait is not JSON")
    vantage("keys", work, "C-d", "--wait", "PROMPT")


def test_a_long_answer_is_cut_to_what_was_asked_for(vantage, work):
    limit = ("--max-output", "20")
    started = vantage("run", work, "--wait", "500", *limit, "--", "seq 1 500; read -r; seq 500; read -r; seq 500")
    assert started.splitlines()[1].startswith("… 1,87")
    assert started.splitlines()[2:] == ["496", "497", "498", "499", "500"]
    for verb, what in (("send", ["go", "--enter"]), ("keys", ["Enter"])):
        typed = vantage(verb, work, *what, "--wait", "500", *limit)
        assert ("bytes left out" in typed, "250" in typed.splitlines()) == (True, False), verb
    waited = json.loads(vantage("wait", work, "--prompt", "--json", "--from", "0", *limit))
    assert ("bytes left out" in waited["tail"], "250" in waited["tail"].splitlines()) == (True, False)


def test_new_sends_this_directory_and_this_environment(vantage, tmp_path):
    here = vantage("new", "--no-rc", "--size", "60x10", cwd=tmp_path, WHO="me", VANTAGE_TOKEN=token(vantage)).strip()
    try:
        said = vantage("exec", here, 'echo "$PWD $WHO ${VANTAGE_TOKEN-none}"; stty size')
        assert said.startswith(f"{tmp_path} me vantage_agent_"), "the shell's own token, not its creator's"
        assert said.endswith(f"_{here}\n10 60\n")
        made = json.loads(vantage("new", "named", "--name", "A name", "--env", "WHO=you", "--cwd", "/", "--json"))
        assert (made["id"], made["name"], made["cwd"], made["state"]) == ("named", "A name", "/", "new")
        assert vantage("exec", "named", "--", "printenv", "WHO") == "you\n"
        again = vantage.run("new", "named")
        assert (again.code, again.err) == (
            1, "Error: there is a conversation 'named' already: use it, or choose another id\n"
        )  # fmt: skip
    finally:
        vantage("delete", here)
        vantage("delete", "named")


def token(vantage) -> str:
    return (vantage.home / "token").read_text().strip()


def test_conversations_are_listed_renamed_closed_and_deleted(vantage, work):
    vantage("exec", work, "--", "true")
    vantage("rename", work, "The \x1b[31mbuild")
    listed = vantage("ls")
    assert re.match(r"CONVERSATION +STATE +USED +DIRECTORY +ABOUT\n", listed)
    (line,) = [line for line in listed.splitlines() if line.startswith(work)]
    assert re.fullmatch(rf"{work} +idle +\S+ +{re.escape(str(vantage.home))} +The \\x1B\[31mbuild", line)
    assert "\x1b" not in listed
    assert "\x1b[32midle" in vantage("ls", FORCE_COLOR="1")
    (one,) = [each for each in json.loads(vantage("ls", "--json"))["conversations"] if each["id"] == work]
    assert one["name"] == "The \x1b[31mbuild"
    vantage("close", work)
    assert "exited" in vantage("status", work)
    assert vantage("read", work, "b1") == ""
    vantage("delete", work)
    gone = vantage.run("status", work)
    assert (gone.code, gone.out) == (1, "")
    assert gone.err.startswith(f"Error: there is no conversation '{work}' in {vantage.home}: ")


def test_blocks_and_what_they_printed(vantage, work):
    vantage("exec", work, "echo one; echo two")
    vantage.run("exec", work, "echo three; (exit 4)")
    lines = vantage("blocks", work).splitlines()
    assert [line.split()[0] for line in lines] == ["BLOCK", "b1", "b2"]
    assert re.fullmatch(r"b2 +4 +\S+ +\S+ +echo three; \(exit 4\)", lines[2])
    assert vantage("read", work) == "three\n"
    assert vantage("read", work, "b1") == "one\ntwo\n"
    cut = vantage.run("read", work, "b1", "--max-output", "4", "--part", "head")
    assert cut.out.startswith("one")
    assert "bytes of b1 are left out: --all prints them" in cut.err
    assert [each["seq"] for each in json.loads(vantage("blocks", work, "--json", "--after", "1"))["blocks"]] == [2]
    assert json.loads(vantage("read", work, "b1", "--json"))["output"] == "one\ntwo\n"
    assert vantage("read", work, "b1", "--search", "t.o", "--regex", "--context", "1") == "1-one\n2:two\n"
    none = vantage.run("read", work, "b1", "--search", "t.o")
    assert (none.code, none.err) == (1, "Error: no line of b1 has 't.o': try a shorter text, or --regex\n")
    assert vantage.run("read", work, "b1", "--regex").code == 2
    assert vantage("search", work, "two") == "b1:2  two\n"
    assert json.loads(vantage("search", work, "t[hw]", "--regex", "--json"))["hits"][0]["text"] == "two"
    nothing = vantage.run("search", work, "elsewhere")
    assert (nothing.code, nothing.err.count("\n")) == (1, 1)


def test_keys_are_encoded_for_the_program(vantage, work):
    vantage("run", work, "--", "bash", "-c", r"printf '\e[?1h'; stty raw -echo; printf 'rea''dy'; head -c 3 | cat -v")
    vantage("wait", work, "ready")
    assert vantage("keys", work, "Up") == ""
    assert vantage("wait", work, "^[OA") == "^[OA\n"
    vantage("wait", work, "--prompt")
    wrong = vantage.run("keys", work, "Upp")
    assert (wrong.code, wrong.err.splitlines()[0][:29]) == (1, "Error: there is no key 'Upp':")


def test_without_a_conversation_it_is_the_variable_or_the_only_one(private_home):
    with serving(private_home) as server, command_line.of(server) as vantage:
        none = vantage.run("status")
        assert (none.code, none.err) == (
            2, f"Error: there is no conversation in {private_home}: 'vantage new' makes one\n",
        )  # fmt: skip
        vantage("new", "first", "--no-rc")
        assert vantage("exec", "echo alone") == "alone\n"
        vantage("keys", "x", "BS", "Enter")
        vantage("new", "second", "--no-rc")
        several = vantage.run("exec", "true")
        assert (several.code, several.out) == (2, "")
        assert several.err == "Error: which conversation? Name it, or set VANTAGE_CONVERSATION: second, first\n"
        chosen = command_line.of(server, VANTAGE_CONVERSATION="second")
        assert "second" in chosen("status")
        assert chosen("exec", "--", "echo", "a  b") == "a  b\n"
        assert "first" in chosen("status", "first")
        assert completed(chosen, "vantage exec s") == ["second"]
        assert "conversation second" in chosen("export", "--format", "text")
        assert "all as kept" in chosen("rebuild", "--check")
        vantage("delete", "first")
        vantage("delete", "second")


def completed(vantage: CommandLine, line: str) -> list[str]:
    """The completions that bash would offer."""
    words = str(len(line.split()) - 1)
    offered = vantage(_VANTAGE_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=words)
    return [each.partition(",")[2] for each in offered.splitlines()]


def test_completion_knows_commands_conversations_and_keys(vantage, work):
    assert completed(vantage, "vantage re") == ["rename", "reset", "resize", "read", "requests", "rebuild"]
    for verb in ("exec", "status", "watch", "screen", "delete", "rebuild"):
        assert completed(vantage, f"vantage {verb} {work[:4]}") == [work]
    assert completed(vantage, "vantage keys PageU") == ["PageUp"]
    assert "--detach" in completed(vantage, "vantage exec --d")


def test_commands_that_act_start_a_server_and_read_only_ones_do_not(private_home):
    vantage = CommandLine(private_home)
    for looking in (["ls"], ["watch", "work"], ["attach", "work"]):
        ran = vantage.run(*looking)
        assert (ran.code in (1, 2, 3), ran.out, ran.err.count("\n")) == (True, "", 1)
    assert vantage.run("ls").code == 3
    assert "vantage serve" in vantage.run("ls").err
    assert not (private_home / "server.json").exists()
    vantage("new", "work", "--no-rc")
    try:
        assert vantage("exec", "echo started") == "started\n"
        assert "work" in vantage("ls")
        vantage("delete", "work")
    finally:
        pid = json.loads((private_home / "server.json").read_text())["pid"]
        os.kill(pid, signal.SIGTERM)
        wait_until_gone(pid)
    assert vantage.run("ls").code == 3


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["exec"], 2, "which command? As in: vantage exec -- make test"),
        (["exec", "a", "b", "--", "true"], 2, "one conversation stands before --, not 2 words: a b"),
        (["exec", "WORK", "--timeout", "soon", "--", "true"], 2, "'soon' is no time: write 30, 0.5, 200ms or 5m"),
        (["exec", "WORK", "make", "--version"], 2, "--version"),
        (["send", "WORK", "--secret", "--", "hunter2"], 2, "a secret is not an argument"),
        (["send"], 2, "what should be typed?"),
        (["keys"], 2, "which keys? As in: vantage keys Up Up Enter"),
        (["wait", "WORK", "--match", "{"], 2, "--match is not JSON"),
        (["wait"], 2, "wait for what?"),
        (["resize", "WORK", "80"], 2, "'80' is no size: write columns x rows, as 120x40"),
        (["end", "WORK", "s-0"], 1, "there is no session 's-0'"),
        (["read", "WORK"], 1, "nothing was run in"),
        (["read", "WORK", "b99"], 1, "b99"),
        (["status", "../etc"], 2, "'../etc' cannot be a conversation's id"),
        (["delete"], 2, "Missing argument 'CONVERSATION'"),
        (["new", "no/slash"], 2, "no/slash"),
        (["new", "--env", "FOO"], 2, "'FOO' is no variable: write NAME=VALUE"),
        (["new", "--size", "5000x10"], 2, "a terminal has 2 to 1000 columns and 1 to 500 rows, not 5000x10"),
        (["new", "--shell", "nosuch"], 1, "'nosuch' is not a known shell: expected one of bash, zsh"),
        (["keys", "Foo"], 2, "'Foo' is none, and names the conversation: vantage keys Foo Up"),
        (["keys", "WORK", "Foo"], 1, "'vantage send' types text"),
    ],
)
def test_errors_are_one_line_with_the_way_out(vantage, work, arguments, code, message):
    words = [work if argument == "WORK" else argument for argument in arguments]
    ran = CliRunner(env={"VANTAGE_HOME": str(vantage.home)}).invoke(main, words)
    assert (ran.exit_code, ran.stdout, ran.stderr.count("\n")) == (code, "", 1), ran.stderr
    assert message in ran.stderr
    assert "hunter2" not in ran.stderr


def test_all_conversations_are_searched(vantage, server, work):
    with server.conversation() as other:
        vantage("exec", work, "echo needle in a haystack")
        vantage("exec", other, "echo another need''le")
        found = vantage("search", "needle", "--all").splitlines()
        assert {line.split()[0] for line in found} == {f"{work}:b1", f"{other}:b1"}


def test_the_way_out_names_commands(vantage, work):
    vantage("run", work, "--", "cat")
    busy = vantage.run("exec", work, "true")
    assert busy.err == (
        "Error: an interactive session runs (cat): 'vantage send' types into it; 'vantage keys' presses keys in it; "
        "'vantage wait' waits for what it prints; 'vantage screen' shows it; 'vantage end' ends it; "
        "'vantage exec' with another conversation id runs it in a second terminal\n"
    )


@pytest.mark.parametrize("verb", ["ls", "watch", "exec"])
def test_an_unknown_token_is_refused(vantage, work, verb):
    words = {"ls": ["ls"], "watch": ["watch", work], "exec": ["exec", work, "true"]}[verb]
    ran = vantage.run(*words, VANTAGE_TOKEN="wrong")
    assert (ran.code, ran.out, ran.err.count("\n"), "token" in ran.err) == (1, "", 1, True), ran


def test_with_json_an_error_is_json_too(vantage, work):
    ran = vantage.run("read", work, "b99", "--json")
    assert ran.code == 1
    assert json.loads(ran.out)["error"]["code"] == "not_found"
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "exit_code", "code", "hint"),
    [
        (["ls", "--home", "/nonexistent"], 3, "no_server", "'vantage serve'"),
        (["read", "nothing"], 1, "not_found", "'vantage new nothing'"),
        (["screen", "nothing"], 1, "not_found", "'vantage new nothing'"),
        (["rebuild", "nothing", "--check"], 1, "not_found", "'vantage new nothing'"),
        (["token", "revoke", "nothing"], 1, "not_found", "'vantage token ls'"),
        (["wait"], 2, "usage", ""),
        (["wait", "--timeout", "soon", "x"], 2, "usage", ""),
    ],
)
def test_with_json_an_error_that_no_server_saw_is_json_too(vantage, arguments, exit_code, code, hint):
    ran = vantage.run(*arguments, "--json")
    said = json.loads(ran.out)
    error = said["error"]
    assert (ran.code, said["ok"], error["code"]) == (exit_code, False, code)
    assert error["hint"].startswith(hint) if hint else error["hint"] == ""
    assert ran.err == f"Error: {error['message']}{': ' if hint else ''}{error['hint']}\n"
    plain = vantage.run(*arguments)
    assert (plain.code, plain.out, plain.err) == (exit_code, "", ran.err)


def test_json_behind_two_dashes_is_a_word_of_the_command(vantage, work):
    ran = vantage.run("exec", "unknown", "--", "ls", "--json")
    assert (ran.code, ran.out) == (1, "")


@pytest.mark.parametrize(
    "arguments", [["ls"], ["exec", "WORK", "seq 10000"], ["screen", "WORK"], ["doctor"], ["--help"]]
)
def test_a_full_disk_is_one_line(vantage, work, arguments):
    vantage("exec", work, "echo something")
    words = [work if argument == "WORK" else argument for argument in arguments]
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(
            [*VANTAGE, *words], stdout=full, stderr=subprocess.PIPE, env=vantage.env, text=True, check=False
        )
    assert (ran.returncode, ran.stderr) == (
        1, "Error: the output cannot be written: No space left on device: make room, or send it elsewhere\n",
    )  # fmt: skip


def test_help_is_a_word_too(vantage):
    assert vantage("help") == vantage("--help")
    assert vantage("help", "exec") == vantage("exec", "--help")
    assert vantage.run("help", "exce").err.endswith("did you mean 'exec'?\n")


def test_a_token_is_taken_back_with_json(vantage):
    made = json.loads(vantage("token", "new", "--name", "phone", "--json"))
    assert json.loads(vantage("token", "revoke", "phone", "--json"))["id"] == made["id"]


def test_a_token_is_listed_without_what_a_terminal_acts_upon(vantage):
    name = "a\u2028b\ufff9c\U000e0041d\x1b]0;e\x07"
    made = json.loads(vantage("token", "new", "--name", name, "--json"))
    listed = vantage("token", "ls")
    said = vantage("token", "revoke", made["id"])
    for shown in (listed, said):
        assert not set("\u2028\ufff9\U000e0041\x1b\x07") & set(shown)
    assert made["id"] in listed


def test_the_server_ends_and_shells_live_on_until_they_are_ended_too(private_home):
    with CommandLine(private_home) as vantage:
        assert vantage("stop") == f"No server runs in {private_home}.\n"
        vantage("new", "work", "--no-rc")
        try:
            vantage("exec", "work", "--", "kept=here")
            first = process_of(private_home, "server")
            said = vantage("stop").splitlines()
            assert said == [
                f"The server has ended (process {first}).",
                "Shells live on: 'vantage stop --shells' ends them.",
            ]
            assert vantage.run("ls").code == 3
            assert vantage("exec", "work", "--", "echo $kept") == "here\n"
            second, host = process_of(private_home, "server"), process_of(private_home, "host")
        finally:
            last = json.loads(vantage("stop", "--shells", "--json"))
        assert last == {"ok": True, "server": second, "host": host}
        assert not (private_home / "host.json").exists()
        assert json.loads(vantage("stop", "--json")) == {"ok": True, "server": None, "host": None}


@pytest.mark.parametrize(
    ("arguments", "closed"),
    [
        (("format",), "<&-"),
        (("ingest", "--conversation", "closed-input"), "<&-"),
        (("mcp",), "<&-"),
        (("ls", "--json"), ">&-"),
        (("format",), "<&- >&-"),
        (("ls", "--json"), "<&- >&- 2>&-"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_closed_standard_streams(vantage, arguments, closed):
    """A stream that the caller closed is empty, or takes what is printed: no command fails on it."""
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *VANTAGE, *arguments],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, env=vantage.env, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("new", "../x"),
        ("ingest", "--conversation", "a b"),
        ("mcp", "--conversation", "../x"),
        ("status", "../x"),
        ("format", "/no/such/file"),
        ("format", "--width", "wide"),
        ("no-such-command",),
        ("--no-such-option",),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_one_line_and_exit_code_2(vantage, arguments):
    """Also for values that the server refuses."""
    ran = vantage.run(*arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran
    assert ran.err.startswith("Error: ")


def test_control_bytes_of_programs_do_not_act_on_the_terminal(vantage, work):
    command = ("exec", work, "--", r"printf 'A\342\200\256B\302\233C\rD\n'")
    assert vantage(*command) == "A\u202eBC\rD\n", "in a pipe it is what it is"
    terminal = vantage.in_terminal(*command)
    terminal.finish()
    assert bytes(terminal.raw) == b"A\\u202EBC\rD\r\n"


def test_a_list_is_as_wide_as_the_window(vantage, work):
    vantage("rename", work, "A name that is longer than what is left of the window")
    columns = len(work) + 20
    terminal = vantage.in_terminal("ls", columns=columns, NO_COLOR="1")
    terminal.finish()
    lines = bytes(terminal.raw).decode().splitlines()
    (line,) = [line for line in lines if line.startswith(work)]
    assert line.endswith("…")
    assert all(len(line) <= columns for line in lines), "none is broken in two"


def process_of(home: Path, name: str) -> int:
    return json.loads((home / f"{name}.json").read_text())["pid"]
