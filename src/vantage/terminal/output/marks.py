"""Marks: what our shell hooks report inside the output, invisibly (OSC 133 with the shell's secret).

`Marks.split` cuts a stream into the program's bytes and our marks, wherever the chunks were cut. Marks without the
secret (another shell's, in `ssh` or `docker`; an old log) are ordinary bytes of the program.

The secret never comes out: where a program prints it (`set` in bash, half a mark of a shell that was killed),
everything but its first characters is covered, byte for byte. A reader of the output could forge marks with it.
"""

import re
from urllib.parse import unquote_to_bytes

import msgspec

KINDS = frozenset("ABCDKP")
INTRODUCER = b"\x1b]133;"
MAX_MARK = 32 * 1024
"""A path of 4,096 bytes, every byte percent-encoded, and a command: a longer sequence is no mark of ours."""

SHOWN = 8
"""Characters of a printed secret that are not covered: a byte is covered only once the bytes before it can only be the
secret's.
"""
COVER = b"x"

ANY_MARK = re.compile(rb"\x1b\]133;[^\x07\x1b]*(?:\x07|\x1b\\)")
"""A mark of any shell: the secret is not looked at."""

_END = re.compile(rb"\x1b\\|[\x07\x18\x1a\x1b]")
_SECONDS = re.compile(r"([0-9]{1,12})(?:[.,]([0-9]{1,9}))?")
_CANCELLED = (b"\x18", b"\x1a", b"\x1b")


_USUAL = (
    rb"([ABCDP]);(?:(?<=D;)([0-9]{1,9});)?(?:(?<=P;)k=s;)?aid=SECRET;n=([0-9]{1,18})"
    rb"(?:;st=([0-9]{1,9}))?(?:;cwd=([!-$&-:<-~]*))?(?:;t=([0-9]{1,12}\.[0-9]{1,9}))?"
)
"""A mark in the usual form, which nearly all have: read in one step. Other forms are read field by field."""


class Mark(msgspec.Struct, frozen=True):
    """One mark of ours. `start` and `end` are offsets into the raw output."""

    kind: str
    """`D` a command is over, `A` a prompt begins, `B` it is ready, `C` a command begins, `P` more is wanted,
    `K` a poke was read."""
    cycle: int
    """How many prompts the shell had shown: the marks of one prompt and of the command after it share it."""
    start: int
    end: int
    status: int | None = None
    cwd: str | None = None
    cmd: str | None = None
    ts: float | None = None
    """Milliseconds since the epoch, if the shell can tell the time."""


