"""What Vantage is measured at. A function prepares (reads, imports) and returns what is timed."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from bench.corpus import CHUNKS, LARGE, SMALL, chunks
from vantage.document import highlight
from vantage.document.markdown import parse
from vantage.document.nodes import Block
from vantage.document.stream import MarkdownStream
from vantage.formatter import Formatter
from vantage.presentation import PresentationContext
from vantage.surfaces.cells.document import document_lines
from vantage.surfaces.cells.page import Page
from vantage.text.ansi import Encoder
from vantage.text.palette import Palette

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


def stream_small(corpus: Path) -> Run:
    pieces = chunks((corpus / "small.md").read_text(), CHUNKS)
    return lambda: _stream(pieces)


def stream_large(corpus: Path) -> Run:
    pieces = chunks((corpus / "large.md").read_text(), CHUNKS * LARGE // SMALL)
    return lambda: _stream(pieces)


def fit_tables(corpus: Path) -> Run:
    text = (corpus / "tables.md").read_text()
    return lambda: _Screen(NARROW).draw(parse(text))


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
