"""What is on the terminal's screen: bytes in; rows, cursor, title, modes, scrollback and replies out.

Feeding costs what the engine costs: rows are read when somebody asks, and only those that changed. Every way to cut the
bytes into chunks gives the same screen.
"""

import zlib
from typing import Literal, Self
from urllib.parse import unquote_to_bytes, urlsplit

import msgspec

from vantage.errors import InputError
from vantage.terminal.engines import Engine, EngineName, kind_of
from vantage.terminal.engines.values import BLANK, CheckpointError, Cursor, Modes, Row
from vantage.terminal.history import BIDI, History, HistoryState

__all__ = ["BLANK", "Changes", "CheckpointError", "Cursor", "Modes", "Row", "Screen", "Scrollback"]

SCROLLBACK_LINES = 10_000
SCROLLBACK_BYTES = 4 << 20
MAX_COLS, MAX_ROWS = 1000, 500
_PIECE = 1 << 18
_MAGIC = b"vantage screen 2\n"
_LONGEST_TITLE = 1024
_CONTROLS = dict.fromkeys((*range(32), *range(127, 160)))


class Scrollback(msgspec.Struct, frozen=True):
    """Lines that have left the screen, as `read_scrollback` returns them."""

    lines: list[str]
    first_line: int
    """The number of the first of `lines`; higher than what was asked for when that is gone."""
    total: int
    """The number that the next line to leave the screen gets."""
    oldest: int
    """The number of the oldest line still kept."""


class Changes:
    """What is different since somebody last looked at changes, found out at the first look.

    So a flood that nobody watches costs nothing, and what several feeds changed is seen once.
    """

    __slots__ = ("_found", "_screen")

    def __init__(self, screen: "Screen") -> None:
        self._screen = screen
        self._found: _Found | None = None

    @property
    def _all(self) -> "_Found":
        if self._found is None:
            self._found = self._screen._look()  # noqa: SLF001 -- one object in two parts
        return self._found

    @property
    def rows(self) -> tuple[int, ...]:
        """The numbers of the rows whose text or style differs."""
        return self._all.rows

    @property
    def cursor(self) -> bool:
        return self._all.cursor

    @property
    def title(self) -> bool:
        return self._all.title

    @property
    def alt_screen(self) -> bool:
        return self._all.alt_screen

    @property
    def cwd(self) -> bool:
        return self._all.cwd

    @property
    def size(self) -> bool:
        return self._all.size

    @property
    def bell(self) -> bool:
        """The bell has rung."""
        return self._all.bell

    def __bool__(self) -> bool:
        found = self._all
        return (
            bool(found.rows) or found.cursor or found.title or found.alt_screen or found.cwd or found.size or found.bell
        )

    def __repr__(self) -> str:
        return f"Changes({self._all})"


class _Found(msgspec.Struct, frozen=True, gc=False):
    rows: tuple[int, ...] = ()
    cursor: bool = False
    title: bool = False
    alt_screen: bool = False
    cwd: bool = False
    size: bool = False
    bell: bool = False


class _Seen(msgspec.Struct, frozen=True, gc=False):
    revision: int
    cursor: Cursor
    title: str
    alt_screen: bool
    cwd: str
    size: tuple[int, int]


class _Checkpoint(msgspec.Struct, frozen=True, array_like=True):
    engine: str
    build: str
    cols: int
    rows: int
    scrollback: int
    state: bytes
    history: HistoryState


