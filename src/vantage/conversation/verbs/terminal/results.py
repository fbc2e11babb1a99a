"""The results of a terminal's verbs: values with named fields, readable as attributes and as keys."""

from base64 import b64decode
from typing import Annotated, Any, Protocol

import msgspec
from msgspec import Meta

from vantage.conversation.live.host.awaits import Awaiting, Because
from vantage.conversation.live.input_watch import Awaited
from vantage.conversation.verbs.verb import Result, Whole
from vantage.terminal.engines.values import Cursor as ScreenCursor
from vantage.terminal.engines.values import Run
from vantage.terminal.output.blocks import Block, ByteRange
from vantage.terminal.screen.frames import RowText

AwaitingField = Annotated[
    Awaiting | None,
    Meta(description="The program waits for input: `secret`, `line` (text and Enter) or `key`"),
]
PromptField = Annotated[str | None, Meta(description="The line that asks")]
SelectedField = Annotated[
    list[str] | None,
    Meta(description="What the screen's program highlights: the entry of a menu, a button, marked text"),
]
BecauseField = Annotated[Because | None, Meta(description="The evidence that it waits for input")]


class MayAwait(Protocol):
    """A result that says what the program waits for."""

    awaiting: Awaiting | None
    prompt: str | None
    because: Because | None


def set_awaited(result: MayAwait, awaited: Awaited | None) -> None:
    if awaited is not None:
        result.awaiting, result.prompt, result.because = awaited.what, awaited.prompt, awaited.because


class WaitFacts(Result, kw_only=True):
    """How a wait ended."""

    reason: Annotated[
        str, Meta(description="The condition that held, or `timeout`, `exited`, `max_bytes`, `awaiting`")
    ] = ""
    match_text: Annotated[str | None, Meta(description="What matched")] = None
    match_span: Annotated[ByteRange | None, Meta(description="Where the match is in the output")] = None
    tail: Annotated[
        str,
        Meta(
            description="What is new since the cursor: the lines around the match, or the last ones. Empty while a"
            " full-screen program runs"
        ),
    ] = ""
    screen: Annotated[
        str | None, Meta(description="The screen of a full-screen program: now, or the last one of a command")
    ] = None
    selected: SelectedField = None
    awaiting: AwaitingField = None
    prompt: PromptField = None
    because: BecauseField = None


class Turned(WaitFacts, kw_only=True):
    """What a verb with `wait_for` returns beside its own fields: those of the wait. `cursor` is the wait's then."""

    cursor: Annotated[int, Meta(description="Where a wait for what comes next begins")]
    matched: Annotated[bool | None, Meta(description="With `wait_for`: whether it happened in time")] = None


class Started(Turned):
    """A command runs."""

    block_id: Annotated[str, Meta(description="Which command")]
    seq: Annotated[int, Meta(description="The number of the command")]
    ts_begin: Annotated[int, Meta(description="When it began, in milliseconds since the epoch")]
    cursor: Annotated[int, Meta(description="Where its own output begins in the spool")]
    session_id: Annotated[str | None, Meta(description="Which interactive program")] = None
    note: Annotated[
        str, Meta(description="A fact that the caller did not ask for: the shell before this one had ended")
    ] = ""


class Ran(Started):
    """`exec_block`: the fields after `running` are set when the command ended in time."""

    running: Annotated[bool, Meta(description="It has not ended")] = False
    exit_code: Annotated[int | None, Meta(description="Of the command; null when the shell did not report it")] = None
    output: Annotated[str | None, Meta(description="What it printed, as a person would have seen it")] = None
    truncated: Annotated[bool | None, Meta(description="Whether something is left out in the middle")] = None
    omitted: Annotated[ByteRange | None, Meta(description="Bytes of the spool that are not in `output`")] = None
    omitted_bytes: Annotated[int | None, Meta(description="How much was left out")] = None
    done_because: Annotated[
        str | None, Meta(description="Why it ended: `mark`, `incomplete`, `exit`, `ended`, `reset` or `lost`")
    ] = None
    cwd: Annotated[str | None, Meta(description="The working directory")] = None
    duration_ms: Annotated[float | None, Meta(description="How long it took")] = None


