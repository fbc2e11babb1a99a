"""The conditions of a wait: text, expressions and prompts in the spool; states of the screen and the terminal.

A search reads every byte from its cursor on once, in order, in any number of pieces. Cursors are byte offsets into the
spool; a prompt's byte is skipped as if it were not there, and is never part of a match's text.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import msgspec
import re2

from vantage.errors import InputError, did_you_mean
from vantage.terminal.output.spool import PROMPT

_LOOK_BACK = 64 * 1024
WINDOW = 1 << 20
"""Bytes that are searched at once."""
MAX_PATTERN = 16 * 1024
MAX_CONDITIONS = 32

# Everything that lets an expression match a line end; without any of it, a match lies within a line.
_MAY_SPAN_LINES = re.compile(r"\n|\\[nsWDxvaftCPpzA0-9Q]|\[\^|\[\[|\(\?[a-zA-Z-]*s|-\\|\\.-|[\x00-\x09]-")


class Found(msgspec.Struct, frozen=True):
    """A match in the spool."""

    start: int
    end: int
    text: str


class Search(Protocol):
    """A search from `at` on."""

    at: int
    """Where it continues: everything before has been searched."""
    window: int
    """How many bytes it wants to get at once, at most."""

    def rewind(self) -> None:
        """Nothing more will come: it may search once more what it passed over."""

    def scan(self, data: bytes, *, last: bool) -> Found | None:
        """Searches the spool from `at` on; `last` when nothing follows the data for now."""


class _Literal:
    """A search for a literal text needs no second pass."""

    window = WINDOW

    def __init__(self, at: int) -> None:
        self.at = at

    def rewind(self) -> None:
        pass


class PromptSearch(_Literal):
    def scan(self, data: bytes, *, last: bool) -> Found | None:  # noqa: ARG002
        place = data.find(PROMPT)
        if place < 0:
            self.at += len(data)
            return None
        return Found(self.at + place, self.at + place + 1, "")


class TextSearch(_Literal):
    def __init__(self, text: str, at: int) -> None:
        super().__init__(at)
        self._text = text
        self._bytes = _encoded(text, "text")

    def scan(self, data: bytes, *, last: bool) -> Found | None:  # noqa: ARG002
        text = _Readable(data, self.at)
        place = text.data.find(self._bytes)
        if place >= 0:
            return text.found(place, place + len(self._bytes), self._text)
        self.at = text.offset(max(len(text.data) - len(self._bytes) + 1, 0))
        return None


class RegexSearch:
    """RE2 over UTF-8, `^` and `$` at lines. A match lies within a line or, if the expression allows it, spans many.

    A match that spans lines may begin far before the new bytes. It is searched from the beginning of its first line, or
    from the cursor; if that is more than 64 KiB back, in the last 64 KiB, and from there whenever the distance has
    doubled, and at the very end. So the cost stays linear, and a long match is found, though late.
    """

    def __init__(self, pattern: str, at: int) -> None:
        self.at = at
        self._pattern = compile_pattern(pattern)
        self._spans = _MAY_SPAN_LINES.search(pattern) is not None
        self.window = 16 * WINDOW if self._spans else WINDOW
        self._before = b""
        """The byte before `at`, unless it is the first: `^` and `\\b` must not match where the search happens to
        continue.
        """
        self._far = (at, b"")
        """Where a match that is still possible may have begun, and the byte before it."""
        self._look_again = at + _LOOK_BACK

    def rewind(self) -> None:
        self.at, self._before = self._far

    def scan(self, data: bytes, *, last: bool) -> Found | None:
        first = len(self._before)
        text = _Readable(self._before + data, self.at - first)
        match = self._pattern.search(_at_line_starts(text.data, begins=not first), first)
        if match is not None and (last or match.end() < len(text.data) or match.start() == first):
            found = text.data[match.start() : match.end()]
            return text.found(match.start(), match.end(), found.decode("utf-8", "replace"))
        end = self.at + len(data)
        line = 0 if self._spans else text.data.rfind(b"\n", first) + 1
        if line:
            self._far = (text.offset(line), b"\n")
            self._look_again = self._far[0] + _LOOK_BACK
        if match is not None:
            self._go_on(text, match.start())  # it may continue after this window
        elif last and end >= self._look_again:
            self._look_again = end + (end - self._far[0])
            self.rewind()
        else:
            self._go_on(text, max(line, first, len(text.data) - _LOOK_BACK))
        return None

    def _go_on(self, text: "_Readable", place: int) -> None:
        self._before = text.data[place - 1 : place] if place else b""
        self.at = text.offset(place)


_IDLE_RETURNS = re.compile(rb"(?<=\n)\r+")


def _at_line_starts(data: bytes, *, begins: bool) -> bytes:
    """The text without a CR where the cursor is in the first column anyway, in the same length, so that `^` can match.

    Line editors print such a CR after the line end, when they give the terminal back.
    """
    if b"\r" not in data:
        return data
    data = _IDLE_RETURNS.sub(lambda found: b"\n" * len(found[0]), data)
    if begins and data.startswith(b"\r"):
        returns = len(data) - len(data.lstrip(b"\r"))
        data = b"\n" * returns + data[returns:]
    return data


class _Readable:
    """Spool bytes without the prompts' bytes, and the mapping back to their offsets."""

    def __init__(self, data: bytes, base: int) -> None:
        self._base = base
        self._removed: list[int] = []
        if PROMPT in data:
            at = data.find(PROMPT)
            while at >= 0:
                self._removed.append(at - len(self._removed))
                at = data.find(PROMPT, at + 1)
            data = data.replace(PROMPT, b"")
        self.data = data

    def offset(self, place: int) -> int:
        """The spool offset of a byte; a prompt right before it counts as passed."""
        return self._base + place + sum(1 for removed in self._removed if removed <= place)

    def found(self, start: int, end: int, text: str) -> Found:
        before = sum(1 for removed in self._removed if removed < end)
        return Found(self.offset(start), self._base + end + before, text)


