"""Cursor movement as text: the second rule of the spool.

A program that draws moves the cursor instead of printing blanks and line ends. Without them its words would be joined,
and a wait for them would never match. So a movement along the line is a blank, one to another line is a line end,
unless such a byte is there already; REP repeats the character before it; line-drawing characters are their Unicode
forms.

`Movement.sequence` returns a placeholder for a sequence: bytes that UTF-8 never has, which pass unchanged through all
text processing. `Movement.resolve` replaces them, once it is known which byte is before each.
"""

import re
from functools import lru_cache
from typing import Final

import msgspec

PLAIN_RULE: Final = 1
"""The rule under which sequences leave nothing."""
RULE: Final = 2
"""The rule of new shells. A shell keeps the rule that its journal record names."""
MAX_SEQUENCE: Final = 64
"""Bytes of a sequence that counts as movement, without ESC and kind: of a cut sequence, no more is remembered."""

_MAX_REPEAT = 1000
_CHARACTER = 4
"""Bytes of the longest character."""
_ALONG, _ACROSS, _ROW, _REPEAT, _END = b"\xf8", b"\xf9", b"\xfa", b"\xfb", b"\xff"
_DRAWS_0, _WRITES_0, _DRAWS_1, _WRITES_1, _OUT, _IN, _RESET = (
    b"\xf5", b"\xf6", b"\xf7", b"\xc0", b"\xc1", b"\xfe", b"\xfc",
)  # fmt: skip
_SEQUENCE = re.compile(rb"\[([0-9;:]*)([ABCEFGHabdf`])|([DEM8c])|([()])([0-~])")
_CSI = {
    **dict.fromkeys((b"C", b"G", b"`", b"a"), _ALONG),
    **dict.fromkeys((b"A", b"B", b"E", b"F", b"d"), _ACROSS),
}
_ESCAPES = {b"D": _ACROSS, b"E": _ACROSS, b"M": _ACROSS, b"8": _ACROSS, b"c": _RESET}
_CHARACTER_SETS = {(b"(", True): _DRAWS_0, (b"(", False): _WRITES_0, (b")", True): _DRAWS_1, (b")", False): _WRITES_1}
MOVES = re.compile(rb"\x1b(?:\[[0-9;:]*[ABCEFGHabdf`]|[DEM8c()]|[\x00-\x1f\x7f])")
"""Bytes that may move the cursor: most output has colours only."""
_PLACE = re.compile(rb"([\xf5-\xf9\xfc\xfe\xc0\xc1]|[\xfa\xfb][0-9]+\xff)")
_BLANK = (b"", b" ", b"\t", b"\n")
_LINE_END = (b"", b"\n")
_DRAWABLE = re.compile(rb"[_-~]")
_DRAWN = {
    b"%c" % code: character.encode()
    for code, character in zip(range(0x5F, 0x7F), " ◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·", strict=True)
}


class MovementState(msgspec.Struct):
    before: bytes = b""
    """The last bytes of the text: its last character at least."""
    row: int = 0
    """The row of the last CUP, until a line end comes."""
    draws: tuple[bool, bool] = (False, False)
    """Whether G0 and G1 are the line-drawing characters."""
    shifted: bool = False
    """SO: G1 is used."""


class Movement:
    def __init__(self, state: MovementState | None = None) -> None:
        self._state = state or MovementState()
        self._places = False
        """Whether a placeholder is in the present text."""

    def state(self) -> MovementState:
        return msgspec.structs.replace(self._state)

    def sequence(self, body: bytes) -> bytes:
        """The placeholder of a sequence, which is given without its ESC and without controls in it."""
        self._places = True
        return _placeholder(body)

    def shifts(self, data: bytes) -> bytes:
        """Applies SO and SI in text without sequences."""
        if b"\x0e" not in data and b"\x0f" not in data:
            return data
        self._places = True
        return data.replace(b"\x0e", _OUT).replace(b"\x0f", _IN)

    def resolve(self, data: bytes) -> bytes:
        """The text with each placeholder replaced by the text form of its movement."""
        state = self._state
        if self._places or self._draws():
            self._places = False
            data = self._resolved(data)
        elif state.row and b"\n" in data:
            state.row = 0
        if data:
            state.before = (state.before + data[-_CHARACTER:])[-_CHARACTER:]
        return data

    def stands_behind(self, mark: bytes) -> None:
        """A mark was added to the text."""
        self._state.before = mark
        self._state.row = 0

    def start_over(self) -> None:
        """The terminal was reset."""
        self._state = MovementState(before=self._state.before)

    def _draws(self) -> bool:
        return self._state.draws[self._state.shifted]

    def _resolved(self, data: bytes) -> bytes:
        state = self._state
        row, draws, last = state.row, self._draws(), state.before[-1:]
        pieces = _PLACE.split(data)
        made: list[bytes] = []
        for number in range(0, len(pieces), 2):
            text = pieces[number]
            if text:
                if draws:
                    text = _DRAWABLE.sub(_drawn, text)
                made.append(text)
                last = text[-1:]
                if row and b"\n" in text:
                    row = 0
            if number + 1 == len(pieces):
                break
            place = pieces[number + 1]
            kind = place[:1]
            if kind == _ROW:
                named = int(place[1:-1])
                blank = b" " if named == row else b"\n"
                row = named
            elif kind == _ALONG:
                blank = b" "
            elif kind == _ACROSS:
                blank, row = b"\n", 0
            elif kind == _REPEAT:
                before = b"".join([state.before, *made[-_CHARACTER:]])
                repeated = _last_character(before) * min(int(place[1:-1]), _MAX_REPEAT)
                made.append(repeated.encode())
                continue
            else:
                self._choose(kind)
                draws = self._draws()
                continue
            if last not in (_BLANK if blank == b" " else _LINE_END):
                made.append(blank)
                last = blank
        state.row = row
        return b"".join(made)

    def _choose(self, kind: bytes) -> None:
        """Changes which characters are drawn."""
        state = self._state
        if kind in (_OUT, _IN):
            state.shifted = kind == _OUT
        elif kind == _RESET:
            state.draws, state.shifted = (False, False), False
        elif kind in (_DRAWS_0, _WRITES_0):
            state.draws = (kind == _DRAWS_0, state.draws[1])
        else:
            state.draws = (state.draws[0], kind == _DRAWS_1)


@lru_cache(maxsize=8192)
def _placeholder(body: bytes) -> bytes:
    found = _SEQUENCE.fullmatch(body) if len(body) <= MAX_SEQUENCE + 1 else None
    if found is None:
        return b""
    parameters, final, escape, designated, character_set = found.groups()
    if escape:
        return _ESCAPES[escape]
    if designated:
        return _CHARACTER_SETS[designated, character_set == b"0"]
    if final in b"Hf":
        return _ROW + b"%d" % _number(parameters) + _END
    if final == b"b":
        return _REPEAT + b"%d" % _number(parameters) + _END
    return _CSI[final]


def _number(parameters: bytes) -> int:
    """The first parameter of a sequence; one when it is left out or zero."""
    first = re.match(rb"[0-9]*", parameters)
    assert first is not None
    return int(first[0][:9] or b"1") or 1


def _last_character(text: bytes) -> str:
    """The character that REP repeats; none after a control or a mark."""
    last = text[-_CHARACTER:].decode("utf-8", "ignore")[-1:]
    return last if last.isprintable() else ""


def _drawn(character: "re.Match[bytes]") -> bytes:
    return _DRAWN[character[0]]