class Note(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A slip of the caller, as data: each face words it."""

    code: Annotated[
        str, Meta(description="`typed_at_shell`, `program_ended`, `literal_line_end` or `secret_without_enter`")
    ]
    message: Annotated[str, Meta(description="What was done")]
    facts: Annotated[dict[str, Any], Meta(description="The values that the message speaks of")] = {}
    steps: Annotated[list[dict[str, Any]], Meta(description="Calls that help: `verb`, `args`, `does`")] = []


class Cursor(Turned):
    cursor: Annotated[int, Meta(description="The end of the spool before the input was written")]
    note: Annotated[str, Meta(description="The shell showed no prompt in time, and the input was typed anyway")] = ""
    notes: Annotated[
        tuple[Note, ...], Meta(description="What may not be meant as it was sent, and the calls that help")
    ] = ()


class Waited(WaitFacts):
    matched: Annotated[bool, Meta(description="Whether it happened in time")]
    cursor: Annotated[int, Meta(description="The end of the match; where the wait began when nothing matched")]


class Status(Whole):
    mode: Annotated[str, Meta(description="`idle`, `block_running`, `interactive` or `exited`")]
    cursor: Annotated[int, Meta(description="The end of the output")]
    active_session_id: Annotated[str | None, Meta(description="The interactive program that runs")] = None
    active_block_id: Annotated[str | None, Meta(description="The command that runs")] = None
    shell_id: Annotated[str | None, Meta(description="Which shell: a reset or an exit brings another")] = None
    pid: Annotated[int | None, Meta(description="The shell's process")] = None
    cwd: Annotated[str | None, Meta(description="The working directory of the program that has the terminal")] = None
    foreground: Annotated[str | None, Meta(description="The program that has the terminal")] = None
    awaiting_secret: Annotated[bool, Meta(description="Whether a program asks for a password")] = False
    awaiting: AwaitingField = None
    prompt: PromptField = None
    because: BecauseField = None
    alt_screen: Annotated[bool, Meta(description="Whether a full-screen program has the screen")] = False
    title: Annotated[str, Meta(description="The title that the program gave its window")] = ""
    cols: Annotated[int, Meta(description="Columns of the terminal")] = 0
    rows: Annotated[int, Meta(description="Rows of the terminal")] = 0
    last_exit_code: Annotated[int | None, Meta(description="Of the command before")] = None
    keyboard: Annotated[str, Meta(description="Who types: `agent`, or `client:<id>`")] = "agent"
    stalled: Annotated[
        str | None, Meta(description="Why output is not taken now (a full disk). Programs wait, and nothing is lost")
    ] = None
    engine: Annotated[str, Meta(description="What draws the screen")] = ""


class Ended(Result):
    how: Annotated[str, Meta(description="`already_ended`, `exit`, `ctrl_c`, `terminate` or `kill`")]
    typed: Annotated[str | None, Meta(description="What was typed to leave it")] = None


class Reset(Result):
    shell_id: Annotated[str, Meta(description="Which shell: a reset or an exit brings another")]
    pid: Annotated[int | None, Meta(description="The shell's process")] = None


class Size(Result):
    cols: Annotated[int, Meta(description="Columns of the terminal")]
    rows: Annotated[int, Meta(description="Rows of the terminal")]


class RawRead(Result):
    data_b64: Annotated[str, Meta(description="The bytes, as base64")]
    data_utf8_lossy: Annotated[str, Meta(description="The bytes as text, with U+FFFD for what is no UTF-8")]
    next_offset: Annotated[int, Meta(description="Where to go on")]
    end: Annotated[int, Meta(description="The end of what there is")]

    @property
    def data(self) -> bytes:
        return b64decode(self.data_b64)


class SpoolRead(Result):
    text: Annotated[str, Meta(description="The output as plain text")]
    cursor: Annotated[int, Meta(description="Where to go on")]
    end: Annotated[int, Meta(description="The end of what there is")]


class Blocks(Result):
    blocks: Annotated[list[Block], Meta(description="Commands that ran, oldest first")]


class BlockRead(Result):
    block: Annotated[Block, Meta(description="The command's record")]
    output: Annotated[
        str,
        Meta(
            description="What it printed, as a person would have seen it. With `search`, `12:` before a line that has "
            "it, `11-` before a line around it, `--` between parts"
        ),
    ]
    found: Annotated[int | None, Meta(description="With `search`: how many lines have it")] = None
    omitted_found: Annotated[int, Meta(description="How many of them are not in `output`")] = 0
    omitted_bytes: Annotated[int, Meta(description="How much was left out")] = 0
    omitted: Annotated[
        ByteRange | None, Meta(description="Where in the spool the part is that was left out of `output`")
    ] = None
    truncated: Annotated[bool, Meta(description="Whether something is left out in the middle")] = False
    screen: Annotated[str | None, Meta(description="The last alternate screen of a program that drew on one")] = None
    selected: SelectedField = None


class Hit(msgspec.Struct, frozen=True):
    block_id: Annotated[str | None, Meta(description="Which command")]
    cursor: Annotated[int, Meta(description="A place in the output, in bytes: give it as `from_cursor`")]
    line: Annotated[int, Meta(description="The number of the line in the block, from 1")]
    text: Annotated[str, Meta(description="The line")]


class Hits(Result):
    hits: Annotated[list[Hit], Meta(description="What was found")]
    complete: Annotated[bool, Meta(description="False when the limit was reached")] = True


class ScreenRead(Result):
    """`screen_snapshot` of a terminal; with `since`, `changed` instead of `rows`."""

    cursor: Annotated[ScreenCursor, Meta(description="Where the cursor is")]
    title: Annotated[str, Meta(description="The title that the program gave its window")]
    alt_screen: Annotated[bool, Meta(description="Whether a full-screen program has the screen")]
    cols: Annotated[int, Meta(description="Columns of the terminal")]
    rows_count: Annotated[int, Meta(description="Rows of the screen")]
    ts: Annotated[int, Meta(description="When, in milliseconds since the epoch")]
    raw_offset: Annotated[int, Meta(description="How much raw output there was then")]
    rows: Annotated[list[str] | None, Meta(description="The screen, row by row")] = None
    text: Annotated[str | None, Meta(description="The rows as one text, without the empty ones at its end")] = None
    runs: Annotated[list[tuple[Run, ...]] | None, Meta(description="Cells that do not look plain")] = None
    selected: SelectedField = None
    changed: Annotated[list[RowText] | None, Meta(description="Rows of the screen that changed")] = None
    delta_cursor: Annotated[int | None, Meta(description="For `since` and `read_screen_deltas`")] = None


class Deltas(Result):
    deltas: Annotated[list[dict[str, Any]], Meta(description="Changes of the screen, in order")]
    cursor: Annotated[int, Meta(description="Where to go on, for `cursor`")]


class ScreenStatus(Whole):
    cursor: Annotated[int, Meta(description="Number of the last change")]
    title: Annotated[str, Meta(description="The title that the program gave its window")]
    alt_screen: Annotated[bool, Meta(description="Whether a full-screen program has the screen")]
    rows: Annotated[int, Meta(description="Rows of the terminal")]
    cols: Annotated[int, Meta(description="Columns of the terminal")]


class ScrollbackRead(Result):
    lines: Annotated[list[str], Meta(description="Lines that have left the screen")]
    first_line: Annotated[int, Meta(description="The number of the first of `lines`")]
    total: Annotated[int, Meta(description="How many lines have left the screen")]


class Clicked(Result):
    row: Annotated[int, Meta(description="Row that was clicked, from 0")]
    col: Annotated[int, Meta(description="Column that was clicked, from 0")]
