"""Splits the bytes of this keyboard into text, named keys and pastes.

Keys get names because their codes depend on modes, and the modes of the other terminal count: an arrow is `CSI A` here
and must be `SS3 A` there. Everything else is passed on as it was typed.
"""

import codecs
import re
from typing import NamedTuple

LEAVE = b"\x1c"
"""Ctrl-\\"""
_PASTE, _PASTED = b"\x1b[200~", b"\x1b[201~"

_LETTERS = {
    "A": "Up", "B": "Down", "C": "Right", "D": "Left", "H": "Home", "F": "End", "P": "F1", "Q": "F2", "R": "F3",
    "S": "F4",
}  # fmt: skip
_NUMBERS = {
    1: "Home", 2: "Insert", 3: "Delete", 4: "End", 5: "PageUp", 6: "PageDown", 7: "Home", 8: "End", 11: "F1", 12: "F2",
    13: "F3", 14: "F4", 15: "F5", 17: "F6", 18: "F7", 19: "F8", 20: "F9", 21: "F10", 23: "F11", 24: "F12",
}  # fmt: skip
_MODIFIERS = ((4, "C-"), (2, "Alt-"), (1, "S-"))
# a whole sequence: CSI with its parameters (ECMA-48, 5.4), SS3 and a letter
_SEQUENCE = re.compile(rb"\x1b(?:\[([0-9;<=>?]*)[ -/]*([@-~])|O([A-Za-z]))")
_UNFINISHED = re.compile(rb"\x1b(?:\[[0-9;<=>?]*[ -/]*|O)?")


class Typed(NamedTuple):
    """One of `data` and `keys`; `raw` is what came from the keyboard."""

    raw: bytes
    data: str = ""
    keys: tuple[str, ...] = ()
    paste: bool = False


class LocalKeys:
    def __init__(self) -> None:
        self._buffer = b""
        self._text = codecs.getincrementaldecoder("utf-8")("replace")
        self._pasting = False
        self.left = False
        """Ctrl-\\ was pressed."""

    @property
    def waiting(self) -> bool:
        """Whether an Escape has arrived that may begin a sequence: feed more soon, or `flush`."""
        return bool(self._buffer) and not self._pasting

    def feed(self, data: bytes) -> list[Typed]:
        self._buffer += data
        found: list[Typed] = []
        while self._buffer and not self.left:
            before = self._buffer
            found += self._take()
            if self._buffer == before:
                break
        return found

    def flush(self) -> list[Typed]:
        """Takes a pending Escape as the key itself, because no byte followed it."""
        data, self._buffer = self._buffer, b""
        if data == b"\x1b":
            return [Typed(data, keys=("Escape",))]
        return self._typed(data)

    def _take(self) -> list[Typed]:
        if self._pasting:
            return self._take_paste()
        start = self._buffer.find(b"\x1b")
        if start:
            text = self._buffer if start < 0 else self._buffer[:start]
            self._buffer = b"" if start < 0 else self._buffer[start:]
            if LEAVE in text:
                self.left = True
                text = text[: text.index(LEAVE)]
            return self._typed(text)
        if self._buffer.startswith(_PASTE):
            self._buffer = self._buffer[len(_PASTE) :]
            self._pasting = True
            return []
        return self._take_sequence()

    def _take_sequence(self) -> list[Typed]:
        match = _SEQUENCE.match(self._buffer)
        if match is not None:
            self._buffer = self._buffer[match.end() :]
            name = _name(*(part.decode() if part is not None else None for part in match.groups()))
            return [Typed(match[0], keys=(name,))] if name else self._typed(match[0])
        unfinished = _UNFINISHED.match(self._buffer)
        if unfinished is not None and unfinished.end() == len(self._buffer):
            return []  # more bytes may follow
        # Alt and a character: both are passed on as typed
        data, self._buffer = self._buffer[:2], self._buffer[2:]
        return self._typed(data)

    def _take_paste(self) -> list[Typed]:
        end = self._buffer.find(_PASTED)
        if end < 0:
            return []
        data, self._buffer = self._buffer[:end], self._buffer[end + len(_PASTED) :]
        self._pasting = False
        return [Typed(data, data.decode("utf-8", "replace"), paste=True)] if data else []

    def _typed(self, data: bytes) -> list[Typed]:
        text = self._text.decode(data)
        return [Typed(data, text)] if text else []


def _name(parameters: str | None, final: str | None, letter: str | None) -> str | None:
    """The key of a sequence: `CSI 1;5 C` is `C-Right`."""
    if letter is not None:
        return _LETTERS.get(letter)
    if final == "Z":
        return "S-Tab"
    numbers = (parameters or "").split(";")
    if not all(number.isdigit() or not number for number in numbers):
        return None
    known = _NUMBERS.get(int(numbers[0] or 0)) if final == "~" else _LETTERS.get(final or "")
    if known is None:
        return None
    bits = int(numbers[1] or 1) - 1 if len(numbers) > 1 else 0
    return "".join(prefix for bit, prefix in _MODIFIERS if bits & bit) + known
