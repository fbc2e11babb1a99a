"""Mermaid's flowcharts as an outline of their edges, subgraphs nested: `Start → Is it done?: at once`."""

import re

from vantage.document.fit.diagrams.outline import Entry, NotUnderstoodError, arrow, label

DIRECTIONS = {
    "TB": "top to bottom", "TD": "top to bottom", "BT": "bottom to top", "LR": "left to right", "RL": "right to left",
}  # fmt: skip

# Opening and closing of a node's shape, the longest first.
_SHAPES = (
    ("(((", ")))"), ("((", "))"), ("([", "])"), ("(", ")"), ("[[", "]]"), ("[(", ")]"), ("[/", "/]"), ("[/", "\\]"),
    ("[\\", "\\]"), ("[\\", "/]"), ("[", "]"), ("{{", "}}"), ("{", "}"), (">", "]"),
)  # fmt: skip

_ID = re.compile(r"\w+(?:[.-]\w+)*")
_CLASS = re.compile(r":::[\w-]+")
_ATTRIBUTES = re.compile(r"@\{(.*?)\}", re.DOTALL)
_ATTRIBUTE_LABEL = re.compile(r"label\s*:\s*(\"[^\"]*\"|[^,}]*)")
# `-->`, `---`, `-.->`, `==>`, `--x`, `<-->`, `~~~`; with text inside: `-- text -->`, `-. text .->`, `== text ==>`.
_LINK = re.compile(r"\s*(?:\w+@)?((?:<|[xo](?=-))?(?:-{2,}|={2,}|-\.+-|~{3,})(?:>|[xo](?!\w))?)")
_TEXT_LINK = re.compile(
    r"\s*((?:<|[xo])?(?:--|==|-\.))(?![->=.])(?![xo](?!\w))\s*(?:\"([^\"]*)\"|(.+?))"
    r"\s*((?:-{2,}|={2,}|\.+-)(?:>|[xo](?!\w))?)"
)
_LINK_LABEL = re.compile(r"\s*\|\s*(\"[^\"]*\"|[^|]*)\s*\|")
_SUBGRAPH = re.compile(r"subgraph\b\s*(?:([\w.-]+)\s*\[(.+)\]|(.*))$")
_SILENT = re.compile(r"(?:classDef|class|style|linkStyle|direction|accTitle|accDescr)\b")
_CLICK = re.compile(r"click\s+(\S+)\s+(.+)$")


def flowchart(first: str, lines: list[str]) -> tuple[str, list[Entry]]:
    """The title and the entries of a flowchart; `first` is its opening line."""
    words = first.replace(";", " ").split()
    direction = DIRECTIONS.get(words[1].upper(), "") if len(words) > 1 else ""
    reader = _Reader()
    for line in lines:
        for statement in _statements(line):
            reader.statement(statement)
    return f"Flowchart, {direction}" if direction else "Flowchart", reader.entries()


def _statements(line: str) -> list[str]:
    """A line's statements: `;` ends one, but not inside quotes or brackets."""
    out, start, depth, quoted = [], 0, 0, False
    for position, char in enumerate(line):
        if char == '"':
            quoted = not quoted
        elif not quoted and char in "([{":
            depth += 1
        elif not quoted and char in ")]}":
            depth -= 1
        elif char == ";" and not quoted and depth <= 0:
            out.append(line[start:position])
            start = position + 1
    return [text.strip() for text in [*out, line[start:]] if text.strip()]


class _Edge:
    def __init__(self, start: str, operator: str, end: str, text: str) -> None:
        self.start, self.operator, self.end, self.text = start, operator, end, text


class _Section:
    def __init__(self, title: str) -> None:
        self.title = title
        self.parts: list[_Edge | _Section | str] = []
        """Edges, subgraphs and notes; a node alone is an edge without an end."""


class _Reader:
    """Labels may come after a node was first named, so entries are made at the end."""

    def __init__(self) -> None:
        self.labels: dict[str, str] = {}
        self.sections = [_Section("")]
        self.connected: set[str] = set()

    def statement(self, text: str) -> None:
        if _SILENT.match(text):
            return
        subgraph = _SUBGRAPH.match(text)
        if subgraph:
            section = _Section(label(subgraph[2] or subgraph[3] or ""))
            if subgraph[1]:
                self.labels.setdefault(subgraph[1], section.title)
            self.sections[-1].parts.append(section)
            self.sections.append(section)
        elif text == "end":
            if len(self.sections) == 1:
                raise NotUnderstoodError(text)
            self.sections.pop()
        elif click := _CLICK.match(text):
            self.sections[-1].parts.append(_Edge(click[1], "", "", click[2].replace('"', "").removeprefix("href ")))
        else:
            self.chain(text)

    def chain(self, text: str) -> None:
        """`A & B -->|text| C --> D`"""
        position, left = self.nodes(text, 0)
        if position == len(text):
            self.sections[-1].parts += [_Edge(name, "", "", "") for name in left]
            return
        while position < len(text):
            position, operator, said = self.link(text, position)
            position, right = self.nodes(text, position)
            for start in left:
                for end in right:
                    self.sections[-1].parts.append(_Edge(start, operator, end, said))
            self.connected.update(left, right)
            left = right

    def nodes(self, text: str, position: int) -> tuple[int, list[str]]:
        names: list[str] = []
        while True:
            position, name = self.node(text, _skip(text, position))
            names.append(name)
            after = _skip(text, position)
            if not text.startswith("&", after):
                return after, names
            position = after + 1

    def node(self, text: str, position: int) -> tuple[int, str]:
        match = _ID.match(text, position)
        if match is None:
            raise NotUnderstoodError(text)
        name, position = match[0], match.end()
        for opening, closing in _SHAPES:
            if not text.startswith(opening, position):
                continue
            start = position + len(opening)
            quote = text.find('"', start + 1) if text.startswith('"', start) else start
            end = text.find(closing, quote) if quote >= 0 else -1
            if end >= 0:
                self.labels[name] = label(text[start:end]) or name
                position = end + len(closing)
                break
        if attributes := _ATTRIBUTES.match(text, position):
            if said := _ATTRIBUTE_LABEL.search(attributes[1]):
                self.labels[name] = label(said[1])
            position = attributes.end()
        if styled := _CLASS.match(text, position):
            position = styled.end()
        return position, name

    def link(self, text: str, position: int) -> tuple[int, str, str]:
        if match := _TEXT_LINK.match(text, position):
            return match.end(), match[1] + match[4], label(match[2] or match[3])
        match = _LINK.match(text, position)
        if match is None:
            raise NotUnderstoodError(text)
        said = _LINK_LABEL.match(text, match.end())
        return (said.end() if said else match.end()), match[1], label(said[1]) if said else ""

    def entries(self) -> list[Entry]:
        if len(self.sections) > 1:
            raise NotUnderstoodError("subgraph without end")
        return self.section(self.sections[0])

    def section(self, section: _Section) -> list[Entry]:
        out: list[Entry] = []
        for part in section.parts:
            if isinstance(part, _Section):
                out.append(Entry(part.title or "subgraph", self.section(part)))
            elif isinstance(part, _Edge) and (
                part.end or part.text or part.start not in self.connected or section.title
            ):
                out.append(Entry(self.said(part)))
        return out

    def said(self, edge: _Edge) -> str:
        start = self.labels.get(edge.start, edge.start)
        text = f": {edge.text}" if edge.text else ""
        return (
            f"{start} {arrow(edge.operator)} {self.labels.get(edge.end, edge.end)}{text}" if edge.end else start + text
        )


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position
