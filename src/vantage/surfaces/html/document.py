"""Document nodes → HTML. `NODES` has one function per node type; markup in the source is shown, never interpreted."""

from collections.abc import Callable
from itertools import count
from typing import Any

from vantage.document import nodes
from vantage.document.inline import safe_url
from vantage.document.nodes import CODE, EMPHASIS, HTML, MATH, STRIKE, STRONG, Inline, Link
from vantage.surfaces.html.text import (
    RASTER,
    anchor,
    attribute,
    code_figure,
    element_id,
    escape,
    image_html,
    marked,
    pre_html,
)
from vantage.surfaces.words import node_text

MAX_DEPTH = 32
"""Quotes and lists nested deeper than this are shown as their text."""

ALERTS = ("note", "tip", "important", "warning", "caution")

# mark → the element around the text, outermost first
_MARKS = (
    (STRONG, "<strong>", "</strong>"),
    (EMPHASIS, "<em>", "</em>"),
    (STRIKE, "<s>", "</s>"),
    (HTML, '<span class="v-html">', "</span>"),
    (MATH, '<span class="v-math" role="math">', "</span>"),
    (CODE, '<code class="v-inline-code">', "</code>"),
)


class Scope:
    """State of one document's drawing: the ids of its footnotes, and the present depth."""

    def __init__(self, prefix: str, blocks: list[nodes.Block]) -> None:
        self.prefix = prefix
        self.depth = 0
        self.linked = False
        """whether an anchor is open around what is drawn"""
        self.footnotes: dict[str, str] = {}
        """label → element id, for footnotes that are defined."""
        self.references: set[str] = set()
        """labels that have been referred to: the definition leads back to the first reference"""
        self.defined: set[str | None] = set()
        """element ids that are taken: a label may be defined twice"""
        self.number = count(1)
        for label in _footnote_labels(blocks):
            self.footnotes.setdefault(label, element_id(f"{prefix}-fn", label))

    def reference_id(self, label: str) -> str:
        first = label not in self.references
        self.references.add(label)
        return element_id(f"{self.prefix}-ref", label) if first else f"{self.prefix}-again-{next(self.number)}"


def _footnote_labels(blocks: list[nodes.Block]) -> list[str]:
    labels = []
    todo: list[Any] = blocks[::-1]
    """The nodes still to visit, the next one last, because popping the last of a list is cheap."""
    while todo:
        node = todo.pop()
        if isinstance(node, nodes.FootnoteDef):
            labels.append(node.label)
        children = node.items if isinstance(node, nodes.ListBlock) else getattr(node, "children", [])
        todo += reversed(children)
    return labels


def document_html(blocks: list[nodes.Block], prefix: str) -> str:
    """The blocks below each other; ids in them begin with `prefix`."""
    return blocks_html(blocks, Scope(prefix, blocks))


def blocks_html(blocks: list[nodes.Block], scope: Scope) -> str:
    if scope.depth > MAX_DEPTH:
        return f'<p class="v-text">{escape(node_text(blocks))}</p>'
    scope.depth += 1
    try:
        return "".join([NODES.get(type(node), _unknown)(node, scope) for node in blocks])
    finally:
        scope.depth -= 1


def inline_html(content: list[Inline], scope: Scope) -> str:
    """Inline parts; neighbours that share a link stand in one anchor."""
    return "".join([_linked(group, link, scope) for link, group in nodes.link_groups(content)])


def _linked(group: list[Inline], link: Link | None, scope: Scope) -> str:
    url = safe_url(link.url) if link else None
    scope.linked = url is not None
    body = "".join([_INLINE.get(type(part), _unknown)(part, scope) for part in group])
    scope.linked = False
    if link is None:
        return body
    words = nodes.plain_text(group).strip()
    if url:
        return anchor(url, body if body.strip() else escape(url), link.title) + marked(words, link.url)
    if not link.url or words == link.url.strip():
        return body
    return f'{body} <span class="v-url">({escape(link.url)})</span>'


def _text(node: nodes.Text, _scope: Scope) -> str:
    body = escape(node.text)
    if node.marks:
        for mark, before, after in reversed(_MARKS):
            if node.marks & mark:
                body = before + body + after
    return body


def _break(node: nodes.Break, _scope: Scope) -> str:
    return "<br>" if node.hard else "\n"


def _image(node: nodes.Image, scope: Scope) -> str:
    if RASTER.fullmatch(node.url) or (safe_url(node.url) and not scope.linked):
        return image_html(node.url, node.alt)
    # anchors do not nest: a remote picture that is a link leads where the link does
    address = "" if scope.linked or node.url.startswith("data:") or not node.url else f" ({node.url})"
    return f'<span class="v-missing-image">{escape(f"[image: {node.alt}]{address}")}</span>'


def _footnote_ref(node: nodes.FootnoteRef, scope: Scope) -> str:
    target = scope.footnotes.get(node.label)
    label = escape(node.label)
    if target is None:
        return f'<sup class="v-footnote-ref">[{label}]</sup>'
    own = scope.reference_id(node.label)
    return f'<sup class="v-footnote-ref" id="{own}"><a class="v-link" href="#{target}">[{label}]</a></sup>'


def _paragraph(node: nodes.Paragraph, scope: Scope) -> str:
    return f"<p>{inline_html(node.content, scope)}</p>"


