"""Changes that people make to their shells, and the output of the commands after them.

A situation is a list of steps; `[...]` after its name says for which shells. A step is a command, what it prints, and
its exit code: a text is compared whole, a pattern must match all of it, ANY is not looked at. After the steps two plain
commands follow that must give their own output and code, at once, with nothing of our plumbing anywhere.
"""

import re
from typing import Any, NamedTuple

ANY = None
FAKE = "fake\n"


class Step(NamedTuple):
    command: str
    output: "str | re.Pattern[str] | None" = ""
    code: int | None = 0


class Situation(NamedTuple):
    steps: tuple[Step, ...]
    probe: Step
    """The two commands that run after the situation."""


PROBE = Step("echo out; sh -c 'exit 5'", "out\n", 5)
BY_PATH = Step("/bin/echo out; /bin/sh -c 'exit 5'", "out\n", 5)
"""For shells whose builtins or search path are not what they were."""
UNSEEN = PROBE._replace(output=ANY)
"""For shells that trace what runs, or print nowhere."""
LONG = Step(":\n" * 40 + "echo long", "long\n")
"""Too long for the line editor to draw: it takes another way in."""

VERBOSE = LONG._replace(output=re.compile(r"(:\n)*(echo long\n)?long\n"))


def _situation(*steps: Any, probe: Step = PROBE) -> Situation:
    return Situation(tuple(step if isinstance(step, Step) else Step(*step) for step in steps), probe)


def _shadowed(*names: str) -> Situation:
    define = "; ".join(f"{name}() {{ /bin/echo fake; }}" for name in names)
    return _situation(
        (define,), (f"{names[0]} x", FAKE), LONG._replace(command=":\n" * 40 + "/bin/echo long"), probe=BY_PATH
    )


def _fish_shadowed(*names: str) -> Situation:
    define = "; ".join(f"function {name}; /bin/echo fake; end" for name in names)
    return _situation((define,), (f"{names[0]} x", FAKE), probe=BY_PATH)


