"""The spool: a terminal's output as plain text that only grows.

Each of its bytes depends on earlier raw bytes alone, never on time, chunking or the emulator. CRLF becomes LF; a lone
CR, BS and TAB stay; other control bytes and escape sequences are removed; invalid UTF-8 becomes U+FFFD. Prompts are one
byte `PROMPT`, which `TerminalCore` adds at its mark. Carriage returns are carried out when the spool is read
(`reading.fold`), because a text that is rewritten could not be append-only. The text form of sequences that move the
cursor depends on the shell's rule (`movement`).
"""

import codecs
import re
from typing import Literal

import msgspec

from vantage.terminal.output.movement import MAX_SEQUENCE, MOVES, PLAIN_RULE, Movement, MovementState

PROMPT = b"\x1e"
"""A prompt's place in the spool. A program's own 0x1E is removed."""

_REMOVED = bytes([*range(0x08), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F])
_REMOVED_AND_CR = _REMOVED + b"\r"
_C1 = re.compile(rb"\xc2[\x80-\x9f]")

# The rest of each kind of sequence, from where it was cut; an ESC begins the next one, whatever this one was.
# A string is dropped up to its ESC, and the `ESC \` after it as a sequence of its own. In the other kinds, controls are
# carried out and do not end it, but for CAN and SUB.
State = Literal["ground", "escape", "intermediate", "csi", "osc", "string"]
_INSIDE = bytes([*range(0x18), 0x19, *range(0x1C, 0x20), 0x7F])
_NOT_CARRIED_OUT = bytes(set(range(256)) - set(b"\b\t\n\r"))
_REST: dict[State, re.Pattern[bytes]] = {
    "intermediate": re.compile(rb"[\x00-\x17\x19\x1c-\x2f\x7f]*[\x30-\x7e]?"),
    "csi": re.compile(rb"[\x00-\x17\x19\x1c-\x3f\x7f]*[\x40-\x7e]?"),
    "osc": re.compile(rb"[^\x07\x18\x1a\x1b]*[\x07\x18\x1a]?"),
    "string": re.compile(rb"[^\x18\x1a\x1b]*[\x18\x1a]?"),
}
_KINDS: dict[int, State] = {ord("["): "csi", ord("]"): "osc", **dict.fromkeys(b"PX^_", "string")}
_STRINGS = ("osc", "string")
_ESCAPES = re.compile(
    rb"\x1b([\x00-\x17\x19\x1c-\x1f\x7f]*)(?:\[([\x00-\x17\x19\x1c-\x3f\x7f]*)[\x40-\x7e]?"
    rb"|\][^\x07\x18\x1a\x1b]*[\x07\x18\x1a]?"
    rb"|[PX^_][^\x18\x1a\x1b]*[\x18\x1a]?"
    rb"|([\x00-\x17\x19\x1c-\x2f\x7f]*)[\x30-\x7e]?)"
)
_CONTROL_INSIDE = re.compile(rb"\x1b(?:\[[\x20-\x3f]*|[\x20-\x2f]*)[\x00-\x17\x19\x1c-\x1f\x7f]")
_LASTS: dict[State, bytes] = {
    "intermediate": bytes(range(0x30, 0x7F)),
    "csi": bytes(range(0x40, 0x7F)),
    "osc": b"\x07\x18\x1a",
    "string": b"\x18\x1a",
}
"""The bytes that end a sequence of this kind; without one, a sequence continues in the next chunk."""

_ALTERNATE = re.compile(rb"\x1b\[\?([0-9;]{0,%d})h" % (MAX_SEQUENCE - 2))
"""No longer than what is remembered of a sequence that was cut: `?` and `h` are in that."""
_ALTERNATE_MODES = frozenset({b"47", b"1047", b"1049"})


class SpoolState(msgspec.Struct):
    """The state that a spool needs to continue."""

    length: int = 0
    state: State = "ground"
    parameters: bytes = b""
    """The bytes of an unfinished sequence after its kind; not of a string."""
    partial: bytes = b""
    """An unfinished UTF-8 sequence."""
    carriage: bool = False
    """A CR that may be half of a CRLF."""
    rule: int = PLAIN_RULE
    movement: MovementState = msgspec.field(default_factory=MovementState)


