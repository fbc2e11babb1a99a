"""Rows → HTML for a page: semantic elements, classes beginning with `v-`, no script and no inline style.

Every row is one `<article>` that can be replaced in place; a tool's body is inside `<details>`, uncut. Whatever a row
contains, the markup is well-formed and inert: `html_text` is the only sink. `BLOCKS` has one function per block type.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

from vantage.document.fit import fit
from vantage.document.inline import safe_url
from vantage.document.markdown import parse
from vantage.document.stream import parse_growing
from vantage.presentation import PresentationContext
from vantage.surfaces.html.diff import diff_html
from vantage.surfaces.html.document import document_html, table_html
from vantage.surfaces.html.text import (
    anchor,
    attribute,
    code_figure,
    element_id,
    escape,
    exact_attribute,
    icon_html,
    image_html,
    marked,
    pre_html,
    spans_html,
    style_classes,
)
from vantage.surfaces.rendered import Rendered
from vantage.surfaces.words import (
    CHECK_WORDS,
    SCOPE_WORDS,
    STATUS_WORDS,
    block_text,
    duration_text,
    expiry,
    field_about,
    flat_blocks,
    named,
    outcome,
    plural,
    shown,
)
from vantage.text.sanitize import one_line, sanitize
from vantage.text.sgr import parse_ansi
from vantage.text.spans import Span, slice_line, text_of
from vantage.text.style import Style
from vantage.text.width import graphemes
from vantage.timeline import row as rows_module
from vantage.timeline.row import Action, Block, Row

KIND_LABELS = {
    "message": "Assistant",
    "reasoning": "Reasoning",
    "user": "You",
    "tool": "Tool call",
    "request": "Request",
    "notice": "Notice",
    "event": "Event",
}

ACTION_WORDS = {"copy": "Copy", "goto": "Show", "send": ""}
"""The text of a button without a label: for the last kind, its id."""

_END = 16
"""Graphemes of a title's end that stay when its middle is cut."""
_END_WINDOW = 512

MAX_SECTIONS = 8
"""Sections nested deeper than this are drawn below each other."""

BULLETS = {"none": "•", "running": "◌", "waiting": "?", "ok": "✓", "warning": "!", "error": "✗"}


class Scene:
    """The context for drawing the blocks of one row: the display, a prefix for ids, and notes on what was lost."""

    def __init__(self, row: Row, context: PresentationContext, notes: list[str]) -> None:
        self.context = context
        self.prefix = element_id("row", row.id)
        self.title = row.text
        self.notes = notes
        self.path: list[int] = []
        """The path of the block that is being drawn: its index among the row's blocks, then those inside sections."""


def render_html(rows: Iterable[Row], context: PresentationContext) -> Rendered:
    """The rows below each other, one article a line."""
    notes: list[str] = []
    output = "\n".join([_row(row, context, notes) for row in rows])
    return Rendered(output, list(dict.fromkeys(notes)))


def row_html(row: Row, context: PresentationContext) -> str:
    return _row(row, context, [])


def _row(row: Row, context: PresentationContext, notes: list[str]) -> str:
    own = element_id("row", row.id)
    head = _head(row) if row.title or row.status != "none" else ""
    folded = row.kind == "tool" and bool(row.diagnostics or any(shown(block, context) for block in row.blocks))
    inside = blocks_html(row.blocks, Scene(row, context, notes)) + _sender(row) + _diagnostics(row)
    if folded:
        content = f'<details class="v-details"><summary class="v-head">{head}</summary>'
        content += f'<div class="v-body">{inside}</div></details>'
    else:
        content = f'<div class="v-head">{head}</div>' if head else ""
        content += f'<div class="v-body">{inside}</div>' if inside else ""
    return f"<article {_attributes(row, own)}>{content}</article>"


def _attributes(row: Row, own: str) -> str:
    label = one_line(named(row)) or KIND_LABELS.get(row.kind, "Event")
    if row.depth > 0:
        label += f" (sub-agent {row.agent})" if row.agent else " (sub-agent)"
    values: dict[str, object] = {
        "class": f"v-row v-{row.kind}" if row.kind in KIND_LABELS else "v-row",
        "id": own,
        "data-seq": row.seq,
        "data-ts": row.ts,
        "data-status": row.status,
        "data-kind": row.kind,
        "data-depth": row.depth,
        "data-agent": row.agent or None,
        "data-tool": row.tool or None,
        "aria-label": label,
    }
    return " ".join([f'{name}="{attribute(str(value))}"' for name, value in values.items() if value is not None])


def _head(row: Row) -> str:
    """The status as a glyph, and as a word for screen readers; the icon, the title, and what follows it."""
    parts = [f'<span class="v-bullet" aria-hidden="true">{BULLETS.get(row.status, "•")}</span>']
    if row.icon:
        parts.append(icon_html(row.icon, row.icon_color))
    if word := STATUS_WORDS.get(row.status, str(row.status)):
        parts.append(f'<span class="v-sr">{escape(word)}: </span>')
    parts.append(_title(row))
    if row.trailing:
        parts.append(f'<span class="v-trailing">{escape(one_line(row.trailing))}</span>')
    if row.duration_ms is not None:
        parts.append(f'<span class="v-duration">{duration_text(row.duration_ms)}</span>')
    return " ".join(parts)


