"""What a person would type to leave a program, if it is certain that the program understands it as that.

A word that ends a shell would answer a script's question, and Ctrl-D would accept its default. So the quit word is
typed only at the prompt of an interactive shell or REPL: its arguments name no script or command, and the line before
the cursor is its prompt. The quit keys of full-screen programs are pressed only if our shell itself started the
program: an editor that another program started (`git commit`) would hand that program its result.
"""

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import NamedTuple, TypeVar

Value = TypeVar("Value")


class Running(NamedTuple):
    """The program that has the terminal."""

    arguments: Sequence[str]
    line: str
    """The line of the cursor, up to the cursor."""
    full_screen: bool
    started_by_shell: bool

    @property
    def name(self) -> str:
        return PurePath(self.arguments[0].lstrip("-")).name if self.arguments else ""


class Leave(NamedTuple):
    keys: bytes
    words: str
    """The typed text, in words."""


class _Prompt(NamedTuple):
    leave: Leave
    line: re.Pattern[str]
    operands: int = 0
    """How many arguments other than options the program may have and still be interactive: `sqlite3` and `gdb` take a
    file.
    """


_EXIT, _QUIT, _END = Leave(b"exit\r", "exit"), Leave(b"quit\r", "quit"), Leave(b"\x04", "Ctrl-D")
_SQL = Leave(b"\\q\r", "\\q")
_Q = Leave(b"q", "q")
_ANY = re.compile(r"[$#%❯➜»λ]\s?$|\S.*>\s?$")
"""The end of a shell's prompt. Questions end in a colon, a question mark or a bracket; `> ` alone asks for more
lines.
"""
_ARROW = re.compile(r">\s?$")

_SHELLS = ("bash", "zsh", "fish", "sh", "dash", "ash", "ksh", "tcsh", "csh", "nu", "pwsh")
_ARROWED = ("irb", "ghci", "ghc", "scala", "jshell", "julia", "guile", "erl", "octave")
_PROMPTS: dict[str, _Prompt] = {
    **dict.fromkeys(_SHELLS, _Prompt(_EXIT, _ANY)),
    **dict.fromkeys(("python", "python3", "pypy3", "bpython"), _Prompt(_END, re.compile(r"^>>>\s?$"))),
    **dict.fromkeys(("ipython", "ipython3"), _Prompt(_END, re.compile(r"^In \[\d+\]:\s?$"))),
    **dict.fromkeys(("node", "deno", "bun", "lua", "luajit", "R"), _Prompt(_END, re.compile(r"^>\s?$"))),
    **dict.fromkeys(_ARROWED, _Prompt(_END, _ARROW)),
    **dict.fromkeys(("ocaml", "utop"), _Prompt(_END, re.compile(r"#\s?$"))),
    "tclsh": _Prompt(_END, re.compile(r"^%\s?$")),
    "sbcl": _Prompt(_END, re.compile(r"^\*\s?$")),
    "swipl": _Prompt(_END, re.compile(r"^\?-\s?$")),
    "sqlite3": _Prompt(_END, re.compile(r"^sqlite>\s?$"), operands=1),
    **dict.fromkeys(("gdb", "lldb", "dlv"), _Prompt(_QUIT, re.compile(r"^\((?:gdb|lldb|dlv)\)\s?$"), operands=99)),
    "psql": _Prompt(_SQL, re.compile(r"=[#>]\s?$"), operands=2),
    **dict.fromkeys(("mysql", "mariadb"), _Prompt(_SQL, _ARROW, operands=1)),
    "redis-cli": _Prompt(_QUIT, _ARROW),
    "mongosh": _Prompt(_EXIT, _ARROW, operands=1),
}
_ALLOWED = frozenset((
    *("-i", "-l", "-il", "-li", "-q", "-f", "-u", "-B", "-I", "-s", "-N", "-nx", "--args", "--quiet"),
    *("--login", "--norc", "--noprofile", "--posix", "--private", "--no-config"),
))  # fmt: skip
"""Options that leave a program interactive. With any other option that is not certain."""
_SCREENS: dict[str, Leave] = {
    **dict.fromkeys(("less", "more", "most", "man", "top", "htop", "btop", "tig"), _Q),
    **dict.fromkeys(
        ("vi", "vim", "nvim", "view", "vimdiff", "vim.basic", "vim.tiny"), Leave(b"\x1b:qa!\r", "Escape :qa! Enter")
    ),
    "nano": Leave(b"\x18n", "Ctrl-X n"),
    "emacs": Leave(b"\x18\x03", "Ctrl-X Ctrl-C"),
}


def leave(running: Running) -> Leave | None:
    """What ends this program; None if it might be understood as something else."""
    if running.full_screen:
        return _known(_SCREENS, running.name) if running.started_by_shell else None
    prompt = _prompt(running)
    return prompt.leave if prompt is not None and prompt.line.search(running.line) is not None else None


def has_prompt(running: Running) -> bool:
    """Whether this program is certain to show a prompt again after an interrupt."""
    return not running.full_screen and _prompt(running) is not None


def _prompt(running: Running) -> _Prompt | None:
    prompt = _known(_PROMPTS, running.name)
    arguments = running.arguments[1:]
    operands = [each for each in arguments if not each.startswith("-")]
    options = [each for each in arguments if each.startswith("-")]
    certain = prompt is not None and len(operands) <= prompt.operands and _ALLOWED.issuperset(options)
    return prompt if certain else None


def _known(table: dict[str, Value], name: str) -> Value | None:
    """The name in the tables: `python3` for `python3.11`."""
    return table.get(name) or table.get(name.split(".", 1)[0])
