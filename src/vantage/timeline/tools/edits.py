"""Changing files: patches, replacements and whole files, drawn as diffs."""

from vantage.events import Json
from vantage.text.spans import Line, Span
from vantage.text.style import ACCENT
from vantage.timeline.calls import ToolCall
from vantage.timeline.patch import Hunk, added, parse_patch, replacement, structured_hunks, summary
from vantage.timeline.row import Block, DiffBlock, FileDiff, OutputBlock, file_head, head
from vantage.timeline.tools import Presentation, error_blocks, fits, presenter

_PATH = ("file_path", "path", "filePath", "filename")
_PATHS: dict[str, type | tuple[type, ...]] = dict.fromkeys(_PATH, str)
_EVERYWHERE = ("replace_all", "replaceAll", "allow_multiple")
_SHOWN_FILES = 3


def _present(call: ToolCall, files: list[FileDiff]) -> Presentation:
    """The diff, and below it the error if the tool has one: the attempted change stays visible."""
    return Presentation(_title(files), [DiffBlock(files, is_row=True), *error_blocks(call)])


def _title(files: list[FileDiff]) -> Line:
    if len(files) == 1:
        return file_head(files[0])
    verb, paths = summary(files)
    shown = list(paths)[:_SHOWN_FILES]
    more = len(files) - len(shown)
    return head(verb, ", ".join(shown), Span(f"({more} more)" if more else "", ACCENT))


def _stated(call: ToolCall, path: str) -> list[FileDiff] | None:
    """The diff that the tool's details carry: it has line numbers, which arguments lack."""
    details = call.details
    if isinstance(details, str):
        return parse_patch(details)
    if not isinstance(details, dict):
        return None
    if hunks := structured_hunks(details.get("structuredPatch", details.get("structured_patch"))):
        return [FileDiff(_text(details.get("filePath")) or path, hunks=hunks)]
    for key in ("diff", "patch", "unified_diff", "unifiedDiff"):
        text = details.get(key)
        if isinstance(text, str) and (files := parse_patch(text)):
            return files
    return None


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


@presenter("apply_patch", "applypatch", "patch")
def apply_patch(call: ToolCall) -> Presentation | None:
    patch = call.raw_args if isinstance(call.raw_args, str) else call.text("patch", "input", "diff")
    if not patch and not fits(call, {"patch": str, "input": str, "diff": str}):
        return None
    if files := _stated(call, "") or parse_patch(patch):
        return _present(call, files)
    blocks: list[Block] = [OutputBlock(patch, error=True)] if patch.strip() else []
    return Presentation(head("Edit"), [*blocks, *error_blocks(call)])


def _hunk(edit: Json) -> Hunk:
    if not isinstance(edit, dict):
        return []
    old = next(
        (edit[key] for key in ("old_string", "oldString", "oldText", "old_str") if isinstance(edit.get(key), str)), ""
    )
    new = next(
        (edit[key] for key in ("new_string", "newString", "newText", "new_str") if isinstance(edit.get(key), str)), ""
    )
    return replacement(old, new)


@presenter("edit", "replace", "multiedit", "multi_edit", "str_replace", "edit_file")
def edit(call: ToolCall) -> Presentation | None:
    if isinstance(call.raw_args, str) or call.text("patch", "input", "diff"):
        return apply_patch(call)
    if not fits(call, _PATHS, old_string=str, new_string=str, edits=list, replace_all=bool):
        return None
    path = call.text(*_PATH)
    edits = call.args.get("edits")
    hunks = [hunk for one in (edits if isinstance(edits, list) else [call.args]) if (hunk := _hunk(one))]
    note = "replace all" if any(call.args.get(key) for key in _EVERYWHERE) else ""
    return _present(call, _stated(call, path) or [FileDiff(path, hunks=hunks, note=note)])


@presenter("write", "write_file", "create_file")
def write(call: ToolCall) -> Presentation | None:
    if not fits(call, _PATHS, content=str):
        return None
    path = call.text(*_PATH)
    content = call.args.get("content")
    hunk = added(content) if isinstance(content, str) else []
    return _present(call, _stated(call, path) or [FileDiff(path, "Add", hunks=[hunk] if hunk else [])])


PRESENTERS = (apply_patch, edit, write)