def _title(row: Row) -> str:
    """The whole title. A title to be cut is on one line, and the page cuts it: at its end, or before `v-cut-end`."""
    if row.cut_title not in ("tail", "middle"):
        return f'<span class="v-title">{spans_html(row.title)}</span>'
    line = [Span(sanitize(span.text).replace("\n", " "), span.style) for span in row.title]
    body = spans_html(line)
    if row.cut_title == "middle":
        length = len(text := text_of(line))
        clusters = list(graphemes(text[-_END_WINDOW:]))[1:][-_END:]
        at = length - sum([len(cluster) for cluster in clusters])
        body = f'<span class="v-cut-start">{spans_html(slice_line(line, 0, at))}</span>'
        body += f'<span class="v-cut-end">{spans_html(slice_line(line, at, length))}</span>'
    return f'<span class="v-title v-cut-{row.cut_title}">{body}</span>'


def _sender(row: Row) -> str:
    return f'<p class="v-sender">{escape(one_line(name))}</p>' if (name := named(row)) else ""


def _diagnostics(row: Row) -> str:
    if not row.diagnostics:
        return ""
    items = "".join([f"<li>{escape(note)}</li>" for note in row.diagnostics])
    title = plural(len(row.diagnostics), "note")
    return f'<details class="v-diagnostics"><summary>{title} on this row</summary><ul>{items}</ul></details>'


def blocks_html(blocks: list[Block], scene: Scene) -> str:
    """The blocks that the display shows, each in an element with its path in the row (to copy its source).

    `3.1` is the second block of the section that is the row's fourth.
    """
    out = []
    for index, given in enumerate(blocks):
        scene.path.append(index)
        out += [_block(block, scene) for block in shown(given, scene.context)]
        scene.path.pop()
    return "".join(out)


def _block(block: Block, scene: Scene) -> str:
    name = "unknown"
    draw = BLOCKS.get(type(block))
    depth = len(scene.path)
    try:
        body = draw(block, scene) if draw else _unknown(block)
        if draw:
            name = str(type(block).__struct_config__.tag)
    except Exception as error:  # noqa: BLE001 - one block must not take the row down
        del scene.path[depth:]
        scene.notes.append(f"{type(block).__name__} → text: {type(error).__name__}")
        body = _unknown(block)
    place = ".".join(map(str, scene.path))
    spoken = one_line(getattr(block, "spoken", ""))
    label = f' role="group" aria-label="{attribute(spoken)}"' if spoken else ""
    return f'<div class="v-block v-block-{name}" data-block="{place}"{label}>{body}{_actions(block)}</div>'


def _actions(block: Any) -> str:
    """Links, and buttons, whose action the page attaches."""
    items = "".join([f"<li>{_action(action)}</li>" for action in getattr(block, "actions", [])])
    return f'<ul class="v-actions">{items}</ul>' if items else ""


def _action(action: Action) -> str:
    label = one_line(action.label)
    if action.type == "open":
        if url := safe_url(action.value):
            return anchor(url, attribute(label or url)) + marked(label or url, url)
        return f'<span class="v-url">{attribute(f"{label} ({action.value})" if label else action.value)}</span>'
    name = attribute(label or ACTION_WORDS.get(action.type, "") or action.value)
    kind = action.type if action.type in ACTION_WORDS else "send"
    data = f'data-action="{kind}" data-value="{exact_attribute(action.value)}"'
    return f'<button type="button" class="v-action" {data}>{name}</button>'


def _unknown(block: Any) -> str:
    return pre_html(escape(block_text(block)), "v-pre", "text")


def _text(block: rows_module.TextBlock, _scene: Scene) -> str:
    if block.style == "monospace":
        return pre_html(escape(block.content), "v-pre", "text")
    name = "" if block.style == "default" else f" v-{block.style}"
    return f'<p class="v-text{name}">{escape(block.content)}</p>'


def _markdown(block: rows_module.MarkdownBlock, scene: Scene) -> str:
    read = parse_growing if block.growing else parse
    fitted = fit(read(block.content), scene.context)
    scene.notes += fitted.notes
    name = "v-markdown v-italic" if block.italic else "v-markdown"
    return f'<div class="{name}">{document_html(fitted.blocks, "-".join([scene.prefix, *map(str, scene.path)]))}</div>'


def _code(block: rows_module.CodeBlock, _scene: Scene) -> str:
    return code_figure(block.content, block.language, block.start_line)


def _key_value(block: rows_module.KeyValueBlock, _scene: Scene) -> str:
    pairs = "".join([f"<div><dt>{escape(key)}</dt><dd>{escape(value)}</dd></div>" for key, value in block.pairs])
    return f'<dl class="v-record">{pairs}</dl>'


def _badges(block: rows_module.BadgesBlock, _scene: Scene) -> str:
    items = "".join([f"<li>{escape(item)}</li>" for item in block.items])
    return f'<ul class="{style_classes(Style(block.color), "v-badges")}">{items}</ul>'


