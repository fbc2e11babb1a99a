"""Themes, options and traps of the user do what they want; the marks stay, and nothing of ours shows."""

import pytest

from shell_harness import SECRET, Pty
from vantage.ptyhost import shells


@pytest.fixture
def start(tmp_path):
    """Starts a shell with that rc file, and ends it."""
    running = []

    def begin(kind, rc="", **options):
        names = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish", "sh": "shrc"}
        path = tmp_path / names[kind]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(rc)
        env = {"ENV": str(path)} if kind == "sh" else {}
        running.append(Pty(kind, tmp_path / f"shell{len(running)}", home=tmp_path, cwd=tmp_path, env=env, user_rc=True))
        return running[-1]

    yield begin
    for pty in running:
        pty.__exit__()


# A theme as people have it: in their rc file. What must be seen of it in front of the next command.
THEMES = {
    "bash: PROMPT_COMMAND a string": ("bash", "PROMPT_COMMAND='PS1=\"<$?> \"'", "<3> "),
    "bash: PROMPT_COMMAND an array": ("bash", "PROMPT_COMMAND=('x=$?' 'PS1=\"<$x> \"')", "<3> "),
    "bash: a prompt that runs things": ("bash", "PS1='<$(echo $?)> '", "<3> "),
    "bash: a prompt of two lines": ("bash", "PS1='<$?>\\n> '", "<3>"),
    "bash: a theme that prints": ("bash", "t() { echo \"<$?>\"; PS1='> '; }; PROMPT_COMMAND=t", "<3>"),
    "bash: a start hook": ("bash", "PS0='started '; PS1='<$?> '", "<3> "),
    "bash: aliases": ("bash", "alias mapfile=false local=false bind=false; PS1='<$?> '", "<3> "),
    "bash: a trap for every command": ("bash", "trap 'last=$BASH_COMMAND' DEBUG; PS1='<$?> '", "<3> "),
    "zsh: precmd": ("zsh", 'precmd() { PROMPT="<$?> " }', "<3> "),
    "zsh: precmd_functions": ("zsh", 't() { PROMPT="<$?> " }; precmd_functions=(t)', "<3> "),
    "zsh: a theme that prints": ("zsh", 'precmd() { print "<$?>" }', "<3>"),
    "zsh: a prompt that runs things": ("zsh", "setopt promptsubst; PROMPT='<$(echo $?)> '", "<3> "),
    "zsh: an editor hook": ("zsh", "i() { zle -K viins }; zle -N zle-line-init i; PROMPT='<%?> '", "<3> "),
    "zsh: aliases": ("zsh", "alias print=false local=false zle=false; PROMPT='<%?> '", "<3> "),
    "zsh: options of ksh": ("zsh", "setopt ksharrays shwordsplit; PROMPT='<%?> '", "<3> "),
    "fish: fish_prompt": ("fish", 'function fish_prompt; echo "<$status> "; end', "<3> "),
    "fish: a right prompt": ("fish", 'function fish_right_prompt; echo "<$status>"; end', "<3>"),
    "sh: PS1": ("sh", "PS1='<$?> '", "<3> "),
}


@pytest.mark.parametrize("theme", list(THEMES))
def test_a_theme_keeps_its_prompt_and_we_our_marks(theme, start):
    kind, rc, shown = THEMES[theme]
    pty = start(kind, rc)
    assert pty.run("sh -c 'exit 3'").status == 3
    pty.run("true")
    assert shown in pty.seen()
    ran = pty.run("printf out; sh -c 'exit 4'")
    assert (ran.output, ran.status) == ("out", 4)
    assert "vantage" not in pty.seen()


# A theme that is set by a command. Marks may be missing from the next prompt, until a poke brings them back.
ARRIVALS = {
    "bash: PS1": ("bash", "PS1='new> '"),
    "bash: PROMPT_COMMAND": ("bash", "PROMPT_COMMAND='x=1'"),
    "bash: PROMPT_COMMAND before ours": ("bash", 'PROMPT_COMMAND="x=1; $PROMPT_COMMAND"'),
    "bash: PROMPT_COMMAND unset": ("bash", "unset PROMPT_COMMAND"),
    "bash: an environment's name in front": ("bash", 'PS1="(venv) $PS1"'),
    "bash: the rc file again": ("bash", "source ~/.bashrc"),
    "bash: PS0 and PS2": ("bash", "PS0=; PS2='more '"),
    "zsh: PROMPT": ("zsh", "PROMPT='new> '"),
    "zsh: precmd": ("zsh", "precmd() { x=1 }"),
    "zsh: no precmd functions": ("zsh", "precmd_functions=()"),
    "zsh: no preexec functions": ("zsh", "preexec_functions=()"),
    "zsh: an editor hook": ("zsh", "i() { : }; zle -N zle-line-init i"),
    "zsh: the partial-line mark": ("zsh", "setopt promptsp"),
    "zsh: vi keys": ("zsh", "bindkey -v"),
    "fish: fish_prompt": ("fish", "function fish_prompt; echo 'new> '; end"),
    "fish: vi keys": ("fish", "fish_vi_key_bindings"),
    "sh: PS1": ("sh", "PS1='new> '"),
}


@pytest.mark.parametrize("arrival", list(ARRIVALS))
def test_a_theme_that_arrives_later(arrival, start):
    kind, command = ARRIVALS[arrival]
    pty = start(kind, "PS1='rc> '; PROMPT_COMMAND=" if kind == "bash" else "")
    pty.run(command)
    for _ in range(2):
        assert pty.run("sh -c 'echo out; exit 5'").status == 5
        ran = pty.run("echo out")
        assert (ran.output, ran.status, ran.started) == ("out\n", 0, True)
    assert [mark.kind for mark in pty.marks if mark.n == pty.n][:3] == ["D", "A", "B"]
    pty.type("echo 'open")
    pty.until_in_cycle("P")
    pty.write(shells.CANCEL[kind])
    pty.until("B")
    assert pty.run("echo out").output == "out\n"


