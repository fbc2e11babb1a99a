"""What an ACP call is: its kind, its arguments, diffs and locations, as one of our tools."""

import difflib
import re
import shlex
from collections.abc import Callable

from vantage.agents.tools import is_built_in, mcp_tool, native, task_report
from vantage.agents.values import Object, content_text, obj, objects, text, whole_number
from vantage.events import Json, compact_json
from vantage.timeline.calls import parse_json

_PATH = ("path", "file_path", "filePath", "abs_path", "absolute_path")
_CONTEXT = 3
_FENCED = re.compile(r"\s*(`{3,})\w*\n(.*?)\n?\1\s*", re.DOTALL)
"""A command's output, or an error, in the fence that agents put around it for markdown."""
_WRAPPED = re.compile(r"\s*<tool_use_error>(.*)</tool_use_error>\s*", re.DOTALL)
_EXIT = re.compile(r"(?:Error: )?Exit code (-?\d+)(?:\n|\Z)")
_EXITED = re.compile(r"Exited with code (-?\d+)\. ?Final output:\s*")
_SERVED = re.compile(r"(\S+) \((\S+) MCP Server\)")
_OURS = re.compile(r"mcp_+([a-zA-Z0-9-]+)_+(pty_[a-z]+(?:_[a-z]+)*)(?=__|-|$)")
"""Gemini names our tools only in a call's id."""


def described(call: Object) -> tuple[str, Json]:
    """The tool and its arguments; `None` for arguments that are not known yet."""
    named, kind, given = _own_name(call), text(call, "kind"), given_to(call)
    if kind != "execute" and named and (is_built_in(named) or "pty_" in named):
        return named, given
    if kind in _KINDS:
        return _KINDS[kind](call)
    return named or text(call, "title") or kind or "tool", given


def given_to(call: Object) -> Json:
    """A call's arguments. Some agents send them as text when they announce the call."""
    return call.get("rawInput") or parse_json(content_text(announced(call))) or None


def announced(call: Object) -> Json:
    """The content of a call that is only announced: it says what the call will do, not what it did."""
    return call.get("_announced") or ""


def _own_name(call: Object) -> str:
    """The agent's own name for the tool, where the call has it; a title of one word is such a name."""
    for meta in obj(call, "_meta").values():
        if name := text(meta, "toolName"):
            return native({}, name, None)[0]
    if ours := _OURS.match(text(call, "toolCallId")):
        return mcp_tool(ours[1], ours[2])
    for title in (text(call, "name", "toolName"), text(call, "_first_title"), text(call, "title")):
        if served := _SERVED.fullmatch(title):
            return mcp_tool(served[2], served[1])
        word = title.removeprefix("Tool: ").strip()
        if word and " " not in word and "`" not in word:
            name = native({}, word, None)[0]
            if name != word or is_built_in(name) or "pty_" in name:
                return name
    return ""


def _title(call: Object) -> str:
    return text(call, "title").strip().strip("`")


def _execute(call: Object) -> tuple[str, Json]:
    raw = obj(call, "rawInput")
    title = _title(call)
    command = raw.get("command", raw.get("cmd")) or ("" if is_built_in(title) else title)
    if isinstance(command, str) and isinstance(more := raw.get("args"), list) and more:
        command = " ".join([command, shlex.join(map(str, more))])
    return "shell", {"command": command} if command else None


def _place(call: Object) -> str:
    stated = text(call.get("rawInput"), *_PATH)
    return stated or next((text(one, "path") for one in objects(call, "locations")), "")


def _read(call: Object) -> tuple[str, Json]:
    place = _place(call) or _title(call).removeprefix("Read ")
    return "read_file", {"path": place} if place else None


def _edit(call: Object) -> tuple[str, Json]:
    diffs = _diffs(call)
    if diffs:
        return "apply_patch", {"patch": "\n".join(map(_unified, diffs))}
    raw = call.get("rawInput")
    if isinstance(raw, dict) and any(key in raw for key in ("old_string", "oldText", "oldString", "edits")):
        return "edit", raw
    return "apply_patch", None


def _delete(call: Object) -> tuple[str, Json]:
    return "apply_patch", {"patch": f"*** Begin Patch\n*** Delete File: {_place(call) or _title(call)}\n*** End Patch"}


def _move(call: Object) -> tuple[str, Json]:
    places = [text(one, "path") for one in objects(call, "locations")]
    if len(places) < 2:
        return "move", call.get("rawInput") or _title(call)
    patch = f"*** Begin Patch\n*** Update File: {places[0]}\n*** Move to: {places[1]}\n*** End Patch"
    return "apply_patch", {"patch": patch}


