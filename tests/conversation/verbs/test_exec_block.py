"""`exec_block` against real shells: whatever the command is, one call gives one block that says how it went."""

import asyncio
import os
import re

import pytest

from terminal_home import agent_terminal, environment
from vantage.conversation.manager import Manager
from vantage.errors import Busy, InputError, Unavailable

KINDS = ("bash", "zsh", "fish", "sh")
POSIX = ("bash", "zsh", "sh")


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def text(command, kind):
    """What to type: one text for all shells, or one for each family."""
    if isinstance(command, str):
        return command
    return command.get(kind) or command["fish" if kind == "fish" else "posix"]


COMMANDS = {
    "nothing": ("true", "", 0),
    "a status": ("sh -c 'exit 7'", "", 7),
    "compound": ("echo a && echo b || echo c; false", "a\nb\n", 1),
    "several lines": ("echo a\necho b\n\nsh -c 'exit 3'", "a\nb\n", 3),
    "a loop": (
        {"posix": "for i in 1 2; do\n  echo $i\ndone", "fish": "for i in 1 2\n  echo $i\nend"},
        "1\n2\n",
        0,
    ),
    "heredoc": (
        {"posix": "cat <<'END'\n$x `y` \"z\n  !w\nEND\necho after", "fish": "printf '%s\\n' '$x `y` \"z' '  !w' after"},
        '$x `y` "z\n  !w\nafter\n',
        0,
    ),
    "quotes": ("echo 'it is \"it\"' \"it's\" 'a\nb'", 'it is "it" it\'s a\nb\n', 0),
    "exclamation marks": ("echo 'a!b' !x '!!' \"c!\" !", "a!b !x !! c! !\n", 0),
    "tabs": ("printf '[%s]\\n' 'a\tb'\n\t\techo c", "[a\tb]\nc\n", 0),
    "unicode": ("echo 'zażółć 漢字 🎉 e\u0301'", "zażółć 漢字 🎉 e\u0301\n", 0),
    "a comment at the end": ("echo a # done", "a\n", 0),
    "a backslash at the end of a line": ("echo a \\\n b", "a b\n", 0),
    "no newline at the end": ("printf 'half a line'", "half a line", 0),
    "what looks like a prompt": ("printf '$ \\nroot# \\n> '", "$ \nroot# \n> ", 0),
    "control bytes": ("printf 'a\\033[31mred\\033[0m\\007b\\n'", "aredb\n", 0),
    "a progress bar": ("printf '10%%\\r50%%\\r100%%\\n'", "100%\n", 0),
    "a pipe": ("seq 3 | tail -n 1", "3\n", 0),
    "standard error": ("sh -c 'echo out; echo err >&2'", "out\nerr\n", 0),
    "an empty line of input": ("head -n 1 </dev/null; echo $TERM", "xterm-256color\n", 0),
}


async def test_commands(home, kind):
    async with agent_terminal(home, shell=kind) as t:
        for name, (command, output, code) in COMMANDS.items():
            ran = await t.exec_block(text(command, kind))
            assert (ran.output, ran.exit_code, ran.done_because, ran.truncated) == (output, code, "mark", False), name
            assert ran.running is False
        blocks = (await t.blocks()).blocks
        assert [block.cmd for block in blocks] == [text(command, kind) for command, _, _ in COMMANDS.values()]
        assert [block.seq for block in blocks] == list(range(1, len(COMMANDS) + 1))
        assert {block.origin for block in blocks} == {"exec"}
        for block, (_, output, code) in zip(blocks, COMMANDS.values(), strict=True):
            again = await t.read_block(block.block_id)
            assert (again.output, block.exit_code, again.omitted_bytes) == (output, code, 0)


async def test_a_megabyte_of_script(home, kind):
    lines = "\n".join(f": {number:060} 'the rest of a long line of script'" for number in range(10_500))
    async with agent_terminal(home, shell=kind) as t:
        comment = lines.replace("\n: ", "\n# ").replace(
            ": ", "# ", 1
        )  # 10,000 commands are a test of the shell's speed
        ran = await t.exec_block(f"echo first\n{comment}\necho last", timeout_ms=60_000)
        assert (ran.output, ran.exit_code, ran.done_because) == ("first\nlast\n", 0, "mark")
        assert len((await t.read_block(ran.block_id)).block.cmd) > 1_000_000
        assert (await t.exec_block("echo on")).output == "on\n"


