"""Interactive sessions against real shells and programs: typing, secrets, and every way to end."""

import asyncio
import base64
import errno
import os
import re

import pytest

from home_files import holding
from terminal_home import agent_terminal, leftovers, wait_until_gone
from vantage.errors import Busy, Conflict, InputError, KeyboardTaken, NoSecretPrompt, NotFound, NotRunning, SecretPrompt

KINDS = ("bash", "zsh", "fish", "sh")


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def program(tmp_path):
    """A Python program in a file; the command that runs it."""

    def write(text):
        (tmp_path / "program.py").write_text("import os, signal, sys, time\n" + text)
        return f"python3 -u {tmp_path}/program.py"

    return write


async def test_a_conversation_with_a_program(home, kind):
    async with agent_terminal(home, shell=kind) as t:
        assert (await t.status()).mode == "idle"
        session = await t.exec_interactive("cat")
        await t.wait_for({"foreground": "cat"})
        status = await t.status()
        assert (status.mode, status.active_session_id) == ("interactive", session.session_id)
        assert (status.active_block_id, status.foreground) == (session.block_id, "cat")
        sent = await t.send("hello", session_id=session.session_id)
        assert sent.cursor == session.cursor
        await t.enter()
        said = await t.wait_for("hello\nhello\n", from_cursor=session.cursor)
        assert said.matched
        await t.keys(["w", "o", "x", "Backspace", "r", "l", "d", "Enter"])
        assert (await t.wait_for("\nworld\n", from_cursor=said.cursor)).matched
        await t.ctrl_d()
        assert (await t.wait_for("EOF", session_id=session.session_id)).reason == "eof"
        assert (await t.wait_for("PROMPT")).matched
        block = (await t.read_block(session.block_id)).block
        assert (block.exit_code, block.done_because, block.origin) == (0, "mark", "interactive")
        assert (await t.status()).mode == "idle"


async def test_the_whole_transcript_is_one_block(home):
    async with agent_terminal(home) as t:
        session = await t.exec_interactive("read -p 'Name: ' n; read -p 'Age: ' a; echo $n is $a")
        await t.wait_for("Name: ")
        await t.send("Ada\r")
        await t.wait_for("Age: ")
        await t.send("36\r")
        await t.wait_for("EOF", session_id=session.session_id)
        assert (await t.read_block(session.block_id)).output == "Name: Ada\nAge: 36\nAda is 36\n"


async def test_ids_of_sessions(home):
    async with agent_terminal(home) as t:
        first = await t.exec_interactive("true")
        await t.wait_for("EOF", session_id=first.session_id)
        second = await t.exec_interactive("cat")
        for verb in (t.enter, t.ctrl_c, t.ctrl_d):
            with pytest.raises(Conflict, match="has ended"):
                await verb(session_id=first.session_id)
            with pytest.raises(NotFound, match="no session"):
                await verb(session_id="s-unknown")
        with pytest.raises(Conflict, match="has ended"):
            await t.send("x", session_id=first.session_id)
        with pytest.raises(Conflict, match="has ended"):
            await t.keys("x", session_id=first.session_id)
        assert (await t.end_session(first.session_id)).how == "already_ended"
        with pytest.raises(NotFound, match="no session"):
            await t.end_session("s-unknown")
        assert (await t.read_block(second.block_id)).output == ""


async def test_typing_where_nothing_runs(home):
    async with agent_terminal(home) as t:
        for call in (t.send("x"), t.keys("x"), t.ctrl_c(), t.ctrl_d(), t.enter()):
            with pytest.raises(NotRunning, match="exec_block"):
                await call
        await t.exec_block("exit")
        with pytest.raises(NotRunning):
            await t.send("x")


