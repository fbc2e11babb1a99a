"""Rows for chat clients: each becomes a head and document nodes, limited to what is readable on a phone.

Blocks of tools are turned into document nodes here, once for all chat surfaces; `fit` then adapts them to the client,
and the surface draws nodes. `BLOCKS` has one function per block type. Messages are never cut; the body of a tool is,
with a note on how much was cut.
"""

import math
from collections.abc import Callable
from typing import Any

import msgspec

from vantage.document import nodes
from vantage.document.fit import fit
from vantage.document.fit.unicode import to_ascii
from vantage.document.markdown import parse
from vantage.document.nodes import CODE, EMPHASIS, STRONG, Break, Cell, Inline, Paragraph, Text
from vantage.document.stream import parse_growing
from vantage.presentation import PresentationContext
from vantage.surfaces.chat_text import MAX_URL, Run, Runs, best_cut, boundaries, runs_of, runs_of_line, slice_runs
from vantage.surfaces.icons import icon
from vantage.surfaces.words import (
    SCOPE_WORDS,
    block_text,
    duration_text,
    expiry,
    field_about,
    flat_blocks,
    named,
    node_text,
    outcome,
)
from vantage.text.sanitize import one_line
from vantage.text.sgr import parse_ansi
from vantage.text.spans import text_of
from vantage.text.width import graphemes
from vantage.timeline import row as rows_module
from vantage.timeline.row import DiffLine, FileDiff, Row, file_head

BODY_LINES = 60
"""Lines of a tool's block that are shown when the block itself sets no limit."""
BODY_CHARACTERS = 6000
FIELD_CHARACTERS = 1000
"""The most characters of a tool's head, and of any one value, item or cell of its blocks."""
LABEL_CHARACTERS = 200
"""The most characters of an action's label."""
TITLE_GRAPHEMES = 120
"""The most characters of a head that is to be cut to one line."""
BLANK = " \t\n"
"""White space that is invisible. Other white space may be a control character, which is shown."""
FOLD_LINES = 8
"""A longer body is folded, where the client can fold."""

GLYPHS = {"none": "•", "running": "⏳", "waiting": "❓", "ok": "✅", "warning": "⚠️", "error": "❌"}
ASCII_GLYPHS = {
    "none": "*",
    "running": "[running]",
    "waiting": "[?]",
    "ok": "[ok]",
    "warning": "[warning]",
    "error": "[failed]",
}
CHECKS = {"pending": "□ ", "in_progress": "▶ ", "completed": "✔ "}


class Fold(msgspec.Struct, frozen=True):
    """Long text of a tool. Clients that can fold show it folded."""

    text: str


class Note(msgspec.Struct, frozen=True):
    """A remark directly below a part: `… +13 lines`."""

    text: str


Part = nodes.Block | Fold | Note


class ChatRow(msgspec.Struct, frozen=True):
    """A row as chat clients draw it."""

    head: Runs
    """Empty for messages."""
    parts: list[Part]
    tool: bool = False
    mark: str = ""
    """The speaker's mark before the first line of a message (`↳ ` for sub-agents)."""


class Room:
    """The display that a row's blocks are drawn for, and whether they are bounded."""

    def __init__(self, row: Row, context: PresentationContext) -> None:
        self.context = context
        self.bounded = row.kind not in ("message", "user", "reasoning")
        self.title = row.text


def chat_row(row: Row, context: PresentationContext, notes: list[str]) -> ChatRow:
    """The row's head and its parts, fitted to the client; whatever was lost is added to `notes`."""
    room = Room(row, context)
    parts: list[Part] = []
    for block in flat_blocks(row.blocks, context):
        parts += [*_said(block, room, notes), *_links(block)]
    return ChatRow(_head(row, context), _fitted(parts, context, notes), row.kind == "tool", _depth_mark(row, context))


def _said(block: Any, room: Room, notes: list[str]) -> list[Part]:
    say = BLOCKS.get(type(block))
    try:
        if say is not None:
            return say(block, room)
    except Exception as error:  # noqa: BLE001 - one block must not take the row down
        notes.append(f"{type(block).__name__} → text: {type(error).__name__}")
    return _code_parts(block_text(block), "", room)


def _links(block: Any) -> list[Part]:
    """Addresses to open, side by side; the other actions need buttons, which only the page has."""
    content: list[Inline] = []
    for action in getattr(block, "actions", []):
        address = one_line(action.value)
        if action.type != "open" or not address:
            continue
        label = _cut(one_line(action.label), LABEL_CHARACTERS)
        content += [Text(" · ")] if content else []
        if len(address) > MAX_URL:
            content.append(Text(f"{label} ({_cut(address, FIELD_CHARACTERS)})".lstrip()))
        else:
            content.append(Text(label or _cut(address, LABEL_CHARACTERS), 0, nodes.Link(action.value)))
    return [Paragraph(content)] if content else []


