"""Queries of programs to their terminal: programs that can read the answer get it; no answer is typed into a shell."""

import re

import pytest

from terminal_home import agent_terminal

KINDS = ("bash", "zsh", "fish", "sh")
QUERIES = {
    "DA1": b"\x1b[c",
    "DA2": b"\x1b[>c",
    "DA3": b"\x1b[=c",
    "DECID": b"\x1bZ",
    "DSR 5": b"\x1b[5n",
    "DSR 6": b"\x1b[6n",
    "DECXCPR": b"\x1b[?6n",
    "colour scheme": b"\x1b[?996n",
    "DECRQM": b"\x1b[?2004$p",
    "DECRQM ansi": b"\x1b[4$p",
    "DECRQSS m": b"\x1bP$qm\x1b\\",
    "DECRQSS r": b"\x1bP$qr\x1b\\",
    "XTVERSION": b"\x1b[>q",
    "XTGETTCAP": b"\x1bP+q544e\x1b\\",
    "OSC 4": b"\x1b]4;1;?\x07",
    "OSC 10": b"\x1b]10;?\x1b\\",
    "OSC 11": b"\x1b]11;?\x07",
    "OSC 12": b"\x1b]12;?\x07",
    "kitty keyboard": b"\x1b[?u",
    "CSI 14 t": b"\x1b[14t",
    "CSI 16 t": b"\x1b[16t",
    "CSI 18 t": b"\x1b[18t",
    "CSI 21 t": b"\x1b[21t",
    "DECREQTPARM": b"\x1b[x",
    "in-band resize": b"\x1b[?2048h",
    "ENQ": b"\x05",
}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


async def only_these_ran(t, commands):
    """Nothing else was run, and nothing is waiting in the line editor."""
    assert [block.cmd for block in (await t.blocks()).blocks] == commands
    assert (await t.status()).mode == "idle"


async def test_nothing_is_typed_after_a_file_that_asks(private_home, kind):
    commands = []
    async with agent_terminal(private_home, shell=kind) as t:
        for name, query in {**QUERIES, "all at once": b"".join(QUERIES.values()) * 3}.items():
            (private_home / "asks").write_bytes(query)
            for command, output in (("cat asks", ""), ("echo ok", "ok\n")):
                ran = await t.exec_block(command)
                assert (ran.running, ran.output, ran.exit_code) == (False, output, 0), name
                commands.append(command)
        await only_these_ran(t, commands)


ASKS_AND_LEAVES = """
import os, sys, termios, tty
before = termios.tcgetattr(0)
tty.setraw(0)
os.write(1, open("asks", "rb").read())
if "stay" in sys.argv:
    import time
    time.sleep(0.1)
termios.tcsetattr(0, termios.TCSANOW, before)
"""


@pytest.mark.parametrize("how", ["", "stay"])
async def test_a_program_that_asks_and_does_not_read(private_home, kind, how):
    """The program had the terminal in raw mode and did not read. The unread answer does not reach the shell."""
    (private_home / "leave.py").write_text(ASKS_AND_LEAVES)
    (private_home / "asks").write_bytes(QUERIES["DECRQSS m"] + QUERIES["DA1"])
    commands = [f"python3 leave.py {how}".rstrip(), "echo ok"] * 3
    async with agent_terminal(private_home, shell=kind) as t:
        for command in commands:
            ran = await t.exec_block(command)
            assert (ran.running, ran.exit_code) == (False, 0)
            assert ran.output == ("ok\n" if command == "echo ok" else "")
        await only_these_ran(t, commands)


async def test_a_background_job_that_asks_at_the_prompt(private_home, kind):
    (private_home / "asks").write_bytes(QUERIES["DECRQSS m"] + QUERIES["DSR 6"] + b"asked")
    async with agent_terminal(private_home, shell=kind) as t:
        job = "sh -c 'until [ -e go ]; do sleep 0.02; done; cat asks' &"
        await t.exec_block(job)
        cursor = (await t.status()).cursor
        (private_home / "go").touch()
        assert (await t.wait_for("asked", from_cursor=cursor)).matched
        for _ in range(2):
            # the shell may say in between that the job is done
            assert re.split(r"\[1\]|\nfish: Job 1,", (await t.exec_block("echo ok")).output)[0] == "ok\n"
        await only_these_ran(t, [job, "echo ok", "echo ok"])


ASKS = """
import os, sys, termios, time, tty
before = termios.tcgetattr(0)
query = open("asks", "rb").read()
if "early" in sys.argv:
    os.write(1, query)
    time.sleep(0.02)
tty.setcbreak(0)
if "early" not in sys.argv:
    os.write(1, query)
print("got", repr(os.read(0, 100)))
termios.tcsetattr(0, termios.TCSANOW, before)
"""


@pytest.mark.parametrize("when", ["", "early"])
async def test_a_program_that_reads_gets_its_answer(private_home, kind, when):
    """Also when it asks first and then switches to reading single keys."""
    (private_home / "ask.py").write_text(ASKS)
    (private_home / "asks").write_bytes(QUERIES["DSR 5"])
    async with agent_terminal(private_home, shell=kind) as t:
        ran = await t.exec_block(f"python3 ask.py {when}")
        assert ran.output == "got b'\\x1b[0n'\n"


SCRIPTS = {
    "read -p": "IFS=';' read -rsdR -p $'\\e[6n' row col; echo ${#row}",
    "tput": "tput u7; IFS=';' read -rsdR row col; echo ${#row}",
    "stty": "s=$(stty -g); stty raw -echo min 1; printf '\\e[6n'; x=$(dd bs=1 count=3 2>/dev/null); stty $s; "
    "IFS= read -rst 0.2 -d R y; echo ${#x}",
}


@pytest.mark.parametrize("name", SCRIPTS)
async def test_scripts_that_ask_for_the_cursor(private_home, name, kind):
    (private_home / "ask.sh").write_text(SCRIPTS[name])
    async with agent_terminal(private_home, shell=kind) as t:
        ran = await t.exec_block("bash ask.sh")
        assert (ran.running, ran.exit_code) == (False, 0)
        assert ran.output.strip() in ("3", "4"), ran
        assert (await t.exec_block("echo ok")).output == "ok\n"


async def test_the_shell_itself_asks_for_the_cursor(private_home):
    async with agent_terminal(private_home) as t:
        for name in ("read -p", "tput"):
            ran = await t.exec_block(SCRIPTS[name])
            assert ran.output.strip() in ("3", "4"), (name, ran)
    async with agent_terminal(private_home, shell="zsh") as t:
        ran = await t.exec_block("print -n '\\e[6n'; read -rs -d R x; echo ${#x}")
        assert ran.output.strip() in ("5", "6"), ran
