"""Images as text: what they show and where they are, in the words that `document.inline` uses."""

from vantage.document.fit.walk import each_inline
from vantage.document.nodes import CODE, Block, Image, Inline, Link, Text
from vantage.presentation import PresentationContext
from vantage.text.sanitize import one_line


def images(blocks: list[Block], context: PresentationContext, notes: list[str]) -> list[Block]:
    if context.supports_images:
        return blocks
    out = each_inline(blocks, _without_images)
    if out is not blocks:
        notes.append("image → text")
    return out


def _without_images(content: list[Inline]) -> list[Inline]:
    if not any(isinstance(part, Image) for part in content):
        return content
    out: list[Inline] = []
    for part in content:
        out += in_words(part) if isinstance(part, Image) else [part]
    return out


def in_words(image: Image) -> list[Inline]:
    """`[image: alt] (address)`; a `data:` address means nothing to a reader, and is left out."""
    alt, url = one_line(image.alt), one_line(image.url)
    name = f"[image: {alt}]" if alt else "[image]"
    if not url or url.startswith("data:"):
        return [Text(name, 0, image.link)]
    if image.link is not None:  # the link's own address follows it
        return [Text(f"{name} ({url})", 0, image.link)]
    return [Text(f"{name} ("), Text(url, CODE, Link(image.url)), Text(")")]