class Screen:
    """A terminal's screen of `cols` by `rows`.

    `scrollback` is how many logical lines are kept that have left it (and not more than 4 MiB of them).
    """

    def __init__(
        self, cols: int, rows: int, *, engine: EngineName = "auto", scrollback: int = SCROLLBACK_LINES
    ) -> None:
        _check_size(cols, rows)
        if scrollback < 0:
            raise InputError(f"scrollback is a number of lines, 0 or more, not {scrollback}")
        self._start(kind_of(engine)(cols, rows), History(scrollback, SCROLLBACK_BYTES), scrollback)

    def _start(self, engine: Engine, history: History, scrollback: int) -> None:
        self._engine: Engine | None = engine
        self._history = history
        self._scrollback_lines = scrollback
        self._grid = [BLANK] * engine.rows
        self._revisions = [0] * engine.rows
        self.revision = 0
        """Grows whenever a look at the screen finds a row changed; `changed_rows` compares with it."""
        self.fed = 0
        """Grows with every byte fed and every resize: while it stays, so does everything else."""
        self._seen = self._state()
        self._bell = False

    @property
    def _live(self) -> Engine:
        if self._engine is None:
            raise InputError("the screen is closed", hint="make a new one and feed it the bytes again")
        return self._engine

    # Input

    def feed(self, data: bytes) -> Changes:
        engine = self._live
        self.fed += len(data)
        for start in range(0, len(data), _PIECE):
            engine.feed(bytes(data[start : start + _PIECE]) if start or len(data) > _PIECE else bytes(data))
            if drained := engine.drain(everything=False):
                self._history.take(drained)
        return Changes(self)

    @property
    def remembers(self) -> int:
        """Lines behind which nothing of what was printed before can be seen any more."""
        return self._live.rows + self._scrollback_lines + 2

    def pass_over(self, lines: int) -> None:
        """So many plain lines came that nobody will see: more than `remembers` follow. The cursor is in column 0."""
        self._drain()
        if not self._live.alt_screen():
            self._history.pass_over(lines - 1)
        self.feed(b"\r\n")

    def resize(self, cols: int, rows: int) -> Changes:
        """A new size. Wrapped lines of the main screen are laid out anew (where the engine can)."""
        _check_size(cols, rows)
        engine = self._live
        if (cols, rows) != (engine.cols, engine.rows):
            self._drain()
            engine.resize(cols, rows)
            self.fed += 1
            self.revision += 1
            self._grid = [BLANK] * rows
            self._revisions = [self.revision] * rows
        return Changes(self)

    def take_replies(self) -> bytes:
        """What the terminal answers to the queries fed so far, each answer once. During a replay, take and drop it."""
        return self._live.take_replies()

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
        return self._live.cursor()

    @property
    def title(self) -> str:
        """As set by OSC 0 or 2, without control characters."""
        return BIDI.sub("", self._live.title().translate(_CONTROLS))[:_LONGEST_TITLE]

    @property
    def cwd(self) -> str:
        """The working directory that the program told by OSC 7, or nothing."""
        return _path(self._live.cwd())

    @property
    def alt_screen(self) -> bool:
        return self._live.alt_screen()

    @property
    def synchronized(self) -> bool:
        """The program is in the middle of drawing (mode 2026)."""
        return self._live.synchronized()

    @property
    def modes(self) -> Modes:
        return self._live.modes()

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

    def _refresh(self) -> None:
        grid, revisions = self._grid, self._revisions
        after = self.revision + 1
        for number, row in self._live.dirty():
            if not row.text.isascii() and BIDI.search(row.text):
                row = msgspec.structs.replace(row, text=BIDI.sub("", row.text))  # noqa: PLW2901
            if grid[number] != row:
                grid[number] = row
                revisions[number] = after
                self.revision = after

    def _state(self) -> _Seen:
        engine = self._live
        return _Seen(
            self.revision, engine.cursor(), self.title, engine.alt_screen(), engine.cwd(), (engine.cols, engine.rows)
        )

    def _look(self) -> _Found:
        before = self._seen
        rows = tuple(self.changed_rows(before.revision))
        now = self._seen = self._state()
        return _Found(
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
        if drained := self._live.drain(everything=True):
            self._history.take(drained)

    def scrollback(self, first: int | None = None, limit: int = 1000) -> Scrollback:
        """Lines that have left the screen, from number `first` on; without it, the last `limit` of them."""
        self._drain()
        history = self._history
        history.trim()
        total = max(history.total - self._live.returned(), history.first)
        if first is None:
            first = max(total - limit, 0)
        if first < 0 or limit < 0:
            raise InputError(f"first and limit are numbers from 0 on, not {first} and {limit}")
        first = min(max(first, history.first), total)
        return Scrollback(history.read(first, min(first + limit, total)), first, total, history.first)

    # Checkpoints

    def encode(self, *, scrollback: bool = True) -> bytes:
        """Everything as bytes, unfinished sequences included; without `scrollback` much less, and the numbers go on.

        Only the same engine in the same build can read it, and `CheckpointError` says so otherwise.
        """
        self._drain()
        engine = self._live
        history = self._history.state() if scrollback else self._history.forget()
        state = engine.encode()
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
        """The screen that was encoded, with a scrollback of its own length or another.

        Answers to queries are not part of it: they were taken, or were never due.
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
        screen = cls.__new__(cls)
        scrollback = checkpoint.scrollback if scrollback is None else scrollback
        history = History(scrollback, SCROLLBACK_BYTES)
        history.restore(checkpoint.history)
        restored = kind.decode(checkpoint.state, checkpoint.cols, checkpoint.rows)
        screen._start(restored, history, scrollback)  # noqa: SLF001 -- our own
        return screen

    def close(self) -> None:
        """Free the engine's memory now. Doing it twice is nothing."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> Literal[False]:
        self.close()
        return False


def _check_size(cols: int, rows: int) -> None:
    if not (2 <= cols <= MAX_COLS and 1 <= rows <= MAX_ROWS):
        raise InputError(f"a screen has 2 to {MAX_COLS} columns and 1 to {MAX_ROWS} rows, not {cols} by {rows}")


def _path(address: str) -> str:
    """The path of `file://host/path`, or a bare path; anything else is no working directory."""
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
