"""Inline parts as styled text: how runs, breaks, links and images read on a line of cells."""

import re
from functools import lru_cache

from vantage.document.addresses import real_address
from vantage.document.nodes import CODE, EMPHASIS, HTML, STRIKE, STRONG, Break, FootnoteRef, Image, Inline, Link, Text
from vantage.text.sanitize import one_line, sanitize
from vantage.text.spans import Line, Span
from vantage.text.style import ACCENT, NORMAL, Style

SAFE_URL = re.compile(r"(?:https?://|mailto:)[!-~]+", re.IGNORECASE)
"""Addresses that may be followed: the scheme is known, and every character is printable ASCII."""
_FOREIGN = re.compile(r"[^!-~]+")


def safe_url(url: str) -> str | None:
    """The address, if following it can only open a page or a mail; `…/Köln` is percent-encoded."""
    url = url.strip()
    if SAFE_URL.match(url) and _FOREIGN.search(url):
        if sanitize(url) != url:
            return None
        url = _FOREIGN.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace")), url)
    return url if SAFE_URL.fullmatch(url) else None


@lru_cache(maxsize=512)
def style_of(marks: int, url: str | None = None) -> Style:
    """The style that marks stand for; code is accented, its backticks dropped."""
    return Style(
        color="accent" if marks & (CODE | HTML) else None,
        bold=bool(marks & STRONG),
        italic=bool(marks & EMPHASIS),
        strike=bool(marks & STRIKE),
        link=url,
    )


def spans_of(content: list[Inline]) -> Line:
    """The parts as a reader sees them. A hard break is a newline, a soft one a space; links read `text (url)`."""
    out: Line = []
    link: Link | None = None
    link_start = 0
    for part in content:
        if isinstance(part, Text) and part.link is link is None:  # nearly all parts
            out.append(Span(sanitize(part.text), style_of(part.marks) if part.marks else NORMAL))
            continue
        part_link = part.link if isinstance(part, (Text, Image)) else link if isinstance(part, Break) else None
        if part_link is not link:
            if link is not None:
                _close_link(out, link, link_start)
            link, link_start = part_link, len(out)
        if isinstance(part, Text):
            url = safe_url(part.link.url) if part.link else None
            out.append(Span(sanitize(part.text), style_of(part.marks, url) if part.marks or part.link else NORMAL))
        elif isinstance(part, Break):
            out.append(Span("\n" if part.hard else " "))
        elif isinstance(part, Image):
            _append_image(out, part)
        elif isinstance(part, FootnoteRef):
            out.append(Span(f"[{one_line(part.label)}]", ACCENT))
    if link is not None:
        _close_link(out, link, link_start)
    return out


def _close_link(out: Line, link: Link, start: int) -> None:
    """The address behind a link's text, unless the text says it already."""
    url = one_line(link.url)
    text = "".join([span.text for span in out[start:]]).strip()
    real = real_address(url)
    if url and (real != url or text not in (url, url.removeprefix("mailto:"))):
        address = Span(f"({real})" if text else real, style_of(CODE, safe_url(link.url)))
        out += [Span(" "), address] if text else [address]


def _append_image(out: Line, image: Image) -> None:
    """Where no picture can be drawn: what it shows, and where it is."""
    url = one_line(image.url)
    alt = one_line(image.alt)
    out.append(Span(f"[image: {alt}]" if alt else "[image]", style_of(0)))
    if url and not url.startswith("data:"):
        out += [Span(" "), Span(f"({url})", style_of(CODE, safe_url(image.url)))]
