"""What verbs return: values with named fields, that read as attributes and as keys alike."""

from typing import Any

import msgspec

from vantage.terminal.blocks import Block, Span
from vantage.terminal.engines.values import Cursor as ScreenCursor
from vantage.terminal.engines.values import Run
from vantage.terminal.frames import RowText


class Result(msgspec.Struct, kw_only=True, omit_defaults=True):
    """`result.cursor`, `result["cursor"]`. On the wire, fields that are not set are left out."""

    ok: bool = True

    def __getitem__(self, name: str) -> Any:
        if name not in self.__struct_fields__:
            raise KeyError(name)
        return getattr(self, name)

    def get(self, name: str, default: Any = None) -> Any:
        return getattr(self, name, default)

    def keys(self) -> tuple[str, ...]:
        return self.__struct_fields__

    def to_dict(self) -> dict[str, Any]:
        """As it travels: `ok`, and whatever is set."""
        return {"ok": self.ok, **msgspec.to_builtins(self)}


class Started(Result):
    """A command runs."""

    block_id: str
    seq: int
    ts_begin: int
    cursor: int
    """Where its own output begins in the spool."""
    session_id: str | None = None
    note: str = ""
    """What the caller should know: the shell before this one had ended."""


class Ran(Started):
    """`exec_block`: what is set behind `cursor` is known when the command ended in time."""

    running: bool = False
    exit_code: int | None = None
    output: str | None = None
    truncated: bool | None = None
    omitted: Span | None = None
    """Bytes of the spool that are not in `output`."""
    omitted_bytes: int | None = None
    done_because: str | None = None
    cwd: str | None = None
    duration_ms: float | None = None


class Cursor(Result):
    cursor: int
    """The end of the spool before the input was written."""


class Waited(Result):
    matched: bool
    cursor: int
    reason: str
    match_text: str | None = None
    match_span: Span | None = None
    tail: str = ""
    """The last lines of the output."""


class Status(Result):
    mode: str
    cursor: int
    active_session_id: str | None = None
    active_block_id: str | None = None
    shell_id: str | None = None
    pid: int | None = None
    cwd: str | None = None
    foreground: str | None = None
    awaiting_secret: bool = False
    alt_screen: bool = False
    title: str = ""
    cols: int = 0
    rows: int = 0
    last_exit_code: int | None = None
    keyboard: str = "agent"
    stalled: str | None = None
    """Why output is not taken now (a full disk). Programs wait, and nothing is lost."""

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__struct_fields__}


class Ended(Result):
    how: str
    """`already_ended`, `exit`, `ctrl_c`, `terminate` or `kill`."""


class Reset(Result):
    shell_id: str
    pid: int | None = None


class Size(Result):
    cols: int
    rows: int


class RawRead(Result):
    data_b64: str
    data_utf8_lossy: str
    next_offset: int
    end: int

    @property
    def data(self) -> bytes:
        from base64 import b64decode  # noqa: PLC0415

        return b64decode(self.data_b64)


class SpoolRead(Result):
    text: str
    cursor: int
    end: int


class Blocks(Result):
    blocks: list[Block]


class BlockRead(Result):
    block: Block
    output: str
    omitted_bytes: int = 0
    omitted: Span | None = None
    truncated: bool = False
    screen: str | None = None
    """What a program that drew on the alternate screen showed last; its output is of little use to a reader."""


class Hit(msgspec.Struct, frozen=True):
    block_id: str | None
    cursor: int
    line: int
    """Counted from 1, in the block."""
    text: str


class Hits(Result):
    hits: list[Hit]
    complete: bool = True
    """False when the limit was reached."""


class ScreenRead(Result):
    """`screen_snapshot` of a terminal; with `since`, `changed` instead of `rows`."""

    cursor: ScreenCursor
    title: str
    alt_screen: bool
    cols: int
    rows_count: int
    ts: int
    raw_offset: int
    rows: list[str] | None = None
    text: str | None = None
    """The rows as one text, without the empty ones at its end."""
    runs: list[tuple[Run, ...]] | None = None
    changed: list[RowText] | None = None
    delta_cursor: int | None = None
    """For `since` and `read_screen_deltas`."""


class Deltas(Result):
    deltas: list[dict[str, Any]]
    cursor: int


class ScreenStatus(Result):
    cursor: int
    title: str
    alt_screen: bool
    rows: int
    cols: int

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__struct_fields__}


class ScrollbackRead(Result):
    lines: list[str]
    first_line: int
    total: int


class Clicked(Result):
    row: int
    col: int