class Marks:
    """Splits one shell's output. `offset` is the place of the next byte in the raw output."""

    def __init__(self, secret: str = "", offset: int = 0, held: bytes = b"", spelled: int = 0) -> None:
        self.offset = offset
        self.secret = secret
        self._held = held
        """The beginning of a possible mark; `offset` is after it."""
        self.spelled = spelled
        """How many characters of the secret the last bytes that came out match."""

    @property
    def secret(self) -> str:
        return self._secret

    @secret.setter
    def secret(self, secret: str) -> None:
        self._secret = secret
        self._word = secret.encode()
        self.spelled = 0
        self._usual = re.compile(_USUAL.replace(b"SECRET", re.escape(secret.encode())))

    @property
    def held(self) -> bytes:
        return self._held

    def split(self, data: bytes) -> list[bytes | Mark]:
        if not self._held and b"\x1b" not in data:
            self.offset += len(data)
            return [self._covered(data)] if data else []
        base = self.offset - len(self._held)
        self.offset += len(data)
        if self._held:
            data = self._held + data
            self._held = b""
        pieces: list[bytes | Mark] = []
        done = at = 0
        while (start := data.find(INTRODUCER, at)) >= 0:
            end = _END.search(data, start + len(INTRODUCER), start + MAX_MARK)
            if end is None or (end.end() == len(data) and end.group() == b"\x1b"):
                if len(data) - start >= MAX_MARK:
                    at = start + len(INTRODUCER)
                    continue
                break
            if end.group() in _CANCELLED:
                at = end.start()
                continue
            at = end.end()
            mark = self._read(data[start + len(INTRODUCER) : end.start()], base + start, base + at)
            if mark is not None:
                if start > done:
                    pieces.append(self._covered(data[done:start]))
                self.spelled = 0
                pieces.append(mark)
                done = at
        keep = start if start >= 0 else _introduced(data, max(at, done))
        if keep > done:
            pieces.append(self._covered(data[done:keep]))
        self._held = data[keep:]
        return pieces

    def release(self) -> bytes:
        """Ends the output: held-back bytes are ordinary output."""
        held, self._held = self._held, b""
        return self._covered(held)

    def _covered(self, data: bytes) -> bytes:
        """The program's bytes without the secret. Bytes that came out before are not covered afterwards."""
        word, before = self._word, self.spelled
        if len(word) <= SHOWN:
            return data
        if not before and word[:SHOWN] not in data:
            self.spelled = _spelled(data, word)
            return data
        text = word[:before] + data
        at = 0
        while (at := text.find(word[:SHOWN], at)) >= 0:
            end = at + SHOWN
            while end < len(text) and end - at < len(word) and text[end] == word[end - at]:
                end += 1
            start = max(at + SHOWN, before)
            at += 1
            if end > start:
                data = data[: start - before] + COVER * (end - start) + data[end - before :]
        self.spelled = _spelled(text, word)
        return data

    def _read(self, payload: bytes, start: int, end: int) -> Mark | None:
        if not self._secret or self._secret.encode() not in payload:
            return None
        usual = self._usual.fullmatch(payload)
        if usual is not None:
            kind_, over, n, status, cwd_, seconds = usual.groups()
            return Mark(
                kind=kind_.decode(),
                cycle=int(n),
                start=start,
                end=end,
                status=int(over or status) if over or status else None,
                cwd=self._without_secret(cwd_.decode()) if cwd_ is not None else None,
                ts=float(seconds) * 1000 if seconds else None,
            )
        kind, *parts = payload.decode("utf-8", "replace").split(";")
        fields = dict(part.partition("=")[::2] for part in parts)
        cycle = _integer(fields.get("n"))
        if kind not in KINDS or fields.get("aid") != self.secret or cycle is None:
            return None
        return Mark(
            kind=kind,
            cycle=cycle,
            start=start,
            end=end,
            status=_integer(parts[0] if kind == "D" else fields.get("st")),
            cwd=self._without_secret(_decoded(fields.get("cwd"))),
            cmd=self._without_secret(_decoded(fields.get("cmd"))),
            ts=_milliseconds(fields.get("t")),
        )

    def _without_secret(self, text: str | None) -> str | None:
        """A directory or a command may be named after it."""
        if text is None or self._secret not in text:
            return text
        return text.replace(self._secret, self._secret[:SHOWN] + COVER.decode() * (len(self._secret) - SHOWN))


def _spelled(text: bytes, word: bytes) -> int:
    """How many first characters of the word the text ends with."""
    tail = text[1 - len(word) :]
    at = -1
    while (at := tail.find(word[:1], at + 1)) >= 0:
        if word.startswith(tail[at:]):
            return len(tail) - at
    return 0


def _introduced(data: bytes, least: int) -> int:
    """Where the last bytes may be the beginning of a mark; the end of the data if they cannot."""
    last = data.rfind(b"\x1b", max(least, len(data) - len(INTRODUCER) + 1))
    return last if last >= 0 and INTRODUCER.startswith(data[last:]) else len(data)


def _integer(text: str | None) -> int | None:
    return int(text) if text and len(text) < 19 and text.isascii() and text.removeprefix("-").isdigit() else None


def _decoded(text: str | None) -> str | None:
    return text if text is None or "%" not in text else unquote_to_bytes(text).decode("utf-8", "replace")


def _milliseconds(text: str | None) -> float | None:
    """`1700000000.123456` of `EPOCHREALTIME`, whose point follows the locale."""
    found = _SECONDS.fullmatch(text) if text else None
    return float(f"{found[1]}.{found[2] or 0}") * 1000 if found else None