def _fitted(parts: list[Part], context: PresentationContext, notes: list[str]) -> list[Part]:
    """Fits runs of document nodes with `fit`; folds and notes stay between them."""
    out: list[Part] = []
    run: list[nodes.Block] = []
    for part in [*parts, None]:
        if part is not None and not isinstance(part, Fold | Note):
            run.append(part)
            continue
        if run:
            out += _fit(run, context, notes)
            run = []
        if part is not None:
            out.append(part if context.supports_unicode else type(part)(to_ascii(part.text)))
    return out


def _fit(blocks: list[nodes.Block], context: PresentationContext, notes: list[str]) -> list[nodes.Block]:
    try:
        fitted = fit(blocks, context)
    except Exception as error:  # noqa: BLE001 - better unfitted than not shown
        notes.append(f"document → text: {type(error).__name__}")
        return [_paragraph(node_text(blocks))]
    notes += [note for note in fitted.notes if note not in notes]
    return fitted.blocks


def _depth_mark(row: Row, context: PresentationContext) -> str:
    """`↳ ` for each level, as many as a phone has room for."""
    arrow = "↳ " if context.supports_unicode else "> "
    if row.depth <= 4:
        return arrow * max(row.depth, 0)
    return f"{arrow * 3}({row.depth}) {arrow}"


def _head(row: Row, context: PresentationContext) -> Runs:
    runs = runs_of_line(row.title)
    title = _cut_runs(_shortened(runs, middle=row.cut_title == "middle") if row.cut_title else runs)
    if not context.supports_rich_text:
        title = [Run(run.text) for run in title]
    if row.kind == "user" and not title:
        sender = _cut(one_line(named(row)), LABEL_CHARACTERS) or "You"
        title = [Run(f"{sender}:", STRONG if context.supports_rich_text else 0)]
    if not title and row.status == "none":
        return []
    glyphs = GLYPHS if context.supports_unicode else ASCII_GLYPHS
    glyph = "" if row.kind == "user" else f"{glyphs.get(row.status, row.status)} "
    if row.icon and context.supports_unicode:
        glyph = f"{'' if row.status == 'none' else glyph}{icon(row.icon).emoji} "
    out = [Run(_depth_mark(row, context) + glyph), *title]
    for extra in (_cut(one_line(row.trailing), 100), "" if row.duration_ms is None else duration_text(row.duration_ms)):
        if extra:
            out += [Run(" · "), *runs_of([Text(extra)])]
    if not context.supports_unicode:
        out = [msgspec.structs.replace(run, text=to_ascii(run.text)) for run in out]
    return [run for run in out if run.text]


def _cut_runs(runs: Runs) -> Runs:
    text = "".join([run.text for run in runs])
    if len(text) <= FIELD_CHARACTERS:
        return runs
    end = best_cut(text, FIELD_CHARACTERS)
    return [*slice_runs(runs, 0, end), Run(f" … +{len(text) - end:,} characters")]