POSIX = {
    # options
    "set -u": _situation(("set -u",), ("echo ${x-unset}", "unset\n")),
    "set -f": _situation(("set -o noglob",), ("echo /*", "/*\n")),
    "set -C": _situation(("set -C",)),
    "set -a": _situation(("set -a; Y=1",), ("env | grep -c ^__vantage", "0\n", 1)),
    "set -b": _situation(("set -b",)),
    "set +m": _situation(("set +m",), ("sh -c 'exit 4'", "", 4)),
    "set -e in a subshell": _situation(("(set -e; false; echo no)", "", 1)),
    "set -x": _situation(
        ("set -x",), ("echo out; (exit 3)", re.compile(r"\+\S* echo out\nout\n\+\S* exit 3\n"), 3), ("set +x", ANY)
    ),
    "set -v": _situation(("set -v",), ("echo out; (exit 3)", "out\n", 3), VERBOSE, ("set +v",)),
    "set -xv": _situation(("set -xv",), ("echo out", re.compile(r"\+\S* echo out\nout\n")), ("set +xv", ANY)),
    "IFS is empty": _situation(("IFS=",)),
    "IFS has digits": _situation(("IFS=0123456789",), ("(exit 3)", "", 3)),
    "IFS has letters": _situation(("IFS='abcdefghijklmnopqrstuvwxyz_;=$'",)),
    "LC_ALL=C": _situation(("export LC_ALL=C",), ("echo 'é'", "é\n")),
    # prompts
    "PS1 is empty": _situation(("PS1=",)),
    "PS1 is unset": _situation(("unset PS1",)),
    "PS1 has two lines": _situation(("PS1='a\nb> '",), ("echo 'open", "", None), LONG),
    "PS1 of a virtual environment": _situation(
        ('OLD="${PS1-}"; PS1="(venv) ${PS1-}"; export PS1',),
        ("echo in; (exit 3)", "in\n", 3),
        ('PS1="$OLD"; unset OLD',),
    ),
    "PS1 is readonly": _situation(("readonly PS1",), ("(exit 3)", "", 3)),
    "PS1 is theirs and readonly": _situation(("PS1='mine '; readonly PS1",), ("(exit 3)", "", 3), LONG),
    "PS2 is unset": _situation(("unset PS2",), ("echo 'open", "", None)),
    "PS2 is readonly": _situation(("readonly PS2",), ("echo 'open", "", None)),
    "PS2 is theirs and readonly": _situation(
        ("PS2='mine '; readonly PS2",), ("(exit 3)", "", 3), ("echo 'open", "", None)
    ),
    "PS4 runs a command": _situation(("PS4='$(echo +) '; set -x",), ("set +x", ANY)),
    # functions and aliases
    "printf is a function": _shadowed("printf"),
    "echo is a function": _shadowed("echo"),
    "command is a function": _shadowed("command"),
    "test is a function": _shadowed("test"),
    "read is a function": _shadowed("read"),
    "stty is a function": _shadowed("stty"),
    "cd is a function": _shadowed("cd"),
    "true and false are functions": _shadowed("true", "false"),
    "all of them are functions": _shadowed("printf", "command", "stty", "test", "read", "echo", "type", "kill"),
    "aliases of builtins": _situation(
        ("alias printf='echo fake' builtin='echo fake' local='echo fake' test='echo fake' stty='echo fake'",),
        ("alias command='echo fake' set='echo fake' return='echo fake' eval='echo fake'",),
        LONG,
    ),
    "an alias of echo": _situation(("alias echo='echo aliased'",), ("echo x", "aliased x\n"), ("unalias echo",)),
    # redirections
    "exec >file": _situation(("exec 3>&1 >/dev/null",), ("echo unseen; (exit 3)", "", 3), ("exec >&3 3>&-",)),
    "exec 2>/dev/null": _situation(("exec 2>/dev/null", ANY), ("ls /surely/not; echo out", "out\n")),
    "exec >/dev/null 2>&1": _situation(
        ("exec >/dev/null 2>&1", ANY), ("(exit 3)", "", 3), ("exec >/dev/tty 2>&1", ANY)
    ),
    "exec >&-": _situation(("exec >&-",), ("(exit 3)", ANY, 3), ("exec >/dev/tty",)),
    "exec 2>&-": _situation(
        ("exec 2>&-", ANY), ("echo out; (exit 3)", re.compile(r"(?s).*out\n"), 3), ("exec 2>/dev/tty", ANY)
    ),
    "descriptors of theirs": _situation(("exec 3>/dev/null 4>/dev/null 5>/dev/null",)),
    "standard input is moved and comes back": _situation(("exec 6<&0 </dev/null; exec 0<&6 6<&-",)),
    # surroundings
    "the directory is gone": _situation(
        ("mkdir gone && cd gone && rmdir ../gone",), ("echo out; (exit 3)", "out\n", 3), ("cd /",)
    ),
    "PATH is empty": _situation(("PATH=",), ("ls", ANY, 127), probe=BY_PATH),
    "PATH is unset": _situation(("unset PATH",), probe=BY_PATH),
    "PWD is wrong": _situation(("PWD=/nowhere",)),
    "HOME and TERM are unset": _situation(("unset HOME TERM",)),
    "umask 777": _situation(("umask 777",)),
    "few open files": _situation(("ulimit -n 16",)),
    "files of no size": _situation(("ulimit -f 0",)),
    # traps, signals, jobs
    "trap '' INT": _situation(("trap '' INT",)),
    "trap EXIT": _situation(("trap 'echo bye' EXIT",)),
    "trap QUIT": _situation(("trap '' QUIT",)),
    "a job ends": _situation(("sleep 0.02 &", ANY), ("wait", ANY)),
    "a job's status": _situation(("sh -c 'exit 9' & wait $!", ANY, 9)),
    "stopped": _situation(("sh -c 'kill -TSTP $$; echo on'", ANY, 148), ("fg", ANY)),
    "stopped by STOP": _situation(("sh -c 'kill -STOP $$; echo on'", ANY, 147), ("fg", ANY)),
    "killed by QUIT": _situation(("sh -c 'ulimit -c 0; kill -QUIT $$'", ANY, 131)),
    "the shell stops itself": _situation(("kill -STOP $$; echo back", "back\n")),
    # the terminal
    "stty raw": _situation(("stty raw",)),
    "stty -echo": _situation(("stty -echo",)),
    "stty -icanon": _situation(("stty -icanon",)),
    "stty -isig": _situation(("stty -isig",)),
    "stty -icrnl": _situation(("stty -icrnl",)),
    "stty intr x": _situation(("stty intr x",), ("echo axb", "axb\n")),
    "stty intr is a letter of what is typed": _situation(("stty intr o",), ("echo good", "good\n")),
    "stty has other letters": _situation(("stty erase a kill / eof . lnext g",), ("echo again", "again\n")),
    "stty quotes nothing": _situation(("stty intr o lnext undef",), ("echo good", "good\n")),
    "stty cols 20": _situation(
        ("stty cols 20 rows 3",), ("echo a line of more than twenty columns", "a line of more than twenty columns\n")
    ),
    # output
    "NUL": _situation(("printf 'a\\0b\\n'", "ab\n")),
    "XOFF": _situation(("printf '\\023'; echo out", "out\n")),
    "another character set, another screen": _situation(("printf '\\016\\033(0\\033[?25l\\033[?1049h'", ANY)),
    "an open mark": _situation(("printf '\\033]133;'", ANY)),
    "unicode": _situation(("echo 'zażółć 漢字 🎉'", "zażółć 漢字 🎉\n")),
    "a long line": _situation(("echo " + "x" * 5000, "x" * 5000 + "\n")),
    # words
    "$? stays": _situation(("(exit 6)", "", 6), ("echo $?", "6\n")),
    "$! stays": _situation(("sleep 0.1 & p=$!", ANY), ("[ $p = $! ]",), ("wait", ANY)),
    "arguments stay": _situation(("set -- a 'b c' ''",), ("echo $#", "3\n")),
    "a subshell's code": _situation(("(exit 300)", "", 44)),
    "errors of the shell": _situation(
        ("echo $((1/0))", ANY, ANY), (": >/surely/not/there", ANY, ANY), ("eval 'if'", ANY, ANY)
    ),
    "break and return outside": _situation(("break", ANY, ANY), ("return 3", ANY, ANY)),
    "an assignment to what is readonly": _situation(("readonly r=1",), ("r=2", ANY, ANY)),
}

