"""Commands go in as if typed, and marks say where each begins and ends: bash, zsh, fish and sh in real terminals."""

import os
import re
import signal
from pathlib import Path

import pytest

from home_files import files, holding
from shell_harness import SECRET, Gone, Pty
from vantage.ptyhost import shells

KINDS = ["bash", "zsh", "fish", "sh"]
POSIX = ["bash", "zsh", "sh"]
STATUS = {"bash": "$?", "zsh": "$?", "sh": "$?", "fish": "$status"}


@pytest.fixture(params=KINDS)
def shell(request, tmp_path):
    with Pty(request.param, tmp_path / "shell", home=tmp_path, cwd=tmp_path) as pty:
        yield pty


@pytest.fixture
def start(tmp_path):
    """Starts shells with this or that home, and ends them."""
    running = []

    def begin(kind, **options):
        options.setdefault("home", tmp_path)
        options.setdefault("cwd", tmp_path)
        running.append(Pty(kind, tmp_path / f"shell{len(running)}", **options))
        return running[-1]

    yield begin
    for pty in running:
        pty.__exit__()


# What is typed (one text for all, or one for POSIX shells and one for fish), what it prints, its status.
SAME = None
COMMANDS = {
    "nothing to say": ("true", SAME, "", 0),
    "output": ("echo hi", SAME, "hi\n", 0),
    "a status": ("sh -c 'exit 7'", SAME, "", 7),
    "a list": ("echo a; echo b && false", SAME, "a\nb\n", 1),
    "two lines": ("echo a\necho b", SAME, "a\nb\n", 0),
    "the last of several lines counts": ("false\ntrue", SAME, "", 0),
    "blank lines and spaces": ("\n\n  echo a  \n\n", SAME, "a\n", 0),
    "a compound": ("for i in 1 2; do\n  echo $i\ndone", "for i in 1 2\n  echo $i\nend", "1\n2\n", 0),
    "a heredoc": ("cat <<'E'\na $x `y`\n  b\nE", "cat (printf 'a $x `y`\\n  b\\n' | psub)", "a $x `y`\n  b\n", 0),
    "quotes": ('echo \'it is "it"\' "it\'s"', SAME, 'it is "it" it\'s\n', 0),
    "a quoted newline": ("echo 'a\nb'", SAME, "a\nb\n", 0),
    "a line continued": ("echo a \\\n  b", SAME, "a b\n", 0),
    "a comment": ("echo a # b", SAME, "a\n", 0),
    "comment at the end, as the last line": ("echo a\n# that was it", SAME, "a\n", 0),
    "exclamation marks": ("echo 'a!b' !x '!!' !", SAME, "a!b !x !! !\n", 0),
    "tabs": ("printf '%s\\n' 'a\tb'", SAME, "a\tb\n", 0),
    "unicode": ("echo 'zażółć 漢字 🎉'", SAME, "zażółć 漢字 🎉\n", 0),
    "percent signs": ("echo '%s %n 100%'", SAME, "%s %n 100%\n", 0),
    "backslashes": ("printf '%s\\n' 'a\\b\\\\c\\n'", "printf '%s\\n' 'a\\b\\\\\\\\c\\n'", "a\\b\\\\c\\n\n", 0),
    "no newline at the end": ("printf abc", SAME, "abc", 0),
    "a subshell": ("(cd /; pwd)", "sh -c 'cd /; pwd'", "/\n", 0),
    "stderr": ("echo oops >&2", SAME, "oops\n", 0),
    "a pipeline": ("printf 'b\\na\\n' | sort", SAME, "a\nb\n", 0),
    "a command that is not there": ("surely-not-there", SAME, None, 127),
    "a function that reads": (
        'f() { read x; echo "got $x"; }\necho 1 | f',
        "function f; read x; echo got $x; end\necho 1 | f",
        "got 1\n",
        0,
    ),
    "killed": ("sh -c 'kill -TERM $$'", SAME, None, 143),
    "a job in the background": ("sleep 0 & wait", SAME, None, 0),
}


@pytest.mark.parametrize("kind", KINDS)
def test_commands_do_what_typing_them_would(kind, start):
    pty = start(kind)
    for name, (posix, fish, output, status) in COMMANDS.items():
        command = fish if kind == "fish" and fish is not None else posix
        ran = pty.run(command)
        assert (name, ran.status, ran.started) == (name, status, True)
        if output is not None:
            assert (name, ran.output) == (name, output)
        assert pty.run(f"echo {STATUS[kind]}").output == f"{status}\n", name