def _encoded(text: str, what: str) -> bytes:
    """A text to search for, in the form that the spool would have."""
    if len(text) > MAX_PATTERN:
        raise InputError(f"the {what} has {len(text)} characters", hint=f"at most {MAX_PATTERN} are taken")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        lone = f"U+{ord(text[error.start]):04X}"
        raise InputError(
            f"the {what} has half a character, {lone}", hint="output never has one: leave it out"
        ) from None


def compile_pattern(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    encoded = _encoded(pattern, "expression")
    try:
        return re2.compile(b"(?m)" + encoded, options)
    except re2.error as error:
        said = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else str(error)
        raise InputError(
            f"{pattern!r} is no regular expression: {said.replace('(?m)', '', 1)}",
            hint="RE2 syntax: no backreferences and no look-around; leave out regex to look for the text as it is",
        ) from None


# Conditions

Kind = Literal[
    "text", "regex", "prompt", "eof", "screen", "screen_gone", "title", "quiet_ms", "secret_prompt", "foreground"
]


class View(Protocol):
    """The facts that conditions read, at one moment."""

    @property
    def cursor(self) -> int: ...
    @property
    def over(self) -> bool:
        """Whether the awaited program or shell has ended."""

    @property
    def at_prompt(self) -> bool:
        """Whether the shell has been at its prompt all the time: no prompt is to come."""

    @property
    def awaiting_secret(self) -> bool: ...
    @property
    def foreground(self) -> str | None: ...
    @property
    def title(self) -> str: ...
    def screen_text(self) -> str: ...
    def quiet_for(self) -> float:
        """Milliseconds without output since the wait began."""


class Condition(ABC):
    """A leaf or a branch. `fired` is called after every change; stream parts remember what they found."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def leaves(self) -> "list[Condition]":
        return [self]

    def searches(self) -> list["Stream"]:
        return [leaf for leaf in self.leaves() if isinstance(leaf, Stream)]

    @abstractmethod
    def fired(self, view: View) -> "Condition | None":
        """The part that holds now, or None."""

    @property
    def found(self) -> Found | None:
        return None


class Stream(Condition):
    """Something in the spool."""

    def __init__(self, kind: str, search: Search) -> None:
        super().__init__(kind)
        self.search = search
        self._found: Found | None = None

    def look(self, data: bytes, *, last: bool) -> None:
        if self._found is None:
            self._found = self.search.scan(data, last=last)

    def accept(self, found: Found) -> None:
        """Takes over what another search for the same has found."""
        if self._found is None or found.end < self._found.end:
            self._found = found

    def fired(self, view: View) -> Condition | None:  # noqa: ARG002
        return self if self._found is not None else None

    @property
    def found(self) -> Found | None:
        return self._found


class Prompted(Stream):
    """A prompt after a place in the spool, or the one that the shell is at."""

    def fired(self, view: View) -> Condition | None:
        return self if self._found is not None or view.at_prompt else None


class Holds(Condition):
    """A state: true or false at the moment of the check."""

    def __init__(self, kind: str, wanted: Any) -> None:
        super().__init__(kind)
        self.wanted = wanted

    def fired(self, view: View) -> Condition | None:
        return self if _STATES[self.kind](view, self.wanted) else None


class AnyOf(Condition):
    def __init__(self, parts: Sequence[Condition]) -> None:
        super().__init__("any")
        self.parts = parts
        self._fired: Condition | None = None

    def leaves(self) -> list[Condition]:
        return [leaf for part in self.parts for leaf in part.leaves()]

    def fired(self, view: View) -> Condition | None:
        """Among stream parts that were found together, the one that comes first in the output."""
        fired = [part for part in (part.fired(view) for part in self.parts) if part is not None]
        found = [part for part in fired if part.found is not None]
        first = min(found, key=lambda part: part.found.end if part.found else 0, default=None)
        self._fired = first or next(iter(fired), None)
        return self._fired

    @property
    def found(self) -> Found | None:
        return self._fired.found if self._fired is not None else None


class AllOf(Condition):
    def __init__(self, parts: Sequence[Condition]) -> None:
        super().__init__("all")
        self.parts = parts

    def leaves(self) -> list[Condition]:
        return [leaf for part in self.parts for leaf in part.leaves()]

    def fired(self, view: View) -> Condition | None:
        return self if all(part.fired(view) is not None for part in self.parts) else None

    @property
    def found(self) -> Found | None:
        """The last of the parts that were found."""
        return max((part.found for part in self.parts if part.found), key=lambda found: found.end, default=None)


_STATES: dict[str, Callable[[View, Any], bool]] = {
    "eof": lambda view, _: view.over,
    "screen": lambda view, text: text in view.screen_text(),
    "screen_gone": lambda view, text: text not in view.screen_text(),
    "title": lambda view, text: text in view.title,
    "quiet_ms": lambda view, least: view.quiet_for() >= least,
    "secret_prompt": lambda view, wanted: view.awaiting_secret is wanted,
    "foreground": lambda view, name: view.foreground == name,
}
SAMPLED = frozenset({"secret_prompt", "foreground"})
"""States that nothing announces: they must be sampled."""

_SEARCHES: dict[str, Callable[[Any, int], Search]] = {
    "text": TextSearch,
    "regex": RegexSearch,
    "prompt": lambda _, at: PromptSearch(at),
}
_TAKES: dict[str, type] = {
    **dict.fromkeys(("text", "regex", "screen", "screen_gone", "title", "foreground"), str),
    **dict.fromkeys(("prompt", "eof", "secret_prompt"), bool),
    "quiet_ms": int,
    "any": list,
    "all": list,
}
_NAMES = {str: "a text", bool: "true", int: "a number of milliseconds", list: "a list of conditions"}
_EXAMPLES = {str: '"login:"', bool: "true", int: "300", list: '[{"prompt": true}, {"text": "error"}]'}
CONDITIONS = frozenset(_TAKES)
"""The keys of condition objects."""
MAX_QUIET_MS = 24 * 60 * 60 * 1000
TOKENS = {"PROMPT": "prompt", "EOF": "eof"}


def condition(match: Any, at: int, *, regex: bool = False) -> Condition:
    """A `match` as callers write it: a text, an expression, `PROMPT`, `EOF` or a condition object."""
    if isinstance(match, str):
        if not match:
            raise InputError("match is empty", hint='give a text, or {"quiet_ms": 300} to wait for silence')
        if regex:
            return Stream("regex", RegexSearch(match, at))
        if match in TOKENS:
            return _leaf(TOKENS[match], True, at)
        return _leaf("text", match, at)
    left = [MAX_CONDITIONS]
    return _parse(match, at, left)


def _parse(match: Any, at: int, left: list[int]) -> Condition:
    left[0] -= 1
    if left[0] < 0:
        raise InputError(f"match has more than {MAX_CONDITIONS} conditions", hint="wait for fewer, or one by one")
    if isinstance(match, str):
        return condition(match, at)
    if not isinstance(match, dict) or len(match) != 1:
        raise InputError(
            f"a condition is an object with one key, not {_shown(match)}",
            hint='as in {"text": "login:"}, or {"any": [{"prompt": true}, {"text": "error"}]}',
        )
    (kind, value), *_ = match.items()
    takes = _TAKES.get(kind)
    if takes is None:
        raise InputError(f"there is no condition {kind!r}", hint=did_you_mean(str(kind), _TAKES))
    right = isinstance(value, takes) and (takes is bool or not isinstance(value, bool))
    if not right or not value or (takes is int and not 0 < value <= MAX_QUIET_MS):
        raise InputError(
            f"{kind!r} takes {_NAMES[takes]}, not {_shown(value)}", hint=f'as in {{"{kind}": {_EXAMPLES[takes]}}}'
        )
    if takes is list:
        parts = [_parse(part, at, left) for part in value]
        return AnyOf(parts) if kind == "any" else AllOf(parts)
    return _leaf(kind, value, at)


def _leaf(kind: str, value: Any, at: int) -> Condition:
    search = _SEARCHES.get(kind)
    if search is None:
        return Holds(kind, value)
    return (Prompted if kind == "prompt" else Stream)(kind, search(value, at))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
