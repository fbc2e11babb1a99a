"""The spool against a reference that is slow and obviously right, and against every way to cut the bytes."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from term_strategies import OUTPUT, cut, every_way
from vantage.terminal.output.spool import PROMPT, Spool, SpoolState

# The reference


def reference(data):
    """Character by character: escape sequences go, then controls, then CRLF becomes LF.

    A string sequence (OSC, DCS, APC, PM, SOS) lasts until ESC, CAN or SUB, an OSC also until BEL. In any other sequence
    a control is carried out and does not end it, but for CAN and SUB. Any other character that cannot be part of it
    ends it, and stands for itself.
    """
    kept, state = [], "ground"
    for character in data.decode("utf-8", "replace"):
        state, keep = _step(state, character)
        if keep:
            kept.append(character)
    text = "".join(c for c in kept if c in "\n\r\t\b" or not (c < " " or "\x7f" <= c <= "\x9f"))
    return text.replace("\r\n", "\n").encode()


def _step(state, character):
    """The next state, and whether the character is text."""
    if character == "\x1b":
        return "escape", False
    if state in ("osc", "string"):
        over = character in "\x18\x1a" or (state == "osc" and character == "\x07")
        return "ground" if over else state, False
    if state != "ground" and (character < " " or character == "\x7f"):
        return "ground" if character in "\x18\x1a" else state, True
    if state == "escape" and character in "[]PX^_":
        return {"[": "csi", "]": "osc"}.get(character, "string"), False
    if state in ("escape", "intermediate"):
        if " " <= character <= "/":
            return "intermediate", False
        return "ground", not "0" <= character <= "~"
    if state == "csi":
        if " " <= character <= "?":
            return "csi", False
        return "ground", not "@" <= character <= "~"
    return "ground", True


def spooled(pieces):
    spool = Spool()
    added = b"".join(spool.add(piece) for piece in pieces) + spool.settle()
    assert spool.length == len(added)
    return added


@given(st.data(), OUTPUT)
@example(None, b"\x1b]0;\xe2\x82")  # half a character in a title is no text
@example(None, b"\r\x1b[K\n")  # what stands between the two goes, and they are one line end
@example(None, b"\x1b[3\xe2\x82m")
@example(None, b"\r\xc2\x85\n")
def test_the_spool_is_what_the_words_say(data, stream):
    expected = reference(stream)
    assert spooled([stream]) == expected
    assert spooled(bytes([byte]) for byte in stream) == expected
    if data is not None:
        assert spooled(data.draw(cut(stream))) == expected


@given(st.binary(max_size=200))
@example(b"\xed\xa0")  # half a surrogate: two characters that are none
def test_bytes_of_no_kind_at_all(stream):
    assert spooled([stream]) == spooled(bytes([byte]) for byte in stream) == reference(stream)


@given(OUTPUT)
def test_it_is_clean_text(stream):
    text = spooled([stream]).decode()
    assert not any(c < " " and c not in "\n\r\t\b" for c in text)
    assert not any("\x7f" <= c <= "\x9f" for c in text)


@given(st.data(), OUTPUT)
def test_it_goes_on_from_what_it_remembers(data, stream):
    added, spool = b"", Spool()
    for piece in data.draw(cut(stream)):
        added += spool.add(piece)
        spool = Spool(spool.state())
    assert added + spool.settle() == reference(stream)
    assert spool.state() == SpoolState(length=len(reference(stream)))


# As a table


@pytest.mark.parametrize(
    ("raw", "spool"),
    [
        # lines
        (b"a\r\nb\r\n", b"a\nb\n"),
        (b"10%\r20%\r\n", b"10%\r20%\n"),
        (b"a\r\r\nb", b"a\r\nb"),
        (b"a\bb\tc", b"a\bb\tc"),
        (b"a\r\x1b[0m\nb", b"a\nb"),
        # controls
        (b"a\x00b\x07c\x0bd\x0ce\x7ff", b"abcdef"),
        (b"a\x1eb", b"ab"),
        ("a\x85b\x9bc\x80d".encode(), b"abcd"),
        ("\xa0¡é漢👩‍🚀".encode(), "\xa0¡é漢👩‍🚀".encode()),
        # invalid UTF-8
        (b"a\xffb", "a�b".encode()),
        (b"a\xe2\x82b", "a�b".encode()),
        (b"a\xe2\x82", "a�".encode()),
        # sequences
        (b"\x1b[1;31mred\x1b[0m", b"red"),
        (b"\x1b]0;title\x07a\x1b]0;title\x1b\\b", b"ab"),
        (b"\x1bPq#1\x1b\\a\x1b_x\x1b\\b\x1b^x\x1b\\c\x1bXx\x1b\\d", b"abcd"),
        (b"\x1bP a bell \x07 is part of it\x1b\\x", b"x"),
        (b"\x1b(Ba\x1b7b\x1b#8c", b"abc"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", b"link"),
        (b"\x1b[?1049hfull screen\x1b[?1049l", b"full screen"),
        (b"\x1b]0;a\nb\x07c", b"c"),
        # broken ones
        (b"\x1b[31\nm", b"\n"),
        (b"\x1b[12\x003mx", b"x"),
        (b"\x1b\n[1m\x1b(\tBx", b"\n\tx"),
        (b"\x1b[3\x7f1mx\x1b[3\x18my\x1b[3\x1amz", b"xmymz"),
        (b"a\x1b[3\r\n1mb", b"a\nb"),
        (b"\x1b\n]0;title\x07a", b"\na"),
        (b"\x1b[31\x1b[32mgreen", b"green"),
        (b"\x1b]0;x\x18y", b"y"),
        (b"\x1b]0;x\x1b[31my", b"y"),
        (b"\x1b\x1b[1mx", b"x"),
        ("\x1bé".encode(), "é".encode()),
        (b"a\x1b", b"a"),
        (b"a\x1b]0;never ended", b"a"),
    ],
)
def test_examples(raw, spool):
    assert spooled([raw]) == spool
    for pieces in every_way(raw):
        assert spooled(pieces) == spool


# Prompts and marks


@pytest.mark.parametrize(
    ("unfinished", "left"),
    [
        (b"", b""),
        (b"\r", b"\r"),
        (b"\xe2\x82", "�".encode()),
        (b"\r\xe2", "\r�".encode()),
        (b"\x1b[31", b""),
        (b"\x1b", b""),
        (b"\x1b]0;title", b""),
        (b"\x1b]0;\xe2\x82", b""),
        (b"\x1bP\xe2", b""),
        (b"\x1b[\xe2", "�".encode()),
    ],
)
def test_a_prompt_ends_whatever_was_unfinished(unfinished, left):
    """The mark's own ESC would have, and its text must not be swallowed."""
    for pieces in every_way(b"a" + unfinished):
        spool = Spool()
        added = b"".join(map(spool.add, pieces)) + spool.prompt() + spool.add(b"\nm$ ")
        assert added == b"a" + left + PROMPT + b"\nm$ "
        assert spool.length == len(added)