async def test_a_command_that_is_typed_is_a_block_too(home, kind):
    async with agent_terminal(home, shell=kind) as t:
        await t.exec_block("true")
        await t.send("echo ty''ped; sh -c 'exit 3'\r")
        assert (await t.wait_for("typed\n")).matched
        assert (await t.wait_for("PROMPT")).matched
        assert (await t.status()).last_exit_code == 3
        if kind != "sh":  # it has no line editor, and nothing that tells when a line is accepted
            block = (await t.blocks()).blocks[-1]
            assert (block.origin, block.exit_code) == ("typed", 3)
            assert block.cmd == "echo ty''ped; sh -c 'exit 3'"
            assert (await t.read_block(block.block_id)).output == "typed\n"
        assert (await t.exec_block("echo on")).output == "on\n"


async def test_a_command_right_behind_a_typed_line(home, kind):
    """The shell's next mark belongs to the typed line; the command gets a mark of its own."""
    async with agent_terminal(home, shell=kind) as t:
        await t.exec_block("true")
        for n in range(5):
            await t.send(f"echo ty''ped {n}\r")
            try:
                ran = await t.exec_block(f"echo given {n}")
            except Busy:  # the line runs
                await t.live.waiters.until(lambda: t.live.state.phase == "idle")
                ran = await t.exec_block(f"echo given {n}")
            assert (ran.output, ran.done_because) == (f"given {n}\n", "mark")
        await t.enter()
        assert (await t.exec_block("echo given")).output == "given\n"


async def test_input_right_after_an_interrupt(home, kind):
    """A shell that is interrupted at its prompt, or while it makes one, loses keys until it shows another."""
    async with agent_terminal(home, shell=kind) as t:
        await t.exec_block("true")
        for n in range(6 if kind == "fish" else 20):  # which takes its second for each
            await (t.ctrl_c() if n % 2 else t.send("nothing\x03"))
            ran = await t.exec_block(f"echo given {n}")
            assert (ran.output, ran.exit_code) == (f"given {n}\n", 0)
        for n in range(5):
            await t.send("nothing\x03")
            await t.send(f"echo ty''ped {n}\r")
            assert (await t.wait_for(f"typed {n}\n")).matched
            await t.wait_for("PROMPT")
        await t.keys([])
        await t.exec_block("trap '' INT" if kind != "fish" else "true")
        await t.ctrl_c()
        assert (await t.exec_block("echo on")).output == "on\n"


async def test_an_interrupt_right_after_a_command_began(home, kind):
    """The shell, or its child that is about to become the program, has the terminal at first, and drops a Ctrl-C."""
    async with agent_terminal(home, shell=kind) as t:
        for _ in range(30):
            begun = await t.exec_block("sleep 1000", timeout_ms=0)
            await t.ctrl_c()
            assert (await t.wait_for("EOF", from_cursor=begun.cursor)).matched
            assert (await t.read_block(begun.block_id)).block.exit_code == 130


# every way to end


ENDINGS = {
    "ctrl_c": "print('up'); time.sleep(1000)",
    "terminate": "signal.signal(2, signal.SIG_IGN); print('up'); time.sleep(1000)",
    "kill": "signal.signal(2, signal.SIG_IGN); signal.signal(15, signal.SIG_IGN); print('up'); time.sleep(1000)",
}


@pytest.mark.parametrize("how", ENDINGS)
async def test_ending_a_session_escalates_to_kill(home, program, how):
    async with agent_terminal(home) as t:
        session = await t.exec_interactive(program(ENDINGS[how]))
        await t.wait_for("up")
        assert (await t.end_session(session.session_id)).how == how
        assert (await t.end_session(session.session_id)).how == "already_ended"
        block = (await t.read_block(session.block_id)).block
        assert (block.done_because, block.running) == ("ended", False)
        ran = await t.exec_block("echo on")
        assert (ran.output, ran.note) == ("on\n", "")  # the shell itself is not ended


async def test_force(home, program):
    async with agent_terminal(home) as t:
        session = await t.exec_interactive("python3 -q")
        await t.wait_for(">>> ")
        assert (await t.end_session(session.session_id, force=True)).how == "terminate"
        assert (await t.read_block(session.block_id)).block.exit_code == 143
        assert (await t.exec_block("echo on")).note == ""


