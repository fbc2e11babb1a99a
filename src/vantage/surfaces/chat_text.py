"""Text for chat clients: runs of characters with marks, and cutting them into messages.

A list of runs is cut only between graphemes: at a line end if that leaves no message half empty, else at a space, else
anywhere between two. Nothing but the space or newline at the cut is dropped.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, groupby

import msgspec

from vantage.document import nodes
from vantage.document.addresses import real_address, shows_another
from vantage.document.inline import safe_url
from vantage.document.nodes import EMPHASIS, STRIKE, STRONG, Inline, Link
from vantage.text.sanitize import one_line, sanitize
from vantage.text.spans import Line
from vantage.text.width import graphemes

STRIP = 4096
MAX_URL = 2000
"""A longer address is spelt out: clients refuse it as a link, and it could not be split between messages."""
_ESCAPED = "|<>&()\\"
"""Characters that markup writes as up to five characters in an address."""
LOOK_AHEAD = 64
"""How many characters after a cut are examined to decide whether a grapheme crosses it."""


class Run(msgspec.Struct, frozen=True):
    """Characters that share their marks; sanitised."""

    text: str
    marks: int = 0
    """As in `nodes.Text`."""
    url: str | None = None
    """Where the text leads: only addresses that `safe_url` let through."""
    markup: bool = False
    """Our own structure (`- `, `## `), which a surface with markup writes unescaped."""


Runs = list[Run]
Measure = Callable[[Runs], int]


def text_of(runs: Iterable[Run]) -> str:
    return "".join([run.text for run in runs])


def utf16(text: str) -> int:
    """The length in UTF-16 units, which Telegram counts in."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def units(runs: Runs) -> int:
    return utf16(text_of(runs))


def slice_runs(runs: Iterable[Run], start: int, end: int) -> Runs:
    """Characters `start` to `end`."""
    out: Runs = []
    position = 0
    for run in runs:
        after = position + len(run.text)
        if after > start and (text := run.text[max(start - position, 0) : end - position]):
            out.append(run if text == run.text else msgspec.structs.replace(run, text=text))
        position = after
        if position >= end:
            break
    return out


def merged(runs: Iterable[Run]) -> Runs:
    """The runs with equal neighbours joined, and empty ones dropped."""
    out: Runs = []
    for _, same in groupby([run for run in runs if run.text], lambda run: (run.marks, run.url, run.markup)):
        alike = list(same)
        out.append(alike[0] if len(alike) == 1 else msgspec.structs.replace(alike[0], text=text_of(alike)))
    return out


def lines_of(runs: Runs) -> list[Runs]:
    """The runs, split at newlines."""
    lines: list[Runs] = [[]]
    for run in runs:
        head, *others = run.text.split("\n")
        if head:
            lines[-1].append(msgspec.structs.replace(run, text=head) if others else run)
        lines += [[msgspec.structs.replace(run, text=other)] if other else [] for other in others]
    return lines


def join_lines(lines: Iterable[Runs]) -> Runs:
    out: Runs = []
    for index, line in enumerate(lines):
        if index:
            out.append(Run("\n"))
        out += line
    return out


def prefixed(runs: Runs, first: Run | None, rest: str) -> Runs:
    """The runs with `first` before them, and `rest` before each of their further lines."""
    lines = lines_of(runs)
    out = [[first, *lines[0]] if first else lines[0]]
    return join_lines([*out, *[[Run(rest), *line] if line and rest else line for line in lines[1:]]])


def trimmed(runs: Runs) -> Runs:
    """The runs without white space at either end."""
    text = text_of(runs)
    end = len(text.rstrip())
    start = len(text) - len(text.lstrip())
    return runs if (start, end) == (0, len(text)) else slice_runs(runs, start, end)


def boundaries(text: str) -> list[int]:
    """Where graphemes end."""
    return list(accumulate([len(cluster) for cluster in graphemes(text)]))


def whole_graphemes(runs: Runs) -> Runs:
    """The runs, split between graphemes only: a combining mark belongs to the run of its base character."""
    if len(runs) < 2 or all(run.text.isascii() for run in runs):
        return runs
    text = text_of(runs)
    ends = boundaries(text)
    out: Runs = []
    start = position = 0
    index = 0
    for run in runs:
        position += len(run.text)
        while index < len(ends) and ends[index] < position:
            index += 1
        end = ends[index] if index < len(ends) else len(text)
        if end > start:
            out.append(msgspec.structs.replace(run, text=text[start:end]))
            start = end
    return out