STATE = {
    "cd": ("cd /usr", "pwd", "/usr\n"),
    "export": ({"posix": "export V=1", "fish": "set -gx V 1"}, "env | grep ^V=", "V=1\n"),
    "a variable": ({"posix": "v='a  b'", "fish": "set v 'a  b'"}, 'echo "$v"', "a  b\n"),
    "a function": ({"posix": 'f() { echo f "$1"; }', "fish": "function f; echo f $argv; end"}, "f x", "f x\n"),
    "the status": ("sh -c 'exit 9'", {"posix": "echo $?", "fish": "echo $status"}, "9\n"),
    "umask": ("umask 027", "umask", {"fish": "0027\n", "zsh": "027\n", "posix": "0027\n"}),
    "a trap": ({"posix": "trap 'echo usr1' USR1", "fish": "function h --on-signal USR1; echo usr1; end"},
               {"posix": "kill -USR1 $$; true", "fish": "kill -USR1 $fish_pid; true"}, "usr1\n"),
    "a background job": (
        "sleep 1000 &",
        {"sh": "kill -0 $! && echo 1", "posix": "jobs | grep -c sleep", "fish": "jobs | grep -c sleep"},
        "1\n",
    ),
    "its end": ({"posix": "kill %1", "fish": "kill (jobs -p)"}, "wait; echo over", None),
}  # fmt: skip


async def test_state_stays(home, kind):
    async with agent_terminal(home, shell=kind) as t:
        for name, (first, then, said) in STATE.items():
            await t.exec_block(text(first, kind))
            ran = await t.exec_block(text(then, kind))
            if said is None:
                assert "over" in ran.output.splitlines(), name  # dash may report the job's end after it
            else:
                assert ran.output == text(said, kind), name


async def test_declare_and_aliases_in_bash(home):
    async with agent_terminal(home) as t:
        await t.exec_block("declare -A map=([a]=1); declare -i n=3; readonly r=5; alias hi='echo hello'")
        await t.exec_block("n+=4; shopt -s extglob")
        assert (await t.exec_block('echo ${map[a]} $n $r; hi; echo "${r/@(5|6)/x}"')).output == "1 7 5\nhello\nx\n"


async def test_directories(home, kind, tmp_path):
    """`cwd` is a `cd` that was typed before: it stays. Blocks and state say where a command ran and where it ended."""
    odd = tmp_path / "it's; 100% 'ü' \\n"
    odd.mkdir()
    async with agent_terminal(home, shell=kind, cwd="/usr") as t:
        first = await t.exec_block("pwd")
        assert (first.output, first.cwd) == ("/usr\n", "/usr")
        there = await t.exec_block("pwd", cwd=str(odd))
        assert (there.output, there.cwd) == (f"{odd}\n", str(odd))
        assert (await t.exec_block("pwd")).output == f"{odd}\n"
        moved = await t.exec_block("cd /")
        assert moved.cwd == "/"
        assert (await t.status()).cwd == "/"
        cwds = [block.cwd for block in (await t.blocks()).blocks]
        assert cwds == ["/usr", str(odd), str(odd), str(odd)]
        with pytest.raises(InputError, match="no directory"):
            await t.exec_block("pwd", cwd=str(tmp_path / "nowhere"))
        assert (await t.exec_block("pwd", cwd="usr")).output == "/usr\n", "from where the shell is"
        assert (await t.exec_block("pwd; cd /", cwd="~")).output == (await t.exec_block("cd; pwd")).output


async def test_a_directory_that_cannot_be_entered(home, kind, tmp_path):
    """The directory disappears after it was checked: the command must not run elsewhere."""
    gone = tmp_path / "gone"
    gone.mkdir()
    async with agent_terminal(home, shell=kind, cwd="/usr") as t:
        await t.exec_block(f"cd {gone}; rmdir {gone}; cd /usr")
        gone.write_text("a file now")
        with pytest.raises(InputError, match="no directory"):
            await t.exec_block("touch ran", cwd=str(gone))


