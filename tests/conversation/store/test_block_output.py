"""A block's output reads as a person saw it: printed lines byte for byte, the rest as it was drawn, at any length."""

import pytest

from terminal_home import agent_terminal
from vantage.conversation.store import block_output

LAYERS = 9
PULL = (
    f"for i in $(seq {LAYERS}); do echo layer $i: waiting; done; for n in $(seq 100); do printf '\\033[{LAYERS}A'; "
    f"for i in $(seq {LAYERS}); do printf '\\033[2Klayer %d: %d%%\\r\\n' $i $n; done; done"
)
PULLED = "".join(f"layer {number}: 100%\n" for number in range(1, LAYERS + 1))

DRAWN = {
    "a column": (r"printf 'name\033[20Gsize\n'", "name               size\n"),
    "a word apart": (r"printf 'Welcome\033[1Cto\033[1Cyou\n'", "Welcome to you\n"),
    "an erased end": (r"printf 'abc\033[2D\033[Kx\n'", "ax\n"),
    "no line end": (r"printf 'abc\033[2D\033[Kx'", "ax"),
    "a table that is drawn again": (PULL, PULLED),
    "printed lines around it": (r"printf 'a\tb  \n'; printf 'x\033[5Gy\n'; printf 'c\td \n'", "a\tb  \nx   y\nc\td \n"),
    "a cleared screen": (r"echo one; printf '\033[H\033[2J\033[3J'; echo two", "one\ntwo\n"),
    "line drawing": (r"printf '\033(0lqk\033(B\033[1C|\n'", "┌─┐ |\n"),
    "lines that wrap": (r"printf '\033[1G'; head -c 300 /dev/zero | tr '\0' x; echo", "x" * 300 + "\n"),
    "colours alone": (r"printf '\033[31mred\033[0m  \n'", "red  \n"),
    "a long progress bar": (
        "for i in $(seq 2000); do printf '\\r%s%%' $i; done; printf '\\r\\033[Kdone\\n'",
        "done\n",
    ),
}


@pytest.mark.parametrize("name", DRAWN)
def test_output_reads_as_it_was_seen(server, name):
    command, text = DRAWN[name]
    with server.conversation() as made:
        ran = server.pty(made, "exec_block", command=command)
        assert ran["output"] == text
        again = server.pty(made, "read_block", block_id=ran["block_id"])
        assert again["output"] == ran["output"]
        assert server.pty(made, "exec_block", command="echo after")["output"] == "after\n"


def test_a_program_that_runs_is_read_as_it_stands(server):
    with server.conversation() as made:
        begun = server.pty(made, "exec_interactive", command=r"printf 'a\n\033[1Ab\033[20Gc\n'; cat", wait_for="c")
        assert server.pty(made, "read_block", block_id=begun["block_id"])["output"] == "b                  c\n"


async def test_a_resize_in_the_middle_of_a_block(home):
    async with agent_terminal(home, cols=40, rows=10) as t:
        line = "y" * 60
        begun = await t.exec_interactive(f"printf '\\033[1G{line}\\n'; read x; printf '\\033[1G{line}\\n'; echo end")
        assert (await t.wait_for(line)).matched
        await t.resize(33, 12)
        await t.send("go\n")
        assert (await t.wait_for("PROMPT")).matched
        assert (await t.read_block(begun.block_id)).output == f"{line}\ngo\n{line}\nend\n"


# Long output

SEQ = 60_000


@pytest.mark.parametrize("where", ["begin", "middle", "end", "both"])
async def test_a_flood_around_a_movement(home, where):
    """The printed lines are the spool's; head, tail and what is left out add up."""
    move, flood = r"printf 'name\033[20Gsize\n'", f"seq {SEQ}"
    command = {
        "begin": [move, flood],
        "middle": [flood, move, flood],
        "end": [flood, move],
        "both": [move, flood, move],
    }
    async with agent_terminal(home) as t:
        ran = await t.exec_block("; ".join(command[where]), max_output=4_000_000)
        drawn, lines = "name               size\n", "".join(f"{number}\n" for number in range(1, SEQ + 1))
        assert ran.output == "".join(drawn if part == move else lines for part in command[where])
        short = await t.read_block(ran.block_id, max_output=1000)
        head, gap, tail = short.output.partition("… ")
        assert ran.output.startswith(head)
        assert ran.output.endswith(tail.partition(" …\n")[2])
        assert gap
        assert short.omitted_bytes > 200_000
        assert len(short.output) < 1100


async def test_a_very_long_block_is_drawn_at_its_ends(home, monkeypatch):
    monkeypatch.setattr(block_output, "LONGEST", 1 << 18)
    async with agent_terminal(home) as t:
        ran = await t.exec_block(f"printf 'a\\033[5Gb\\n'; seq {SEQ}; printf 'c\\033[5Gd\\n'", max_output=1000)
        assert ran.output.startswith("a   b\n1\n2\n")
        assert ran.output.endswith(f"\n{SEQ}\nc   d\n")
        assert ran.omitted_bytes > 200_000
