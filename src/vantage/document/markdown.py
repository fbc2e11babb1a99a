"""Markdown → nodes. `parse` takes any text and never raises; every word that CommonMark would show is in some node.

The parser's events are folded with an explicit stack, without recursion: a block that is nested deeper than `MAX_DEPTH`
joins the block around it.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

import pyromark

from vantage.document.autolink import split_addresses
from vantage.document.nodes import (
    CODE,
    EMPHASIS,
    HTML,
    MATH,
    STRIKE,
    STRONG,
    Align,
    Block,
    Break,
    Cell,
    CodeBlock,
    FootnoteDef,
    FootnoteRef,
    Heading,
    HtmlBlock,
    Image,
    Inline,
    Item,
    Link,
    ListBlock,
    MathBlock,
    Paragraph,
    Quote,
    Rule,
    Table,
    Text,
    plain_text,
)
from vantage.document.repair import repaired
from vantage.document.runs import HARD, SOFT, is_formula, tidy

MAX_DEPTH = 40

PARSER = pyromark.Markdown(
    options=pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_MATH
    | pyromark.Options.ENABLE_GFM
)

_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_BREAK = re.compile(r"</?br\s*/?>", re.IGNORECASE)
_RULE, _EMPTY_CELL = Rule(), Cell([])


def parse(text: str) -> list[Block]:
    """The blocks of a document."""
    return parse_normal(normal(text))


def normal(text: str) -> str:
    """Text in the form that the parser takes: lines end with `\\n`, invalid characters are U+FFFD."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    if not text.isascii() and _SURROGATE.search(text):
        # Surrogate halves that a decoder left apart are joined into one character.
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def parse_normal(text: str) -> list[Block]:
    """`parse` for text that is `normal` already."""
    return _build(PARSER.events(repaired(text, PARSER)))


class _Open:
    """A container whose end has not come yet."""

    __slots__ = ("checked", "flat", "items", "loose", "outer", "value")

    def __init__(self, outer: list[Block], value: Any, flat: bool) -> None:
        self.outer = outer
        """The blocks that the container will be appended to."""
        self.value = value
        self.flat = flat
        """Too deep: its blocks are the outer ones."""
        self.items: list[Item] = []
        self.loose = False
        self.checked: bool | None = None


class _State:
    __slots__ = (
        "aligns", "blocks", "formulas", "images", "info", "item", "link", "links", "marks", "out", "outer_marks",
        "raw", "row", "rows", "stack", "untidy",
    )  # fmt: skip

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        """The list that gets the next block."""
        self.stack: list[_Open] = []
        self.item: _Open | None = None
        """The innermost container, when it is a list's item."""
        self.out: list[Inline] = []
        """The inline parts read so far, one list for all. Between blocks it is empty, but for a tight item's text."""
        self.images: list[tuple[int, Any]] = []
        """Where in `out` the images being read start, and their values."""
        self.links: list[tuple[Link | None, int]] = []
        self.link: Link | None = None
        self.marks = 0
        self.outer_marks: list[int] = []
        self.formulas: list[str] = []
        self.untidy = False
        self.raw: list[str] | None = None
        """The lines of a code or HTML block."""
        self.info: str | None = None
        self.aligns: list[Align] = []
        self.rows: list[list[Cell]] = []
        self.row: list[Cell] = []


def _build(events: Iterable[Any]) -> list[Block]:
    state = _State()
    out = state.out
    start, end, leaf, bare = _START.get, _END.get, _LEAF.get, _BARE.get
    for event in events:
        if event.__class__ is str:
            handle = bare(event)
            value = None
        else:
            # Every event is a fresh dict with one entry; taking it out is the fastest way to both key and value.
            kind, value = event.popitem()
            if kind == "Text":
                if state.raw is not None:
                    state.raw.append(value)
                elif ("://" in value or "www." in value) and state.link is None:
                    out += split_addresses(value, state.marks)
                else:
                    out.append(Text(value, state.marks, state.link))
                continue
            if kind == "Start":
                if value.__class__ is str:
                    handle = start(value)
                else:
                    kind, value = value.popitem()
                    handle = start(kind)
            elif kind == "End":
                if value.__class__ is str:
                    handle = end(value)
                else:
                    kind, value = value.popitem()
                    handle = end(kind)
            else:
                handle = leaf(kind, _unknown)
        # A tag without a handler has no node of its own: its content is added to the node around it.
        if handle is not None:
            handle(state, value)
    _flush(state)
    return state.blocks


def _unknown(state: _State, value: Any) -> None:
    if isinstance(value, str):
        state.out.append(Text(value, state.marks, state.link))
        state.untidy = True


