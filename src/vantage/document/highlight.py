"""Code as lines of (token class, text): what each piece of source is, not how it looks.

The classes are a small semantic set; a terminal maps them to colours with `COLORS`, a page to CSS classes.
The joined text of every line is the input's line, character for character: highlighting never changes code.
Common languages have scanners of our own; for any other Pygments is loaded when it is first needed.
"""

from collections import OrderedDict
from functools import lru_cache
from threading import Lock
from typing import Any

from vantage.document.scanners import knows, scan

Tokens = list[tuple[str, str]]
"""One line: (token class, text) pairs."""

COLORS: dict[str, tuple[int, int]] = {
    "keyword": (141, 91),
    "string": (114, 28),
    "comment": (243, 245),
    "number": (215, 130),
    "name": (252, 236),
    "function": (111, 25),
    "type": (117, 30),
    "constant": (209, 124),
    "operator": (117, 24),
    "tag": (204, 125),
    "attribute": (179, 94),
    "inserted": (78, 28),
    "deleted": (203, 124),
    "heading": (111, 25),
}
"""Token class → 256-palette number on a dark and on a light background. A class that is not here (`plain`) has no
colour.
"""

MAX_CHARACTERS = 50_000
"""Longer code is not highlighted, because of the cost."""
CACHE_CHARACTERS = 1_000_000

# Pygments' token types by name; a type that is not here is what its nearest ancestor is.
_CLASSES: dict[str, str] = {
    "Comment": "comment",
    "Comment.Preproc": "keyword",
    "Generic.Deleted": "deleted",
    "Generic.Heading": "heading",
    "Generic.Inserted": "inserted",
    "Generic.Prompt": "keyword",
    "Generic.Subheading": "heading",
    "Keyword": "keyword",
    "Keyword.Constant": "constant",
    "Keyword.Type": "type",
    "Literal.Date": "number",
    "Literal.Number": "number",
    "Literal.String": "string",
    "Literal.String.Escape": "constant",
    "Literal.String.Interpol": "plain",
    "Name": "plain",
    "Name.Attribute": "attribute",
    "Name.Builtin": "function",
    "Name.Class": "type",
    "Name.Constant": "constant",
    "Name.Decorator": "attribute",
    "Name.Exception": "type",
    "Name.Function": "function",
    "Name.Label": "attribute",
    "Name.Namespace": "name",
    "Name.Property": "attribute",
    "Name.Tag": "tag",
    "Name.Variable": "name",
    "Operator": "operator",
    "Operator.Word": "keyword",
}
# What people write after the fence, where Pygments knows it by another name.
_ALIASES = {"jsonc": "json", "json5": "json", "shell-session": "console", "golang": "go", "plist": "xml", "svg": "xml"}


def plain_lines(text: str) -> list[Tokens]:
    """The lines without highlighting, in the same shape."""
    return [[("plain", line)] if line else [] for line in text.split("\n")]


def highlight(text: str, language: str) -> list[Tokens]:
    """`text` line by line; an unknown language, a long text or a lexer that fails gives plain lines.

    The result is shared between calls: treat it as read-only.
    """
    language = language.strip().lower()
    if not language or not text or len(text) > MAX_CHARACTERS or "\r" in text:
        return plain_lines(text)
    if not knows(language) and _lexer(language) is None:
        return plain_lines(text)
    return _cached(text, language)


_cache: OrderedDict[tuple[str, str], list[Tokens]] = OrderedDict()
_cache_lock = Lock()
_cached_characters = 0


def _cached(text: str, language: str) -> list[Tokens]:
    """Remembered by (language, text), the least recently used going first; bounded by characters, not by entries."""
    key = (language, text)
    with _cache_lock:
        if key in _cache:
            _cache.move_to_end(key)
            return _cache[key]
    lines = scan(text, language) if knows(language) else _tokens(text, language)
    global _cached_characters  # noqa: PLW0603
    with _cache_lock:
        _cached_characters += len(text) if key not in _cache else 0
        _cache[key] = lines
        while _cached_characters > CACHE_CHARACTERS:
            (_, dropped), _ = _cache.popitem(last=False)
            _cached_characters -= len(dropped)
    return lines


def forget() -> None:
    """Empties the cache."""
    global _cached_characters  # noqa: PLW0603
    with _cache_lock:
        _cache.clear()
        _cached_characters = 0


@lru_cache(maxsize=128)
def _lexer(language: str) -> Any:
    """The lexer of a language, or `None`: names come from agents and may be anything."""
    if len(language) > 40:
        return None
    from pygments.lexers import get_lexer_by_name  # noqa: PLC0415 - loading Pygments costs 30 ms
    from pygments.util import ClassNotFound  # noqa: PLC0415

    try:
        return get_lexer_by_name(_ALIASES.get(language, language), stripnl=False, stripall=False, ensurenl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=256)
def _class_of(name: str) -> str:
    """The class of a token type's dotted name: that of its nearest known ancestor."""
    while name:
        if name in _CLASSES:
            return _CLASSES[name]
        name = name.rpartition(".")[0]
    return "plain"


def _tokens(text: str, language: str) -> list[Tokens]:
    ended = text.endswith("\n")
    try:  # many lexers know a last line only by its newline
        tokens = list(_lexer(language).get_tokens(text if ended else text + "\n"))
    except Exception:  # noqa: BLE001 - a lexer's bug must not take the message down
        return plain_lines(text)
    lines: list[Tokens] = [[]]
    for kind, value in tokens:
        token = _class_of(".".join(kind))
        head, *others = value.split("\n")
        _append(lines[-1], token, head)
        for other in others:
            lines.append([])
            _append(lines[-1], token, other)
    if not ended:
        lines.pop()
    # Some lexers drop or change characters whatever they are told.
    if "\n".join(["".join([value for _, value in line]) for line in lines]) != text:
        return plain_lines(text)
    return lines


def _append(line: Tokens, token: str, text: str) -> None:
    if not text:
        return
    if line and (line[-1][0] == token or not text.strip()):
        line[-1] = (line[-1][0], line[-1][1] + text)
    else:
        line.append((token, text))
