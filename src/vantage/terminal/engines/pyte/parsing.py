"""Splits the stream into whole operations, however the chunks were cut.

pyte gets only whole operations: strings (OSC, DCS, …) never reach it, and a string without an end is not collected.
"""

import codecs
import re
from collections.abc import Callable

_LONGEST_STRING = 1 << 16
_LONGEST_SEQUENCE = 1 << 12
_IN_SEQUENCE = r"[^\x18\x1a\x1b@-~\x80-\U0010ffff]"
_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    rf"|\x1b\[(?P<params>{_IN_SEQUENCE}*)(?P<final>[@-~])"
    r"|\x1b(?P<string>[\]P_^X])"
    r"|\x1b(?P<between>[ -/]+)(?P<set>[0-~])"
    r"|\x1b(?P<escape>[0-Z\\^-~])"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f-\x9f])"
)
_UNFINISHED = re.compile(rf"\x1b(?:\[{_IN_SEQUENCE}*|[ -/]*)?\Z")
_BROKEN = re.compile(rf"\x1b(?:\[{_IN_SEQUENCE}*|[ -/]*)?[\x18\x1a]?")
_STRING_END = re.compile(r"[\x07\x18\x1a\x1b]")

Token = re.Match[str]
"""A match whose `lastgroup` is `text`, `final` (a control sequence), `set`, `escape` or `control`."""


class Parser:
    """Calls `on_token` for each operation, and `on_string` for each whole string: its kind, its text and its end."""

    def __init__(self, on_token: Callable[[Token], None], on_string: Callable[[str, str, str], None]) -> None:
        self._on_token, self._on_string = on_token, on_string
        self.pending = ""
        """The beginning of a sequence."""
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._string: list[str] | None = None
        self._string_length = 0
        self._string_kind = ""

    @property
    def string(self) -> tuple[str, str] | None:
        """Kind and text of the open string."""
        return None if self._string is None else (self._string_kind, "".join(self._string))

    @string.setter
    def string(self, begun: tuple[str, str] | None) -> None:
        self._string = None
        if begun:
            self._string_kind, text = begun
            self._string, self._string_length = [text], len(text)

    def feed(self, data: bytes) -> None:
        text = self.pending + self.decoder.decode(data)
        self.pending = ""
        position = 0
        while position < len(text):
            if self._string is not None:
                position = self._collect(self._string, text, position)
                continue
            token = _TOKEN.match(text, position)
            if token:
                position = token.end()
                if token.lastgroup == "string":
                    self._string, self._string_length, self._string_kind = [], 0, token["string"]
                else:
                    self._on_token(token)
            elif _UNFINISHED.match(text, position) and len(text) - position < _LONGEST_SEQUENCE:
                self.pending = text[position:]
                return
            else:  # a sequence that something else interrupted
                position = _BROKEN.match(text, position).end()  # type: ignore[union-attr]

    def _collect(self, collected: list[str], text: str, position: int) -> int:
        """Collects a string up to its end; of one that is too long, only its beginning."""
        end = _STRING_END.search(text, position)
        stop = end.start() if end else len(text)
        room = _LONGEST_STRING - self._string_length
        if room > 0:
            collected.append(text[position : min(stop, position + room)])
        self._string_length += stop - position
        if not end:
            return stop
        if end[0] == "\x07" and self._string_kind != "]":
            collected.append("\x07")
            return stop + 1
        if end[0] == "\x1b" and stop + 1 == len(text):
            self.pending = "\x1b"  # the rest of ST is yet to come
            return len(text)
        self._string = None
        finished = end[0] == "\x07" or text.startswith("\x1b\\", stop)
        if finished and self._string_length <= _LONGEST_STRING:
            self._on_string(self._string_kind, "".join(collected), "\x07" if end[0] == "\x07" else "\x1b\\")
        if end[0] == "\x1b":
            return stop + 2 if finished else stop
        return stop + 1
