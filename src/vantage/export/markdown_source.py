"""A message's markdown as a part of a larger document: its words stay, and it cannot affect other parts.

Raw HTML becomes text, headings go below those of the document, footnotes get names of their own, images become links so
that they are not fetched, links with schemes that do more than open a page become text, and an open fence is closed.
Everything else is unchanged.
"""

import re
from collections.abc import Iterator
from typing import Any

from vantage.document.inline import safe_url
from vantage.document.markdown import PARSER
from vantage.text.sanitize import sanitize

_UNSEEN = re.compile("[\\x00-\\x20\\x7f-\\xa0\\xad\\u200b-\\u200f\\u2028-\\u202f\\u2060-\\u206f\\ufeff]+")
"""Characters that a reader of markdown may ignore in an address, as browsers ignore tabs."""
_SCHEME = re.compile(r"[^/?#]*?:")
_FENCE = re.compile(r"`{3,}|~{3,}")
_TRIES = 8
_Edit = tuple[int, int, bytes]
"""The start and end of a range of bytes, and the bytes that replace it."""


def embed(text: str, name: str, below: int) -> str:
    """The text as a part of a document. `name` makes its footnotes unique; its headings are moved `below` a level."""
    source = printable(text).strip("\n")
    headed = False
    for _ in range(_TRIES):
        data = source.encode()
        edits = list(_edits(data, name, 0 if headed else below))
        headed = True
        if not edits:
            return _closed(source)
        source = _edited(data, edits).decode()
    # edits uncover new markup each time: the text is shown as code instead
    return fenced(text)


def _edited(data: bytes, edits: list[_Edit]) -> bytes:
    """The bytes with every edit made. An edit that overlaps the previous one waits for the next pass."""
    parts: list[bytes] = []
    done = 0
    for start, end, new in sorted(edits):
        if start < done:
            continue
        parts += data[done:start], new
        done = end
    return b"".join([*parts, data[done:]])


def printable(text: str) -> str:
    """Text without characters that a terminal or reader would act upon; tabs stay."""
    return "\t".join(map(sanitize, text.split("\t")))


def fenced(text: str, language: str = "") -> str:
    """Text as a code block, its fence longer than any in it."""
    text = printable(text)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    name = re.sub(r"[^\w+#.-]", "", language)
    return f"{fence}{name}\n{text.rstrip(chr(10))}\n{fence}"


def code_span(text: str) -> str:
    """Text of one line as code."""
    text = printable(text)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks = "`" * (longest + 1)
    padded = (
        f" {text} " if text[:1] == "`" or text[-1:] == "`" or (text[:1] == text[-1:] == " " and text.strip()) else text
    )
    return f"{ticks}{padded}{ticks}"


_SPECIAL = re.compile(r"[\\`*_\[\]<>&|~$]")
_LINE_START = re.compile(r"^([^\S\n]*)(?:([-+#=])|(\d{1,9})([.)]))(?=\s|$|[-+#=])", re.MULTILINE)


def escaped(text: str) -> str:
    """Words as literal text, not as markdown. Line ends are breaks; indented text becomes code."""
    if re.search(r"^[ \t]", text, re.MULTILINE):
        return fenced(text)
    text = _SPECIAL.sub(r"\\\g<0>", printable(text))
    text = _LINE_START.sub(_harmless, text)
    return re.sub(r"(?<! ) *\n(?=[^\n])(?<!\n\n)", "  \n", text)


def _harmless(found: re.Match[str]) -> str:
    space, sign, number, point = found.groups()
    return f"{space}\\{sign}" if sign else f"{space}{number}\\{point}"


def _edits(data: bytes, name: str, below: int) -> Iterator[_Edit]:
    for event, where in PARSER.events_with_range(data.decode()):
        start, end = where["start"], where["end"]
        kind, value = _said(event)
        if kind in ("Html", "InlineHtml"):
            yield start, end, data[start:end].replace(b"<", b"&lt;")
        elif kind == "FootnoteReference" and not value.startswith(name):
            yield start + 2, start + 2, name.encode()
        elif kind == "Start" and isinstance(value, dict):
            yield from _start_edits(value, data, start, end, name, below)
    if b"]:" in data:  # a definition applies to the whole document, so also to other messages
        for found in PARSER.reference_definitions(data.decode()).values():
            if _acts(found["dest"]):
                yield found["span"]["start"], found["span"]["start"], b"\\"


def _acts(address: str) -> bool:
    """Whether following an address may do more than open a page or a mail."""
    return _SCHEME.match(_UNSEEN.sub("", address)) is not None and not safe_url(address)


def _said(event: Any) -> tuple[str, Any]:
    """An event of the parser: its kind and its content."""
    return next(iter(event.items())) if isinstance(event, dict) else (event, None)


def _start_edits(value: dict[str, Any], data: bytes, start: int, end: int, name: str, below: int) -> Iterator[_Edit]:
    kind, about = next(iter(value.items()))
    if kind == "Heading" and below and data[start : start + 1] == b"#":
        level = int(about["level"][1:])
        yield start, start + level, b"#" * min(level + below, 6)
    elif kind == "Heading" and below and b">" not in data[start:end]:  # underlined
        words = b" ".join(data[start:end].strip().split(b"\n")[:-1])
        yield start, end, b"#" * min(int(about["level"][1:]) + below, 6) + b" " + words.strip() + b"\n"
    elif kind == "FootnoteDefinition" and not about.startswith(name):
        yield start + 2, start + 2, name.encode()
    elif kind in ("Link", "Image") and _acts(about["dest_url"]):
        yield start, start, b"\\"
        if kind == "Image":
            yield start + 1, start + 1, b"\\"
    elif kind == "Image":
        yield start, start + 1, b""


def _closed(source: str) -> str:
    """The text with its last fence closed if it was open: it would swallow what follows."""
    for tail in ("", *_fences(source)):
        if _lets_go(source + tail):
            return source + tail
    return fenced(source)


def _fences(source: str) -> list[str]:
    """Lines that may close the last fence, the likeliest first."""
    return [f"\n{mark}" for mark in dict.fromkeys(reversed(_FENCE.findall(source)))][:_TRIES]


def _lets_go(source: str) -> bool:
    """Whether a heading that follows the text is read as a heading."""
    if _FENCE.search(source) is None:
        return True
    last = None
    for event, where in PARSER.events_with_range(f"{source}\n\n# end\n"):
        kind, value = _said(event)
        if kind == "Start":
            last = value, where["start"]
    return last is not None and "Heading" in last[0] and last[1] == len(source.encode()) + 2
