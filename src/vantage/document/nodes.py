"""The parts of a document. Blocks stand below each other; inline parts run within a block.

Inline text is flat: nesting (`**bold *and italic***`) is a set of marks on each run, and a link is a value that its
runs share. Every surface needs exactly that, and wrapping becomes slicing. Text in nodes is the author's; surfaces
sanitise what they draw.
"""

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

STRONG, EMPHASIS, STRIKE, CODE, MATH, HTML = 1, 2, 4, 8, 16, 32
"""Marks of a `Text` run, combined with `|`. HTML is markup shown as text, never interpreted."""

_LANGUAGE = re.compile(r"[\w+#.-]*")
"""An info string that is nothing but a language's name."""

Align = Literal["none", "left", "center", "right"]


class Link(msgspec.Struct, frozen=True):
    url: str
    title: str = ""


class Text(msgspec.Struct, frozen=True, tag="text"):
    text: str
    marks: int = 0
    link: Link | None = None


class Break(msgspec.Struct, frozen=True, tag="break"):
    """A line end inside a block: `hard` must be kept, a soft one is a space."""

    hard: bool = False


class Image(msgspec.Struct, frozen=True, tag="image"):
    alt: str
    url: str
    title: str = ""
    link: Link | None = None


class FootnoteRef(msgspec.Struct, frozen=True, tag="footnote_ref"):
    label: str


Inline = Text | Break | Image | FootnoteRef


class Paragraph(msgspec.Struct, frozen=True, tag="paragraph"):
    content: list[Inline]


class Heading(msgspec.Struct, frozen=True, tag="heading"):
    level: int
    content: list[Inline]


class CodeBlock(msgspec.Struct, frozen=True, tag="code_block"):
    text: str
    """Without the final newline."""
    language: str = ""
    """The first word of the info string."""
    info: str = ""
    fenced: bool = True

    @property
    def caption(self) -> str:
        """The rest of the info string after the language: a file's name, a title."""
        info = self.info.strip()
        return "" if _LANGUAGE.fullmatch(info) else info


class MathBlock(msgspec.Struct, frozen=True, tag="math_block"):
    """A `$$…$$` formula in a block of its own."""

    text: str


class HtmlBlock(msgspec.Struct, frozen=True, tag="html_block"):
    text: str


class Rule(msgspec.Struct, frozen=True, tag="rule"):
    pass


class Quote(msgspec.Struct, frozen=True, tag="quote"):
    children: list["Block"]
    alert: str = ""
    """`note`, `tip`, `important`, `warning` or `caution` for GitHub's alerts."""


class Item(msgspec.Struct, frozen=True, tag="item"):
    children: list["Block"]
    checked: bool | None = None
    """A task's state; `None` when it is not a task."""


class ListBlock(msgspec.Struct, frozen=True, tag="list"):
    items: list[Item]
    start: int | None = None
    """The first number of an ordered list; `None` for bullets."""
    tight: bool = True


class Cell(msgspec.Struct, frozen=True, tag="cell"):
    content: list[Inline]


class Table(msgspec.Struct, frozen=True, tag="table"):
    header: list[Cell]
    rows: list[list[Cell]]
    """Every row has as many cells as the header."""
    alignments: list[Align]
    widths: list[int] | None = None
    """Cells per column once fitted; `None` means as wide as its content. Longer cells wrap, or `truncate` cuts them."""
    truncate: bool = False


class Records(msgspec.Struct, frozen=True, tag="records"):
    """A table that did not fit, as `key: value` blocks, one per row."""

    records: list[list[tuple[list[Inline], list[Inline]]]]


class FootnoteDef(msgspec.Struct, frozen=True, tag="footnote_def"):
    label: str
    children: list["Block"]


Block = (
    Paragraph | Heading | CodeBlock | MathBlock | HtmlBlock | Rule | Quote | ListBlock | Table | Records | FootnoteDef
)


def plain_text(content: list[Inline]) -> str:
    """The words of inline parts, without marks."""
    out = []
    for part in content:
        if isinstance(part, Text):
            out.append(part.text)
        elif isinstance(part, Break):
            out.append("\n" if part.hard else " ")
        elif isinstance(part, Image):
            out.append(part.alt)
        else:
            out.append(f"[{part.label}]")
    return "".join(out)


def link_groups(content: list[Inline]) -> Iterator[tuple[Link | None, list[Inline]]]:
    """The parts in groups that share a link, or that have none. A break inside a link belongs to it."""
    group: list[Inline] = []
    link: Link | None = None
    for part in content:
        if isinstance(part, Break) and link is not None:
            part_link: Link | None = link
        else:
            part_link = part.link if isinstance(part, Text | Image) else None
        if part_link is not link:
            if group:
                yield link, group
            group, link = [], part_link
        group.append(part)
    if group:
        yield link, group


def table_chrome(columns: int) -> int:
    """Cells that a drawn table's borders and padding take: `│ a │ b │`."""
    return 3 * columns + 1
