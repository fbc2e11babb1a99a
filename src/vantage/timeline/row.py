"""A row is one thing that happened, ready to be drawn by any surface: a head, and blocks below it.

Surfaces draw rows and never ask which tool, presenter or spec made them. Text in rows is as it came; surfaces
sanitise what they draw, so that a copy button still has the original.
"""

from typing import Literal

import msgspec

from vantage.text.spans import Line, Span, text_of
from vantage.text.style import ACCENT, NORMAL, VERB, Style

Status = Literal["none", "running", "ok", "error"]
"""`none` for what has no outcome: messages, reasoning, notices."""

Kind = Literal["message", "reasoning", "user", "tool", "notice", "event"]


class TextBlock(msgspec.Struct, frozen=True, tag="text"):
    content: str
    style: Literal["default", "monospace", "error", "dim", "accent"] = "default"


class MarkdownBlock(msgspec.Struct, frozen=True, tag="markdown"):
    content: str
    italic: bool = False
    """Set for reasoning, which is drawn in italics throughout."""


class CodeBlock(msgspec.Struct, frozen=True, tag="code"):
    content: str
    language: str = ""
    start_line: int | None = None
    """Shows a gutter that counts from here."""


class KeyValueBlock(msgspec.Struct, frozen=True, tag="kv"):
    pairs: list[tuple[str, str]]


class BadgesBlock(msgspec.Struct, frozen=True, tag="badges"):
    items: list[str]
    color: str = "blue"


class ListItem(msgspec.Struct, frozen=True):
    title: str
    status: str = ""
    subtitle: str = ""


class ListBlock(msgspec.Struct, frozen=True, tag="list"):
    items: list[ListItem]
    max_items: int | None = None
    """More are counted: `+N more`."""


class AnsiBlock(msgspec.Struct, frozen=True, tag="ansi"):
    """Text that may carry SGR colours, and no other control."""

    content: str


class OutputBlock(msgspec.Struct, frozen=True, tag="output"):
    """What a program printed: its first lines, and how many more there are."""

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
    """Where the file went, for renames."""
    hunks: list[list[DiffLine]] = []
    note: str = ""
    """Said beside the path: `replace all`, `binary`."""


class DiffBlock(msgspec.Struct, frozen=True, tag="diff"):
    files: list[FileDiff]


class ChecklistItem(msgspec.Struct, frozen=True):
    text: str
    status: Literal["pending", "in_progress", "completed"] = "pending"


class ChecklistBlock(msgspec.Struct, frozen=True, tag="checklist"):
    items: list[ChecklistItem]
    overview: str = ""


class TableBlock(msgspec.Struct, frozen=True, tag="table"):
    header: list[str]
    rows: list[list[str]]


class ImageBlock(msgspec.Struct, frozen=True, tag="image"):
    source: str
    """An asset id of the conversation, or a small raster `data:` URI; never a remote address."""
    alt: str = ""


class ProgressBlock(msgspec.Struct, frozen=True, tag="progress"):
    value: float
    """From 0 to 1."""
    label: str = ""


class TerminalBlock(msgspec.Struct, frozen=True, tag="terminal"):
    """A command block of the conversation's terminal."""

    block_id: str
    content: str = ""


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
    icon: str = ""
    """A name of the icon vocabulary; empty draws the bullet."""
    icon_color: str = ""
    trailing: str = ""
    """Said at the right end of the head."""
    cut_title: Literal["", "tail", "middle"] = ""
    """How a head that is too long is cut to one line; empty wraps it."""
    seq: int | None = None
    """Of the last event that changed the row."""
    ts: int | None = None
    duration_ms: int | None = None
    tool: str = ""
    diagnostics: list[str] = []
    """Why the row looks other than it might: a presenter that failed, a spec that was refused."""

    @property
    def text(self) -> str:
        """The head as plain text."""
        return text_of(self.title)


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
