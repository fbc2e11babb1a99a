"""The verbs of a terminal as they are asked for from outside: what each takes and returns, in one table.

HTTP, MCP and the command line are made from this table; `AgentTerminal` has the method of each name. What a field
means is said here once, for people and models alike.
"""

import base64
import binascii
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from vantage.conversation import results
from vantage.conversation.verbs import AgentTerminal
from vantage.errors import InputError
from vantage.terminal.frames import Region


def _says(text: str) -> Meta:
    return Meta(description=text)


Command = Annotated[str, _says("Shell command, as typed. Several lines, pipes, heredocs: anything goes")]
Cwd = Annotated[str, _says("cd here first; it stays")]
SessionId = Annotated[str, _says("From exec_interactive; makes sure that it is this program that is meant")]
Timeout = Annotated[int, Meta(ge=0, description="Longest wait")]
MaxOutput = Annotated[int, Meta(ge=1, description="Characters returned: head and tail. Default 30000")]
FromCursor = Annotated[int, Meta(ge=0, description="Where in the output to begin. Default: where the last call ended")]


class Asked(msgspec.Struct, kw_only=True):
    """What a verb takes. A field that is not given is left to the verb."""

    def arguments(self) -> dict[str, Any]:
        return {name: value for name in self.__struct_fields__ if (value := getattr(self, name)) is not UNSET}


class Nothing(Asked):
    pass


class ExecBlock(Asked):
    command: Command
    cwd: Cwd | UnsetType = UNSET
    timeout_ms: (
        Annotated[int, Meta(ge=0, description="Wait so long for its end; 0 returns once it started. Default 30000")]
        | UnsetType
    ) = UNSET
    max_output: MaxOutput | UnsetType = UNSET


class ExecInteractive(Asked):
    command: Command
    cwd: Cwd | UnsetType = UNSET


class Send(Asked):
    data: Annotated[str, _says("Text to type. End it with \\n to press Enter")] | UnsetType = UNSET
    data_b64: Annotated[str, _says("The same as base64, for bytes that are no text")] | UnsetType = UNSET
    session_id: SessionId | UnsetType = UNSET
    paste: Annotated[bool, _says("Paste it: editors do not indent or run it line by line")] | UnsetType = UNSET
    secret: Annotated[bool, _says("Answer a password prompt; the text is logged nowhere")] | UnsetType = UNSET

    def arguments(self) -> dict[str, Any]:
        given = super().arguments()
        if ("data" in given) == ("data_b64" in given):
            raise InputError("send takes one of data and data_b64", hint="data is text, data_b64 bytes")
        if "data_b64" in given:
            try:
                given["data"] = base64.b64decode(given.pop("data_b64"), validate=True)
            except (binascii.Error, ValueError) as error:
                raise InputError(f"data_b64 is not base64: {error}", hint="give text as data") from None
        return given


class Keys(Asked):
    keys: (
        Annotated[
            list[str],
            _says(
                "Names: Enter Tab Escape Backspace Delete Insert Home End PageUp PageDown Up Down Left Right Space"
                " F1-F24 or one character; C- Alt- S- before it, *N behind it: C-c, Alt-x, Up*3"
            ),
        ]
        | str
    )
    session_id: SessionId | UnsetType = UNSET


class OnSession(Asked):
    session_id: SessionId | UnsetType = UNSET


class Mouse(Asked):
    action: Annotated[str, _says("click, double_click, press, release, move, scroll_up, scroll_down")] = "click"
    row: Annotated[int, Meta(ge=0, description="From 0")] | UnsetType = UNSET
    col: Annotated[int, Meta(ge=0, description="From 0")] | UnsetType = UNSET
    button: Annotated[str, _says("left, middle or right")] | UnsetType = UNSET
    on_text: Annotated[str, _says("Click where this text is visible, instead of row and col")] | UnsetType = UNSET


class WaitFor(Asked):
    match: (
        Annotated[
            str,
            _says("Text to appear in the output, or PROMPT (shell ready), EOF (program ended)"),
        ]
        | Annotated[
            dict[str, Any],
            _says(
                "{text|regex|screen|screen_gone|title|foreground: str}, {prompt|eof|secret_prompt: true},"
                " {quiet_ms: n}, {any|all: [...]}"
            ),
        ]
    )
    regex: Annotated[bool, _says("match is an RE2 expression")] | UnsetType = UNSET
    from_cursor: FromCursor | UnsetType = UNSET
    session_id: SessionId | UnsetType = UNSET
    timeout_ms: Timeout | UnsetType = UNSET
    max_bytes: Annotated[int, Meta(ge=1, description="Look at so much output at most")] | UnsetType = UNSET


class EndSession(Asked):
    session_id: SessionId
    force: Annotated[bool, _says("Do not ask it to leave: terminate it")] | UnsetType = UNSET


class Resize(Asked):
    cols: Annotated[int, Meta(ge=2, le=1000)]
    rows: Annotated[int, Meta(ge=1, le=500)]


