"""The echo of an input in a spool, however it is cut into pieces: what a search is given, and what is held back."""

import msgspec
import pytest

from vantage.terminal.output.echo import EchoFilter, typed_input

# name → what was on the line, what was typed, what came, and what a search sees of it (echo as ·)
CASES = {
    "tty": ("Name: ", "Bob\r", "Bob\nHello Bob\n", "···\nHello Bob\n"),
    "without a prompt": ("", "7\r", "7\nYou guessed: 7\n", "·\nYou guessed: 7\n"),
    "readline": (">>> ", "print(6*7)\r", "print(6*7)\n\r42\n>>> ", "··········\n\r42\n>>> "),
    "python 3.13": (
        ">>> ",
        "ab\r",
        "\r>>> a\r>>> ab\n\rNameError\n\n>>> ",
        "·············\n\rNameError\n\n>>> ",
    ),
    "python 3.13, movements dropped": (">>> ", "ab\r", ">>> a>>> ab\n42\n>>> ", "···········\n42\n>>> "),
    "python 3.13, movements as line ends": (">>> ", "ab\r", ">>> a\n>>> ab\n42\n>>> ", "·····\n······\n42\n>>> "),
    "node": ("> ", "1+1\r", "1+1\r\n2\n> ", "····\n2\n> "),
    "zsh": ("vm% ", "echo hi\r", "e\becho hi\r\nhi\n", "··········\nhi\n"),
    "fish": ("> ", "echo hi\r", "\recho \rhi\r\b\becho hi\r\n\rhi\n", f"{'·' * 20}\n\rhi\n"),
    "fish, each word where it stands": (
        "fish> ",
        "printf '%s' do''ne done\r",
        "\r printf \r '%s' \r do''ne \r done\n\rdone\n",
        f"{'·' * 31}\n\rdone\n",
    ),
    "fish with suggestions": (
        "fish> ",
        "ls do''ne done\r",
        "\r ls\r \b\b \r do''ne \r do\r cs/\r \b\bdocs/\r ne\r \b\b\b\bdone\r \n\rdone\n",
        f"{'·' * 52}\n\rdone\n",
    ),
    "an answer on the line of the echo": ("Go on? ", "y\r", "y\rdone \n", "y\rdone \n"),
    "blanks of a wrapped line": ("$ ", "echo aaaa\r", "echo aa aa\naaaa\n", "··········\naaaa\n"),
    "several lines": (
        ">>> ",
        "for x in y:\r  f()\r\r",
        "for x in y:\n...   f()\n... \n1\n",
        "···········\n·········\n····\n1\n",
    ),
    "several commands": ("$ ", "a\rb\r", "a\n1\n\x1e$ b\n2\n\x1e$ ", "·\n1\n\x1e···\n2\n\x1e$ "),
    "numbered prompts": ("In [1]: ", "a\rb\r", "a\nOut[1]: 1\n\nIn [2]: b\n", "·\nOut[1]: 1\n\n·········\n"),
    "typed before the prompt": ("", "f()\r", "f()\nPython 3\n>>> f()\n42\n>>> ", "···\nPython 3\n·······\n42\n>>> "),
    "output before the echo": ("", "a\r", "tick\na\ntock\n", "tick\n·\ntock\n"),
    "no Enter": ("$ ", "ls", "ls", "··"),
    "no Enter, more follows": ("", "ls", "lsls\n", "··ls\n"),
    "no echo": ("Go on? ", "y\r", "yes, going on\n", "yes, going on\n"),
    "no echo, the prompt again": (">>> ", "x\r", "\n>>> ", "\n>>> "),
    "a paste": ("", "\x1b[200~one\rtwo\x1b[201~\r", "one\ntwo\nthree\n", "···\n···\nthree\n"),
    "a key in the line": ("> ", "a\x1b[Ab\r", "ab\nc\n", "ab\nc\n"),
    "an interrupt": ("", "\x03", "^C\n$ ", "^C\n$ "),
    "Enter": ("Go on? ", "\r", "\nGo on? ", "\nGo on? "),
    "Enter that is not echoed": ("Password: ", "\r", "<>\nwelcome\n", "<>\nwelcome\n"),
    "Enter that is not echoed, a line of output before": ("", "\r", "tick\ntock\n", "tick\ntock\n"),
}


def seen(before: str, typed: str, output: str, size: int, *, echoed: bool = False) -> str:
    """What a search sees of an output that comes in pieces; echo as ·."""
    spool = before.encode()
    written = msgspec.structs.replace(typed_input(typed.encode(), len(spool), spool), echoed=echoed)
    found = EchoFilter(lambda start, end: spool[start:end], written)
    at, shown, data = len(spool), b"", output.encode()
    for place in range(0, len(data), size):
        spool += data[place : place + size]
        end = max(found.searchable(len(spool)), at)
        shown += found.read(at, end)
        at = end
    return "".join("·" if byte != real else chr(real) for byte, real in zip(shown, data, strict=False))


@pytest.mark.parametrize(("before", "typed", "output", "visible"), CASES.values(), ids=CASES)
def test_what_a_search_sees(before, typed, output, visible):
    assert seen(before, typed, output, len(output.encode())) == visible


@pytest.mark.parametrize(("before", "typed", "output", "visible"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_in_pieces_only_a_prompt_may_be_seen_that_is_covered_later(before, typed, output, visible, size):
    pieces = seen(before, typed, output, size)
    assert len(pieces) == len(visible)
    first = typed.strip("\r").partition("\r")[0] or "\0"
    for sees, should in zip(pieces.split("\n"), visible.split("\n"), strict=True):
        assert sees == should or (set(should) <= set("·\x1e") and first not in sees)


BETWEEN = {
    "behind dots": ("..", "done\r", "...done\n.done.\n", "...····\n.done.\n"),
    "behind the begin of itself": ("", "done\r", "dodone\ndone\n", "do····\ndone\n"),
    "behind a line": ("", "a b\r", "tick\n.a b\nyou said a b\n", "tick\n.···\nyou said a b\n"),
    "behind a prompt that came meanwhile": ("", "Bob\r", "Name: Bob\nHello Bob\n", "Name: ···\nHello Bob\n"),
    "several lines": ("", "e1\re2\r", "#e1\n##e2\ne2\n", "#··\n##··\ne2\n"),
    "a program that asks next": ("", "no\r", "no\nName", "··\nName"),
}


@pytest.mark.parametrize(("before", "typed", "output", "visible"), BETWEEN.values(), ids=BETWEEN)
@pytest.mark.parametrize("size", [1, 2, 3, 99])
def test_the_echo_of_a_tty_ends_a_line(before, typed, output, visible, size):
    """What other programs print at the same moment may stand before it."""
    assert seen(before, typed, output, size, echoed=True) == visible


@pytest.mark.parametrize(
    "name", ["tty", "without a prompt", "typed before the prompt", "output before the echo", "an interrupt", "a paste"]
)
def test_the_echo_of_a_tty_is_found_as_any_other(name):
    before, typed, output, visible = CASES[name]
    assert seen(before, typed, output, len(output), echoed=True) == visible
