"""What is on the terminal's screen: bytes in; rows, cursor, title, modes, scrollback and replies out.

Feeding costs only what the engine costs: rows are read on request, and only those that changed. The same bytes in any
chunks give the same screen.
"""

import logging
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, NamedTuple, Self, TypeVar, cast
from urllib.parse import unquote_to_bytes, urlsplit

import msgspec

from vantage.errors import InputError
from vantage.terminal.engines import Engine, EngineName, kind_of
from vantage.terminal.engines.values import BLANK, CheckpointError, Cursor, Modes, Row
from vantage.terminal.limits import MAX_COLS, MAX_ROWS, MIN_COLS, MIN_ROWS
from vantage.terminal.screen.changes import Changes, Differences, Seen
from vantage.terminal.screen.history import BIDI, History, HistoryState
from vantage.text.width import pad, width

__all__ = ["BLANK", "Changes", "CheckpointError", "Cursor", "Modes", "Row", "Screen", "Scrollback"]

SCROLLBACK_LINES = 10_000
SCROLLBACK_BYTES = 4 << 20
_PIECE = 1 << 18
_MAGIC = b"vantage screen 3\n"
_log = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")
_LONGEST_TITLE = 1024
_CONTROLS = dict.fromkeys((*range(32), *range(127, 160)))


class Scrollback(msgspec.Struct, frozen=True):
    """Lines that have left the screen, as `read_scrollback` returns them."""

    lines: list[str]
    first_line: int
    """The number of the first of `lines`; higher than the requested one when that is gone."""
    total: int
    """The number that the next line to leave the screen gets."""
    oldest: int
    """The number of the oldest line still kept."""


class _Checkpoint(msgspec.Struct, frozen=True, array_like=True):
    engine: str
    build: str
    cols: int
    rows: int
    scrollback: int
    state: bytes
    history: HistoryState


class _Restored(NamedTuple):
    engine: Engine
    history: History