class ReadRaw(Asked):
    from_offset: Annotated[int, Meta(ge=0)] | UnsetType = UNSET
    max_bytes: Annotated[int, Meta(ge=1, le=1 << 20)] | UnsetType = UNSET


class ReadSpool(Asked):
    from_cursor: Annotated[int, Meta(ge=0)] | UnsetType = UNSET
    max_bytes: Annotated[int, Meta(ge=4, le=1 << 20)] | UnsetType = UNSET


class ReadScreen(Asked):
    at_offset: (
        Annotated[int, Meta(ge=0, description="As it was when the raw output had this many bytes")] | UnsetType
    ) = UNSET
    style: Annotated[bool, _says("With colours")] | UnsetType = UNSET
    region: Annotated[Region, _says("Only this part")] | UnsetType = UNSET
    since: (
        Annotated[int, Meta(ge=0, description="delta_cursor of an earlier call: only rows changed since")] | UnsetType
    ) = UNSET
    cursor: Annotated[bool, _says("Draw the cursor into the text as ▏")] | UnsetType = UNSET


class ReadScreenDeltas(Asked):
    cursor: Annotated[int, Meta(ge=0)] | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, le=500)] | UnsetType = UNSET


class ReadScrollback(Asked):
    from_line: Annotated[int, Meta(ge=0)] | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, le=5000)] | UnsetType = UNSET


class Blocks(Asked):
    after: Annotated[int, Meta(ge=0, description="seq of a block")] | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, le=1000)] | UnsetType = UNSET


class ReadBlock(Asked):
    block_id: Annotated[str, _says("From exec_block or blocks")]
    max_output: MaxOutput | UnsetType = UNSET
    part: Literal["head", "tail", "both"] | UnsetType = UNSET


class Search(Asked):
    query: Annotated[str, Meta(min_length=1)]
    regex: bool | UnsetType = UNSET
    limit: Annotated[int, Meta(ge=1, le=1000)] | UnsetType = UNSET


class PtyVerb(msgspec.Struct, frozen=True):
    takes: type[Asked]
    returns: type[results.Result]
    summary: str
    """One line for people."""
    reads: bool = False
    """Changes nothing: those who may only watch may do it."""
    destructive: bool = False


PTY_VERBS: dict[str, PtyVerb] = {
    "exec_block": PtyVerb(ExecBlock, results.Ran, "Run a shell command and return its output and exit code."),
    "exec_interactive": PtyVerb(
        ExecInteractive, results.Started, "Start a program to talk to: a REPL, a debugger, an editor."
    ),
    "send": PtyVerb(Send, results.Cursor, "Type text into whatever runs."),
    "keys": PtyVerb(Keys, results.Cursor, "Press keys by name."),
    "ctrl_c": PtyVerb(OnSession, results.Cursor, "Interrupt, even a program that does not read its input."),
    "ctrl_d": PtyVerb(OnSession, results.Cursor, "End of input."),
    "enter": PtyVerb(OnSession, results.Cursor, "Press Enter."),
    "mouse": PtyVerb(Mouse, results.Clicked, "Click a cell, or a text that is visible."),
    "wait_for": PtyVerb(WaitFor, results.Waited, "Wait until something appears, ends or falls silent."),
    "status": PtyVerb(Nothing, results.Status, "What the terminal does now.", reads=True),
    "end_session": PtyVerb(EndSession, results.Ended, "End an interactive program, politely first.", destructive=True),
    "reset": PtyVerb(
        Nothing, results.Reset, "Kill everything in the terminal and start a fresh shell.", destructive=True
    ),
    "resize": PtyVerb(Resize, results.Size, "Give the terminal another size."),
    "read_raw": PtyVerb(ReadRaw, results.RawRead, "The output byte by byte.", reads=True),
    "read_spool": PtyVerb(ReadSpool, results.SpoolRead, "The output as plain text from a cursor on.", reads=True),
    "read_screen": PtyVerb(ReadScreen, results.ScreenRead, "What is on the screen, or was.", reads=True),
    "read_screen_deltas": PtyVerb(
        ReadScreenDeltas, results.Deltas, "How the screen changed, record by record.", reads=True
    ),
    "screen_status": PtyVerb(Nothing, results.ScreenStatus, "The screen's size, title and delta cursor.", reads=True),
    "read_scrollback": PtyVerb(ReadScrollback, results.ScrollbackRead, "Lines that have left the screen.", reads=True),
    "blocks": PtyVerb(Blocks, results.Blocks, "Commands that ran, oldest first.", reads=True),
    "read_block": PtyVerb(ReadBlock, results.BlockRead, "A command's record and output.", reads=True),
    "search": PtyVerb(Search, results.Hits, "Lines of the output that have a text.", reads=True),
}


async def call(terminal: AgentTerminal, verb: str, asked: Asked) -> results.Result:
    """Does what a verb says."""
    result: results.Result = await getattr(terminal, verb)(**asked.arguments())
    return result