def _list(block: rows_module.ListBlock, _scene: Scene) -> str:
    items = [_list_item(item) for item in block.items]
    most = len(items) if block.max_items is None else max(block.max_items, 0)
    out = f'<ul class="v-items">{"".join(items[:most])}</ul>'
    if rest := items[most:]:
        out += f'<details class="v-more"><summary>+{len(rest)} more</summary>'
        out += f'<ul class="v-items">{"".join(rest)}</ul></details>'
    return out


def _list_item(item: rows_module.ListItem) -> str:
    parts = [f'<span class="v-item-title">{escape(item.title)}</span>']
    if item.status:
        parts.append(f'<span class="v-badge">{escape(item.status)}</span>')
    if item.subtitle:
        parts.append(f'<span class="v-subtitle">{escape(item.subtitle)}</span>')
    return f"<li>{' '.join(parts)}</li>"


def _ansi(block: rows_module.AnsiBlock, _scene: Scene) -> str:
    lines = "\n".join([spans_html(line) for line in parse_ansi(block.content)])
    return pre_html(lines, "v-pre v-ansi", "output")


def _output(block: rows_module.OutputBlock, _scene: Scene) -> str:
    return pre_html(escape(block.content.rstrip("\n")), "v-pre v-output", "output")


def _diff(block: rows_module.DiffBlock, scene: Scene) -> str:
    return "".join([diff_html(file, scene.title) for file in block.files])


def _checklist(block: rows_module.ChecklistBlock, _scene: Scene) -> str:
    marks = {"completed": "✔", "in_progress": "▶"}
    out = [f'<p class="v-text v-accent">{escape(block.overview)}</p>'] if block.overview else []
    out.append('<ul class="v-checklist">')
    current = next((item for item in block.items if item.status != "completed"), None)
    for item in block.items:
        here = ' aria-current="step"' if item is current else ""
        name = f"v-check v-check-{item.status}" if item.status in CHECK_WORDS else "v-check"
        word = CHECK_WORDS.get(item.status, item.status)
        out.append(
            f'<li class="{name}"{here}><span aria-hidden="true">{marks.get(item.status, "□")}</span> '
            f'<span class="v-sr">{escape(word)}: </span>{escape(item.text)}</li>'
        )
    return "".join([*out, "</ul>"])


def _table(block: rows_module.TableBlock, _scene: Scene) -> str:
    width = max([len(block.header), *[len(row) for row in block.rows]])
    head = [f'<th scope="col">{escape(cell)}</th>' for cell in _padded(block.header, width)]
    return table_html(head, [[f"<td>{escape(cell)}</td>" for cell in _padded(row, width)] for row in block.rows])


def _padded(cells: list[str], width: int) -> list[str]:
    return [*cells, *[""] * (width - len(cells))]


def _image(block: rows_module.ImageBlock, _scene: Scene) -> str:
    return image_html(block.source, block.alt)


def _progress(block: rows_module.ProgressBlock, _scene: Scene) -> str:
    value = min(max(block.value, 0.0), 1.0) if math.isfinite(block.value) else 0.0
    label = attribute(block.label or "progress")
    words = f"{escape(block.label)} {value:.0%}".strip()
    return f'<progress class="v-progress" max="1" value="{value:.3f}" aria-label="{label}"></progress> {words}'


def _terminal(block: rows_module.TerminalBlock, _scene: Scene) -> str:
    body = pre_html(escape(block.content), "v-pre v-output", "terminal output") if block.content else ""
    return f'<div class="v-terminal" data-block-id="{attribute(block.block_id)}">{body}</div>'


def _section(block: rows_module.SectionBlock, scene: Scene) -> str:
    """Its heading, one level below that of the section around it, and its blocks."""
    title = one_line(block.title)
    tag = f"h{min(3 + len(scene.path) - 1, 6)}"
    heading = f'<{tag} class="v-section-title">{escape(title)}</{tag}>' if title else ""
    deep = len(scene.path) > MAX_SECTIONS
    inside = flat_blocks(block.blocks, scene.context) if deep else block.blocks
    return f'<section class="v-section">{heading}{blocks_html(inside, scene)}</section>'


def _request(block: rows_module.RequestBlock, _scene: Scene) -> str:
    """What can be answered, as a list; the page puts its buttons and fields in its place."""
    card = block.card
    if card.state != "open":
        return f'<p class="v-text v-outcome">{escape(outcome(card))}</p>'
    options = []
    for option in card.options:
        scope = SCOPE_WORDS.get(option.scope, "")
        after = f' <span class="v-subtitle">{scope}</span>' if scope else ""
        options.append(f'<li><span class="v-option v-option-{option.kind}">{escape(option.label)}</span>{after}</li>')
    out = f'<ul class="v-options">{"".join(options)}</ul>' if options else ""
    if card.fields:
        pairs = [(field.title, field_about(field)) for field in card.fields]
        out += _key_value(rows_module.KeyValueBlock(pairs), _scene)
    until = expiry(card)
    return out + (f'<p class="v-text v-dim v-expiry">{until}</p>' if until else "")


BLOCKS: dict[type, Callable[[Any, Scene], str]] = {
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
