"""A span is text in one style; a line is spans side by side."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from vantage.text.style import NORMAL, Style
from vantage.text.width import width


class Span(msgspec.Struct, frozen=True, gc=False):
    text: str
    style: Style = NORMAL


Line = list[Span]


def text_of(line: Sequence[Span]) -> str:
    return line[0].text if len(line) == 1 else "".join([span.text for span in line])


def width_of(line: Sequence[Span]) -> int:
    """Cells of a line. Measured over the whole text: a grapheme may reach across a span's edge."""
    return width(text_of(line)) if line else 0


def restyle(line: Iterable[Span], base: Style) -> Line:
    """The line with `base` under every span."""
    if base == NORMAL:
        return list(line)
    return [Span(span.text, span.style.over(base)) for span in line]


def slice_line(spans: Sequence[Span], start: int, end: int) -> Line:
    """Characters `start` to `end` of a line, in their styles."""
    if len(spans) == 1:
        return [Span(spans[0].text[start:end], spans[0].style)] if start < end else []
    return next(slice_lines(spans, [(start, end)]))


def slice_lines(spans: Sequence[Span], ranges: Iterable[tuple[int, int]]) -> Iterator[Line]:
    """Each range of characters as a line. Ranges come in order and do not overlap, so every span is visited once."""
    index = position = 0
    """The current span, and where it begins in the text."""
    count = len(spans)
    for start, end in ranges:
        out: Line = []
        while index < count and position < end:
            span = spans[index]
            text = span.text
            after = position + len(text)
            if after > start:
                if start <= position and after <= end:
                    if text:
                        out.append(span)
                elif piece := text[max(start - position, 0) : end - position]:
                    out.append(Span(piece, span.style))
            if after > end:
                break
            index += 1
            position = after
        yield out