BASH = POSIX | {
    "the line editor is off": _situation(
        ("set +o emacs",),
        ("echo out; (exit 3)", "out\n", 3),
        ("cat <<X\na\nX", "a\n"),
        LONG,
        ("set -o emacs",),
        ("echo back; (exit 3)", "back\n", 3),
    ),
    "the line editor is vi, then off": _situation(
        ("set -o vi",), ("(exit 3)", "", 3), ("set +o vi",), ("(exit 3)", "", 3)
    ),
    "PROMPT_COMMAND is unset": _situation(("unset PROMPT_COMMAND",), ("(exit 3)", "", 3)),
    "PROMPT_COMMAND is an array": _situation(("PROMPT_COMMAND=('x=1' 'y=2')",), ("echo $x$y", "12\n")),
    "PROMPT_COMMAND is another array": _situation(("unset PROMPT_COMMAND; declare -A PROMPT_COMMAND=([a]=true)",)),
    "PROMPT_COMMAND fails": _situation(("PROMPT_COMMAND+=('(exit 4)')",), ("(exit 3)", "", 3)),
    "PROMPT_COMMAND prints": _situation(("PROMPT_COMMAND='echo theirs'", ANY), ("echo mine", "mine\n")),
    "PROMPT_COMMAND is readonly": _situation(("readonly PROMPT_COMMAND",), ("(exit 3)", "", 3)),
    "PROMPT_COMMAND is theirs and readonly": _situation(
        ("unset PROMPT_COMMAND; PROMPT_COMMAND='true'; readonly PROMPT_COMMAND",), ("(exit 3)", "", 3), LONG
    ),
    "PROMPT_COMMAND and PS1 are theirs and readonly": _situation(
        ("unset PROMPT_COMMAND; PROMPT_COMMAND='true'; PS1='m '; readonly PROMPT_COMMAND PS1", ANY), ("(exit 3)", "", 3)
    ),
    "PS1 has a variable that is not set": _situation(
        ("set -u",), ("PS1='$nope> '",), ("(exit 3)", "", 3), ("nope=1; PS1='$nope> '",), ("(exit 3)", "", 3)
    ),
    "PS1 fails": _situation(
        ("PS1='$((1/0))> '", ANY), ("(exit 3)", ANY, 3), ("PS1='${nope?gone}> '", ANY), ("PS1='> '", ANY)
    ),
    "PS1 is open": _situation(("PS1='> $(true'", ANY), ("(exit 3)", ANY, 3), ("PS1='> `true'", ANY), ("PS1='> '", ANY)),
    "PS0 is readonly": _situation(("readonly PS0",), ("(exit 3)", "", 3)),
    "PS0 is theirs": _situation(("PS0='theirs'",), ("echo out", "out\n")),
    "PS0 is theirs and readonly": _situation(
        ("PS0='theirs '; readonly PS0", ANY), probe=PROBE._replace(output="theirs out\n")
    ),
    "HISTIGNORE is readonly": _situation(("readonly HISTIGNORE=x",), LONG),
    "TERM is readonly": _situation(("readonly TERM",), LONG),
    "LC_ALL is readonly": _situation(("readonly LC_ALL=C",), ("mkdir -p 'a;b'; cd 'a;b'",)),
    **{
        f"{name} is a function": _shadowed(name)
        for name in ("builtin", "local", "set", "shopt", "unset", "exec", "bind")
    },
    **{
        f"{name} is a function": _shadowed(name) for name in ("history", "mapfile", "declare", "eval", "trap", "source")
    },
    "return is a function": _shadowed("return"),
    "every builtin is a function": _situation(
        ('for b in $(compgen -b); do [[ $b == eval ]] || eval "function $b { /bin/echo fake; }"; done', ANY, ANY),
        ("printf x", FAKE),
        probe=BY_PATH,
    ),
    "our functions are unset": _situation(("unset -f $(compgen -A function __vantage) 2>/dev/null", "", 1)),
    "set -o posix": _situation(("set -o posix",), LONG, ("set +o posix",), ("set -v",), ("set +v",)),
    "set -k": _situation(("set -k",), ("(exit 3)", "", 3)),
    "set -P, +B, +h": _situation(("set -P; set +B; set +h",)),
    "set -o vi": _situation(("set -o vi",), LONG),
    "set -H": _situation(("set -H",), ("echo 'a!b' !x", "a!b !x\n")),
    "set -o pipefail": _situation(("set -o pipefail",), ("false | true", "", 1)),
    "set +o history": _situation(("set +o history",), LONG),
    "trap ERR": _situation(("set -E; trap 'echo err' ERR",), ("false", "err\n", 1), ("trap - ERR",)),
    "trap DEBUG": _situation(("trap 'echo debug' DEBUG",), ("true", "debug\n"), ("trap - DEBUG", "debug\n")),
    "trap RETURN": _situation(("set -T; trap 'echo return' RETURN",)),
    "trap CHLD": _situation(("trap 'echo child' CHLD",), ("/bin/true", "child\n"), ("trap - CHLD",)),
    "shopt, all off": _situation(
        ("shopt -u $(shopt | awk '{print $1}' | grep -v -e restricted -e login_shell) 2>/dev/null; true",)
    ),
    "shopt failglob": _situation(("shopt -s failglob",), ("echo surely*not", ANY, 1)),
    "shopt compat31": _situation(("shopt -s compat31",)),
    "shopt lastpipe": _situation(("set +m; shopt -s lastpipe",), ("echo a | read x; echo $x", "a\n")),
    "HISTCONTROL": _situation(("HISTCONTROL=ignoreboth:erasedups HISTSIZE=0",), LONG),
    "GLOBIGNORE": _situation(("GLOBIGNORE=*",)),
    "BASH_XTRACEFD": _situation(("exec 9>/dev/null; BASH_XTRACEFD=9; set -x",), ("echo out", "out\n")),
    "EPOCHREALTIME is unset": _situation(("unset EPOCHREALTIME",)),
    "a coprocess": _situation(
        ("coproc cat; echo hi >&${COPROC[1]}; read x <&${COPROC[0]}; echo $x", re.compile(r"(?s).*hi\n"))
    ),
    "suspend": _situation(("suspend -f",)),
    "the editor's modes": _situation(
        ("bind 'set show-mode-in-prompt on'; bind 'set enable-bracketed-paste off'",), LONG
    ),
    "the editor scrolls": _situation(
        ("bind 'set horizontal-scroll-mode on'",), ("echo " + "y" * 300, "y" * 300 + "\n")
    ),
}

