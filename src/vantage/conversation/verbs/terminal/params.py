"""The parameters of a terminal's verbs. Each description and limit is written once, here, for HTTP, MCP, Python and the
CLI.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta

from vantage.conversation.verbs.verb import Params
from vantage.terminal.limits import MAX_COLS, MAX_ROWS, MIN_COLS, MIN_ROWS
from vantage.terminal.screen.frames import Region

DEFAULT_TIMEOUT_MS = 30_000
DEFAULT_MAX_OUTPUT = 30_000
"""Characters of text that an answer has at most, for every verb that returns text."""
DEFAULT_CONTEXT = 2
MAX_READ = 1 << 20
"""Bytes of output that one call returns."""


def _says(text: str) -> Meta:
    return Meta(description=text)


Natural = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Command = Annotated[str, _says("Shell command, as typed. Several lines, pipes, heredocs: anything goes")]
Cwd = Annotated[str | None, _says("cd here first; it stays")]
SessionId = Annotated[
    str | None, _says("The session that is meant: the call is refused if that program no longer runs")
]
TimeoutMs = Annotated[int, Meta(ge=0, description="Longest wait")]
TurnTimeoutMs = Annotated[int, Meta(ge=0, description="Longest wait for `wait_for`")]
MaxOutput = Annotated[int, Meta(ge=1, description="Characters of text returned at most; a cut is marked")]
Columns = Annotated[int, Meta(ge=MIN_COLS, le=MAX_COLS, description="Columns of the terminal")]
Rows = Annotated[int, Meta(ge=MIN_ROWS, le=MAX_ROWS, description="Rows of the terminal")]


class Turn(Params, frozen=True, kw_only=True):
    """The fields of verbs that type or start something and can wait for what comes of it, in the same call."""

    wait_for: Annotated[
        str | dict[str, Any] | None,
        _says(
            "Wait for this in the same call: a `match` as of the verb wait_for, or an object with `match` and the other"
            " fields of that verb"
        ),
    ] = None
    max_output: MaxOutput = DEFAULT_MAX_OUTPUT


class ExecBlock(Turn, frozen=True):
    command: Command
    cwd: Cwd = None
    timeout_ms: Annotated[int, Meta(ge=0, description="Wait so long for its end; 0 returns once it started")] = (
        DEFAULT_TIMEOUT_MS
    )


class ExecInteractive(Turn, frozen=True):
    command: Command
    cwd: Cwd = None
    timeout_ms: TurnTimeoutMs = DEFAULT_TIMEOUT_MS


class Send(Turn, frozen=True):
    data: Annotated[str | None, _says("Text to type. End it with \\n to press Enter")] = None
    data_b64: Annotated[str | None, _says("The same as base64, for bytes that are no text")] = None
    session_id: SessionId = None
    paste: Annotated[bool, _says("Paste it: editors do not indent or run it line by line")] = False
    secret: Annotated[bool, _says("Answer a password prompt; the text is logged nowhere")] = False
    timeout_ms: TurnTimeoutMs = DEFAULT_TIMEOUT_MS


class Keys(Turn, frozen=True):
    keys: Annotated[
        list[str] | str,
        _says(
            "Names: Enter Tab Escape Backspace Delete Insert Home End PageUp PageDown Up Down Left Right Space"
            " F1-F24 or one character; C- Alt- S- before it, *N after it: C-c, Alt-x, Up*3"
        ),
    ]
    session_id: SessionId = None
    timeout_ms: TurnTimeoutMs = DEFAULT_TIMEOUT_MS


class OnSession(Params, frozen=True):
    session_id: SessionId = None


class Mouse(Params, frozen=True):
    action: Annotated[str, _says("click, double_click, press, release, drag, move, wheel_up, wheel_down")] = "click"
    row: Annotated[Natural | None, _says("From 0")] = None
    col: Annotated[Natural | None, _says("From 0")] = None
    button: Annotated[str | None, _says("left, middle or right")] = None
    on_text: Annotated[str | None, _says("Click where this text is visible, instead of row and col")] = None


class WaitFor(Params, frozen=True):
    match: Annotated[
        str | dict[str, Any],
        _says(
            "Text to appear in the output, or PROMPT (shell ready), EOF (program ended), or a condition:"
            " {text|regex|screen|screen_gone|title|foreground: str}, {prompt|eof|secret_prompt: true},"
            " {quiet_ms: n}, {any|all: [...]}"
        ),
    ]
    regex: Annotated[bool, _says("match is an RE2 expression")] = False
    from_cursor: Annotated[
        Natural | None, _says("Where in the output to begin. Default: where the last call ended")
    ] = None
    session_id: SessionId = None
    timeout_ms: TimeoutMs = DEFAULT_TIMEOUT_MS
    max_bytes: Annotated[Positive | None, _says("Look at so much output at most")] = None
    max_output: MaxOutput = DEFAULT_MAX_OUTPUT


class EndSession(Params, frozen=True):
    session_id: Annotated[str | None, _says("Which interactive program; without it, whatever runs")] = None
    force: Annotated[bool, _says("Do not ask it to leave: terminate it")] = False
    dry_run: Annotated[bool, _says("Only say what would be tried first")] = False


class Resize(Params, frozen=True):
    cols: Columns
    rows: Rows


class ReadRaw(Params, frozen=True):
    from_offset: Annotated[int, Meta(ge=0, description="Where in the raw output to begin")] = 0
    max_bytes: Annotated[int, Meta(ge=1, le=MAX_READ, description="How many bytes at most")] = MAX_READ


class ReadSpool(Params, frozen=True):
    from_cursor: Annotated[int, Meta(ge=0, description="Where in the output to begin")] = 0
    max_bytes: Annotated[int, Meta(ge=4, le=MAX_READ, description="How many bytes at most")] = 1 << 16


class ReadScreen(Params, frozen=True):
    at_offset: Annotated[Natural | None, _says("As it was when the raw output had this many bytes")] = None
    style: Annotated[bool, _says("With colours")] = False
    region: Annotated[Region | None, _says("Only this part")] = None
    since: Annotated[Natural | None, _says("delta_cursor of an earlier call: only rows changed since")] = None
    cursor: Annotated[bool, _says("Draw the cursor into the text as ▏")] = False
    max_output: MaxOutput = DEFAULT_MAX_OUTPUT


class ReadScreenDeltas(Params, frozen=True):
    cursor: Annotated[int, Meta(ge=0, description="The last change that is known")] = 0
    limit: Annotated[int, Meta(ge=1, le=500, description="How many at most")] = 50


class ReadScrollback(Params, frozen=True):
    from_line: Annotated[Natural | None, _says("The first line; without it the last lines are returned")] = None
    limit: Annotated[int, Meta(ge=1, le=5000, description="How many at most")] = 200


class ListBlocks(Params, frozen=True):
    after: Annotated[int, Meta(ge=0, description="seq of a block")] = 0
    limit: Annotated[int, Meta(ge=1, le=1000, description="How many at most")] = 100


class ReadBlock(Params, frozen=True):
    block_id: Annotated[str, _says("As returned when the command was started")]
    max_output: MaxOutput = DEFAULT_MAX_OUTPUT
    part: Annotated[Literal["head", "tail", "both"], _says("Which part of a long output")] = "both"
    search: Annotated[Annotated[str, Meta(min_length=1)] | None, _says("Only lines with this text, numbered")] = None
    regex: Annotated[bool, _says("search is an RE2 expression")] = False
    context: Annotated[int, Meta(ge=0, le=100, description="Lines around each")] = DEFAULT_CONTEXT


class SearchOutput(Params, frozen=True):
    query: Annotated[str, Meta(min_length=1, description="What to look for")]
    regex: Annotated[bool, _says("query is an RE2 expression")] = False
    limit: Annotated[int, Meta(ge=1, le=1000, description="How many at most")] = 50
