"""Mermaid's other diagrams as outlines: sequence, state, class, entity relation, pie, gantt, mind map."""

import re

from vantage.document.fit.diagrams.outline import Entry, NotUnderstoodError, arrow, label

Outline = tuple[str, list[Entry]]

_SILENT = re.compile(
    r"(?:activate|deactivate|autonumber|direction|classDef|style|cssClass|link|links|create|destroy|accTitle|accDescr"
    r"|dateFormat|axisFormat|tickInterval|todayMarker|excludes|includes|weekday|hide|scale)\b"
)


class _Stack:
    """Entries being written, and the open ones they are under."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.open: list[Entry] = []

    def add(self, text: str) -> Entry:
        entry = Entry(text, [])
        (self.open[-1].children if self.open else self.entries).append(entry)
        return entry

    def begin(self, text: str) -> None:
        self.open.append(self.add(text))

    def end(self) -> None:
        if not self.open:
            raise NotUnderstoodError("an end without a beginning")
        self.open.pop()

    def finish(self, title: str) -> Outline:
        if self.open:
            raise NotUnderstoodError(f"{self.open[-1].text} has no end")
        return title, self.entries


_MESSAGE = re.compile(r"([^:;<>+-]+?(?:-[^:;<>+-]+?)*?)\s*(<<-{1,2}>>|-{1,2}(?:>>|>|x|\)))\s*[+-]?\s*([^:]+?)\s*:(.*)$")
_PARTICIPANT = re.compile(r"(?:create\s+)?(?:participant|actor)\s+(\S+)(?:\s+as\s+(.+))?$")
_NOTE = re.compile(r"note\s+(over|left of|right of)\s+([^:]+?)\s*:\s*(.+)$", re.IGNORECASE)
_FRAME = re.compile(r"(loop|alt|opt|par|critical|break|rect|box)\b\s*(.*)$")
_BRANCH = re.compile(r"(else|and|option)\b\s*(.*)$")


def sequence(_first: str, lines: list[str]) -> Outline:
    """`Alice → Bob: message`, with loops and alternatives nested."""
    names: dict[str, str] = {}
    silent: dict[str, str] = {}
    stack = _Stack()
    for line in lines:
        if match := _PARTICIPANT.match(line):
            names[match[1]] = silent[match[1]] = label(match[2] or match[1])
        elif match := _MESSAGE.match(line):
            start, end = match[1].strip(), match[3].strip()
            silent.pop(start, None)
            silent.pop(end, None)
            said = f"{names.get(start, start)} {arrow(match[2])} {names.get(end, end)}"
            stack.add(f"{said}: {label(match[4])}" if match[4].strip() else said)
        elif match := _NOTE.match(line):
            actors = ", ".join([names.get(name.strip(), name.strip()) for name in match[2].split(",")])
            stack.add(f"note {match[1]} {actors}: {label(match[3])}")
        elif match := _FRAME.match(line):
            stack.begin(label(f"{match[1]} {match[2]}"))
        elif match := _BRANCH.match(line):
            stack.end()
            stack.begin(label(f"{match[1]} {match[2]}"))
        elif line == "end":
            stack.end()
        elif line.startswith("title"):
            stack.add(label(line[5:].lstrip(" :")))
        elif not _SILENT.match(line):
            raise NotUnderstoodError(line)
    for name in silent.values():
        stack.add(name)
    return stack.finish("Sequence")


_TRANSITION = re.compile(r"(\S+)\s*-->\s*([^\s:]+)\s*(?::\s*(.*))?$")
_STATE = re.compile(r"state\s+(?:\"([^\"]*)\"\s+as\s+(\w+)|(\w+))\s*(?:<<(\w+)>>)?\s*(\{)?$")
_STATE_TEXT = re.compile(r"(\w+)\s*:\s*(.+)$")
_STATE_NOTE = re.compile(r"note\s+(?:left|right) of\s+(\w+)\s*(?::\s*(.+))?$")


def state(_first: str, lines: list[str]) -> Outline:
    """`Still → Moving: push`; `[*]` is the start or the end."""
    names = {match[2]: label(match[1]) for line in lines if (match := _STATE.match(line)) and match[2]}
    stack = _Stack()
    in_note = False
    for line in lines:
        if in_note:
            in_note = line != "end note"
            if in_note:
                stack.add(label(line))
            else:
                stack.end()
        elif match := _TRANSITION.match(line):
            start, end = [
                end_name if name == "[*]" else names.get(name, name)
                for name, end_name in ((match[1], "(start)"), (match[2], "(end)"))
            ]
            stack.add(f"{start} → {end}: {label(match[3])}" if match[3] else f"{start} → {end}")
        elif match := _STATE.match(line):
            if match[5]:
                stack.begin(label(match[1] or match[3]))
            else:
                stack.add(label(match[1] or match[3]) + (f" ({match[4]})" if match[4] else ""))
        elif match := _STATE_NOTE.match(line):
            said = f"note on {names.get(match[1], match[1])}"
            if match[2]:
                stack.add(f"{said}: {label(match[2])}")
            else:
                stack.begin(said)
                in_note = True
        elif line == "}":
            stack.end()
        elif match := _STATE_TEXT.match(line):
            stack.add(f"{names.get(match[1], match[1])}: {label(match[2])}")
        elif line != "--" and not _SILENT.match(line) and not line.startswith("class "):
            raise NotUnderstoodError(line)
    return stack.finish("States")


_RELATIONS = {
    "<|--": "is extended by", "--|>": "extends", "*--": "is composed of", "--*": "is part of", "o--": "has",
    "--o": "belongs to", "-->": "→", "<--": "←", "--": "—", "..>": "depends on", "<..": "is used by",
    "..|>": "implements", "<|..": "is implemented by", "..": "—", "<-->": "↔",
}  # fmt: skip
_CLASS_NAME = r"[\w.]+(?:~[^~]+~)?"
_RELATION = re.compile(
    rf"({_CLASS_NAME})\s*(?:\"([^\"]*)\")?\s*([<|*o]{{0,2}}(?:--|\.\.)[|>*o]{{0,2}})\s*(?:\"([^\"]*)\")?\s*({_CLASS_NAME})\s*(?::\s*(.*))?$"
)
_CLASS = re.compile(rf"class\s+({_CLASS_NAME})\s*(?:\[\"([^\"]*)\"\])?\s*(?::::\w+)?\s*(\{{)?\s*(\}})?$")
_MEMBER = re.compile(rf"({_CLASS_NAME})\s*:\s*(.+)$")
_STEREOTYPE = re.compile(r"<<(\w+)>>\s*(\w+)$")
_CLASS_NOTE = re.compile(r"note\s+(?:for\s+(\w+)\s+)?\"([^\"]*)\"$")
_NAMESPACE = re.compile(r"namespace\s+([\w.]+)\s*\{$")


def classes(_first: str, lines: list[str]) -> Outline:
    """`Duck extends Animal`; a class with its members under it."""
    names: dict[str, str] = {}
    stack = _Stack()
    in_class = False
    for line in lines:
        if line == "}":
            stack.end()
            in_class = False
        elif in_class:
            stack.add(label(line))
        elif match := _CLASS.match(line):
            names[match[1]] = _generic(match[2] or match[1])
            stack.begin(names[match[1]])
            in_class = bool(match[3] and not match[4])
            if not in_class:
                stack.end()
        elif match := _NAMESPACE.match(line):
            stack.begin(match[1])
        elif (match := _RELATION.match(line)) and match[3] in _RELATIONS:
            ends = [
                f"{names.get(name, _generic(name))} ({count})" if count else names.get(name, _generic(name))
                for name, count in ((match[1], match[2]), (match[5], match[4]))
            ]
            stack.add(f"{ends[0]} {_RELATIONS[match[3]]} {ends[1]}" + (f": {label(match[6])}" if match[6] else ""))
        elif match := _STEREOTYPE.match(line):
            stack.add(f"{names.get(match[2], match[2])}: {match[1]}")
        elif match := _CLASS_NOTE.match(line):
            stack.add(f"note on {match[1]}: {label(match[2])}" if match[1] else f"note: {label(match[2])}")
        elif match := _MEMBER.match(line):
            stack.add(f"{names.get(match[1], _generic(match[1]))}: {label(match[2])}")
        elif not _SILENT.match(line):
            raise NotUnderstoodError(line)
    return stack.finish("Classes")


def _generic(name: str) -> str:
    return re.sub(r"~([^~]+)~", r"<\1>", name)


_COUNTS = {"||": "one", "|o": "at most one", "o|": "at most one", "}|": "one or more", "|{": "one or more"}
_ENTITY_RELATION = re.compile(
    r"([\w-]+|\"[^\"]+\")\s+([|}o]{2})(?:--|\.\.)([|{o]{2})\s+([\w-]+|\"[^\"]+\")\s*:\s*(.+)$"
)
_ENTITY = re.compile(r"([\w-]+)\s*(?:\[(.+)\])?\s*(\{)?$")


def entities(_first: str, lines: list[str]) -> Outline:
    """`CUSTOMER (one) — ORDER (any number): places`"""
    stack = _Stack()
    inside = False
    for line in lines:
        if line == "}":
            stack.end()
            inside = False
        elif inside:
            stack.add(label(line))
        elif match := _ENTITY_RELATION.match(line):
            left, right = [_COUNTS.get(count, "any number") for count in (match[2], match[3])]
            stack.add(f"{label(match[1])} ({left}) — {label(match[4])} ({right}): {label(match[5])}")
        elif match := _ENTITY.match(line):
            stack.begin(label(match[2] or match[1]))
            inside = bool(match[3])
            if not inside:
                stack.end()
        else:
            raise NotUnderstoodError(line)
    return stack.finish("Entities")


_SLICE = re.compile(r"\"([^\"]*)\"\s*:\s*(\d+(?:\.\d+)?)$")


def pie(first: str, lines: list[str]) -> Outline:
    """`Label: 42 (60 %)`"""
    title = re.sub(r"^pie\b\s*(?:showData)?\s*(?:title\b)?", "", first).strip()
    slices: list[tuple[str, str]] = []
    for line in lines:
        if match := _SLICE.match(line):
            slices.append((label(match[1]), match[2]))
        elif line.startswith("title"):
            title = line[5:].strip()
        elif line != "showData":
            raise NotUnderstoodError(line)
    total = sum([float(amount) for _, amount in slices]) or 1.0
    entries = [Entry(f"{name}: {amount} ({float(amount) / total:.0%})") for name, amount in slices]
    return label(title) or "Shares", entries


def gantt(_first: str, lines: list[str]) -> Outline:
    """Sections, and in each its tasks with their dates as they were written."""
    title = "Schedule"
    stack = _Stack()
    for line in lines:
        if line.startswith("section"):
            if stack.open:
                stack.end()
            stack.begin(label(line[7:]))
        elif line.startswith("title"):
            title = label(line[5:]) or title
        elif not _SILENT.match(line):
            name, colon, rest = line.partition(":")
            if not colon:
                raise NotUnderstoodError(line)
            stack.add(f"{label(name)}: {', '.join([part.strip() for part in rest.split(',')])}")
    if stack.open:
        stack.end()
    return stack.finish(title)
