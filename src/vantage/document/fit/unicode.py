"""Text for displays that have ASCII only: every character is replaced.

In this order: punctuation, arrows, box drawing and common signs by what people type for them (`—` → `--`); Latin
letters without their accents (`é` → `e`); powers and indices (`²` → `^2`); emoji and symbols by name (`:grinning
face:`, joined ones with `+`, flags as `:flag DE:`); a Greek letter by its name, when it stands alone. What remains
(Chinese, Cyrillic, …) is named by code points, one pair of braces a run: `中文` → `{U+4E2D U+6587}`. That is long, but
exact, breaks over lines, and can be reversed; a transliteration could not. ASCII is not changed, so converting twice
gives the same as converting once.
"""

import re
import unicodedata
from functools import lru_cache
from urllib.parse import quote

import msgspec

from vantage.document.fit.walk import convert_inlines, rewrite
from vantage.document.nodes import (
    Block,
    Break,
    CodeBlock,
    FootnoteDef,
    FootnoteRef,
    HtmlBlock,
    Image,
    Inline,
    Link,
    MathBlock,
    Text,
)
from vantage.presentation import PresentationContext


def _pairs(table: str) -> dict[str, str]:
    words = table.split()
    return dict(zip(words[::2], words[1::2], strict=True))


# One cell for one cell: what surfaces draw around text must keep its place.
_DRAWN = {
    **dict.fromkeys("─━╌╍┄┅┈┉╴╶╸╺╼╾", "-"),
    **dict.fromkeys("│┃╎╏┆┇┊┋╵╷╹╻╽╿▏▎▍▌▐▕", "|"),
    **{chr(code): "+" for code in range(0x250C, 0x254C)},
    **{chr(code): "+" for code in range(0x2552, 0x2574)},
    **dict.fromkeys("═", "="),
    **dict.fromkeys("║", "|"),
    **dict.fromkeys("╱", "/"),
    **dict.fromkeys("╲", "\\"),
    **dict.fromkeys("╳", "X"),
    **dict.fromkeys("█▉▊▋▓■▪◼", "#"),
    **dict.fromkeys("▒░▄▀▁▂▃▅▆▇▔", "%"),
    **dict.fromkeys("•◦‣∙●○◉⏺", "*"),
    "▸": ">", "▶": ">", "▹": ">", "►": ">", "◂": "<", "◀": "<", "▾": "v", "▼": "v", "▿": "v", "▴": "^", "▲": "^",
    "❯": ">", "❮": "<", "⎿": "|", "⏎": "/",
}  # fmt: skip

_TYPED = {
    **_pairs(
        """
        ‘ ' ’ ' ‚ ' ‛ ' “ " ” " „ " ‟ " ′ ' ″ " « << » >> ‹ < › > ‐ - ‑ - ‒ - – - — -- ― -- − - … ... ‥ .. · . ‧ .
        → -> ← <- ↔ <-> ⇒ => ⇐ <== ⇔ <=> ⟶ --> ⟵ <-- ⟹ ==> ⟸ <== ⟺ <==> ↦ |-> ↳ |> ➜ -> ➔ -> ➡ -> ⬅ <-
        ↑ ^ ↓ v ⇑ ^ ⇓ v × x ÷ / ± +/- ∓ -/+ ≤ <= ≥ >= ≠ != ≈ ~= ≡ === ≪ << ≫ >> ∗ * ⋅ . ⋯ ... ⋮ ... ∞ inf √ sqrt ∑ sum
        ∏ prod ∫ int ∂ d ∈ in ∉ not-in ∧ and ∨ or ¬ not ∀ for-all ∃ exists ∅ {} ∪ union ∩ intersect
        © (c) ® (R) ™ (TM) € EUR £ GBP ¥ JPY ¢ cent § section ¶ paragraph ° deg µ u № No. † + ‡ ++ ⁄ / ∕ / ∖ \\ ∣ | ∥ ||
        ß ss ẞ SS æ ae Æ AE œ oe Œ OE ø o Ø O ł l Ł L đ d Đ D ð d Ð D þ th Þ Th ı i ħ h ŋ ng Ŋ NG ʼ ' ¡ ! ¿ ?
        ⟨ < ⟩ > ‖ || ‰ o/oo ∶ : ∼ ~ ≅ ~= ∝ prop-to ⊂ subset ⊆ subset-eq
        """
    ),
    "\u00a0": " ", "\u2007": " ", "\u202f": " ", "\u3000": "  ",
}  # fmt: skip
# Joiners, variation selectors, soft hyphens, byte order marks: without a shape of their own.
_SILENT = dict.fromkeys("\u00ad\u034f\u200b\u200c\u200d\u2060\ufeff\ufe0e\ufe0f\u20e3", "")
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ", "0123456789+-=()ni", strict=True))
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", "0123456789+-=()", strict=True))
_FIXED = {**_TYPED, **_DRAWN, **_SILENT}
_GREEK_LETTER = re.compile(r"GREEK (SMALL|CAPITAL) LETTER (?:FINAL )?(\w+)")