class Screen:
    """A terminal's screen of `cols` by `rows`.

    `scrollback` is how many logical lines are kept that have left it (and not more than 4 MiB of them). It has more
    than 20 methods, because it is the one public face of a screen: most are a property each that asks the engine. The
    work is done elsewhere: emulation by the engine, numbered lines by `History`.
    """

    def __init__(
        self,
        cols: int,
        rows: int,
        *,
        engine: EngineName = "auto",
        scrollback: int = SCROLLBACK_LINES,
        restored: "_Restored | None" = None,
    ) -> None:
        """`restored` is for `decode`: the engine and the history of a checkpoint, in place of new ones."""
        if restored is None:
            _check_size(cols, rows)
            if scrollback < 0:
                raise InputError(f"scrollback is a number of lines, 0 or more, not {scrollback}")
            restored = _Restored(kind_of(engine)(cols, rows), History(scrollback, SCROLLBACK_BYTES))
        self._engine: Engine | None = restored.engine
        self._history = restored.history
        self._scrollback_lines = scrollback
        self._grid = [BLANK] * rows
        self._revisions = [0] * rows
        self.revision = 0
        """Grows whenever a read of the screen finds a row changed; `changed_rows` compares with it."""
        self.fed = 0
        """Grows with every fed byte and every resize: while it is the same, so is everything else."""
        self.failures = 0
        """How often the engine failed and another one took its place."""
        self._seen = self._state()
        self._bell = False

    @property
    def _live(self) -> Engine:
        if self._engine is None:
            raise InputError("the screen is closed", hint="make a new one and feed it the bytes again")
        return self._engine

    # Input

    def feed(self, data: bytes) -> Changes:
        self.fed += len(data)
        for start in range(0, len(data), _PIECE):
            self._draw(bytes(data[start : start + _PIECE]) if start or len(data) > _PIECE else bytes(data))
        return Changes(self._look)

    def _draw(self, piece: bytes) -> None:
        engine = self._live
        try:
            engine.feed(piece)
            drained = engine.drain(everything=False)
        except Exception as error:  # noqa: BLE001 -- any output may cause it
            self._recover(error)
        else:
            if drained:
                self._history.take(drained)

    def _recover(self, error: Exception) -> None:
        """Replaces a failed engine by another one, which shows the last read rows. Scrollback stays."""
        failed = self._live
        self.failures += 1
        size = failed.cols, failed.rows
        _log.error("the engine of a %d by %d screen failed: the screen is drawn again", *size, exc_info=error)
        self._engine = kind_of(cast(EngineName, failed.name))(*size)
        with suppress(Exception):
            failed.close()
        seen = [row.text for row in self._grid]
        with suppress(Exception):
            self._engine.feed("\r\n".join(seen).rstrip().encode() + b"\r\n")

    def _ask(self, question: Callable[[Engine], _Answer]) -> _Answer:
        """Calls the engine; if it fails, calls the one that replaces it."""
        try:
            return question(self._live)
        except (InputError, CheckpointError):
            raise
        except Exception as error:  # noqa: BLE001 -- a read of a screen never fails
            self._recover(error)
            return question(self._live)

    @property
    def remembers(self) -> int:
        """How many lines it takes until neither the screen nor the scrollback has anything that was printed before
        them.
        """
        return self._live.rows + self._scrollback_lines + 2

    def pass_over(self, lines: int) -> None:
        """Counts plain lines without drawing them: more than `remembers` lines follow. The cursor is in column 0."""
        self._drain()
        if not self.alt_screen:
            self._history.pass_over(lines - 1)
        self.feed(b"\r\n")

    def resize(self, cols: int, rows: int) -> Changes:
        """Changes the size. Wrapped lines of the main screen are wrapped anew (if the engine can)."""
        _check_size(cols, rows)
        engine = self._live
        if (cols, rows) != (engine.cols, engine.rows):
            self._drain()
            self._resize(cols, rows)
            self.fed += 1
            self.revision += 1
            self._grid = [BLANK] * rows
            self._revisions = [self.revision] * rows
        return Changes(self._look)

    def _resize(self, cols: int, rows: int) -> None:
        try:
            self._live.resize(cols, rows)
        except Exception as error:  # noqa: BLE001
            self._recover(error)
            self._live.resize(cols, rows)

    def take_replies(self) -> bytes:
        """The replies to the queries fed so far, each reply once. During a replay, take and drop them."""
        return self._ask(lambda engine: engine.take_replies())

    # State

    @property
    def engine(self) -> str:
        return self._live.name

    @property
    def cols(self) -> int:
        return self._live.cols

    @property
    def rows_count(self) -> int:
        return self._live.rows

    @property
    def cursor(self) -> Cursor:
        return self._ask(lambda engine: engine.cursor())

    @property
    def title(self) -> str:
        """As set by OSC 0 or 2, without control characters."""
        return BIDI.sub("", self._ask(lambda engine: engine.title()).translate(_CONTROLS))[:_LONGEST_TITLE]

    @property
    def cwd(self) -> str:
        """The working directory that the program reported by OSC 7, or nothing."""
        return _path(self._ask(lambda engine: engine.cwd()))

    @property
    def alt_screen(self) -> bool:
        return self._ask(lambda engine: engine.alt_screen())

    @property
    def synchronized(self) -> bool:
        """The program is in the middle of a frame (mode 2026)."""
        return self._ask(lambda engine: engine.synchronized())

    @property
    def modes(self) -> Modes:
        return self._ask(lambda engine: engine.modes())

    def take_bell(self) -> bool:
        """Whether the bell has rung since this was last asked."""
        rung, self._bell = self._bell or self._live.take_bell(), False
        return rung

    # Rows

    def lines(self) -> list[str]:
        """Every row, without the blanks at its end."""
        return [row.text for row in self.rows()]

    def rows(self) -> list[Row]:
        """Every row with its runs of style, counted in cells."""
        self._refresh()
        return list(self._grid)

    def row(self, number: int) -> Row:
        self._refresh()
        return self._grid[number]

    def changed_rows(self, since: int) -> list[int]:
        """The numbers of the rows that changed after `revision` was `since`."""
        self._refresh()
        return [number for number, revision in enumerate(self._revisions) if revision > since]

    def unwrapped(self) -> tuple[list[str], int]:
        """The lines on the screen, wrapped rows joined, and the number of the cursor's line.

        Their numbers follow those of the scrollback: a line of which a part has left the screen is here as a whole.
        """
        self._drain()
        rows, caret = self.rows(), self.cursor.row
        lines, at, wraps = [self._history.open], 0, True
        for number, row in enumerate(rows):
            if not wraps:
                lines.append("")
            wraps = row.wrapped
            lines[-1] += (
                _full(row.text, rows[number + 1].text, self.cols) if wraps and row is not rows[-1] else row.text
            )
            if number == caret:
                at = len(lines) - 1
        return lines, at

    def _refresh(self) -> None:
        grid, revisions = self._grid, self._revisions
        after = self.revision + 1
        for number, row in self._ask(lambda engine: list(engine.dirty())):
            if not row.text.isascii() and BIDI.search(row.text):
                row = msgspec.structs.replace(row, text=BIDI.sub("", row.text))  # noqa: PLW2901
            if grid[number] != row:
                grid[number] = row
                revisions[number] = after
                self.revision = after

    def _state(self) -> Seen:
        engine = self._live
        cwd = self._ask(lambda engine: engine.cwd())
        return Seen(self.revision, self.cursor, self.title, self.alt_screen, cwd, (engine.cols, engine.rows))

    def _look(self) -> Differences:
        before = self._seen
        rows = tuple(self.changed_rows(before.revision))
        now = self._seen = self._state()
        return Differences(
            rows,
            now.cursor != before.cursor,
            now.title != before.title,
            now.alt_screen != before.alt_screen,
            now.cwd != before.cwd,
            now.size != before.size,
            self.take_bell(),
        )

    # Scrollback

    def _drain(self) -> None:
        if drained := self._ask(lambda engine: engine.drain(everything=True)):
            self._history.take(drained)

    def scrollback(self, first: int | None = None, limit: int = 1000) -> Scrollback:
        """Lines that have left the screen, from number `first` on; without it, the last `limit` of them."""
        self._drain()
        history = self._history
        history.trim()
        total = history.total
        if first is None:
            first = max(total - limit, 0)
        if first < 0 or limit < 0:
            raise InputError(f"first and limit are numbers from 0 on, not {first} and {limit}")
        first = min(max(first, history.first), total)
        return Scrollback(history.read(first, min(first + limit, total)), first, total, history.first)

    # Checkpoints

    def encode(self, *, scrollback: bool = True) -> bytes:
        """Everything as bytes, unfinished sequences included; without `scrollback` far fewer bytes, and the numbers
        continue.

        Only the same engine in the same build can read it; otherwise `CheckpointError` is raised.
        """
        self._drain()
        history = self._history.state() if scrollback else self._history.forget()
        state = self._ask(lambda engine: engine.encode())
        engine = self._live
        checkpoint = _Checkpoint(
            engine.name,
            engine.build,
            engine.cols,
            engine.rows,
            self._scrollback_lines,
            state,
            history,
        )
        return _MAGIC + zlib.compress(msgspec.msgpack.encode(checkpoint), 1)

    @classmethod
    def decode(cls, data: bytes, *, engine: EngineName = "auto", scrollback: int | None = None) -> "Screen":
        """The screen that was encoded, with the same or another length of scrollback.

        Replies to queries are not part of it: they were taken, or never due.
        """
        if not data.startswith(_MAGIC):
            raise CheckpointError("this is no checkpoint of a screen", hint="feed the bytes again")
        try:
            checkpoint = msgspec.msgpack.decode(zlib.decompress(memoryview(data)[len(_MAGIC) :]), type=_Checkpoint)
        except (msgspec.MsgspecError, zlib.error) as error:
            raise CheckpointError(f"the checkpoint is damaged: {error}", hint="feed the bytes again") from error
        kind = kind_of(engine)
        if (checkpoint.engine, checkpoint.build) != (kind.name, kind.build):
            raise CheckpointError(
                f"the checkpoint is of {checkpoint.engine} ({checkpoint.build}), this is {kind.name} ({kind.build})",
                hint="feed the bytes again",
            )
        cols, rows = checkpoint.cols, checkpoint.rows
        scrollback = checkpoint.scrollback if scrollback is None else scrollback
        history = History(scrollback, SCROLLBACK_BYTES)
        history.restore(checkpoint.history)
        restored = _Restored(kind.decode(checkpoint.state, cols, rows), history)
        return cls(cols, rows, engine=engine, scrollback=scrollback, restored=restored)

    def close(self) -> None:
        """Free the engine's memory now. A second call does nothing."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> Literal[False]:
        self.close()
        return False


def _check_size(cols: int, rows: int) -> None:
    if not (MIN_COLS <= cols <= MAX_COLS and MIN_ROWS <= rows <= MAX_ROWS):
        raise InputError(
            f"a screen has {MIN_COLS} to {MAX_COLS} columns and {MIN_ROWS} to {MAX_ROWS} rows, not {cols} by {rows}"
        )


def _full(text: str, following: str, cols: int) -> str:
    """A row that continues in the next one, with the blanks at its end; not with the gap before a wide character."""
    gap = width(text) == cols - 1 and width(following[:1]) > 1
    return text if gap else pad(text, cols)


def _path(address: str) -> str:
    """The path of `file://host/path`, or a bare path; empty for anything else."""
    if address.startswith("/"):
        path = address
    else:
        try:
            parts = urlsplit(address)
        except ValueError:
            return ""
        if parts.scheme not in {"file", "kitty-shell-cwd"}:
            return ""
        path = unquote_to_bytes(parts.path).decode("utf-8", "replace") if parts.scheme == "file" else parts.path
    return path.translate(_CONTROLS) if path.startswith("/") else ""
