"""`vantage screen` and `vantage export`, as people run them: against a home with a real terminal's files."""

import asyncio
import json
import os
import pty
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from terminal_home import environment
from vantage.conversation.manager import Manager
from written_terminal import WrittenTerminal


async def used(home: Path, work: Path) -> dict:
    """A conversation that was used and left: its files in a home of its own, and what was seen of it."""
    async with Manager(home) as manager:
        conversation = manager.create("work", env=environment(), cwd=str(work), user_rc=False, cols=50, rows=6)
        t = conversation.terminal
        await t.exec_block("clear; printf '\\e[1;31mred\\e[0m & <plain>\\n'")
        await t.wait_for("PROMPT")
        early = await t.read_screen()
        await t.exec_block("clear; echo later")
        await t.wait_for("PROMPT")
        late = await t.read_screen(style=True, cursor=True)
        shutil.copytree(conversation.folder.path, work / "conversations" / "work")
        await manager.delete("work")
    return {"home": work, "early": early, "late": late}


@pytest.fixture(scope="module")
def left(home, tmp_path_factory):
    return asyncio.run(used(home, tmp_path_factory.mktemp("left")))


def vantage(home: Path, *arguments: str, **more) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "vantage", *arguments], capture_output=True, timeout=120, stdin=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "VANTAGE_HOME": str(home)}, **more,
    )  # fmt: skip


def printed(home: Path, *arguments: str) -> str:
    done = vantage(home, *arguments)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def test_the_last_screen(left):
    assert printed(left["home"], "screen", "work") == "\n".join(left["late"].rows).rstrip("\n") + "\n"
    assert printed(left["home"], "screen", "work", "--cursor") == left["late"].text + "\n"


def test_a_screen_of_the_past(left):
    early = left["early"]
    at = ["--at", str(early.raw_offset)]
    assert printed(left["home"], "screen", "work", *at) == "\n".join(early.rows).rstrip("\n") + "\n"
    assert (
        printed(left["home"], "screen", "work", *at, "--style").splitlines()[0] == "\x1b[1;38;5;1mred\x1b[0m & <plain>"
    )


def test_for_programs(left):
    late = left["late"]
    read = json.loads(printed(left["home"], "screen", "work", "--json", "--style"))
    assert (read["rows"], read["title"], read["cols"], read["rows_count"]) == (late.rows, late.title, 50, 6)
    assert (read["cursor"]["row"], read["raw_offset"]) == (late.cursor.row, late.raw_offset)
    assert len(read["runs"]) == len(read["rows"])
    assert "runs" not in json.loads(printed(left["home"], "screen", "work", "--json"))


def test_pictures(left, tmp_path):
    at = ["--at", str(left["early"].raw_offset)]
    svg = printed(left["home"], "screen", "work", "--svg", *at)
    assert "& <plain>" in "".join(ET.fromstring(svg).itertext())
    assert "cursor" not in svg
    assert 'class="cursor"' in printed(left["home"], "screen", "work", "--svg", "--cursor", *at)
    assert "&amp; &lt;plain&gt;" in printed(left["home"], "screen", "work", "--html", *at)
    light = printed(left["home"], "screen", "work", "--svg", "--theme", "light", *at)
    assert light != svg
    target = tmp_path / "screen.png"
    assert printed(left["home"], "screen", "work", "--png", "--output", str(target), *at) == ""
    assert target.read_bytes().startswith(b"\x89PNG\r\n")
    assert list(tmp_path.iterdir()) == [target]


def test_exports(left, tmp_path):
    cast = printed(left["home"], "export", "work", "--format", "asciicast")
    assert json.loads(cast.splitlines()[0])["version"] == 3
    target = tmp_path / "work.html"
    target.write_text("an older one")
    assert printed(left["home"], "export", "work", "--format", "html", "-o", str(target)) == ""
    assert target.read_text().startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [target]
    assert printed(left["home"], "export", "work", "--format", "asciicast", "-o", "/dev/stdout") == cast


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["screen", "wrk"], 1, "there is no conversation 'wrk' in HOME: did you mean 'work'?"),
        (["screen", "../work"], 2, "'../work' cannot be a conversation's id"),
        (["screen", "work", "--at", "999999"], 2, "--at 999999 is past the end: the output of this conversation has"),
        (["screen", "work", "--at", "-1"], 2, "'--at'"),
        (["screen"], 2, "which conversation? Name it, or set VANTAGE_CONVERSATION: "),
        (["screen", "work", "--svg", "-o", "HOME/no/where.svg"], 1, "cannot write HOME/no/where.svg: No such file"),
        (["export", "work"], 2, "Say --format with one of html, markdown, text, asciicast, player"),
        (["export", "work", "--format", "gif"], 2, "'gif' is not one of 'html', 'markdown', 'text', 'asciicast'"),
        (
            ["export", "unused", "--format", "player"],
            1,
            "conversation 'unused' cannot be exported: its terminal was never",
        ),
        (["export", "unused", "--format", "asciicast", "-o", "HOME/x"], 1, "run a command in it first"),
    ],
)
def test_errors_are_one_line_and_leave_nothing(left, arguments, code, message):
    home = left["home"]
    unused = WrittenTerminal(home, "unused").folder
    unused.journal.unlink()
    done = vantage(home, *(argument.replace("HOME", str(home)) for argument in arguments))
    lines = done.stderr.decode().splitlines()
    assert (done.returncode, done.stdout, len(lines)) == (code, b"", 1)
    assert message.replace("HOME", str(home)) in lines[0]
    assert not (home / "x").exists()
    shutil.rmtree(unused.path)


def in_a_terminal(home: Path, *arguments: str) -> tuple[int, str]:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "vantage", *arguments], stdout=theirs, stderr=theirs, stdin=theirs,
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color", "VANTAGE_HOME": str(home)},
    ) as process:  # fmt: skip
        os.close(theirs)
        shown = b""
        try:
            while data := os.read(ours, 65536):
                shown += data
        except OSError:  # how a terminal reports that its last writer has gone
            pass
        os.close(ours)
    return process.returncode, shown.decode()


def test_in_a_terminal(left):
    code, shown = in_a_terminal(left["home"], "screen", "work", "--at", str(left["early"].raw_offset))
    assert (code, shown.splitlines()[0]) == (0, "\x1b[1;38;5;1mred\x1b[0m & <plain>")
    code, shown = in_a_terminal(left["home"], "screen", "work", "--png")
    assert (code, shown.count("\n")) == (2, 1)
    assert "--output FILE" in shown


def test_a_screen_of_dropped_output_is_refused_with_the_first_kept_offset(tmp_path):
    t = WrittenTerminal(tmp_path)
    t.out("gone")
    t.out(" here")
    t.record("gap", **{"from": 0, "to": 4, "why": "retention"})
    done = vantage(tmp_path, "screen", "c", "--at", "2")
    assert (done.returncode, done.stderr.decode()) == (
        1, "Error: the output at 2 was dropped by retention: go on at 4\n",
    )  # fmt: skip
