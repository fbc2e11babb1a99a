"""Tells the echo of what was typed from a program's answer, so that a wait does not match in the echo.

The spool keeps the echo: only a wait whose cursor is that of an input reads it without. An output line is the echo of
a typed line if it folds to that line, behind nothing or behind a prompt. The prompt is the text that was on the line
when the input was written; a line editor may print it again with each key (Python 3.13), or draw each piece of the
line where it stands (fish, which also draws its suggestions there). Blanks do not count, since editors wrap and
indent. A program that reads late echoes twice: first the tty does, then the line editor behind its prompt. Where the
tty is known to have echoed, the echo is the end of the first line that ends with it, whatever was printed before it.

Searches get the echo as line ends, byte for byte, so that offsets stay. The end of an unfinished line that may become
an echo is held back until that is decided. A match that reaches past the echo is not in it.
"""

import re
from collections.abc import Callable
from itertools import takewhile

import msgspec

from vantage.terminal.output.match import Found
from vantage.terminal.output.reading import fold

MAX_INPUT = 1 << 16
"""Bytes of an input whose echo is looked for, and of a line that may be one."""
MAX_BEFORE = 1 << 12
"""Bytes that other programs may print between an input's cursor and the tty's echo of it."""
MAX_SECOND = 1000
"""Characters of a line that are compared with a second echo while it is incomplete."""
MAX_OUTPUT = 1 << 20
"""In how many bytes after the cursor the echo is looked for: an input is echoed before much else is printed."""
_PASTE = re.compile(rb"\x1b\[20[01]~")
_LINE_END = re.compile(r"\r\n|\r|\n")
_KEY = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_PRINTED = re.compile(rb"[^\x1e]")
_SPACE = re.compile(r"\s+")
_GOES_BACK = re.compile(rb"[\r\x08]+")
_CONTINUES = re.compile(r"[.>:]+")
"""A prompt for more lines, without its blanks: `>` of shells, `...` of Python and node, `...>` of sqlite."""
_ASKS = re.compile(r"\w{0,60}>+|.{0,200}[$#%❯»]|In\[\d+\]:|\(\w+\)")
"""A prompt of a line editor that echoes a line for the second time, without its blanks."""
_NUMBER = re.compile(r"\d+")

Read = Callable[[int, int], bytes]


class Typed(msgspec.Struct, frozen=True):
    """An input, in the form in which its echo is recognised."""

    cursor: int
    """The end of the spool before it was written."""
    lines: tuple[str, ...]
    """Without blanks."""
    is_open: bool
    """Whether no Enter follows the last line."""
    prompt: str
    """What was on the line, without blanks."""
    echoed: bool = False
    """The terminal itself echoed it: it stands in the output whole, at the end of a line."""


def typed_input(data: bytes, cursor: int, before: bytes) -> Typed:
    """What was typed at a cursor; `before` is the end of the spool."""
    text = _PASTE.sub(b"", data[:MAX_INPUT]).decode("utf-8", "replace")
    lines = [_SPACE.sub("", line) for line in takewhile(_is_plain, _LINE_END.split(text))]
    is_open = lines[-1:] != [""]
    return Typed(cursor, tuple(lines if is_open else lines[:-1]), is_open, _bare(before.rpartition(b"\n")[2]))


def _is_plain(line: str) -> bool:
    """Whether a line has no keys in it: the effect of a key on the line is not known."""
    return _KEY.search(line) is None


def _bare(line: bytes) -> str:
    """A line as it reads at its end, without blanks."""
    return _SPACE.sub("", fold(line.decode("utf-8", "replace")))