ZSH = {name: situation for name, situation in POSIX.items() if name not in ("set -b", "set -f")} | {
    "set -f": _situation(("set -F",), ("echo /*", "/*\n")),
    "PROMPT is readonly": _situation(("PROMPT='mine '; readonly PROMPT",), ("(exit 3)", "", 3)),
    "precmd_functions is replaced": _situation(("f() { : }; precmd_functions=(f)",), ("(exit 3)", "", 3)),
    "precmd_functions is readonly": _situation(("readonly precmd_functions",), ("(exit 3)", "", 3)),
    "precmd_functions is empty and readonly": _situation(
        ("precmd_functions=(); readonly precmd_functions",), ("(exit 3)", "", 3)
    ),
    "preexec_functions is empty and readonly": _situation(("preexec_functions=(); readonly preexec_functions",)),
    "precmd_functions is a text": _situation(("unset precmd_functions; precmd_functions=x",)),
    "add-zsh-hook -D": _situation(
        ("autoload -Uz add-zsh-hook; add-zsh-hook -D precmd '__vantage*'; add-zsh-hook -D preexec '__vantage*'",),
        ("(exit 3)", "", 3),
    ),
    "precmd fails": _situation(("precmd() { return 5 }",), ("(exit 3)", "", 3)),
    "precmd is removed": _situation(("unfunction precmd",), ("(exit 3)", "", 3)),
    "zle-line-init is theirs": _situation(("zle-line-init() { return 1 }; zle -N zle-line-init",)),
    "zle-line-init is removed": _situation(("zle -D zle-line-init",)),
    **{
        f"{name} is a function": _shadowed(name) for name in ("builtin", "print", "emulate", "zle", "bindkey", "setopt")
    },
    **{f"{name} is a function": _shadowed(name) for name in ("trap", "return", "set", "unset", "zmodload", "history")},
    "every builtin is a function": _situation(
        (
            "for b in ${(k)builtins}; do [[ $b == (:|.|'['|eval|-) ]] || eval \"function $b { /bin/echo fake }\"; done",
            ANY,
            ANY,
        ),
        ("print x", FAKE),
        probe=BY_PATH,
    ),
    "setopt xtrace": _situation(
        ("setopt xtrace",), ("echo out", re.compile(r"\+\S* echo out\nout\n")), ("unsetopt xtrace", ANY)
    ),
    "setopt verbose": _situation(("setopt verbose",), ("echo out; (exit 3)", "out\n", 3), LONG),
    "setopt sourcetrace": _situation(("setopt sourcetrace",)),
    "setopt ksharrays": _situation(("setopt ksharrays",)),
    "setopt shwordsplit": _situation(("setopt shwordsplit globsubst",)),
    "setopt err_return": _situation(("setopt err_return",), ("f() { false; echo no }; f", "", 1)),
    "setopt noglob noclobber nounset": _situation(("setopt noglob noclobber nounset",)),
    "unsetopt zle": _situation(("unsetopt zle",), LONG),
    "setopt vi, KEYTIMEOUT": _situation(("setopt vi; KEYTIMEOUT=1",), LONG),
    "bindkey -d": _situation(("bindkey -d",), LONG),
    "a keymap of theirs": _situation(("bindkey -N mine; bindkey -A mine main",), LONG),
    "bindkey -r": _situation(("bindkey -r '^[[5200~' '^[[5204~'",), LONG),
    "prompt_sp": _situation(("setopt prompt_sp",), ("printf half", "half")),
    "RPROMPT": _situation(("setopt transient_rprompt; RPROMPT='%*'",), ("echo out", "out\n")),
    "setopt no_monitor": _situation(("setopt no_monitor",)),
    "setopt no_multibyte": _situation(("setopt no_multibyte",), ("echo é", "é\n")),
    "emulate sh": _situation(("emulate sh",), LONG),
    "emulate ksh": _situation(("emulate ksh",), LONG),
    "emulate csh": _situation(("emulate csh",)),
    "warn_create_global": _situation(("setopt warn_create_global warn_nested_var",), ("echo out", "out\n")),
    "TRAPZERR": _situation(("TRAPZERR() { print err }",), ("false", "err\n", 1), ("unfunction TRAPZERR",)),
    "TRAPINT": _situation(("TRAPINT() { print int; return 1 }",)),
    "modules are unloaded": _situation(("zmodload -u zsh/mapfile zsh/datetime", ANY, ANY)),
    "command_not_found_handler": _situation(
        ("command_not_found_handler() { print nope; return 9 }",), ("surely-not", "nope\n", 9)
    ),
    "always": _situation(("{ (exit 3) } always { true }", "", 3)),
    "ignore_braces": _situation(("setopt ignore_braces ignore_close_braces",)),
    "suspend": _situation(("suspend -f",)),
    "a global alias": _situation(("alias -g surely=changed",), ("echo surely", "changed\n")),
}

