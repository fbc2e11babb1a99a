"""Programs that people use, driven as an agent would: type, wait, look."""

import re

import pytest

from terminal_home import agent_terminal

INSTALLER = r"""
import random, sys
secret = str(random.randint(1000, 9999))
questions = [
    ("Install into /opt? [Y/n] ", lambda a: a in ("y", "n", "")),
    ("Enter a port number between 1024 and 65535: ", lambda a: a.isdigit() and 1024 <= int(a) <= 65535),
    ("Select a mirror (1-3):\n  1) near\n  2) far\n  3) none\n> ", lambda a: a in ("1", "2", "3")),
    (f"Type {secret} to confirm: ", lambda a: a == secret),
    ("Press ENTER to continue", lambda a: a == ""),
    ("Accept the licence (yes/no)? ", lambda a: a == "yes"),
]
random.shuffle(questions)
for number in range(12):
    text, right = random.choice(questions)
    while True:
        sys.stdout.write(text)
        sys.stdout.flush()
        answer = sys.stdin.readline().strip().lower()
        if right(answer):
            break
        print("Invalid answer.")
print("Installation complete.")
sys.exit(7)
"""


async def test_the_python_prompt(home):
    async with agent_terminal(home) as t:
        session = await t.exec_interactive("python3 -q")
        assert (await t.wait_for(">>> ")).matched
        await t.send("def f(x):\r    return x * 2\r\r")
        assert (await t.wait_for("\n>>> ")).matched
        await t.send("f('ab')\r")
        assert (await t.wait_for("'abab'")).matched
        await t.wait_for(">>> ")
        await t.send("""exec("print('spin' + 'ning')\\nwhile True: pass")\r""")
        assert (await t.wait_for("spinning")).matched  # behind it the loop runs: between two lines, Python's editor
        await t.ctrl_c()  # would keep a signal until the next key
        assert (await t.wait_for("KeyboardInterrupt")).matched
        await t.wait_for(">>> ")
        await t.send("import sys; sys.exit(5)\r")
        assert (await t.wait_for("EOF", session_id=session.session_id)).matched
        assert (await t.read_block(session.block_id)).block.exit_code == 5


async def test_sqlite(home, tmp_path):
    async with agent_terminal(home) as t:
        session = await t.exec_interactive(f"sqlite3 {tmp_path}/base.db")
        await t.wait_for("sqlite> ")
        await t.send("create table t (a, b);\r")
        await t.wait_for("sqlite> ")
        await t.send("insert into t values (1, 'zażółć'), (2, '漢字');\r")
        await t.wait_for("sqlite> ")
        await t.send("select b from t\r")
        assert (await t.wait_for("   ...> ")).matched
        await t.send("where a = 2;\r")
        assert (await t.wait_for("^\r?漢字$", regex=True)).matched
        await t.wait_for("sqlite> ")
        await t.send("select nonsense;\r")
        assert (await t.wait_for("no such column")).matched
        assert (await t.end_session(session.session_id)).how == "exit"


async def test_gdb(home, tmp_path):
    source, target = tmp_path / "tiny.c", tmp_path / "tiny"
    source.write_text("int add(int a, int b) { return a + b; }\nint main(void) { return add(2, 40); }\n")
    async with agent_terminal(home) as t:
        compiled = (await t.exec_block(f"cc -g -O0 -o {target} {source}")).exit_code == 0
        if not compiled:  # no compiler here: any program will do
            target = "/bin/true"
        session = await t.exec_interactive(f"gdb -q -nx {target}")
        assert (await t.wait_for("(gdb) ")).matched
        if compiled:
            await t.send("break add\r")
            assert (await t.wait_for("Breakpoint 1 at")).matched
            await t.wait_for("(gdb) ")
        await t.send("print 6 * 7\r")
        assert (await t.wait_for(r"\$1 = 42", regex=True)).matched
        await t.wait_for("(gdb) ")
        await t.send("nonsense\r")
        assert (await t.wait_for("Undefined command")).matched
        await t.wait_for("(gdb) ")
        assert (await t.end_session(session.session_id)).how == "exit"


async def test_less(home):
    async with agent_terminal(home, cols=60, rows=10) as t:
        session = await t.exec_interactive("seq 1 1000 | less -N")
        assert (await t.wait_for({"screen": "      9 9"})).matched  # as less numbers its lines
        assert (await t.status()).alt_screen
        await t.send("/777\r")
        assert (await t.wait_for({"screen": "    777 777"})).matched
        await t.keys("g")
        assert (await t.wait_for({"all": [{"screen_gone": "777"}, {"screen": "      8 8"}]})).matched
        await t.keys("q")
        assert (await t.wait_for("EOF", session_id=session.session_id)).matched
        assert not (await t.status()).alt_screen


async def test_vim(home, tmp_path):
    async with agent_terminal(home, cols=60, rows=12) as t:
        session = await t.exec_interactive(f"vim -u NONE -N {tmp_path}/new.txt")
        await t.wait_for({"screen": "new.txt"})
        await t.keys("i")
        await t.send("one two three")
        await t.keys(["Escape", "0", "d", "w", "A", "!", "Escape"])
        assert (await t.wait_for({"screen": "two three!"})).matched
        await t.keys([":"])
        await t.send("wq\r")
        assert (await t.wait_for("EOF", session_id=session.session_id)).matched
    assert (tmp_path / "new.txt").read_text() == "two three!\n"


