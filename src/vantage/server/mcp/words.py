"""What a tool's result says beside its fields: a short text, and a note where something is not as usual.

A slip, a question, a failure and a next step that is not obvious have a note; a success has none. Some clients show a
model the text, others only the fields, so a note is in both. Notes are made from the fields of a result, hints from the
steps of an error.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

from vantage.errors import Do, SecretPrompt, VantageError, worded

Fields = dict[str, Any]


# what to call next

_ANSWER = {
    "secret": 'It asks for a secret: pty_send with secret=true, or leave with pty_keys ["C-c"].',
    "line": "It waits for a line: pty_send, ended with \\n.",
    "key": "It waits for keys: pty_keys, or pty_send.",
}
"""How to answer a program, by what it waits for."""


def _asked(result: Fields) -> str:
    """How to answer a program that waits for input; empty when that is not known."""
    return _ANSWER.get("secret" if result.get("awaiting_secret") else result.get("awaiting") or "", "")


def exec_note(result: Fields) -> str:
    if result.get("running"):
        if asked := _asked(result):
            return asked
        again = json.dumps({"match": "PROMPT", "from_cursor": result["cursor"]})
        return (
            f"It still runs. pty_wait_for {again} waits for its end and returns its output; {_read_block(result)} "
            'shows it so far. If it asks something: pty_send. To stop it: pty_keys ["C-c"]; a shell or REPL: ["C-d"].'
        )
    if result.get("done_because") == "incomplete":
        return (
            "The shell asked for more (an open quote, bracket or heredoc), so the input was cancelled and nothing of "
            "the open part ran. Send the command whole."
        )
    if result.get("done_because") == "exit":
        return "The shell itself ended (exit, exec or set -e). The next pty_exec_block starts a fresh one."
    if result.get("truncated"):
        return (
            f"{result.get('omitted_bytes', 0):,} bytes in the middle are left out: {_read_block(result)} with a larger "
            "max_output, or a narrower command."
        )
    return ""


def _read_block(result: Fields) -> str:
    return f'pty_read_block {{"block_id": "{result["block_id"]}"}}'


def waited_note(result: Fields) -> str:
    if result["matched"]:
        return ""
    if asked := _asked(result):
        return asked
    if result["reason"] == "exited":
        return "It has ended and this never came: nothing more will come. pty_exec_block is possible again."
    again = _wait_again(result)
    if result["reason"] == "max_bytes":
        return (
            f"Not in the first max_bytes of the output. Call {again} and a larger max_bytes, or look for another text."
        )
    return f"Not yet. Still waiting for it? Call {again}. Else react to what is there; pty_read_screen shows all of it."


def nothing_runs_note(result: Fields) -> str:
    """For a wait that failed at the shell's prompt, or without a shell: waiting again is not the next step."""
    return (
        "Nothing runs in this terminal, so it may never come. pty_exec_block or pty_exec_interactive run something. "
        f"Only if a background job is to print it: {_wait_again(result)}."
    )


def _wait_again(result: Fields) -> str:
    return f"pty_wait_for with the same match and from_cursor={result['cursor']}"


def next_step(request: str, result: Fields) -> str:
    """The note of a result. After a wait in the same call it is the wait's, unless the command has ended."""
    if result.get("matched") is not None and not result.get("done_because"):
        return waited_note(result)
    note = NOTES.get(request)
    return note(result) if note else ""


def status_note(result: Fields) -> str:
    if result["keyboard"] != "agent":
        return "A person types in this terminal now: wait until keyboard is agent again."
    if asked := _asked(result):
        return asked
    return "No shell runs: pty_exec_block starts one." if result["mode"] == "exited" else ""


def asked_note(result: Fields) -> str:
    again = json.dumps({"request_id": result["request_id"]})
    if result["state"] == "pending":
        return f"No answer yet: it stays open. ask_person {again} waits on; meanwhile do what does not depend on it."
    return "No person has answered: that is not a yes." if result["state"] == "closed" else ""


NOTES: dict[str, Callable[[Fields], str]] = {
    "exec_block": exec_note,
    "wait_for": waited_note,
    "status": status_note,
    "ask": asked_note,
}


# the text


def _awaiting_text(result: Fields) -> str:
    return f"awaiting {result['awaiting']}" if result.get("awaiting") else ""


def _exec_text(result: Fields) -> str:
    output = (result.get("screen") or result.get("output") or "").rstrip("\n")
    if result.get("running"):
        return "\n".join(filter(None, [output, _awaiting_text(result)]))
    code = result.get("exit_code")
    ended = f"exit {code}" if code is not None else f"no exit code ({result.get('done_because')})"
    return f"{output}\n{ended}" if output else ended


def _started_text(result: Fields) -> str:
    return f"session {result['session_id']}, block {result['block_id']}, cursor {result['cursor']}"


def _waited_text(result: Fields) -> str:
    found = result.get("match_text")
    if result["matched"]:
        head = f"matched {result['reason']}" + (f" {found!r}" if found else "")
        if "last_exit_code" in result:
            head += f", exit {result['last_exit_code']}"
    else:
        head = f"not matched ({_awaiting_text(result) or result['reason']})"
    shown = result.get("screen") or result.get("tail") or ""
    return f"{head}, cursor {result['cursor']}" + (f"\n{shown}" if shown else "")