async def test_times(home, kind):
    async with agent_terminal(home, shell=kind) as t:
        quick, slow = await t.exec_block("true"), await t.exec_block("sleep 0.3")
        assert slow.duration_ms >= 290
        assert quick.ts_begin <= slow.ts_begin
        block = (await t.read_block(slow.block_id)).block
        assert block.ts_end - block.ts_begin >= 290


UNFINISHED = {
    "a quote": ('echo "open', KINDS),
    "a quote in the second line": ("echo a\necho 'open", KINDS),
    "a heredoc": ("cat <<END\nline", POSIX),
    "an if": ("if true", KINDS),
    "a brace": ("{ echo a", POSIX),
    "a loop": ({"posix": "while true; do\necho x", "fish": "while true\necho x"}, KINDS),
    "a pipe": ("echo a |", KINDS),
    "a backslash": ("echo a \\", ("bash", "zsh")),
}


async def test_unfinished_input_is_cancelled(home, kind):
    async with agent_terminal(home, shell=kind) as t:
        for name, (command, kinds) in UNFINISHED.items():
            if kind not in kinds:
                continue
            ran = await t.exec_block(text(command, kind))
            assert (ran.done_because, ran.exit_code) == ("incomplete", None), name
            assert ran.output in ("", "a\n"), name  # bash runs the lines before the one that is open
            after = await t.exec_block("echo on")
            assert (after.output, after.exit_code, after.done_because) == ("on\n", 0, "mark"), name
        assert "open" not in (await t.exec_block("echo done")).output


@pytest.mark.parametrize("command", ["echo )", "if; fi", "echo 'a' && && echo b"])
async def test_syntax_errors_are_the_shells_own_words(home, kind, command):
    if kind == "fish" and command == "if; fi":
        command = "end"
    async with agent_terminal(home, shell=kind) as t:
        ran = await t.exec_block(command)
        assert ran.done_because == "mark"
        assert ran.exit_code not in (0, None)
        assert re.search("syntax error|parse error|unexpected|outside of a block|expected", ran.output, re.IGNORECASE)
        assert "vantage" not in ran.output
        assert (await t.exec_block("echo on")).output == "on\n"


ENDINGS = {
    "exit": ({"posix": "echo a; exit 3; echo b", "fish": "echo a; exit 3; echo b"}, KINDS, 3),
    "exec": ("exec sh -c 'echo a; exit 4'", KINDS, 4),
    "an error under set -e": ("echo a; set -e; false; echo b", POSIX, 1),
    "killed": ({"posix": "echo a; kill -9 $$", "fish": "echo a; kill -9 $fish_pid"}, KINDS, None),
    "hung up": ({"posix": "echo a; kill -HUP $$", "fish": "echo a; kill -HUP $fish_pid; sleep 100"}, KINDS, Ellipsis),
    "a program that is no more": ("exec sleep 0", KINDS, 0),
}


@pytest.mark.parametrize("ending", ENDINGS)
async def test_when_the_shell_ends(home, kind, ending):
    command, kinds, code = ENDINGS[ending]
    if kind not in kinds:
        command, code = "exec false", 1
    async with agent_terminal(home, shell=kind) as t:
        first = await t.exec_block({"fish": "set -g v 1; cd /usr"}.get(kind, "v=1; cd /usr"))
        assert first.note == ""
        ran = await t.exec_block(text(command, kind))
        assert ran.done_because == "exit"
        if code is not Ellipsis:
            assert ran.exit_code == code
        assert "b\n" not in ran.output
        status = await t.status()
        assert (status.mode, status.pid) == ("exited", None)
        fresh = await t.exec_block('echo "[$v]"; pwd')
        assert (fresh.output, fresh.done_because) == ("[]\n/usr\n", "mark")
        assert "fresh" in fresh.note
        assert (await t.exec_block("true")).note == ""
        assert len({block.shell_id for block in (await t.blocks()).blocks}) == 2


