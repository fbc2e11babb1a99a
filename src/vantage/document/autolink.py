"""Bare addresses in running text, found as GitHub finds them: `see https://x.y/z.` links all but the full stop."""

import re

from vantage.document.nodes import Inline, Link, Text

_ADDRESS = re.compile(
    r"(?<![A-Za-z0-9/:@.])(?:(?:https?|ftp)://|www\.)[^\s<>\"`，。；：！？、（）【】《》「」『』“”‘’]+", re.IGNORECASE
)
_HOST = re.compile(r"(?:[a-z]+://)?(?:[^/?#@\s]*@)?(?:\[[0-9a-f:.]+\]|[^\W_])", re.IGNORECASE)
_TRAILING = "?!.,:;*_~'…"
_BRACKETS = {")": "(", "]": "[", "}": "{"}


def split_addresses(text: str, marks: int) -> list[Inline]:
    """The run as it is, or in parts with each address a link of its own."""
    parts: list[Inline] = []
    done = 0
    for match in _ADDRESS.finditer(text):
        start = match.start()
        end = start + _length(match.group())
        shown = text[start:end]
        if not _HOST.match(shown) or (shown[:4].lower() == "www." and len(shown) == 4):
            continue
        if start > done:
            parts.append(Text(text[done:start], marks))
        parts.append(Text(shown, marks, Link(shown if "://" in shown[:8] else f"http://{shown}")))
        done = end
    if done < len(text):
        parts.append(Text(text[done:], marks))
    return parts


def _length(address: str) -> int:
    """How much of the match is the address: no trailing punctuation, no bracket that was opened before it."""
    end = len(address)
    counts: dict[str, int] | None = None
    while end:
        last = address[end - 1]
        if last in _BRACKETS:
            # Counted once and kept up to date, so that a thousand closing brackets cost a thousand steps.
            counts = counts or {bracket: address.count(bracket) for bracket in "()[]{}"}
            if counts[last] <= counts[_BRACKETS[last]]:
                break
            counts[last] -= 1
        elif last not in _TRAILING:
            break
        end -= 1
    return end