# Without a line editor, keys that the terminal takes for itself would be in what is typed for a command.
SH = {name: situation for name, situation in POSIX.items() if name != "stty intr x"} | {
    "eval, set and unset are functions": _situation(
        ("set() { /bin/echo fake; }", ANY, ANY), ("unset() { /bin/echo fake; }", ANY, ANY)
    ),
    "PWD is readonly": _situation(("readonly PWD",)),
    "set -I, -V": _situation(("set -I; set -V", ANY)),
    "no such command": _situation(("PATH=/nowhere",), ("surely-not", ANY, 127), probe=BY_PATH),
}

FISH = {
    "fish_prompt is erased": _situation(("functions -e fish_prompt",), ("sh -c 'exit 3'", "", 3)),
    "fish_prompt is replaced": _situation(
        ('function fish_prompt; echo -n "$status> "; false; end',), ("sh -c 'exit 3'", "", 3)
    ),
    "our handlers are erased": _situation(("functions -e __vantage_end __vantage_begin __vantage_start", ANY)),
    "our prompt is erased": _situation(("functions -e __vantage_prompt", ANY)),
    "our loader is erased": _situation(("functions -e __vantage_load",)),
    "fish_trace": _situation(
        ("set -g fish_trace 1", ANY), ("echo out", re.compile(r"-*> echo out\nout\n")), ("set -e fish_trace", ANY)
    ),
    **{
        f"{name} is a function": _fish_shadowed(name)
        for name in ("printf", "echo", "commandline", "bind", "cd", "functions")
    },
    "many builtins are functions": _fish_shadowed("printf", "jobs", "history", "emit", "random", "type", "true"),
    "an alias": _situation(("alias printf='/bin/echo fake'",), ("printf", FAKE)),
    "fish_vi_key_bindings": _situation(("fish_vi_key_bindings",)),
    "bind -e": _situation(("bind -e --all",)),
    "autosuggestions": _situation(("set -g fish_autosuggestion_enabled 1",), ("echo out", "out\n")),
    "fish_right_prompt": _situation(("function fish_right_prompt; echo right; end",), ("echo out", "out\n")),
    "fish_mode_prompt": _situation(("function fish_mode_prompt; echo mode; end",)),
    "a handler of fish_postexec": _situation(
        ("function post --on-event fish_postexec; false; end",), ("sh -c 'exit 3'", "", 3)
    ),
    "a handler of fish_prompt": _situation(
        ("function p --on-event fish_prompt; echo theirs; end", ANY), ("echo out", "out\n")
    ),
    "a handler of INT": _situation(("function int --on-signal INT; echo int; end",)),
    "stopped": _situation(
        ("sh -c 'kill -TSTP $$; kill -TSTP $$; echo on'", ANY, 148), ("true",), ("fg", ANY, 148), ("fg", ANY)
    ),
    "killed by QUIT": _situation(("sh -c 'ulimit -c 0; kill -QUIT $$'", ANY, 131)),
    "suspend": _situation(("suspend -f", ANY)),
    "the shell stops itself": _situation(("kill -STOP $fish_pid; echo back", "back\n")),
    "a job ends": _situation(("sleep 0.02 &", ANY), ("wait", ANY)),
    "stty raw": _situation(("stty raw",)),
    "stty -echo": _situation(("stty -echo",)),
    "stty -icanon": _situation(("stty -icanon",)),
    "stty -isig": _situation(("stty -isig",)),
    "TERM is unset": _situation(("set -e TERM", ANY)),
    "PATH is empty": _situation(("set -gx PATH", ANY), probe=BY_PATH),
    "LC_ALL=C": _situation(("set -gx LC_ALL C",), ("echo out", "out\n")),
    "the directory is gone": _situation(("mkdir gone && cd gone && rmdir ../gone",), ("echo out", "out\n"), ("cd /",)),
    "umask 777": _situation(("umask 777",)),
    "NUL": _situation(("printf 'a\\0b\\n'", "ab\n")),
    "XOFF": _situation(("printf '\\023'; echo out", "out\n")),
    "unicode": _situation(("echo 'zażółć 漢字 🎉'", "zażółć 漢字 🎉\n")),
    "a long line": _situation(("echo " + "x" * 5000, "x" * 5000 + "\n")),
    "status stays": _situation(("sh -c 'exit 6'", "", 6), ("echo $status", "6\n")),
    "pipestatus stays": _situation(("sh -c 'exit 6' | true",), ("echo $pipestatus", "6 0\n")),
    "break and return outside": _situation(("break", ANY, ANY), ("return 3", ANY, ANY)),
    "no match": _situation(("ls /surely*not", ANY, 124)),
    "fish_command_not_found": _situation(
        ("function fish_command_not_found; echo nope; end",), ("surely-not", "nope\n", 127)
    ),
    "exit is erased": _situation(("functions -e exit",)),
    "fish_history": _situation(("set -g fish_history ''",)),
    "job control": _situation(("status job-control full",), ("sh -c 'exit 3'", "", 3)),
}

