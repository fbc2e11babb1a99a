"""Rows → one markdown document that any reader takes: CommonMark with GFM's tables and task lists, and no HTML.

`BLOCKS` has one function per block type, as the surfaces have.
"""

from collections.abc import Callable, Iterable, Iterator
from math import isfinite
from typing import Any

from vantage.conversation.store.conversation_folder import Settings
from vantage.document.inline import safe_url
from vantage.export.markdown_source import code_span, embed, escaped, fenced, printable
from vantage.export.moments import clock, day_and_clock
from vantage.surfaces.words import CHECK_WORDS, STATUS_WORDS, block_text, duration_text, outcome
from vantage.text.sanitize import one_line
from vantage.text.sgr import parse_ansi
from vantage.text.spans import text_of
from vantage.timeline import row as rows_module
from vantage.timeline.row import Block, Row, file_head

_SPEAKERS = {"user": "You"}
_BELOW = 2
"""Headings of the document itself: its title, and the speakers."""


def markdown(settings: Settings, rows: Iterable[Row]) -> Iterator[str]:
    """The document, piece by piece."""
    title = one_line(settings.name) or settings.id
    yield f"# {_inline(title)}\n\nConversation {code_span(settings.id)}, begun {day_and_clock(settings.created)}\n"
    speaker = ""
    for row in rows:
        now = _SPEAKERS.get(row.kind, "Assistant")
        if now != speaker or row.kind == "user":
            speaker = now
            when = f" · {clock(row.ts)}" if row.ts is not None else ""
            yield f"\n## {now}{when}\n"
        yield f"\n{_row(row)}\n"


def _row(row: Row) -> str:
    parts = [_head(row)] if row.title or (row.kind == "tool" and row.status != "none") else []
    parts += [drawn for block in row.blocks if (drawn := _block(block, row))]
    text = "\n\n".join(part for part in parts if part)
    if row.depth:
        name = f"**{_inline(one_line(row.agent) or 'sub-agent')}**: " if parts and row.title else ""
        return _quoted(name + text, row.depth)
    return _quoted(text, 1) if row.kind == "reasoning" else text


def _quoted(text: str, depth: int) -> str:
    mark = "> " * min(depth, 4)
    return "\n".join((mark + line).rstrip() for line in text.split("\n"))


def _head(row: Row) -> str:
    """The verb and its object as code; the outcome and the duration."""
    words = one_line(row.title[0].text) if row.title else row.tool or "call"
    said = printable("".join(span.text for span in row.title[1:])).strip()
    if row.kind != "tool":
        space = "" if said.startswith(":") else " "
        return f"**{_inline(words)}**{space}{_inline(said)}".rstrip()
    about = [STATUS_WORDS[row.status]] if row.status in ("error", "warning", "running") else []
    about += [one_line(row.trailing)] if row.trailing else []
    took = row.duration_ms or 0
    about += [duration_text(took)] if took >= _WORTH_SAYING else []
    after = f" ({', '.join(map(_inline, about))})" if about else ""
    if "\n" in said:
        return f"**{_inline(words)}**{after}\n\n{fenced(said, 'sh' if row.tool in _SHELLS else '')}"
    return f"**{_inline(words)}**{' ' + code_span(said) if said else ''}{after}"


_SHELLS = frozenset({"terminal", "shell", "bash"})
_WORTH_SAYING = 100
"""Milliseconds. Shorter durations are not written."""


def _inline(text: str) -> str:
    """Words on one line."""
    return escaped(" ".join(printable(text).split()))


def _block(block: Block, row: Row) -> str:
    draw = BLOCKS.get(type(block))
    drawn = draw(block, row) if draw else fenced(block_text(block))
    links = [
        f"- {_link(action.label or action.value, action.value)}" for action in block.actions if action.type == "open"
    ]
    return "\n\n".join(filter(None, [drawn, "\n".join(links)]))


def _link(label: str, url: str) -> str:
    safe = safe_url(url)
    return (
        f"[{_inline(label)}](<{safe.replace('<', '%3C').replace('>', '%3E')}>)" if safe else _inline(f"{label} ({url})")
    )