async def test_a_background_job_outlives_its_shell(home, kind, tmp_path):
    """The shell's end is seen though the job keeps the terminal open; what the job does is its own business."""
    os.mkfifo(tmp_path / "go")
    async with agent_terminal(home, shell=kind) as t:
        job = (
            f"nohup sh -c 'read line <{tmp_path}/go; echo $line >{tmp_path}/done; mv {tmp_path}/done {tmp_path}/there'"
        )
        quiet = ">/dev/null 2>&1"
        await t.exec_block(f"{job} {quiet} &")
        if kind in ("bash", "zsh"):
            await t.exec_block("disown")
        if kind == "fish":
            await t.exec_block("disown (jobs -lp)")
        ended = await t.exec_block("exit 0")
        if ended.done_because == "mark":  # zsh warns once of jobs
            ended = await t.exec_block("exit 0")
        assert ended.done_because == "exit"
        fresh = await t.exec_block(
            f"echo still >{tmp_path}/go; while ! test -e {tmp_path}/there; do sleep 0.01; done; cat {tmp_path}/there"
            if kind != "fish"
            else f"echo still >{tmp_path}/go; while not test -e {tmp_path}/there; sleep 0.01; end; cat {tmp_path}/there"
        )
        assert fresh.output == "still\n"


async def test_a_running_block_can_be_waited_on_read_and_interrupted(home, kind):
    async with agent_terminal(home, shell=kind) as t:
        started = await t.exec_block("echo begun; sleep 1000", timeout_ms=0)
        assert (started.running, started.exit_code, started.output, started.done_because) == (True, None, None, None)
        assert (await t.wait_for("begun", from_cursor=started.cursor)).matched
        status = await t.status()
        assert (status.mode, status.active_block_id, status.active_session_id) == (
            "block_running",
            started.block_id,
            None,
        )
        so_far = await t.read_block(started.block_id)
        assert (so_far.output, so_far.block.running) == ("begun\n", True)
        assert [block.block_id for block in (await t.blocks()).blocks] == [started.block_id]
        await t.wait_for({"foreground": "sleep"})
        await t.ctrl_c()
        assert (await t.wait_for("PROMPT")).matched
        over = (await t.read_block(started.block_id)).block
        assert (over.exit_code, over.done_because) == (130, "mark")
        assert (await t.exec_block("echo on")).output == "on\n"


async def test_a_timeout_leaves_it_running(home):
    async with agent_terminal(home) as t:
        late = await t.exec_block("cat", timeout_ms=50)
        assert (late.running, late.output) == (True, None)
        await t.ctrl_d()
        assert (await t.wait_for("EOF")).matched
        assert (await t.read_block(late.block_id)).block.exit_code == 0


async def test_busy(home, kind):
    async with agent_terminal(home, shell=kind) as t:
        started = await t.exec_block("sleep 1000", timeout_ms=0)
        with pytest.raises(Busy, match="sleep 1000") as busy:
            await t.exec_block("echo no")
        assert busy.value.code == "busy"
        assert busy.value.status == 409
        assert "ctrl_c" in busy.value.hint
        await t.wait_for({"foreground": "sleep"})
        await t.ctrl_c()
        await t.wait_for("PROMPT", from_cursor=started.cursor)
        session = await t.exec_interactive("cat")
        with pytest.raises(Busy, match="interactive session runs") as busy:
            await t.exec_interactive("cat")
        assert "end_session" in busy.value.hint
        await t.end_session(session.session_id)
        assert [block.cmd for block in (await t.blocks()).blocks] == ["sleep 1000", "cat"]


async def test_two_at_once(home, kind):
    """One of them runs; the other is told, and nothing of it gets into the shell."""
    async with agent_terminal(home, shell=kind) as t:
        made = await asyncio.gather(*(t.exec_block(f"echo {n}") for n in range(5)), return_exceptions=True)
        ran = [one for one in made if not isinstance(one, Exception)]
        assert len(ran) >= 1
        assert all(isinstance(one, Busy) for one in made if isinstance(one, Exception))
        assert len((await t.blocks()).blocks) == len(ran)
        assert (await t.exec_block("echo on")).output == "on\n"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo \0", "NUL"),
        ("x" * (16 << 20) + "x", "characters"),
        (b"echo", "expected a text, got bytes"),
        (None, "expected a text, got null"),
        (3, "expected a text, got 3"),
    ],
)
async def test_invalid_commands_are_refused(home, command, said):
    async with agent_terminal(home) as t:
        with pytest.raises(InputError, match=said):
            await t.exec_block(command)
        with pytest.raises(InputError, match=said):
            await t.exec_interactive(command)
        assert (await t.status()).mode == "idle"
        assert (await t.blocks()).blocks == []


