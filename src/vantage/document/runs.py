"""Joins runs of text of a finished block that differ in nothing, and tells prices from formulas."""

import re
from typing import cast

from vantage.document.nodes import CODE, HTML, MATH, Break, Inline, Text

SOFT, HARD = Break(), Break(hard=True)

_VERBATIM = CODE | MATH | HTML
_TEX = re.compile(r"[\\^_{}]")
_PRICE = re.compile(r"\d.*[^\W\d_]{2}", re.DOTALL)
# From the beginning of a word and with all of it: a word of a megabyte is then read once, not from every letter of it.
_PROSE = re.compile(r"(?<![^\W\d_])[^\W\d_]{3,}+[,;.:!?]?\s+(?:\S+\s+)*?[^\W\d_]{3,}")
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]+")


def tidy(parts: list[Inline]) -> list[Inline]:
    """Joins runs that differ in nothing, and leaves no space around hard breaks."""
    out: list[Inline] = []
    pieces: list[str] = []  # the text of the run that `out` ends with, while it is being joined
    for index, part in enumerate(parts):
        last = out[-1] if out else None
        if isinstance(part, Text):
            run = part
            if run.marks & MATH and _VARIABLE.fullmatch(run.text):
                following = parts[index + 1] if index + 1 < len(parts) else None
                if isinstance(following, Text) and following.text[:1].isalnum():
                    run = Text(f"${run.text}$", run.marks & ~MATH, run.link)
            if last is HARD and not run.marks & _VERBATIM:
                run = Text(run.text.lstrip(), run.marks, run.link)
                if not run.text and run.link is None:
                    continue
            if (
                isinstance(last, Text)
                and last.marks == run.marks
                and last.link is run.link
                and not run.marks & _VERBATIM
            ):
                pieces = pieces or [last.text]
                pieces.append(run.text)
            else:
                _join(out, pieces)
                out.append(run)
            continue
        _join(out, pieces)
        if part is HARD and out:
            last = out[-1]
            if isinstance(last, Text) and not last.marks & _VERBATIM:
                out[-1] = last = Text(last.text.rstrip(), last.marks, last.link)
            if last is SOFT or (isinstance(last, Text) and not last.text and last.link is None):
                out.pop()
        if part is not SOFT or last is not HARD:
            out.append(part)
    _join(out, pieces)
    return out


def _join(out: list[Inline], pieces: list[str]) -> None:
    if pieces:
        last = cast("Text", out[-1])
        out[-1] = Text("".join(pieces), last.marks, last.link)
        pieces.clear()


def is_formula(text: str) -> bool:
    """Whether dollars around `text` mean a formula, and not prices or shell variables."""
    if _TEX.search(text):
        return True
    return not (_PRICE.match(text) or _PROSE.search(text) or (len(text) > 1 and text[-1] in ":/,;.-+=(&|"))