class EchoFilter:
    """The spool from an input's cursor on, with the echo of that input covered."""

    def __init__(self, read: Read, typed: Typed) -> None:
        self._spool = read
        self._typed = typed
        self._echoed = 0
        """How many of the typed lines were echoed."""
        self._echoed_twice = 0
        self._at = typed.cursor
        """The beginning of the first line that is not decided."""
        self._covered: list[tuple[int, int]] = []

    def read(self, start: int, end: int) -> bytes:
        """Spool bytes, with line ends in place of echo. Marks of prompts stay."""
        data = self._spool(start, end)
        for first, last in self._covered:
            before, after = max(first - start, 0), max(last - start, 0)
            echo = data[before:after]
            data = data[:before] + _PRINTED.sub(b"\n", echo) + data[after:]
        return data

    def has(self, found: Found) -> bool:
        """Whether a match lies in the echo, including the echo's line end."""
        return any(first <= found.start and found.end <= last + 1 for first, last in self._covered)

    def searchable(self, end: int) -> int:
        """How far a search may look when the spool ends at `end`."""
        while self._awaits_echo and self._at < end:
            data = self._spool(self._at, min(end, self._at + MAX_INPUT))
            line, ended, _ = data.partition(b"\n")
            if size := self._open_echo(line):
                self._echoed += 1
                self._cover(line[:size])
                self._at += size
                continue
            if not ended:
                return self._at if len(line) < MAX_INPUT and self._may_become_echo(line) else end
            self._decide(line)
            self._at += len(line) + 1
        return end

    @property
    def _awaits_echo(self) -> bool:
        if self._at - self._typed.cursor > MAX_OUTPUT:
            return False
        return self._echoed < len(self._typed.lines) or self._awaits_second

    @property
    def _awaits_second(self) -> bool:
        """Whether a line editor may repeat the tty's echo: no prompt was there when it was typed."""
        return not self._typed.prompt and self._echoed_twice < self._echoed

    @property
    def _echo_is_near(self) -> bool:
        """Whether the tty's own echo is still to come: only what was printed at the same moment is before it."""
        return self._typed.echoed and self._at - self._typed.cursor < MAX_BEFORE

    def _open_echo(self, line: bytes) -> int:
        """How many bytes at the beginning of a line are the echo of the last typed line, which has no Enter."""
        if not self._typed.is_open or self._echoed != len(self._typed.lines) - 1:
            return 0
        left = self._typed.lines[-1]
        text = line.decode("utf-8", "replace")
        for place, char in enumerate(text):
            if not left:
                return len(text[:place].encode())
            if char.isspace():
                continue
            if char != left[0]:
                return 0
            left = left[1:]
        return 0 if left else len(line)

    def _decide(self, line: bytes) -> None:
        """Covers an ended line if it is echo."""
        shown = _bare(line)
        if self._echoed < len(self._typed.lines):
            wanted = self._typed.lines[self._echoed]
            drawn = self._drawn(shown, wanted)
            if drawn == wanted or (wanted and self._in_pieces(line, wanted) == len(wanted)):
                self._echoed += 1
                self._cover(line)
                return
            if self._echo_is_near and wanted and (size := _size_at_end(line, wanted)):
                self._echoed += 1
                self._covered.append((self._at + len(line) - size, self._at + len(line)))
                return
            if drawn and drawn != shown:  # a line editor that moves up leaves each state of the line on its own line
                self._cover(line)
                return
        if self._awaits_second and _is_second(shown, self._typed.lines[self._echoed_twice]):
            self._echoed_twice += 1
            self._cover(line)

    def _may_become_echo(self, line: bytes) -> bool:
        """Whether a line without an end is held back."""
        shown = _bare(line)
        if self._echoed < len(self._typed.lines):
            wanted = self._typed.lines[self._echoed]
            drawn = self._drawn(shown, wanted)
            begins = drawn is not None and shown and self._at == self._typed.cursor
            if drawn or begins or self._in_pieces(line, wanted):
                return True
            if self._echo_is_near and _ends_with_begin(line, wanted):
                return True
        if not self._awaits_second:
            return False
        wanted = self._typed.lines[self._echoed_twice][:MAX_SECOND]
        return any(_is_second(shown, wanted[:size]) for size in range(1, len(wanted) + 1))

    def _drawn(self, shown: str, wanted: str) -> str | None:
        """How much of a typed line a line shows, if it shows nothing else but prompts; None if it shows other text."""
        if wanted.startswith(shown):
            return shown
        for prompt in self._prompts(shown):
            *states, last = shown.removeprefix(prompt).split(prompt)
            if all(map(wanted.startswith, states)) and wanted.startswith(last):
                return last
        return None

    def _in_pieces(self, line: bytes, wanted: str) -> int:
        """How much of a typed line a line editor has drawn, going back on the line before each piece.

        Other text among the pieces is a suggestion, which an editor draws at most once for each key and erases before
        it leaves the line.
        """
        if not _GOES_BACK.search(line):
            return 0
        parts = [_SPACE.sub("", part.decode("utf-8", "replace")) for part in _GOES_BACK.split(line)]
        drawn = others = 0
        suggests = False
        for piece in filter(None, (part.removeprefix(self._typed.prompt) for part in parts)):
            begin = wanted.rfind(piece, 0, drawn + len(piece))
            suggests = begin < 0
            others += suggests
            drawn = max(drawn, begin + len(piece)) if begin >= 0 else drawn
        answered = suggests and drawn == len(wanted)
        return 0 if answered or others > len(wanted) else drawn

    def _prompts(self, shown: str) -> list[str]:
        """Prompts that a line may begin with; the number in one may have grown."""
        found = []
        if prompt := self._typed.prompt:
            pattern = r"\d+".join(map(re.escape, _NUMBER.split(prompt)))
            if same := re.match(pattern, shown):
                found.append(same[0])
        if self._echoed and (more := _CONTINUES.match(shown)):
            found.append(more[0])
        return found

    def _cover(self, line: bytes) -> None:
        self._covered.append((self._at, self._at + len(line)))


def _size_at_end(line: bytes, wanted: str) -> int:
    """How many bytes at the end of a line are a text without its blanks; 0 if the line does not end with it."""
    text = line.decode("utf-8", "replace").rstrip()
    left, place = wanted, len(text)
    while left and place:
        place -= 1
        if text[place].isspace():
            continue
        if text[place] != left[-1]:
            return 0
        left = left[:-1]
    return 0 if left else len(line) - len(text[:place].encode())


def _ends_with_begin(line: bytes, wanted: str) -> bool:
    """Whether a line without an end may become one that ends with a text."""
    text = _SPACE.sub("", line[-4 * MAX_SECOND :].decode("utf-8", "replace"))
    return any(text.endswith(wanted[:size]) for size in range(1, min(len(wanted), MAX_SECOND) + 1))


def _is_second(shown: str, wanted: str) -> bool:
    """Whether a line is a line editor's prompt and the text that was typed before the prompt."""
    return bool(wanted) and shown.endswith(wanted) and _ASKS.fullmatch(shown[: len(shown) - len(wanted)]) is not None