async def test_surrogates_are_refused(home):
    """Half a character cannot be written anywhere: not into the journal, not into an answer."""
    async with agent_terminal(home) as t:
        with pytest.raises(InputError, match="surrogate"):
            await t.exec_block("echo \ud800")
        assert (await t.exec_block("echo on")).output == "on\n"


@pytest.mark.parametrize("name", ["timeout_ms", "max_output"])
async def test_bad_numbers_are_refused_before_anything_runs(home, name):
    async with agent_terminal(home) as t:
        for value in (-1, "1", None, 1.5, True):
            with pytest.raises(InputError, match=name):
                await t.exec_block("echo no", **{name: value})
        assert (await t.blocks()).blocks == []


async def test_nothing_to_run(home, kind):
    """An empty command is accepted as a line and makes a block without output."""
    async with agent_terminal(home, shell=kind) as t:
        for command in ("", "   ", "\n\n", "# only a comment"):
            ran = await t.exec_block(command)
            assert (ran.output, ran.done_because) == ("", "mark")
        assert (await t.exec_block("echo on")).output == "on\n"


# output that does not fit


async def whole(t, span):
    """Everything in a span of the spool, in pieces."""
    read, cursor = "", span.start
    while cursor < span.end:
        piece = await t.read_spool(cursor, min(span.end - cursor, 50_000) if span.end - cursor >= 4 else 4)
        part = piece.text.encode()[: span.end - cursor].decode()
        read += part
        cursor += len(part.encode())
    return read


@pytest.mark.parametrize(
    "program",
    [
        "seq 1 20000",
        "yes 'zażółć gęślą 🎉' | head -n 5000",
        "head -c 200000 /dev/zero | tr '\\0' x",
        "printf 'no newline '; seq 1 9000 | tr '\\n' ' '",
        "seq 1 300000",
    ],
)
async def test_every_byte_is_accounted_for(home, program):
    async with agent_terminal(home) as t:
        ran = await t.exec_block(program, max_output=1001)
        record = (await t.read_block(ran.block_id)).block
        everything = await whole(t, record.spool)
        assert len(everything.encode()) == record.spool.size
        check(ran, record, everything, await whole(t, ran.omitted), 1001)
        for limit in (1, 10, 100, 30_000):
            read = await t.read_block(ran.block_id, max_output=limit)
            check(read, record, everything, await whole(t, read.omitted), limit)


def check(read, record, everything, left_out, limit):
    """Head, what is left out, and tail are the whole."""
    assert read.truncated
    assert read.omitted.size == read.omitted_bytes > 0
    gap = f"… {read.omitted_bytes:,} bytes left out (spool {read.omitted.start}–{read.omitted.end}) …"
    head, found, tail = read.output.partition(gap)
    assert found
    assert len(head) + len(tail) <= limit + 2
    before = everything.encode()[: read.omitted.start - record.spool.start].decode()
    after = everything.encode()[read.omitted.end - record.spool.start :].decode()
    assert before + left_out + after == everything
    assert before.rstrip("\n") == head.rstrip("\n")
    assert after.lstrip("\n") == tail.lstrip("\n")


@pytest.mark.parametrize("part", ["head", "tail"])
async def test_head_or_tail_of_an_output(home, part):
    async with agent_terminal(home) as t:
        ran = await t.exec_block("seq 1 20000", max_output=1000)
        read = await t.read_block(ran.block_id, max_output=1000, part=part)
        numbers = [int(line) for line in read.output.split("\n") if line.isdigit()]
        count = len(numbers)
        assert numbers == list(range(1, count + 1) if part == "head" else range(20001 - count, 20001))
        assert read.omitted_bytes + len("".join(f"{n}\n" for n in numbers)) == read.block.spool.size


async def test_the_output_file_has_the_raw_bytes(home):
    async with agent_terminal(home) as t:
        ran = await t.exec_block("printf 'a\\r\\n\\033[1mb\\033[0m\\xff\\n'")
        await t.wait_for("PROMPT")
        await t.live.written()
        block = (await t.read_block(ran.block_id)).block
        stored = t.live.folder.blocks / f"{block.seq}_{block.ts_begin}.out"
        assert stored.read_bytes() == b"a\r\r\n\x1b[1mb\x1b[0m\xff\r\n"
        assert ran.output == "a\nb\ufffd\n"


