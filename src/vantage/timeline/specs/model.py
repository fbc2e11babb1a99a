"""The shape of a render spec, as an extension author writes it.

Field names are those of the JSON. A string marked as a template may hold `{{…}}`; everything else is literal.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from vantage.events import Json
from vantage.timeline.row import Capability

SPEC_VERSION = 1
MAX_BYTES = 32 * 1024
MAX_BLOCKS = 64
MAX_LEVELS = 100
"""Nesting of a spec as JSON."""
MAX_DEPTH = 4

Template = Annotated[str, Meta(description="Text with {{path | filter}} in it", extra={"template": True})]
ThemeColor = Literal[
    "fg", "dim", "comment", "red", "green", "yellow", "blue", "cyan", "purple", "orange",
    "success", "warning", "danger", "muted", "accent",
]  # fmt: skip


class When(msgspec.Struct, frozen=True, kw_only=True):
    """A condition on one value; with neither `eq` nor `ne` it must be there and not empty."""

    path: Annotated[str, Meta(description="A path such as output.error", extra={"path": True})]
    eq: Json = msgspec.UNSET
    ne: Json = msgspec.UNSET


class ActionSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What a person can do with a block: `copy`, `open` and `goto` happen on the client, `send` tells the server."""

    type: Literal["copy", "open", "goto", "send"]
    label: Template = ""
    value: Template = ""
    """What is copied, the address that is opened, the row that is gone to, or the action's own id."""


class Accessibility(msgspec.Struct, frozen=True, kw_only=True):
    label: Template


class _Block(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", rename="camel"):
    when: Template | When | None = None
    """Drawn only when this holds."""
    fallback: "BlockSpec | Literal['drop'] | None" = None
    """Drawn instead where the block cannot be: an unknown type or filter, or a capability that is missing."""
    requires: list[Capability] = []
    actions: list[ActionSpec] = []
    accessibility: Accessibility | None = None


class TextSpec(_Block, frozen=True, kw_only=True, tag="text"):
    content: Template
    style: Literal["default", "monospace", "error", "dim"] = "default"


class MarkdownSpec(_Block, frozen=True, kw_only=True, tag="markdown"):
    content: Template


class CodeSpec(_Block, frozen=True, kw_only=True, tag="code", rename="camel"):
    content: Template
    language: Template = ""
    start_line: int | Template | None = None
    """Shows a gutter that counts from here."""


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    key: Template
    value: Template


class KeyValueSpec(_Block, frozen=True, kw_only=True, tag="kv"):
    pairs: list[Pair]


class BadgesSpec(_Block, frozen=True, kw_only=True, tag="badges"):
    items: Template
    """An array, or text with commas between the badges."""
    color: ThemeColor = "blue"


class ListSpec(_Block, frozen=True, kw_only=True, tag="list", rename="camel"):
    items: Template
    """An array of objects."""
    title_field: str
    status_field: str | None = None
    subtitle_field: str | None = None
    max_items: Annotated[int, Meta(ge=0)] | None = None


class AnsiSpec(_Block, frozen=True, kw_only=True, tag="ansi"):
    content: Template


class DiffSpec(_Block, frozen=True, kw_only=True, tag="diff"):
    content: Template
    """A unified diff or a `*** Begin Patch` text."""


class Column(msgspec.Struct, frozen=True, kw_only=True):
    field: str
    title: str | None = None
    """The field's name when not given."""


class TableSpec(_Block, frozen=True, kw_only=True, tag="table"):
    items: Template
    """An array of objects, or of arrays."""
    columns: list[Column] = []
    """All fields of the first object when not given."""


class ProgressSpec(_Block, frozen=True, kw_only=True, tag="progress"):
    value: Template
    """From 0 to 1, or from 0 to `total`."""
    total: Template = ""
    label: Template = ""


class ImageSpec(_Block, frozen=True, kw_only=True, tag="image"):
    source: Template
    """An asset of the conversation by its id, or a small raster `data:` address; never a remote one."""
    alt: Template


class TerminalSpec(_Block, frozen=True, kw_only=True, tag="terminal", rename="camel"):
    block_id: Template


class SectionSpec(_Block, frozen=True, kw_only=True, tag="section"):
    title: Template = ""
    blocks: list["BlockSpec"]


class UnknownSpec(_Block, frozen=True, kw_only=True, tag="unknown"):
    """A block of a newer spec: only its fallback can be drawn."""

    name: str = ""


BlockSpec = (
    TextSpec
    | MarkdownSpec
    | CodeSpec
    | KeyValueSpec
    | BadgesSpec
    | ListSpec
    | AnsiSpec
    | DiffSpec
    | TableSpec
    | ProgressSpec
    | ImageSpec
    | TerminalSpec
    | SectionSpec
    | UnknownSpec
)


class Collapsed(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The row as one line: icon, title, and what stands at its right end."""

    title: Template
    icon: str = ""
    """A name of the icon vocabulary or of an SF Symbol; an unknown one is a dot."""
    icon_color: ThemeColor | None = None
    trailing: Template = ""
    title_line_break: Literal["truncateTail", "truncateMiddle"] = "truncateTail"


class Expanded(msgspec.Struct, frozen=True, kw_only=True):
    blocks: list[BlockSpec]
    source: Literal["args", "output"] = "output"
    """What bare paths resolve against."""


class RenderSpec(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    collapsed: Collapsed
    expanded: Expanded | None = None
    spec_version: int = SPEC_VERSION