async def test_a_builtin_of_the_shell_is_interrupted(home):
    """`read` waits in the shell itself: leaving a shell by `exit` would be an answer to it."""
    async with agent_terminal(home) as t:
        session = await t.exec_interactive("read -p 'Name: ' name; echo \"<$name>\"")
        await t.wait_for("Name: ")
        assert (await t.end_session(session.session_id)).how == "ctrl_c"
        assert "exit" not in (await t.read_block(session.block_id)).output
        assert (await t.exec_block("echo on")).note == ""


async def test_ending_a_session_ends_at_its_prompt(home):
    async with agent_terminal(home) as t:
        for _ in range(5):
            session = await t.exec_interactive("cat")
            await t.end_session(session.session_id)
            assert (await t.exec_block("echo on")).output == "on\n"


async def test_stopped_programs(home, program):
    """A stopped program leaves the shell alive, and can be ended."""
    async with agent_terminal(home) as t:
        stopped = await t.exec_block(program("print('up'); os.kill(os.getpid(), signal.SIGSTOP); print('on')"))
        assert (stopped.exit_code, stopped.done_because) == (128 + 19, "mark")
        assert stopped.output.startswith("up\n")
        back = await t.exec_interactive("fg")
        assert (await t.wait_for("on\n")).matched
        assert (await t.wait_for("EOF", session_id=back.session_id)).matched
        suspended = await t.exec_interactive("cat")
        await t.wait_for({"foreground": "cat"})
        await t.keys("C-z")
        assert (await t.wait_for("PROMPT")).matched
        assert (await t.read_block(suspended.block_id)).block.exit_code == 128 + 20
        assert (await t.reset()).ok
    assert not [line for line in leftovers().values() if "cat" in line.split()]


async def test_a_stopped_program_is_continued_before_it_is_terminated(home, program):
    """Without job control the shell does not take the terminal back: a stopped program has to be continued to end."""
    async with agent_terminal(home, shell="bash") as t:
        session = await t.exec_interactive(f"set +m; {program('print(os.getpid()); time.sleep(1000)')}")
        pid = int((await t.wait_for("[0-9]+", regex=True, from_cursor=session.cursor)).match_text)
        os.kill(pid, 19)
        assert (await t.end_session(session.session_id)).how == "terminate"
        wait_until_gone(pid)
        assert (await t.exec_block("echo on")).note == ""


# reset


async def test_reset_ends_a_whole_tree(home, program):
    text = """
for n in range(50):
    if os.fork() == 0:
        if n % 3 == 0: os.setpgid(0, 0)
        if n % 3 == 1: signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGHUP, signal.SIG_IGN)
        time.sleep(1000)
print('grown')
time.sleep(1000)
"""
    async with agent_terminal(home) as t:
        await t.exec_block("echo before")
        session = await t.exec_interactive(program(text))
        await t.wait_for("grown")
        assert len([line for line in leftovers().values() if "program.py" in line]) == 51
        before = await t.status()
        fresh = await t.reset()
        assert fresh.pid != before.pid
        assert not [line for line in leftovers().values() if "program.py" in line]
        block = (await t.read_block(session.block_id)).block
        assert block.done_because == "reset"
        assert (await t.status()).mode == "idle"
        after = await t.exec_block("echo after")
        assert (after.output, after.note) == ("after\n", "")
        assert [b.cmd for b in (await t.blocks()).blocks][::2] == ["echo before", "echo after"]
        assert (await t.read_block("b1")).output == "before\n"


async def test_reset_before_anything_and_twice(home, kind):
    async with agent_terminal(home, shell=kind) as t:
        assert (await t.reset()).pid
        assert (await t.reset()).pid
        assert (await t.exec_block("echo on")).output == "on\n"


