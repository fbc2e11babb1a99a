"""The shells that a terminal can run: how each is started with our hooks, and how a command is given to it as if typed.

The hooks print marks (OSC 133 with the shell's secret) where a prompt begins and ends and where a command begins and
ends. They are rc files in this folder; `launch` fills in their `@NAME@` words. A command is written to a file of the
shell's private folder and loaded into the shell's own line editor by a key sequence that no key sends, so its text is
never edited, and screen and history show what a person would have typed.
"""

import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType


class UnknownShell(ValueError):
    """A shell without hooks of ours, or one that is not installed."""


@dataclass(frozen=True, slots=True)
class Shell:
    kind: str
    """The hooks for it: bash, zsh, fish or sh."""
    path: str


@dataclass(frozen=True, slots=True)
class Launch:
    argv: list[str]
    env: dict[str, str]


@dataclass(frozen=True, slots=True)
class Typed:
    """Bytes to write to the terminal at a ready prompt."""

    data: bytes
    echo_off: bool = False
    """Clear ECHO of the terminal before writing; the hooks show the command and set ECHO again."""


KINDS = {"bash": "bash", "zsh": "zsh", "fish": "fish", "sh": "sh", "dash": "sh", "ash": "sh"}
"""File name of a shell → its kind."""

POKE = b"\x1b[5202~\x1b[5203~"
"""Keys that put lost hooks back and print a fresh prompt's marks; where the hooks are intact, nothing happens, and fish
shows its prompt again."""

CANCEL = {"bash": b"\x03\x1b[5202~", "zsh": b"\x1b[5206~", "fish": b"", "sh": b""}
"""Bytes to write after a P mark, so that a normal prompt follows. A bare Ctrl-C is not enough: bash ignores one that
comes just before it reads a key, until the next key; zsh ignores one that comes while a hook runs."""

KEEP_THEIR_PROMPT = ("fish",)
"""Shells that empty their line on an interrupt and keep their prompt; the others show another prompt."""

READ_ANSWERS = ("fish",)
"""Shells that send queries to the terminal when they start and read the answers in their line editor (fish 4). The
others take an answer for keys."""

ACCEPTED = {"bash": b"\x1b[?2004l\r", "zsh": b"\x1b[?2004l\r\r\n", "fish": b"", "sh": b""}
"""Bytes that the editors of bash and zsh print when a line is accepted. They print no C mark for text they cannot
parse: the output of such a block, the shell's error message, begins after these bytes."""

_SETTLE = b"\x1b[5207~"
"""A key that does nothing. After half a key sequence (an Escape that was typed for a program before) it ends that, and
what it leaves in the line is replaced with the command."""

_LOAD = {"bash": b"\x1b[5200~\x1b[5201~", "zsh": b"\x1b[5200~", "fish": b"\x1b[5200~"}
_LOAD_LONG = {"bash": b"\x1b[5204~\x1b[5205~\x1b[5201~", "zsh": b"\x1b[5204~", "fish": b"\x1b[5204~"}
LONG_BYTES = 4096
LONG_LINES = 30
"""Above either, the line editor does not draw the whole command."""

SHOWN = 200
"""Characters of such a command's first line that are shown."""

COMMAND = "command"
"""The file of a shell's folder in which a command is given to it."""
SETTINGS = "settings"
"""The file with the terminal's settings that the shell's programs start with, as `stty` takes them."""
ENDED = "ended"
"""Not empty while a client ends the running command: the hooks then put the settings back, whatever its status is."""
_TEXTS = {
    name: files(__package__).joinpath(name).read_text(encoding="utf-8")
    for name in ("bash.bash", "zsh.zshenv", "zsh.zsh", "fish.fish", "sh.sh")
}
"""Read at import: an upgrade may replace the files while this process runs."""

_SET = {
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GH_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
}
_UNSET = ("COLUMNS", "LINES")


SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin"
"""The search path for an environment without PATH."""


def find(shell: str, search_path: str) -> Shell:
    """The shell of that name on the search path, or at that path."""
    name = os.path.basename(shell)
    kind = KINDS.get(name)
    path = shell if "/" in shell else _which(name, search_path)
    if kind is None or path is None or not _runs(path):
        installed = [known for known in KINDS if _which(known, search_path)]
        what = "is not a known shell" if kind is None else "is not installed"
        raise UnknownShell(
            f"{shell!r} {what}: expected one of {', '.join(KINDS)} or a path that ends in one;"
            f" installed here: {', '.join(installed) or 'none'}"
        )
    return Shell(kind, path)


