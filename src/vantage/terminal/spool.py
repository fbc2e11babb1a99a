"""The spool: a terminal's output as plain text that only ever grows.

Each of its bytes depends on earlier raw bytes alone, never on time, chunking or the emulator. CRLF becomes LF; a lone
CR, BS and TAB stay; other control bytes and escape sequences go; invalid UTF-8 becomes U+FFFD. Prompts are one byte
`PROMPT`, put in by whoever saw the mark. What a person would have seen after carriage returns is worked out when
somebody reads (`reading.fold`), because a text that is rewritten could not be append-only.
"""

import codecs
import re
from typing import Literal

import msgspec

PROMPT = b"\x1e"
"""A prompt's place in the spool. A program's own 0x1E is removed."""

_REMOVED = bytes([*range(0x08), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F])
_REMOVED_AND_CR = _REMOVED + b"\r"
_C1 = re.compile(rb"\xc2[\x80-\x9f]")

# The rest of each kind of sequence, from where it was cut; an ESC begins the next one, whatever this one was.
# A string is dropped up to its ESC, and the `ESC \` behind it as a sequence of its own.
State = Literal["ground", "escape", "intermediate", "csi", "osc", "string"]
_REST: dict[State, re.Pattern[bytes]] = {
    "intermediate": re.compile(rb"[\x20-\x2f]*[\x30-\x7e]?"),
    "csi": re.compile(rb"[\x20-\x3f]*[\x40-\x7e]?"),
    "osc": re.compile(rb"[^\x07\x18\x1a\x1b]*[\x07\x18\x1a]?"),
    "string": re.compile(rb"[^\x18\x1a\x1b]*[\x18\x1a]?"),
}
_KINDS: dict[int, State] = {ord("["): "csi", ord("]"): "osc", **dict.fromkeys(b"PX^_", "string")}
_ESCAPES = re.compile(
    rb"\x1b(?:\[[\x20-\x3f]*[\x40-\x7e]?"
    rb"|\][^\x07\x18\x1a\x1b]*[\x07\x18\x1a]?"
    rb"|[PX^_][^\x18\x1a\x1b]*[\x18\x1a]?"
    rb"|[\x20-\x2f]*[\x30-\x7e]?)"
)
_LASTS: dict[State, bytes] = {
    "intermediate": bytes(range(0x30, 0x7F)),
    "csi": bytes(range(0x40, 0x7F)),
    "osc": b"\x07\x18\x1a",
    "string": b"\x18\x1a",
}
"""The bytes that end a sequence of this kind; one that runs to the end of a chunk without it goes on in the next."""

_MOST_PARAMETERS = 64
_ALTERNATE = re.compile(rb"\x1b\[\?([0-9;]{0,%d})h" % (_MOST_PARAMETERS - 2))
"""No longer than what is remembered of a sequence that was cut: `?` and `h` are in that."""
_ALTERNATE_MODES = frozenset({b"47", b"1047", b"1049"})


class SpoolState(msgspec.Struct):
    """What a spool must remember to go on."""

    length: int = 0
    state: State = "ground"
    parameters: bytes = b""
    """Of an unfinished CSI sequence."""
    partial: bytes = b""
    """An unfinished UTF-8 sequence."""
    carriage: bool = False
    """A CR that may turn out to be half of a CRLF."""


