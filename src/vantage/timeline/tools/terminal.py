"""Our own terminal tools, as agents call them over MCP: `Ran make test`, `Typed y ⏎`, `Waited for ">>> "`.

A result with fields is presented from its fields. Some agents keep only the text of a result: it is shown as it is.
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
"""Lines of the output that are shown of a wait: the last ones, where the match is."""
SCREEN_LINES = 24
"""Lines of a usual window; a larger one is cut."""

Fields = dict[str, Any]


def _fields(call: ToolCall) -> Fields:
    """The fields of a result; none while the call runs, when it failed, or when the result is only text."""
    if call.done and not call.failed and isinstance(call.data, dict) and not call.unpacked:
        return call.data
    return {}


def _text(call: ToolCall) -> str:
    """The text of a result that has no fields."""
    return call.output if call.done and not call.failed and not _fields(call) else ""


def _string(fields: Fields, *keys: str) -> str:
    return next((value for key in keys if isinstance(value := fields.get(key), str) and value.strip()), "")


def _output(text: str, *, lines: int | None = 5) -> list[Block]:
    return [OutputBlock(text, max_lines=lines)] if text.strip() else []


def _tail(text: str) -> str:
    return "\n".join(text.strip("\n").split("\n")[-TAIL_LINES:])


# commands


@presenter("pty_exec_block")
def exec_block(call: ToolCall) -> Presentation | None:
    if not fits(call, {"command": (str, list)}):
        return None
    fields = _fields(call)
    because = _string(fields, "done_because")
    status: Status | None = "error" if fields.get("exit_code") else None
    return Presentation(
        head(call.verb("Run", "Running", "Ran"), command_of(call.args.get("command"))),
        error_blocks(call) or _output(_string(fields, "output") or _text(call)),
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
        head(call.verb("Start", "Starting", "Started"), command_of(call.args.get("command"))), error_blocks(call)
    )


# input


def typed(data: str) -> str:
    """Typed text on one line, with a sign for every Enter."""
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
    verb = call.verb("Paste", "Pasting", "Pasted") if call.args.get("paste") else call.verb("Type", "Typing", "Typed")
    return Presentation(head(verb, what), error_blocks(call), cut_title="tail")


@presenter("write_stdin")
def write_stdin(call: ToolCall) -> Presentation | None:
    """Codex's tool to type at a program that it runs itself; without text it waits for more output."""
    if not fits(call, {"session_id": (str, int)}, chars=str):
        return None
    what = typed(call.text("chars"))
    verb = call.verb("Type", "Typing", "Typed") if what else call.verb("Wait for", "Waiting for", "Waited for")
    _, output = split_preamble(call.output)
    return Presentation(head(verb, what or "more output"), error_blocks(call) or _output(output), cut_title="tail")


@presenter("pty_keys")
def keys(call: ToolCall) -> Presentation | None:
    if not fits(call, {"keys": (str, list)}):
        return None
    pressed = call.args.get("keys") or []
    names = [pressed] if isinstance(pressed, str) else [str(key) for key in pressed]
    return Presentation(head(call.verb("Press", "Pressing", "Pressed"), *names), error_blocks(call))


_PRESSED = {"pty_ctrl_c": "C-c", "pty_ctrl_d": "C-d", "pty_enter": "Enter"}


@presenter(*_PRESSED)
def one_key(call: ToolCall) -> Presentation:
    return Presentation(head(call.verb("Press", "Pressing", "Pressed"), _PRESSED[call.name]), error_blocks(call))


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
    """A condition of `wait_for` in words."""
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
_UNMATCHED = {
    "timeout": "timed out",
    "exited": "it ended",
    "max_bytes": "not in that much output",
    "awaiting": "it waits for input",
}


@presenter("pty_wait_for")
def wait_for(call: ToolCall) -> Presentation | None:
    if not fits(call, {"match": (str, dict)}, regex=bool):
        return None
    match = call.args.get("match")
    what = condition(match, regex=bool(call.args.get("regex"))) if match else ""
    fields = _fields(call)
    unmatched = fields.get("matched") is False
    shown = _string(fields, "screen")
    return Presentation(
        head(call.verb("Wait for", "Waiting for", "Waited for"), what),
        error_blocks(call)
        or (_output(shown, lines=SCREEN_LINES) if shown else _output(_tail(_string(fields, "tail") or _text(call)))),
        status="warning" if unmatched else None,
        trailing=_UNMATCHED.get(_string(fields, "reason"), "not matched") if unmatched else "",
        cut_title="tail",
    )


# looking


@presenter("pty_read_screen")
def read_screen(call: ToolCall) -> Presentation:
    fields = _fields(call)
    rows = fields.get("rows")
    text = "\n".join(map(str, rows)) if isinstance(rows, list) else _string(fields, "text") or _text(call)
    changed = fields.get("changed")
    if isinstance(changed, list):
        text = "\n".join(str(row.get("text", "")) for row in changed if isinstance(row, dict))
    verb = call.verb("Look at", "Looking at", "Looked at")
    return Presentation(
        head(verb, "the screen"),
        error_blocks(call) or _output(text, lines=SCREEN_LINES),
        trailing=_string(fields, "title"),
    )


@presenter("pty_read_block")
def read_block(call: ToolCall) -> Presentation | None:
    if not fits(call, {"block_id": str}):
        return None
    fields = _fields(call)
    record = fields.get("block")
    command = _string(record, "cmd") if isinstance(record, dict) else ""
    what = command_of(command) if command else call.text("block_id")
    return Presentation(
        head(call.verb("Read output of", "Reading output of", "Read output of"), what),
        error_blocks(call) or _output(_string(fields, "output") or _text(call)),
    )


# the rest: a sentence, and one field of the result


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
"""Tool → what was done, and the field of the result that is shown beside it."""


@presenter(*_SENTENCES)
def sentence(call: ToolCall) -> Presentation:
    done, field = _SENTENCES[call.name]
    fields = _fields(call)
    size = f"{call.text('cols')} × {call.text('rows')}" if call.name == "pty_resize" else ""
    text = _string(fields, "text") or _text(call)
    blocks = _output(text, lines=SCREEN_LINES) if call.name == "display_context" else _output(text)
    return Presentation(
        head(done, size), error_blocks(call) or blocks, trailing=_string(fields, field) if field else ""
    )


@presenter("pty_search")
def search(call: ToolCall) -> Presentation | None:
    if not fits(call, {"query": str}, regex=bool):
        return None
    lines = _fields(call).get("hits")
    text = (
        "\n".join(str(hit.get("text", "")) for hit in lines if isinstance(hit, dict)) if isinstance(lines, list) else ""
    )
    return Presentation(
        head(call.verb("Search", "Searching", "Searched"), "the output", Span("for", ACCENT), call.text("query")),
        error_blocks(call) or _output(text or _text(call)),
    )


PRESENTERS = (
    exec_block,
    exec_interactive,
    send,
    write_stdin,
    keys,
    one_key,
    mouse,
    wait_for,
    read_screen,
    read_block,
    sentence,
    search,
)