# nothing of ours to be seen

PLUMBING = re.compile(r"__vantage|\]133;|aid=|520[0-6]~|/run/c-")


async def test_hooks_and_command_files_stay_invisible(home, kind, tmp_path):
    """Not on the screen, in the spool, in blocks or history, nor in what a child can see."""
    long = "\n".join(["# a long one", *(f": line {n}" for n in range(60)), "echo long"])
    env = environment(HOME=str(tmp_path))  # and a history of its own
    async with agent_terminal(home, shell=kind, cwd="/", env=env) as t:
        secret = None
        for command in ("echo one", "cd /usr", "echo a\necho b", long, "echo 'open", "echo )"):
            await t.exec_block(command, cwd="/")
            secret = t.live.state.secret
        await t.wait_for("PROMPT")
        seen = {
            "the screen": (await t.read_screen()).text,
            "the spool": (await t.read_spool()).text,
            "the scrollback": "\n".join((await t.read_scrollback()).lines),
            "blocks": "".join(block.cmd for block in (await t.blocks()).blocks),
        }
        if kind != "sh":
            listed = await t.exec_block({"bash": "history", "zsh": "fc -l 1", "fish": "history"}[kind])
            seen["the history"] = listed.output
            assert "echo one" in listed.output
        names = environment().keys()
        child = await t.exec_block("env; cat /proc/self/environ /proc/self/cmdline | tr '\\0' '\\n'")
        seen["a child"] = "\n".join(line for line in child.output.split("\n") if line.partition("=")[0] not in names)
        for where, what in seen.items():
            assert PLUMBING.search(what) is None, where
            assert secret not in what, where


# hooks thrown away

LOST = {
    "bash": (
        "PROMPT_COMMAND=; PS1=x",
        "PROMPT_COMMAND=(); PS1=; PS0=; PS2=",
        "unset PROMPT_COMMAND PS0 PS1 PS2",
        "source {rc}",
    ),
    "zsh": (
        "precmd_functions=()",
        "precmd_functions=(); preexec_functions=(); PS1=x",
        "unset precmd_functions; unfunction precmd; zle -D zle-line-init",
        "unset precmd_functions preexec_functions; unfunction precmd; zle -D zle-line-init",
        "source {rc}",
    ),
    "fish": (
        "functions -e fish_prompt",
        "function fish_prompt; echo x; end",
        "function fish_prompt; echo y; end; functions -e fish_right_prompt",
    ),
    "sh": ("PS1=x", "unset PS1 PS2", ". {rc}"),
}


@pytest.mark.parametrize(("shell", "command"), [(shell, command) for shell in LOST for command in LOST[shell]])
async def test_hooks_thrown_away(home, tmp_path, shell, command):
    (tmp_path / "rc").write_text("PS1='theme> '\nPROMPT_COMMAND='true'\nprecmd_functions=\n")
    async with agent_terminal(home, shell=shell) as t:
        await t.exec_block("true")
        pid = (await t.status()).pid
        lost = await t.exec_block(command.format(rc=tmp_path / "rc"))
        assert lost.done_because == "mark"
        assert lost.exit_code == 0
        for n in range(3):
            ran = await t.exec_block(f"echo {n}; sh -c 'exit {n}'")
            assert (ran.output, ran.exit_code, ran.done_because) == (f"{n}\n", n, "mark")
        status = await t.status()
        assert (status.mode, status.pid) == ("idle", pid)
        assert PLUMBING.search((await t.read_screen()).text) is None


async def test_hooks_thrown_away_keep_the_output(home):
    async with agent_terminal(home, shell="zsh") as t:
        assert (await t.exec_block("printf 'half a line'; precmd_functions=()")).output == "half a line"


READERS = {
    "bash": ("read -n 1 -p 'Go? ' x; printf '<%s>\\n' \"$x\"", "y"),
    "bash with an editor": ("read -e -p 'Go? ' x; printf '<%s>\\n' \"$x\"", "y\r"),
    "zsh": ("printf 'Go? '; read -k 1 x; printf '<%s>\\n' \"$x\"", "y"),
    "zsh with an editor": ("x=; vared -p 'Go? ' x; printf '<%s>\\n' \"$x\"", "y\r"),
    "fish": ("read -P 'Go? ' x; echo \"<$x>\"", "y\r"),
    "fish with one key": ("read -n 1 -P 'Go? ' x; echo \"<$x>\"", "y"),
}


