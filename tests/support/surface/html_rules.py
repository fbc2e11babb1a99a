"""A page that is parsed strictly: balanced, with known elements and attributes, and nothing that acts."""

import re
from html.parser import HTMLParser

DATA = {f"data-{name}" for name in ("seq", "ts", "status", "kind", "depth", "agent", "tool")}


BARE = ("br", "strong", "em", "s", "dt", "dd", "tbody")


CLASSED = ("h3", "h4", "h5", "h6", "p", "ul", "dl", "table", "tr", "thead", "figure", "figcaption", "code", "hr")


ALLOWED = {
    "article": {"class", "id", "aria-label"} | DATA,
    "details": {"class", "data-lazy"},
    "button": {"type", "class", "data-action", "data-value"},
    "svg": {
        *("class", "viewbox", "width", "height", "aria-hidden", "focusable"),
        *("fill", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin"),
    },
    "path": {"d"},
    "div": {"class", "id", "data-block", "data-block-id", "tabindex", "role", "aria-label"},
    "span": {"class", "aria-hidden", "role"},
    "a": {"class", "href", "title", "rel", "aria-label"},
    "img": {"class", "src", "alt"},
    "input": {"type", "disabled", "checked", "aria-label"},
    "pre": {"class", "tabindex", "role", "aria-label"},
    "progress": {"class", "max", "value", "aria-label"},
    "li": {"class", "aria-current"},
    "ol": {"class", "start"},
    "sup": {"class", "id"},
    "td": {"class", "colspan"},
    "th": {"class", "scope"},
    **{name: {"class"} for name in (*CLASSED, "blockquote", "section", "summary")},
    **{name: set() for name in BARE},
}


UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


VOID = {"br", "hr", "img", "input"}


class Page(HTMLParser):
    """Reads markup as strictly as it was promised: balanced, allow-listed, ids unique, links safe."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.pieces: list[str] = []
        self.feed(markup)
        self.close()
        assert not self.open
        assert len(self.ids) == len(set(self.ids))
        for _, attributes in self.tags:
            if (target := attributes.get("href", "")).startswith("#"):
                assert target[1:] in self.ids

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        assert tag in ALLOWED, tag
        assert len(attributes) == len(attrs)
        assert set(attributes) <= ALLOWED[tag], (tag, attributes)
        for name, value in attributes.items():
            assert not UNSAFE.search(re.sub(r"[\t\n]", "", value or "") if name == "data-value" else value or "")
        if "href" in attributes:
            assert re.match(r"#|https?://|mailto:", attributes["href"], re.IGNORECASE)
            assert attributes["href"].startswith("#") or attributes["rel"] == "noopener noreferrer nofollow"
        if "src" in attributes:
            assert re.fullmatch(r"assets/[\w.-]+|data:image/(png|jpeg|gif|webp);base64,[\w+/=]+", attributes["src"])
            assert "alt" in attributes
        if "id" in attributes:
            assert re.fullmatch(r"[A-Za-z][\w-]*", attributes["id"], re.ASCII)
            self.ids.append(attributes["id"])
        if tag == "a":
            assert "a" not in self.open, "anchors do not nest"
        if tag not in VOID:
            self.open.append(tag)
        self.tags.append((tag, attributes))

    def handle_endtag(self, tag):
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data):
        assert not UNSAFE.search(data)
        self.pieces.append(data)

    @property
    def words(self) -> str:
        return "".join(self.pieces)

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment

    def attribute(self, tag: str, name: str) -> list[str]:
        return [attributes[name] for found, attributes in self.tags if found == tag and name in attributes]
