"""Our own terminal tools, as agents call them over MCP: `Ran make test`, `Typed y ⏎`, `Waited for ">>> "`.

Some agents keep the fields of an answer, others only its text: both are read. What a model is told to call next is for
the model, and not shown.
"""

import re
from collections.abc import Callable
from typing import Any

from vantage.events import Json
from vantage.text.spans import Span
from vantage.text.style import ACCENT
from vantage.timeline.calls import ToolCall
from vantage.timeline.row import Block, OutputBlock, Status, head
from vantage.timeline.tools import Presentation, error_blocks, fits, presenter
from vantage.timeline.tools.shell import command_of, split_preamble

TAIL_LINES = 5
"""Of what is there when a wait is over: its end, where the match is."""
SCREEN_LINES = 24
"""A usual window; more of a larger one is cut."""

Fields = dict[str, Any]

_WATCH = re.compile(r"\n?People can watch this at \S+ \(conversation \S+\)\.\Z")
_ADVICE = re.compile(r"(?:\A|\n)[A-Z][^\n]*\bpty_\w+[^\n]*\Z")
_EXIT = re.compile(r"(?:\A|\n)(?:exit (-?\d+)|no exit code \((\w+)\))(?:\n[^\n]*)?\Z")
_WAITED = re.compile(r"(matched (?P<reason>\w+)|not matched \((?P<why>\w+)\))[^\n]*\n?")


def _text(call: ToolCall) -> str:
    """The text of an answer that has no fields, without what is only for the model."""
    return _ADVICE.sub("", _WATCH.sub("", call.output))


def _fields(call: ToolCall, read: Callable[[str], Fields]) -> Fields:
    """What a tool answered: its fields, or what `read` finds in its text."""
    if not call.done or call.failed:
        return {}
    if isinstance(call.data, dict) and not call.unpacked:
        return call.data
    return read(_text(call))


def _string(fields: Fields, *keys: str) -> str:
    return next((value for key in keys if isinstance(value := fields.get(key), str) and value.strip()), "")


def _output(text: str, *, lines: int | None = 5) -> list[Block]:
    return [OutputBlock(text, max_lines=lines)] if text.strip() else []


def _tail(text: str) -> str:
    return "\n".join(text.strip("\n").split("\n")[-TAIL_LINES:])


# commands


def _read_exec(text: str) -> Fields:
    ended = _EXIT.search(text)
    if ended is None:
        return {"output": text, "running": True}
    return {"output": text[: ended.start()], "exit_code": int(ended[1]) if ended[1] else None, "done_because": ended[2]}


@presenter("pty_exec_block")
def exec_block(call: ToolCall) -> Presentation | None:
    if not fits(call, {"command": (str, list)}):
        return None
    fields = _fields(call, _read_exec)
    because = _string(fields, "done_because")
    status: Status | None = "error" if fields.get("exit_code") else None
    return Presentation(
        head("Ran" if call.done else "Running", command_of(call.args.get("command"))),
        error_blocks(call) or _output(_string(fields, "output")),
        status=status,
        trailing="still running"
        if fields.get("running")
        else f"ended: {because}"
        if because not in ("", "mark")
        else "",
    )


@presenter("pty_exec_interactive")
def exec_interactive(call: ToolCall) -> Presentation | None:
    if not fits(call, {"command": (str, list)}):
        return None
    return Presentation(
        head("Started" if call.done else "Starting", command_of(call.args.get("command"))), error_blocks(call)
    )


# input


def typed(data: str) -> str:
    """Text as somebody typed it: one line, with a sign for every Enter."""
    return re.sub(
        r" {2,}", " ", data.replace("\r\n", "\n").replace("\r", "\n").replace("\n", " ⏎ ").replace("\t", " ⇥ ")
    ).strip()