def _which(name: str, search_path: str) -> str | None:
    candidates = (os.path.join(folder, name) for folder in search_path.split(os.pathsep) if folder)
    return next((path for path in candidates if _runs(path)), None)


def _runs(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def launch(shell: Shell, folder: Path, *, secret: str, env: Mapping[str, str], user_rc: bool) -> Launch:
    """Write the hooks into `folder` (private to this shell) and say how to start the shell with them."""
    changed = {name: value for name, value in env.items() if name not in _UNSET} | _SET
    if not any("utf" in changed.get(name, "").lower() for name in _locale(changed)):
        changed |= {"LANG": "C.UTF-8", "LC_CTYPE": "C.UTF-8"}
        changed.pop("LC_ALL", None)
    return _STARTS[shell.kind](shell, folder, secret, changed, user_rc)


def _locale(env: Mapping[str, str]) -> list[str]:
    """The one variable that decides on the character set."""
    return next(([name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if env.get(name)), [])


def _start_bash(shell: Shell, folder: Path, secret: str, env: dict[str, str], user_rc: bool) -> Launch:
    rc = _hooks("bash.bash", folder / "bashrc", secret, user_rc)
    return Launch([shell.path, "--rcfile", str(rc), "-i"], env)


def _start_zsh(shell: Shell, folder: Path, secret: str, env: dict[str, str], user_rc: bool) -> Launch:
    theirs = env.get("ZDOTDIR")
    words = {
        "@RESTORE_ZDOTDIR@": "unset ZDOTDIR" if theirs is None else f"ZDOTDIR={shlex.quote(theirs)}",
        "@EXPORT_ZDOTDIR@": ":" if theirs is None else "export ZDOTDIR",
    }
    _hooks("zsh.zshenv", folder / ".zshenv", secret, user_rc, words)
    _hooks("zsh.zsh", folder / ".zshrc", secret, user_rc, words)
    return Launch([shell.path, "-i"], env | {"ZDOTDIR": str(folder)})


def _start_fish(shell: Shell, folder: Path, secret: str, env: dict[str, str], user_rc: bool) -> Launch:
    rc = _hooks("fish.fish", folder / "config.fish", secret, user_rc)
    bare = [] if user_rc else ["--no-config"]
    return Launch([shell.path, *bare, "-i", "-C", f"eval (string collect <{shlex.quote(str(rc))})"], env)


def _start_sh(shell: Shell, folder: Path, secret: str, env: dict[str, str], user_rc: bool) -> Launch:
    theirs = env.get("ENV")
    words = {
        "@RESTORE_ENV@": "unset ENV" if theirs is None else f"ENV={shlex.quote(theirs)}",
        "@SHELL@": shlex.quote(shell.path),
    }
    rc = _hooks("sh.sh", folder / "shrc", secret, user_rc, words)
    return Launch([shell.path, "-i"], env | {"ENV": str(rc)})


_STARTS: dict[str, Callable[[Shell, Path, str, dict[str, str], bool], Launch]] = {
    "bash": _start_bash,
    "zsh": _start_zsh,
    "fish": _start_fish,
    "sh": _start_sh,
}


def _hooks(name: str, target: Path, secret: str, user_rc: bool, more: Mapping[str, str] = MappingProxyType({})) -> Path:
    text = _TEXTS[name]
    words = {
        "@SECRET@": secret,
        "@HERE@": shlex.quote(str(target)),
        "@FOLDER@": shlex.quote(str(target.parent)),
        "@USER_RC@": "1" if user_rc else "0",
        **more,
    }
    for word, value in words.items():
        text = text.replace(word, value)
    _write(target, os.fsencode(text))
    return target


def type_command(shell: Shell, folder: Path, command: str, *, cwd: str | None, editor: bool = True) -> Typed:
    """Lay the command out for the shell and say which bytes make it run at a ready prompt.

    `editor` is false for a bash whose line editor was switched off (`set +o emacs`).
    """
    if "\0" in command:
        raise ValueError("a command cannot contain NUL, no shell takes one: write \\0 and let printf make it")
    text = command.rstrip("\n")
    first, *more = text.split("\n")
    head = f"{first[:SHOWN]} … (+{len(more)} lines)" if more else f"{first[:SHOWN]} …"
    long = len(more) >= LONG_LINES or len(text) > LONG_BYTES
    if shell.kind == "sh":
        return _type_for_sh(folder, text, head if long else text, cwd)
    if not editor:
        return _type_without_editor(folder, text, cwd)
    _write(folder / COMMAND, b"".join(os.fsencode(part) + b"\0" for part in (cwd or "", head, text)))
    return Typed(_SETTLE + (_LOAD_LONG if long else _LOAD)[shell.kind])


def _type_for_sh(folder: Path, text: str, shown: str, cwd: str | None) -> Typed:
    """Without a line editor: a line that reads a file is typed unseen, and the file shows what a person would have
    typed.
    """
    choices = (
        f'run) __vantage_again "$__vantage_last"; \\eval "$__vantage_x"{shlex.quote(text)} ;;',
        f"cd) cd -- {shlex.quote(cwd or '')} ;;",
        "*) (exit 130) ;;",
    )
    steps = (
        f'{{ __vantage_before "$?" {shlex.quote(cwd or "")} {shlex.quote(shown)}; }} 2>/dev/null',
        f'case "$__vantage_next" in {" ".join(choices)} esac',
        '{ __vantage_over "$?" "$_"; } 2>/dev/null',
        _OVER,
    )
    _write(folder / COMMAND, os.fsencode(text + "\n"))
    _write(folder / "more", os.fsencode(_rest(text)))
    # In one line: `set -v` shows each line as it is read, and all of this one is before the command runs.
    _write(folder / "go", os.fsencode("; ".join(steps) + "\n"))
    return _source(folder / "go")


def _type_without_editor(folder: Path, text: str, cwd: str | None) -> Typed:
    """A bash without its line editor reads a command from a file. PS0 and PROMPT_COMMAND still print the marks.

    Where bash's own prompts are not seen (`exec 2>/dev/null`), PS0 is not either, and the file prints the mark. There
    the prompt's marks come just before the editor begins, so it may be taken for one without an editor.

    A line that brings the editor back is typed as it is: in a file, `set -o emacs` leaves bash without prompts.
    """
    if _EDITOR_ON.search(text) and len(text) < LONG_BYTES // 4 and text.isprintable():
        return Typed(os.fsencode(f"{text}\n"))
    steps = ["{ command -p stty echo </dev/tty; ((!__vantage_n[8])) || __vantage_mark C; } 2>/dev/null"]
    if cwd:
        steps.append(f"cd -- {shlex.quote(cwd)} || return")
    _write(folder / COMMAND, os.fsencode("\n".join([*steps, text, ""])))
    typed = _source(folder / COMMAND)
    return Typed(b" " + typed.data, typed.echo_off)  # the blank keeps it out of most histories


_EDITOR_ON = re.compile(r"\bset\s+-o\s+(emacs|vi)\b")
_OVER = "{ __vantage_after; } 4>&2 2>/dev/null; { __vantage_end; } 2>/dev/null"


def _rest(text: str) -> str:
    """Text after the command that is an error unless the command is unfinished: at the end of the file the shell would
    take an unfinished command for a finished one.

    An open heredoc takes `)` as a line of its text. A backslash at the end joins the next line, `&`, to its own.
    """
    if text.endswith("\\"):
        return f"{text}\n&\n"
    return f"{text}\n)\n" if "<<" in text else ""


def poke(shell: Shell, folder: Path) -> Typed:
    """Bytes that make a shell at its prompt restore lost hooks and print the marks of a fresh prompt.

    Intact hooks do nothing, except in fish and sh, which print a prompt.
    """
    if shell.kind != "sh":
        return Typed(POKE)
    # Not the file of commands: the shell may still be reading the end of a long one.
    _write(folder / "poke", f'{{ __vantage_poke "$?"; }} 2>/dev/null; {_OVER}\n'.encode())
    return _source(folder / "poke")


def _source(path: Path) -> Typed:
    return Typed(os.fsencode(f". {shlex.quote(str(path))}\n"), echo_off=True)


def _write(path: Path, data: bytes) -> None:
    """Writes a file of mode 0600. The shell reads it only after the write, so it always finds it whole.

    An existing file is overwritten: creating one costs as much as all other steps of giving a command together.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        done = 0
        while done < len(data):
            done += os.write(descriptor, data[done:] if done else data)
        os.ftruncate(descriptor, len(data))
    finally:
        os.close(descriptor)
