"""Lines → a string for a terminal: SGR for styles, OSC 8 for links, nothing else."""

from collections.abc import Iterable

from vantage.text.palette import Palette
from vantage.text.spans import Span
from vantage.text.style import NORMAL, Style

RESET = "\x1b[0m"
_MAX_FRAMES = 4096


class Encoder:
    """Writes lines for one palette, caching each style's codes. Every line stands alone: it resets what it set."""

    def __init__(self, palette: Palette, *, hyperlinks: bool = False) -> None:
        self._palette = palette
        self._hyperlinks = hyperlinks
        self._frames: dict[int, tuple[str, str, Style]] = {}
        """Keyed by the style's identity, which is cheaper to look up than its value; the style is kept, so the id stays
        unique.
        """

    def _frame(self, style: Style) -> tuple[str, str, Style]:
        codes = self._palette.sgr(style)
        before, after = (f"\x1b[{codes}m", RESET) if codes else ("", "")
        if self._hyperlinks and style.link:
            before, after = f"\x1b]8;;{style.link}\x1b\\{before}", f"{after}\x1b]8;;\x1b\\"
        if len(self._frames) >= _MAX_FRAMES:
            self._frames.clear()
        frame = self._frames[id(style)] = before, after, style
        return frame

    def line(self, spans: Iterable[Span]) -> str:
        out = after = ""
        frames = self._frames
        previous: Style = NORMAL
        for span in spans:
            style, text = span.style, span.text
            if style is previous:
                out += text
            elif text:
                if style is NORMAL:
                    out += after + text
                    after = ""
                elif style == previous:
                    out += text
                else:
                    before, then, _ = frames.get(id(style)) or self._frame(style)
                    out += f"{after}{before}{text}"
                    after = then
                previous = style
        return out + after if after else out

    def lines(self, lines: Iterable[Iterable[Span]]) -> str:
        return "\n".join([self.line(line) for line in lines])
