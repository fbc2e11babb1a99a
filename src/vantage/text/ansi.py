"""Lines → a string for a terminal: SGR for styles, OSC 8 for links, nothing else."""

from collections.abc import Iterable

from vantage.text.palette import Palette
from vantage.text.spans import Span
from vantage.text.style import NORMAL, Style

RESET = "\x1b[0m"


class Encoder:
    """Writes lines for one palette, remembering each style's codes. Every line stands alone: it resets what it set."""

    def __init__(self, palette: Palette, *, hyperlinks: bool = False) -> None:
        self._palette = palette
        self._hyperlinks = hyperlinks
        self._frames: dict[Style, tuple[str, str]] = {NORMAL: ("", "")}

    def _frame(self, style: Style) -> tuple[str, str]:
        codes = self._palette.sgr(style)
        before, after = (f"\x1b[{codes}m", RESET) if codes else ("", "")
        if self._hyperlinks and style.link:
            before, after = f"\x1b]8;;{style.link}\x1b\\{before}", f"{after}\x1b]8;;\x1b\\"
        self._frames[style] = before, after
        return before, after

    def line(self, spans: Iterable[Span]) -> str:
        out: list[str] = []
        frames = self._frames
        previous: Style = NORMAL
        after = ""
        for span in spans:
            if not span.text:
                continue
            style = span.style
            if style is not previous and style != previous:
                out.append(after)
                before, after = frames.get(style) or self._frame(style)
                out.append(before)
                previous = style
            out.append(span.text)
        out.append(after)
        return "".join(out)

    def lines(self, lines: Iterable[Iterable[Span]]) -> str:
        return "\n".join([self.line(line) for line in lines])