class Spool:
    def __init__(self, state: SpoolState | None = None) -> None:
        state = state or SpoolState()
        self.length = state.length
        self.alternate = False
        """Whether an alternate screen was enabled since this was last set to False."""
        self.plain = True
        """Whether the last added bytes were only characters, tabs and line ends."""
        self._state: State = state.state
        self._parameters = state.parameters
        self._carriage = state.carriage
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._partial = False
        self.rule = state.rule
        """Whether cursor movements become text: `movement.RULE`, or `PLAIN_RULE` for shells of earlier versions."""
        self._movement = Movement(state.movement)
        if state.partial:
            self._decode(state.partial)

    def state(self) -> SpoolState:
        return SpoolState(
            length=self.length,
            state=self._state,
            parameters=self._parameters,
            partial=self._decoder.getstate()[0],
            carriage=self._carriage,
            rule=self.rule,
            movement=self._movement.state(),
        )

    def add(self, data: bytes) -> bytes:
        """The text that these bytes add to the spool."""
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
                return self._grown(added)
        if self.rule > PLAIN_RULE:
            unshifted, data = data, self._movement.shifts(data)
            plain = plain and data is unshifted
        added = data.translate(None, _REMOVED)
        self.plain = plain and len(added) == len(data)
        return self._ended(added)

    def follow(self, rule: int) -> None:
        """Sets the rule of a fresh shell."""
        self.rule = rule
        self._movement.start_over()

    def prompt(self) -> bytes:
        """Adds a prompt."""
        added = self.settle() + PROMPT
        self.length += 1
        self._movement.stands_behind(PROMPT)
        return added

    @property
    def unsettled(self) -> bool:
        """Whether something is unfinished: a sequence, a character, a line end."""
        return self._carriage or self._partial or self._state != "ground"

    def settle(self) -> bytes:
        """Ends unfinished bytes at a mark: their second half can no longer come."""
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
        return self._grown(added)

    def _grown(self, added: bytes) -> bytes:
        """The bytes to add, after counting them."""
        if self.rule > PLAIN_RULE:
            added = self._movement.resolve(added)
        self.length += len(added)
        return added

    def _decode(self, data: bytes, plain: bool = True) -> tuple[bytes, bool]:
        """Whole characters, and whether they are the input bytes unchanged."""
        before = self._decoder.getstate()[0] if self._partial else b""
        decoded = self._decoder.decode(data).encode()
        behind = self._decoder.getstate()[0]
        self._partial = bool(behind)
        return decoded, plain and len(decoded) + len(behind) == len(before) + len(
            data
        ) and b"\xef\xbf\xbd" not in decoded

    def _continue(self, data: bytes) -> bytes:
        """Drops the part that belongs to a sequence of an earlier chunk."""
        if not data:
            return data
        carried_out = b""
        if self._state == "escape":
            rest = data.lstrip(_INSIDE)
            carried_out = data[: len(data) - len(rest)].translate(None, _NOT_CARRIED_OUT)
            if not rest:
                return carried_out
            kind = _KINDS.get(rest[0])
            self._parameters = b""
            self._state = kind or "intermediate"
            data = rest[1:] if kind else rest
        found = _REST[self._state].match(data)
        assert found is not None
        sequence = found.group()
        if self._state not in _STRINGS:
            carried_out += sequence.translate(None, _NOT_CARRIED_OUT)
            sequence = sequence.translate(None, _INSIDE)
            self._parameters = (self._parameters + sequence)[:MAX_SEQUENCE]
        if self._state == "csi":
            self._look_for_alternate(b"\x1b[" + self._parameters)
        if found.end() < len(data) or (found.end() and data[found.end() - 1] in _LASTS[self._state]):
            if self.rule > PLAIN_RULE and self._state not in _STRINGS:
                begins = b"[" if self._state == "csi" else b""
                carried_out += self._movement.sequence(begins + self._parameters)
            self._state = "ground"
            self._parameters = b""
        return carried_out + data[found.end() :]

    def _without_escapes(self, data: bytes) -> bytes:
        last = data.rfind(b"\x1b")
        tail = _ESCAPES.match(data, last)
        assert tail is not None
        if tail.end() == len(data):
            self._cut(tail.group())
        moves = self.rule > PLAIN_RULE and MOVES.search(data) is not None
        if _CONTROL_INSIDE.search(data):
            self._look_for_alternate(_ESCAPES.sub(lambda found: found[0].translate(None, _INSIDE), data))
            return _ESCAPES.sub(self._carried_out_and_moved if moves else _carried_out, data)
        if b"\x1b[?" in data:
            self._look_for_alternate(data)
        return _ESCAPES.sub(self._moved if moves else b"", data)

    def _moved(self, sequence: "re.Match[bytes]") -> bytes:
        return self._movement.sequence(sequence[0][1:])

    def _carried_out_and_moved(self, sequence: "re.Match[bytes]") -> bytes:
        return _carried_out(sequence) + self._movement.sequence(sequence[0][1:].translate(None, _INSIDE))

    def _cut(self, sequence: bytes) -> None:
        """A sequence at the end of the chunk: it is over, or the next chunk continues it."""
        started = sequence[1:].lstrip(_INSIDE)
        if not started:
            self._state = "escape"
            return
        kind = _KINDS.get(started[0], "intermediate")
        if started[-1] in _LASTS[kind] and (len(started) > 1 or kind == "intermediate"):
            return
        self._state = kind
        begun = started[1:] if kind == "csi" else started
        self._parameters = b"" if kind in _STRINGS else begun.translate(None, _INSIDE)[:MAX_SEQUENCE]

    def _look_for_alternate(self, data: bytes) -> None:
        for found in _ALTERNATE.finditer(data):
            if not _ALTERNATE_MODES.isdisjoint(found[1].split(b";")):
                self.alternate = True

    def _ended(self, data: bytes) -> bytes:
        """Line ends: CRLF becomes one LF, even if the two came in different chunks."""
        if self._carriage and data:
            data = b"\r" + data
            self._carriage = False
        if data.endswith(b"\r"):
            self._carriage = True
            data = data[:-1]
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
        return self._grown(data)


def _carried_out(sequence: "re.Match[bytes]") -> bytes:
    """The controls inside a sequence that count for the line."""
    return (sequence[1] + (sequence[2] or sequence[3] or b"")).translate(None, _NOT_CARRIED_OUT)
