"""Output of programs made by a grammar: control sequences of every kind, text that they move, and sizes between them.

Random bytes rarely set a margin and then wrap a wide character into it. So a `Play` picks a theme (margins, tabs,
wide characters, the alternate screen, …), sets it up, and mixes its sequences with those of all others. The same seed
gives the same play.
"""

import random
from collections.abc import Callable
from typing import NamedTuple

ESC = b"\x1b"
TEXTS = (
    b"a", b"word ", b"0123456789", b"   ", b"long text that is wider than most of the screens here, so it wraps ",
    "é".encode(), "日本語".encode(), "漢".encode(), "👩‍🚀".encode(), "🇩🇪".encode(), "e\u0301".encode(),
    "\u0301".encode(), "\u200d".encode(), "\ufe0f".encode(), "❤\ufe0f".encode(), "\u202e".encode(), b"\xe2\x82",
    b"\xff", b"\x80", b"\xc2\x9b31m", b"\xc2\x85", b"\xf0\x9f", b"lqqk", b"x\x7fy", "각".encode(),
    "\u1100\u1161".encode(),
)  # fmt: skip
CONTROLS = (
    b"\r\n", b"\r\n", b"\n", b"\r", b"\b", b"\b\b\b", b"\t", b"\x0b", b"\x0c", b"\x07", b"\x0e", b"\x0f", b"\x00",
    b"\x18", b"\x1a", b"\x7f", b"\x05", b"\r\n\r\n\r\n", b"\n" * 12,
)  # fmt: skip
FINALS = tuple(bytes([final]) for final in range(0x40, 0x7F))
INTERMEDIATES = (b"", b"", b"", b"", b" ", b"!", b'"', b"#", b"$", b"'", b"*", b"+", b"$'", b"%")
PREFIXES = (b"", b"", b"", b"", b"?", b"?", b">", b"=", b"<")
MODES = (
    1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 20, 25, 40, 41, 45, 47, 66, 67, 69, 95, 1000, 1002, 1003, 1004, 1005, 1006, 1007,
    1015, 1016, 1034, 1035, 1036, 1039, 1045, 1047, 1048, 1049, 2004, 2026, 2027, 2031, 2048, 0, 99999,
)  # fmt: skip
NUMBERS = (b"", b"0", b"1", b"1", b"2", b"2", b"3", b"4", b"5", b"7", b"8", b"10", b"20", b"40", b"80", b"132", b"999",
           b"65535", b"65576", b"4294967296", b"003", b"040")  # fmt: skip
STRINGS = (
    b"]0;title", b"]2;", b"]7;file:///tmp/a%20b", b"]8;;http://e.x/", b"]8;;", b"]8;id=1;http://e.y/", b"]4;1;?",
    b"]10;?", b"]11;#102030", b"]104", b"]110", b"]52;c;QUJD", b"]133;A", b"]133;C", b"]133;D;1", b"]9;4;1;50",
    b"]1337;File=:AA", b"]22;pointer", b"]777;notify;a;b", b"P$qm", b"P$qr", b"P$q q", b"P+q544e", b"Pq#0;1;2",
    b"P1$tx",
    b"_Gi=1;AAAA", b"_Ga=q,i=1;AA", b"^pm", b"Xsos", b"]", b"P", b"]66;s=2;big", b"]3008;start=1", b"]0;a\x05b",
    b"]0;a\nb", b"P\x00q\x7f",
)  # fmt: skip
ENDS = (b"\x1b\\", b"\x1b\\", b"\x07", b"\x18", b"\x1a", b"", b"\x1b", b"\x1b[m")
ESCAPES = (
    b"7", b"8", b"c", b"D", b"E", b"H", b"M", b"N", b"O", b"V", b"W", b"Z", b"=", b">", b"\\", b"#3", b"#4", b"#5",
    b"#6", b"#8", b"(0", b"(B", b"(A", b")0", b")B", b"*0", b"+0", b"n", b"o", b"|", b"}", b"~", b"%G", b"%@", b" F",
    b" G", b"6", b"9", b"l", b"m", b"F",
)  # fmt: skip

Piece = Callable[[random.Random], bytes]


def _number(choose: random.Random) -> bytes:
    return choose.choice(NUMBERS) if choose.random() < 0.7 else b"%d" % choose.randint(1, 40)


def _numbers(choose: random.Random) -> bytes:
    separator = b":" if choose.random() < 0.04 else b";"
    return separator.join(_number(choose) for _ in range(choose.choice([0, 1, 1, 1, 2, 2, 3, 5])))