REMOTE = r"""
PS1='\[\e]133;A;cl=m\a\]remote$ \[\e]133;B\a\]'
PS2='\[\e]133;P;k=s\a\]> '
PS0='\e]133;C\a'
PROMPT_COMMAND='printf "\e]133;D;%s\a\e]7;file://remote/tmp\a" "$?"'
"""


async def test_a_shell_elsewhere(home, tmp_path):
    """As over ssh: another shell, in a terminal of its own, with marks of its own."""
    (tmp_path / "rc").write_text(REMOTE)
    async with agent_terminal(home) as t:
        command = f"bash --rcfile {tmp_path}/rc -i"
        session = await t.exec_interactive(f"script -qec '{command}' /dev/null")
        await t.wait_for("remote$ ")
        for text, said in (("echo $((6 * 7))", "42"), ("false; echo st=$?", "st=1"), ("cd /usr; pwd", "/usr")):
            await t.send(text + "\r")
            assert (await t.wait_for(f"^\r?{re.escape(said)}$", regex=True)).matched
            await t.wait_for("remote$ ")
        await t.send("echo 'open\r")  # its continuation prompt is its own business
        await t.wait_for("> ")
        await t.send("closed'\r")
        assert (await t.wait_for("open\nclosed")).matched
        status = await t.status()
        assert (status.mode, status.active_block_id) == ("interactive", session.block_id)
        assert status.cwd == str(home)
        await t.send("exit 6\r")
        assert (await t.wait_for("PROMPT")).matched
        assert (await t.read_block(session.block_id)).block.exit_code == 6
        assert len((await t.blocks()).blocks) == 1


async def test_an_installer_that_asks_what_it_likes(home, tmp_path):
    (tmp_path / "install.py").write_text(INSTALLER)
    answers = {
        r"\[Y/n\] $": "y",
        r"between \d+ and \d+: $": "8080",
        r"\(1-3\):[^>]*> $": "2",
        r"Type (\d+) to confirm: $": None,
        r"Press ENTER to continue$": "",
        r"\(yes/no\)\? $": "yes",
    }
    asked = {"any": [*({"regex": question} for question in answers), {"text": "complete."}]}
    async with agent_terminal(home) as t:
        session = await t.exec_interactive(f"python3 -u {tmp_path}/install.py")
        cursor, count = session.cursor, 0
        while True:
            seen = await t.wait_for(asked, from_cursor=cursor)
            assert seen.matched, seen.tail
            cursor = seen.cursor
            if seen.match_text == "complete.":
                break
            question = next(question for question in answers if re.search(question, seen.match_text))
            answer = answers[question]
            if answer is None:
                answer = re.search(question, seen.match_text)[1]
            await t.send(answer + "\r")
            count += 1
        assert count == 12
        assert (await t.wait_for("EOF", session_id=session.session_id)).matched
        done = await t.read_block(session.block_id)
        assert done.block.exit_code == 7
        assert "Invalid" not in done.output


async def test_a_hundred_megabytes(home, tmp_path):
    size = 100 << 20
    line = b"0123456789abcdef" * 7 + b"0123456789abcde\n"
    with (tmp_path / "big").open("wb") as file:
        for _ in range(100):
            file.write(line * ((1 << 20) // len(line)))
    assert (tmp_path / "big").stat().st_size == size
    async with agent_terminal(home) as t:
        ran = await t.exec_block(f"cat {tmp_path}/big", timeout_ms=120_000, max_output=1000)
        assert (ran.exit_code, ran.done_because) == (0, "mark")
        block = (await t.read_block(ran.block_id)).block
        assert block.spool.size == size
        assert block.raw.size == size + size // len(line)  # each line end is two bytes
        end = await t.read_spool(block.spool.end - 128)
        assert end.text.startswith(line.decode())
        shown = ran.output.encode().replace("…".encode(), b"")
        assert len(shown) < 1200
        assert (await t.exec_block("echo on")).output == "on\n"


@pytest.mark.parametrize("chosen", ["cherry", "banana"])
async def test_fzf(home, chosen):
    async with agent_terminal(home, cols=60, rows=15) as t:
        session = await t.exec_interactive("printf 'apple\\nbanana\\ncherry\\n' | fzf --no-sort")
        assert (await t.wait_for({"screen": "3/3"})).matched
        if chosen == "cherry":
            await t.send("che")
            assert (await t.wait_for({"screen": "1/3"})).matched
        else:
            await t.keys("Up")
            assert (await t.wait_for({"screen": "> banana"})).matched
        await t.keys("Enter")
        assert (await t.wait_for("EOF", session_id=session.session_id)).matched
        assert (await t.read_block(session.block_id)).output.endswith(f"{chosen}\n")


async def test_a_menu_of_dialog(home):
    async with agent_terminal(home, cols=70, rows=20) as t:
        menu = "dialog --stdout --menu Colours 12 40 3 r Red g Green b Blue"
        session = await t.exec_interactive(f'choice=$({menu}); echo "[$choice]"')
        assert (await t.wait_for({"all": [{"screen": "Blue"}, {"screen": "Cancel"}]})).matched
        await t.keys(["Down*2", "Enter"])
        assert (await t.wait_for("[b]", from_cursor=session.cursor)).matched
        assert (await t.wait_for("EOF", session_id=session.session_id)).matched
