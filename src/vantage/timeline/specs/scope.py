"""What templates see of a call, and what they make of it, within limits that are counted and not timed."""

from typing import Any

import msgspec

from vantage.events import Json
from vantage.timeline.calls import ToolCall, parse_json
from vantage.timeline.specs.filters import FILTERS, text_value
from vantage.timeline.specs.template import MISSING, Expression, Template, TemplateError, read_template, walk

MOST_BLOCK_TEXT = 64 * 1024
MOST_ROW_TEXT = 256 * 1024
MOST_ITEMS = 200


class UnsupportedError(Exception):
    """A spec asks for something this version does not know: a block type, a filter."""


class Scope(msgspec.Struct):
    """The values that paths start from."""

    args: Json = None
    output: str = ""
    status: str = ""
    is_partial: bool = False
    duration_ms: float | None = None
    details: Json = None
    source: str = "output"
    """What bare paths resolve against: `args` or `output`."""
    _parsed: Json = msgspec.UNSET

    @classmethod
    def of_call(cls, call: ToolCall) -> "Scope":
        scope = cls(
            args=call.args or call.raw_args,
            output=call.output,
            status="running" if not call.done else "error" if call.failed else "ok",
            is_partial=not call.done,
            duration_ms=call.duration_ms,
            details=call.details,
        )
        if call.data is not None and not call.unpacked:
            scope._parsed = call.data
        return scope

    @property
    def parsed(self) -> Json:
        """The output as JSON, parsed once; `None` when it is not."""
        if self._parsed is msgspec.UNSET:
            self._parsed = parse_json(self.output)
        return self._parsed

    def look_up(self, path: tuple[str | int, ...]) -> Json:
        root, rest = path[0], path[1:]
        if root == "args":
            return walk(self.args, rest)
        if root == "output":
            return walk(self.parsed, rest) if rest else self.output
        if root == "details":
            return walk(self.details, rest)
        if not rest and root in _FLAT:
            return getattr(self, _FLAT[str(root)])
        return walk(self.args if self.source == "args" else self.parsed, path)


_FLAT = {"status": "status", "isPartial": "is_partial", "durationMs": "duration_ms"}


class Resolver:
    """Resolves the templates of one row. What is too long is cut, and said so in `notes`."""

    def __init__(self, scope: Scope, *, lenient: bool = False) -> None:
        self.scope = scope
        self._lenient = lenient
        """Whether an unknown filter is passed over instead of being an error."""
        self.notes: list[str] = []
        self.steps = 0
        """Expressions evaluated: the measure of the work done."""
        self._left = MOST_ROW_TEXT

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def value(self, template: str) -> Json:
        """What a template stands for. One that is a single expression keeps its value's type."""
        read = read_template(template)
        only = read.only_expression
        return self._evaluate(only) if only is not None else self._join(read)

    def text(self, template: str) -> str:
        return self.cut(self._join(read_template(template)))

    def cut(self, text: str) -> str:
        """Text within what is left for the block and the row."""
        room = min(MOST_BLOCK_TEXT, self._left)
        if len(text) > room:
            self.note(f"text of {len(text)} characters was cut to {room}")
            text = text[: max(room - 1, 0)] + "…" if room > 0 else ""
        self._left -= len(text)
        return text

    def _join(self, template: Template) -> str:
        out: list[str] = []
        length = 0
        for part in template.parts:
            piece = part if isinstance(part, str) else text_value(self._evaluate(part))
            out.append(piece)
            length += len(piece)
            if length > MOST_ROW_TEXT:
                break
        return "".join(out)

    def _evaluate(self, expression: Expression) -> Json:
        self.steps += 1
        value = self.scope.look_up(expression.path)
        if value is MISSING:
            self.note(f"nothing at {expression.source or '.'.join(map(str, expression.path))}")
        for call in expression.filters:
            known = FILTERS.get(call.name)
            if known is None:
                if not self._lenient:
                    raise UnsupportedError(f"there is no filter {call.name!r}")
                self.note(f"there is no filter {call.name!r}")
                continue
            self.steps += 1
            value = known.apply(value, *call.arguments[: known.most])
        return None if value is MISSING else value


def resolve_template(template: str, args: Json = None, output: str = "", **more: Any) -> str:
    """A template's text for given arguments and output.

    An unknown filter changes nothing, and a template that cannot be read is its own text.
    """
    scope = Scope(
        args=args if args is not None else {},
        output=output,
        status=more.get("status", ""),
        is_partial=bool(more.get("is_partial")),
        duration_ms=more.get("duration_ms"),
        details=more.get("details"),
        source=more.get("source", "output"),
    )
    try:
        return Resolver(scope, lenient=True).text(template)
    except TemplateError:
        return template