def _text(block: rows_module.TextBlock, _row: Row) -> str:
    content = block.content.strip("\n")
    return fenced(content) if block.style == "monospace" else escaped(content)


def _markdown(block: rows_module.MarkdownBlock, row: Row) -> str:
    return embed(block.content, f"{row.id}-", _BELOW)


def _code(block: rows_module.CodeBlock, _row: Row) -> str:
    return fenced(block.content, block.language)


def _key_value(block: rows_module.KeyValueBlock, _row: Row) -> str:
    return "\n".join(f"- **{_inline(key)}**: {_inline(value)}" for key, value in block.pairs)


def _badges(block: rows_module.BadgesBlock, _row: Row) -> str:
    return " ".join(code_span(" ".join(item.split())) for item in block.items if item.strip())


def _list(block: rows_module.ListBlock, _row: Row) -> str:
    out = []
    for item in block.items:
        status = f" ({_inline(item.status)})" if item.status else ""
        more = f": {_inline(item.subtitle)}" if item.subtitle else ""
        out.append(f"- {_inline(item.title)}{status}{more}")
    return "\n".join(out)


def _ansi(block: rows_module.AnsiBlock, _row: Row) -> str:
    return fenced("\n".join(text_of(line) for line in parse_ansi(block.content)), "text")


def _output(block: Any, _row: Row) -> str:
    content = block.content.strip("\n")
    return fenced(content, "text") if content.strip() else ""


def _diff(block: rows_module.DiffBlock, _row: Row) -> str:
    out = []
    for file in block.files:
        if not block.is_row or len(block.files) > 1 or file.note:
            out.append(f"{code_span(one_line(text_of(file_head(file))))}")
        hunks = ["\n".join(f"{line.sign}{line.text}" for line in hunk) for hunk in file.hunks]
        if hunks:
            out.append(fenced("\n@@\n".join(hunks), "diff"))
    return "\n\n".join(out)


def _checklist(block: rows_module.ChecklistBlock, _row: Row) -> str:
    out = [escaped(block.overview) + "\n"] if block.overview else []
    for item in block.items:
        word = f" *({CHECK_WORDS[item.status]})*" if item.status == "in_progress" else ""
        out.append(f"- [{'x' if item.status == 'completed' else ' '}] {_inline(item.text)}{word}")
    return "\n".join(out)


def _table(block: rows_module.TableBlock, _row: Row) -> str:
    width = max([len(block.header), *[len(row) for row in block.rows]], default=0)
    if not width:
        return ""
    lines = [block.header, *block.rows]
    drawn = [
        "| " + " | ".join(_inline(cell) for cell in [*cells, *[""] * (width - len(cells))]) + " |" for cells in lines
    ]
    drawn.insert(1, "|" + " --- |" * width)
    return "\n".join(drawn)


def _image(block: rows_module.ImageBlock, _row: Row) -> str:
    return f"*Image: {_inline(block.alt or block.source[:100])}*"


def _progress(block: rows_module.ProgressBlock, _row: Row) -> str:
    value = min(max(block.value, 0.0), 1.0) if isfinite(block.value) else 0.0
    return f"{_inline(block.label)} {value:.0%}".strip()


def _section(block: rows_module.SectionBlock, row: Row) -> str:
    title = f"**{_inline(block.title)}**" if block.title.strip() else ""
    return "\n\n".join(filter(None, [title, *[_block(each, row) for each in block.blocks]]))


def _request(block: rows_module.RequestBlock, _row: Row) -> str:
    card = block.card
    if card.state != "open":
        return f"→ {_inline(outcome(card))}"
    return "\n".join([f"- {_inline(option.label)}" for option in card.options]) or "*Not answered.*"


BLOCKS: dict[type, Callable[[Any, Row], str]] = {
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
    rows_module.TerminalBlock: _output,
    rows_module.SectionBlock: _section,
    rows_module.RequestBlock: _request,
}
