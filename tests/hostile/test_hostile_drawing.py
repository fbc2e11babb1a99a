"""Drawing markdown costs as much as it is long, whatever it is made of, on every surface.

A short run counts the calls that a drawing makes, which are the same on every machine. Work inside one call (copying a
string, moving a list) is not seen so: a long run looks at the processor time of a large input as well.
"""

import dataclasses
import sys
from collections.abc import Callable
from itertools import product

import pytest

from constructs import CONSTRUCTS, made
from extent import extent
from growth import cost
from vantage.document.markdown import parse
from vantage.document.stream import MarkdownStream
from vantage.export.markdown_source import embed
from vantage.presentation import PresentationContext, profile
from vantage.surfaces import draw
from vantage.surfaces.cells.page import Page
from vantage.surfaces.cells.stream import GrowingMarkdown
from vantage.timeline.row import MarkdownBlock, Row

SIZE, FACTOR = 800, 4
MOST = 6.5
"""Times the calls, for `FACTOR` times the input. Quadratic would be 16."""
FEW = 3000
"""Calls that are too few to say how they grow."""
LARGE = 400_000
SECONDS = 20.0
"""Of processor time for `LARGE` characters: linear needs 1 to 4, what is quadratic minutes."""


def on(surface: str, context: PresentationContext) -> Callable[[str], object]:
    return lambda text: draw([Row(id="r", kind="message", blocks=[MarkdownBlock(text)])], context, surface)


def streamed(text: str) -> None:
    stream = MarkdownStream(commit_size=256)
    step = max(len(text) // 16, 1)
    for start in range(0, len(text), step):
        stream.feed(text[start : start + step])
    stream.finish()


def growing(text: str) -> None:
    """A message that is drawn eight times while it comes."""
    drawn, page = GrowingMarkdown(), Page.of(PresentationContext(content_width=60))
    for eighth in range(1, 9):
        drawn.lines(text[: len(text) * eighth // 8], page, final=eighth == 8)


def phone(profile_name: str, most: int, **fields: bool) -> PresentationContext:
    """A client whose messages are so short that even the small input needs several."""
    return dataclasses.replace(profile(profile_name), max_message_units=most, **fields)


BARE = {f"supports_{name}": False for name in ("tables", "code_blocks", "images", "rich_text", "unicode", "markdown")}
WORK: dict[str, Callable[[str], object]] = {
    "parse": parse,
    "terminal": on("terminal", PresentationContext(content_width=60)),
    "plain": on("plain", PresentationContext(content_width=60, **BARE)),
    "html": on("html", profile("web")),
    "telegram": on("telegram", phone("telegram", 200)),
    "telegram, rich": on("telegram", phone("telegram", 400, supports_tables=True)),
    "slack": on("slack", phone("slack", 2000)),
    "markdown": lambda text: embed(text, "r-", 2),
    "stream": streamed,
    "growing": growing,
}


def calls(work: Callable[[str], object], text: str) -> int:
    """How many functions are called, C functions too."""
    counted = 0

    def count(_frame: object, event: str, _function: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work(text)
    finally:
        sys.setprofile(before)
    return counted


def grows_too_fast(work: Callable[[str], object], made_of: Callable[[int], str]) -> str:
    """Nothing, or how the calls grew. A step (the first message that is split) is told from a slope at larger sizes."""
    small = made_of(SIZE)
    work(small)  # imports and caches
    counts = {len(small): calls(work, small)}
    for size in (FACTOR * SIZE, FACTOR**2 * SIZE):
        less, text = [*counts.values()][-1], made_of(size)
        more = counts[len(text)] = calls(work, text)
        if more <= max(MOST * less, FEW):
            return ""
    return ", ".join(f"{count} calls for {size} characters" for size, count in counts.items())


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_calls_grow_with_the_input(construct):
    found = {name: grows_too_fast(work, lambda size: made(construct, size)) for name, work in WORK.items()}
    assert not any(found.values()), found


def test_what_grows_too_fast_is_seen():
    assert grows_too_fast(lambda text: [len(one) for one in text[:200] for _ in text], "x".__mul__) == ""
    assert grows_too_fast(lambda text: [one for one in text[::40] for each in text[::40] if len(each)], "x".__mul__)


@pytest.mark.parametrize(
    ("construct", "name"), list(product(extent(["tight list"], CONSTRUCTS), extent(["html"], WORK)))
)
def test_a_large_input_takes_seconds(construct, name):
    took = cost(WORK[name], made(construct, LARGE))  # type: ignore[arg-type]
    assert took < SECONDS, f"{name}: {took:.1f} s for {LARGE} characters"
