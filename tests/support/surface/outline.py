"""Nodes drawn as an indented outline, for expectations that people can read.

Marks and links stand in brackets, `[strong]so[/]` and `[link to /url]so[/]`; a soft break is `⏎`, a hard one `↵`.
"""

from collections.abc import Iterable

from vantage.document.nodes import (
    CODE,
    EMPHASIS,
    HTML,
    MATH,
    STRIKE,
    STRONG,
    Block,
    Break,
    Cell,
    CodeBlock,
    FootnoteDef,
    FootnoteRef,
    Heading,
    HtmlBlock,
    Image,
    Inline,
    ListBlock,
    MathBlock,
    Paragraph,
    Quote,
    Rule,
    Table,
    Text,
    plain_text,
)

_MARKS = {STRONG: "strong", EMPHASIS: "emphasis", STRIKE: "strike", CODE: "code", MATH: "math", HTML: "html"}


def outline(blocks: Iterable[Block]) -> str:
    return "\n".join(line.rstrip() for block in blocks for line in _lines(block))


def text_of(blocks: Iterable[Block]) -> str:
    """All that a reader would see, without marks."""
    return "\n".join(text for block in blocks for text in _texts(block))


def _texts(block: Block) -> Iterable[str]:
    match block:
        case Paragraph(content=content) | Heading(content=content):
            yield plain_text(content)
        case CodeBlock(text=text) | MathBlock(text=text) | HtmlBlock(text=text):
            yield text
        case Quote(children=children) | FootnoteDef(children=children):
            yield text_of(children)
        case ListBlock(items=items):
            yield from (text_of(item.children) for item in items)
        case Table(header=header, rows=rows):
            yield from (plain_text(cell.content) for row in (header, *rows) for cell in row)


def _lines(block: Block) -> Iterable[str]:
    match block:
        case Paragraph(content=content):
            yield f"paragraph: {_inline(content)}"
        case Heading(level=level, content=content):
            yield f"heading {level}: {_inline(content)}"
        case CodeBlock(text=text, language=language, info=info, fenced=fenced):
            yield " ".join(
                filter(None, ["code" if fenced else "indented code", language, info != language and f"({info})"])
            )
            yield from (f"  {line}" for line in text.split("\n"))
        case MathBlock(text=text):
            yield "math"
            yield from (f"  {line}" for line in text.split("\n"))
        case HtmlBlock(text=text):
            yield "html"
            yield from (f"  {line}" for line in text.split("\n"))
        case Rule():
            yield "rule"
        case Quote(children=children, alert=alert):
            yield f"quote {alert}".rstrip()
            yield from _indented(children)
        case ListBlock(items=items, start=start, tight=tight):
            yield f"{'tight' if tight else 'loose'} list" + ("" if start is None else f" from {start}")
            for item in items:
                yield {None: "  item", True: "  item, done", False: "  item, to do"}[item.checked]
                yield from (f"  {line}" for line in _indented(item.children))
        case Table(header=header, rows=rows, alignments=alignments):
            yield f"table: {' '.join(alignments)}"
            yield f"  header: {_row(header)}"
            yield from (f"  row: {_row(row)}" for row in rows)
        case FootnoteDef(label=label, children=children):
            yield f"footnote {label}"
            yield from _indented(children)


def _indented(blocks: list[Block]) -> Iterable[str]:
    return (f"  {line}" for block in blocks for line in _lines(block))


def _row(cells: list[Cell]) -> str:
    return " ¦ ".join(_inline(cell.content) for cell in cells)


def _inline(content: list[Inline]) -> str:
    return "".join(map(_part, content))


def _part(part: Inline) -> str:
    match part:
        case Text(text=text, marks=marks, link=link):
            names = [name for mark, name in _MARKS.items() if marks & mark]
            if link:
                names.append(f"link to {link.url}" + (f' "{link.title}"' if link.title else ""))
            return f"[{', '.join(names)}]{text}[/]" if names else text
        case Break(hard=hard):
            return "↵" if hard else "⏎"
        case Image(alt=alt, url=url, title=title, link=link):
            return (
                f"[image {url}"
                + (f' "{title}"' * bool(title))
                + (f", link to {link.url}" if link else "")
                + f"]{alt}[/]"
            )
        case FootnoteRef(label=label):
            return f"[^{label}]"
