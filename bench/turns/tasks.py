"""The tasks, each as an ideal player of our tools and one of Codex's would do it.

Both know the shortest sequence of calls and the program to use: neither may replace vim by sed. They do not know what
the program will answer, so each answer that decides something is read before the next call is made. `programs/` has
what they run.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench.turns.steps import (
    Step,
    end_session,
    exec_block,
    exec_command,
    exec_interactive,
    keys,
    poll,
    read_block,
    send,
    tty,
    wait_for,
    write_stdin,
)

PROGRAMS = Path(__file__).parent / "programs"
GUESS = Path(__file__).parents[2] / "examples/guess"
REBASED = "Successfully rebased"
WHOLE_HTOP = ("Load average", "PID USER", "F10Quit")
"""From its top to its bottom: a part of the screen, drawn so far, is not enough."""
RULER = {"screen": "1,1"}
"""What vim draws last when it has opened a file."""


class Task(NamedTuple):
    name: str
    ours: Sequence[Step]
    codex: Sequence[Step]
    where: str = "."
    """The folder of the project in which the player starts."""


TASKS = (
    Task(  # the longest is first: two tasks are played at a time
        "a build of 48 s, watched to its end",
        ours=[
            exec_block("./build", "[1/24]", timeout_ms=45000),
            wait_for("PROMPT", "0 errors"),
        ],
        codex=[
            exec_command("./build", "[1/24]", yield_time_ms=30000),
            poll("0 errors", yield_time_ms=60000),
        ],
    ),
    Task(
        "guess a number, three answers",
        ours=[
            exec_interactive("./guess 9", "1 to 10: ", "1 to 10"),
            send("5\n", "1 to 10: ", "Too low."),
            send("8\n", "1 to 10: ", "Too low."),
            send("9\n", "PROMPT", "Correct!"),
        ],
        codex=[
            tty("./guess 9", "1 to 10"),
            write_stdin("5\n", "Too low."),
            write_stdin("8\n", "Too low."),
            write_stdin("9\n", "Correct!"),
        ],
    ),
    Task(
        "a Python session",
        ours=[
            exec_interactive("python3 -q", ">>> ", ">>>"),
            send("import math\n", ">>> ", ">>>"),
            send("math.comb(10, 3)\n", ">>> ", "120"),
            send("exit()\n", "PROMPT"),
        ],
        codex=[
            tty("python3 -q", ">>>"),
            write_stdin("import math\n", ">>>"),
            write_stdin("math.comb(10, 3)\n", "120"),
            write_stdin("exit()\n", "exited with code 0"),
        ],
    ),
    Task(
        "gdb: break, run, print, quit",
        ours=[
            exec_interactive("gdb -q ./sum", "(gdb) ", "Reading symbols"),
            send("break 7\n", "(gdb) ", "Breakpoint 1 at"),
            send("run\n", "(gdb) ", "Breakpoint 1, main"),
            send("print total\n", "(gdb) ", "$1 = 30"),
            send("quit\n", "(y or n) ", "Quit anyway?"),
            send("y\n", "PROMPT"),
        ],
        codex=[
            tty("gdb -q ./sum", "(gdb)", yield_time_ms=2000),
            write_stdin("break 7\n", "Breakpoint 1 at"),
            write_stdin("run\n", "Breakpoint 1, main", yield_time_ms=2000),
            write_stdin("print total\n", "$1 = 30"),
            write_stdin("quit\n", "Quit anyway?"),
            write_stdin("y\n", "exited with code 0"),
        ],
    ),
    Task(
        "vim: change a line and save",
        ours=[
            exec_interactive("vim config.ini", RULER, "port = 80"),
            send(":3s/80/8080/\n", {"screen": "port = 8080"}),
            send(":wq\n", "PROMPT", "50B written"),
        ],
        codex=[
            tty("TERM=xterm vim config.ini", "port = 80"),
            write_stdin(":3s/80/8080/\n", "8080"),
            write_stdin(":wq\n", "50B written"),
        ],
    ),
    Task(
        "git rebase -i: fold a commit",
        ours=[
            exec_interactive("git rebase -i HEAD~2", RULER, "Fix a typo"),
            send(":2s/pick/fixup/\n:wq\n", "PROMPT", REBASED),
            exec_block("git log --oneline", "Add the parser"),
        ],
        codex=[
            tty("TERM=xterm git rebase -i HEAD~2", "Fix a typo"),
            write_stdin(":2s/pick/fixup/\n:wq\n", REBASED, yield_time_ms=5000),
            exec_command("git log --oneline", "Add the parser"),
        ],
    ),
    Task(
        "git add -p: one hunk of two",
        ours=[
            exec_interactive("git add -p", "(1/2)", "first line"),
            send("y\n", "(2/2)", "last line"),
            send("n\n", "PROMPT"),
            exec_block("git diff --cached", "+the first line"),
        ],
        codex=[
            tty("git add -p", "first line"),
            write_stdin("y\n", "last line"),
            write_stdin("n\n", "exited with code 0"),
            exec_command("git diff --cached", "+the first line"),
        ],
        where="book",
    ),
    Task(
        "an installer with three questions",
        ours=[
            exec_interactive("./install", "? ", "which user?"),
            send("ann\n", "? ", "which directory?"),
            send("/opt/tool\n", "[y/N] ", "Install for ann into /opt/tool?"),
            send("y\n", "PROMPT", "Installed 12 files"),
        ],
        codex=[
            tty("./install", "which user?"),
            write_stdin("ann\n", "which directory?"),
            write_stdin("/opt/tool\n", "Install for ann into /opt/tool?"),
            write_stdin("y\n", "Installed 12 files"),
        ],
    ),
    Task(
        "a password",
        ours=[
            exec_interactive("./vault", {"secret_prompt": True}, "Password:"),
            send("correct horse\n", "PROMPT", "The vault is open.", secret=True),
        ],
        codex=[
            tty("./vault", "Password:"),
            write_stdin("correct horse\n", "The vault is open."),
        ],
    ),
    Task(
        "htop: look and leave",
        ours=[
            exec_interactive("htop", {"screen": "F10Quit"}, *WHOLE_HTOP),
            keys("q", "PROMPT"),
        ],
        codex=[
            tty("TERM=xterm htop", *WHOLE_HTOP),
            write_stdin("q", "exited with code 0"),
        ],
    ),
    Task(
        "less: search and leave",
        ours=[
            exec_interactive("less orders.log", {"screen": "order 1 "}, "was paid by"),
            send("/order 4711 \n", {"regex": "order 4711 .*by.+"}, "order 4711 was paid by Grace"),
            keys("q", "PROMPT"),
        ],
        codex=[
            tty("TERM=xterm less orders.log", "was paid by"),
            write_stdin("/order 4711 \n", "order 4711 was paid by Grace"),
            write_stdin("q", "exited with code 0"),
        ],
    ),
    Task(
        "fzf: choose an entry",
        ours=[
            exec_interactive("fzf < fruits.txt", {"screen": "6/6"}, "banana"),
            send("ban", {"screen": "1/6"}, "banana"),
            keys("Enter", "PROMPT", "banana"),
        ],
        codex=[
            tty("TERM=xterm fzf < fruits.txt", "banana"),
            write_stdin("ban", "banana"),
            write_stdin("\r", "banana"),
        ],
    ),
    Task(
        "20,000 lines, one of them needed",
        ours=[  # on the terminal, where people see it; Codex keeps nothing of what it has cut, so it needs a file
            exec_block("./deploy", "1 warning", max_output=200),
            read_block("b1", "host-9876: WARNING: certificate expires", search="WARNING", context=0),
        ],
        codex=[
            exec_command("./deploy > log; tail -1 log", "1 warning"),
            exec_command("grep WARNING log", "host-9876: WARNING: certificate expires"),
        ],
    ),
    Task(
        "a stuck program in raw mode",
        ours=[
            exec_interactive("./stuck", "device\n", "waiting for the device"),
            keys("C-c", "ignored", "byte 3 ignored"),
            end_session("kill"),
            exec_block("echo recovered", "recovered"),
        ],
        codex=[
            tty("./stuck", "waiting for the device"),
            write_stdin("\x03", "byte 3 ignored"),
            exec_command("kill -9 $(cat stuck.pid); echo recovered", "recovered"),
            poll("exited with code"),
        ],
    ),
    Task(
        "a server and a client",
        ours=[
            exec_interactive("./serve", "Listening.", "Listening."),
            exec_block("./client answers", "Here is answers: 42", conversation_id="client"),
            keys("C-c", {"match": "EOF", "from_cursor": 0}, "Asked for answers.", "Stopped."),
        ],
        codex=[
            tty("./serve", "Listening."),
            exec_command("./client answers", "Here is answers: 42"),
            write_stdin("\x03", "Asked for answers.", "Stopped."),
        ],
    ),
)


def lay_out(project: Path) -> None:
    """Everything that the tasks need, in an empty folder."""
    shutil.copytree(PROGRAMS, project, dirs_exist_ok=True)
    shutil.copy(GUESS, project)
    subprocess.run(["gcc", "-g", "-O0", "-o", "sum", "sum.c"], cwd=project, check=True)
    payers = ("Ada", "Barbara", "Grace", "Hedy")
    orders = (f"order {n} was paid by {payers[(n + 3) % 4]}\n" for n in range(1, 8001))
    (project / "orders.log").write_text("".join(orders))
    (project / "fruits.txt").write_text("apple\napricot\nbanana\ncherry\nfig\nplum\n")
    _repositories(project)


def _repositories(project: Path) -> None:
    """The project itself with three commits, and `book` with two changes that are not committed."""

    def git(*arguments: str, folder: Path = project) -> None:
        subprocess.run(["git", *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)

    def begin(folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        git("init", "-q", "-b", "main", folder=folder)
        for key, value in {"user.name": "Ann", "user.email": "ann@example.com", "core.editor": "vim"}.items():
            git("config", key, value, folder=folder)

    def commit(file: Path, text: str, message: str) -> None:
        file.write_text(text)
        git("add", file.name, folder=file.parent)
        git("commit", "-q", "-m", message, folder=file.parent)

    begin(project)
    for message in ("Begin", "Add the parser", "Fix a typo"):
        commit(project / "parser.txt", f"{message}\n", message)
    chapter = project / "book/chapter.txt"
    begin(chapter.parent)
    middle = "".join(f"line {n}\n" for n in range(2, 20))
    commit(chapter, f"first\n{middle}last\n", "Begin")
    chapter.write_text(f"the first line\n{middle}the last line\n")