def test_the_screen_shows_the_command_and_no_plumbing(shell):
    ran = shell.run("echo a; echo b")
    assert "echo a; echo b" in ran.echo
    shell.run("x=1\n" * 50 if shell.shell.kind != "fish" else "set x 1\n" * 50)
    seen = shell.seen()
    assert "vantage" not in seen
    assert str(shell.folder) not in seen
    assert "520" not in seen


def test_marks_come_in_order(shell):
    shell.run("true")
    shell.run("echo x")
    first = {}
    for mark in shell.marks:
        first.setdefault((mark.n, mark.kind), mark.start)
    order = [f"{kind}{n}" for (n, kind), _ in sorted(first.items(), key=lambda item: item[1])]
    assert order == ["D1", "A1", "B1", "C1", "D2", "A2", "B2", "C2", "D3", "A3", "B3"]


def test_nothing_and_comments_are_no_commands(shell):
    for text in ("", "\n", "   ", "# nothing", "# nothing\n\n"):
        ran = shell.run(text)
        assert (ran.output, ran.status) == ("", 0)
    assert shell.run("echo on").output == "on\n"


STATE = {
    "posix": [
        ("cd /usr", "", "/usr"),
        ("export X=1; Y=2", "", "/usr"),
        ("f() { echo f$1; }", "", "/usr"),
        ("alias ll='echo aliased'", "", "/usr"),
        ("trap 'echo trapped' USR1", "", "/usr"),
        ("sh -c 'echo $X'; echo $Y; f 3", "1\n2\nf3\n", "/usr"),
        ("ll x", "aliased x\n", "/usr"),
        ("kill -USR1 $$", "trapped\n", "/usr"),
        ("set -- a b", "", "/usr"),
        ("echo $# $2", "2 b\n", "/usr"),
        ("umask 027; umask", "0*27\n", "/usr"),
    ],
    "fish": [
        ("cd /usr", "", "/usr"),
        ("set -x X 1; set Y 2", "", "/usr"),
        ("function f; echo f$argv[1]; end", "", "/usr"),
        ("alias ll='echo aliased'", "", "/usr"),
        ("function on_usr --on-signal USR1; echo trapped; end", "", "/usr"),
        ("sh -c 'echo $X'; echo $Y; f 3", "1\n2\nf3\n", "/usr"),
        ("ll x", "aliased x\n", "/usr"),
        ("kill -USR1 $fish_pid; true", "trapped\n", "/usr"),
    ],
}


@pytest.mark.parametrize("long", [False, True], ids=["typed", "long"])
def test_state_stays(shell, long):
    for command, output, cwd in STATE.get(shell.shell.kind, STATE["posix"]):
        ran = shell.run(command + "\n:" * 40 if long and "kill" not in command else command)
        assert re.fullmatch(output, ran.output), command
        assert (ran.status, ran.cwd) == (0, cwd), command


def test_declare_in_bash(start):
    pty = start("bash")
    pty.run("declare -A map=([a]=1); declare -i n=3" + "\n:" * 40)
    pty.run("declare -a list=(x y)")
    assert pty.run('n+=4; echo "${map[a]} $n ${list[1]}"').output == "1 7 y\n"


def test_a_directory_is_gone_to_first_and_stays(shell, tmp_path):
    odd = tmp_path / "a;b%c d'é"
    odd.mkdir()
    ran = shell.run("pwd", cwd=str(odd))
    assert (ran.output, ran.cwd) == (f"{odd}\n", str(odd))
    assert shell.run("pwd").output == f"{odd}\n"
    assert [m.cwd for m in shell.marks if m.kind == "C"] == [str(odd), str(odd)]
    ran = shell.run("touch here", cwd="/surely/not/there")
    assert ran.status != 0
    assert "/surely/not/there" in ran.output
    assert ran.cwd == str(odd)
    assert not (odd / "here").exists()
    assert shell.run("pwd" + "\n:" * 40, cwd="/").cwd == "/"


def test_universal_variables_of_fish(start):
    pty = start("fish", user_rc=True)
    pty.run("set -U universal 5")
    assert start("fish", user_rc=True).run("echo $universal").output == "5\n"