@pytest.mark.parametrize("reader", READERS)
async def test_a_builtin_that_reads_keys_is_left_alone(home, reader):
    """It holds the terminal as the shell's editor does; nothing of ours may be typed into it."""
    command, answer = READERS[reader]
    async with agent_terminal(home, shell=reader.split(" ")[0]) as t:
        session = await t.exec_interactive(command)
        await t.wait_for({"all": [{"screen": "Go?"}, {"quiet_ms": 700}]})
        await t.send(answer)
        got = await t.wait_for("<.*>", regex=True, from_cursor=session.cursor)
        assert got.match_text == "<y>"
        assert (await t.wait_for("EOF", session_id=session.session_id)).matched


async def test_a_command_right_after_the_prompts_are_hidden(home):
    """Its marks come before its line editor then, so the command is given in either way. A race: five shells."""
    for _ in range(5):
        async with agent_terminal(home) as t:
            await t.exec_block("exec 2>/dev/null")
            ran = await t.exec_block("echo out; (exit 5)")
            assert (ran.output, ran.exit_code) == ("out\n", 5)


# marks of other programs


async def test_another_shell_in_its_place_is_left_alone(home, kind):
    """`exec bash`: the same process, no hooks. Nothing is typed into it, and its end is the block's."""
    inner = {"bash": "exec bash --norc", "zsh": "exec zsh -f", "fish": "exec fish --no-config", "sh": "exec sh"}[kind]
    async with agent_terminal(home, shell=kind) as t:
        session = await t.exec_interactive(inner)
        await t.wait_for({"quiet_ms": 700})
        await t.send("echo in''ner\r")
        assert (await t.wait_for("inner")).matched
        assert "~" not in (await t.read_block(session.block_id)).output
        await t.send("exit\r")
        assert (await t.wait_for("EOF", session_id=session.session_id)).matched
        assert (await t.read_block(session.block_id)).block.done_because == "exit"
        assert "fresh" in (await t.exec_block("echo on")).note


NESTED = r"""
PS1='\[\e]133;A\a\]nested> \[\e]133;B\a\]'
PS0='\e]133;C\a'
PROMPT_COMMAND='printf "\e]133;D;%s\a" "$?"'
"""


async def test_a_nested_shell_with_marks_of_its_own(home, kind, tmp_path):
    (tmp_path / "rc").write_text(NESTED)
    async with agent_terminal(home, shell=kind) as t:
        session = await t.exec_interactive(f"bash --rcfile {tmp_path}/rc -i")
        await t.wait_for({"screen": "nested>"})
        await t.send("echo in''side; false\r")
        assert (await t.wait_for("inside")).matched
        assert (await t.wait_for("nested> ")).matched
        assert (await t.status()).mode == "interactive"
        assert not (await t.wait_for("PROMPT", from_cursor=session.cursor, timeout_ms=0)).matched
        await t.send("exit 5\r")
        assert (await t.wait_for("PROMPT")).matched
        block = (await t.read_block(session.block_id)).block
        assert (block.exit_code, block.done_because) == (5, "mark")
        assert len((await t.blocks()).blocks) == 1


async def test_old_marks_are_ordinary_bytes(home, kind):
    """The conversation's own log, with every mark of this very shell in it, printed and followed."""
    async with agent_terminal(home, shell=kind) as t:
        for n in range(3):
            await t.exec_block(f"echo {n}")
        raw = t.live.folder.raw
        printed = await t.exec_block(f"cp {raw} copy; cat copy; rm copy")
        assert (printed.exit_code, printed.done_because) == (0, "mark")
        again = await t.exec_block("echo on; sh -c 'exit 4'")
        assert (again.output, again.exit_code) == ("on\n", 4)
        blocks = (await t.blocks()).blocks
        assert [block.seq for block in blocks] == [1, 2, 3, 4, 5]
        assert (await t.status()).mode == "idle"


