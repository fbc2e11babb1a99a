"""Ending what runs: a question is never answered, a prompt gets its quit word, and anything ends in one call."""

import os
import signal

import pytest

from terminal_home import agent_terminal
from vantage.conversation.verbs.terminal import ending


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A busy machine may take longer than usual to end what was asked to leave."""
    monkeypatch.setattr(ending, "STEP_TIMEOUT_S", 3 * ending.STEP_TIMEOUT_S)


QUIT = {
    "python3 -q": (">>> ", "Ctrl-D"),
    "sqlite3": ("sqlite> ", "Ctrl-D"),
    "sqlite3 some.db": ("sqlite> ", "Ctrl-D"),
    "PS1='inner$ ' bash --norc": ("inner$ ", "exit"),
    "gdb -q -nx": ("(gdb) ", "quit"),
    "node": ("> ", "Ctrl-D"),
    "less /etc/passwd": ({"screen": "root:"}, "q"),
    "vim -u NONE": ({"all": [{"screen": "~"}, {"foreground": "vim"}]}, "Escape :qa! Enter"),
}


@pytest.mark.parametrize("command", QUIT)
async def test_a_prompt_gets_its_quit_word(home, tmp_path, command):
    ready, typed = QUIT[command]
    async with agent_terminal(home, cwd=str(tmp_path)) as t:
        session = await t.exec_interactive(command)
        assert (await t.wait_for(ready)).matched
        ended = await t.end_session(session.session_id)
        assert (ended.how, ended.typed) == ("exit", typed)
        assert (await t.read_block(session.block_id)).block.done_because == "ended"
        assert (await t.exec_block("echo on")).output == "on\n"


ASKING = """
try:
    word = input(">>> ")
except EOFError:
    word = "all"
print("del" + "eted", word)
"""
ASKS = {
    "a script of bash": 'bash -c \'read -p "Branch to delete: " b; echo "deleted <$b>"\'',
    "a script with a prompt like a shell's": 'bash -c \'read -p "Branch$ " b; echo "deleted <$b>"\'',
    "a script of Python": 'python3 -c \'print("deleted", input("Go on? [Y/n] ") or "Y")\'',
    "a file of Python with a prompt like a REPL's": "python3 ask.py",
    "the shell's own read": "read -p 'Branch> ' b; echo \"deleted <$b>\"",
    "cat": "echo 'Branch: '; cat; echo deleted",
}


@pytest.mark.parametrize("asks", ASKS)
@pytest.mark.parametrize("as_block", [False, True], ids=["session", "block"])
async def test_a_question_is_never_answered(home, tmp_path, asks, as_block):
    (tmp_path / "ask.py").write_text(ASKING)
    async with agent_terminal(home, cwd=str(tmp_path)) as t:
        if as_block:
            begun = await t.exec_block(ASKS[asks], timeout_ms=0)
        else:
            begun = await t.exec_interactive(ASKS[asks])
        assert (await t.wait_for({"any": ["Branch", "[Y/n]", ">>> "]}, from_cursor=begun.cursor)).matched
        if asks == "cat":  # it starts after the question
            assert (await t.wait_for({"foreground": "cat"})).matched
        ended = await t.end_session()
        assert ended.typed is None
        assert ended.how in ("ctrl_c", "terminate")  # a busy machine may give it no time after the first
        read = await t.read_block(begun.block_id)
        assert "deleted" not in read.output
        assert read.block.done_because == "ended"
        assert (await t.exec_block("echo on")).output == "on\n"


async def test_an_editor_that_another_program_started_gets_no_keys(home, tmp_path):
    """Leaving the editor of `git commit` is the answer that git waits for."""
    async with agent_terminal(home, cwd=str(tmp_path)) as t:
        await t.exec_block("git init -q . && git config user.name n && git config user.email e@x")
        await t.exec_interactive("EDITOR='vim -u NONE' git commit --allow-empty -v -m draft -e")
        assert (await t.wait_for({"all": [{"screen": "draft"}, {"screen": "~"}]})).matched
        ended = await t.end_session()
        assert ended.typed is None
        assert (await t.exec_block("git log --oneline")).exit_code != 0, "nothing was committed"


async def test_half_a_line_in_an_inner_shell_is_not_run(home):
    async with agent_terminal(home) as t:
        await t.exec_interactive("PS1='inner$ ' bash --norc")
        await t.wait_for("inner$ ")
        await t.send("echo never-$((1 + 1))")
        assert (await t.wait_for({"screen": "1))"})).matched
        ended = await t.end_session()
        assert (ended.how, ended.typed) == ("exit", "exit")
        assert "never-2" not in (await t.read_block("b1")).output


MISSES_ONE = """
import signal
def miss(*_):
    signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGINT, miss)
