"""`vantage exec`, `run`, `send` and `wait`: streams, exit codes, Ctrl-C, waits that time out, secrets."""

import json
import os
import re
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

import command_line
from command_line import read_line
from home_files import holding
from server_home import serving
from terminal_home import PATIENCE
from terminals import VANTAGE


def ended(process: subprocess.Popen) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out.decode(), err.decode()


def test_the_exit_code_is_the_commands(vantage, work):
    for code in (0, 1, 3, 124, 255):
        ran = vantage.run("exec", work, f"(exit {code})")
        assert (ran.code, ran.out, ran.err) == (code, "", "")
    assert vantage.run("exec", work, "--", "no-such-program").code == 127


def test_words_are_words_and_one_word_is_a_line(vantage, work):
    assert vantage("exec", work, "--", "printf", "%s|", "a  b", "$HOME", "*") == "a  b|$HOME|*|"
    assert vantage("exec", work, "cd /; X='a  b'; echo $X | tr a c") == "c b\n"
    assert vantage("exec", work, "--", "pwd") == "/\n"


def test_a_long_output_is_whole(vantage, work):
    text = vantage("exec", work, "--", "seq", "300000")
    assert text == "".join(f"{number}\n" for number in range(1, 300_001))


def test_output_that_is_no_text_and_none_that_ends_a_line(vantage, work):
    assert vantage("exec", work, r"printf 'a\xffb'; printf 'é€😀'") == "a\ufffdbé€😀"
    assert vantage("exec", work, r"printf 'one\rtwo\n'; printf '\e[31mred\e[m\n'") == "one\rtwo\nred\n"


def test_output_comes_as_it_is_printed(vantage, work, tmp_path):
    os.mkfifo(tmp_path / "go")
    process = vantage.start("exec", work, f"echo first; cat {tmp_path}/go; echo last; (exit 5)")
    assert read_line(process.stdout) == "first\n"
    (tmp_path / "go").write_text("second\n")
    assert ended(process) == (5, "second\nlast\n", "")


def test_ctrl_c_interrupts_the_command(vantage, work):
    process = vantage.start("exec", work, "echo ready; sleep 1000")
    assert read_line(process.stdout) == "ready\n"
    process.send_signal(signal.SIGINT)
    assert ended(process) == (130, "^C\n", "")
    assert json.loads(vantage("status", work, "--json"))["mode"] == "idle"


def test_ctrl_c_interrupts_the_command_with_json_too(vantage, work, tmp_path):
    os.mkfifo(tmp_path / "ready")
    # one process from beginning to end: between two commands, the shell itself would be interrupted
    process = vantage.start("exec", work, "--json", "--", "sh", "-c", f"echo > {tmp_path}/ready; exec sleep 1000")
    (tmp_path / "ready").read_text()
    process.send_signal(signal.SIGINT)
    assert ended(process) == (130, "", "")
    vantage("wait", work, "--prompt")
    assert json.loads(vantage("status", work, "--json"))["last_exit_code"] == 130


# an interrupt may come twice, by the terminal and by a signal: it says so once
STUBBORN = """
import os, signal
said = []
signal.signal(signal.SIGINT, lambda *_: said or (said.append(1), os.write(1, b"not" + b" yet\\n")))
os.write(1, b"ready\\n")
while True:
    signal.pause()
"""


def test_ctrl_c_twice_leaves_it_running(vantage, work, tmp_path):
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    process = vantage.start("exec", work, "--", "python3", str(tmp_path / "stubborn.py"))
    assert read_line(process.stdout) == "ready\n"
    process.send_signal(signal.SIGINT)
    assert read_line(process.stdout) == "^Cnot yet\n"
    process.send_signal(signal.SIGINT)
    assert ended(process) == (130, "", f"vantage: it runs on: 'vantage read {work} b1' prints it all\n")
    assert json.loads(vantage("status", work, "--json"))["mode"] == "block_running"
    busy = vantage.run("exec", work, "true")
    assert busy.code == 1
    assert busy.err.startswith("Error: a command runs (python3 ")
    vantage("reset", work)
    assert "reset" in vantage("blocks", work)