def _content(state: _State) -> list[Inline]:
    content = state.out[:]
    state.out.clear()
    if state.untidy:
        state.untidy = False
        return tidy(content)
    return content


def _flush(state: _State) -> None:
    """Ends the text of a tight item, which comes without a paragraph."""
    if state.out:
        _end_paragraph(state, None)


def _start_paragraph(state: _State, _: Any) -> None:
    if state.out:
        _end_paragraph(state, None)
    if state.item is not None:
        state.item.loose = True


def _end_paragraph(state: _State, _: Any) -> None:
    content = _content(state)
    formulas = state.formulas
    if formulas:
        state.formulas = []
        shown = [part for part in content if part.__class__ is not Break]
        if len(formulas) == len(shown) and all(getattr(part, "link", None) is None for part in shown):
            state.blocks += [MathBlock(formula) for formula in formulas]
            return
    state.blocks.append(Paragraph(content))


def _end_heading(state: _State, value: str) -> None:
    state.formulas = []
    state.blocks.append(Heading(int(value[1:]), _content(state)))


def _open(state: _State, value: Any, levels: int = 1) -> _Open:
    _flush(state)
    opened = _Open(state.blocks, value, len(state.stack) + levels > MAX_DEPTH)
    state.stack.append(opened)
    state.item = None
    if not opened.flat:
        state.blocks = []
    return opened


def _open_list(state: _State, value: int | None) -> None:
    # A list needs room for its items.
    _open(state, value, 2)


def _open_item(state: _State, _: Any) -> None:
    state.item = _open(state, _ITEM)


def _open_quote(state: _State, _: Any) -> None:
    _open(state, None)


def _open_footnote(state: _State, label: str) -> None:
    _open(state, (label,))


def _close(state: _State) -> tuple[_Open, list[Block]]:
    _flush(state)
    closed = state.stack.pop()
    children = state.blocks
    state.blocks = closed.outer
    state.item = state.stack[-1] if state.stack and state.stack[-1].value is _ITEM else None
    return closed, children


def _end_quote(state: _State, alert: str | None) -> None:
    closed, children = _close(state)
    if not closed.flat:
        closed.outer.append(Quote(children, (alert or "").lower()))


def _end_item(state: _State, _: Any) -> None:
    closed, children = _close(state)
    around = state.stack[-1]
    around.loose = around.loose or closed.loose
    if not closed.flat:
        around.items.append(Item(children, closed.checked))


def _end_list(state: _State, _: Any) -> None:
    closed = _close(state)[0]
    if not closed.flat:
        closed.outer.append(ListBlock(closed.items, closed.value, not closed.loose))


def _end_footnote(state: _State, _: Any) -> None:
    closed, children = _close(state)
    if not closed.flat:
        closed.outer.append(FootnoteDef(closed.value[0], children))


def _task(state: _State, checked: bool) -> None:
    if state.item is not None:
        state.item.checked = checked


def _rule(state: _State, _: Any) -> None:
    _flush(state)
    state.blocks.append(_RULE)


def _start_code(state: _State, value: Any) -> None:
    _flush(state)
    state.raw = []
    state.info = value["Fenced"] if value.__class__ is dict else None


def _end_code(state: _State, _: Any) -> None:
    text = "".join(state.raw or ()).removesuffix("\n")
    info = state.info
    state.raw = None
    if info is None:
        state.blocks.append(CodeBlock(text, fenced=False))
        return
    language = next(iter(info.split(None, 1)), "")  # CommonMark does not call it blank, but Python may
    table = _only_table(text) if language.lower() in _MARKDOWN else None
    state.blocks.append(table or CodeBlock(text, language, info))


def _only_table(text: str) -> Table | None:
    """The table in a fence with nothing else: the author meant it to be shown as a table."""
    lines = text.strip("\n").split("\n")
    if len(lines) < 2 or "```" in text or "~~~" in text or not all("|" in line or line[:1] == "+" for line in lines):
        return None
    blocks = parse_normal("\n".join(lines))
    table = blocks[0] if len(blocks) == 1 else None
    return table if isinstance(table, Table) else None


def _start_html(state: _State, _: Any) -> None:
    _flush(state)
    state.raw = []


def _html(state: _State, value: str) -> None:
    if state.raw is None:
        _inline_html(state, value)
    else:
        state.raw.append(value)


def _end_html(state: _State, _: Any) -> None:
    state.blocks.append(HtmlBlock("".join(state.raw or ()).removesuffix("\n")))
    state.raw = None


def _start_table(state: _State, alignments: tuple[str, ...]) -> None:
    _flush(state)
    state.aligns = [_ALIGN.get(alignment, "none") for alignment in alignments]
    state.rows = []