def any_csi(choose: random.Random) -> bytes:
    """Any prefix, parameters, intermediates and final; now and then a control in the middle, or too many parameters."""
    body = choose.choice(PREFIXES) + _numbers(choose) + choose.choice(INTERMEDIATES)
    if choose.random() < 0.05:
        body = _with_inside(choose, body)
    if choose.random() < 0.01:
        body = b"1;" * choose.choice([15, 16, 17, 24, 25, 33, 60]) + body
    return b"\x1b[" + body + choose.choice(FINALS)


def _with_inside(choose: random.Random, body: bytes) -> bytes:
    at = choose.randint(0, len(body))
    inside = choose.choice([b"\n", b"\r", b"\b", b"\t", b"\x00", b"\x7f", b"\x18", b"\x1a", b"\x1b", b"\xff", b"\x07"])
    return body[:at] + inside + body[at:]


def private_mode(choose: random.Random) -> bytes:
    modes = b";".join(b"%d" % choose.choice(MODES) for _ in range(choose.choice([1, 1, 1, 2, 3])))
    if choose.random() < 0.05:
        modes = _with_inside(choose, modes)
    return b"\x1b[?" + modes + choose.choice([b"h", b"h", b"h", b"l", b"l", b"l", b"s", b"r", b"$p"])


def plain_mode(choose: random.Random) -> bytes:
    return b"\x1b[%d" % choose.choice([2, 4, 4, 12, 20, 20]) + choose.choice([b"h", b"l"])


def any_escape(choose: random.Random) -> bytes:
    if choose.random() < 0.1:
        return ESC + choose.choice([b"", b" ", b"#", b"$", b"(", b"."]) + bytes([choose.randrange(0x30, 0x7F)])
    return ESC + choose.choice(ESCAPES)


def any_string(choose: random.Random) -> bytes:
    return ESC + choose.choice(STRINGS) + choose.choice(ENDS)


def text(choose: random.Random) -> bytes:
    return choose.choice(TEXTS) * choose.choice([1, 1, 1, 2, 5, 30])


def control(choose: random.Random) -> bytes:
    return choose.choice(CONTROLS)


def lines(choose: random.Random) -> bytes:
    return b"".join(b"line %d\r\n" % number for number in range(choose.choice([1, 2, 6, 15, 40])))


def sgr(choose: random.Random) -> bytes:
    return b"\x1b[" + choose.choice([
        b"", b"0", b"1", b"7", b"31", b"42", b"38;5;9", b"48;2;1;2;3", b"4:3", b"4", b"38:2::1:2:3", b"58;5;1", b"53",
        b"8", b"39;49", b"1;31;44",
    ]) + b"m"  # fmt: skip


def position(choose: random.Random) -> bytes:
    return b"\x1b[%d;%dH" % (choose.choice([1, 2, 3, 5, 24, 99]), choose.choice([1, 2, 10, 40, 80, 120, 999]))


def rows_margin(choose: random.Random) -> bytes:
    return choose.choice([b"\x1b[r", b"\x1b[2;4r", b"\x1b[1;3r", b"\x1b[3;99r", b"\x1b[5;2r", b"\x1b[2;2r", b"\x1b[;r"])


def columns_margin(choose: random.Random) -> bytes:
    return choose.choice(
        [b"\x1b[?69h", b"\x1b[?69l", b"\x1b[s", b"\x1b[3;8s", b"\x1b[1;5s", b"\x1b[6;99s", b"\x1b[2;2s"]
    )


def edit(choose: random.Random) -> bytes:
    """ICH, IL, DL, DCH, ECH, SU, SD, REP, SL, SR, DECIC, DECDC, erasures, rectangles."""
    what = choose.choice([
        b"@", b"L", b"M", b"P", b"X", b"S", b"T", b"b", b"J", b"K", b"?J", b"?K", b" @", b" A", b"'}", b"'~", b"$x",
        b"$z", b"$v", b"${", b"*x", b'"q',
    ])  # fmt: skip
    prefix = b"?" if what.startswith(b"?") else b""
    return b"\x1b[" + prefix + _numbers(choose) + what.removeprefix(b"?")


def tab(choose: random.Random) -> bytes:
    return choose.choice(
        [b"\t", b"\x1bH", b"\x1b[g", b"\x1b[3g", b"\x1b[I", b"\x1b[2Z", b"\x1b[W", b"\x1b[?5W", b"\t" * 20]
    )


def other_screen(choose: random.Random) -> bytes:
    mode = choose.choice([47, 1047, 1048, 1049])
    return b"\x1b[?%d" % mode + choose.choice([b"h", b"l"])


