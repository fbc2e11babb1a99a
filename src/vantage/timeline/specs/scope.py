"""The values of a call that templates can read, and the resolving of templates, within limits that are counted and not
timed.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from vantage.events import Json
from vantage.timeline.calls import ToolCall, parse_json
from vantage.timeline.specs.filters import FILTERS, text_value
from vantage.timeline.specs.template import MISSING, Expression, Template, TemplateError, read_template, walk

MAX_BLOCK_TEXT = 64 * 1024
MAX_ROW_TEXT = 256 * 1024
MAX_ITEMS = 200
MAX_WORK = 8 * 1024
"""The cost limit of a row's expressions together: a value costs 1, and 1 more for every 512 characters in it."""


class UnsupportedError(Exception):
    """A spec uses something that this version does not know: a block type, a filter."""


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
        match path:
            case ("args", *rest):
                return walk(self.args, rest)
            case ("output",):
                return self.output
            case ("output", *rest):
                return walk(self.parsed, rest)
            case ("details", *rest):
                return walk(self.details, rest)
            case ("status",):
                return self.status
            case ("isPartial",):
                return self.is_partial
            case ("durationMs",):
                return self.duration_ms
        return walk(self.args if self.source == "args" else self.parsed, path)


def _cost(value: Json, limit: int) -> int:
    """The cost of walking a value, counted no further than just over the limit."""
    cost = 0
    waiting = [value]
    while waiting and cost <= limit:
        one = waiting.pop()
        cost += 1
        if isinstance(one, str):
            cost += len(one) >> 9
        elif isinstance(one, dict):
            waiting.extend(one.values() if len(one) <= limit else list(one.values())[: limit + 1])
        elif isinstance(one, list):
            waiting.extend(one if len(one) <= limit else one[: limit + 1])
    return cost


class Resolver:
    """Resolves the templates of one row. Text that is too long is cut, with a remark in `notes`."""

    def __init__(self, scope: Scope, *, lenient: bool = False) -> None:
        self.scope = scope
        self._lenient = lenient
        """Whether an unknown filter is skipped instead of being an error."""
        self.notes: list[str] = []
        self.steps = 0
        """Expressions and filters evaluated."""
        self._work = MAX_WORK
        self._left = MAX_ROW_TEXT

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    @contextmanager
    def unnoted(self) -> Iterator[None]:
        """Evaluation leaves no notes inside it."""
        kept = list(self.notes)
        yield
        self.notes = kept

    def value(self, template: str) -> Json:
        """The value of a template. A single expression keeps its value's type; other templates are text."""
        read = read_template(template)
        only = read.only_expression
        return self._evaluate(only) if only is not None else self._join(read)

    def text(self, template: str) -> str:
        return self.cut(self._join(read_template(template)))

    def cut(self, text: str) -> str:
        """Text within what is left for the block and the row."""
        if not text:
            return text
        room = min(MAX_BLOCK_TEXT, self._left)
        if len(text) > room:
            self.note(f"a text was cut: a block holds {MAX_BLOCK_TEXT} characters, a row {MAX_ROW_TEXT}")
            text = text[: max(room - 1, 0)] + "…" if room > 0 else ""
        self._left -= len(text)
        return text

    def take(self, items: list[Json], most: int) -> list[Json]:
        """The first elements of an array, as many as may be drawn; each adds to the row's cost."""
        taken = items[: max(min(most, self._work), 0)]
        self._work -= 8 * len(taken)
        return taken

    def _join(self, template: Template) -> str:
        out: list[str] = []
        length = 0
        for part in template.parts:
            piece = part if isinstance(part, str) else self._text_of(self._evaluate(part))
            out.append(piece)
            length += len(piece)
            if length > MAX_ROW_TEXT:
                break
        return "".join(out)

    def _text_of(self, value: Json) -> str:
        return value if isinstance(value, str) else text_value(value) if self._afford(value) else ""

    def _evaluate(self, expression: Expression) -> Json:
        if self._work < 0:
            return None
        self.steps += 1
        value = self.scope.look_up(expression.path)
        if value is MISSING and not any(call.name == "default" for call in expression.filters):
            self.note(f"nothing at {expression.source or '.'.join(map(str, expression.path))}")
        for call in expression.filters:
            known = FILTERS.get(call.name)
            if known is None:
                if not self._lenient:
                    raise UnsupportedError(f"there is no filter {call.name!r}")
                self.note(f"there is no filter {call.name!r}")
                continue
            self.steps += 1
            if not self._afford(value):
                return None
            value = known.apply(value, *call.arguments[: known.most])
        return None if value is MISSING else value

    def _afford(self, value: Json) -> bool:
        """Whether the row's allowance covers walking a value. So its cost is bounded, whatever its spec says."""
        self._work -= _cost(value, self._work)
        if self._work < 0:
            self.note("the spec asks for too much: what came after is left out")
        return self._work >= 0


def resolve_template(template: str, args: Json = None, output: str = "", **more: Any) -> str:
    """A template's text for given arguments and output.

    An unknown filter changes nothing, and an unreadable template is its own text.
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