def _end_cell(state: _State, _: Any) -> None:
    state.row.append(Cell(_content(state)) if state.out else _EMPTY_CELL)


def _end_row(state: _State, _: Any) -> None:
    row = state.row
    state.row = []
    # The parser stops filling short rows after so many cells.
    if len(row) < len(state.aligns):
        row += [_EMPTY_CELL] * (len(state.aligns) - len(row))
    state.rows.append(row)


def _end_table(state: _State, _: Any) -> None:
    state.formulas = []
    header, *rows = state.rows
    state.blocks.append(Table(header, rows, state.aligns))


def _start_mark(mark: int) -> Callable[[_State, Any], None]:
    def start(state: _State, _: Any) -> None:
        marks = state.marks
        state.outer_marks.append(marks)
        if marks & mark or (state.out and getattr(state.out[-1], "marks", 0) & mark):
            state.untidy = True
        state.marks = marks | mark

    return start


def _end_mark(state: _State, _: Any) -> None:
    state.marks = state.outer_marks.pop()


def _start_link(state: _State, value: Any) -> None:
    url = value["dest_url"]
    state.links.append((state.link, len(state.out)))
    state.link = Link(f"mailto:{url}" if value["link_type"] == "Email" else url, value["title"])


def _end_link(state: _State, _: Any) -> None:
    outer, start = state.links.pop()
    if len(state.out) == start:
        state.out.append(Text("", state.marks, state.link))
    state.link = outer


def _start_image(state: _State, value: Any) -> None:
    state.images.append((len(state.out), value))


def _end_image(state: _State, _: Any) -> None:
    start, image = state.images.pop()
    alt = plain_text(state.out[start:])
    state.out[start:] = [Image(alt, image["dest_url"], image["title"], state.link)]


def _code(state: _State, value: str) -> None:
    state.out.append(Text(value, state.marks | CODE, state.link))


def _inline_math(state: _State, value: str) -> None:
    state.untidy = True
    text = value.replace("\n", " ")
    if is_formula(text):
        state.out.append(Text(text, state.marks | MATH, state.link))
    else:
        state.out.append(Text(f"${text}$", state.marks, state.link))


def _display_math(state: _State, value: str) -> None:
    state.formulas.append(value.strip())
    state.out.append(Text(value.strip().replace("\n", " "), state.marks | MATH, state.link))


def _inline_html(state: _State, value: str) -> None:
    if _LINE_BREAK.fullmatch(value):
        state.untidy = True
        state.out.append(HARD)
    else:
        state.out.append(Text(value.replace("\n", " "), state.marks | HTML, state.link))


def _footnote_ref(state: _State, label: str) -> None:
    state.out.append(FootnoteRef(label))


def _soft_break(state: _State, _: Any) -> None:
    state.out.append(SOFT)


def _hard_break(state: _State, _: Any) -> None:
    state.out.append(HARD)


Handler = Callable[[_State, Any], None]

_ITEM = object()
_MARKDOWN = frozenset({"markdown", "md"})
_ALIGN: dict[str, Align] = {"Left": "left", "Center": "center", "Right": "right"}

_BARE: dict[str, Handler] = {"SoftBreak": _soft_break, "HardBreak": _hard_break, "Rule": _rule}
_LEAF: dict[str, Handler] = {
    "Code": _code,
    "DisplayMath": _display_math,
    "FootnoteReference": _footnote_ref,
    "Html": _html,
    "InlineHtml": _inline_html,
    "InlineMath": _inline_math,
    "TaskListMarker": _task,
}
_START: dict[str, Handler] = {
    "BlockQuote": _open_quote,
    "CodeBlock": _start_code,
    "Emphasis": _start_mark(EMPHASIS),
    "FootnoteDefinition": _open_footnote,
    "Heading": lambda state, _: _flush(state),
    "HtmlBlock": _start_html,
    "Image": _start_image,
    "Item": _open_item,
    "Link": _start_link,
    "List": _open_list,
    "Paragraph": _start_paragraph,
    "Strikethrough": _start_mark(STRIKE),
    "Strong": _start_mark(STRONG),
    "Table": _start_table,
}
_END: dict[str, Handler] = {
    "BlockQuote": _end_quote,
    "CodeBlock": _end_code,
    "Emphasis": _end_mark,
    "FootnoteDefinition": _end_footnote,
    "Heading": _end_heading,
    "HtmlBlock": _end_html,
    "Image": _end_image,
    "Item": _end_item,
    "Link": _end_link,
    "List": _end_list,
    "Paragraph": _end_paragraph,
    "Strikethrough": _end_mark,
    "Strong": _end_mark,
    "Table": _end_table,
    "TableCell": _end_cell,
    "TableHead": _end_row,
    "TableRow": _end_row,
}
