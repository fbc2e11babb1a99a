"""Rows → Slack messages: a plain-text fallback and Block Kit blocks, within Slack's limits.

A message has at most 50 blocks, one of them a table, and about 13,000 characters of JSON in all; a section 3,000
characters. Longer content continues in the next block or message, split between graphemes. Heads and code are
`rich_text`, where nothing can be mistaken for markup; prose is a `markdown` block or a `mrkdwn` section.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from vantage.document import nodes
from vantage.document.nodes import CODE, EMPHASIS, HTML, MATH, STRIKE, STRONG
from vantage.presentation import PresentationContext
from vantage.surfaces.chat import ChatRow, chat_row
from vantage.surfaces.chat_flow import LANGUAGE, Chunk, as_records, column_groups, flow, marking_of
from vantage.surfaces.chat_flow import MARKDOWN as MARKDOWN_MARKING
from vantage.surfaces.chat_text import Feed, Measure, Run, Runs, merged, pieces, runs_of, text_of, trimmed_end
from vantage.surfaces.rendered import Rendered
from vantage.surfaces.slack_markup import MARKDOWN, MRKDWN, escape, write
from vantage.timeline.row import Row

MAX_BLOCKS = 50
MAX_SECTION = 3000
MAX_MARKDOWN = 5000
"""Characters of one `markdown` block. Slack allows 12,000 in a message; smaller ones fill messages better."""
MAX_MESSAGE = 12_400
"""Characters of a message's blocks as JSON. Slack's limit is not documented; 13,172 was refused."""
MIN_MESSAGE = 2000
BLOCK_OVERHEAD = 100
"""Characters that Slack adds to a block (an id, at least) before it counts."""
MAX_FALLBACK = 300
MAX_ROWS = 100
MAX_COLUMNS = 20
MAX_CELL = 1000
MAX_TABLE = 8000
"""Characters of a table's cells as JSON."""

_STYLES = ((STRONG, "bold"), (EMPHASIS, "italic"), (STRIKE, "strike"), (CODE | MATH | HTML, "code"))

Block = dict[str, Any]


class WeighedBlock(msgspec.Struct, frozen=True):
    """A block, its text as plain text, and its cost."""

    block: Block
    plain: str

    @property
    def cost(self) -> int:
        return len(msgspec.json.encode(self.block).decode()) + BLOCK_OVERHEAD


def render_slack(rows: Iterable[Row], context: PresentationContext) -> Rendered:
    """Messages for `chat.postMessage`."""
    notes: list[str] = []
    pen = _Pen(context)
    drawn = [block for row in rows for block in pen.row(chat_row(row, context, notes))]
    return Rendered(list(_messages(drawn, pen.limit)), notes)


def _messages(drawn: list[WeighedBlock], limit: int) -> Iterator[dict[str, Any]]:
    group: list[WeighedBlock] = []
    used = 0
    table = False
    for item in drawn:
        is_table = item.block["type"] == "table"
        if group and (used + item.cost > limit or len(group) >= MAX_BLOCKS or (table and is_table)):
            yield _message(group)
            group, used, table = [], 0, False
        group.append(item)
        used += item.cost
        table = table or is_table
    if group:
        yield _message(group)


def _message(group: list[WeighedBlock]) -> dict[str, Any]:
    plain = "\n".join([item.plain for item in group if item.plain.strip()]) or "…"
    start = text_of(next(pieces([Run(plain)], MAX_FALLBACK), [Run("…")]))
    return {
        "text": escape(start) + (" …" if len(start) < len(plain.strip()) else ""),
        "blocks": [item.block for item in group],
        # a preview would make Slack fetch an address that an agent invented
        "unfurl_links": False,
        "unfurl_media": False,
    }