def test_directory_hooks_run(start):
    zsh = start("zsh")
    zsh.run("chpwd() { hooked=$PWD; print hooked }")
    assert zsh.run("echo $hooked", cwd="/usr").output == "/usr\n"
    fish = start("fish")
    fish.run("function hook --on-variable PWD; set -g hooked $PWD; end")
    assert fish.run("echo $hooked", cwd="/usr").output == "/usr\n"


@pytest.mark.parametrize("command", ["exit 3", "exec true", "set -e\nfalse", "kill -KILL $$"])
def test_the_shell_ends_with_a_start_and_no_end(shell, command):
    if shell.shell.kind == "fish":
        command = {"set -e\nfalse": "exit 1", "kill -KILL $$": "kill -KILL $fish_pid"}.get(command, command)
    shell.type(command)
    with pytest.raises(Gone):
        shell.until("D")
    assert [m.kind for m in shell.marks if m.n == 1][-1] == "C"


OPEN = {
    "a quote": "echo 'abc",
    "a double quote": 'echo "abc',
    "a compound": "if true; then",
    "a brace": "f() {",
    "a pipe": "echo a |",
    "a heredoc": "cat <<E\nabc",
    "a backslash": "echo a \\",
}
FISH_OPEN = {"a quote": "echo 'abc", "a compound": "if true", "a function": "function f", "a pipe": "echo a |"}
SH_CANNOT = {"a heredoc", "a backslash"}
"""dash takes the end of the text for the end of these."""


def test_unfinished_input_is_said_and_can_be_cancelled(shell):
    kind = shell.shell.kind
    for name, text in (FISH_OPEN if kind == "fish" else OPEN).items():
        if kind == "sh" and name in SH_CANNOT:
            continue
        cycle = shell.n
        shell.type(text)
        mark = shell.until_in_cycle("P")
        assert (name, mark.n) == (name, cycle)
        shell.write(shells.CANCEL[kind])
        shell.until("B")
        assert shell.run("echo on").output == "on\n", name


def test_syntax_errors_are_the_shells_own_words(shell):
    for text in ("echo a )", ":\n" * 40 + "echo a )"):
        ran = shell.run(text)
        assert ran.status not in (0, None)
        assert re.search(r"unexpected|parse error", ran.output, re.IGNORECASE), ran
        assert "vantage" not in ran.output
        assert shell.run("echo on").output == "on\n"