# Options and traps: what the commands after them print must not change because of us.
OPTIONS = {
    "set -u": "out\n",
    "set -a": "out\n",
    "set -f": "out\n",
    "set -o pipefail": "out\n",
    "set -e": "out\n",
    "set -C": "out\n",
    "IFS=,": "out\n",
    "IFS=": "out\n",
    "LC_ALL=C": "out\n",
    "set -x": "+ echo out\nout\n",
    "trap 'echo bye' EXIT": "out\n",
    "unset HISTFILE; PS4='trace '; set -x": "trace echo out\nout\n",
}
BASH_OPTIONS = {
    "shopt -s failglob": "out\n",
    "shopt -s nullglob nocasematch": "out\n",
    "shopt -u promptvars": "out\n",
    "shopt -s extdebug": "out\n",
    "set -ET": "out\n",
    "set -o posix": "out\n",
    "trap 'echo debug' DEBUG": "debug\nout\n",
    "set -T; trap 'echo debug' DEBUG": "debug\nout\n",
    "trap 'echo err' ERR": "out\n",
    "set -E; trap 'echo err' ERR": "out\n",
    "set -H": "out\n",
    "set -o vi": "out\n",
    "readonly x=1": "out\n",
    "printf() { :; }; mapfile() { :; }": "out\n",
}
ZSH_OPTIONS = {
    "setopt xtrace; PS4='+ '": "+ echo out\nout\n",
    "setopt ksharrays": "out\n",
    "setopt shwordsplit globsubst": "out\n",
    "setopt err_return": "out\n",
    "setopt nounset": "out\n",
    "setopt allexport": "out\n",
    "setopt noclobber": "out\n",
    "setopt banghist": "out\n",
    "setopt prompt_sp": None,
    "bindkey -v": "out\n",
    "emulate sh": "out\n",
    "TRAPZERR() { print err }": "out\n",
}


@pytest.mark.parametrize(
    ("kind", "option", "output"),
    [
        (kind, *item)
        for kind in ("bash", "sh")
        for item in OPTIONS.items()
        if (kind, item[0]) != ("sh", "set -o pipefail")
    ]
    + [("bash", *item) for item in BASH_OPTIONS.items()]
    + [("zsh", *item) for item in ZSH_OPTIONS.items()],
)
def test_options_and_traps_do_not_show_us(kind, option, output, start):
    pty = start(kind)
    before = len(pty.raw)
    pty.run(option)
    ran = pty.run("echo out")
    assert ran.status == 0
    if output is not None:
        assert ran.output == output
    long = pty.run(":\n" * 40 + "echo out")
    assert long.output.endswith("out\n")
    assert pty.run("echo '!' out", cwd="/usr").cwd == "/usr"
    seen = pty.seen(before)
    assert "vantage" not in seen.replace(str(pty.folder), ""), seen
    assert str(pty.folder) not in seen


def test_traps_of_errors_fire_for_the_users_commands_only(start):
    pty = start("bash")
    pty.run("set -E; trap 'echo err' ERR")
    assert pty.run("false").output == "err\n"
    assert pty.run("true").output == ""
    assert pty.seen().count("err\n") == 1


@pytest.mark.parametrize(
    ("kind", "command"), [("bash", "set -o vi"), ("zsh", "bindkey -v"), ("fish", "fish_vi_key_bindings")]
)
def test_vi_keys(kind, command, start):
    pty = start(kind)
    pty.run(command)
    assert pty.run("echo 'insert mode'").output == "insert mode\n"
    # Escape and a key of the command mode, as a person would have left the line.
    pty.write(b"abc\x1bh")
    assert pty.run("echo 'command mode'").output == "command mode\n"
    assert pty.run("echo again").output == "again\n"


def test_the_last_argument_stays(start):
    for kind in ("bash", "zsh"):
        pty = start(kind)
        pty.run("echo first second")
        assert pty.run('echo "$_"').output == "second\n", kind


def test_the_users_rc_is_read_or_not(start, tmp_path):
    rc = {"bash": "mark=1", "zsh": "mark=1", "fish": "set mark 1", "sh": "mark=1"}
    for kind, text in rc.items():
        assert start(kind, text).run('echo "<$mark>"').output == "<1>\n"
        with Pty(kind, tmp_path / f"bare-{kind}", home=tmp_path, cwd=tmp_path) as bare:
            assert bare.run('echo "<$mark>"').output == "<>\n"


@pytest.mark.parametrize("kind", ["bash", "zsh", "sh"])
def test_options_set_in_the_rc_file(kind, start):
    pty = start(kind, "PS4='+ '\nset -a\nset -u\nset -x\n")
    assert "vantage" not in pty.seen().replace(str(pty.folder), "")
    assert SECRET not in pty.run("env").output
    assert pty.run("echo out").output == "+ echo out\nout\n"
    assert pty.run("x=1; env | grep -c ^x=").output.endswith("\n1\n")


def test_zsh_reads_zshenv_too(start, tmp_path):
    (tmp_path / ".zshenv").write_text("seen_env=1\n")
    assert start("zsh", "seen_rc=$seen_env").run("echo $seen_rc ${ZDOTDIR-none}").output == "1 none\n"


def test_a_partial_line_stays_as_it_is(start):
    for kind in ("bash", "zsh", "fish", "sh"):
        pty = start(kind)
        assert pty.run("printf abc").output == "abc"
        assert pty.run("printf 'a\\nb'").output == "a\nb"