def test_a_time_limit_and_a_start_without_waiting(vantage, work, tmp_path):
    os.mkfifo(tmp_path / "go")
    late = vantage.run("exec", work, "--timeout", "300ms", f"echo so far; cat {tmp_path}/go")
    assert (late.code, late.out in ("", "so far\n")) == (124, True)
    assert late.err == f"vantage: it runs on after its time: 'vantage wait {work} --eof'\n"
    (tmp_path / "go").write_text("the rest\n")
    vantage("wait", work, "--prompt")
    assert vantage("read", work) == "so far\nthe rest\n"
    block = vantage("exec", work, "--detach", f"echo away; cat {tmp_path}/go").strip()
    assert block == "b2"
    (tmp_path / "go").write_text("")
    vantage("wait", work, "--prompt")
    assert vantage("read", work, block) == "away\n"


def test_exec_leaves_the_place_of_waits_alone(vantage, work, tmp_path):
    """A wait after a command looks from where its output began, also when another client followed it meanwhile."""
    os.mkfifo(tmp_path / "go")
    process = vantage.start("exec", work, f"echo here; cat {tmp_path}/go")
    assert read_line(process.stdout) == "here\n"
    (tmp_path / "go").write_text("")
    assert ended(process) == (0, "", "")
    assert vantage("wait", work, "here", "--timeout", "0") == "here\n"


def test_a_reader_that_leaves_ends_the_command(vantage, work):
    line = f"{' '.join(VANTAGE)} exec {work} -- yes | head -n 1"
    done = subprocess.run(["bash", "-c", line], env=vantage.env, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.stdout, done.stderr) == ("y\n", "")
    vantage("wait", work, "--prompt")


def test_a_command_that_asks_for_a_secret_says_so(vantage, work):
    process = vantage.start("exec", work, "read -rsp 'Pass''word: ' word; echo; echo ${#word} characters")
    said = read_line(process.stderr)
    assert said == f"vantage: it asks for a secret: 'vantage send {work} --secret' answers, in another terminal\n"
    vantage("send", work, "--secret", stdin="xyzzy\n")
    assert ended(process) == (0, "Password: \n5 characters\n", "")


def test_for_programs(vantage, work):
    ran = vantage.run("exec", work, "--json", "echo out; (exit 6)")
    answer = json.loads(ran.out)
    assert (ran.code, answer["exit_code"], answer["output"], answer["block_id"]) == (6, 6, "out\n", "b1")
    assert json.loads(vantage("exec", work, "--json", "--detach", "true"))["block_id"] == "b2"
    vantage("wait", work, "--prompt")
    late = vantage.run("exec", work, "--json", "--timeout", "100ms", "--", "sleep", "1000")
    assert (late.code, json.loads(late.out)["running"]) == (124, True)
    assert json.loads(vantage("keys", work, "C-c", "--json"))["ok"] is True


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        ("echo 'unfinished", None, "the shell asked for more"),
        ("exit 3", None, "the shell ended with it"),
    ],
)
def test_a_command_that_does_not_end_as_commands_do(vantage, work, command, code, says):
    ran = vantage.run("exec", work, command)
    assert ran.code != 0
    assert says in ran.err
    after = vantage.run("exec", work, "echo again")
    assert (after.code, after.out) == (0, "again\n")


def test_a_server_that_is_killed_takes_no_command_with_it(private_home, tmp_path):
    os.mkfifo(tmp_path / "go")
    with serving(private_home) as server, command_line.of(server) as vantage:
        vantage("new", "work", "--no-rc")
        process = vantage.start("exec", f"echo before; cat {tmp_path}/go; echo after; (exit 9)")
        assert read_line(process.stdout) == "before\n"
        server.kill()
        server.start()
        (tmp_path / "go").write_text("meanwhile\n")
        assert ended(process) == (9, "meanwhile\nafter\n", "")
        vantage("delete", "work")


# waits


