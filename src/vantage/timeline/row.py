"""A row is one thing that happened, ready to be drawn by any surface: a head, and blocks below it.

Surfaces draw rows and never ask which tool, presenter or spec made them. Text in rows is not sanitised: surfaces do
that, so that a copy button has the original.
"""

from collections.abc import Callable
from typing import Literal

import msgspec

from vantage.presentation import PresentationContext
from vantage.text.spans import Line, Span, text_of
from vantage.text.style import ACCENT, NORMAL, VERB, Style
from vantage.timeline.request_card import RequestCard

Status = Literal["none", "running", "waiting", "ok", "warning", "error"]
"""`none` for what has no outcome: messages, reasoning, notices. `waiting` is for a person."""

Kind = Literal["message", "reasoning", "user", "tool", "request", "notice", "event"]


Capability = Literal["markdown", "tables", "code_blocks", "images", "rich_text", "unicode", "mermaid", "color"]


class Action(msgspec.Struct, frozen=True):
    """What a person can do with a block. Clients do the first three themselves; `send` is an id for the server."""

    type: Literal["copy", "open", "goto", "send"]
    value: str = ""
    """The text to copy, the address to open, the row to go to, or the action's id."""
    label: str = ""


class _Block(msgspec.Struct, frozen=True, kw_only=True):
    """What every block may carry; render specs set it."""

    spoken: str = ""
    """What a screen reader says of the block."""
    actions: list[Action] = []
    requires: list[Capability] = []
    """What a display must be able to show; otherwise the fallback is drawn."""
    fallback: "Block | None" = None
    """`None` draws nothing in the block's place."""


class TextBlock(_Block, frozen=True, tag="text"):
    content: str
    style: Literal["default", "monospace", "error", "dim", "accent"] = "default"


class MarkdownBlock(_Block, frozen=True, tag="markdown"):
    content: str
    italic: bool = False
    """Set for reasoning, which is drawn in italics throughout."""
    growing: bool = False
    """More text is expected: a table that has not ended is held back, on every surface."""


class CodeBlock(_Block, frozen=True, tag="code"):
    content: str
    language: str = ""
    start_line: int | None = None
    """Shows a gutter that counts from here."""


class KeyValueBlock(_Block, frozen=True, tag="kv"):
    pairs: list[tuple[str, str]]


class BadgesBlock(_Block, frozen=True, tag="badges"):
    items: list[str]
    color: str = "blue"


class ListItem(msgspec.Struct, frozen=True):
    title: str
    status: str = ""
    subtitle: str = ""


class ListBlock(_Block, frozen=True, tag="list"):
    items: list[ListItem]
    max_items: int | None = None
    """More are counted: `+N more`."""


class AnsiBlock(_Block, frozen=True, tag="ansi"):
    """Text that may carry SGR colours, and no other control."""

    content: str


class OutputBlock(_Block, frozen=True, tag="output"):
    """A program's output: its first lines, and how many more there are."""

    content: str
    max_lines: int | None = 5
    error: bool = False
    """The words of a failure, drawn in red."""


class DiffLine(msgspec.Struct, frozen=True):
    sign: Literal[" ", "+", "-"]
    text: str
    number: int | None = None
    """In the old file for deletions, in the new one otherwise; `None` when the patch does not say."""


class FileDiff(msgspec.Struct, frozen=True):
    path: str
    action: Literal["Edit", "Add", "Delete", "Rename"] = "Edit"
    new_path: str = ""
    """The new path of a renamed file."""
    hunks: list[list[DiffLine]] = []
    note: str = ""
    """A remark beside the path: `replace all`, `binary`."""


class DiffBlock(_Block, frozen=True, tag="diff"):
    files: list[FileDiff]
    is_row: bool = False
    """The row is this diff: its title only repeats the files' heads."""


class ChecklistItem(msgspec.Struct, frozen=True):
    text: str
    status: Literal["pending", "in_progress", "completed"] = "pending"


class ChecklistBlock(_Block, frozen=True, tag="checklist"):
    items: list[ChecklistItem]
    overview: str = ""


class TableBlock(_Block, frozen=True, tag="table"):
    header: list[str]
    rows: list[list[str]]


