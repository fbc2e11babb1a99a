"""What Vantage is measured at. A function prepares (reads, imports) and returns what is timed."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

from bench.data.corpus import CHUNKS, LARGE, RESULTS, SMALL, WEATHER, chunks, first_chunks
from vantage.document import highlight
from vantage.document.markdown import parse
from vantage.document.nodes import Block
from vantage.document.stream import MarkdownStream
from vantage.formatter import Formatter
from vantage.presentation import PresentationContext
from vantage.surfaces import render
from vantage.surfaces.cells.document import document_lines
from vantage.surfaces.cells.page import Page
from vantage.text.ansi import Encoder
from vantage.text.palette import Palette
from vantage.timeline.calls import ToolCall
from vantage.timeline.fold import Timeline
from vantage.timeline.specs.check import load_spec
from vantage.timeline.specs.model import RenderSpec
from vantage.timeline.specs.resolve import resolve
from vantage.timeline.tools.registry import ToolRegistry

Run = Callable[[], object]

WIDTH = 100
NARROW = 60
REDRAW = 20
"""Chunks between two drawings of a message's live tail."""


def _forget_code() -> None:
    """Code that was highlighted in an earlier round must be highlighted again."""
    highlight.forget()


def format_events(corpus: Path) -> Run:
    lines = (corpus / "conversation.jsonl").read_bytes().splitlines()

    def run() -> int:
        _forget_code()
        formatter = Formatter()
        return sum([len(formatter.format_event(line, WIDTH)) for line in lines])

    return run


def format_markdown(corpus: Path) -> Run:
    event = {"type": "assistant_text", "text": (corpus / "small.md").read_text()}

    def run() -> str:
        _forget_code()
        return Formatter().format_event(event, WIDTH)

    return run


class _Screen:
    """Blocks as a terminal of some width gets them."""

    def __init__(self, width: int) -> None:
        self._page = Page.of(PresentationContext(content_width=width))
        self._encoder = Encoder(Palette.derive())

    def draw(self, blocks: list[Block]) -> str:
        return self._encoder.lines(document_lines(blocks, self._page))


def draw_once(corpus: Path) -> Run:
    text = (corpus / "small.md").read_text()

    def run() -> str:
        _forget_code()
        return _Screen(WIDTH).draw(parse(text))

    return run


def _stream(pieces: list[str]) -> list[str]:
    """A live display: blocks are drawn when they are committed, the tail now and then, and all that is left at the end.

    When a late definition changes what was drawn, all of it is drawn again.
    """
    _forget_code()
    screen = _Screen(WIDTH)
    stream = MarkdownStream()
    drawn: list[str] = []
    count = revision = 0
    for number, piece in enumerate(pieces, 1):
        stream.feed(piece)
        if stream.revision != revision:
            drawn, count, revision = [], 0, stream.revision
        if len(stream.committed) > count:
            drawn.append(screen.draw(stream.committed[count:]))
            count = len(stream.committed)
        if not number % REDRAW:
            screen.draw(stream.tail())
    drawn.append(screen.draw(stream.finish()[count:]))
    return drawn


def stream_start(corpus: Path) -> Run:
    pieces = first_chunks(corpus)
    return lambda: _stream(pieces)


def stream_small(corpus: Path) -> Run:
    pieces = chunks((corpus / "small.md").read_text(), CHUNKS)
    return lambda: _stream(pieces)


def stream_large(corpus: Path) -> Run:
    pieces = chunks((corpus / "large.md").read_text(), CHUNKS * LARGE // SMALL)
    return lambda: _stream(pieces)


def fit_tables(corpus: Path) -> Run:
    text = (corpus / "tables.md").read_text()
    return lambda: _Screen(NARROW).draw(parse(text))


def spec_rows(corpus: Path) -> Run:
    """Calls of tools with render specs: resolved and drawn for a terminal."""
    calls = json.loads((corpus / "calls.json").read_text())
    tools = ToolRegistry()
    tools.specs.register("sky", WEATHER)
    tools.specs.register("find", RESULTS)
    context = PresentationContext(content_width=WIDTH)

    def run() -> str:
        timeline = Timeline(tools)
        for call in calls:
            timeline.add({"type": "tool_end", **call})
        return str(render(timeline.rows, context))

    return run


def _hostile() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Specs and arguments made to cost as much as they can within the limits."""
    text = "héllo wörld 👍 " * 20_000
    arguments = {
        "t": text,
        "l": [text] * 500,
        "n": [{"a": text}] * 100_000,
        "o": {str(n): [n] * 50 for n in range(2000)},
    }
    rows = []
    for expression in (
        "args.t | count",
        "args.l | join",
        "args.o | json | count",
        "args.o",
        "args.n | count",
        "args.t",
    ):
        content = f"{{{{{expression}}}}}" * (30_000 // (len(expression) + 8) // 64)
        block = {"type": "text", "content": content}
        rows.append(({"collapsed": {"title": content}, "expanded": {"blocks": [block] * 60}}, arguments))
    wide = {"type": "list", "items": "{{args.n}}", "titleField": "a"}
    rows.append(({"collapsed": {"title": "x"}, "expanded": {"blocks": [wide] * 60}}, arguments))
    return rows


def spec_hostile(corpus: Path) -> Run:  # noqa: ARG001
    """The costliest of some hostile rows, resolved."""
    prepared = [(load_spec(spec)[0], ToolCall(tool="t", args=arguments, done=True)) for spec, arguments in _hostile()]

    def cost(pair: tuple[RenderSpec, ToolCall]) -> float:
        start = process_time()
        resolve(*pair)
        return process_time() - start

    worst = max(prepared, key=lambda pair: min(cost(pair) for _ in range(3)))
    return lambda: resolve(*worst)


def five_milliseconds(corpus: Path) -> Run:  # noqa: ARG001
    """What a row may cost at most."""

    def run() -> None:
        end = process_time() + 0.005
        while process_time() < end:
            pass

    return run


def _start(*command: str) -> Run:
    return lambda: subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)


_VANTAGE = str(Path(sys.executable).with_name("vantage"))


def start_help(corpus: Path) -> Run:  # noqa: ARG001
    return _start(_VANTAGE, "--help")


def start_format(corpus: Path) -> Run:
    return _start(_VANTAGE, "format", str(corpus / "short.jsonl"))


def start_python(corpus: Path) -> Run:  # noqa: ARG001
    """Our own interpreter, doing next to nothing."""
    return _start(sys.executable, "-c", "import json")