class Spool:
    def __init__(self, state: SpoolState | None = None) -> None:
        state = state or SpoolState()
        self.length = state.length
        self.alternate = False
        """Whether an alternate screen was asked for since somebody set this to False."""
        self.plain = True
        """Whether what was last added had nothing in it but characters, tabs and line ends."""
        self._state: State = state.state
        self._parameters = state.parameters
        self._carriage = state.carriage
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._partial = False
        if state.partial:
            self._decode(state.partial)

    def state(self) -> SpoolState:
        return SpoolState(
            length=self.length,
            state=self._state,
            parameters=self._parameters,
            partial=self._decoder.getstate()[0],
            carriage=self._carriage,
        )

    def add(self, data: bytes) -> bytes:
        """What these bytes add to the spool."""
        plain = self._state == "ground"
        if self._partial or not data.isascii():
            data, plain = self._decode(data, plain)
        if self._state != "ground":
            data = self._continue(data)
        if b"\x1b" in data:
            data = self._without_escapes(data)
            plain = False
        if not data.isascii() and b"\xc2" in data:
            data, removed = _C1.subn(b"", data)
            plain = plain and not removed
        if b"\r" in data and not self._carriage:
            # The usual case in one pass: every CR is half of a CRLF, and nothing else is removed.
            added = data.translate(None, _REMOVED_AND_CR)
            if len(data) - len(added) == data.count(b"\r\n"):
                self.plain = plain
                self.length += len(added)
                return added
        added = data.translate(None, _REMOVED)
        self.plain = plain and len(added) == len(data)
        return self._ended(added)

    def prompt(self) -> bytes:
        """A prompt stands here."""
        added = self.settle() + PROMPT
        self.length += 1
        return added

    @property
    def unsettled(self) -> bool:
        """Something is unfinished: a sequence, a character, a line end."""
        return self._carriage or self._partial or self._state != "ground"

    def settle(self) -> bytes:
        """A mark stands here: what was held back can get no second half any more."""
        added = self._decoder.decode(b"", final=True).encode() if self._partial else b""
        if self._state in ("osc", "string"):
            added = b""
        self._decoder.reset()
        self._partial = False
        self._state = "ground"
        self._parameters = b""
        if self._carriage:
            added = b"\r" + added
            self._carriage = False
        self.length += len(added)
        return added

    def _decode(self, data: bytes, plain: bool = True) -> tuple[bytes, bool]:
        """Whole characters, and whether they are the bytes that came."""
        before = self._decoder.getstate()[0] if self._partial else b""
        decoded = self._decoder.decode(data).encode()
        behind = self._decoder.getstate()[0]
        self._partial = bool(behind)
        return decoded, plain and len(decoded) + len(behind) == len(before) + len(
            data
        ) and b"\xef\xbf\xbd" not in decoded

    def _continue(self, data: bytes) -> bytes:
        """Drops what belongs to a sequence that an earlier chunk began."""
        if not data:
            return data
        if self._state == "escape":
            kind = _KINDS.get(data[0])
            self._parameters = b""
            if kind is None:
                self._state = "intermediate"
            else:
                self._state = kind
                data = data[1:]
        if self._state == "ground":
            return data
        found = _REST[self._state].match(data)
        assert found is not None
        self._sequence(self._state, found.group())
        if found.end() < len(data) or (found.end() and data[found.end() - 1] in _LASTS[self._state]):
            self._state = "ground"
            self._parameters = b""
        return data[found.end() :]

    def _sequence(self, kind: State, rest: bytes) -> None:
        if kind == "csi":
            self._parameters = (self._parameters + rest)[:_MOST_PARAMETERS]
            self._look_for_alternate(b"\x1b[" + self._parameters)

    def _without_escapes(self, data: bytes) -> bytes:
        last = data.rfind(b"\x1b")
        tail = _ESCAPES.match(data, last)
        assert tail is not None
        if tail.end() == len(data):
            self._cut(tail.group())
        if b"\x1b[?" in data:
            self._look_for_alternate(data)
        return _ESCAPES.sub(b"", data)

    def _cut(self, sequence: bytes) -> None:
        """A sequence that reaches the end of the chunk: it is over, or the next chunk goes on with it."""
        if len(sequence) == 1:
            self._state = "escape"
            return
        kind = _KINDS.get(sequence[1], "intermediate")
        if sequence[-1] in _LASTS[kind] and (len(sequence) > 2 or kind == "intermediate"):
            return
        self._state = kind
        self._parameters = sequence[2 : 2 + _MOST_PARAMETERS] if kind == "csi" else b""

    def _look_for_alternate(self, data: bytes) -> None:
        for found in _ALTERNATE.finditer(data):
            if not _ALTERNATE_MODES.isdisjoint(found[1].split(b";")):
                self.alternate = True

    def _ended(self, data: bytes) -> bytes:
        """Line ends: CRLF is one LF, wherever the two were cut apart."""
        if self._carriage and data:
            data = b"\r" + data
            self._carriage = False
        if data.endswith(b"\r"):
            self._carriage = True
            data = data[:-1]
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
        self.length += len(data)
        return data