def columns(choose: random.Random) -> bytes:
    """DECCOLM and what else changes a terminal's size by itself."""
    return choose.choice([
        b"\x1b[?40h", b"\x1b[?40l", b"\x1b[?3h", b"\x1b[?3l", b"\x1b[?40;3h", b"\x1b[?3s", b"\x1b[?3r", b"\x1b[?40s",
        b"\x1b[?40r", b"\x1b[8;10;30t", b"\x1b[80$|", b"\x1b[10*|", b"\x1b[?95h", b"\x1b[4;100;100t", b"\x1b[?4\n0h",
        b"\x1b[?0003l", b"\x1b[36t",
    ])  # fmt: skip


def start_over(choose: random.Random) -> bytes:
    return choose.choice([b"\x1bc", b"\x1b[!p", b"\x1b[3J", b"\x1b[2J", b"\x1b[22J", b"\x1b[H\x1b[2J", b"\x1b#8"])


def query(choose: random.Random) -> bytes:
    return choose.choice([
        b"\x1b[c", b"\x1b[>c", b"\x1b[=c", b"\x1b[5n", b"\x1b[6n", b"\x1b[?6n", b"\x1b[?15n", b"\x1b[?1$p", b"\x1b[4$p",
        b"\x1b[14t", b"\x1b[18t", b"\x1b[21t", b"\x1b[>q", b"\x1b[?u", b"\x1b[x", b"\x05", b"\x1bZ", b"\x1b]10;?\x07",
        b"\x1bP$qr\x1b\\", b"\x1b[?996n",
    ])  # fmt: skip


def cursor_keys(choose: random.Random) -> bytes:
    if choose.random() < 0.2:
        return choose.choice([b"\x1b7", b"\x1b8", b"\x1b[s", b"\x1b[u", b"\x1bM", b"\x1bD", b"\x1bE"])
    return b"\x1b[" + _number(choose) + bytes([choose.choice(b"ABCDEFGdae`fjk")])


EVERYTHING: tuple[Piece, ...] = (
    text, text, text, control, control, lines, any_csi, any_csi, private_mode, plain_mode, any_escape, any_string, sgr,
    position, rows_margin, columns_margin, edit, tab, other_screen, columns, start_over, query, cursor_keys,
)  # fmt: skip
THEMES: tuple[tuple[Piece, ...], ...] = (
    (rows_margin, lines, cursor_keys, edit, text),
    (columns_margin, text, position, edit, control),
    (tab, text, control, position),
    (other_screen, lines, text, start_over),
    (columns, lines, text, other_screen),
    (text, control, edit, cursor_keys, sgr),
    (private_mode, text, position, lines),
    (query, position, text),
    (start_over, lines, text),
    (any_string, text, lines),
    (any_csi, any_escape, text),
)


class Play(NamedTuple):
    """What a program prints, cut where the terminal's size changes, and the sizes: one more than changes."""

    parts: tuple[bytes, ...]
    sizes: tuple[tuple[int, int], ...]

    @property
    def data(self) -> bytes:
        return b"".join(self.parts)


SIZES = ((2, 1), (5, 3), (10, 4), (12, 5), (20, 6), (40, 6), (80, 24), (120, 10), (132, 8), (200, 5))


def play(seed: int | bytes, pieces: int = 40) -> Play:
    choose = random.Random(seed)
    theme = choose.choice(THEMES)
    parts = []
    for _ in range(choose.choice([1, 1, 1, 2, 3])):
        made = [
            choose.choice(theme if choose.random() < 0.6 else EVERYTHING)(choose)
            for _ in range(choose.randint(1, pieces))
        ]
        parts.append(b"".join(made))
    sizes = choose.sample(SIZES, len(parts))
    return Play(tuple(parts), tuple(sizes))


WIDTHS = (2, 3, 10, 20, 40, 80, 132)
HEIGHTS = (1, 2, 5, 10, 24)


def sizes_play(seed: int) -> Play:
    """Little output, mostly on the alternate screen, and many sizes: what a resize leaves shows at a later one."""
    choose = random.Random(seed)
    pieces = (text, text, control, sgr, position, edit, other_screen, columns_margin, any_csi, private_mode)
    parts = [other_screen(choose)]
    parts += [
        b"".join(choose.choice(pieces)(choose) for _ in range(choose.randint(0, 6)))
        for _ in range(choose.randint(2, 6))
    ]
    return Play(tuple(parts), tuple((choose.choice(WIDTHS), choose.choice(HEIGHTS)) for _ in parts))


def cut(data: bytes, choose: random.Random) -> list[bytes]:
    places = sorted(choose.randint(0, len(data)) for _ in range(choose.randint(1, 6)))
    return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]
