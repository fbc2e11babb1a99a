"""Patches → file diffs: unified diffs, `*** Begin Patch` envelopes, hunks as data, and pairs of old and new text.

Line numbers are those in the patch, and those of a new file, which begins with line 1; otherwise there are none. A text
that is no patch gives `None`. Results are cached, because a call is drawn when it starts and when it ends; they are
read-only.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import count
from typing import Any

from vantage.events import Json
from vantage.timeline.row import DiffLine, FileDiff

Hunk = list[DiffLine]

_HUNK = re.compile(r"@@+ -(\d+)(?:,(\d+))? (?:-\d+(?:,\d+)? )*\+(\d+)(?:,(\d+))? @@")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_ENVELOPE = re.compile(r"\*\*\* (Add|Update|Delete) File: (.*)")


@lru_cache(maxsize=64)
def parse_patch(text: str) -> list[FileDiff] | None:
    """The files of a patch, or `None` when the text is no patch."""
    lines = [line.removesuffix("\r") for line in text.strip("\n").split("\n")]
    if any(line.startswith("*** Begin Patch") for line in lines[:20]):
        return _parse_envelope(lines)
    return _parse_unified(lines)


def _parse_envelope(lines: list[str]) -> list[FileDiff] | None:
    files: list[FileDiff] = []
    action = path = new_path = ""
    hunks: list[Hunk] = []
    inside = False

    def close() -> None:
        if not path:
            return
        kept = [hunk for hunk in hunks if hunk]
        if action == "Update":
            moved = bool(new_path) and new_path != path
            shown = "Rename" if moved and not kept else "Edit"
            files.append(FileDiff(path, shown, new_path if moved else "", kept))  # type: ignore[arg-type]
        else:
            kept = _numbered(kept) if action == "Add" else kept
            files.append(FileDiff(path, action, "", kept))  # type: ignore[arg-type]

    for line in lines:
        if line.startswith("*** Begin Patch"):
            inside = True
        elif not inside:
            continue
        elif line.startswith("*** End Patch"):
            break
        elif match := _ENVELOPE.match(line):
            close()
            action, path, new_path, hunks = match[1], match[2].strip(), "", [[]]
        elif line.startswith("*** Move to: "):
            new_path = line.removeprefix("*** Move to: ").strip()
        elif line.startswith("*** End of File"):
            continue
        elif not path:
            if line.strip():
                return None
        elif line.startswith("@@"):
            hunks.append([])
        elif line[:1] in (" ", "+", "-"):
            hunks[-1].append(DiffLine(line[0], line[1:]))  # type: ignore[arg-type]
        elif not line:
            hunks[-1].append(DiffLine(" ", ""))
        else:
            return None
    close()
    return files or None


def _numbered(hunks: list[Hunk]) -> list[Hunk]:
    """The hunks of a new file, its lines numbered from one."""
    numbers = count(1)
    return [
        [line if line.sign == "-" else DiffLine(line.sign, line.text, next(numbers)) for line in hunk] for hunk in hunks
    ]


def _file_name(text: str) -> str:
    """The path of a `---`, `+++` or `diff --git` line, without its `a/` or `b/`, tab and time stamp."""
    if match := _QUOTED.match(text):
        raw = _ESCAPE.sub(
            lambda m: chr(int(m[1], 8)) if m[1].isdigit() else {"n": "\n", "t": "\t"}.get(m[1], m[1]), match[1]
        )
        text = raw.encode("latin-1", "replace").decode("utf-8", "replace") if raw.isascii() is False else raw
    else:
        text = text.split("\t", 1)[0].rstrip()
    return text[2:] if text[:2] in ("a/", "b/") else text


class _File:
    """A file of a unified diff while its lines come in."""

    def __init__(self) -> None:
        self.old = self.new = self.rename_from = self.rename_to = self.note = ""
        self.added = self.deleted = False
        self.hunks: list[Hunk] = []

    def done(self) -> FileDiff | None:
        old = "" if self.old == "/dev/null" else self.old
        new = "" if self.new == "/dev/null" else self.new
        before, after = self.rename_from or old or new, self.rename_to or new or old
        if not before and not after:
            return None
        if self.deleted or self.new == "/dev/null":
            return FileDiff(before, "Delete", "", self.hunks, self.note)
        if self.added or self.old == "/dev/null":
            return FileDiff(after, "Add", "", self.hunks, self.note)
        if before != after:
            return FileDiff(before, "Edit" if self.hunks else "Rename", after, self.hunks, self.note)
        return FileDiff(after, "Edit", "", self.hunks, self.note)


def _parse_unified(lines: list[str]) -> list[FileDiff] | None:
    files: list[FileDiff] = []
    current: _File | None = None
    index, end = 0, len(lines)

    def close() -> None:
        if current is not None and (done := current.done()) is not None:
            files.append(done)

    while index < end:
        line = lines[index]
        if line.startswith("diff --git "):
            close()
            current = _File()
            halves = _git_names(line.removeprefix("diff --git "))
            current.old, current.new = halves
        elif line.startswith("--- ") and index + 1 < end and lines[index + 1].startswith("+++ "):
            if current is None or current.hunks:
                close()
                current = _File()
            current.old, current.new = _file_name(line[4:]), _file_name(lines[index + 1][4:])
            index += 1
        elif line.startswith("@@"):
            if current is None:
                return None
            hunk, index = _read_hunk(lines, index)
            current.hunks.append(hunk)
            continue
        elif current is not None:
            if line.startswith("rename from "):
                current.rename_from = line.removeprefix("rename from ")
            elif line.startswith("rename to "):
                current.rename_to = line.removeprefix("rename to ")
            elif line.startswith("new file mode"):
                current.added = True
            elif line.startswith("deleted file mode"):
                current.deleted = True
            elif line.startswith(("Binary files ", "GIT binary patch")):
                current.note = "binary"
        index += 1
    close()
    return files or None


def _git_names(text: str) -> tuple[str, str]:
    """`a/x b/y`: names without spaces, quoted ones, or the same name twice."""
    if text.startswith('"') and (match := _QUOTED.match(text)):
        return _file_name(match[0]), _file_name(text[match.end() :].strip())
    middle = len(text) // 2
    if text[:2] == "a/" and text[middle : middle + 3] == " b/" and text[2:middle] == text[middle + 3 :]:
        return text[2:middle], text[middle + 3 :]
    old, _, new = text.partition(" b/")
    return _file_name(old), new or _file_name(old)


def _read_hunk(lines: list[str], index: int) -> tuple[Hunk, int]:
    """The hunk whose header is at `index`, and the index after it.

    The header's counts say where the hunk ends, so that a deleted `-- x` is not taken for a file header; if they are
    missing or too small (models miscount) the signs decide.
    """
    match = _HUNK.match(lines[index])
    old = new = None
    old_left = new_left = 0
    if match:
        old, new = int(match[1]), int(match[3])
        old_left = int(match[2]) if match[2] else 1
        new_left = int(match[4]) if match[4] else 1
    hunk: Hunk = []
    index += 1
    end = len(lines)
    while end and not lines[end - 1]:
        end -= 1
    while index < len(lines):
        line = lines[index]
        if old_left <= 0 and new_left <= 0 and _ends_hunk(lines, index, end):
            break
        sign = line[:1] or " "
        if sign == "\\":
            index += 1
            continue
        if sign not in " +-":
            break
        number = old if sign == "-" else new
        hunk.append(DiffLine(sign, line[1:], number))  # type: ignore[arg-type]
        if sign != "+":
            old_left -= 1
            old = old + 1 if old is not None else None
        if sign != "-":
            new_left -= 1
            new = new + 1 if new is not None else None
        index += 1
    return hunk, index


def _ends_hunk(lines: list[str], index: int, end: int) -> bool:
    """`end` is behind the last line that is not empty."""
    line = lines[index]
    if not line:
        return index >= end or lines[index + 1].startswith(("diff ", "--- ", "@@"))
    return line.startswith("--- ") and index + 1 < len(lines) and lines[index + 1].startswith("+++ ")


def structured_hunks(value: Json) -> list[Hunk] | None:
    """Hunks as data, as Claude Code's `structuredPatch` has them: start lines and signed lines."""
    if not isinstance(value, list) or not value:
        return None
    hunks: list[Hunk] = []
    for part in value:
        if not isinstance(part, dict) or not isinstance(part.get("lines"), list):
            return None
        hunk, _ = _read_hunk([_hunk_header(part), *(line for line in part["lines"] if isinstance(line, str))], 0)
        hunks.append(hunk)
    return hunks


