"""The state of a terminal, and the step that some bytes or records cause: values only."""

import msgspec

from vantage.events import Event, PtyGap
from vantage.terminal.modes import Phase
from vantage.terminal.output.blocks import Block, Origin, Reason
from vantage.terminal.output.spool import SpoolState

DEFAULT_COLS, DEFAULT_ROWS = 120, 40


class Reply(msgspec.Struct, frozen=True):
    """The terminal's reply to a query that ended at `query`; `asked` is when, in ms since the epoch."""

    query: int
    data: bytes
    asked: int
    phase: Phase = Phase.RUNNING
    """The shell's phase when the query came."""


class Step(msgspec.Struct):
    """The effects of some bytes or records."""

    spool: bytes = b""
    """Added to the spool, which began at `spool_from`."""
    spool_from: int = 0
    events: list[Event] = []
    begun: list[Block] = []
    ended: list[Block] = []
    replies: list[Reply] = []
    gaps: list[PtyGap] = []
    ready: bool = False
    """A prompt became ready for input."""
    journal: int = 0
    """The end of the record in the journal that caused it; 0 for output."""
    checkpointed: bool = False
    """The derivation wrote a checkpoint after this step."""
    asks_more: bool = False
    """The shell asks for the rest of a command that has none: the command should be cancelled."""


class Pending(msgspec.Struct):
    """A command that was typed and has not begun."""

    id: str
    cmd: str
    origin: Origin
    session: str | None
    spool: int
    raw: int
    ts: int
    lines: int
    """Line ends of its echo that are still to come: the shell's own output follows them."""
    tail: bytes = b""
    """The last bytes of the shell's own output."""


class Continuation(msgspec.Struct, frozen=True):
    """Where output ends and a continuation prompt begins."""

    spool: int
    raw: int


class State(msgspec.Struct):
    """Everything that a terminal remembers except its screen."""

    raw: int = 0
    held: bytes = b""
    spelled: int = 0
    """How many characters of the shell's secret the program's last bytes match."""
    spool: SpoolState = msgspec.field(default_factory=SpoolState)
    phase: Phase = Phase.NONE
    shell_id: str = ""
    kind: str = ""
    secret: str = ""
    pid: int | None = None
    cols: int = DEFAULT_COLS
    rows: int = DEFAULT_ROWS
    cwd: str | None = None
    cycle: int = -1
    """The cycle of the last prompt."""
    now: int = 0
    """When the last bytes came, in ms."""
    started_at: float | None = None
    """When the shell began the running command, by its own clock."""
    pending: Pending | None = None
    block: Block | None = None
    blocks: int = 0
    last_exit_code: int | None = None
    asked: Continuation | None = None
    """Where the shell asked for the rest of a command that was given whole."""
    continues: bool = False
    """The shell asks for the rest of a line that was typed at its prompt."""
    ending: Reason | None = None
    pokes_read: int = 0
    """How many pokes the shell has answered."""
    unhooked: bool = False
    """The shell no longer reports when a command begins and ends."""
    awaiting_secret: bool = False
    foreground: str | None = None
    echo: bytes = b""
    """What was typed at the prompt, as it was echoed."""
    queries_tail: bytes = b""
    margins: bool = False
    """The program scrolls within margins of its own."""
    drawn_tail: bytes = b""
    """The end of what was drawn, while a sequence that sets margins may be open there."""
    answer: bytes = b""
    """The screen's replies since the beginning of an unfinished query."""
