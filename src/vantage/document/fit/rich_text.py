"""Text for clients without bold, italic and links: marks are dropped, links read `text (address)`.

Struck text keeps its `~~`, because without them it would say the opposite.
"""

from vantage.document.addresses import real_address
from vantage.document.fit.walk import each_inline
from vantage.document.nodes import STRIKE, Block, Break, Image, Inline, Link, Text
from vantage.presentation import PresentationContext
from vantage.text.sanitize import one_line


def rich_text(blocks: list[Block], context: PresentationContext, notes: list[str]) -> list[Block]:
    if context.supports_rich_text:
        return blocks
    out = each_inline(blocks, without_marks)
    if out is not blocks:
        notes.append("rich text → plain")
    return out


def without_marks(content: list[Inline]) -> list[Inline]:
    """The same words without marks. Runs of one link share its value, so an address follows the last of them."""
    if not any((isinstance(part, Text) and (part.marks or part.link)) or _linked_image(part) for part in content):
        return content
    out: list[Inline] = []
    link: Link | None = None
    start = 0
    struck = False
    for part in content:
        here = part.link if isinstance(part, Text | Image) else link if isinstance(part, Break) else None
        if here is not link:
            _say_address(out, link, start)
            link, start = here, len(out)
        if isinstance(part, Text) and bool(part.marks & STRIKE) != struck:
            struck = not struck
            out.append(Text("~~"))
        if isinstance(part, Text):
            out.append(Text(part.text))
        elif isinstance(part, Image):
            out.append(Image(part.alt, part.url, part.title))
        else:
            out.append(part)
    _say_address(out, link, start)
    return [*out, Text("~~")] if struck else out


def _linked_image(part: Inline) -> bool:
    return isinstance(part, Image) and part.link is not None


def _say_address(out: list[Inline], link: Link | None, start: int) -> None:
    """The address after a link's text, unless the text already says it: the same rule as in `document.inline`."""
    url = one_line(link.url) if link is not None else ""
    if not url:
        return
    said = "".join([part.text for part in out[start:] if isinstance(part, Text)]).strip()
    real = real_address(url)
    if real == url and said in (url, url.removeprefix("mailto:")):
        return
    bare = not said and not any(isinstance(part, Image) for part in out[start:])
    out.append(Text(real if bare else f" ({real})"))