class _Pen:
    """Draws rows for one client."""

    def __init__(self, context: PresentationContext) -> None:
        self.limit = max(min(context.max_message_units or MAX_MESSAGE, MAX_MESSAGE), MIN_MESSAGE)
        self._tables = context.supports_tables
        self._markdown = context.supports_markdown and context.supports_rich_text and context.client_type == "slack"
        self._markup = MARKDOWN if self._markdown else MRKDWN
        base = marking_of(context)
        self._marking = msgspec.structs.replace(MARKDOWN_MARKING, code=base.code) if self._markdown else base
        # JSON writes a quote or a newline as two characters
        room = (self.limit - 2 * BLOCK_OVERHEAD) // 2
        self._text_limit = min(MAX_MARKDOWN if self._markdown else MAX_SECTION, room)
        self._code_limit = min(MAX_SECTION, room)

    def row(self, row: ChatRow) -> list[WeighedBlock]:
        out = [_rich(_section(head), text_of(head)) for head in pieces(row.head, self._code_limit)]
        chunks = flow(row.parts, self._marking)
        if row.mark and not row.head:
            chunks.insert(0, Chunk("text", [Run(row.mark.rstrip())]))
            if len(chunks) > 1 and chunks[1].kind == "text":
                chunks[:2] = [msgspec.structs.replace(chunks[1], runs=[Run(row.mark), *chunks[1].runs])]
        prose: list[Chunk] = []
        for chunk in chunks:
            if chunk.kind in ("text", "quote"):
                prose.append(chunk)
                continue
            out += [*self._prose(prose), *self._block(chunk)]
            prose = []
        return [*out, *self._prose(prose)]

    def _block(self, chunk: Chunk) -> list[WeighedBlock]:
        if chunk.kind == "rule":
            return [WeighedBlock({"type": "divider"}, "")]
        if chunk.table is not None and self._tables:
            return self._table(chunk.table)
        return self._preformatted(chunk)

    def _prose(self, chunks: list[Chunk]) -> list[WeighedBlock]:
        """Text, as much of it in one block as fits."""
        out: list[WeighedBlock] = []
        written, plain = "", ""
        for chunk in chunks:
            gap = "\n" if chunk.tight else "\n\n"
            for piece in pieces(trimmed_end(chunk.runs), self._text_limit, self._measure(chunk)):
                text = self._write(piece, chunk)
                if not text.strip():
                    continue
                if written and len(written) + len(gap) + len(text) > self._text_limit:
                    out.append(WeighedBlock(self._text_block(written), plain))
                    written = plain = ""
                written = f"{written}{gap}{text}" if written else text
                plain = f"{plain}\n{text_of(piece)}" if plain else text_of(piece)
        return [*out, WeighedBlock(self._text_block(written), plain)] if written else out

    def _measure(self, chunk: Chunk) -> Measure:
        return lambda runs: len(self._write(runs, chunk))

    def _write(self, runs: Runs, chunk: Chunk) -> str:
        text = write(runs, self._markup)
        return "\n".join([f"> {line}" for line in text.split("\n")]) if chunk.kind == "quote" else text

    def _text_block(self, text: str) -> Block:
        if self._markdown:
            return {"type": "markdown", "text": text}
        return {"type": "section", "text": {"type": "mrkdwn", "text": text}, "expand": True}

    def _preformatted(self, chunk: Chunk) -> list[WeighedBlock]:
        header = f"{chunk.header}\n" if chunk.header and len(chunk.header) < self._code_limit // 2 else ""
        runs = [Run(f"{chunk.header}\n"), *chunk.runs] if chunk.header and not header else chunk.runs
        feed = Feed(runs, lambda part: len(text_of(part)))
        extra = {"language": chunk.language.lower()} if chunk.language and LANGUAGE.fullmatch(chunk.language) else {}
        out = []
        while feed:
            text = text_of(feed.take(self._code_limit - len(header), exact=True))
            if text.strip():
                text = header + text
                out.append(_rich({"type": "rich_text_preformatted", "elements": [_text(text)], **extra}, text))
        return out

    def _table(self, table: nodes.Table) -> list[WeighedBlock]:
        """Native tables, split between rows with the head repeated; records if a cell is too long."""
        if not table.header:
            return []
        out: list[WeighedBlock] = []
        room = min(MAX_TABLE, self.limit // 2)
        for columns in column_groups(len(table.header), MAX_COLUMNS):
            cells = [
                [runs_of(row[column].content) if column < len(row) else [] for column in columns]
                for row in [table.header, *table.rows]
            ]
            lines = [(_cells(row), " | ".join([text_of(cell) for cell in row])) for row in cells]
            sizes = [len(msgspec.json.encode(line).decode()) for line, _ in lines]
            longest = max([len(text_of(cell)) for row in cells for cell in row])
            if longest > MAX_CELL or sizes[0] + max(sizes) > room:
                return self._prose(flow([as_records(table)], self._marking))
            settings = [_column(table, column) for column in columns]
            group, used = [lines[0]], sizes[0]
            for line, size in zip(lines[1:], sizes[1:], strict=True):
                if len(group) > 1 and (used + size > room or len(group) >= MAX_ROWS):
                    out.append(_table_block(group, settings))
                    group, used = [lines[0]], sizes[0]
                group.append(line)
                used += size
            out.append(_table_block(group, settings))
        return out


def _table_block(rows: list[tuple[list[Block], str]], settings: list[Block]) -> WeighedBlock:
    block = {"type": "table", "rows": [cells for cells, _ in rows], "column_settings": settings}
    return WeighedBlock(block, "\n".join([plain for _, plain in rows]))


def _column(table: nodes.Table, column: int) -> Block:
    align = table.alignments[column] if column < len(table.alignments) else "none"
    return {"align": "left" if align == "none" else align, "is_wrapped": True}


def _cells(row: list[Runs]) -> list[Block]:
    """Plain cells are raw text; an empty one is a space, as Slack refuses an empty text."""
    out: list[Block] = []
    for runs in row:
        if any(run.marks or run.url for run in runs):
            out.append(_rich(_section(runs), "").block)
        else:
            out.append({"type": "raw_text", "text": text_of(runs) or " "})
    return out


def _rich(element: Block, plain: str) -> WeighedBlock:
    return WeighedBlock({"type": "rich_text", "elements": [element]}, plain)


def _section(runs: Runs) -> Block:
    return {"type": "rich_text_section", "elements": [_element(run) for run in merged(runs)]}


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _element(run: Run) -> Block:
    style = {name: True for mark, name in _STYLES if run.marks & mark}
    element = {"type": "link", "url": run.url, "text": run.text} if run.url else _text(run.text)
    return element | {"style": style} if style else element