def _hunk_header(part: dict[str, Any]) -> str:
    starts = (part.get("oldStart"), part.get("newStart"))
    if not all(isinstance(start, int) for start in starts):
        return "@@"
    total = len(part["lines"])  # an upper bound: every line belongs to the hunk
    return f"@@ -{starts[0]},{total} +{starts[1]},{total} @@"


_EXACT_LIMIT = 2000


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


@lru_cache(maxsize=64)
def replacement(old: str, new: str) -> Hunk:
    """The hunk that turns one text into another, without line numbers."""
    before, after = _lines(old), _lines(new)
    if len(before) + len(after) > _EXACT_LIMIT:
        return [*(DiffLine("-", line) for line in before), *(DiffLine("+", line) for line in after)]
    if (hunk := _one_change(before, after)) is not None:
        return hunk
    from difflib import SequenceMatcher  # noqa: PLC0415 -- only edits need it

    hunk = []
    for tag, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            hunk += [DiffLine(" ", line) for line in before[i:j]]
        else:
            hunk += [DiffLine("-", line) for line in before[i:j]]
            hunk += [DiffLine("+", line) for line in after[k:m]]
    return hunk


def _one_change(before: list[str], after: list[str]) -> Hunk | None:
    """The hunk of lines that changed in one place, as in most edits; None if several hunks would be possible.

    No line may occur twice on a side, and none of those between the equal ends on both: then there is only one correct
    hunk, and difflib would find it ten times as slowly.
    """
    if len(set(before)) < len(before) or len(set(after)) < len(after):
        return None
    start, most = 0, min(len(before), len(after))
    while start < most and before[start] == after[start]:
        start += 1
    end = 0
    while end < most - start and before[-1 - end] == after[-1 - end]:
        end += 1
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if not set(old).isdisjoint(new):
        return None
    return [
        *(DiffLine(" ", line) for line in before[:start]),
        *(DiffLine("-", line) for line in old),
        *(DiffLine("+", line) for line in new),
        *(DiffLine(" ", line) for line in before[len(before) - end :]),
    ]


def added(content: str) -> Hunk:
    """The hunk of a new file: its lines are numbered from one."""
    return [DiffLine("+", line, number) for number, line in enumerate(_lines(content), 1)]


def summary(files: Sequence[FileDiff]) -> tuple[str, Iterable[str]]:
    """One verb for all the files, and their paths."""
    actions = {file.action for file in files}
    return (actions.pop() if len(actions) == 1 else "Edit"), [file.path for file in files]
