"""The verbs of a terminal as calls: a verb's name and its fields, one function per verb. Standard library only.

A field that is None is not sent, and the verb's own default holds. What a verb does is said here for people who call it
from Python; `conversation/verbs/table.py` has the same fields, and a test compares both.
"""

from base64 import b64encode
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from vantage.client.requests import Request, conversation_path, given, request

if TYPE_CHECKING:
    from vantage.terminal.screen.frames import Region

Match = str | dict[str, Any]
"""A text, `PROMPT`, `EOF`, or a condition: `{"screen": "Saved"}`, `{"any": [{"text": "y/n"}, {"eof": True}]}`.

As `wait_for` of another verb also an object with the fields of a wait: `{"match": "$ ", "timeout_ms": 5000}`.
"""


class Call(NamedTuple):
    verb: str
    fields: dict[str, Any]

    def request(self, conversation: str) -> Request:
        return request("POST", conversation_path(conversation, f"/pty/{self.verb}"), self.fields)


def exec_block(
    command: str,
    *,
    cwd: str | None = None,
    timeout_ms: int | None = None,
    max_output: int | None = None,
    wait_for: Match | None = None,
) -> Call:
    """Runs a shell command and waits for its end, 30 s unless `timeout_ms` says otherwise.

    `running` is true in the result of a command that has not ended by then; it goes on. With `wait_for` the call
    returns when that is there, if the command has not ended before.
    """
    fields = given(command=command, cwd=cwd, timeout_ms=timeout_ms, max_output=max_output, wait_for=wait_for)
    return Call("exec_block", fields)


def exec_interactive(
    command: str,
    *,
    cwd: str | None = None,
    wait_for: Match | None = None,
    timeout_ms: int | None = None,
    max_output: int | None = None,
) -> Call:
    """Starts a program to talk to: a REPL, a debugger, an editor. `session_id` names it from then on.

    `wait_for` waits for what it prints first, in the same call.
    """
    fields = given(command=command, cwd=cwd, wait_for=wait_for, timeout_ms=timeout_ms, max_output=max_output)
    return Call("exec_interactive", fields)


def send(
    data: str | bytes,
    *,
    session_id: str | None = None,
    paste: bool | None = None,
    secret: bool | None = None,
    wait_for: Match | None = None,
    timeout_ms: int | None = None,
    max_output: int | None = None,
) -> Call:
    r"""Types text, where `\n` is Enter, or bytes as they are. `secret` answers a password prompt, and is not logged.

    `wait_for` waits for the answer in the same call, 30 s unless `timeout_ms` says otherwise.
    """
    what = {"data": data} if isinstance(data, str) else {"data_b64": b64encode(data).decode()}
    turn = given(wait_for=wait_for, timeout_ms=timeout_ms, max_output=max_output)
    return Call("send", {**what, **given(session_id=session_id, paste=paste, secret=secret), **turn})


def keys(
    keys: list[str] | str,
    *,
    session_id: str | None = None,
    wait_for: Match | None = None,
    timeout_ms: int | None = None,
    max_output: int | None = None,
) -> Call:
    """Presses keys by name: `["Up*3", "C-c", "Enter"]`. `wait_for` waits for the answer in the same call."""
    turn = given(wait_for=wait_for, timeout_ms=timeout_ms, max_output=max_output)
    return Call("keys", {"keys": keys, **given(session_id=session_id), **turn})


def ctrl_c(*, session_id: str | None = None) -> Call:
    """Interrupts, even a program that does not read its input."""
    return Call("ctrl_c", given(session_id=session_id))


def ctrl_d(*, session_id: str | None = None) -> Call:
    """Ends the input of the program that runs."""
    return Call("ctrl_d", given(session_id=session_id))


def enter(*, session_id: str | None = None) -> Call:
    """Presses Enter."""
    return Call("enter", given(session_id=session_id))


def mouse(
    action: str | None = None,
    *,
    row: int | None = None,
    col: int | None = None,
    button: str | None = None,
    on_text: str | None = None,
) -> Call:
    """Clicks a cell, given by `row` and `col` from 0, or a text that is visible."""
    return Call("mouse", given(action=action, row=row, col=col, button=button, on_text=on_text))


