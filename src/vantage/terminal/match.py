"""What one can wait for: text, expressions and prompts in the spool; states of the screen and the terminal.

A search looks at every byte from its cursor on once, in order, across however many pieces it comes in. Cursors are byte
offsets into the spool; a prompt's byte is stepped over as if it were not there, and never part of a match's text.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import msgspec
import re2

from vantage.errors import InputError, nearest_word
from vantage.terminal.spool import PROMPT

_LOOK_BACK = 64 * 1024
WINDOW = 1 << 20
"""Bytes that are searched at once."""
MOST_PATTERN = 16 * 1024
MOST_CONDITIONS = 32

# Whatever lets an expression match a line end; without any of it, a match lies within a line.
_MAY_SPAN_LINES = re.compile(r"\n|\\[nsWDxvaftCPpzA0-9Q]|\[\^|\[\[|\(\?[a-zA-Z-]*s|-\\|\\.-")


class Found(msgspec.Struct, frozen=True):
    """A match in the spool."""

    start: int
    end: int
    text: str


class Search(Protocol):
    """Looks for something from `at` on."""

    at: int
    """Where it goes on looking: what is before has been looked at."""
    window: int
    """How many bytes it wants to see at once, at most."""

    def rewind(self) -> None:
        """Nothing more will come: it may look once more at what it passed over."""

    def scan(self, data: bytes, *, last: bool) -> Found | None:
        """Looks at the spool from `at` on; `last` when nothing follows the data for now."""


class _Literal:
    """What is searched for as it stands leaves nothing behind."""

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
        self._bytes = text.encode()

    def scan(self, data: bytes, *, last: bool) -> Found | None:  # noqa: ARG002
        text = _Readable(data, self.at)
        place = text.data.find(self._bytes)
        if place >= 0:
            return text.found(place, place + len(self._bytes), self._text)
        self.at = text.offset(max(len(text.data) - len(self._bytes) + 1, 0))
        return None


class RegexSearch:
    """RE2 over UTF-8, `^` and `$` at lines.

    A match within a line is looked for from that line on. One that may span lines is looked for in the last 64 KiB, and
    from the cursor on whenever the text has doubled and at the very end: the cost stays linear, and a long match is
    found, if late.
    """

    def __init__(self, pattern: str, at: int) -> None:
        self.at = at
        self._pattern = compile_pattern(pattern)
        self._spans = _MAY_SPAN_LINES.search(pattern) is not None
        self.window = 16 * WINDOW if self._spans else WINDOW
        self._start = at
        self._doubled = at + _LOOK_BACK

    def rewind(self) -> None:
        if self._spans:
            self.at = self._start

    def scan(self, data: bytes, *, last: bool) -> Found | None:
        text = _Readable(data, self.at)
        match = self._pattern.search(text.data)
        if match is not None and (last or match.end() < len(text.data) or match.start() == 0):
            return text.found(match.start(), match.end(), match.group().decode("utf-8", "replace"))
        end = self.at + len(data)
        if match is not None:
            self.at = text.offset(match.start())  # it may go on behind this window
        elif not self._spans:
            line = text.data.rfind(b"\n") + 1
            self.at = text.offset(line if len(text.data) - line < self.window else len(text.data) - _LOOK_BACK)
        elif last and end >= self._doubled:
            self._doubled = self._start + 2 * (end - self._start)
            self.at = self._start
        else:
            self.at = max(self._start, end - _LOOK_BACK)
        return None


class _Readable:
    """Spool bytes without the prompts' bytes, and the way back to their offsets."""

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


def compile_pattern(pattern: str) -> Any:
    if len(pattern) > MOST_PATTERN:
        raise InputError(f"the expression has {len(pattern)} characters", hint=f"at most {MOST_PATTERN} are taken")
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    try:
        return re2.compile(f"(?m){pattern}".encode(), options)
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
    """What conditions look at, as it is now."""

    @property
    def cursor(self) -> int: ...
    @property
    def over(self) -> bool:
        """Whether what is waited on has ended."""

    @property
    def awaiting_secret(self) -> bool: ...
    @property
    def foreground(self) -> str | None: ...
    @property
    def title(self) -> str: ...
    def screen_text(self) -> str: ...
    def quiet_for(self) -> float:
        """Milliseconds without output since the wait began."""


class Condition:
    """A leaf or a branch. `fired` is asked after every change; stream parts remember what they found."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def leaves(self) -> "list[Condition]":
        return [self]

    def searches(self) -> list["Stream"]:
        return [leaf for leaf in self.leaves() if isinstance(leaf, Stream)]

    def fired(self, view: View) -> "Condition | None":
        """The part that holds now, or None."""
        raise NotImplementedError

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

    def fired(self, view: View) -> Condition | None:  # noqa: ARG002
        return self if self._found is not None else None

    @property
    def found(self) -> Found | None:
        return self._found


class Holds(Condition):
    """A state: true or not at the moment it is looked at."""

    def __init__(self, kind: str, wanted: Any) -> None:
        super().__init__(kind)
        self.wanted = wanted

    def fired(self, view: View) -> Condition | None:
        return self if _STATES[self.kind](view, self.wanted) else None


class AnyOf(Condition):
    def __init__(self, parts: Sequence[Condition]) -> None:
        super().__init__("any")
        self.parts = parts

    def leaves(self) -> list[Condition]:
        return [leaf for part in self.parts for leaf in part.leaves()]

    def fired(self, view: View) -> Condition | None:
        """Of stream parts that are there together, the one that comes first in the output."""
        fired = [part for part in (part.fired(view) for part in self.parts) if part is not None]
        found = [part for part in fired if part.found is not None]
        return min(found, key=lambda part: part.found.end if part.found else 0) if found else next(iter(fired), None)


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
        """The last of what was found."""
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
"""What cannot announce itself."""

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
TOKENS = {"PROMPT": "prompt", "EOF": "eof"}


def condition(match: Any, at: int, *, regex: bool = False) -> Condition:
    """A `match` as callers write it: a text, an expression, `PROMPT`, `EOF` or a condition object."""
    if isinstance(match, str):
        if regex:
            return Stream("regex", RegexSearch(match, at))
        if match in TOKENS:
            return _leaf(TOKENS[match], True, at)
        if not match:
            raise InputError("match is empty", hint='give a text, or {"quiet_ms": 300} to wait for silence')
        return _leaf("text", match, at)
    left = [MOST_CONDITIONS]
    return _parse(match, at, left)


def _parse(match: Any, at: int, left: list[int]) -> Condition:
    left[0] -= 1
    if left[0] < 0:
        raise InputError(f"match has more than {MOST_CONDITIONS} conditions", hint="wait for fewer, or one by one")
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
        near = nearest_word(str(kind), _TAKES)
        known = f"did you mean {near!r}?" if near else f"known are {', '.join(_TAKES)}"
        raise InputError(f"there is no condition {kind!r}", hint=known)
    right = isinstance(value, takes) and (takes is bool or not isinstance(value, bool))
    if not right or value in ("", [], False) or (takes is int and value < 0):
        raise InputError(f"{kind!r} takes {_NAMES[takes]}, not {_shown(value)}")
    if takes is list:
        parts = [_parse(part, at, left) for part in value]
        return AnyOf(parts) if kind == "any" else AllOf(parts)
    return _leaf(kind, value, at)


def _leaf(kind: str, value: Any, at: int) -> Condition:
    search = _SEARCHES.get(kind)
    return Stream(kind, search(value, at)) if search else Holds(kind, value)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