@presenter("pty_send")
def send(call: ToolCall) -> Presentation | None:
    if not fits(call, {"data": str, "data_b64": str}):
        return None
    if call.args.get("secret"):
        what: str | Span = Span("a secret", ACCENT)
    elif "data" in call.args:
        what = typed(call.text("data"))
    else:
        what = Span("bytes", ACCENT)
    verb = ("Pasted" if call.done else "Pasting") if call.args.get("paste") else "Typed" if call.done else "Typing"
    return Presentation(head(verb, what), error_blocks(call), cut_title="tail")


@presenter("write_stdin")
def write_stdin(call: ToolCall) -> Presentation | None:
    """Codex's way to type at a program that it runs itself; with nothing typed it only waits for more output."""
    if not fits(call, {"session_id": (str, int)}, chars=str):
        return None
    what = typed(call.text("chars"))
    verb = ("Typed" if call.done else "Typing") if what else "Waited for" if call.done else "Waiting for"
    _, output = split_preamble(call.output)
    return Presentation(head(verb, what or "more output"), error_blocks(call) or _output(output), cut_title="tail")


@presenter("pty_keys")
def keys(call: ToolCall) -> Presentation | None:
    if not fits(call, {"keys": (str, list)}):
        return None
    pressed = call.args.get("keys") or []
    names = [pressed] if isinstance(pressed, str) else [str(key) for key in pressed]
    return Presentation(head("Pressed" if call.done else "Pressing", *names), error_blocks(call))


_PRESSED = {"pty_ctrl_c": "C-c", "pty_ctrl_d": "C-d", "pty_enter": "Enter"}


@presenter(*_PRESSED)
def one_key(call: ToolCall) -> Presentation:
    return Presentation(head("Pressed" if call.done else "Pressing", _PRESSED[call.name]), error_blocks(call))


@presenter("pty_mouse")
def mouse(call: ToolCall) -> Presentation | None:
    if not fits(call, {"action": str}, on_text=str, row=int, col=int):
        return None
    place = (
        f'"{call.text("on_text")}"' if call.text("on_text") else f"row {call.text('row')}, column {call.text('col')}"
    )
    return Presentation(head("Mouse", call.text("action"), Span("on", ACCENT), place), error_blocks(call))


# waiting


def condition(match: Json, *, regex: bool = False) -> str:
    """What a wait is for, in words."""
    if isinstance(match, str):
        return _TOKENS.get(match) or (f"/{match}/" if regex else _quoted(match))
    if isinstance(match, dict) and len(match) == 1:
        name, value = next(iter(match.items()))
        if name in _CONDITIONS:
            return _CONDITIONS[name](value)
    return str(match)


def _quoted(text: str) -> str:
    return '"' + text.replace("\n", "⏎") + '"'


def _all_of(word: str) -> Callable[[Json], str]:
    return lambda parts: f" {word} ".join(map(condition, parts)) if isinstance(parts, list) else str(parts)


_TOKENS = {"PROMPT": "the prompt", "EOF": "its end"}
_CONDITIONS: dict[str, Callable[[Json], str]] = {
    "text": lambda value: _quoted(str(value)),
    "regex": lambda value: f"/{value}/",
    "prompt": lambda _: "the prompt",
    "eof": lambda _: "its end",
    "screen": lambda value: f'"{value}" on the screen',
    "screen_gone": lambda value: f'"{value}" to leave the screen',
    "title": lambda value: f'the title "{value}"',
    "quiet_ms": lambda value: f"{value} ms of silence",
    "secret_prompt": lambda _: "a password prompt",
    "foreground": lambda value: f"{value} in the foreground",
    "any": _all_of("or"),
    "all": _all_of("and"),
}
_IN_VAIN = {"timeout": "timed out", "exited": "it ended", "max_bytes": "not in that much output"}


def _read_wait(text: str) -> Fields:
    found = _WAITED.match(text)
    if found is None:
        return {"matched": True, "tail": text}
    return {"matched": found["why"] is None, "reason": found["reason"] or found["why"], "tail": text[found.end() :]}