async def test_a_wait_ends_with_a_reset(home):
    async with agent_terminal(home) as t:
        session = await t.exec_interactive("cat")
        wait = asyncio.ensure_future(t.wait_for("never", session_id=session.session_id))
        await t.status()  # the wait stands
        await t.reset()
        assert (await wait).reason == "exited"


# size


async def test_the_program_sees_a_resize(home, program):
    text = """
signal.signal(signal.SIGWINCH, lambda *_: print('size', *os.get_terminal_size()))
print('start', *os.get_terminal_size())
while True: time.sleep(1000)
"""
    async with agent_terminal(home, cols=70, rows=20) as t:
        session = await t.exec_interactive(program(text))
        assert (await t.wait_for("start 70 20")).matched
        await t.resize(101, 33)
        assert (await t.wait_for("size 101 33")).matched
        status = await t.status()
        assert (status.cols, status.rows) == (101, 33)
        screen = await t.read_screen()
        assert (screen.cols, screen.rows_count) == (101, 33)
        await t.end_session(session.session_id)
        assert (await t.exec_block("stty size")).output == "33 101\n"
        await t.reset()
        assert (await t.exec_block("stty size")).output == "33 101\n"
        for cols, rows in ((1, 20), (1001, 20), (80, 0), (80, 501), ("80", 24)):
            with pytest.raises(InputError, match=r"cols|rows"):
                await t.resize(cols, rows)


@pytest.mark.parametrize("size", [(40, 1), (8, 1), (2, 10)], ids=str)
async def test_a_tiny_terminal_runs_commands(home, kind, size):
    """In one row bash's editor shows only a part of its prompt."""
    async with agent_terminal(home, shell=kind, cols=size[0], rows=size[1]) as t:
        for number in range(2):
            ran = await t.exec_block(f"stty size; echo {number}")
            assert (ran.output, ran.exit_code) == (f"{size[1]} {size[0]}\n{number}\n", 0)


# secrets


SECRET = "correct-horse-battery"
ASKS = {
    "read -s": "read -r -s -p 'Password: ' x; echo; test \"$x\" = correct-horse-''battery && echo gran''ted",
    "getpass": "python3 -c \"import getpass; x = getpass.getpass(); print('gran' 'ted' * (x[8:] == 'horse-battery'))\"",
    "stty": "printf Password:; stty -echo; read x; stty echo; test ${#x} = 21 && echo gran''ted",
}


@pytest.mark.parametrize("how", ASKS)
async def test_secrets(home, how):
    async with agent_terminal(home) as t:
        session = await t.exec_interactive(ASKS[how])
        assert (await t.wait_for({"secret_prompt": True})).matched
        assert (await t.status()).awaiting_secret
        for call in (t.send("oops\r"), t.keys(["o", "Enter"]), t.send("x", paste=True)):
            with pytest.raises(SecretPrompt) as refused:
                await call
            assert (refused.value.code, refused.value.status) == ("secret_prompt", 409)
            assert "secret" in refused.value.hint
        await t.send(SECRET + "\r", secret=True)
        assert (await t.wait_for("granted", from_cursor=session.cursor)).matched
        assert (await t.wait_for("EOF", session_id=session.session_id)).matched
        with pytest.raises(NoSecretPrompt) as refused:
            await t.send(SECRET + "\r", secret=True)
        assert refused.value.status == 409
        assert not (await t.status()).awaiting_secret
        assert SECRET not in (await t.read_screen()).text
        assert SECRET not in (await t.read_spool()).text
        await t.live.written()
        assert holding(home, SECRET) == []
        assert holding(home, "assword:")  # what was said is there