def best_cut(text: str, limit: int) -> int:
    """The best place to cut at or before `limit`, which lies inside `text`."""
    text = text[: limit + LOOK_AHEAD]
    fits = [end for end in boundaries(text) if end <= limit]
    if not fits:  # one grapheme of thousands of marks
        return limit
    allowed = set(fits)
    inked = len(text) - len(text.lstrip(" \n")) + 1
    for floor in (max(limit // 2, inked), inked):
        for mark in ("\n", " "):
            at = text.rfind(mark, floor, limit)
            while at >= floor:
                if at + 1 in allowed:
                    return at + 1
                at = text.rfind(mark, floor, at)
    return fits[-1]


class Feed:
    """Runs that are taken from the front, in pieces that fit."""

    def __init__(self, runs: Runs, measure: Measure = units) -> None:
        # in strips, so that taking the front of a megabyte does not copy the megabyte
        self._runs = deque(
            [
                run if len(run.text) <= STRIP else msgspec.structs.replace(run, text=run.text[start : start + STRIP])
                for run in runs
                for start in range(0, len(run.text), STRIP)
            ]
        )
        self._measure = measure

    def __bool__(self) -> bool:
        return bool(self._runs)

    def fits(self, limit: int) -> bool:
        """Whether everything that is left fits."""
        length = 0
        for run in self._runs:
            length += len(run.text)
            if length > limit:
                return False
        return self._measure(list(self._runs)) <= limit

    def take(self, limit: int, *, exact: bool = False) -> Runs:
        """The longest good start that measures at most `limit`; at least one character, so that the loop ends.

        `exact` (for code) drops nothing at the cut but a newline.
        """
        if self.fits(limit):
            out = list(self._runs)
            self._runs.clear()
            return out
        window: Runs = []
        length = 0
        for run in self._runs:
            window.append(run)
            length += len(run.text)
            if length > limit + LOOK_AHEAD:
                break
        text = text_of(window)
        size = min(len(text), max(limit, 1))
        while size > 1 and (cost := self._measure(slice_runs(window, 0, size))) > limit:
            size = max(1, min(size - 1, size * max(limit, 1) // cost))
        if size < len(text):
            size = best_cut(text, size)
        out = self._pop(size)
        if exact:
            return slice_runs(out, 0, size - 1) if text[size - 1] == "\n" else out
        self._skip_space()
        return trimmed_end(out)

    def _pop(self, size: int) -> Runs:
        out: Runs = []
        while size and self._runs:
            run = self._runs.popleft()
            if len(run.text) > size:
                self._runs.appendleft(msgspec.structs.replace(run, text=run.text[size:]))
                run = msgspec.structs.replace(run, text=run.text[:size])
            size -= len(run.text)
            out.append(run)
        return out

    def _skip_space(self) -> None:
        while self._runs:
            run = self._runs[0]
            text = run.text.lstrip(" \n")
            if text:
                if text != run.text:
                    self._runs[0] = msgspec.structs.replace(run, text=text)
                return
            self._runs.popleft()


def trimmed_end(runs: Runs) -> Runs:
    text = text_of(runs)
    return slice_runs(runs, 0, len(text.rstrip(" \n")))


def runs_of(content: list[Inline]) -> Runs:
    """Inline parts as runs. An address that cannot be followed is written after its text, as text."""
    out: Runs = []
    for link, group in nodes.link_groups(content):
        start, url = len(out), _linkable(link.url) if link else None
        for part in group:
            if isinstance(part, nodes.Text):
                out.append(Run(sanitize(part.text), part.marks, url))
            elif isinstance(part, nodes.Break):
                out.append(Run("\n" if part.hard else " ", 0, url))
            elif isinstance(part, nodes.Image):
                _append_image(out, part, url)
            elif isinstance(part, nodes.FootnoteRef):
                out.append(Run(f"[{one_line(part.label)}]"))
        if link is not None:
            _close_link(out, link, start)
    return [run for run in out if run.text]


def _linkable(url: str) -> str | None:
    url = safe_url(url) or ""
    return url if 0 < len(url) + 4 * sum([url.count(mark) for mark in _ESCAPED]) <= MAX_URL else None


def _close_link(out: Runs, link: Link, start: int) -> None:
    words = text_of(out[start:]).strip()
    address = one_line(link.url).strip()
    url = _linkable(link.url)
    if not words and address:
        out.append(Run(address, 0, url))
    elif url is None and address and words != address:
        out.append(Run(f" ({address})"))
    elif url is not None and shows_another(words, link.url):
        out.append(Run(f" ({real_address(address)})"))


def _append_image(out: Runs, image: nodes.Image, url: str | None) -> None:
    label = f"[image: {one_line(image.alt)}]" if image.alt else "[image]"
    remote = _linkable(image.url)
    out.append(Run(label, 0, url or remote))
    address = one_line(image.url)
    if remote is None and address and not address.startswith("data:"):
        out.append(Run(f" ({address})"))
    elif remote is not None and url is None and shows_another(image.alt, remote):
        out.append(Run(f" ({real_address(remote)})"))


def runs_of_line(line: Line) -> Runs:
    """A head's spans: bold, italic and strike survive, colours do not."""
    out = []
    for span in line:
        style = span.style
        marks = STRONG * style.bold | EMPHASIS * style.italic | STRIKE * style.strike
        url = _linkable(style.link) if style.link else None
        out.append(Run(sanitize(span.text).replace("\n", " "), marks, url))
        if url is not None and shows_another(span.text, url):
            out.append(Run(f" ({real_address(url)})"))
    return [run for run in out if run.text]


def pieces(runs: Runs, limit: int, measure: Measure = units) -> Iterator[Runs]:
    """All of the runs, in pieces that each measure at most `limit`."""
    feed = Feed(runs, measure)
    while feed:
        if piece := feed.take(limit):
            yield piece