def wait_for(
    match: Match,
    *,
    regex: bool | None = None,
    from_cursor: int | None = None,
    session_id: str | None = None,
    timeout_ms: int | None = None,
    max_bytes: int | None = None,
    max_output: int | None = None,
) -> Call:
    """Waits until something appears, ends or falls silent, 30 s unless `timeout_ms` says otherwise.

    It looks from where the last call ended. `matched` is false in the result of a wait that timed out.
    """
    fields = given(
        match=match,
        regex=regex,
        from_cursor=from_cursor,
        session_id=session_id,
        timeout_ms=timeout_ms,
        max_bytes=max_bytes,
        max_output=max_output,
    )
    return Call("wait_for", fields)


def status() -> Call:
    """Says what the terminal does now."""
    return Call("status", {})


def end_session(session_id: str | None = None, *, force: bool | None = None, dry_run: bool | None = None) -> Call:
    """Ends an interactive program, or whatever runs: it is asked to leave, unless `force`, then terminated."""
    return Call("end_session", given(session_id=session_id, force=force, dry_run=dry_run))


def reset() -> Call:
    """Kills everything in the terminal and starts a fresh shell. What was printed stays readable."""
    return Call("reset", {})


def resize(cols: int, rows: int) -> Call:
    """Gives the terminal another size."""
    return Call("resize", {"cols": cols, "rows": rows})


def read_raw(from_offset: int | None = None, max_bytes: int | None = None) -> Call:
    """Reads the output byte by byte."""
    return Call("read_raw", given(from_offset=from_offset, max_bytes=max_bytes))


def read_spool(from_cursor: int | None = None, max_bytes: int | None = None) -> Call:
    """Reads the output as plain text from a cursor on."""
    return Call("read_spool", given(from_cursor=from_cursor, max_bytes=max_bytes))


def read_screen(
    *,
    at_offset: int | None = None,
    style: bool | None = None,
    region: "Region | dict[str, Any] | None" = None,
    since: int | None = None,
    cursor: bool | None = None,
    max_output: int | None = None,
) -> Call:
    """Reads the screen: as it is now, or as it was when the raw output had `at_offset` bytes."""
    part = region if region is None or isinstance(region, dict) else _plain(region)
    what = given(at_offset=at_offset, style=style, region=part, since=since, cursor=cursor, max_output=max_output)
    return Call("read_screen", what)


def _plain(region: "Region") -> dict[str, int | None]:
    fields = {"row": region.row, "col": region.col, "rows": region.rows, "cols": region.cols}
    return given(**fields)


def read_screen_deltas(cursor: int | None = None, limit: int | None = None) -> Call:
    """Reads how the screen changed, record by record."""
    return Call("read_screen_deltas", given(cursor=cursor, limit=limit))


def screen_status() -> Call:
    """Reads the screen's size and title, and the number of its last change."""
    return Call("screen_status", {})


def read_scrollback(from_line: int | None = None, limit: int | None = None) -> Call:
    """Reads lines that have left the screen."""
    return Call("read_scrollback", given(from_line=from_line, limit=limit))


def blocks(after: int | None = None, limit: int | None = None) -> Call:
    """Lists commands that ran, oldest first."""
    return Call("blocks", given(after=after, limit=limit))


def read_block(
    block_id: str,
    *,
    max_output: int | None = None,
    part: Literal["head", "tail", "both"] | None = None,
    search: str | None = None,
    regex: bool | None = None,
    context: int | None = None,
) -> Call:
    """Reads a command's record and output; with `search` only the lines that have it, numbered, with the lines around
    them.
    """
    fields = given(block_id=block_id, max_output=max_output, part=part, search=search, regex=regex, context=context)
    return Call("read_block", fields)


def search(query: str, *, regex: bool | None = None, limit: int | None = None) -> Call:
    """Finds lines of the output that have a text."""
    return Call("search", given(query=query, regex=regex, limit=limit))