async def test_a_secret_prompt_can_be_left(home):
    async with agent_terminal(home) as t:
        first = await t.exec_interactive("read -s -p 'Password: ' x")
        await t.wait_for({"secret_prompt": True})
        await t.ctrl_c()
        assert (await t.wait_for("EOF", session_id=first.session_id)).matched
        second = await t.exec_interactive("sh -c 'stty -echo; cat; stty echo'")
        await t.wait_for({"secret_prompt": True})
        await t.ctrl_d()
        assert (await t.wait_for("EOF", session_id=second.session_id)).matched
        third = await t.exec_interactive("read -s -p 'Password: ' x")
        await t.wait_for({"secret_prompt": True})
        assert (await t.end_session(third.session_id)).how == "ctrl_c"


async def test_secrets_may_be_allowed(home):
    async with agent_terminal(home, allow_secret_input=True) as t:
        session = await t.exec_interactive("read -s -p 'Password: ' x; echo; echo \"${#x}\"")
        await t.wait_for({"secret_prompt": True})
        await t.send("four\r")
        assert (await t.wait_for("^4$", regex=True)).matched
        await t.wait_for("EOF", session_id=session.session_id)


# the keyboard


async def test_the_keyboard_is_taken(home):
    async with agent_terminal(home) as t:
        session = await t.exec_interactive("cat")
        t.pty.keyboard.take("ada")
        assert (await t.status()).keyboard == "client:ada"
        for call in (
            t.exec_block("true"),
            t.exec_interactive("true"),
            t.send("x"),
            t.keys("x"),
            t.enter(),
            t.ctrl_c(),
            t.ctrl_d(),
            t.reset(),
            t.end_session(session.session_id),
        ):
            with pytest.raises(KeyboardTaken, match="client:ada") as taken:
                await call
            assert (taken.value.code, taken.value.status) == ("keyboard_taken", 409)
        t.pty.keyboard.release("bob")
        assert (await t.status()).keyboard == "client:ada"
        t.pty.keyboard.release("ada")
        await t.ctrl_d()
        assert (await t.wait_for("EOF", session_id=session.session_id)).matched


# much input for a program that does not read


async def test_a_program_that_never_reads(home, program):
    async with agent_terminal(home) as t:
        await t.exec_interactive(program("print('up'); time.sleep(1000)"))
        await t.wait_for("up")
        with pytest.raises(Conflict, match=r"does not read its input: [0-9,]+ of 200,000 bytes") as full:
            await t.send("this is never read.\n" * 10_000)
        assert int(re.search("([0-9,]+) of", str(full.value))[1].replace(",", "")) < 200_000
        await t.ctrl_c()
        assert (await t.wait_for("PROMPT")).matched
        ran = await t.exec_block("echo on")  # the rest is never typed
        assert ran.output == "on\n"
        assert len((await t.blocks()).blocks) == 2


@pytest.mark.parametrize("paste", [False, True])
async def test_two_megabytes_arrive_whole(home, tmp_path, paste):
    text = "".join(f"{n:07} {'x' * 92}\n" for n in range(20_000))
    async with agent_terminal(home) as t:
        session = await t.exec_interactive(f"cat > {tmp_path}/file")
        await t.wait_for({"foreground": "cat"})
        await t.send(text, paste=paste)
        await t.ctrl_d()
        assert (await t.wait_for("EOF", session_id=session.session_id)).matched
    assert (tmp_path / "file").read_text() == text


async def test_a_line_that_would_be_cut_is_refused(home, tmp_path):
    async with agent_terminal(home) as t:
        session = await t.exec_interactive(f"cat > {tmp_path}/file")
        await t.wait_for({"foreground": "cat"})
        with pytest.raises(Conflict, match=r"4,?095") as long:
            await t.send("x" * 4096 + "\n")
        assert long.value.code == "line_too_long"
        await t.send("y" * 4094 + "\n")
        await t.ctrl_d()
        await t.wait_for("EOF", session_id=session.session_id)
    assert (tmp_path / "file").read_text() == "y" * 4094 + "\n"


async def test_more_than_can_be_sent_at_once(home):
    async with agent_terminal(home) as t:
        await t.exec_interactive("cat")
        with pytest.raises(InputError, match="too many"):
            await t.send("x" * (8 << 20) + "x")