# The alternate screen


@pytest.mark.parametrize(
    ("raw", "asked"),
    [
        (b"\x1b[?1049h", True),
        (b"\x1b[?47h", True),
        (b"\x1b[?1047h", True),
        (b"\x1b[?25;1049h", True),
        (b"\x1b[?1049;25h", True),
        (b"\x1b[?1049l", False),
        (b"\x1b[1049h", False),
        (b"\x1b[?11049h", False),
        (b"\x1b[?1049$h", False),
        (b"\x1b]0;?1049h\x07", False),
        (b"\x1b[?" + b"1;" * 28 + b"1049h", True),
        (b"\x1b[?" + b"1;" * 29 + b"1049h", True),
        (b"\x1b[?" + b"1;" * 30 + b"1049h", False),  # more than is remembered
        (b"\x1b[?" + b"1;" * 1000 + b"1049h", False),
    ],
)
def test_asking_for_the_alternate_screen_is_noticed_wherever_it_is_cut(raw, asked):
    for pieces in every_way(raw) if len(raw) < 100 else [[raw], [raw[:70], raw[70:]]]:
        spool = Spool()
        for piece in pieces:
            spool.add(piece)
        assert spool.alternate is asked


# Hostile input


def _most_remembered(begin, piece, times):
    spool = Spool()
    spool.add(begin)
    most = 0
    for _ in range(times):
        spool.add(piece)
        state = spool.state()
        most = max(most, len(state.parameters) + len(state.partial))
    return most


@pytest.mark.parametrize("begin", [b"\x1b]0;", b"\x1bP", b"\x1b_", b"\x1b[", b"\x1b ", b""], ids=repr)
@pytest.mark.parametrize("filler", [b"1", b"\x1b[1", b"\xe2\x82\x1b", b"\r", b" "], ids=repr)
def test_what_is_remembered_of_the_unfinished_stays_small(begin, filler):
    assert _most_remembered(begin, filler * 20_000, 3) < 70


def test_a_hundred_megabytes_of_a_title_leave_nothing_behind():
    assert _most_remembered(b"\x1b]0;", b"x" * 65536, 1600) == 0
