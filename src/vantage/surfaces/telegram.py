"""Rows → Telegram messages: text with entities, so that nothing in it can be mistaken for markup.

Offsets and lengths are in UTF-16 units. A message is full at 4,096 of them (or at the context's limit) or at 100
entities, because Telegram ignores more. Entities are sorted, nested or disjoint, never empty, never edged with white
space, and no message ends inside a grapheme. Clients with rich messages get those instead: see `telegram_rich`.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from vantage.document.nodes import CODE, EMPHASIS, HTML, MATH, STRIKE, STRONG
from vantage.presentation import PresentationContext
from vantage.surfaces.chat import ChatRow, chat_row
from vantage.surfaces.chat_flow import LANGUAGE, Chunk, flow, marking_of
from vantage.surfaces.chat_text import (
    Feed,
    Run,
    Runs,
    text_of,
    trimmed,
    utf16,
    whole_graphemes,
)
from vantage.surfaces.rendered import Rendered
from vantage.surfaces.telegram_rich import rich_messages
from vantage.text.width import graphemes
from vantage.timeline.row import Row

MAX_UNITS = 4096
MIN_UNITS = 16
"""A smaller limit might not have room for one grapheme."""
MAX_ENTITIES = 100
MAX_URL = 2048

# mark → entity, outermost first; code stands alone: it can neither hold other entities nor stand in them
_MARKS = ((STRONG, "bold"), (EMPHASIS, "italic"), (STRIKE, "strikethrough"))
_BLOCKS = {"pre": "pre", "table": "pre", "quote": "blockquote", "fold": "expandable_blockquote"}

Entity = dict[str, Any]


def render_telegram(rows: Iterable[Row], context: PresentationContext) -> Rendered:
    """Messages for `sendMessage`, or for `sendRichMessage` when the client shows tables and rich text."""
    notes: list[str] = []
    chat_rows = [chat_row(row, context, notes) for row in rows]
    if context.client_type == "telegram" and context.supports_tables and context.supports_rich_text:
        return Rendered(rich_messages(chat_rows, context), notes)
    packer = _Packer(_limit(context), plain=not context.supports_rich_text)
    for row in chat_rows:
        for chunk in _chunks(row, context):
            packer.add(chunk)
    return Rendered(packer.finish(), notes)


def _limit(context: PresentationContext) -> int:
    return max(min(context.max_message_units or MAX_UNITS, MAX_UNITS), MIN_UNITS)


def _chunks(row: ChatRow, context: PresentationContext) -> list[Chunk]:
    """The head with its body directly below it; or a message after the mark of its speaker."""
    body = flow(row.parts, marking_of(context))
    if row.head:
        first = [msgspec.structs.replace(body[0], tight=True)] if body else []
        return [Chunk("text", row.head), *first, *body[1:]]
    if not row.mark or not body:
        return body
    if body[0].kind != "text":
        return [Chunk("text", [Run(row.mark.rstrip())]), msgspec.structs.replace(body[0], tight=True), *body[1:]]
    return [msgspec.structs.replace(body[0], runs=[Run(row.mark), *body[0].runs]), *body[1:]]


class _Packer:
    """Fills messages with chunks; a chunk is split if no message can hold it, or to fill a nearly empty message."""

    def __init__(self, limit: int, *, plain: bool) -> None:
        self._limit = limit
        self._plain = plain
        self._messages: list[dict[str, Any]] = []
        self._texts: list[str] = []
        self._units = 0
        self._entities: list[Entity] = []

    def add(self, chunk: Chunk) -> None:
        header = _header(chunk, self._limit)
        if chunk.header and not header:
            chunk = msgspec.structs.replace(chunk, runs=[Run(chunk.header + "\n"), *chunk.runs])
        for index, part in enumerate(_few_entities(chunk)):
            if index:
                self._flush()
            self._add(part, header)

    def _add(self, chunk: Chunk, header: str) -> None:
        exact = chunk.kind in ("pre", "table", "fold")
        feed = Feed(whole_graphemes(_spelt(chunk.runs)))
        tight = chunk.tight
        full = self._limit - utf16(header)
        while feed:
            gap = ("\n" if tight else "\n\n") if self._texts else ""
            room = full - self._units - len(gap)
            if self._texts and not feed.fits(room) and (room < self._limit // 4 or feed.fits(full)):
                self._flush()
                continue
            piece = feed.take(room, exact=exact)
            if text_of(piece).strip():
                self._place(gap, [Run(header), *piece] if header else piece, chunk)
                tight = False
            if feed:
                self._flush()

    def _place(self, gap: str, runs: Runs, chunk: Chunk) -> None:
        if not self._texts and chunk.kind not in ("pre", "table"):
            runs = trimmed(runs)  # Telegram would drop it, and offsets would be wrong
        entities = [] if self._plain else _entities(runs, self._units + len(gap), chunk)
        if len(self._entities) + len(entities) > MAX_ENTITIES:
            self._flush()
            self._place("", runs, chunk)
            return
        text = gap + text_of(runs).rstrip()
        self._texts.append(text)
        self._units += utf16(text)
        self._entities += entities

    def _flush(self) -> None:
        if self._texts:
            self._messages.append(
                {
                    "text": "".join(self._texts),
                    "entities": self._entities,
                    # a preview would make Telegram fetch an address that an agent invented
                    "link_preview_options": {"is_disabled": True},
                }
            )
        self._texts, self._units, self._entities = [], 0, []

    def finish(self) -> list[dict[str, Any]]:
        self._flush()
        return self._messages


def _header(chunk: Chunk, limit: int) -> str:
    """The first lines of each part of a split table; a very long head is written only once, with the rows."""
    return f"{chunk.header}\n" if chunk.header and utf16(chunk.header) < limit // 2 else ""


def _few_entities(chunk: Chunk) -> list[Chunk]:
    """The chunk in parts that need no more entities than a message may have, cut at line ends if there are any."""
    out = []
    runs = chunk.runs
    start = cut = weight = index = 0
    """Where the part begins, the last line end in it, what it weighs so far, and the run that is looked at."""
    while index < len(runs):
        weight += _weight(runs[index])
        if weight >= MAX_ENTITIES:
            cut = index = cut if cut > start else index
            out.append(msgspec.structs.replace(chunk, runs=runs[start:cut]))
            start, weight = cut, 0
            continue
        index += 1
        if "\n" in runs[index - 1].text:
            cut = index
    return [*out, msgspec.structs.replace(chunk, runs=runs[start:])] if out else [chunk]


def _weight(run: Run) -> int:
    return len(_styles(run))


def _linkable(url: str | None) -> bool:
    """Telegram silently drops links of other schemes, and overlong ones."""
    return url is not None and len(url) <= MAX_URL and not url.lower().startswith("mailto:")


def _spelt(runs: Runs) -> Runs:
    """The runs, with addresses that cannot be linked written after their text."""
    if all(run.url is None or _linkable(run.url) for run in runs):
        return runs
    out: Runs = []
    words = ""
    for run, after in zip(runs, [*runs[1:], Run("")], strict=True):
        out.append(run)
        if run.url is None or _linkable(run.url):
            continue
        words += run.text
        if after.url != run.url:
            address = run.url.removeprefix("mailto:")
            if address not in words:
                out.append(Run(f" ({address})"))
            words = ""
    return out


def _styles(run: Run) -> list[tuple[str, str]]:
    """(entity, its address) of a run, outermost first."""
    marks = [(name, "") for mark, name in _MARKS if run.marks & mark]
    if run.url and _linkable(run.url):
        return [("text_link", run.url), *marks]
    return [("code", "")] if run.marks & (CODE | MATH | HTML) else marks


def _entities(runs: Runs, offset: int, chunk: Chunk) -> list[Entity]:
    text = text_of(runs)
    out: list[Entity] = []
    block = _BLOCKS.get(chunk.kind)
    if block == "pre":
        extra = {"language": chunk.language} if chunk.language and LANGUAGE.fullmatch(chunk.language) else {}
        return [{"type": "pre", "offset": offset, "length": utf16(text.rstrip()), **extra}]
    if block:
        out += _entity(block, text, (0, len(text)), offset)
    out += _inline(runs, text, offset)
    return sorted(out, key=lambda entity: (entity["offset"], -entity["length"]))


def _inline(runs: Runs, text: str, offset: int) -> list[Entity]:
    """Entities of the runs' marks. A stack keeps them nested: closing one closes and reopens the ones inside it."""
    out: list[Entity] = []
    opened: list[tuple[tuple[str, str], int]] = []
    position = 0
    for run in [*runs, Run("")]:
        wanted = _styles(run)
        keep = 0
        while keep < len(opened) and keep < len(wanted) and opened[keep][0] == wanted[keep]:
            keep += 1
        for (name, url), start in opened[keep:]:
            out += _entity(name, text, (start, position), offset, {"url": url} if url else {})
        opened = [*opened[:keep], *[(style, position) for style in wanted[keep:]]]
        position += len(run.text)
    return out


def _entity(
    name: str, text: str, span: tuple[int, int], offset: int, extra: dict[str, str] | None = None
) -> list[Entity]:
    """The entity over `span` without the white space at its ends; none when nothing is left."""
    start, end = span
    clusters = list(graphemes(text[start:end]))
    while clusters and clusters[-1].isspace():
        end -= len(clusters.pop())
    for cluster in clusters:
        if not cluster.isspace():
            break
        start += len(cluster)
    if end <= start:
        return []
    return [{"type": name, "offset": offset + utf16(text[:start]), "length": utf16(text[start:end]), **(extra or {})}]