def test_a_megabyte_of_script(shell):
    line = 'printf "" # żółć "quoted" \\ !x\n'
    text = line * (1_100_000 // len(line)) + "echo end; cd /usr; false"
    ran = shell.run(text)
    assert (ran.output, ran.status, ran.cwd) == ("end\n", 1, "/usr")
    assert len(ran.echo) < 1000
    # What is shown stays: nothing wipes it, and the line ends there.
    assert re.search(r'printf "" # żółć .*… \(\+\d+ lines\)\r*\n\r*$', ran.echo), ran.echo
    shown = shell.raw[shell.raw.rindex("… (+".encode()) :]
    assert b"\x1b[K" not in shown[: shown.index(b"\n")]
    assert "vantage" not in ran.echo
    ran = shell.run("echo " + "x" * 200_000)
    assert ran.output == "x" * 200_000 + "\n"
    assert len(ran.echo) < 1000


def test_any_byte_but_nul(shell, tmp_path):
    odd = bytes(range(1, 256)).replace(b"'", b"").replace(b"\\", b"").decode(errors="surrogateescape")
    shell.run(f"printf %s '{odd}' >{tmp_path}/bytes" + "\n:" * 40)
    assert (tmp_path / "bytes").read_bytes() == os.fsencode(odd)
    with pytest.raises(ValueError, match="NUL"):
        shells.type_command(shell.shell, shell.folder, "a\0b", cwd=None)


def test_interrupting_gives_a_prompt(shell):
    shell.type("sh -c 'echo up; exec sleep 100'")
    while "up\n" not in shell.seen(shell.typed_at):
        shell._read()
    shell.write(b"\x03")
    assert shell.until("D").status == 130
    shell.until("B")
    assert shell.run("echo on").output == "on\n"


def test_a_program_reads_the_terminal(shell):
    shell.type("sh -c 'printf ready; read x; echo got $x'")
    while "ready" not in shell.seen(shell.until_in_cycle("C").end):
        shell._read()
    shell.write(b"abc\r")
    shell.until("B")
    assert shell.result(1, 2).output == "readyabc\ngot abc\n"


def test_typing_by_hand_is_marked_too(shell):
    shell.typed_at = len(shell.raw)
    shell.write(b"echo by hand\r")
    shell.until("B")
    if shell.shell.kind != "sh":
        assert shell.result(1, 2).output == "by hand\n"
    assert "by hand" in shell.seen()
    assert shell.run("stty -a | grep -wc -e '-echo'").output == "0\n"


def test_marks_reach_the_terminal_past_redirections(start):
    for kind, command in {"bash": "exec >/dev/null", "zsh": "exec >/dev/null 2>&1", "sh": "exec >/dev/null"}.items():
        pty = start(kind)
        assert pty.run(command).status == 0
        assert pty.run("echo unseen; false").status == 1
        assert pty.run("exec >/dev/tty").status == 0
        assert pty.run("exec 2>/dev/null").status == 0
        assert pty.run("echo seen; (exit 3)").output == "seen\n"
        assert pty.run("echo $?").output == "3\n"
        assert pty.run("exec 2>/dev/tty").status == 0
        assert pty.run("echo seen").output == "seen\n"


@pytest.mark.parametrize("kind", KINDS)
def test_the_environment_of_a_child(kind, start):
    shell = start(kind, env={"COLUMNS": "7", "LINES": "7", "PAGER": "less"})
    env = dict(line.split("=", 1) for line in shell.run("env").output.splitlines() if "=" in line)
    assert (env["TERM"], env["COLORTERM"]) == ("xterm-256color", "truecolor")
    assert {env[name] for name in ("PAGER", "GIT_PAGER", "GH_PAGER", "MANPAGER", "SYSTEMD_PAGER")} == {"cat"}
    assert not {"COLUMNS", "LINES", "ZDOTDIR", "ENV"} & set(env)
    assert not [name for name in env if "vantage" in name.lower()]


@pytest.mark.parametrize(
    ("given", "charset"),
    [
        ({}, {"LANG": "C.UTF-8", "LC_CTYPE": "C.UTF-8"}),
        ({"LANG": "de_DE.UTF-8"}, {"LANG": "de_DE.UTF-8"}),
        ({"LANG": "C.UTF-8", "LC_ALL": "C"}, {"LANG": "C.UTF-8", "LC_CTYPE": "C.UTF-8"}),
        ({"LC_ALL": "pl_PL.utf8"}, {"LC_ALL": "pl_PL.utf8"}),
    ],
)
def test_a_utf8_locale(tmp_path, given, charset):
    env = shells.launch(shells.Shell("bash", "/bin/bash"), tmp_path, secret=SECRET, env=given, user_rc=False).env
    assert {name: env[name] for name in env if name.startswith(("LANG", "LC_"))} == charset


def test_the_users_own_variables_come_back(start, tmp_path):
    (tmp_path / "z").mkdir()
    (tmp_path / "z" / ".zshrc").write_text("from_rc=1\n")
    (tmp_path / "myenv").write_text("from_rc=2\n")
    zsh = start("zsh", env={"ZDOTDIR": str(tmp_path / "z")}, user_rc=True)
    assert zsh.run("echo $from_rc $ZDOTDIR; env | grep -c ZDOTDIR").output == f"1 {tmp_path}/z\n1\n"
    sh = start("sh", env={"ENV": str(tmp_path / "myenv")}, user_rc=True)
    assert sh.run("echo $from_rc $ENV; env | grep -c ^ENV").output == f"2 {tmp_path}/myenv\n1\n"


def test_the_secret_is_nowhere_to_be_found(shell):
    listing = {"fish": "set -x; set -xL", "zsh": "export; export -p", "bash": "export -p; export -fp"}
    for allexport in ("true", "set -a; Z=1"):
        if shell.shell.kind == "fish" and allexport != "true":
            continue
        shell.run(allexport)
        shell.run("true")
        for command in ("env", listing.get(shell.shell.kind, "export -p"), "sh -c 'cat /proc/$$/environ'"):
            ran = shell.run(command)
            assert SECRET not in ran.output
            assert "vantage" not in ran.output.lower().replace(str(shell.folder), ""), command
    for name in ("environ", "cmdline"):
        assert SECRET.encode() not in Path(f"/proc/{shell.pid}/{name}").read_bytes()
    assert holding(shell.folder, SECRET) == []
    assert {mode & 0o777 for _, mode in files(shell.folder)} <= {0o600}


@pytest.mark.parametrize("outer", POSIX)
@pytest.mark.parametrize("inner", ["bash --norc -i", "bash -i", "zsh -f -i", "zsh -i", "fish -N -i", "dash -i"])
def test_nested_shells_print_no_mark_of_ours(outer, inner, start):
    pty = start(outer)
    pty.run('set -a; PS1="$PS1"; export PS1 PS2' if outer != "zsh" else "setopt allexport; export PS1")
    pty.run("true")
    pty.type(inner)
    pty.until_in_cycle("C")
    before = len(pty.raw)
    pty.write(b"echo in''side\r")
    while "inside" not in pty.seen(before):
        pty._read()
    pty.write(b"exit 5\r")
    assert pty.until("D").status == 5
    pty.until("B")
    assert [m.kind for m in pty.marks if m.start >= before and m.n <= 3] == []
    assert SECRET not in pty.seen()
    assert pty.run("echo back").output == "back\n"


HISTORY = {
    "bash": ["history", "fc -l -50", "history | tail -n 60"],
    "zsh": ["history", "fc -l", "history | tail -n 60"],
    "fish": ["history", "builtin history", "history | tail -n 60"],
}


@pytest.mark.parametrize("kind", list(HISTORY))
def test_history_has_what_was_typed_and_nothing_else(kind, start):
    pty = start(kind)
    long = ": long" + "\n:" * 40
    for command in ("echo one", "echo 'two\nlines'", "  echo spaced", long, ": after"):
        pty.run(command)
    for command in HISTORY[kind]:
        listed = pty.run(command).output
        assert "echo one" in listed
        assert "after" in listed
        assert re.search(r"echo 'two(\n|\\n)lines'", listed), listed
        assert "vantage" not in listed
        assert "…" not in listed
        assert ("long" in listed) == (kind != "fish")


def test_pokes_and_intact_hooks(shell):
    shell.run("sh -c 'exit 4'")
    cycle = shell.n
    typed = shells.poke(shell.shell, shell.folder)
    shell.write(typed.data, echo_off=typed.echo_off)
    if shell.shell.kind == "sh":
        shell.until("B")
    ran = shell.run(f"echo {STATUS[shell.shell.kind]}")
    assert ran.output == "4\n"
    assert shell.n == cycle + (2 if shell.shell.kind == "sh" else 1)


LOST = {
    "bash": "unset PROMPT_COMMAND; PS1='y '; (exit 6)",
    "zsh": "precmd_functions=(); f() { : }; zle -N zle-line-init f; (exit 6)",
}


@pytest.mark.parametrize("kind", list(LOST))
def test_a_poke_brings_lost_hooks_back(kind, start):
    pty = start(kind)
    pty.type(LOST[kind])
    pty.until_in_cycle("C")
    pty.write(shells.POKE)
    assert pty.until("D").status == 6
    pty.until("B")
    assert pty.run("echo $?").output == "6\n"
    assert pty.run("echo on").output == "on\n"


def test_sh_puts_its_prompt_back_by_itself(start):
    pty = start("sh")
    assert pty.run("PS1='mine '; (exit 6)").status == 6
    assert pty.run("echo $?").output == "6\n"
    assert "mine " in pty.seen()


def test_names_and_paths_of_shells(tmp_path):
    search = os.environ["PATH"]
    assert shells.find("bash", search).kind == "bash"
    assert shells.find("dash", search).kind == "sh"
    path = shells.find("zsh", search).path
    assert shells.find(path, "") == shells.Shell("zsh", path)
    for name in ("tcsh", "", str(tmp_path / "bash")):
        with pytest.raises(shells.UnknownShell, match="installed here: bash, zsh, fish, sh"):
            shells.find(name, search)
    with pytest.raises(ValueError, match="none"):
        shells.find("bash", str(tmp_path))


def test_killed_by_a_signal(shell):
    shell.type("sh -c 'kill -SEGV $$'")
    assert shell.until("D").status == 128 + signal.SIGSEGV
