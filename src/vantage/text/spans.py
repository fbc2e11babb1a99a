"""A span is text in one style; a line is spans side by side."""

from collections.abc import Iterable, Sequence

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
    out: Line = []
    position = 0
    for span in spans:
        after = position + len(span.text)
        if after > start:
            piece = span.text[max(start - position, 0) : end - position]
            if piece:
                out.append(Span(piece, span.style))
        position = after
        if position >= end:
            break
    return out