async def test_a_forged_mark_with_the_next_number_ends_nothing_for_long(home):
    """A program that knows the secret can forge a mark; the shell's next mark corrects the state."""
    async with agent_terminal(home) as t:
        await t.exec_block("true")
        state = t.live.state
        mark = f"\\033]133;D;0;aid={state.secret};n={state.cycle + 1}\\033\\\\"
        await t.exec_block(f"printf '{mark}'; sleep 0.1; false")
        assert (await t.wait_for("PROMPT")).matched
        assert (await t.exec_block("echo on")).output == "on\n"


async def test_status_before_anything_ran(home):
    async with agent_terminal(home, cols=90, rows=20, cwd="/usr") as t:
        status = await t.status()
        assert (status.mode, status.pid, status.shell_id, status.cursor) == ("idle", None, None, 0)
        assert (status.cols, status.rows, status.cwd, status.last_exit_code) == (90, 20, "/usr", None)
        assert (await t.blocks()).blocks == []
        assert (await t.read_spool()).text == ""
        assert (await t.read_screen()).text == ""


async def test_an_unknown_shell_is_said(home):
    async with agent_terminal(home, shell="tcsh") as t:
        with pytest.raises(InputError, match="expected one of bash"):
            await t.exec_block("true")


async def test_a_shell_that_ends_while_it_starts(home, tmp_path):
    (tmp_path / ".bashrc").write_text("echo 'no entry'; exit 3\n")
    async with agent_terminal(home, env=environment(HOME=str(tmp_path)), user_rc=True) as t:
        with pytest.raises(Unavailable, match="no entry"):
            await t.exec_block("true")
        (tmp_path / ".bashrc").unlink()
        assert (await t.exec_block("echo on")).output == "on\n"


DYING = {
    "bash": "PROMPT_COMMAND+=('sleep 0.2; kill -9 $$')",
    "zsh": "precmd_functions+=(die); die() { sleep 0.2; kill -9 $$ }",
    "fish": "function fish_prompt; sleep 0.2; kill -9 $fish_pid; end",
}


@pytest.mark.parametrize("waited", [True, False])
@pytest.mark.parametrize("shell", DYING)
async def test_a_shell_that_ends_before_its_prompt(home, shell, waited):
    """The shell ends after a command and before its prompt: waits end, and the next command gets a fresh shell."""
    async with agent_terminal(home, shell=shell) as t:
        await t.exec_block("true")
        ran = await t.exec_block(DYING[shell])
        assert (ran.exit_code, ran.done_because) == (0, "mark")
        if waited:
            found = await t.wait_for("PROMPT", from_cursor=ran.cursor)
            assert (found.matched, found.reason) == (False, "exited")
        fresh = await t.exec_block("echo on")
        assert (fresh.output, fresh.done_because) == ("on\n", "mark")
        assert "fresh" in fresh.note


async def test_one_floods_another_works(private_home):
    """Two conversations of one home: a flood in one does not hold the other up until it ends."""
    settings = {"cwd": "/", "env": environment(), "user_rc": False}
    async with Manager(private_home) as manager:
        loud, calm = (manager.create(name, **settings).terminal for name in ("loud", "calm"))
        flood = await loud.exec_interactive("yes")
        await loud.wait_for("y\ny")
        for n in range(20):
            assert (await calm.exec_block(f"echo {n}")).output == f"{n}\n"
        session = await calm.exec_interactive("cat")
        await calm.send("hello\r")
        assert (await calm.wait_for("hello\nhello")).matched
        assert (await calm.end_session(session.session_id)).how in ("ctrl_c", "terminate")
        await loud.ctrl_c()
        assert (await loud.wait_for("EOF", session_id=flood.session_id)).matched
        assert (await loud.exec_block("echo on")).output == "on\n"
        await manager.delete("loud")
        await manager.delete("calm")


async def test_a_full_screen_program_leaves_its_last_screen(home, kind):
    """Its output is a drawing: the text to read is what it showed before it left the alternate screen."""
    draw = r"printf '\033[?1049h\033[2J\033[3;5Hhello\033[5;1Hthere\033[?1049l'"
    async with agent_terminal(home, shell=kind) as t:
        ran = await t.exec_block(draw)
        assert [line.strip() for line in ran.screen.splitlines() if line.strip()] == ["hello", "there"]
        assert (await t.exec_block("echo on")).screen is None
