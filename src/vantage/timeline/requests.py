"""The row of a request: what is asked, the call that it is about as its tool's presenter draws it, and its card.

A row of this kind comes only from `request` events, which the server alone logs: what an agent prints cannot make one.
"""

from collections.abc import Iterator

from msgspec import to_builtins
from msgspec.structs import replace

from vantage import events as ev
from vantage.events import Json, compact_json, text_of_value
from vantage.text.spans import Span, text_of
from vantage.timeline.calls import ToolCall, arguments
from vantage.timeline.entries import CallStyle, Entry
from vantage.timeline.patch import parse_patch
from vantage.timeline.request_card import RequestCard, card
from vantage.timeline.row import (
    Block,
    CodeBlock,
    DiffBlock,
    KeyValueBlock,
    MarkdownBlock,
    RequestBlock,
    Row,
    Status,
    TextBlock,
    head,
)
from vantage.timeline.tools import Presentation

_LONGEST_HEAD = 200
"""Characters of a head. What a longer one says stands below it, whole: a person decides about all of it."""
_CLOSED: dict[str, Status] = {"answered_elsewhere": "ok", "withdrawn": "none"}
"""How a request ended that has no answer; for all other reasons it is a warning."""


class RequestEntry(Entry):
    """A request, its answer, and how it was closed."""

    __slots__ = ("_answer", "_closed", "_request", "_style")

    kind = "request"

    def __init__(self, row_id: str, event: ev.Event, style: CallStyle) -> None:
        super().__init__(row_id, event)
        self.open = True
        self._style = style
        self._request = ev.Request()
        self._answer: ev.Answer | None = None
        self._closed: ev.RequestClosed | None = None

    def take(self, event: ev.Request | ev.Answer | ev.RequestClosed) -> None:
        super().take(event)
        match event:
            case ev.Request():
                self._request = event
            case ev.Answer():
                self._answer = self._answer or event
                self.open = False
            case ev.RequestClosed():
                self._closed = event
                self.open = False

    def _draw(self) -> Row:
        request, made = self._request, card(self._request, self._answer, self._closed)
        shown, notes = self._shown()
        return self._make(
            status=_status(made),
            title=[*head("Asks" if made.state == "open" else "Asked"), Span(": "), *shown.title],
            blocks=[*shown.blocks, RequestBlock(made)],
            tool=request.tool or "",
            diagnostics=notes,
        )

    def _shown(self) -> tuple[Presentation, list[str]]:
        request = self._request
        if not request.tool:
            return _question(request), []
        args, raw = arguments(request.args)
        call = ToolCall(tool=request.tool, args=args, raw_args=raw, proposed=True, details=request.details)
        shown, notes = self._style.present(call)
        return _approval(request, call, shown), notes


def _status(made: RequestCard) -> Status:
    if made.state == "open":
        return "waiting"
    if made.state == "closed":
        return _CLOSED.get(made.why, "warning")
    option = made.option(made.answer.option) if made.answer else None
    return "none" if option and option.kind == "deny" else "ok"


def _question(request: ev.Request) -> Presentation:
    first, _, rest = request.title.strip().partition("\n")
    below: list[Block] = [TextBlock(rest)] if rest.strip() else []
    if len(first) > _LONGEST_HEAD:
        first, below = "a question", [TextBlock(request.title.strip())]
    where: list[Block] = [KeyValueBlock([("directory", request.cwd)])] if request.cwd else []
    return Presentation([Span(first)], [*below, *where, *_text(request), *_details(request)])


def _approval(request: ev.Request, call: ToolCall, shown: Presentation) -> Presentation:
    """The call as its presenter draws it, whole, and what it was given besides."""
    title, blocks = shown.title, [_below_head(block) for block in shown.blocks]
    verb, said = text_of(title[:1]), text_of(title[1:]).strip()
    asked = request.title.strip()
    before: list[Block] = []
    if asked and asked not in f"{verb} {said}" and not (said and said in asked):
        before.append(TextBlock(asked))
    if "\n" in said or len(said) > _LONGEST_HEAD:
        title = title[:1]
        before.append(CodeBlock(said, "sh" if "command" in call.args or "cmd" in call.args else ""))
    drawn = "\n".join([verb, said, asked, request.cwd or "", *map(_words, shown.blocks)])
    pairs = [("directory", request.cwd)] if request.cwd else []
    if compact_json(call.raw_args) not in said:
        pairs += [(name, text_of_value(value)) for name, value in call.args.items() if not _is_drawn(value, drawn)]
    after: list[Block] = [KeyValueBlock(pairs)] if pairs else []
    if not any(isinstance(block, DiffBlock) for block in blocks):
        blocks = [*blocks, *_details(request)]
    return Presentation(title, [*before, *after, *_text(request), *blocks])


def _below_head(block: Block) -> Block:
    """A diff that is a row by itself stands under the request's head."""
    return replace(block, is_row=False) if isinstance(block, DiffBlock) else block


def _words(block: Block) -> str:
    """The words of a block, about: enough to tell whether it says something."""
    if isinstance(block, DiffBlock):
        return "\n".join(line.text for file in block.files for hunk in file.hunks for line in hunk)
    content = getattr(block, "content", None)
    return content if isinstance(content, str) else compact_json(to_builtins(block))


def _is_drawn(value: Json, drawn: str) -> bool:
    """Whether an argument is nothing, or its longest text is in what is drawn."""
    if value in (None, "", False):
        return True
    texts = [text.strip() for text in _texts(value)]
    longest = max(texts, key=len, default="")
    return bool(longest) and all(line in drawn for line in longest.split("\n"))


def _texts(value: Json) -> Iterator[str]:
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            todo += item.values()
        elif isinstance(item, list):
            todo += item


def _text(request: ev.Request) -> list[Block]:
    return [MarkdownBlock(request.text)] if request.text and request.text.strip() else []


def _details(request: ev.Request) -> list[Block]:
    """A diff as one, anything else as it came."""
    details = request.details
    if details in (None, "", {}, []):
        return []
    diff = details.get("diff") if isinstance(details, dict) else details
    given = diff if isinstance(diff, str) else compact_json(details)
    files = parse_patch(given)
    return [DiffBlock(files)] if files else [CodeBlock(given)]
