"""Movements of the cursor in the spool, against a reference that goes character by character, and as a table."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from term_strategies import OUTPUT, cut
from vantage.terminal.output.movement import MAX_SEQUENCE, RULE
from vantage.terminal.output.spool import PROMPT, Spool, SpoolState

DRAWN = dict(zip("_`abcdefghijklmnopqrstuvwxyz{|}~", " ◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·", strict=True))


class Reference:
    """Each character, and each sequence when it is whole, changes the text at once."""

    def __init__(self):
        self.text, self.row, self.draws, self.shifted = "", 0, [False, False], False
        self.state, self.body, self.carriage = "ground", "", False

    def put(self, text):
        if self.carriage and text != "\n":
            self.text += "\r"
        self.carriage = False
        self.text += text
        if "\n" in text:
            self.row = 0

    def take(self, character):
        if character == "\x1b":
            self.state, self.body = "escape", ""
        elif self.state in ("osc", "string"):
            if character in "\x18\x1a" or (self.state == "osc" and character == "\x07"):
                self.state = "ground"
        elif character < " " or character == "\x7f":
            self.control(character)
        elif self.state == "escape" and character in "[]PX^_":
            self.state = {"[": "csi", "]": "osc"}.get(character, "string")
        elif self.state == "ground":
            self.print(character)
        else:
            self.in_sequence(character)

    def in_sequence(self, character):
        last = "@" if self.state == "csi" else "0"
        if character < last:
            self.body += character
            if self.state == "escape":
                self.state = "intermediate"
        elif character <= "~":
            body, csi = self.body + character, self.state == "csi"
            self.state = "ground"
            self.move(body, csi=csi)
        else:
            self.state = "ground"
            self.print(character)

    def control(self, character):
        if character in "\x18\x1a":
            self.state = "ground"
        if self.state == "ground" and character in "\x0e\x0f":
            self.put("")
            self.shifted = character == "\x0e"
        if character == "\r":
            self.put("")
            self.carriage = True
        elif character in "\n\t\b":
            self.put(character)

    def print(self, character):
        if "\x80" <= character <= "\x9f":
            return
        self.put(DRAWN.get(character, character) if self.draws[self.shifted] else character)

    def move(self, body, *, csi):
        if len(body) > MAX_SEQUENCE:
            return
        plain = re.fullmatch(r"([0-9]*)[0-9;:]*(.)", body) if csi else None
        final = plain[2] if plain else ""
        number = int((plain[1][:9] if plain else "") or 1) or 1
        if final and final in "CG`a":
            self.blank()
        elif (final and final in "ABEFd") or (not csi and body in ("D", "E", "M", "8")):
            self.line()
            self.row = 0
        elif final and final in "Hf":
            if number == self.row:
                self.blank()
            else:
                self.line()
                self.row = number
        elif final == "b":
            self.put("")
            if self.text[-1:].isprintable():
                self.text += self.text[-1:] * min(number, 1000)
        elif not csi and body == "c":
            self.put("")
            self.draws, self.shifted = [False, False], False
        elif not csi and len(body) == 2 and body[0] in "()":
            self.put("")
            self.draws["()".index(body[0])] = body[1] == "0"

    def blank(self):
        self.put("")
        if self.text[-1:] not in ("", " ", "\t", "\n"):
            self.text += " "

    def line(self):
        self.put("")
        if self.text[-1:] not in ("", "\n"):
            self.text += "\n"


def reference(data):
    made = Reference()
    for character in data.decode("utf-8", "replace"):
        made.take(character)
    if made.carriage:
        made.text += "\r"
    return made.text.encode()


def spool():
    return Spool(SpoolState(rule=RULE))


def spooled(pieces, *, remembering=False):
    made, added = spool(), b""
    for piece in pieces:
        added += made.add(piece)
        if remembering:
            made = Spool(made.state())
    added += made.settle()
    assert made.length == len(added)
    return added


PIECES = (
    b"\x1b[C", b"\x1b[20G", b"\x1b[3`", b"\x1b[2a", b"\x1b[2;5H", b"\x1b[2;9f", b"\x1b[H", b"\x1b[3d", b"\x1b[A",
    b"\x1b[2B", b"\x1b[E", b"\x1b[F", b"\x1bD", b"\x1bE", b"\x1bM", b"\x1b8", b"\x1b[3b", b"\x1b[5000b", b"\x1b(0",
    b"\x1b(B", b"\x1b)0", b"\x1b)B", b"\x0e", b"\x0f", b"\x1bc", b"lqk", b"x x", b" ", b"\r", b"\n", b"\r\n", b"\t",
    b"\x1b[2\n;5H", b"\x1b\r(0", b"\x1b[?2C", b"\x1b[2 C", b"\x1b[" + b"1;" * 40 + b"H", b"\x1b[0H", "é".encode(),
    b"\x1b[1;" + b"2" * 61 + b"H", b"\x1b[1;" + b"2" * 62 + b"H",
)  # fmt: skip
MOVING = st.lists(OUTPUT | st.sampled_from(PIECES), max_size=12).map(b"".join)


@given(st.data(), MOVING)
@example(None, b"\r\x1b[C\n")
@example(None, b"a\r\x1b(0\n")
def test_movements_are_what_the_words_say(data, stream):
    expected = reference(stream)
    assert spooled([stream]) == expected
    assert spooled(bytes([byte]) for byte in stream) == expected
    if data is not None:
        assert spooled(data.draw(cut(stream)), remembering=True) == expected


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"name\x1b[20Gsize", "name size"),
        (b"Welcome\x1b[1Cto\x1b[1CClaude\x1b[1CCode", "Welcome to Claude Code"),
        (b"a \x1b[Cb\t\x1b[Cc", "a b\tc"),
        (b"\x1b[2;1Hone\x1b[3;1Htwo\x1b[3;20Hthree\x1b[4;1H", "one\ntwo three\n"),
        (b"\x1b[3;1Htwo\n\x1b[3;5Hagain", "two\nagain"),
        (b"a\x1b[Ab\x1b[2Bc\x1bMd\x1b8e", "a\nb\nc\nd\ne"),
        (b"-\x1b[9b|", "----------|"),
        ("漢\x1b[2b".encode(), "漢漢漢"),
        (b"\x1b(0lqk\x1b(B box", "┌─┐ box"),
        (b"\x1b)0\x0exqx\x0fxqx", "│─│xqx"),
        (b"\x1b[38;5;1mred\x1b[0m plain", "red plain"),
    ],
)
def test_examples(raw, text):
    assert spooled([raw]).decode() == text


def test_a_repeated_character_is_bounded():
    assert len(spooled([b"x\x1b[999999999b"])) == 1001


def test_an_older_shell_keeps_its_rule():
    old = Spool()
    assert old.add(b"name\x1b[20Gsize") == b"namesize"
    old.follow(RULE)
    assert old.add(b"name\x1b[20Gsize") == b"name size"


def test_behind_a_prompt_a_movement_is_seen():
    made = spool()
    assert made.add(b"$ ") + made.prompt() + made.add(b"\x1b[5Cls") == b"$ " + PROMPT + b" ls"
