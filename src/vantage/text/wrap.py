"""Breaking styled text into lines that fit.

Lines break at spaces, after `/` and `-` inside a word, and between wide characters; a word longer than a line is cut
between graphemes. Text comes with prefixes for its first and its other lines, which count against the width.
"""

from collections.abc import Iterator, Sequence

from vantage.text.spans import Line, Span, slice_lines, text_of, width_of
from vantage.text.width import cells, one_cell_each

BLANK = ("", " ")
LEAST_ROOM = 6
"""The least cells that a margin must leave for text; otherwise the margin is dropped."""

_CLOSING = frozenset(")]}>,.;:!?'\"%…、。，．・：；！？）］｝」』】〉》〕’”ー々")
_OPENING = frozenset("([{<（［｛「『【〈《〔‘“")


def _is_joint(before: str, joint: str, after: str) -> bool:
    """Whether a line may end after a `/` or `-`: inside a word, not in `//`, `--flag`, `a -b` or `8080->80`."""
    return before not in " -/" and (after.isalnum() if joint == "-" else after not in " -/")


def _narrow_breaks(text: str, first: int, rest: int) -> Iterator[tuple[int, int]]:
    """Slices of a text whose characters are one cell each."""
    position, room, end = 0, first, len(text)
    while end - position > room:
        indent = position
        while indent < end and text[indent] == " ":
            indent += 1
        if indent - position >= room:  # an indent as wide as the line is no indent
            position = indent
            continue
        stop = position + room
        space = text.rfind(" ", position, stop + 1)
        best, resume = -1, -1
        if space >= indent:
            best = resume = space
        joint = stop - 1
        while joint > max(best, indent):
            joint = max(text.rfind("/", indent, joint + 1), text.rfind("-", indent, joint + 1))
            if joint <= max(best, indent):
                break
            if joint + 1 < end and _is_joint(text[joint - 1], text[joint], text[joint + 1]):
                best = resume = joint + 1
                break
            joint -= 1
        if best <= indent:
            best = resume = stop
        while text[best - 1] == " ":
            best -= 1
        while resume < end and text[resume] == " ":
            resume += 1
        yield (position, best)
        position, room = resume, rest
    if position < end:
        yield (position, end)


def _wide_breaks(text: str, first: int, rest: int) -> Iterator[tuple[int, int]]:
    """The same for any text, cluster by cluster."""
    clusters = cells(text)
    offsets = [0]
    for cluster, _ in clusters:
        offsets.append(offsets[-1] + len(cluster))
    index, room, count = 0, first, len(clusters)
    indent = 0
    while indent < count and clusters[indent][0] == " ":
        indent += 1
    if indent >= room and sum(cluster_width for _, cluster_width in clusters) > room:
        index = indent
    while index < count:
        used, stop, best = 0, index, -1
        inked = False
        while stop < count and used + clusters[stop][1] <= room:
            cluster, cluster_width = clusters[stop]
            used += cluster_width
            if cluster == " ":
                if inked:
                    best = stop
            else:
                inked = True
                following = clusters[stop + 1][0] if stop + 1 < count else " "
                wide = cluster_width == 2 or (stop + 1 < count and clusters[stop + 1][1] == 2)
                if cluster in "/-":
                    before = clusters[stop - 1][0] if stop > index else " "
                    if _is_joint(before, cluster, following):
                        best = stop + 1
                elif wide and following not in _CLOSING and cluster not in _OPENING and following != " ":
                    best = stop + 1
            stop += 1
        if stop == count:
            yield (offsets[index], offsets[count])
            return
        if clusters[stop][0] == " " and inked:
            best = stop
        if best <= index or best > stop:
            best = max(stop, index + 1)
        resume = best
        while best > index + 1 and clusters[best - 1][0] == " ":
            best -= 1
        while resume < count and clusters[resume][0] == " ":
            resume += 1
        yield (offsets[index], offsets[best])
        index, room = resume, rest


def _hard_breaks(text: str, first: int, rest: int, *, one_cell: bool) -> Iterator[tuple[int, int]]:
    """Slices that are cut wherever the line is full: for diffs, where every column counts."""
    if one_cell:
        position, room = 0, first
        while position < len(text):
            yield (position, min(position + room, len(text)))
            position, room = position + room, rest
        return
    start = position = used = 0
    room = first
    for cluster, cluster_width in cells(text):
        if used + cluster_width > room and position > start:
            yield (start, position)
            start, used, room = position, 0, rest
        used += cluster_width
        position += len(cluster)
    if start < position:
        yield (start, position)


def breaks(
    text: str, first: int, rest: int, *, hard: bool = False, one_cell: bool | None = None
) -> Iterator[tuple[int, int]]:
    """Where `text` (one paragraph, no newline) breaks when its lines have `first`, then `rest` cells.

    `one_cell` says whether all its characters take one cell each, where that is already known.
    """
    first, rest = max(first, 1), max(rest, 1)
    if one_cell is None:
        one_cell = one_cell_each(text)
    if hard:
        return _hard_breaks(text, first, rest, one_cell=one_cell)
    return (_narrow_breaks if one_cell else _wide_breaks)(text, first, rest)


def _paragraphs(spans: Sequence[Span]) -> Iterator[list[Span]]:
    """Spans split at newlines."""
    current: list[Span] = []
    for span in spans:
        if "\n" not in span.text:
            current.append(span)
            continue
        head, *others = span.text.split("\n")
        if head:
            current.append(Span(head, span.style))
        for other in others:
            yield current
            current = [Span(other, span.style)] if other else []
    yield current


def wrap(
    spans: Sequence[Span],
    width: int | None,
    first: Sequence[Span] = (),
    rest: Sequence[Span] = (),
    *,
    hard: bool = False,
) -> list[Line]:
    """Lines of at most `width` cells, prefixes included; `None` breaks at newlines only.

    If prefixes would leave hardly any room, the first one is placed above the text and the other is left out.
    """
    text = text_of(spans)
    if not text:
        return [list(first)] if width is None or width_of(first) <= width else above(first, width) or [[]]
    if "\n" in text:
        out: list[Line] = []
        for paragraph in _paragraphs(spans):
            out += wrap(paragraph, width, first, rest, hard=hard)
            first = rest
        return out
    if width is None:
        return [[*first, *spans]]
    first_width = rest_width = 0
    if first or rest:
        first_width, rest_width = width_of(first), width_of(rest)
        if width - max(first_width, rest_width) < LEAST_ROOM:
            return [*above(first, width), *wrap(spans, width, hard=hard)]
    one_cell = one_cell_each(text)
    if one_cell and len(text) <= width - first_width:
        return [[*first, *spans]]
    pieces = breaks(text, width - first_width, width - rest_width, hard=hard, one_cell=one_cell)
    if len(spans) == 1:
        style = spans[0].style
        lines: list[Line] = [[*rest, Span(text[start:end], style)] for start, end in pieces]
    else:
        lines = [[*rest, *line] for line in slice_lines(spans, pieces)]
    if not lines:  # nothing but spaces, and more of them than the line holds
        return [list(first)]
    lines[0][: len(rest)] = first
    return lines


def above(prefix: Sequence[Span], width: int) -> list[Line]:
    """A prefix as lines of its own, if there is anything to see in it."""
    visible = trim(list(prefix))
    return wrap(visible, width, hard=True) if text_of(visible).strip() else []


def trim(line: Line) -> Line:
    """The line without spaces at its end."""
    end = len(line)
    while end:
        last = line[end - 1]
        if text := last.text.rstrip(" "):
            return line[:end] if text == last.text else [*line[: end - 1], Span(text, last.style)]
        end -= 1
    return []
