"""Text at the HTML sink: everything is sanitised and escaped here, and nowhere else.

Callers pass raw text and get markup back; no function of the html surface puts foreign text into markup except through
`escape` and `attribute`.
"""

import html
import re
from hashlib import sha256

from vantage.document.addresses import real_address, shows_another
from vantage.document.highlight import COLORS, highlight
from vantage.document.inline import safe_url
from vantage.surfaces.icons import icon
from vantage.text.palette import TOKENS
from vantage.text.sanitize import one_line, sanitize
from vantage.text.spans import Line
from vantage.text.style import NORMAL, Style

RASTER = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}")
MAX_DATA_URI = 100_000
"""Characters of a `data:` picture; a larger one must be an asset of the conversation."""
ASSET = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")
ASSET_PATH = "assets/"
"""Where a page finds the conversation's assets, relative to itself."""

MAX_ATTRIBUTE = 1000

_LANGUAGE = re.compile(r"[A-Za-z0-9+#._-]{1,32}")
_ID = re.compile(r"[^A-Za-z0-9-]")
_FLAGS = ("bold", "dim", "italic", "underline", "strike", "reverse")


def escape(text: str) -> str:
    return html.escape(sanitize(text))


def attribute(text: str) -> str:
    """Text for an attribute's value, between double quotes: a name or a label, so it is cut."""
    text = one_line(text)
    return html.escape(text if len(text) <= MAX_ATTRIBUTE else f"{text[:MAX_ATTRIBUTE]}…")


def exact_attribute(text: str) -> str:
    """Text for an attribute that the page uses rather than shows: uncut, with lines and tabs.

    A control byte or a bidi override is spelt out here too, because it would have an effect where a copy is pasted.
    """
    safe = "\t".join([sanitize(part) for part in text.split("\t")])
    return html.escape(safe).replace("\n", "&#10;").replace("\t", "&#9;")


def element_id(prefix: str, name: str) -> str:
    """An id that may contain any row id or footnote label; different names give different ids."""
    if len(name) > 100:
        name = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{prefix}-{_ID.sub(lambda match: f'_{ord(match[0]):x}_', name)}"


def style_classes(style: Style, *others: str) -> str:
    """`v-bold v-accent v-fg-203`: tokens by name, palette colours by number; `others` stand before them."""
    names = [*others, *[f"v-{flag}" for flag in _FLAGS if getattr(style, flag)]]
    for kind, color in (("fg", style.color), ("bg", style.background)):
        if isinstance(color, int):
            names.append(f"v-{kind}-{color & 255}")
        elif color in TOKENS:
            names.append(f"v-{color}" if kind == "fg" else f"v-bg-{color}")
    return " ".join(names)


def icon_html(name: str, color: str = "") -> str:
    """An icon as our own strokes in the colour of the text, or in one of the theme's."""
    found = icon(name)
    classes = style_classes(Style(color), "v-icon", f"v-icon-{found.name}")
    return (
        f'<svg class="{classes}" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false" '
        'fill="none" stroke="currentColor" stroke-width="1.25" stroke-linecap="round" stroke-linejoin="round">'
        f'<path d="{found.svg}"></path></svg>'
    )


def anchor(url: str, body: str, title: str = "") -> str:
    """A link to an address that `safe_url` let through."""
    tip = f' title="{attribute(title)}"' if title else ""
    return f'<a class="v-link" href="{html.escape(url)}"{tip} rel="noopener noreferrer nofollow">{body}</a>'


def marked(text: str, url: str) -> str:
    """The address that follows a link whose text shows another one."""
    return f' <span class="v-url">({escape(real_address(url))})</span>' if shows_another(text, url) else ""


def spans_html(line: Line) -> str:
    out = []
    for span in line:
        body = escape(span.text)
        if span.style != NORMAL:
            classes = style_classes(span.style)
            if classes:
                body = f'<span class="{classes}">{body}</span>'
            if span.style.link and (url := safe_url(span.style.link)):
                body = anchor(url, body) + marked(span.text, url)
        out.append(body)
    return "".join(out)


def code_html(text: str, language: str = "", start_line: int | None = None) -> str:
    """The inside of a `<code>` element: highlighted, with a gutter when the lines have numbers."""
    lines = []
    for number, tokens in enumerate(highlight(sanitize(text), language), start_line or 0):
        line = "".join(
            [
                f'<span class="v-t-{kind}">{html.escape(value)}</span>' if kind in COLORS else html.escape(value)
                for kind, value in tokens
            ]
        )
        gutter = f'<span class="v-line-number" aria-hidden="true">{number}</span>' if start_line is not None else ""
        lines.append(gutter + line)
    return "\n".join(lines)


def pre_html(body: str, name: str, label: str) -> str:
    """Preformatted text. It may scroll sideways, so it can be focused, and screen readers are given a name for it."""
    return f'<pre class="{name}" tabindex="0" role="group" aria-label="{attribute(label)}">{body}</pre>'


def code_figure(text: str, language: str = "", start_line: int | None = None, caption: str = "") -> str:
    """Code under the info string of its fence, which usually is the language."""
    caption = one_line(caption or language)
    caption = f'<figcaption class="v-code-language">{html.escape(caption)}</figcaption>' if caption else ""
    language = language if _LANGUAGE.fullmatch(language) else ""
    code = f"<code>{code_html(text, language, start_line)}</code>"
    return f'<figure class="v-code">{caption}{pre_html(code, "v-pre", f"{language} code".strip())}</figure>'


def image_html(source: str, alt: str) -> str:
    """A picture of the conversation or a small embedded one; a remote one becomes a link, never a request."""
    label = alt or "image"
    if ASSET.fullmatch(source):
        return f'<img class="v-image" src="{ASSET_PATH}{source}" alt="{attribute(alt)}">'
    if len(source) <= MAX_DATA_URI and RASTER.fullmatch(source):
        return f'<img class="v-image" src="{source}" alt="{attribute(alt)}">'
    if url := safe_url(source):
        return anchor(url, escape(f"[image: {label}]")) + marked(label, url)
    address = "" if source.startswith("data:") or not source else f" ({source[:200]})"
    return f'<span class="v-missing-image">{escape(f"[image: {label}]{address}")}</span>'