"""


async def test_a_line_editor_that_missed_an_interrupt_gets_another(home, tmp_path):
    """Readline keeps a Ctrl-C that comes just before it reads; here a REPL misses the first one on purpose."""
    (tmp_path / "misses.py").write_text(MISSES_ONE)
    async with agent_terminal(home) as t:
        await t.exec_interactive(f"PYTHONSTARTUP={tmp_path}/misses.py python3 -q")
        await t.wait_for(">>> ")
        await t.send("print('never' * 2)")
        assert (await t.wait_for({"screen": "* 2)"})).matched
        ended = await t.end_session()
        assert (ended.how, ended.typed) == ("exit", "Ctrl-D")
        assert "nevernever" not in (await t.read_block("b1")).output


async def test_a_repl_that_computes_is_interrupted_and_left(home):
    async with agent_terminal(home) as t:
        await t.exec_interactive("python3 -q")
        await t.wait_for(">>> ")
        await t.send("while True: pass\n\n")
        await t.wait_for({"quiet_ms": 300})
        ended = await t.end_session()
        assert (ended.how, ended.typed) == ("exit", "Ctrl-D")


RAW = (
    "import os, signal, tty; signal.signal(2, signal.SIG_IGN); tty.setraw(0); print('up'); "
    "[os.read(0, 9) for _ in range(9)]"
)


async def test_a_command_in_raw_mode_ends_and_its_settings_with_it(home):
    async with agent_terminal(home) as t:
        begun = await t.exec_block(f'python3 -c "{RAW}"', timeout_ms=0)
        assert (await t.wait_for("up")).matched
        assert (await t.end_session()).how == "terminate"
        assert (await t.read_block(begun.block_id)).block.done_because == "ended"
        settings = (await t.exec_block("stty -a")).output.split()
        assert {"isig", "icanon", "echo"} <= set(settings)
        await t.exec_block("sleep 1000", timeout_ms=0)
        await t.wait_for({"foreground": "sleep"})
        await t.ctrl_c()
        assert (await t.wait_for("PROMPT")).matched
        assert (await t.status()).last_exit_code == 130


async def test_a_dry_run_does_nothing(home):
    async with agent_terminal(home) as t:
        assert (await t.end_session(dry_run=True)).how == "already_ended"
        session = await t.exec_interactive("python3 -q")
        await t.wait_for(">>> ")
        said = await t.end_session(dry_run=True)
        assert (said.how, said.typed) == ("exit", "Ctrl-D")
        assert (await t.end_session(force=True, dry_run=True)).how == "terminate"
        assert (await t.read_block(session.block_id)).block.running
        assert (await t.end_session()).how == "exit"


DEAF = "sh -c 'trap \"\" INT TERM; echo de''af; while :; do sleep 1000; done'"


async def test_a_program_that_ends_late_takes_no_shell_with_it(home, monkeypatch):
    """It may end right before it is killed: the signal would reach the shell, which has the terminal then."""
    async with agent_terminal(home) as t:
        await t.exec_block("kept=yes")
        await t.exec_interactive(DEAF, wait_for="deaf")
        ask = t.live.link.ask

        async def late(op, **fields):
            if op == "signal" and fields["signal"] == "KILL":
                program = (await ask("state"))["foreground_pid"]
                os.killpg(os.getpgid(program), signal.SIGKILL)
                while (await ask("state"))["foreground_pid"] == program:
                    pass
            return await ask(op, **fields)

        monkeypatch.setattr(t.live.link, "ask", late)
        assert (await t.end_session()).how == "kill"
        assert (await t.exec_block("echo $kept")).output == "yes\n"


async def test_nothing_runs(home):
    async with agent_terminal(home) as t:
        await t.exec_block("true")
        assert (await t.end_session()).how == "already_ended"


def test_whatever_runs_over_http(server):
    with server.conversation() as conversation:
        server.pty(conversation, "exec_block", command="read -p 'Delete? ' x; echo del''eted", timeout_ms=0)
        assert server.pty(conversation, "wait_for", match="Delete?")["matched"]
        assert server.pty(conversation, "end_session", dry_run=True)["how"] == "ctrl_c"
        ended = server.pty(conversation, "end_session")
        assert ended["how"] in ("ctrl_c", "terminate")
        assert "deleted" not in server.pty(conversation, "read_block", block_id="b1")["output"]
