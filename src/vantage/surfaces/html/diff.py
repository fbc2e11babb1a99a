"""File changes as tables: old and new line numbers, a sign that can be read as well as seen, the line."""

from vantage.surfaces.html.text import attribute, escape, spans_html
from vantage.text.spans import text_of
from vantage.timeline.row import DiffLine, FileDiff, file_head

# sign → (class, the word for it)
_SIGNS = {"+": ("v-inserted", "added"), "-": ("v-deleted", "removed"), " ": ("v-context", "")}
_GAP = (
    '<tbody><tr class="v-gap"><td colspan="4">'
    '<span aria-hidden="true">⋮</span><span class="v-sr">lines left out</span></td></tr></tbody>'
)


def diff_html(file: FileDiff, row_title: str = "") -> str:
    """One file: what was done to it, unless the row's title says so already, and its hunks when there are any."""
    head = file_head(file)
    title = "" if text_of(head) == row_title else f'<figcaption class="v-file">{spans_html(head)}</figcaption>'
    hunks = [hunk for hunk in file.hunks if hunk]
    if not hunks:
        return f'<figure class="v-diff">{title}</figure>' if title else ""
    numbers = _Numbers()
    bodies = [f"<tbody>{''.join([_line(line, numbers) for line in hunk])}</tbody>" for hunk in hunks]
    return (
        f'<figure class="v-diff">{title}'
        f'<div class="v-table-scroll" tabindex="0" role="group" aria-label="{attribute(f"changes in {file.path}")}">'
        '<table class="v-diff-table"><thead class="v-sr"><tr><th scope="col">old line</th><th scope="col">new line</th>'
        f'<th scope="col">change</th><th scope="col">text</th></tr></thead>{_GAP.join(bodies)}</table></div></figure>'
    )


class _Numbers:
    """Computes the old number of a context line from its new number and the changes above it."""

    def __init__(self) -> None:
        self.shift = 0

    def of(self, line: DiffLine) -> tuple[int | None, int | None]:
        if line.sign == "+":
            self.shift += 1
            return None, line.number
        if line.sign == "-":
            self.shift -= 1
            return line.number, None
        return (None if line.number is None else line.number - self.shift), line.number


def _line(line: DiffLine, numbers: _Numbers) -> str:
    name, word = _SIGNS.get(line.sign, _SIGNS[" "])
    old, new = ("" if number is None else number for number in numbers.of(line))
    sign = f'<span aria-hidden="true">{line.sign}</span><span class="v-sr">{word}</span>' if word else ""
    return (
        f'<tr class="{name}"><td class="v-number">{old}</td><td class="v-number">{new}</td>'
        f'<td class="v-sign">{sign}</td><td class="v-source"><code>{escape(line.text)}</code></td></tr>'
    )