def _shortened(runs: Runs, *, middle: bool) -> Runs:
    """A head that is cut, at its end or in its middle, to a readable length."""
    text = "".join([run.text for run in runs])
    if len(text) <= TITLE_GRAPHEMES:
        return runs
    # long enough for all but text that consists of marks, which `_cut_runs` cuts
    window = 16 * TITLE_GRAPHEMES
    whole = len(text) <= window
    start = boundaries(text[:window])
    if whole and len(start) <= TITLE_GRAPHEMES:
        return runs
    kept = TITLE_GRAPHEMES - 1
    if not middle:
        return [*slice_runs(runs, 0, _end_of(start, kept)), Run("…")]
    ends = list(graphemes(text[-window:]))[0 if whole else 1 :][-(kept // 2) :]
    length = sum([len(cluster) for cluster in ends])
    before = slice_runs(runs, 0, _end_of(start, kept - kept // 2))
    return [*before, Run("…"), *slice_runs(runs, len(text) - length, len(text))]


def _end_of(ends: list[int], count: int) -> int:
    """The end of the last complete grapheme within a length."""
    return ends[: min(count, len(ends) - 1)][-1] if len(ends) > 1 else 0


def clipped(text: str, room: Room) -> str:
    """One field of a tool's block, cut with a remark: `… +2,000 characters`. Messages are not cut."""
    return _cut(text, FIELD_CHARACTERS) if room.bounded else text


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    end = best_cut(text, limit)
    return f"{text[:end].rstrip()} … +{len(text) - end:,} characters"


def bounded(text: str, max_lines: int | None, room: Room) -> tuple[str, str]:
    """The first lines, and a remark on the others: `… +13 lines`. Messages are not cut."""
    text = text.replace("\r\n", "\n").strip("\n")
    if max_lines is None:
        if not room.bounded:
            return text, ""
        max_lines = BODY_LINES
    lines = text.split("\n")
    shown = lines[: max(max_lines, 0)]
    left = len(lines) - len(shown)
    while len(shown) > 1 and sum([len(line) + 1 for line in shown]) > BODY_CHARACTERS:
        shown.pop()
        left += 1
    rest = f"… +{left:,} line{'' if left == 1 else 's'}" if left else ""
    return _cut("\n".join(shown), BODY_CHARACTERS), rest


def _paragraph(text: str, marks: int = 0) -> Paragraph:
    """Text that is not markdown: its line ends are kept."""
    content: list[Inline] = []
    for index, line in enumerate(text.replace("\r\n", "\n").split("\n")):
        if index:
            content.append(Break(hard=True))
        if line:
            content.append(Text(line, marks))
    return Paragraph(content)


def _code_parts(text: str, language: str, room: Room, max_lines: int | None = None) -> list[Part]:
    shown, rest = bounded(text, max_lines, room)
    parts: list[Part] = [nodes.CodeBlock(shown, language)] if shown.strip(BLANK) else []
    return [*parts, Note(rest)] if rest else parts


def _text(block: rows_module.TextBlock, room: Room) -> list[Part]:
    if block.style == "monospace":
        return _code_parts(block.content, "", room)
    shown, rest = bounded(block.content, None, room)
    if room.bounded and shown.count("\n") >= FOLD_LINES:
        parts: list[Part] = [Fold(shown)]
    else:
        parts = [_paragraph(shown, EMPHASIS if block.style == "dim" else 0)]
    return [*parts, Note(rest)] if rest else parts


def _markdown(block: rows_module.MarkdownBlock, _room: Room) -> list[Part]:
    blocks = parse_growing(block.content) if block.growing else parse(block.content)
    return [_italic(node) for node in blocks] if block.italic else [*blocks]


def _italic(node: nodes.Block) -> nodes.Block:
    """Reasoning is in italics; other nodes than paragraphs are distinct enough."""
    if not isinstance(node, Paragraph):
        return node
    return Paragraph(
        [
            Text(part.text, part.marks | EMPHASIS, part.link)
            if isinstance(part, Text) and not part.marks & CODE
            else part
            for part in node.content
        ]
    )


def _code(block: rows_module.CodeBlock, room: Room) -> list[Part]:
    parts = _code_parts(block.content, block.language, room)
    if block.start_line is not None and block.start_line != 1:
        return [_paragraph(f"from line {block.start_line}", EMPHASIS), *parts]
    return parts


def _key_value(block: rows_module.KeyValueBlock, room: Room) -> list[Part]:
    pairs = [(clipped(key, room), clipped(value, room)) for key, value in block.pairs]
    return [nodes.Records([[([Text(key)], _paragraph(value).content) for key, value in pairs]])]


def _badges(block: rows_module.BadgesBlock, room: Room) -> list[Part]:
    content: list[Inline] = []
    for item in [clipped(item, room) for item in block.items]:
        content += [Text(" "), Text(item, CODE)] if content else [Text(item, CODE)]
    return [Paragraph(content)] if content else []


def _list(block: rows_module.ListBlock, room: Room) -> list[Part]:
    shown = block.items if block.max_items is None else block.items[: max(block.max_items, 0)]
    items = []
    for item in shown:
        content = _paragraph(clipped(item.title, room)).content
        if item.status:
            content += [Text(" "), Text(clipped(item.status, room), CODE)]
        if item.subtitle:
            content += [Text(" — "), Text(clipped(item.subtitle, room), EMPHASIS)]
        items.append(nodes.Item([Paragraph(content)]))
    parts: list[Part] = [nodes.ListBlock(items)] if items else []
    if more := len(block.items) - len(shown):
        parts.append(Note(f"+{more} more"))
    return parts


def _ansi(block: rows_module.AnsiBlock, room: Room) -> list[Part]:
    return _code_parts("\n".join([text_of(line) for line in parse_ansi(block.content)]), "", room)


def _output(block: rows_module.OutputBlock, room: Room) -> list[Part]:
    shown, rest = bounded(block.content, block.max_lines, room)
    parts: list[Part] = []
    if shown.strip(BLANK):
        long = shown.count("\n") >= FOLD_LINES
        parts.append(Fold(shown) if long else nodes.CodeBlock(shown))
    return [*parts, Note(rest)] if rest else parts


def _diff(block: rows_module.DiffBlock, room: Room) -> list[Part]:
    parts: list[Part] = []
    for file in block.files:
        content: list[Inline] = [
            Text(
                clipped(span.text, room),
                STRONG if span.style.bold else CODE if span.text in (file.path, file.new_path) else 0,
            )
            for span in file_head(file)
        ]
        if text_of(file_head(file)) != room.title:  # the row's head names the file of a single edit
            parts.append(Paragraph(content))
        if file.hunks:
            parts += _code_parts(diff_text(file), "diff", room)
    return parts


def diff_text(file: FileDiff) -> str:
    """Hunks in the form that diff highlighters know: the sign in the first column, `@@ 18 @@` at the start of each."""
    lines = []
    for hunk in file.hunks:
        number = _first_number(hunk)
        lines.append("@@" if number is None else f"@@ {number} @@")
        lines += [line.sign + line.text for line in hunk]
    return "\n".join(lines)


def _first_number(hunk: list[DiffLine]) -> int | None:
    return next((line.number for line in hunk if line.number is not None), None)


def _checklist(block: rows_module.ChecklistBlock, room: Room) -> list[Part]:
    parts: list[Part] = [_paragraph(clipped(block.overview, room), EMPHASIS)] if block.overview else []
    content: list[Inline] = []
    current = next((item for item in block.items if item.status != "completed"), None)
    for item in block.items:
        if content:
            content.append(Break(hard=True))
        marks = STRONG if item is current else 0
        content += [Text(CHECKS.get(item.status, "□ ")), *_paragraph(clipped(item.text, room), marks).content]
    return [*parts, Paragraph(content)] if content else parts


def _table(block: rows_module.TableBlock, room: Room) -> list[Part]:
    width = max([len(block.header), *[len(row) for row in block.rows]])
    if not width:
        return []
    header, *rows = (
        [Cell(_paragraph(clipped(text, room)).content) for text in [*row, *[""] * (width - len(row))]]
        for row in [block.header, *block.rows]
    )
    return [nodes.Table(header, rows, ["none"] * width)]


def _image(block: rows_module.ImageBlock, room: Room) -> list[Part]:
    """Chat surfaces return messages, not uploads: a picture becomes its description."""
    return [Paragraph([nodes.Image(clipped(block.alt, room), "")])]


def _progress(block: rows_module.ProgressBlock, room: Room) -> list[Part]:
    value = min(max(block.value, 0.0), 1.0) if math.isfinite(block.value) else 0.0
    filled = round(value * 10)
    label = f" {clipped(block.label, room)}" if block.label else ""
    return [_paragraph(f"{'▓' * filled}{'░' * (10 - filled)} {value:.0%}{label}")]


def _terminal(block: rows_module.TerminalBlock, room: Room) -> list[Part]:
    parts = _code_parts(block.content, "", room)
    whole = not parts or not isinstance(parts[-1], Note)
    return parts if whole else [*parts, Note(f"the whole: block {_cut(block.block_id, 100)}")]


def _section(block: rows_module.SectionBlock, room: Room) -> list[Part]:
    """The heading of the blocks that follow: see `flat_blocks`."""
    title = clipped(one_line(block.title), room)
    return [nodes.Heading(3, [Text(title)])] if title else []


def _request(block: rows_module.RequestBlock, room: Room) -> list[Part]:
    """What can be answered, for readers; a bot makes buttons of the row's request."""
    card = block.card
    if card.state != "open":
        return [_paragraph(f"→ {clipped(outcome(card), room)}")]
    items = []
    for option in card.options:
        scope = SCOPE_WORDS.get(option.scope, "")
        after = [Text(" — "), Text(scope, EMPHASIS)] if scope else []
        items.append(nodes.Item([Paragraph([*_paragraph(clipped(option.label, room)).content, *after])]))
    parts: list[Part] = [nodes.ListBlock(items)] if items else []
    if card.fields:
        parts += _key_value(rows_module.KeyValueBlock([(each.title, field_about(each)) for each in card.fields]), room)
    until = expiry(card)
    return [*parts, Note(until)] if until else parts


BLOCKS: dict[type, Callable[[Any, Room], list[Part]]] = {
    rows_module.TextBlock: _text,
    rows_module.MarkdownBlock: _markdown,
    rows_module.CodeBlock: _code,
    rows_module.KeyValueBlock: _key_value,
    rows_module.BadgesBlock: _badges,
    rows_module.ListBlock: _list,
    rows_module.AnsiBlock: _ansi,
    rows_module.OutputBlock: _output,
    rows_module.DiffBlock: _diff,
    rows_module.ChecklistBlock: _checklist,
    rows_module.TableBlock: _table,
    rows_module.ImageBlock: _image,
    rows_module.ProgressBlock: _progress,
    rows_module.TerminalBlock: _terminal,
    rows_module.SectionBlock: _section,
    rows_module.RequestBlock: _request,
}