SITUATIONS = {"bash": BASH, "zsh": ZSH, "fish": FISH, "sh": SH}

OPEN = (
    "echo 'a",
    'echo "a',
    "if true",
    "case x in",
    "case x in a) echo a;;",
    "for i in 1; do",
    "while true",
    "f() {",
    "{ echo a",
    "( echo a",
    "echo a |",
    "echo a &&",
    "cat <<E\nabc",
    "cat <<E <<F\nE\nabc",
    "echo a \\",
    "echo $(echo a",
    "echo `echo",
)
CONDITIONS = ("[[ a ==", "[[ a", "[[ -f", "[[ a &&", "[[ (", "echo a\n[[ b ==", "echo a\n[[ b")
MORE = ("((1+", "for ((i=0;", "select x in a", "function f", "coproc {", "echo <(echo", "echo $'a")
UNFINISHED = {
    "bash": (*OPEN, *CONDITIONS, *MORE, "echo ${a", "echo $((1+", "x=("),
    "zsh": (*OPEN, *CONDITIONS, *MORE, "echo ${a", "echo $((1+", "x=(", "repeat 3", "() {", "{ a } always {"),
    "sh": OPEN,
    "fish": (
        "echo 'a",
        'echo "a',
        "if true",
        "for i in 1 2",
        "function f",
        "begin",
        "switch x",
        "echo (",
        "echo a |",
        "echo a \\",
    ),
}
"""Unfinished commands: the shell asks for the rest, the input is cancelled, and the open part does not run."""