def text_of(request: str, result: Fields) -> str:
    """The text beside a result's fields: the wait's where the call waited, unless the command has ended."""
    if result.get("matched") is None or result.get("done_because"):
        return TEXTS[request](result)
    started = f"session {result['session_id']}, " if "session_id" in result else ""
    return started + _waited_text(result)


def _screen_text(result: Fields) -> str:
    if "changed" in result:
        return "\n".join(f"{row['row']}: {row['text']}" for row in result["changed"]) or "(nothing changed)"
    text = result.get("text")
    return text or "(the screen is empty)"


def selected_text(result: Fields) -> str:
    """The line below a screen that names what is highlighted on it."""
    return f"selected: {', '.join(map(repr, result['selected']))}" if result.get("selected") else ""


def _status_text(result: Fields) -> str:
    words = [result["mode"], f"in {result['cwd']}"]
    if result.get("foreground"):
        words.append(f"foreground {result['foreground']}")
    if result.get("awaiting"):
        words.append(
            f"{_awaiting_text(result)}, asked by {result['prompt']!r}" if result["prompt"] else _awaiting_text(result)
        )
    if result.get("last_exit_code") is not None:
        words.append(f"last exit {result['last_exit_code']}")
    if result.get("stalled"):
        words.append(f"stalled, programs wait ({result['stalled']})")
    return ", ".join(words)


def _block_line(block: Fields) -> str:
    because, code = block["done_because"], block["exit_code"]
    ended = "running" if because is None else because if code is None else f"exit {code}"
    return f"{block['block_id']} [{ended}] {block['cmd']}"


def _block_text(result: Fields) -> str:
    return f"{_block_line(result['block'])}\n{result['output']}".rstrip("\n")


TEXTS: dict[str, Callable[[Fields], str]] = {
    "exec_block": _exec_text,
    "exec_interactive": _started_text,
    "send": lambda result: f"typed, cursor {result['cursor']}",
    "keys": lambda result: f"pressed, cursor {result['cursor']}",
    "ctrl_c": lambda result: f"interrupted, cursor {result['cursor']}",
    "ctrl_d": lambda result: f"pressed, cursor {result['cursor']}",
    "enter": lambda result: f"pressed, cursor {result['cursor']}",
    "mouse": lambda result: f"at row {result['row']}, column {result['col']}",
    "wait_for": _waited_text,
    "status": _status_text,
    "end_session": lambda result: f"ended: {result['how']}",
    "reset": lambda result: f"a fresh shell, {result['shell_id']}",
    "resize": lambda result: f"{result['cols']} × {result['rows']}",
    "read_raw": lambda result: f"{result['data_utf8_lossy']}\n[next_offset {result['next_offset']} of {result['end']}]",
    "read_spool": lambda result: f"{result['text']}\n[cursor {result['cursor']} of {result['end']}]",
    "read_screen": _screen_text,
    "read_screen_deltas": lambda result: f"{len(result['deltas'])} changes, cursor {result['cursor']}",
    "screen_status": lambda result: f"{result['cols']} × {result['rows']}, {result['cursor']} changes",
    "read_scrollback": lambda result: "\n".join(result["lines"]) or "(nothing has left the screen)",
    "blocks": lambda result: "\n".join(map(_block_line, result["blocks"])) or "(no command has run)",
    "read_block": _block_text,
    "search": lambda result: (
        "\n".join(f"{hit['block_id'] or '-'}:{hit['line']}: {hit['text']}" for hit in result["hits"])
        or "(no line has it)"
    ),
    "append": lambda result: f"{result['count']} events, the last one is {result['seq']}",
    "instructions": lambda result: result["text"],
    "ask": lambda result: f"{result['state']}: {result.get('answer') or result.get('why') or result['request_id']}",
}


# errors


def tool_call(step: Do) -> str:
    """A next step as a tool call. The core tools have no `pty_ctrl_c`: a key does the same."""
    if step.verb == "ctrl_c":
        return 'pty_keys {"keys": ["C-c"]}'
    return f"pty_{step.verb} {json.dumps(step.args)}" if step.args else f"pty_{step.verb}"


_TYPE_IT_ON_PURPOSE = (
    "only a secret may be typed now: pty_send with secret=true and the secret followed by \\n. If you do not have it, "
    'ask your user for it. pty_keys ["C-c"] leaves the prompt'
)


def hint_of(error: VantageError) -> str:
    """The way out of an error, with tools to call."""
    return _TYPE_IT_ON_PURPOSE if isinstance(error, SecretPrompt) else worded(error.advice, error.do, tool_call)


def slip_note(note: Fields) -> str:
    """A note about a slip, with tools to call."""
    steps = [Do(each["verb"], each["does"], **each["args"]) for each in note.get("steps", ())]
    return f"{note['message']}. {worded('', steps, tool_call)}"


def error_text(error: VantageError) -> str:
    """`busy: a command runs (make). pty_wait_for …`"""
    return f"{error.code}: {error.message.rstrip('.')}. {_sentence(hint_of(error))}".rstrip()


def joined(notes: Iterable[str]) -> str:
    """Several notes as sentences, one after the other."""
    said = [_sentence(each) for each in notes if each]
    return " ".join(each if each.endswith((".", "?", "!")) or each is said[-1] else f"{each}." for each in said)


def _sentence(text: str) -> str:
    """With a capital, unless it begins with a tool's name."""
    return text if text.startswith(("pty_", "ask_")) else text[:1].upper() + text[1:]