def _switch_mode(call: Object) -> tuple[str, Json]:
    raw = call.get("rawInput")
    return ("exit_plan_mode", raw) if text(raw, "plan") else (_title(call) or "switch_mode", raw)


def _search(call: Object) -> tuple[str, Json]:
    raw = obj(call, "rawInput")
    pattern = text(raw, "pattern", "query", "regex") or _title(call)
    place = text(raw, *_PATH, "dir_path")
    return "search", {"pattern": pattern, **({"path": place} if place else {})} if pattern else None


def _fetch(call: Object) -> tuple[str, Json]:
    raw = obj(call, "rawInput")
    if (query := text(raw, "query")) and not text(raw, "url"):
        return "web_search", {"query": query}
    place = text(raw, "url") or _title(call)
    return "web_fetch", {"url": place} if place else None


_KINDS: dict[str, Callable[[Object], tuple[str, Json]]] = {
    "execute": _execute,
    "read": _read,
    "edit": _edit,
    "delete": _delete,
    "move": _move,
    "search": _search,
    "fetch": _fetch,
    "switch_mode": _switch_mode,
}


def _diffs(call: Object) -> list[Object]:
    return [part for part in objects(call, "content") if text(part, "type") == "diff"]


def _unified(diff: Object) -> str:
    """A diff's texts as a patch. Its hunks have line numbers only if the message says that the texts are whole
    files.
    """
    path, old, new = text(diff, "path"), text(diff, "oldText"), text(diff, "newText")
    change = text(diff.get("_meta"), "kind")
    if diff.get("oldText") is None or change == "add":
        added = [f"+{line}" for line in new.removesuffix("\n").split("\n")] if new else []
        return "\n".join([f"--- /dev/null\n+++ {path}\n@@ -0,0 +1,{len(added)} @@", *added])
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), n=_CONTEXT, lineterm="")
    hunks = [line if change or not line.startswith("@@") else "@@" for line in list(lines)[2:]]
    return "\n".join([f"--- {path}\n+++ {path}", *hunks])


def output_of(call: Object) -> str:
    """A call's answer as text. Diffs are left out, because the call has them, and so is a terminal's output, which
    comes by itself.
    """
    output = _told(call)
    ended = _ended_in_words(call, output)
    return output[ended.end() :] if ended else output


def _told(call: Object) -> str:
    said = [content_text(part.get("content")) for part in objects(call, "content") if text(part, "type") == "content"]
    if any(said):
        return _unquoted(call, task_report("\n".join(said)))
    raw = call.get("rawOutput")
    if isinstance(raw, dict):
        return text(raw, "output", "formatted_output", "aggregated_output", "stdout", "content") or _as_it_is(call, raw)
    return raw if isinstance(raw, str) else content_text(raw) if isinstance(raw, list) else ""


def _unquoted(call: Object, output: str) -> str:
    """The output without the fence or tags that were put around it for markdown or for the model."""
    is_quoted = text(call, "kind") == "execute" or text(call, "status") == "failed"
    if is_quoted and (fenced := _FENCED.fullmatch(output)):
        output = fenced[2]
    wrapped = _WRAPPED.fullmatch(output)
    return wrapped[1] if wrapped else output


def _as_it_is(call: Object, raw: Object) -> str:
    """An answer of an unknown tool in unknown fields, as JSON."""
    return compact_json(raw) if raw and not is_built_in(described(call)[0]) else ""


def _ended_in_words(call: Object, output: str) -> re.Match[str] | None:
    """The sentence before a command's output that says how it ended."""
    if text(call, "kind") != "execute":
        return None
    return _EXITED.match(output) or (_EXIT.match(output) if text(call, "status") == "failed" else None)


def exit_code(call: Object) -> int | None:
    ended, raw = obj(call, "_meta", "terminal_exit"), call.get("rawOutput")
    if isinstance(known := call.get("_exit_code"), int):
        return known
    for place in (ended, raw, obj(raw, "metadata")):
        if (code := whole_number(place, "exit_code", "exitCode", "exit")) is not None:
            return code
    said = _ended_in_words(call, _told(call))
    return int(said[1]) if said else None


def details_of(call: Object) -> Json:
    """A command's exit code, or the diff of an edit: it may come only with the end."""
    code, diffs = exit_code(call), _diffs(call)
    stated = text(obj(call, "rawOutput", "metadata"), "diff")
    if code is not None:
        return {"exit_code": code}
    if stated:
        return {"diff": stated}
    return {"diff": "\n".join(map(_unified, diffs))} if diffs else None