# Joined emoji, flags, keycaps and modifiers are one sign; so are powers, indices and what has to be named by number.
_RUN = re.compile(
    r"(?P<power>[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ]+)|(?P<index>[₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎]+)"
    r"|(?P<flag>[\U0001F1E6-\U0001F1FF]{2})"
    r"|(?P<greek>(?<![\u0370-\u03ff])[\u0370-\u03ff](?![\u0370-\u03ff]))"
    r"|(?P<sign>[^\x00-\x7f](?:[\ufe0e\ufe0f]|[\U0001F3FB-\U0001F3FF]|\u200d[^\x00-\x7f])*)"
)
_NUMBERED = re.compile(r"\}( *)\{(?=U\+)")


def to_ascii(text: str) -> str:
    """`text` in ASCII. Box drawing keeps its cells, so whole drawn lines may be converted too."""
    if text.isascii():
        return text
    return _join_numbered(_RUN.sub(_said, text), text)


def line_to_ascii(line: str) -> str:
    """A line as a surface drew it, where every column counts: an ellipsis stays one cell (`some long va~`)."""
    return line if line.isascii() else to_ascii(line.replace("…", "~").replace("✓", "v").replace("✗", "x"))


def _said(match: re.Match[str]) -> str:
    kind, text = match.lastgroup or "sign", match[0]
    if kind == "power":
        return "^" + _grouped("".join([_RAISED[char] for char in text]))
    if kind == "index":
        return "_" + _grouped("".join([_LOWERED[char] for char in text]))
    if kind == "flag":
        return f":flag {''.join([chr(ord(char) - 0x1F1E6 + 65) for char in text])}:"
    return _sign(text) if kind == "sign" else _greek(text)


def _grouped(script: str) -> str:
    return script if script.isalnum() or script.startswith("(") else f"({script})"


def _greek(char: str) -> str:
    named = _GREEK_LETTER.fullmatch(unicodedata.name(char, ""))
    if named is None:
        return _sign(char)
    return named[2].lower() if named[1] == "SMALL" else named[2].capitalize()


@lru_cache(maxsize=4096)
def _sign(text: str) -> str:
    """One sign: a character with the characters that join it."""
    shapes = [char for char in text if char not in _SILENT]
    if not shapes:
        return ""
    if len(shapes) > 1:
        return f":{'+'.join([_name(char) for char in shapes])}:"
    return _character(shapes[0])


def _character(char: str) -> str:
    said = _FIXED.get(char)
    if said is not None:
        return said
    decomposed = unicodedata.normalize("NFKD", char)
    if decomposed != char:
        bare = "".join([_FIXED.get(part, part) for part in decomposed if not unicodedata.combining(part)])
        if bare.isascii() and bare.strip():
            return bare
    category = unicodedata.category(char)
    if category == "Mn" and 0x300 <= ord(char) < 0x370:  # an accent that was typed apart from its letter
        return ""
    if category == "Zs":
        return " "
    if category[0] == "S" or category == "Me":
        return f":{_name(char)}:"
    return f"{{U+{ord(char):04X}}}"


def _name(char: str) -> str:
    return unicodedata.name(char, f"U+{ord(char):04X}").lower().removeprefix("emoji modifier ")


def _join_numbered(said: str, source: str) -> str:
    """`{U+4E2D}{U+6587}` → `{U+4E2D U+6587}`, unless the source itself contains this."""
    return (
        said
        if "{U+" in source
        else _NUMBERED.sub(lambda match: " " * (len(match[1]) + 1), said)
        if "}{" in said
        else said
    )


def unicode(blocks: list[Block], context: PresentationContext, notes: list[str]) -> list[Block]:
    if context.supports_unicode:
        return blocks
    out = rewrite(blocks, _replace, context.content_width)
    if out is not blocks:
        notes.append("unicode → ASCII")
    return out


def _replace(block: Block, _width: int) -> list[Block] | None:
    if isinstance(block, CodeBlock):
        if block.text.isascii() and block.info.isascii() and block.language.isascii():
            return None
        words = {name: to_ascii(getattr(block, name)) for name in ("text", "info", "language")}
        return [msgspec.structs.replace(block, **words)]
    if isinstance(block, MathBlock | HtmlBlock):
        return None if block.text.isascii() else [msgspec.structs.replace(block, text=to_ascii(block.text))]
    if isinstance(block, FootnoteDef) and not block.label.isascii():
        return [FootnoteDef(to_ascii(block.label), rewrite(block.children, _replace, 0))]
    new = convert_inlines(block, _inlines)
    return None if new is block else [new]


def _inlines(content: list[Inline]) -> list[Inline]:
    links: dict[int, Link] = {}  # runs of one link must go on sharing one value
    out = [_inline(part, links) for part in content]
    return content if all(new is old for new, old in zip(out, content, strict=True)) else out


def _inline(part: Inline, links: dict[int, Link]) -> Inline:
    if isinstance(part, Break):
        return part
    if isinstance(part, FootnoteRef):
        return part if part.label.isascii() else FootnoteRef(to_ascii(part.label))
    link = part.link
    if link is not None and not (link.url.isascii() and link.title.isascii()):
        link = links.setdefault(id(link), Link(_address(link.url), to_ascii(link.title)))
    if isinstance(part, Image):
        ascii_image = Image(to_ascii(part.alt), _address(part.url), to_ascii(part.title), link)
        return part if ascii_image == part else ascii_image
    return part if link is part.link and part.text.isascii() else Text(to_ascii(part.text), part.marks, link)


def _address(url: str) -> str:
    """An address that leads to the same place."""
    return url if url.isascii() else quote(url, safe="".join(map(chr, range(0x21, 0x7F))), errors="replace")
