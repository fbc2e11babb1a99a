"""What a tool's result says beside its fields: a short text, what to know, and which tool to call next.

Some clients show a model the text, others only the fields: so whatever matters for the next step is in `note` too.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

from vantage.errors import VantageError
from vantage.server.mcp_tools import in_tool_words

Fields = dict[str, Any]


# what to call next


def exec_note(result: Fields) -> str:
    if result.get("running"):
        if result.get("awaiting_secret"):
            return 'It asks for a secret: pty_send with secret=true, or leave with pty_keys ["C-c"].'
        again = json.dumps({"match": "PROMPT", "from_cursor": result["cursor"]})
        return (
            f"It still runs. pty_wait_for {again} waits for its end, then {_read_block(result)} has its output. If it "
            'asks something: pty_send. To stop it: pty_keys ["C-c"]; a shell or REPL: ["C-d"].'
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


def started_note(_: Fields) -> str:
    return (
        'It runs. Next: pty_wait_for a text that it will print, or {"quiet_ms": 500} if you do not know which; then '
        "pty_send or pty_keys."
    )


def waited_note(result: Fields) -> str:
    if result["matched"] or result.get("note"):
        return ""
    if result.get("awaiting_secret"):
        return 'A secret is asked for: pty_send with secret=true, or leave with pty_keys ["C-c"].'
    if result["reason"] == "exited":
        return (
            "It has ended and this never came: nothing more will come. The end of its output is in tail; "
            "pty_exec_block is possible again."
        )
    again = _wait_again(result)
    if result["reason"] == "max_bytes":
        return (
            f"Not in the first max_bytes of the output. Call {again} and a larger max_bytes, or look for another text."
        )
    return (
        f"Not yet. Still waiting for it? Call {again}. Else see what is there (tail, pty_read_screen) and react to it."
    )


def nothing_runs_note(result: Fields) -> str:
    """Of a wait in vain at the shell's prompt, or where no shell is: waiting on is not what to do next."""
    return (
        "Nothing runs in this terminal, so it may never come: tail has what came instead. Next: pty_exec_block or "
        f"pty_exec_interactive. Only if a background job is to print it: {_wait_again(result)}."
    )


def _wait_again(result: Fields) -> str:
    return f"pty_wait_for with the same match and from_cursor={result['cursor']}"


def typed_note(_: Fields) -> str:
    return "Next: pty_wait_for what should come of it, or pty_read_screen."


def status_note(result: Fields) -> str:
    if result["keyboard"] != "agent":
        return "A person types in this terminal now: wait until keyboard is agent again."
    if result["awaiting_secret"]:
        return 'A secret is asked for: pty_send with secret=true, or leave with pty_keys ["C-c"].'
    return {
        "idle": "Ready for pty_exec_block or pty_exec_interactive.",
        "block_running": 'A command runs: pty_wait_for "PROMPT" for its end, pty_send if it asks something.',
        "interactive": "A program waits for you: pty_send, pty_keys, pty_wait_for, pty_read_screen; pty_end_session.",
        "exited": "No shell runs: pty_exec_block starts one.",
    }.get(result["mode"], "")


NOTES: dict[str, Callable[[Fields], str]] = {
    "exec_block": exec_note,
    "exec_interactive": started_note,
    "send": typed_note,
    "keys": typed_note,
    "ctrl_c": typed_note,
    "ctrl_d": typed_note,
    "enter": typed_note,
    "mouse": typed_note,
    "wait_for": waited_note,
    "status": status_note,
}


# the text


def _exec_text(result: Fields) -> str:
    output = (result.get("output") or "").rstrip("\n")
    if result.get("running"):
        return output
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
        head = f"not matched ({result['reason']})"
    shown = result.get("screen") or result.get("tail") or ""
    return f"{head}, cursor {result['cursor']}" + (f"\n{shown}" if shown else "")


def _screen_text(result: Fields) -> str:
    if "changed" in result:
        return "\n".join(f"{row['row']}: {row['text']}" for row in result["changed"]) or "(nothing changed)"
    text = result.get("text")
    if text is None:
        text = "\n".join(result.get("rows") or ())
    return text or "(the screen is empty)"


def _status_text(result: Fields) -> str:
    words = [result["mode"], f"in {result['cwd']}"]
    if result.get("foreground"):
        words.append(f"foreground {result['foreground']}")
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
}


# errors

_WAYS_OUT = {
    "secret_prompt": "Only a secret may be typed now: pty_send with secret=true and the secret followed by \\n. If you "
    'do not have it, ask your user for it. pty_keys ["C-c"] leaves the prompt.',
    "no_secret_prompt": 'No password prompt is open, so the text would be shown. pty_wait_for {"secret_prompt": true} '
    "first; or, if it is no secret, pty_send without secret.",
    "keyboard_taken": "A person types here now. Wait until pty_status says keyboard: agent, then call again.",
    "not_running": "pty_exec_block or pty_exec_interactive starts a shell.",
    "input_full": 'Look with pty_read_screen; pty_keys ["C-c"] interrupts the program.',
    "read_only": "Tools that read are all it allows: pty_read_screen, pty_status, pty_read_block and others.",
}


def joined(notes: Iterable[str]) -> str:
    """Notes of several as sentences behind each other."""
    said = [each[:1].upper() + each[1:] if not each.startswith("pty_") else each for each in notes if each]
    return " ".join(each if each.endswith((".", "?", "!")) or each is said[-1] else f"{each}." for each in said)


def busy_way_out(status: Fields) -> str:
    """What to call while the terminal runs something, with the ids that are needed for it."""
    session, block = status.get("active_session_id"), status.get("active_block_id")
    if session:
        return (
            "Talk to it with pty_send or pty_keys and pty_wait_for; pty_read_screen shows it. Quit it, or call "
            f'pty_end_session {{"session_id": "{session}"}}.'
        )
    read = f'pty_read_block {{"block_id": "{block}"}} shows its output so far; ' if block else ""
    return (
        f'pty_wait_for {{"match": "PROMPT"}} waits for its end; {read}pty_send answers it if it asks something; '
        'pty_keys {"keys": ["C-c"]} interrupts it, ["C-d"] leaves a shell or REPL.'
    )


def way_out(error: VantageError) -> str:
    return _WAYS_OUT.get(error.code) or in_tool_words(error.hint)


def error_text(code: str, message: str, hint: str) -> str:
    """`busy: a command runs (make). pty_wait_for …`"""
    said = in_tool_words(message).rstrip(".")
    return f"{code}: {said}. {hint[:1].upper() + hint[1:] if not hint.startswith('pty_') else hint}".rstrip()