async def test_ctrl_c_gets_through_a_full_queue(home, program):
    async with agent_terminal(home) as t:
        session = await t.exec_interactive(program("print('up'); time.sleep(1000)"))
        await t.wait_for("up")
        flood = asyncio.ensure_future(t.send("this is never read\n" * 20_000))
        await t.status()
        await t.ctrl_c()
        with pytest.raises(Conflict, match="does not read"):
            await flood
        assert (await t.wait_for("EOF", session_id=session.session_id)).matched
        assert (await t.exec_block("echo on")).output == "on\n"


async def test_yes_is_interrupted(home, kind):
    async with agent_terminal(home, shell=kind) as t:
        session = await t.exec_interactive("yes")
        await t.wait_for("y\ny\ny\n")
        await t.ctrl_c()
        assert (await t.wait_for("PROMPT")).matched
        block = (await t.read_block(session.block_id)).block
        assert (block.exit_code, block.done_because) == (130, "mark")
        assert (await t.exec_block("echo on")).output == "on\n"


@pytest.mark.parametrize(
    ("data", "seen"), [("a\nb", "61 0d 62"), ("a\r\nb", "61 0d 62"), ("a\rb", "61 0d 62"), (b"a\nb", "61 0a 62")]
)
async def test_line_ends_of_a_text_are_enter(home, data, seen):
    async with agent_terminal(home) as t:
        await t.exec_interactive("stty raw -echo; echo ready; head -c 3 | od -An -tx1; stty sane")
        await t.wait_for("ready")
        await t.send(data)
        assert (await t.wait_for(seen)).matched


@pytest.mark.parametrize(
    ("modes", "sent", "pieces"),
    [
        ("\\033[?2004h", {"data": "fix it\n"}, [b"fix it", b"\r"]),
        ("\\033[?2004h", {"data": "fix\nit\n"}, [b"fix\rit", b"\r"]),
        ("\\033[?2004h", {"data": "\n"}, [b"\r"]),
        ("\\033[?2004h", {"data": b"fix it\r"}, [b"fix it\r"]),
        ("\\033[?2004h", {"data": "fix it\n", "paste": True}, [b"\x1b[200~fix it\r\x1b[201~"]),
        ("", {"data": "fix it\n"}, [b"fix it\r"]),
    ],
)
async def test_enter_comes_by_itself_where_it_would_be_pasted(home, monkeypatch, modes, sent, pieces):
    """Coding agents that are driven from here take text and Enter that come at once for a paste, and send nothing."""
    typed = []

    async def ask(op, **fields):
        if op == "input":
            typed.append(base64.b64decode(fields["data"]))
        return await asked(op, **fields)

    async with agent_terminal(home) as t:
        await t.exec_interactive(f"printf '{modes}ready\\n'; cat > /dev/null")
        await t.wait_for("ready")
        asked = t.live.ask
        monkeypatch.setattr(t.live, "ask", ask)
        await t.send(**sent)
    assert typed == pieces


async def test_a_wait_is_not_answered_from_output_that_is_derived_again(home, monkeypatch):
    """After a failed write the output is derived again from the beginning, where the session has not started yet."""

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async with agent_terminal(home) as t:
        session = await t.exec_interactive("cat")
        # A wait for silence is not ended by a program that waits for input.
        ends = {"any": [{"eof": True}, {"quiet_ms": 600_000}]}
        over = asyncio.ensure_future(t.wait_for(ends, session_id=session.session_id))
        await t.wait_for({"foreground": "cat"})
        monkeypatch.setattr(t.live.derivation.spool, "write", full)
        sent = await t.send("heard\n")
        assert (await t.wait_for("heard\nheard\n", from_cursor=sent.cursor)).matched
        assert (await t.status()).active_session_id == session.session_id
        await t.ctrl_d()
        assert (await over).reason == "eof"