def test_waits(vantage, work):
    vantage("exec", work, "--detach", "printf '\\e]2;a title\\a'; echo on the screen")
    vantage("wait", work, "--screen", "on the screen")
    vantage("wait", work, "--title", "a title")
    vantage("wait", work, "--quiet-ms", "50")
    vantage("wait", work, "--foreground", "bash")
    either = '{"any": [{"text": "nowhere"}, {"screen": "screen"}]}'
    answer = json.loads(vantage("wait", work, "--match", either, "--json"))
    assert (answer["matched"], answer["reason"]) == (True, "screen")
    vantage("exec", work, "--", "clear")
    vantage("wait", work, "--screen-gone", "on the screen")
    vantage("run", work, "--", "cat")
    vantage("keys", work, "C-d")
    vantage("wait", work, "--eof")


def test_a_wait_in_vain(vantage, work):
    vantage("exec", work, "echo the last line")
    vain = vantage.run("wait", work, "never printed", "--timeout", "50ms", "--from", "0")
    assert (vain.code, vain.out) == (124, "")
    assert vain.err.startswith("Error: it did not happen within 0.05 s: the last line is ")
    for_programs = vantage.run("wait", work, "never printed", "--timeout", "50ms", "--json")
    assert (for_programs.code, json.loads(for_programs.out)["reason"]) == (124, "timeout"), "one answer, and no other"
    process = vantage.start("wait", work, "never printed", "--timeout", "1h")
    waiting(vantage, process)
    process.send_signal(signal.SIGINT)
    assert ended(process) == (130, "", "")


def waiting(vantage, process: subprocess.Popen) -> None:
    """Until it has asked the server: it has a socket open."""
    deadline = time.monotonic() + PATIENCE
    opened = Path(f"/proc/{process.pid}/fd")
    while True:
        assert time.monotonic() < deadline
        with suppress(FileNotFoundError):  # one that was closed meanwhile
            if any("socket:" in str(each.readlink()) for each in opened.iterdir()):
                return


# secrets

ASK = "import getpass; secret = getpass.getpass('Pass' + 'word: '); print(len(secret), 'characters')"


def test_a_secret_from_stdin_is_in_no_file(vantage, work):
    vantage("run", work, "--", "python3", "-c", ASK)
    vantage("wait", work, "--secret-prompt")
    assert "a secret" in vantage("status", work)
    refused = vantage.run("send", work, "hunter2", "--enter")
    assert (refused.code, "secret" in refused.err) == (1, True)
    vantage("send", work, "--secret", stdin="xyzzy-98213\n")
    vantage("wait", work, "11 characters")
    vantage("wait", work, "--prompt")
    assert holding(vantage.home, "xyzzy-98213") == []
    shown = vantage.run("send", work, "--secret", stdin="xyzzy-98213\n")
    assert (shown.code, "xyzzy" in shown.err + shown.out) == (1, False)
    assert holding(vantage.home, "xyzzy-98213") == []


def test_a_secret_is_asked_for_without_showing_it(vantage, work):
    vantage("run", work, "--", "python3", "-c", ASK)
    vantage("wait", work, "--secret-prompt")
    terminal = vantage.in_terminal("send", work, "--secret")
    terminal.wait_for(lambda t: "Secret (not shown, not logged):" in "\n".join(t.shown))
    terminal.type("xyzzy-5\n")
    assert terminal.finish() == 0
    assert b"xyzzy" not in terminal.raw
    vantage("wait", work, "7 characters")


def test_text_from_stdin_and_pastes(vantage, work):
    vantage("run", work, "--", "cat")
    vantage("send", work, "-", stdin="from stdin\n")
    vantage("wait", work, "--regex", r"from stdin\s+from stdin")
    vantage("send", work, "pasted", "--paste", "--enter")
    vantage("wait", work, "--regex", "pasted")
    vantage("keys", work, "C-d")
    vantage("wait", work, "--prompt")


def test_a_program_is_ended(vantage, work):
    session = vantage("run", work, "--", "python3", "-q").strip()
    assert re.fullmatch(r"s-[0-9a-f]+", session)
    vantage("wait", work, ">>>")
    assert vantage("end", work) == "exit\n"
    assert vantage("end", work, session) == "already_ended\n"
    vantage("resize", work, "70x12")
    assert vantage("exec", work, "--", "stty", "size") == "12 70\n"
