"""Templates: text with `{{path | filter:argument}}` in it.

A template is read once, by a tokenizer, into literals and expressions, and resolved in a single pass: what is
substituted is never read again. A path reaches into JSON values and nowhere else; there are no loops, conditions,
attributes or format strings.

    expression  = path *( "|" filter )
    path        = name *( "." name | "[" ( digits | quoted ) "]" )
    filter      = name *( ":" argument )
    argument    = quoted | bare text up to "|" or "}}"
    quoted      = "…" or '…' with \\" \\' \\\\ \\n \\t \\r \\uXXXX

`\\{{` is a literal `{{`.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec

from vantage.events import Json

MAX_FILTERS = 16
"""Filters of one expression, at most."""


class TemplateError(ValueError):
    """A template that cannot be read. `position` is the character where it went wrong."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


class FilterCall(msgspec.Struct, frozen=True):
    name: str
    arguments: tuple[str, ...] = ()


class Expression(msgspec.Struct, frozen=True):
    path: tuple[str | int, ...]
    filters: tuple[FilterCall, ...] = ()
    source: str = ""
    """As written, for diagnostics."""


class Template(msgspec.Struct, frozen=True):
    parts: tuple[str | Expression, ...]

    @property
    def only_expression(self) -> Expression | None:
        """The expression, if the template is nothing else: such a template keeps its value's type."""
        return self.parts[0] if len(self.parts) == 1 and isinstance(self.parts[0], Expression) else None

    @property
    def expressions(self) -> Iterator[Expression]:
        return (part for part in self.parts if isinstance(part, Expression))


_NAME = re.compile(r"[^\W\d][\w-]*|\d+")
_SPACE = re.compile(r"\s*")
_ESCAPES = {'"': '"', "'": "'", "\\": "\\", "/": "/", "n": "\n", "t": "\t", "r": "\r"}


class _Reader:
    """One expression's characters, after `{{`."""

    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.position = position

    def skip_space(self) -> None:
        match = _SPACE.match(self.text, self.position)
        self.position = match.end() if match else self.position

    def at(self, token: str) -> bool:
        return self.text.startswith(token, self.position)

    def take(self, token: str) -> bool:
        if self.at(token):
            self.position += len(token)
            return True
        return False

    def fail(self, expected: str) -> TemplateError:
        found = self.text[self.position : self.position + 12] or "the end"
        return TemplateError(f"expected {expected}, found {found!r}", self.position)

    def name(self, what: str) -> str:
        match = _NAME.match(self.text, self.position)
        if match is None:
            raise self.fail(what)
        self.position = match.end()
        return match[0]

    def quoted(self) -> str:
        quote = self.text[self.position]
        start = self.position
        self.position += 1
        out: list[str] = []
        while True:
            if self.position >= len(self.text):
                raise TemplateError(f"the string that begins here has no closing {quote}", start)
            char = self.text[self.position]
            self.position += 1
            if char == quote:
                return "".join(out)
            out.append(self._escape() if char == "\\" else char)

    def _escape(self) -> str:
        char = self.text[self.position : self.position + 1]
        self.position += 1
        if char == "u":
            digits = self.text[self.position : self.position + 4]
            if re.fullmatch(r"[0-9a-fA-F]{4}", digits):
                self.position += 4
                return chr(int(digits, 16))
        return _ESCAPES.get(char, f"\\{char}")

    def bare(self) -> str:
        """An argument without quotes; `}}` and `|` end it."""
        start = self.position
        while self.position < len(self.text) and self.text[self.position] != "|" and not self.at("}}"):
            self.position += 1
        return self.text[start : self.position].strip()

    def path(self) -> tuple[str | int, ...]:
        steps: list[str | int] = [self.name("a path such as args.x")]
        while True:
            if self.take("."):
                steps.append(self.name("a name behind the dot"))
            elif self.take("["):
                self.skip_space()
                if self.at('"') or self.at("'"):
                    steps.append(self.quoted())
                else:
                    digits = self.name("an index or a quoted key")
                    if not digits.isdecimal() or not digits.isascii():
                        raise self.fail("a number in the brackets")
                    steps.append(int(digits[:9]))
                self.skip_space()
                if not self.take("]"):
                    raise self.fail("]")
            else:
                return tuple(steps)

    def filter(self) -> FilterCall:
        self.skip_space()
        name = self.name("a filter's name")
        self.skip_space()
        arguments: list[str] = []
        while self.take(":"):
            self.skip_space()
            arguments.append(self.quoted() if self.at('"') or self.at("'") else self.bare())
            self.skip_space()
        return FilterCall(name, tuple(arguments))

    def expression(self) -> Expression:
        start = self.position
        self.skip_space()
        path = self.path()
        filters: list[FilterCall] = []
        self.skip_space()
        while self.take("|"):
            if len(filters) == MAX_FILTERS:
                raise TemplateError(f"an expression has at most {MAX_FILTERS} filters", self.position)
            filters.append(self.filter())
            self.skip_space()
        if not self.at("}}"):
            raise self.fail("| or }}")
        source = self.text[start : self.position].strip()
        self.position += 2
        return Expression(path, tuple(filters), source)


@lru_cache(maxsize=1024)
def read_template(text: str) -> Template:
    """A template's parts. Raises `TemplateError` where an expression is malformed."""
    parts: list[str | Expression] = []
    literal: list[str] = []
    position = 0
    while True:
        start = text.find("{{", position)
        if start < 0:
            literal.append(text[position:])
            break
        if start > position and text[start - 1] == "\\":
            literal.append(text[position : start - 1] + "{{")
            position = start + 2
            continue
        literal.append(text[position:start])
        reader = _Reader(text, start + 2)
        if text.find("}}", start + 2) < 0:
            raise TemplateError("the expression that begins here has no closing }}", start)
        expression = reader.expression()
        if joined := "".join(literal):
            parts.append(joined)
        literal = []
        parts.append(expression)
        position = reader.position
    if joined := "".join(literal):
        parts.append(joined)
    return Template(tuple(parts))


class Missing:
    """The value of a path that leads nowhere: empty as text, false as a condition, 0 when counted."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()


def walk(value: Json, steps: Sequence[str | int]) -> Json:
    """Follows steps through objects and arrays; `MISSING` when one leads nowhere."""
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step if isinstance(step, str) else str(step), MISSING)
        elif isinstance(value, list):
            index = step if isinstance(step, int) else int(step[:9]) if step.isdecimal() and step.isascii() else -1
            value = value[index] if 0 <= index < len(value) else MISSING
        else:
            return MISSING
        if value is MISSING:
            return MISSING
    return value