def _heading(node: nodes.Heading, scope: Scope) -> str:
    """A message is inside a page with headings of its own, so its first level is the page's third."""
    level = min(max(node.level, 1), 6)
    tag = f"h{min(level + 2, 6)}"
    return f'<{tag} class="v-h{level}">{inline_html(node.content, scope)}</{tag}>'


def _code(node: nodes.CodeBlock, _scope: Scope) -> str:
    return code_figure(node.text, node.language, caption=node.info)


def _math(node: nodes.MathBlock, _scope: Scope) -> str:
    return f'<div class="v-math" role="math">{escape(node.text)}</div>'


def _html(node: nodes.HtmlBlock, _scope: Scope) -> str:
    return pre_html(f"<code>{escape(node.text)}</code>", "v-pre v-html", "HTML source")


def _rule(_node: nodes.Rule, _scope: Scope) -> str:
    return '<hr class="v-rule">'


def _quote(node: nodes.Quote, scope: Scope) -> str:
    body = blocks_html(node.children, scope)
    if not node.alert:
        return f'<blockquote class="v-quote">{body}</blockquote>'
    name = f" v-alert-{node.alert}" if node.alert in ALERTS else ""
    title = escape(node.alert.capitalize())
    return (
        f'<div class="v-alert{name}" role="note" aria-label="{attribute(node.alert.capitalize())}">'
        f'<p class="v-alert-title">{title}</p>{body}</div>'
    )


def _list(node: nodes.ListBlock, scope: Scope) -> str:
    tasks = any(item.checked is not None for item in node.items)
    name = "v-list v-tasks" if tasks else "v-list"
    body = "".join([_item(item, node.tight, scope) for item in node.items])
    if node.start is None:
        return f'<ul class="{name}">{body}</ul>'
    start = f' start="{node.start}"' if node.start != 1 else ""
    return f'<ol class="{name}"{start}>{body}</ol>'


def _item(item: nodes.Item, tight: bool, scope: Scope) -> str:
    box = ""
    if item.checked is not None:
        label, checked = ("done", " checked") if item.checked else ("to do", "")
        box = f'<input type="checkbox" disabled{checked} aria-label="{label}"> '
    if tight and item.children and isinstance(first := item.children[0], nodes.Paragraph):
        return f"<li>{box}{inline_html(first.content, scope)}{blocks_html(item.children[1:], scope)}</li>"
    return f"<li>{box}{blocks_html(item.children, scope)}</li>"


def _cell(tag: str, cell: nodes.Cell, align: str, scope: Scope) -> str:
    name = f' class="v-{align}"' if align in ("center", "right") else ""
    scoped = ' scope="col"' if tag == "th" else ""
    return f"<{tag}{scoped}{name}>{inline_html(cell.content, scope)}</{tag}>"


def table_html(head: list[str], rows: list[list[str]]) -> str:
    """A table of cells that are drawn already. It scrolls sideways when the page is narrower."""
    body = "".join([f"<tr>{''.join(row)}</tr>" for row in rows])
    return (
        '<div class="v-table-scroll" tabindex="0" role="group" aria-label="table"><table class="v-table">'
        f"<thead><tr>{''.join(head)}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _table(node: nodes.Table, scope: Scope) -> str:
    aligns = [*node.alignments, *["none"] * (len(node.header) - len(node.alignments))]
    head = [_cell("th", cell, align, scope) for cell, align in zip(node.header, aligns, strict=False)]
    rows = [[_cell("td", cell, align, scope) for cell, align in zip(row, aligns, strict=False)] for row in node.rows]
    return table_html(head, rows)


def _records(node: nodes.Records, scope: Scope) -> str:
    out = []
    for record in node.records:
        pairs = "".join(
            [
                f"<div><dt>{inline_html(key, scope) or 'value'}</dt><dd>{inline_html(value, scope)}</dd></div>"
                for key, value in record
            ]
        )
        out.append(f'<dl class="v-record">{pairs}</dl>')
    return "".join(out)


def _footnote(node: nodes.FootnoteDef, scope: Scope) -> str:
    own = scope.footnotes.get(node.label)
    name = f' id="{own}"' if own and own not in scope.defined else ""
    scope.defined.add(own)
    back = ""
    if node.label in scope.references:
        target = element_id(f"{scope.prefix}-ref", node.label)
        back = f'<a class="v-link" href="#{target}" aria-label="back to the text">↩</a>'
    return (
        f'<div class="v-footnote" role="note"{name}><span class="v-footnote-label">[{escape(node.label)}]</span>'
        f"{blocks_html(node.children, scope)}{back}</div>"
    )


def _unknown(node: Any, _scope: Scope) -> str:
    return f'<p class="v-text">{escape(node_text(node) or type(node).__name__)}</p>'


_INLINE: dict[type, Callable[[Any, Scope], str]] = {
    nodes.Text: _text,
    nodes.Break: _break,
    nodes.Image: _image,
    nodes.FootnoteRef: _footnote_ref,
}

NODES: dict[type, Callable[[Any, Scope], str]] = {
    nodes.Paragraph: _paragraph,
    nodes.Heading: _heading,
    nodes.CodeBlock: _code,
    nodes.MathBlock: _math,
    nodes.HtmlBlock: _html,
    nodes.Rule: _rule,
    nodes.Quote: _quote,
    nodes.ListBlock: _list,
    nodes.Table: _table,
    nodes.Records: _records,
    nodes.FootnoteDef: _footnote,
}
