"""What a display can show: `PresentationContext`, the profiles of known clients, and the display instruction.

A client declares its context; the model reads it as a few lines of its instructions, and every surface is fitted to it.
A context made in Python is not checked; one from a client is read by `from_dict`, which refuses impossible values, and
`warnings_about`, which names the fields without a meaning.
"""

import dataclasses
import re
import reprlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, get_args

from vantage import own_terminal
from vantage.errors import InputError, did_you_mean
from vantage.own_terminal import TRUE_COLOR, OwnTerminal

TableMode = Literal["auto", "wrap", "truncate", "transpose", "records", "off"]

NARROW = 60
"""Below this width, the instruction asks the model not to draw tables."""
COMPACT = 100
"""Below this width, it asks to keep tables small."""
COLOR_DEPTHS = (0, 16, 256, TRUE_COLOR)


@dataclasses.dataclass(frozen=True, slots=True)
class PresentationContext:
    """Display capabilities and constraints of a client."""

    content_width: int = 80
    content_height: int | None = None
    """`None` means that the display scrolls without end."""

    supports_markdown: bool = True
    supports_tables: bool = True
    supports_code_blocks: bool = True
    supports_images: bool = False
    supports_rich_text: bool = True
    supports_unicode: bool = True
    supports_mermaid: bool = False

    client_type: str = "terminal"
    """`terminal`, `web`, `telegram`, `slack`, `api` or a name of the client's own; `mixed` for several at once."""

    max_table_columns: int | None = None
    """Derived from the width when not given: see `table_columns`."""
    table_mode: TableMode = "auto"
    wrap_mode: Literal["hard", "soft"] = "hard"
    """`soft`: the client wraps paragraphs itself."""
    color_depth: int = 256
    """Colours: 0, 16, 256 or 16777216."""
    background: Literal["dark", "light"] = "dark"
    max_message_units: int | None = None
    """The longest message the client takes, in its own units; `None`: no limit."""

    @property
    def table_columns(self) -> int:
        """How many columns a table may have: as the client says, else as its width suggests.

        15 cells a column on a narrow display and 20 on others, in agreement with the advice in the instruction: 3 at
        45, 3 to 4 from 60 to 99, 6 at 120.
        """
        if self.max_table_columns is not None:
            return self.max_table_columns
        return max(1, self.content_width // (15 if self.content_width < NARROW else 20))

    def to_system_instruction(self) -> str:
        """The display in words, for a system prompt: the width, and a line for each missing or special capability."""
        return "\n".join([line.text.format(self) for line in INSTRUCTION if line.applies(self)])

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "PresentationContext":
        """The context that a client sent. Unknown keys are ignored; an impossible value is an `InputError`.

        A `client_type` that names a profile supplies the missing fields. `terminal_width`, the only field of older
        clients, stands for a missing `content_width`. `contentWidth` is read as `content_width`.
        """
        checked = _checked(values)
        base = _PROFILES.get(checked.get("client_type", ""), _DEFAULTS)
        return dataclasses.replace(base, **checked)

    def to_dict(self) -> dict[str, Any]:
        """Every field, ready for JSON and for `from_dict`."""
        return dataclasses.asdict(self)

    def merge(self, *others: "PresentationContext") -> "PresentationContext":
        """The context of what all of them can show: the smallest sizes, the common capabilities.

        Where other fields differ, the table mode is `auto`, the background dark, the client `mixed`. The order of the
        contexts makes no difference.
        """
        contexts = (self, *others)
        merged = {field: combine([getattr(each, field) for each in contexts]) for field, combine in _MERGE.items()}
        if merged["max_table_columns"] is not None:
            # the stated limit of one must not allow more than the width of another does
            merged["max_table_columns"] = min(each.table_columns for each in contexts)
        return PresentationContext(**merged)


class InstructionLine(NamedTuple):
    applies: Callable[[PresentationContext], bool]
    text: str
    """Formatted with the context as `{0}`."""


# The order is part of the contract. Images and mermaid are said when they are there, the rest when it is missing;
# a column limit that was only derived says nothing, the advice for the width has said it.
INSTRUCTION: tuple[InstructionLine, ...] = (
    InstructionLine(lambda _: True, "## Display Context"),
    InstructionLine(lambda _: True, "Output width: {0.content_width} characters."),
    InstructionLine(
        lambda c: c.content_width < NARROW,
        "This is a NARROW display. Avoid markdown tables — use vertical key: value lists instead. "
        "Keep lines under {0.content_width} characters.",
    ),
    InstructionLine(
        lambda c: NARROW <= c.content_width < COMPACT,
        "Prefer compact tables (≤3-4 columns). For wider data, use key: value format.",
    ),
    InstructionLine(lambda c: not c.supports_tables, "Markdown tables are NOT supported. Use lists or indented text."),
    InstructionLine(
        lambda c: not c.supports_code_blocks, "Fenced code blocks are NOT supported. Indent code with 4 spaces."
    ),
    InstructionLine(lambda c: c.supports_images, "Inline images are supported (the client can render them)."),
    InstructionLine(lambda c: not c.supports_markdown, "Markdown is NOT supported. Use plain text only."),
    InstructionLine(lambda c: c.supports_mermaid, "Mermaid diagrams are supported (the client can render them)."),
    InstructionLine(lambda c: not c.supports_unicode, "Unicode is NOT supported. Use ASCII characters only."),
    InstructionLine(
        lambda c: not c.supports_rich_text, "Rich text is NOT supported. Do not use bold, italics or links."
    ),
    InstructionLine(lambda c: c.content_height is not None, "Output height: {0.content_height} lines. Be brief."),
    InstructionLine(
        # a limit on columns would contradict the line that there are no tables
        lambda c: c.max_table_columns is not None and c.supports_tables,
        "Maximum table columns: {0.max_table_columns}.",
    ),
)


WIDE_TABLE = "The last table was too wide and was rewritten: use fewer columns."
"""The instruction's last line after a turn in which the model sent a table that did not fit."""

INSTRUCTED = (
    "content_width",
    "supports_tables",
    "supports_code_blocks",
    "supports_images",
    "supports_markdown",
    "supports_mermaid",
    "supports_unicode",
    "supports_rich_text",
    "content_height",
    "max_table_columns",
)
"""The fields that the instruction speaks of, in its order."""


def _smallest(values: list[int | None]) -> int | None:
    """The smallest limit; `None` is no limit."""
    return min((value for value in values if value is not None), default=None)


def _agreed(otherwise: str) -> Callable[[list[str]], str]:
    """The common value, else `otherwise`."""
    return lambda values: values[0] if len(set(values)) == 1 else otherwise


# field → how the values of several displays become one
_MERGE: dict[str, Callable[[list[Any]], Any]] = {
    "content_width": min,
    "content_height": _smallest,
    "supports_markdown": all,
    "supports_tables": all,
    "supports_code_blocks": all,
    "supports_images": all,
    "supports_rich_text": all,
    "supports_unicode": all,
    "supports_mermaid": all,
    "client_type": _agreed("mixed"),
    "max_table_columns": _smallest,
    "table_mode": _agreed("auto"),
    "wrap_mode": _agreed("hard"),
    "color_depth": min,
    "background": _agreed("dark"),
    "max_message_units": _smallest,
}


class _Rule(NamedTuple):
    accepts: Callable[[Any], bool]
    expected: str


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _count(highest: int, *, or_none: bool = False) -> _Rule:
    return _Rule(
        lambda value: (or_none and value is None) or (_is_int(value) and 1 <= value <= highest),
        f"a whole number from 1 to {highest}" + (" or null" if or_none else ""),
    )


def _one_of(*words: str) -> _Rule:
    return _Rule(lambda value: isinstance(value, str) and value in words, f"one of {', '.join(words)}")


_CELLS = 65_535  # a terminal's size has 16 bits (TIOCGWINSZ)
_FLAG = _Rule(lambda value: isinstance(value, bool), "true or false")

# field → what `from_dict` takes for it
_RULES: dict[str, _Rule] = {
    "content_width": _count(_CELLS),
    "content_height": _count(_CELLS, or_none=True),
    "supports_markdown": _FLAG,
    "supports_tables": _FLAG,
    "supports_code_blocks": _FLAG,
    "supports_images": _FLAG,
    "supports_rich_text": _FLAG,
    "supports_unicode": _FLAG,
    "supports_mermaid": _FLAG,
    "client_type": _Rule(
        lambda value: isinstance(value, str) and 0 < len(value) <= 64 and value.isprintable(),
        "a name of 1 to 64 printable characters",
    ),
    "max_table_columns": _count(_CELLS, or_none=True),
    "table_mode": _one_of(*get_args(TableMode)),
    "wrap_mode": _one_of("hard", "soft"),
    "color_depth": _Rule(lambda value: _is_int(value) and value in COLOR_DEPTHS, "0, 16, 256 or 16777216"),
    "background": _one_of("dark", "light"),
    "max_message_units": _count(2**31 - 1, or_none=True),
}
_DEFAULTS = PresentationContext()


def _checked(values: Mapping[str, Any]) -> dict[str, Any]:
    """The known fields among `values`, each of them possible."""
    if not isinstance(values, Mapping):
        raise InputError(
            f"presentation must be an object, not {_shown(values)}", hint='send its fields, as {"content_width": 80}'
        )
    values = {snake_case(key): value for key, value in values.items()}
    checked = {field: _check(field, rule, values[field]) for field, rule in _RULES.items() if field in values}
    terminal_width = values.get(_TERMINAL_WIDTH)
    if terminal_width is not None:
        checked.setdefault("content_width", _check(_TERMINAL_WIDTH, _RULES["content_width"], terminal_width))
    return checked


_TERMINAL_WIDTH = "terminal_width"
"""Keys that a presentation may have beside its fields: the only one of older clients."""


def snake_case(key: Any) -> Any:
    """`contentWidth` → `content_width`; other keys as they are."""
    return re.sub(r"(?<=[a-z])[A-Z]", lambda found: f"_{found[0].lower()}", key) if isinstance(key, str) else key


def warnings_about(values: Any) -> list[str]:
    """A sentence for every field of a presentation without a meaning, and for a misspelt profile name."""
    if not isinstance(values, Mapping):
        return []
    unknown = [key for key in values if snake_case(key) not in _RULES and snake_case(key) != _TERMINAL_WIDTH]
    said = [
        f"presentation has no field {_shown(key)}, it was ignored: {did_you_mean(str(key), _RULES)}" for key in unknown
    ]
    stated = values.get("client_type", values.get("clientType"))
    if isinstance(stated, str) and stated not in PROFILES:
        hint = did_you_mean(stated, PROFILES, otherwise="", cutoff=_MISSPELT)
        if hint:
            said.append(f"client_type {_shown(stated)} is no profile: {hint}")
    return said


_MISSPELT = 0.8
"""How similar an unknown client name must be to a profile's name to count as misspelt."""


def _check(field: str, rule: _Rule, value: Any) -> Any:
    if rule.accepts(value):
        return value
    default = getattr(_DEFAULTS, "content_width" if field == _TERMINAL_WIDTH else field)
    fallback = "null" if default is None else str(default).lower()
    raise InputError(
        f"{field} must be {rule.expected}, not {_shown(value)}", hint=f"leave it out for the default, {fallback}"
    )


def _shown(value: Any) -> str:
    """The value for an error message, shortened."""
    try:
        return reprlib.repr(value)
    except ValueError:  # an integer with more digits than Python prints
        return f"a very long {type(value).__name__}"


MARGIN = 6
"""Cells of a terminal's width that bullets, indents and borders take."""
MIN_CONTENT_WIDTH = 20

_PROFILES: dict[str, PresentationContext] = {
    "telegram": PresentationContext(
        content_width=45,
        supports_tables=False,
        supports_images=True,
        client_type="telegram",
        wrap_mode="soft",
        color_depth=0,
        max_message_units=4096,
    ),
    "web": PresentationContext(
        content_width=100,
        supports_images=True,
        supports_mermaid=True,
        client_type="web",
        wrap_mode="soft",
        color_depth=TRUE_COLOR,
    ),
    "slack": PresentationContext(
        content_width=80,
        supports_tables=False,
        supports_images=True,
        client_type="slack",
        wrap_mode="soft",
        color_depth=0,
        # The sum over a message's markdown blocks; with other blocks it may be a little more.
        max_message_units=12_000,
    ),
    "api": PresentationContext(
        content_width=120,
        supports_markdown=False,
        supports_tables=False,
        supports_code_blocks=False,
        client_type="api",
        color_depth=0,
    ),
}
PROFILES = ("terminal", *_PROFILES)


def terminal_context(terminal: OwnTerminal) -> PresentationContext:
    """A terminal's context. Mermaid needs graphics; a very small window is treated as 20 cells wide."""
    return PresentationContext(
        content_width=max(terminal.columns - MARGIN, MIN_CONTENT_WIDTH),
        supports_unicode=terminal.unicode,
        supports_mermaid=terminal.sixel,
        client_type="terminal",
        color_depth=terminal.color_depth,
        background=terminal.background,
    )


def profile(name: str, **overrides: Any) -> PresentationContext:
    """The context of a known client, with some fields replaced. `terminal` is the one of this process."""
    if name not in PROFILES:
        raise InputError(f"no profile is called {_shown(name)}", hint=did_you_mean(str(name), PROFILES))
    for field in overrides:
        if field not in _RULES:
            raise InputError(f"a presentation has no field {_shown(field)}", hint=did_you_mean(field, _RULES))
    base = _PROFILES.get(name) or terminal_context(own_terminal.read())
    return dataclasses.replace(base, **_checked(overrides))


def system_instructions(
    parts: Mapping[str, str | None] | Iterable[tuple[str, str | None]],
    additional: str | None = None,
    presentation: PresentationContext | None = None,
    *,
    wide_table: bool = False,
) -> str:
    """An agent's instructions: the sections of `parts` in order, with a blank line between them.

    `wide_table`: the agent's last turn had a table wider than the display, and the display section says so.

    Two sections are placed among the others: base · session · **additional** · plugins · formatting · **display** ·
    task completion. A missing or empty section leaves no gap; one of another name stays where it is.
    """
    given = parts.items() if isinstance(parts, Mapping) else parts
    sections = [(_section(name), text.strip()) for name, text in given if text and text.strip()]
    if additional and additional.strip():
        _place(sections, "additional", additional.strip())
    if presentation is not None:
        display = presentation.to_system_instruction()
        _place(sections, "display", f"{display}\n{WIDE_TABLE}" if wide_table else display)
    return "\n\n".join([text for _, text in sections])


# section → (the sections it follows, the sections it precedes when none of those is there)
_PLACES = {
    "additional": (("base", "session"), ("plugins", "formatting", "task_completion")),
    "display": (("formatting",), ("task_completion",)),
}


# how a section's name begins → what it is called in `_PLACES`
_SECTIONS = {
    "base": "base",
    "session": "session",
    "plugin": "plugins",
    "format": "formatting",
    "task_completion": "task_completion",
    "completion": "task_completion",
}


def _section(name: str) -> str:
    """The section that is meant, in any spelling: `Formatting advice`, `task-completion`."""
    word = name.strip().lower().replace("-", "_").replace(" ", "_")
    return next((section for start, section in _SECTIONS.items() if word.startswith(start)), word)


def _place(sections: list[tuple[str, str]], block: str, text: str) -> None:
    after, before = _PLACES[block]
    names = [name for name, _ in sections]
    following = [index + 1 for index, name in enumerate(names) if name in after]
    preceding = [index for index, name in enumerate(names) if name in before]
    sections.insert(following[-1] if following else preceding[0] if preceding else len(sections), (block, text))