@presenter("pty_wait_for")
def wait_for(call: ToolCall) -> Presentation | None:
    if not fits(call, {"match": (str, dict)}, regex=bool):
        return None
    match = call.args.get("match")
    what = condition(match, regex=bool(call.args.get("regex"))) if match else ""
    fields = _fields(call, _read_wait)
    in_vain = fields.get("matched") is False
    shown = _string(fields, "screen")
    return Presentation(
        head("Waited for" if call.done else "Waiting for", what),
        error_blocks(call)
        or (_output(shown, lines=SCREEN_LINES) if shown else _output(_tail(_string(fields, "tail")))),
        status="warning" if in_vain else None,
        trailing=_IN_VAIN.get(_string(fields, "reason"), "in vain") if in_vain else "",
        cut_title="tail",
    )


# looking


def _read_screen(text: str) -> Fields:
    return {"text": text}


@presenter("pty_read_screen")
def read_screen(call: ToolCall) -> Presentation:
    fields = _fields(call, _read_screen)
    rows = fields.get("rows")
    text = "\n".join(map(str, rows)) if isinstance(rows, list) else _string(fields, "text")
    changed = fields.get("changed")
    if isinstance(changed, list):
        text = "\n".join(str(row.get("text", "")) for row in changed if isinstance(row, dict))
    verb = "Looked at" if call.done else "Looking at"
    return Presentation(
        head(verb, "the screen"),
        error_blocks(call) or _output(text, lines=SCREEN_LINES),
        trailing=_string(fields, "title"),
    )


def _read_block(text: str) -> Fields:
    return {"output": text.partition("\n")[2]}


@presenter("pty_read_block")
def read_block(call: ToolCall) -> Presentation | None:
    if not fits(call, {"block_id": str}):
        return None
    fields = _fields(call, _read_block)
    record = fields.get("block")
    command = _string(record, "cmd") if isinstance(record, dict) else ""
    what = command_of(command) if command else call.text("block_id")
    return Presentation(
        head("Read output of" if call.done else "Reading output of", what),
        error_blocks(call) or _output(_string(fields, "output")),
    )


# the rest: a sentence, and of the answer what its text says


_SENTENCES: dict[str, tuple[str, str]] = {
    "pty_status": ("Checked the terminal", "mode"),
    "pty_end_session": ("Ended the program", "how"),
    "pty_reset": ("Reset the terminal", ""),
    "pty_resize": ("Resized the terminal", ""),
    "pty_blocks": ("Listed commands", ""),
    "pty_screen_status": ("Checked the screen", ""),
    "pty_read_raw": ("Read raw output", ""),
    "pty_read_spool": ("Read output", ""),
    "pty_read_scrollback": ("Read scrollback", ""),
    "pty_read_screen_deltas": ("Read screen changes", ""),
    "display_context": ("Asked what the display can show", ""),
}
"""Tool → what was done, and the field of the answer that is said beside it."""


@presenter(*_SENTENCES)
def sentence(call: ToolCall) -> Presentation:
    done, field = _SENTENCES[call.name]
    fields = _fields(call, lambda text: {field: re.split(r"[,\n]", text.removeprefix("ended: "))[0]})
    size = f"{call.text('cols')} × {call.text('rows')}" if call.name == "pty_resize" else ""
    text = _string(fields, "text")
    blocks = _output(text, lines=SCREEN_LINES) if call.name == "display_context" else _output(text)
    return Presentation(
        head(done, size), error_blocks(call) or blocks, trailing=_string(fields, field) if field else ""
    )


@presenter("pty_search")
def search(call: ToolCall) -> Presentation | None:
    if not fits(call, {"query": str}, regex=bool):
        return None
    hits = _fields(call, lambda text: {"text": text})
    lines = hits.get("hits")
    text = (
        "\n".join(str(hit.get("text", "")) for hit in lines if isinstance(hit, dict)) if isinstance(lines, list) else ""
    )
    return Presentation(
        head("Searched" if call.done else "Searching", "the output", Span("for", ACCENT), call.text("query")),
        error_blocks(call) or _output(text or _string(hits, "text")),
    )