class ImageBlock(_Block, frozen=True, tag="image"):
    source: str
    """An asset id of the conversation, or a small raster `data:` URI; never a remote address."""
    alt: str = ""


class ProgressBlock(_Block, frozen=True, tag="progress"):
    value: float
    """From 0 to 1."""
    label: str = ""


class TerminalBlock(_Block, frozen=True, tag="terminal"):
    """A command block of the conversation's terminal."""

    block_id: str
    content: str = ""


class SectionBlock(_Block, frozen=True, tag="section"):
    """Blocks under a heading."""

    title: str
    blocks: list["Block"]


class RequestBlock(_Block, frozen=True, tag="request"):
    """What can be answered to a request, or how it ended."""

    card: RequestCard


Block = (
    TextBlock
    | MarkdownBlock
    | CodeBlock
    | KeyValueBlock
    | BadgesBlock
    | ListBlock
    | AnsiBlock
    | OutputBlock
    | DiffBlock
    | ChecklistBlock
    | TableBlock
    | ImageBlock
    | ProgressBlock
    | TerminalBlock
    | SectionBlock
    | RequestBlock
)


class Row(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    kind: Kind
    status: Status = "none"
    title: Line = []
    """The head: what happened, in semantic styles. Empty for messages, whose blocks begin on the bullet's line."""
    blocks: list[Block] = []
    depth: int = 0
    """0 for the root agent; sub-agents are indented."""
    agent: str = ""
    by: str = ""
    """Who sent the message: `client:<id>`, `bot:<name>:<person>` or `cli`."""
    icon: str = ""
    """A name of the icon vocabulary; empty draws the bullet."""
    icon_color: str = ""
    trailing: str = ""
    """Text at the right end of the head."""
    cut_title: str = ""
    """How a head that is too long is cut to one line, `tail` or `middle`; empty wraps it."""
    begin: int | None = None
    """The number of the event that the row began with."""
    seq: int | None = None
    """The number of the last event that changed the row."""
    ts: int | None = None
    duration_ms: int | None = None
    tool: str = ""
    diagnostics: list[str] = []
    """Why the row looks different than expected: a presenter that failed, a spec that was refused."""

    @property
    def text(self) -> str:
        """The head as plain text."""
        return text_of(self.title)

    @property
    def request(self) -> RequestCard | None:
        """What the row of a request asks, for clients that answer."""
        return next((block.card for block in self.blocks if isinstance(block, RequestBlock)), None)


_HAS: dict[Capability, Callable[[PresentationContext], bool]] = {
    "markdown": lambda context: context.supports_markdown,
    "tables": lambda context: context.supports_tables,
    "code_blocks": lambda context: context.supports_code_blocks,
    "images": lambda context: context.supports_images,
    "rich_text": lambda context: context.supports_rich_text,
    "unicode": lambda context: context.supports_unicode,
    "mermaid": lambda context: context.supports_mermaid,
    "color": lambda context: context.color_depth > 0,
}


def shown_blocks(blocks: list[Block], context: PresentationContext) -> list[Block]:
    """The blocks that a display draws: those that it can show, and the fallbacks of the others."""
    if not any(block.requires for block in blocks):
        return blocks
    out: list[Block] = []
    for block in blocks:
        chosen: Block | None = block
        while chosen is not None and not all(name in _HAS and _HAS[name](context) for name in chosen.requires):
            chosen = chosen.fallback
        if chosen is not None:
            out.append(chosen)
    return out


IN = Span("in", ACCENT)
"""The word between what was done and where."""


def head(verb: str, *rest: str | Span, style: Style = VERB) -> Line:
    """A head: the verb, then its objects, a space between them; empty ones are left out."""
    line = [Span(verb, style)]
    for part in rest:
        span = Span(part) if isinstance(part, str) else part
        if span.text:
            line += [Span(" ", NORMAL), span]
    return line


def file_head(file: FileDiff) -> Line:
    """`Edit some/file.go → some/other.go`."""
    line = head(file.action, file.path)
    if file.new_path:
        line += [Span(" "), Span("→", ACCENT), Span(" "), Span(file.new_path)]
    if file.note:
        line += [Span(" "), Span(f"({file.note})", ACCENT)]
    return line
